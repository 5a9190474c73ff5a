import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chapterhouse.council.meeting.memory import owner_of
from chapterhouse.library import Library

from .conftest import Built, Direct


@pytest.fixture
def own(built: Built, tmp_path: Path) -> Iterator[Library]:
    with Library.open(shutil.copytree(built.home, tmp_path / "home")) as opened:
        yield opened


QUESTION = "How much may stranded passengers claim for lodging a night?"
CALLS: dict[str, dict[str, object]] = {
    "ask": {"question": QUESTION},
    "convene": {"council": "storm-board", "question": QUESTION},
}


def require_verified(citations: list[dict[str, Any]], library: Library) -> None:
    assert citations
    for citation in citations:
        text = library.documents.body(citation["document_id"]).text
        assert citation["verified"]
        assert text[citation["start"] : citation["end"]] == citation["quote"]
        assert hashlib.sha256(text.encode()).hexdigest() == citation["text_sha256"]


def test_minutes_have_verified_citations_and_the_table(direct: Direct, library: Library) -> None:
    result = direct.tool("convene", **CALLS["convene"])
    minutes = result.structured_content
    require_verified(minutes["citations"], library)
    assert [member["key"] for member in minutes["members"]] == ["maria", "tom"]
    numbers = {citation["number"] for citation in minutes["citations"]}
    cells = [cell for row in minutes["table"] for cell in row["cells"]]
    assert {cell["member"] for cell in cells} == {"maria", "tom"}
    assert {number for cell in cells for number in cell["citations"]} <= numbers
    assert not minutes["decision"]  # nobody asked what to choose
    assert not any(turn["statements"] for turn in minutes["turns"])
    assert "# " in result.content[0].text
    assert direct.told == []  # nobody argues without a model


def test_nothing_is_remembered_unless_it_was_asked_for(
    direct: Direct, library: Library, own: Library
) -> None:
    for served, kept in ((direct, []), (Direct(own, remember=True), ["meetings"])):
        served.data("ask", **CALLS["ask"])
        served.data("convene", **CALLS["convene"])
        council = served.library.councils.load("storm-board").path
        found = sorted(path.name for path in council.iterdir())
        assert found == sorted(["council.json", "docs", *kept])
        assert bool(served.library.memory.count(("",))) == bool(kept)
        assert not served.library.memory.count((owner_of("storm-board", "maria"),))  # held nothing


def test_what_clients_are_told_names_no_path_of_this_machine(own: Library, tmp_path: Path) -> None:
    own.personas.create("zoe", display_name="Zoe", folders=[str(tmp_path / "secret" / "gone")])
    (own.home / "personas" / "torn").mkdir()
    (own.home / "personas" / "torn" / "persona.config.json").write_text('{"folders": 1}')
    served = Direct(own)
    answer = served.tool("ask", **CALLS["ask"], persona="zoe")
    assert "gone is not there" in answer.content[0].text
    listed = served.tool("list_personas")
    assert "- zoe (Zoe)" in listed.content[0].text
    assert "cannot be used now" in listed.content[0].text
    torn = next(one for one in listed.structured_content["personas"] if one["slug"] == "torn")
    assert (torn["usable"], torn["documents"], bool(torn["problems"])) == (False, 0, True)
    for result in (answer, listed, served.tool("list_councils")):
        assert str(tmp_path) not in str(result)


def test_what_is_read_first_is_reported(own: Library) -> None:
    served = Direct(own)
    (own.personas.load("maria").rag / "new.md").write_text("# New\n\nThe pier has a lamp.\n")
    own._runtime.store.sources().drop("persona/maria")  # as if she had never been asked
    served.data("ask", **CALLS["ask"], persona="maria")
    assert served.told[-1].startswith("Read 2 of 2")
    served.data("ask", **CALLS["ask"], persona="maria")
    assert len(served.told) == 2  # nothing had changed any more
