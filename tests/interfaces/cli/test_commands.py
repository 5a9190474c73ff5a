import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chapterhouse import Library
from chapterhouse.errors import EngineError, NotFoundError, RefusedError
from chapterhouse.interfaces.api.schemas import ContextResult, ExcerptResult
from chapterhouse.interfaces.cli import session
from chapterhouse.models.built_in import BuiltInEncoder

BERTH = "A berth costs 80 euros a metre."
SPAN = "53:84"  # where it stands in tariffs.pdf
LINES = """
init; add more; search berth; search berth --explain;
context 'What does a berth cost?'; ask 'What does a berth cost?';
convene berths 'What shall a berth cost?';
convene berths 'What shall a berth cost?' --dry-run; docs list; docs list --files;
docs show tariffs; docs show tariffs --text; docs show tariffs --span 53:84;
docs quality tariffs; docs remove tariffs --yes; docs reprocess; docs reprocess --dry-run;
persona new nora; persona list; persona show maria; persona validate;
persona update maria --dry-run; persona docs maria; persona docs maria --remove tides --yes;
persona docs maria --remove tides --dry-run; council new fees --member maria; council list;
council show berths; council validate; council docs list berths;
source add more --council berths; memory list; memory search berth; memory forget m1;
memory forget --all --dry-run; memory forget --older-than 30 --yes; verify ANSWER;
verify MINUTES; verify BUNDLE; verify MINUTES-BUNDLE; status; doctor; doctor --thorough;
reindex
"""
EVERY = [tuple(shlex.split(one)) for one in LINES.split(";")]
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


FAILURES = (
    (NotFoundError("No 'x\x1b[2J'.", hint="Look at docs list."), 3, "NotFoundError"),
    (RefusedError("No."), 5, "RefusedError"),
    (PermissionError(13, "Permission denied", "/made/x\x1b[2J"), 1, "OSError"),
    (ZeroDivisionError("by zero"), 1, "UnexpectedError"),
)


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure[2])
def test_errors_are_one_clear_line(
    chapterhouse: Any, monkeypatch: pytest.MonkeyPatch, failure: tuple[Exception, int, str]
) -> None:
    error, code, kind = failure

    def broken(**_: object) -> Library:
        raise error

    monkeypatch.setattr(session, "open_library", broken)
    for arguments in EVERY if error is FAILURES[0][0] else [("ask", "x")]:
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


def test_a_refusal_says_what_was_searched_and_ends_with_6(chapterhouse: Any, home: Path) -> None:
    result = chapterhouse("ask", "Who won the\x1b[31m regatta?")
    assert result.code == 6
    assert "No document searched mentions “regatta”." in result.out
    assert "\x1b" not in result.out
    as_json = chapterhouse("ask", "Who won the regatta?", "--json")
    assert (as_json.code, as_json.data["outcome"]) == (6, "not-found")


def test_what_did_not_work_is_shown_with_every_kind_of_answer(
    chapterhouse: Any, home: Path, fails: Fails
) -> None:
    fails(BuiltInEncoder, "embed_question", EngineError("The table is torn."))
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
    for span in ("11", "a:b", "5:5", "9:3", "0:100000", "-1:4"):
        assert chapterhouse("docs", "show", "tariffs", f"--span={span}").code == 2
    place = chapterhouse("docs", "show", "tariffs", "--span", SPAN, "--json").data
    assert place["text"] == BERTH
    assert (place["page"], place["section_path"]) == (2, ["Tariffs"])
    assert place["before"] + place["text"] + place["after"] == text.rstrip("\n")


def test_questions_of_the_command_line_are_shown_and_cleared(chapterhouse: Any, home: Path) -> None:
    chapterhouse("analytics", "clear", "--yes")
    chapterhouse("ask", "What does a berth cost?")
    chapterhouse("ask", "What does a berth cost?", "--no-memory")
    chapterhouse("convene", "berths", "What does a berth cost?")
    data = chapterhouse("analytics", "show", "--json").data
    assert data["by_interface"]["cli"] == data["outcomes"]["questions"] >= 1
    assert "berth cost" not in str(data)
    shown = chapterhouse("analytics", "show")
    assert shown.code == 0
    assert "Most cited documents" in shown.out
    assert chapterhouse("analytics", "clear").code == 10
    assert chapterhouse("analytics", "clear", "--yes", "--json").data["deleted"] >= 1
    assert "0 questions" in chapterhouse("analytics", "show").out


def test_search_explains_only_when_asked(chapterhouse: Any, home: Path) -> None:
    assert "bm25: " not in chapterhouse("search", "berth").out
    assert "bm25: " in chapterhouse("search", "berth", "--explain").out
    assert chapterhouse("search", "berth", "--json").data["hits"][0]["stages"] == {}
    explained = chapterhouse("search", "berth", "--json", "--explain").data["hits"][0]
    assert {"bm25", "bm25_rank", "cosine"} <= explained["stages"].keys()
    assert explained["chunk"]["id"].endswith(":0")


def test_without_hits_a_search_ends_with_6(chapterhouse: Any, home: Path) -> None:
    for command in ("search", "context"):
        result = chapterhouse(command, "zeppelin")
        assert (result.code, "Nothing found." in result.out) == (6, True)


def test_a_context_is_markdown_that_keeps_to_its_tokens(chapterhouse: Any, home: Path) -> None:
    question = ("context", "What does a berth cost, and how long does slack water last?")
    whole = chapterhouse(*question, "--json").data
    assert len(whole["excerpts"]) == 2
    assert whole.keys() == ContextResult.model_fields.keys()  # as over HTTP
    assert all(one.keys() == ExcerptResult.model_fields.keys() for one in whole["excerpts"])
    assert "fits into 5 tokens" in chapterhouse(*question, "--tokens", "5").out
    for tokens in (whole["tokens"], whole["tokens"] - 1, 60):
        packed = chapterhouse(*question, "--tokens", tokens, "--json").data
        assert packed["tokens"] <= packed["maximum"] == tokens
        shown = chapterhouse(*question, "--tokens", tokens).out
        assert shown.startswith(f"{packed['markdown']}\n")
        assert f"{packed['tokens']:,} of {tokens:,} tokens · " in shown.splitlines()[-1]
