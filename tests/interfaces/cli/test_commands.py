"""What every command does with a real library."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chapterhouse import Library
from chapterhouse.errors import EngineError, NotFoundError, RefusedError
from chapterhouse.interfaces.cli import session
from chapterhouse.models.static import StaticEmbedder

BERTH = "A berth costs 80 euros a metre."
SPAN = "53:84"  # where it stands in tariffs.pdf
EVERY = [
    ("init",),
    ("add", "more"),
    ("search", "berth"),
    ("search", "berth", "--explain"),
    ("search", "berth", "--all"),
    ("context", "What does a berth cost?"),
    ("ask", "What does a berth cost?"),
    ("convene", "berths", "What shall a berth cost?"),
    ("convene", "berths", "What shall a berth cost?", "--dry-run"),
    ("docs", "list"),
    ("docs", "list", "--files"),
    ("docs", "show", "tariffs"),
    ("docs", "show", "tariffs", "--text"),
    ("docs", "show", "tariffs", "--span", SPAN),
    ("docs", "quality", "tariffs"),
    ("docs", "remove", "tariffs", "--yes"),
    ("docs", "reprocess"),
    ("docs", "reprocess", "--dry-run"),
    ("persona", "new", "nora"),
    ("persona", "list"),
    ("persona", "show", "maria"),
    ("persona", "validate"),
    ("persona", "update", "maria", "--dry-run"),
    ("persona", "docs", "maria"),
    ("persona", "docs", "maria", "--remove", "tides", "--yes"),
    ("persona", "docs", "maria", "--remove", "tides", "--dry-run"),
    ("council", "new", "fees", "--member", "maria"),
    ("council", "list"),
    ("council", "show", "berths"),
    ("council", "validate"),
    ("council", "docs", "list", "berths"),
    ("source", "add", "more", "--council", "berths"),
    ("memory", "list"),
    ("memory", "search", "berth"),
    ("memory", "forget", "m1"),
    ("memory", "forget", "--all", "--dry-run"),
    ("memory", "forget", "--older-than", "30", "--yes"),
    ("verify", "ANSWER"),
    ("verify", "MINUTES"),
    ("verify", "BUNDLE"),
    ("verify", "MINUTES-BUNDLE"),
    ("status",),
    ("doctor",),
    ("doctor", "--thorough"),
    ("reindex",),
]
Fails = Callable[[type, str, BaseException], None]


@pytest.mark.parametrize("arguments", EVERY, ids=" ".join)
def test_every_command_closes_its_library_and_is_safe_to_show(
    chapterhouse: Any, hostile: str, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    closed: list[Library] = []
    close = Library.close

    def closing(self: Library) -> None:
        closed.append(self)
        close(self)

    monkeypatch.setattr(Library, "close", closing)
    result = chapterhouse(*arguments)
    # What was spoilt.
    finds = arguments[0] == "doctor" or arguments[1:] == ("validate",)
    assert result.code == (1 if finds else 0), result
    assert len(closed) == 1
    assert result.out
    assert not set(result.out + result.err) & set("\x1b\u202e\x07")


@pytest.mark.parametrize("arguments", EVERY, ids=" ".join)
def test_every_command_gives_the_same_data_twice(
    chapterhouse: Any, home: Path, harbour: Path, arguments: tuple[str, ...]
) -> None:
    first = chapterhouse(*arguments, "--json")
    shutil.rmtree(home)
    shutil.copytree(harbour / "home", home)  # as it was: some commands change it
    second = chapterhouse(*arguments, "--json")
    assert (first.code, first.err) == (0, "")
    assert first.data == second.data
    assert first.envelope["meta"]["workspace"] == "default"


FAILURES = (
    (NotFoundError("No 'x\x1b[2J'.", hint="Look at docs list."), 3, "NotFoundError"),
    (RefusedError("No."), 5, "RefusedError"),
    (PermissionError(13, "Permission denied", "/made/x\x1b[2J"), 1, "OSError"),
    (ZeroDivisionError("by zero"), 1, "UnexpectedError"),
)
FAILING = [
    *((arguments, FAILURES[0]) for arguments in EVERY),
    *((("ask", "x"), failure) for failure in FAILURES[1:]),
]


@pytest.mark.parametrize(("arguments", "failure"), FAILING)
def test_errors_are_one_clear_line(
    chapterhouse: Any,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    failure: tuple[Exception, int, str],
) -> None:
    error, code, kind = failure

    def broken(**_: object) -> Library:
        raise error

    monkeypatch.setattr(session, "open_library", broken)
    result = chapterhouse(*arguments)
    assert (result.code, result.out) == (code, "")
    assert result.err.startswith("chapterhouse: ")
    assert len(result.err.splitlines()) <= 2
    assert "Traceback" not in result.err
    assert "\x1b" not in result.err
    as_json = chapterhouse(*arguments, "--json")
    assert as_json.code == code
    assert as_json.envelope["error"]["type"] == kind


def test_an_answer_shows_everything_needed_to_check_it(chapterhouse: Any, home: Path) -> None:
    out = chapterhouse("ask", "What does a berth cost?", "--sources").out
    assert out.startswith(f"{BERTH} [1]\n")
    (document,) = chapterhouse("docs", "list", "--shelf", "library", "--json").data
    for expected in (
        "[1] Handbook",
        "§Tariffs, page 2\n",
        f" · characters 53–84 · sha256 {document['text_sha256'][:12]} · verified",
        f"“{BERTH}”",
        f"chapterhouse docs show {document['id']} --span {SPAN}",
    ):
        assert expected in out


def test_an_answer_is_a_screen_with_one_line_for_each_source(chapterhouse: Any, home: Path) -> None:
    lines = chapterhouse("ask", "What does a berth cost?").out.splitlines()
    assert len(lines) == 5
    assert lines[2] == "[1] Handbook, §Tariffs, page 2 — chapterhouse open 1"
    assert lines[4] == "sure · quoted, without a model · searched 2 documents, 2 chunks"


def test_a_refusal_says_what_was_searched_and_ends_with_6(chapterhouse: Any, home: Path) -> None:
    result = chapterhouse("ask", "Who won the\x1b[31m regatta?")
    assert result.code == 6
    assert "No document searched mentions “regatta”." in result.out
    assert "\x1b" not in result.out
    as_json = chapterhouse("ask", "Who won the regatta?", "--json")
    assert (as_json.code, as_json.data["outcome"]) == (6, "not-found")


def test_answers_as_json_hold_the_line_of_text(chapterhouse: Any, hostile: str) -> None:
    data = chapterhouse("ask", "What does a berth cost?", "--json").data
    assert data["text"] == f"{BERTH} [1]"
    assert data["citations"][0]["quote"] == BERTH
    assert data["citations"][0]["title"] == hostile  # JSON is for programs: nothing is spelt out


def test_what_did_not_work_is_shown_with_every_kind_of_answer(
    chapterhouse: Any, home: Path, fails: Fails
) -> None:
    fails(StaticEmbedder, "embed_question", EngineError("The table is torn."))
    told = "Searched by words alone: The table is torn."
    for command in ("search", "context", "ask"):
        assert told in chapterhouse(command, "berth cost").out
        assert told in chapterhouse(command, "berth cost", "--json").data["warnings"]
    refused = chapterhouse("ask", "Who won?")
    assert (refused.code, told in refused.out) == (6, True)


def test_text_and_span_are_exact(chapterhouse: Any, home: Path) -> None:
    text = chapterhouse("docs", "show", "tariffs", "--text").out
    assert text.startswith("# Handbook\n\nThis handbook is for guests.\n\n# Tariffs\n\n")
    assert f"»{BERTH}«" in chapterhouse("docs", "show", "tariffs", "--span", SPAN).out
    place = chapterhouse("docs", "show", "tariffs", "--span", SPAN, "--json").data
    assert place["text"] == BERTH
    assert (place["page"], place["section_path"]) == (2, ["Tariffs"])
    assert place["before"] + place["text"] + place["after"] == text.rstrip("\n")


@pytest.mark.parametrize("span", ["11", "a:b", "5:5", "9:3", "0:100000", "-1:4"])
def test_a_span_outside_the_text_is_a_usage_error(chapterhouse: Any, home: Path, span: str) -> None:
    assert chapterhouse("docs", "show", "tariffs", f"--span={span}").code == 2


def test_the_command_under_a_citation_names_the_library(
    chapterhouse: Any, home: Path, tmp_path: Path
) -> None:
    asked = ("ask", "What does a berth cost?")
    (opens,) = (
        line.strip()
        for line in chapterhouse(*asked, "--sources").out.splitlines()
        if "docs show" in line
    )
    assert opens.endswith(f" --span {SPAN}")  # the home of the environment is the next one's too
    other = home.rename(tmp_path / "my papers")
    (other / "workspaces" / "default").rename(other / "workspaces" / "w")
    options = ("--home", other, "--workspace", "w")
    for option, command in (("--sources", opens), ("--no-memory", "chapterhouse open 1")):
        shown = chapterhouse(*asked, option, *options).out
        assert f"{command} --home '{other}' --workspace w\n" in shown
