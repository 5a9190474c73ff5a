import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from chapterhouse import Library
from chapterhouse.types import Memory

QUESTION = "How fast may a vessel go inside the harbour?"


@pytest.fixture(scope="module")
def remembering(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which the library and one persona were asked; each test has a copy."""
    home = tmp_path_factory.mktemp("remembering") / "home"
    with Library.open(home) as library:
        rag = library.personas.create("maria").rag
        (rag / "rules.md").write_text(
            "# Rules\n\nInside the harbour no vessel may exceed 4 knots.\n"
        )
        assert library.answers.ask(QUESTION, persona="maria").found
        library.answers.ask("Which vessel is fast?")
    return home


@pytest.fixture
def home(remembering: Path, tmp_path: Path) -> Path:
    return shutil.copytree(remembering, tmp_path / "home")


def ids(result: Any) -> list[str]:
    return [memory["id"] for memory in result.data]


def test_what_was_asked_is_listed_and_found(chapterhouse: Any, home: Path) -> None:
    listed = chapterhouse("memory", "list", "--home", home)
    assert listed.code == 0
    assert listed.out.index("m2") < listed.out.index("m1")
    assert "maria" in listed.out
    assert "library" in listed.out

    everything = chapterhouse("memory", "list", "--home", home, "--json")
    assert ids(everything) == ["m2", "m1"]
    assert everything.data[1]["question"] == QUESTION
    assert everything.data[1]["sources"]
    found = chapterhouse("memory", "search", "knots", "--home", home)
    assert (found.code, "4 knots" in found.out) == (0, True)
    assert chapterhouse("memory", "search", "zeppelin", "--home", home).code == 6
    assert ids(chapterhouse("memory", "list", "--limit", "1", "--home", home, "--json")) == ["m2"]


def test_a_memory_is_forgotten_by_its_id_and_many_only_with_a_yes(
    chapterhouse: Any, home: Path
) -> None:
    def forget(*options: str) -> Any:
        return chapterhouse("memory", "forget", *options, "--home", home)

    for options in (("--all",), ("--older-than", "0"), ("--all", "--json")):
        assert forget(*options).code == 10
    assert "Add --yes" in forget("--all").err
    assert forget("--all", "--dry-run").out == "Would forget 2 memories.\n"
    assert forget("m1", "--dry-run").out == "Would forget 1 memory.\n"
    assert forget("m1").out == "Forgot 1 memory.\n"
    assert ids(chapterhouse("memory", "list", "--home", home, "--json")) == ["m2"]
    again = forget("m1")
    assert (again.code, "no memory 'm1'" in again.err) == (3, True)
    assert forget("first").code == 2
    forget("m2")
    assert forget("--all").out == "Forgot 0 memories.\n"  # which needs no yes
    for command, code in ((("list",), 0), (("search", "berth"), 6)):
        result = chapterhouse("memory", *command, "--home", home)
        assert (result.code, result.out.startswith("Nothing ")) == (code, True)


def test_old_ones_are_forgotten_by_their_age_and_all_means_all(
    chapterhouse: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    for moment, options, count in (
        (now, ("--older-than", "1"), 0),
        (now - 1_000_000, ("--older-than", "0"), 0),
        (now + 3 * 86_400, ("--older-than", "2", "--persona", "maria"), 1),
        (now - 1_000_000, ("--all",), 1),  # whatever the clock said
    ):
        monkeypatch.setattr(time, "time", lambda moment=moment: moment)
        forgot = chapterhouse("memory", "forget", *options, "--yes", "--home", home)
        assert forgot.out == f"Forgot {count} memor{'y' if count == 1 else 'ies'}.\n"


@pytest.fixture
def met(chapterhouse: Any, home: Path) -> Path:
    assert chapterhouse("council", "new", "ferry", "--member", "maria", "--home", home).code == 0
    with Library.open(home) as library:
        for owner in ("council_ferry", "council_ferry/maria", "council_gone", "council_gone/piet"):
            asked = (int(time.time()), 0, "Speed?", f"Of {owner}.")
            library.memory.remember(Memory("", owner, *asked, found=True, method="quoted"))
    return home


def test_memories_are_one_councils(chapterhouse: Any, met: Path) -> None:
    for options, found in (
        (("--council", "fer"), ["m4", "m3"]),
        (("--council", "ferry", "--member", "maria"), ["m4"]),
        (("--council", "gone"), ["m6", "m5"]),
        (("--council", "gone", "--member", "piet"), ["m6"]),
        (("--persona", "mar"), ["m1"]),
        (("--persona", "library"), ["m2"]),
        ((), ["m6", "m5", "m4", "m3", "m2", "m1"]),
    ):
        assert ids(chapterhouse("memory", "list", *options, "--home", met, "--json")) == found
        hits = chapterhouse("memory", "search", "Speed", *options, "--home", met, "--json").data
        assert {hit["memory"]["id"] for hit in hits} == set(found) - {"m1"} - {"m2"}
        if "--council" in options:
            would = chapterhouse("memory", "forget", "--all", *options, "--dry-run", "--home", met)
            assert f"Would forget {len(found)} memor" in would.out


def test_what_is_meant_must_be_said_one_way_and_be_there(chapterhouse: Any, met: Path) -> None:
    before = ids(chapterhouse("memory", "list", "--home", met, "--json"))
    for arguments, code in (
        (("list", "--persona", "nobody"), 3),
        (("list", "--council", "nowhere"), 3),
        (("list", "--council", "ferry", "--member", "piet"), 3),
        (("list", "--council", "gone", "--member", "maria"), 3),
        (("list", "--persona", "council_ferry"), 3),
        (("list", "--council", "ferry", "--persona", "maria"), 2),
        (("list", "--member", "maria"), 2),
        (("list", "--limit", "0"), 2),
        (("search", "x", "--member", "maria", "--persona", "maria"), 2),
        (("forget", "--all", "--member", "maria"), 2),
        (("forget", "m1", "--council", "ferry"), 2),
        (("forget",), 2),
        (("forget", "m1", "--all"), 2),
        (("forget", "m1", "--older-than", "3"), 2),
        (("forget", "m1", "--persona", "maria"), 2),
        (("forget", "--older-than", "-1"), 2),
        (("forget", "--persona", "maria"), 2),
    ):
        result = chapterhouse("memory", *arguments, "--home", met)
        assert (result.code, result.out) == (code, ""), arguments
    assert ids(chapterhouse("memory", "list", "--home", met, "--json")) == before
