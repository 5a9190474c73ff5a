"""Declared and installed tools in a meeting, and evidence from each kind."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.council.conftest import Hall, council, markers, position, turn

from chapterhouse.agents.council import Council
from chapterhouse.agents.council_model import Corpus, DeclaredTool, Member, ToolRef
from chapterhouse.agents.problems import CouncilConfigError
from chapterhouse.answering.bundle import bundle_json, examine, read_bundle
from chapterhouse.answering.runtime import Runtime
from chapterhouse.council.minutes.bundle import MINUTES
from chapterhouse.council.tools import installed_tools
from chapterhouse.errors import UsageError
from chapterhouse.models.scripted import Call, Scripted
from chapterhouse.types import Minutes

LIMIT = "The harbour had a limit of 3 knots in 1920."
PACKAGE = """\
from chapterhouse.types import Tool
LIMIT = "The harbour had a limit of 3 knots in 1920."
def make(name="old_letters"):
    return Tool(name, "Call this for letters.", {"type": "object"}, lambda _: LIMIT)
letters = make()
broken = 3
"""


def alone(*tools: ToolRef) -> Council:
    made = council("letters", rounds=("independent_analysis",)).add_tool(*tools)
    return replace(made, members=(Member(persona="maria"),))


@pytest.fixture
def folder(own_hall: Hall) -> Path:
    """The folder of a council with letters in it."""
    folder = own_hall.library.councils.create(alone()).path
    (folder / "letters").mkdir()
    (folder / "letters" / "may.md").write_text(f"# May\n\n{LIMIT}\n", "utf-8")
    return folder


def meet(hall: Hall, made: Council, name: str, **more: Any) -> Minutes:
    """Let Maria call a tool once and claim what it told, with the marker of its first block."""

    def script(_: str, __: str) -> Scripted:
        if not model.tool_results:
            return [Call(name, {"query": "the limit of speed"})]
        (told,) = model.tool_results
        assert not told.failed, told.result
        marker = next(iter(markers(f"{told.result}\n").values()))
        return turn(positions=[position(f"In 1920 the harbour had a limit of 3 knots.{marker}")])

    model = hall.says(script)
    return hall.convene(made, **more)


def check(hall: Hall, minutes: Minutes, name: str) -> None:
    """A claim of the minutes rests on the tool's text, and is verified again without the tool."""
    (statement,) = minutes.statements
    assert statement.citations
    (citation,) = [one for one in minutes.citations if one.tool]
    assert (citation.tool, citation.quote) == (name, LIMIT)
    assert all(one.holds for one in hall.library.councils.recheck(minutes))
    bundle = read_bundle(bundle_json(hall.library.councils.bundle(minutes)), MINUTES)
    assert all(one.passed for one in examine(bundle))


# --- corpora --------------------------------------------------------------------------------------


def test_a_claim_from_a_corpus_is_supported_and_verified(own_hall: Hall, folder: Path) -> None:
    made = alone(DeclaredTool(corpus=Corpus("letters")))
    minutes = meet(own_hall, made, "search_letters")
    check(own_hall, minutes, "search_letters")
    assert minutes.citations[0].title == "letters/may.md (chunk 1, section May)"


def test_a_corpus_of_a_file_is_read_again_when_it_changes(own_hall: Hall, folder: Path) -> None:
    written = json.loads((folder / "council.json").read_text("utf-8"))
    written["tools"] = [{"corpus": {"folder": "letters"}}]
    (folder / "council.json").write_text(json.dumps(written), "utf-8")
    made = own_hall.library.councils.load("letters").council
    check(own_hall, meet(own_hall, made, "search_letters", transcript=None), "search_letters")

    own_hall.events.clear()
    meet(own_hall, made, "search_letters", transcript=None)
    assert [event.kind.value for event in own_hall.events if event.member] == ["resumed"]
    (folder / "letters" / "june.md").write_text("Another letter.", "utf-8")
    own_hall.events.clear()
    meet(own_hall, made, "search_letters", transcript=None)
    assert "resumed" not in {event.kind.value for event in own_hall.events}


def test_what_of_a_corpus_cannot_be_read_is_in_the_minutes(own_hall: Hall, folder: Path) -> None:
    (folder / "letters" / "broken.pdf").write_bytes(b"%PDF-1.7")
    minutes = meet(own_hall, alone(DeclaredTool(corpus=Corpus("letters"))), "search_letters")
    assert any("broken.pdf is not searched" in warning for warning in minutes.warnings)


def test_a_corpus_that_is_gone_keeps_a_council_from_meeting(own_hall: Hall) -> None:
    with pytest.raises(CouncilConfigError) as caught:
        own_hall.convene(alone(DeclaredTool(corpus=Corpus("gone"))))
    (problem,) = caught.value.problems
    assert problem.place == "tools[0].corpus.folder"


def test_a_council_within_has_the_tools_that_it_declares(own_hall: Hall, folder: Path) -> None:
    written = json.loads((folder / "council.json").read_text("utf-8"))
    written["tools"] = [{"corpus": {"folder": "letters"}}]
    written["rounds"] = ["independent_analysis", "synthesis"]
    (folder / "council.json").write_text(json.dumps(written), "utf-8")
    outer = council("region", rounds=("independent_analysis",))
    outer = replace(outer, members=(Member(council="letters"),))

    minutes = meet(own_hall, outer, "search_letters")
    assert minutes.statements[0].citations
    assert [one.tool for one in minutes.citations if one.tool] == ["search_letters"]
    assert all(one.holds for one in own_hall.library.councils.recheck(minutes))


# --- installed tools ------------------------------------------------------------------------------


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that brings tools, as pip would have installed it."""
    for name, points in {
        "letters": "old_letters = archive_letters:letters\nmade = archive_letters:make\n"
        "broken = archive_letters:broken\nmissing = archive_letters:missing\n"
        "search_knowledge = archive_letters:missing\n",
        "more": "made = archive_letters:letters\nunused = archive_no_such_module:x\n",
    }.items():
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[chapterhouse.tools]\n{points}")
    (tmp_path / "archive_letters.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("package")
def test_a_claim_from_an_installed_tool_is_supported_and_verified(hall: Hall) -> None:
    assert hall.library.councils.validate(alone("old_letters", "nothing"))[0].place == "tools[1]"
    check(hall, meet(hall, alone("old_letters"), "old_letters"), "old_letters")


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    ("name", "words"),
    [("broken", "cannot be loaded"), ("missing", "cannot be loaded"), ("made", "Two installed")],
)
def test_an_installed_tool_that_cannot_be_used_is_told_of(name: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        installed_tools(alone(name))


@pytest.mark.usefixtures("package")
def test_only_what_a_council_names_is_loaded_and_nothing_hides_the_librarys_own(
    hall: Hall,
) -> None:
    assert "archive_letters" not in sys.modules or sys.modules.pop("archive_letters")
    assert dict(installed_tools(alone("search_knowledge"))) == {}
    assert "archive_letters" not in sys.modules
    session = hall.open_session(alone("search_knowledge"))
    assert session.participants[0].own_tools
    assert isinstance(hall.runtime, Runtime)
