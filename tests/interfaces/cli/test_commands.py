"""What every command does with what the library says, over a scripted library."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer

from chapterhouse.errors import NotFoundError, RefusedError
from chapterhouse.types import (
    AddReport,
    AnswerOutcome,
    Check,
    Notice,
    Searched,
    SearchResult,
    Status,
)

EVERY = [
    ("init",),
    ("add", "papers"),
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
    ("docs", "show", "tariffs", "--span", "11:42"),
    ("docs", "quality", "tariffs"),
    ("docs", "remove", "tariffs", "--yes"),
    ("docs", "reprocess"),
    ("docs", "reprocess", "--dry-run"),
    ("persona", "new", "maria"),
    ("persona", "list"),
    ("persona", "show", "maria"),
    ("persona", "edit", "maria", "--set", "grounding=tool"),
    ("persona", "validate"),
    ("persona", "update", "maria", "--dry-run"),
    ("persona", "docs", "maria"),
    ("persona", "docs", "maria", "--remove", "tides", "--yes"),
    ("persona", "docs", "maria", "--restore", "tides", "--dry-run"),
    ("council", "new", "berths", "--member", "maria"),
    ("council", "list"),
    ("council", "show", "berths"),
    ("council", "validate"),
    ("council", "docs", "list", "berths"),
    ("council", "docs", "link", "berths", "papers"),
    ("council", "docs", "link", "berths", "papers", "--dry-run"),
    ("council", "docs", "unlink", "berths", "papers", "--yes"),
    ("council", "docs", "unlink", "berths", "papers", "--dry-run"),
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
    ("reindex",),
]


@pytest.fixture(autouse=True)
def written(tmp_path: Path, script: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lay an old answer and its bundle where the commands are run."""
    script.write(tmp_path)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("arguments", EVERY, ids=" ".join)
def test_every_command_closes_its_library_and_is_safe_to_show(
    chapterhouse: Any, script: Any, arguments: tuple[str, ...]
) -> None:
    library = script()
    result = chapterhouse(*arguments)
    assert result.code == 0, result
    assert library.closed
    assert result.out
    assert "\x1b" not in result.out
    assert "\u202e" not in result.out
    assert "\x07" not in result.out


@pytest.mark.parametrize("arguments", EVERY, ids=" ".join)
def test_every_command_gives_the_same_data_twice(
    chapterhouse: Any, script: Any, arguments: tuple[str, ...]
) -> None:
    script()
    first, second = chapterhouse(*arguments, "--json"), chapterhouse(*arguments, "--json")
    assert first.code == 0
    assert first.err == ""
    assert first.data == second.data
    assert first.envelope["meta"]["workspace"] == "default"


FAILURES = (
    (NotFoundError("No 'x\x1b[2J'.", hint="Look at docs list."), 3, "NotFoundError"),
    (RefusedError("No."), 5, "RefusedError"),
    (PermissionError(13, "Permission denied", "/made/x\x1b[2J"), 1, "OSError"),
    (ZeroDivisionError("by zero"), 1, "UnexpectedError"),
)


@pytest.mark.parametrize("arguments", EVERY, ids=" ".join)
def test_errors_are_one_clear_line(
    chapterhouse: Any, script: Any, arguments: tuple[str, ...]
) -> None:
    for failure, code, kind in FAILURES:
        script.breaks(failure)
        result = chapterhouse(*arguments)
        assert (result.code, result.out) == (code, "")
        assert result.err.startswith("chapterhouse: ")
        assert len(result.err.splitlines()) <= 2
        assert "Traceback" not in result.err
        assert "\x1b" not in result.err
        as_json = chapterhouse(*arguments, "--json")
        assert as_json.code == code
        assert as_json.envelope["error"]["type"] == kind


def test_debug_shows_the_traceback(chapterhouse: Any, script: Any) -> None:
    script(failure=ZeroDivisionError("by zero"))
    result = chapterhouse("ask", "x", "--debug")
    assert result.code == 1
    assert "Traceback" in result.err
    assert "chapterhouse: Unexpected ZeroDivisionError: by zero" in result.err


def test_an_answer_shows_everything_needed_to_check_it(chapterhouse: Any, script: Any) -> None:
    script()
    out = chapterhouse("ask", "What does a berth cost?", "--sources").out
    assert out.startswith("A berth costs 80 euros a metre. [1]\n")
    for expected in (
        "[1] Tariffs\\x1b[2J",
        "§Tariffs, page 2\n",
        " · characters 11–42 · sha256 cdcdcdcdcdcd · verified",
        "“A berth costs 80 euros a metre.”",
        "chapterhouse docs show tariffs-1a2b3c4d --span 11:42",
        "[bold red]PAID[/bold red]",
    ):
        assert expected in out


def test_an_answer_is_a_screen_with_one_line_for_each_source(
    chapterhouse: Any, script: Any
) -> None:
    script()
    lines = chapterhouse("ask", "What does a berth cost?").out.splitlines()
    assert len(lines) == 5
    assert lines[2].startswith("[1] Tariffs\\x1b[2J")
    assert lines[2].endswith(", §Tariffs, page 2 — chapterhouse open 1")
    assert lines[4] == "sure · quoted, without a model · searched 1 document, 1 chunk"


def test_a_refusal_says_what_was_searched_and_ends_with_6(chapterhouse: Any, script: Any) -> None:
    script(answer=script.refusal)
    result = chapterhouse("ask", "Who won?")
    assert result.code == 6
    assert "I don't find this in the documents." in result.out
    assert "Words that no document has: won\\x1b[31m" in result.out
    assert "› Guests" in result.out
    as_json = chapterhouse("ask", "Who won?", "--json")
    assert (as_json.code, as_json.data["outcome"]) == (6, "not-found")


def test_answers_as_json_hold_the_line_of_text(chapterhouse: Any, script: Any) -> None:
    library = script()
    data = chapterhouse("ask", "x", "--json").data
    assert data["text"] == library.answer.text
    assert data["citations"][0]["quote"] == "A berth costs 80 euros a metre."
    assert (
        data["citations"][0]["title"] == script.hostile
    )  # JSON is for programs: nothing is spelt out


def test_search_explains_only_when_asked(chapterhouse: Any, script: Any) -> None:
    script()
    assert "bm25: 12.5" not in chapterhouse("search", "x").out
    assert "bm25: 12.5" in chapterhouse("search", "x", "--explain").out
    assert "stages" not in chapterhouse("search", "x", "--json").data["hits"][0]
    explained = chapterhouse("search", "x", "--json", "--explain").data["hits"][0]
    assert explained["stages"] == {"bm25": 12.5, "bm25_rank": 1.0, "cosine": 0.25}
    assert explained["chunk"]["id"] == "tariffs-1a2b3c4d:0"


def test_a_search_without_hits_ends_with_6(chapterhouse: Any, script: Any) -> None:
    script(finds=False)
    result = chapterhouse("search", "x")
    assert result.code == 6
    assert "Nothing found." in result.out


@pytest.mark.parametrize("option", ["--limit=3", "--per-document=1", "--tag=x"])
def test_all_documents_cannot_be_fewer(chapterhouse: Any, script: Any, option: str) -> None:
    script()
    result = chapterhouse("search", "x", "--all", option)
    assert result.code == 2
    assert "--all lists every document" in result.err


def test_a_context_too_small_is_told_from_one_without_candidates(
    chapterhouse: Any, monkeypatch: pytest.MonkeyPatch, script: Any
) -> None:
    library = script()
    held = library.context("x")
    assert "1 excerpt of 1 document " in chapterhouse("context", "x").out
    small = replace(held, excerpts=(), markdown="", sources=(), maximum=5)
    monkeypatch.setattr(library, "context", lambda *_, **__: small)
    assert "fits into 5 tokens" in chapterhouse("context", "x", "--tokens", "5").out
    none = replace(small, candidates=())
    monkeypatch.setattr(library, "context", lambda *_, **__: none)
    result = chapterhouse("context", "x")
    assert (result.code, "Nothing found." in result.out) == (6, True)


def test_what_did_not_work_is_shown_with_every_kind_of_answer(
    chapterhouse: Any, monkeypatch: pytest.MonkeyPatch, script: Any
) -> None:
    library = script()
    context = replace(library.context("x"), warnings=("Searched by words alone.",))
    monkeypatch.setattr(library, "context", lambda *_, **__: context)
    library.answer = replace(library.answer, warnings=("Searched by words alone.",))
    for command in ("context", "ask"):
        assert "Searched by words alone." in chapterhouse(command, "x").out
        assert chapterhouse(command, "x", "--json").data["warnings"] == ["Searched by words alone."]
    library.answer = replace(
        library.answer, outcome=AnswerOutcome.NOT_FOUND, sentences=(), citations=()
    )
    assert "Searched by words alone." in chapterhouse("ask", "x").out


def test_of_many_repeats_a_few_are_named(
    chapterhouse: Any, monkeypatch: pytest.MonkeyPatch, script: Any
) -> None:
    library = script()
    found = library.hits("x")
    repeats = tuple(f"copy:{number}" for number in range(40))
    many = replace(found, hits=(replace(found.hits[0], repeats=repeats),))
    monkeypatch.setattr(library, "hits", lambda *_, **__: many)
    shown = chapterhouse("search", "x").out
    assert "copy:4, and 35 more" in shown
    assert "1 passage from 1 document, 1 chunk" in shown
    assert chapterhouse("search", "x", "--json").data["hits"][0]["repeats"] == list(repeats)


@pytest.mark.parametrize("status", [Status.REJECTED, Status.PARTIAL])
def test_files_not_wholly_read_end_with_4(chapterhouse: Any, script: Any, status: Status) -> None:
    script(
        report=AddReport(
            (script.outcome(Status.READY), script.outcome(status, "other.pdf")), ("gone.md",)
        )
    )
    result = chapterhouse("add", "papers")
    assert result.code == 4
    assert result.out.startswith("2 files: 1 ready, 1 ")
    assert f"{status.value:<10}other.pdf" in result.out
    assert "missing   gone.md" in result.out
    assert chapterhouse("add", "papers", "--json").data["counts"][status.value] == 1


def test_seconds_are_not_data(chapterhouse: Any, script: Any) -> None:
    script()
    slow = chapterhouse("add", "papers", "--json").data
    script(report=AddReport((script.outcome(Status.READY, seconds=9.0),)))
    assert chapterhouse("add", "papers", "--json").data == slow


@pytest.mark.parametrize("by", ["signal", "report"])
def test_an_interrupted_add_says_what_is_safe(chapterhouse: Any, script: Any, by: str) -> None:
    if by == "signal":
        script(failure=KeyboardInterrupt())
    else:
        script(report=AddReport((script.outcome(Status.READY),), interrupted=True))
    result = chapterhouse("add", "papers")
    assert result.code == 130
    assert result.out == ""
    assert "3 of 7 files are done and safe on disk" in result.err
    assert "same command again" in result.err
    as_json = chapterhouse("add", "papers", "--json")
    assert as_json.code == 130
    assert as_json.envelope["error"]["type"] == "InterruptedWorkError"


def test_an_interrupted_question_ends_with_130(chapterhouse: Any, script: Any) -> None:
    script(failure=KeyboardInterrupt())
    assert chapterhouse("ask", "x").code == 130


def test_removing_needs_a_yes_off_a_terminal(chapterhouse: Any, script: Any) -> None:
    library = script()
    result = chapterhouse("docs", "remove", "tariffs")
    assert result.code == 10
    assert "--yes" in result.err
    assert library.removed == []
    assert chapterhouse("docs", "remove", "tariffs", "--dry-run").out.startswith("Would remove 1")
    assert library.removed == []
    assert chapterhouse("docs", "remove", "tariffs", "--yes").out.startswith("Removed 1 document.")
    assert library.removed == [("tariffs",)]


def test_a_failing_check_ends_with_1(chapterhouse: Any, script: Any) -> None:
    script(checks=(Check("index", passed=False, sentence="It is torn.", hint="Run reindex."),))
    result = chapterhouse("doctor")
    assert result.code == 1
    assert "PROBLEM index: It is torn." in result.out
    assert "Run reindex." in result.out


def test_text_and_span_are_exact(chapterhouse: Any, script: Any) -> None:
    script()
    assert chapterhouse("docs", "show", "tariffs", "--text").out == script.text
    assert (
        "»A berth costs 80 euros a metre.«"
        in chapterhouse("docs", "show", "tariffs", "--span", "11:42").out
    )
    place = chapterhouse("docs", "show", "tariffs", "--span", "11:42", "--json").data
    assert place["text"] == "A berth costs 80 euros a metre."
    assert (place["page"], place["section_path"]) == (2, ["Tariffs"])
    assert place["before"] + place["text"] + place["after"] == script.text


@pytest.mark.parametrize("span", ["11", "a:b", "5:5", "9:3", "0:100000", "-1:4"])
def test_a_span_outside_the_text_is_a_usage_error(
    chapterhouse: Any, script: Any, span: str
) -> None:
    script()
    assert chapterhouse("docs", "show", "tariffs", f"--span={span}").code == 2


def test_the_index_that_lags_is_shown(chapterhouse: Any, script: Any) -> None:
    script()
    assert "1 change behind" in chapterhouse("status").out


@pytest.mark.parametrize(
    "arguments", [("add", ""), ("add", "papers", " "), ("status", "--home", "")]
)
def test_an_empty_path_is_not_the_present_folder(
    chapterhouse: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    result = chapterhouse(*arguments)
    assert result.code == 2
    assert "empty" in result.err


def test_bytes_in_a_question_that_are_no_text_are_replaced(
    chapterhouse: Any, script: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = script()
    found: SearchResult = library.hits("x")
    asked = []

    def search(text: str, **_: object) -> SearchResult:
        asked.append(text)
        return found

    monkeypatch.setattr(library, "hits", search)
    assert chapterhouse("search", "\udcff lights").code == 0
    assert asked == ["\ufffd lights"]


def test_the_command_under_a_citation_names_the_library(
    chapterhouse: Any, script: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    script()
    opens = "chapterhouse docs show tariffs-1a2b3c4d --span 11:42"
    assert f"{opens}\n" in chapterhouse("ask", "x", "--sources").out
    other = ("--home", "/my papers", "--workspace", "w")
    for option, command in (("--sources", opens), ("--no-memory", "chapterhouse open 1")):
        shown = chapterhouse("ask", "x", option, *other).out
        assert f"{command} --home '/my papers' --workspace w\n" in shown
    monkeypatch.setenv("CHAPTERHOUSE_HOME", "/elsewhere")  # the next command has it too
    assert f"{opens}\n" in chapterhouse("ask", "x", "--sources").out


def test_each_file_is_explained_once(chapterhouse: Any, script: Any) -> None:
    notice = Notice("no-text", "Page 2 is empty.")
    read = script.outcome(Status.PARTIAL)
    read = replace(
        read,
        record=replace(read.record, code=notice.code, sentence=notice.sentence),
        notices=(notice, Notice("encoding-guessed", "It may be Latin-1.")),
    )
    skipped = script.outcome(Status.SKIPPED, "link.txt")
    skipped = replace(
        skipped, record=replace(skipped.record, code="symbolic-link", sentence="A link.")
    )
    same = script.outcome(Status.SKIPPED, "same.txt")
    same = replace(same, record=replace(same.record, code="unchanged"))
    script(report=AddReport((read, skipped, same)))
    out = chapterhouse("add", "papers").out
    assert out.count(notice.sentence) == 1
    assert "It may be Latin-1." in out
    assert "skipped   link.txt\n          A link. (symbolic-link)" in out
    assert "same.txt" not in out


def test_a_plan_counts_only_what_would_be_read(chapterhouse: Any, script: Any) -> None:
    new = script.outcome(Status.SKIPPED, "new.md")
    new = replace(new, record=replace(new.record, code="would-be-read"))
    script(report=AddReport((new, script.outcome(Status.REJECTED, "huge.md"))))
    result = chapterhouse("add", "papers", "--dry-run")
    assert result.code == 4
    assert result.out.startswith("1 of 2 files would be read\n  new.md\nrejected  huge.md\n")


def test_what_was_searched_stays_readable(chapterhouse: Any, script: Any) -> None:
    words = ("x" * 100_000, *(f"word{number}" for number in range(10_000)))
    script(answer=replace(script.refusal, searched=Searched(1, 1, words, words, ())))
    result = chapterhouse("ask", "x")
    assert "word1, word2" in result.out
    assert "more" in result.out
    assert len(result.out) < 2_000


def test_documents_of_no_known_language_have_a_stemmer_of_their_own(
    chapterhouse: Any, script: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = script()
    found = replace(library.hits("x"), languages=("en", ""))
    monkeypatch.setattr(library, "hits", lambda *_, **__: found)
    assert "stemmers: en, other\n" in chapterhouse("search", "x", "--explain").out


def test_ctrl_c_at_the_question_removes_nothing(
    chapterhouse: Any, script: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> bool:
        raise typer.Abort

    library = script()
    for stream in (sys.stdin, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(typer, "confirm", interrupted)
    result = chapterhouse("docs", "remove", "tariffs")
    assert (result.code, library.removed) == (10, [])
    assert "Nothing was removed." in result.err
