"""What every command does with a real library."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from chapterhouse import Library
from chapterhouse.errors import EngineError, NotFoundError, RefusedError
from chapterhouse.facets.answers import Answers
from chapterhouse.facets.documents import Documents
from chapterhouse.interfaces.cli import session
from chapterhouse.models.static import StaticEmbedder
from chapterhouse.types import Progress

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
    ("persona", "edit", "maria", "--set", "grounding=tool"),
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
    ("council", "docs", "link", "berths", "more"),
    ("council", "docs", "link", "berths", "more", "--dry-run"),
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
    assert result.code == (1 if arguments[1:] == ("validate",) else 0), result
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


def test_debug_shows_the_traceback(chapterhouse: Any, home: Path, fails: Fails) -> None:
    fails(Answers, "ask_async", ZeroDivisionError("by zero"))
    result = chapterhouse("ask", "x", "--debug")
    assert result.code == 1
    assert "Traceback" in result.err
    assert "chapterhouse: Unexpected ZeroDivisionError: by zero" in result.err


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
    assert "Words that no document has: the\\x1b[31m, regatta" in result.out
    assert "\x1b" not in result.out
    as_json = chapterhouse("ask", "Who won the regatta?", "--json")
    assert (as_json.code, as_json.data["outcome"]) == (6, "not-found")


def test_answers_as_json_hold_the_line_of_text(chapterhouse: Any, hostile: str) -> None:
    data = chapterhouse("ask", "What does a berth cost?", "--json").data
    assert data["text"] == f"{BERTH} [1]"
    assert data["citations"][0]["quote"] == BERTH
    assert data["citations"][0]["title"] == hostile  # JSON is for programs: nothing is spelt out


def test_search_explains_only_when_asked(chapterhouse: Any, home: Path) -> None:
    assert "bm25: " not in chapterhouse("search", "berth").out
    assert "bm25: " in chapterhouse("search", "berth", "--explain").out
    assert "stages" not in chapterhouse("search", "berth", "--json").data["hits"][0]
    explained = chapterhouse("search", "berth", "--json", "--explain").data["hits"][0]
    assert {"bm25", "bm25_rank", "cosine"} <= explained["stages"].keys()
    assert explained["chunk"]["id"].endswith(":0")


@pytest.mark.parametrize("command", ["search", "context"])
def test_without_hits_a_search_ends_with_6(chapterhouse: Any, home: Path, command: str) -> None:
    result = chapterhouse(command, "zeppelin")
    assert (result.code, "Nothing found." in result.out) == (6, True)


@pytest.mark.parametrize("option", ["--limit=3", "--per-document=1", "--tag=x"])
def test_all_documents_cannot_be_fewer(chapterhouse: Any, option: str) -> None:
    result = chapterhouse("search", "x", "--all", option)
    assert result.code == 2
    assert "--all lists every document" in result.err


def test_a_context_that_is_too_small_says_so(chapterhouse: Any, home: Path) -> None:
    assert "1 excerpt of 1 document " in chapterhouse("context", "berth").out
    assert "fits into 5 tokens" in chapterhouse("context", "berth", "--tokens", "5").out


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


def test_files_that_are_rejected_end_with_4(chapterhouse: Any, home: Path, tmp_path: Path) -> None:
    (tmp_path / "torn.pdf").write_bytes(b"%PDF-1.7 torn")
    torn = chapterhouse("add", tmp_path / "torn.pdf")
    assert (torn.code, "/torn.pdf\n" in torn.out) == (4, True)
    assert chapterhouse("add", tmp_path / "torn.pdf", "--json").code == 4  # and again


def interrupted_at_the_first_file(
    add: Callable[..., object],
) -> Callable[..., object]:
    def interrupted(
        self: Documents, *paths: Path, on_progress: Callable[[Progress], None], **options: Any
    ) -> object:
        def follow(progress: Progress) -> None:
            on_progress(progress)
            raise KeyboardInterrupt

        return add(self, *paths, on_progress=follow, **options)

    return interrupted


def test_an_interrupted_add_says_what_is_safe(
    chapterhouse: Any, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text(f"# {name}\n\nA note.\n")
    files = (tmp_path / "a.md", tmp_path / "b.md")
    with monkeypatch.context() as patched:
        patched.setattr(Documents, "add", interrupted_at_the_first_file(Documents.add))
        result = chapterhouse("add", *files)
        assert (result.code, result.out) == (130, "")
        assert "1 of 2 files are done and safe on disk" in result.err
        assert "same command again" in result.err
    assert chapterhouse("add", *files, "--json").data["changed"] <= 1


def test_ctrl_c_ends_with_130(chapterhouse: Any, home: Path, fails: Fails) -> None:
    fails(Documents, "add", KeyboardInterrupt())
    as_json = chapterhouse("add", "more", "--json")
    assert as_json.code == 130
    assert as_json.envelope["error"]["type"] == "InterruptedWorkError"
    fails(Answers, "ask_async", KeyboardInterrupt())
    assert chapterhouse("ask", "x").code == 130


def test_removing_needs_a_yes_off_a_terminal(chapterhouse: Any, home: Path) -> None:
    def documents() -> int:
        return len(chapterhouse("docs", "list", "--json").data)

    result = chapterhouse("docs", "remove", "tariffs")
    assert result.code == 10
    assert "--yes" in result.err
    assert chapterhouse("docs", "remove", "tariffs", "--dry-run").out.startswith("Would remove 1")
    assert documents() == 2
    assert chapterhouse("docs", "remove", "tariffs", "--yes").out.startswith("Removed 1 document.")
    assert documents() == 1


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


def test_the_index_that_lags_is_shown(chapterhouse: Any, home: Path) -> None:
    assert "behind" not in chapterhouse("status").out
    shutil.rmtree(home / "workspaces" / "default" / "index" / "lexical")
    assert "changes behind" in chapterhouse("status").out


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


def test_bytes_in_a_question_that_are_no_text_are_replaced(chapterhouse: Any, home: Path) -> None:
    found = chapterhouse("search", "\udcff berth", "--json").data
    assert found["query"]["text"] == "\ufffd berth"


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


def test_a_plan_counts_only_what_would_be_read(
    chapterhouse: Any, home: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    (home / "chapterhouse.toml").write_text("[reading]\nmaximum_megabytes = 1\n")
    (folder / "new.md").write_text("A note.")
    (folder / "huge.md").write_bytes(b"x" * (2**20 + 1))
    result = chapterhouse("add", folder, "--dry-run")
    assert result.code == 4
    assert result.out.startswith("1 of 2 files would be read\n  new/new.md\nrejected  new/huge.md")


def test_ctrl_c_at_the_question_removes_nothing(
    chapterhouse: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> bool:
        raise typer.Abort

    for stream in (sys.stdin, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(typer, "confirm", interrupted)
    result = chapterhouse("docs", "remove", "tariffs")
    assert result.code == 10
    assert "Nothing was removed." in result.err
    assert len(chapterhouse("docs", "list", "--json").data) == 2
