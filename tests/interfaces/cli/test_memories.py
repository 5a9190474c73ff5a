"""The commands about memories: over a scripted library, and over a real one."""

import shutil
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import typer

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


# --- a real library --------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("persona", "found"), [("maria", ["m1"]), ("mar", ["m1"]), ("library", ["m2"])]
)
def test_memories_are_one_personas(
    chapterhouse: Any, home: Path, persona: str, found: list[str]
) -> None:
    listed = chapterhouse("memory", "list", "--persona", persona, "--home", home, "--json")
    assert ids(listed) == found
    hits = chapterhouse(
        "memory", "search", "vessel fast", "--persona", persona, "--home", home, "--json"
    )
    assert [hit["memory"]["id"] for hit in hits.data] == found


def test_nobody_has_memories_who_is_not_there(chapterhouse: Any, home: Path) -> None:
    result = chapterhouse("memory", "list", "--persona", "nobody", "--home", home)
    assert (result.code, result.out) == (3, "")


def test_the_memories_of_a_persona_that_is_gone_can_be_forgotten(
    chapterhouse: Any, home: Path
) -> None:
    folder = home / "personas" / "maria"
    folder.rename(home / "kept")
    result = chapterhouse(
        "memory", "forget", "--persona", "maria", "--all", "--yes", "--home", home
    )
    assert (result.code, result.out) == (0, "Forgot 1 memory.\n")


def test_a_memory_is_forgotten_by_its_id(chapterhouse: Any, home: Path) -> None:
    would = chapterhouse("memory", "forget", "m1", "--dry-run", "--home", home)
    assert would.out == "Would forget 1 memory.\n"
    assert chapterhouse("memory", "forget", "m1", "--home", home).out == "Forgot 1 memory.\n"
    assert ids(chapterhouse("memory", "list", "--home", home, "--json")) == ["m2"]
    again = chapterhouse("memory", "forget", "m1", "--home", home)
    assert (again.code, "no memory 'm1'" in again.err) == (3, True)
    assert chapterhouse("memory", "forget", "first", "--home", home).code == 2


def test_nothing_is_remembered_of_what_is_not_to_be(chapterhouse: Any, home: Path) -> None:
    chapterhouse("ask", "Where is the zorblaquex?", "--no-memory", "--home", home)
    assert chapterhouse("memory", "search", "zorblaquex", "--home", home).code == 6


def test_all_means_all_whatever_the_clock_said(
    chapterhouse: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier = time.time() - 1_000_000
    monkeypatch.setattr(time, "time", lambda: earlier)
    assert chapterhouse("memory", "forget", "--older-than", "0", "--yes", "--home", home).out == (
        "Forgot 0 memories.\n"
    )
    assert chapterhouse("memory", "forget", "--all", "--yes", "--home", home).out == (
        "Forgot 2 memories.\n"
    )


def test_old_ones_are_forgotten_by_their_age(
    chapterhouse: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert chapterhouse("memory", "forget", "--older-than", "1", "--yes", "--home", home).out == (
        "Forgot 0 memories.\n"
    )
    later = time.time() + 3 * 86_400
    monkeypatch.setattr(time, "time", lambda: later)
    assert chapterhouse("memory", "forget", "--older-than", "2", "--yes", "--home", home).out == (
        "Forgot 2 memories.\n"
    )


# --- councils --------------------------------------------------------------------------------


@pytest.fixture
def met(chapterhouse: Any, home: Path) -> Path:
    """A home whose council ``ferry`` has met, and whose council ``gone`` is gone."""
    assert chapterhouse("council", "new", "ferry", "--member", "maria", "--home", home).code == 0
    with Library.open(home) as library:
        for owner in ("council_ferry", "council_ferry/maria", "council_gone", "council_gone/piet"):
            library.memory.remember(
                Memory(
                    "",
                    owner,
                    int(time.time()),
                    0,
                    "Speed?",
                    f"Of {owner}.",
                    found=True,
                    method="quoted",
                )
            )
    return home


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (("--council", "ferry"), ["m4", "m3"]),
        (("--council", "fer"), ["m4", "m3"]),
        (("--council", "ferry", "--member", "maria"), ["m4"]),
        (("--council", "gone"), ["m6", "m5"]),
        (("--council", "gone", "--member", "piet"), ["m6"]),
        (("--persona", "maria"), ["m1"]),
        (("--persona", "library"), ["m2"]),
        ((), ["m6", "m5", "m4", "m3", "m2", "m1"]),
    ],
)
def test_memories_are_one_councils(
    chapterhouse: Any, met: Path, options: tuple[str, ...], found: list[str]
) -> None:
    assert ids(chapterhouse("memory", "list", *options, "--home", met, "--json")) == found
    hits = chapterhouse("memory", "search", "Speed", *options, "--home", met, "--json")
    searched = {hit["memory"]["id"] for hit in hits.data}
    assert searched == set(found) - {"m1", "m2"}
    if "--council" in options:
        would = chapterhouse("memory", "forget", "--all", *options, "--dry-run", "--home", met)
        assert f"Would forget {len(found)} memor" in would.out


def test_a_council_is_forgotten_with_its_members(chapterhouse: Any, met: Path) -> None:
    listed = chapterhouse("memory", "list", "--council", "ferry", "--home", met)
    assert "council ferry/maria" in listed.out
    result = chapterhouse("memory", "forget", "--council", "ferry", "--all", "--yes", "--home", met)
    assert (result.code, result.out) == (0, "Forgot 2 memories.\n")
    left = ids(chapterhouse("memory", "list", "--home", met, "--json"))
    assert left == ["m6", "m5", "m2", "m1"]


@pytest.mark.parametrize(
    "options",
    [
        ("--council", "nowhere"),
        ("--council", "ferry", "--member", "piet"),
        ("--council", "gone", "--member", "maria"),
        ("--persona", "council_ferry"),
    ],
)
def test_who_is_not_there_is_not_found(
    chapterhouse: Any, met: Path, options: tuple[str, ...]
) -> None:
    result = chapterhouse("memory", "list", *options, "--home", met)
    assert (result.code, result.out) == (3, "")


@pytest.mark.parametrize(
    "arguments",
    [
        ("list", "--council", "ferry", "--persona", "maria"),
        ("list", "--member", "maria"),
        ("search", "x", "--member", "maria", "--persona", "maria"),
        ("forget", "--all", "--member", "maria"),
        ("forget", "m1", "--council", "ferry"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    chapterhouse: Any, met: Path, arguments: tuple[str, ...]
) -> None:
    assert chapterhouse("memory", *arguments, "--home", met).code == 2


# --- confirming ------------------------------------------------------------------------------


def test_many_are_not_forgotten_without_a_yes(chapterhouse: Any, script: Any) -> None:
    library = script()
    for options in (("--all",), ("--older-than", "3"), ("--all", "--json")):
        result = chapterhouse("memory", "forget", *options)
        assert result.code == 10
        assert library.memory.forgotten == []
    assert "Add --yes" in chapterhouse("memory", "forget", "--all").err
    assert chapterhouse("memory", "forget", "--all", "--dry-run").out == "Would forget 1 memory.\n"
    assert library.memory.forgotten == []


@pytest.mark.parametrize(("agreed", "code"), [(True, 0), (False, 10)])
def test_on_a_terminal_it_is_asked(
    chapterhouse: Any, script: Any, monkeypatch: pytest.MonkeyPatch, *, agreed: bool, code: int
) -> None:
    library = script()
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(typer, "confirm", lambda *_, **__: agreed)
    assert chapterhouse("memory", "forget", "--all").code == code
    assert bool(library.memory.forgotten) == agreed


def test_nothing_to_forget_needs_no_yes(chapterhouse: Any, script: Any) -> None:
    library = script()
    library.memory.kept = ()
    result = chapterhouse("memory", "forget", "--all")
    assert (result.code, result.out) == (0, "Forgot 0 memories.\n")


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("m1", "--all"),
        ("m1", "--older-than", "3"),
        ("m1", "--persona", "maria"),
        ("--older-than", "-1"),
        ("--persona", "maria"),
    ],
)
def test_what_is_to_be_forgotten_must_be_said_one_way(
    chapterhouse: Any, script: Any, arguments: tuple[str, ...]
) -> None:
    library = script()
    assert chapterhouse("memory", "forget", *arguments).code == 2
    assert library.memory.forgotten == []


# --- what is shown ---------------------------------------------------------------------------


@pytest.mark.parametrize("command", [("list",), ("search", "berth")])
def test_an_empty_memory_says_so(chapterhouse: Any, script: Any, command: tuple[str, ...]) -> None:
    library = script()
    library.memory.kept = ()
    result = chapterhouse("memory", *command)
    assert result.code == (0 if command == ("list",) else 6)
    assert result.out.startswith("Nothing ")
    assert chapterhouse("memory", *command, "--json").data == []


@pytest.mark.parametrize("limit", ["0", "10001", "x"])
def test_a_limit_is_a_number_of_memories(chapterhouse: Any, script: Any, limit: str) -> None:
    script()
    assert chapterhouse("memory", "list", "--limit", limit).code == 2
