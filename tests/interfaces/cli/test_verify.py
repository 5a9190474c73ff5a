"""The commands verify and ask --bundle: over a scripted library, and a real one."""

import io
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chapterhouse.answering.cite import QuoteState, SourceState

RULES = "# Rules\n\nInside the harbour no vessel may exceed 4 knots.\n"
QUESTION = "How fast may a vessel go inside the harbour?"


@pytest.fixture
def home(chapterhouse: Any, tmp_path: Path) -> Path:
    """A home whose library holds the rules, with an answer and its bundle beside it."""
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "rules.md").write_text(RULES)
    home = tmp_path / "home"
    assert chapterhouse("add", papers, "--home", home).code == 0
    bundle = tmp_path / "answer.bundle"
    asked = chapterhouse("ask", QUESTION, "--home", home, "--json", "--bundle", bundle)
    assert asked.code == 0
    (tmp_path / "answer.json").write_text(asked.out)
    return home


def rewrite(chapterhouse: Any, home: Path, text: str) -> None:
    (home.parent / "papers" / "rules.md").write_text(text)
    assert chapterhouse("add", home.parent / "papers", "--home", home).code == 0


# --- a real library --------------------------------------------------------------------------


def test_what_ask_wrote_is_checked_and_verified(chapterhouse: Any, home: Path) -> None:
    folder = home.parent
    for file in ("answer.json", "answer.bundle"):
        result = chapterhouse("verify", folder / file, "--home", home)
        assert result.code == 0, result
        assert "is as it was cited; the quotation stands" in result.out
        assert "chapterhouse docs show rules-" in result.out
    result = chapterhouse("verify", folder / "answer.bundle", "--home", home)
    assert result.code == 0, result
    assert result.out.count("ok  ") == 5
    assert "the quotation stands" in result.out


def test_a_bundle_is_verified_alone_where_there_is_no_library(
    chapterhouse: Any, home: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    result = chapterhouse("verify", home.parent / "answer.bundle", "--alone", "--home", elsewhere)
    assert result.code == 0
    assert "Checked by itself: the documents were not looked at." in result.out
    assert not elsewhere.exists()
    data = chapterhouse("verify", home.parent / "answer.bundle", "--alone", "--json").data
    assert data["trusted"] is True
    assert data["citations"] is None
    against = chapterhouse("verify", home.parent / "answer.bundle", "--home", elsewhere)
    assert against.code == 3
    assert "There is no library" in against.err


def test_a_quotation_that_is_lost_ends_with_4(chapterhouse: Any, home: Path) -> None:
    rewrite(chapterhouse, home, RULES.replace("4 knots", "5 knots"))
    for command in (("verify", "answer.json"), ("verify", "answer.bundle")):
        *words, file = command
        result = chapterhouse(*words, home.parent / file, "--home", home)
        assert result.code == 4, result
        assert "has changed since; the quotation is not there any more" in result.out
    data = chapterhouse("verify", home.parent / "answer.json", "--home", home, "--json").data
    assert data["holds"] is False
    assert data["citations"][0]["quotation"] == "lost"


def test_a_source_that_changed_elsewhere_still_carries_the_answer(
    chapterhouse: Any, home: Path
) -> None:
    rewrite(chapterhouse, home, f"# Preface\n\nNew.\n\n{RULES}")
    result = chapterhouse("verify", home.parent / "answer.json", "--home", home)
    assert result.code == 0
    assert "has changed since; the quotation stands at another place" in result.out


def test_a_document_that_is_gone_is_told(chapterhouse: Any, home: Path) -> None:
    assert chapterhouse("docs", "remove", "rules.md", "--yes", "--home", home).code == 0
    result = chapterhouse("verify", home.parent / "answer.json", "--home", home)
    assert result.code == 4
    assert "is gone" in result.out


def test_an_altered_bundle_ends_with_1_also_where_quotations_are_lost(
    chapterhouse: Any, home: Path
) -> None:
    bundle = home.parent / "answer.bundle"
    bundle.write_text(bundle.read_text().replace("4 knots", "9 knots"))
    rewrite(chapterhouse, home, RULES.replace("4 knots", "5 knots"))
    for options in ((), ("--alone",)):
        result = chapterhouse("verify", bundle, "--home", home, *options)
        assert result.code == 1, result
        assert "BAD " in result.out
        assert "Trust nothing in this file." in result.out
    assert chapterhouse("verify", bundle, "--alone", "--json").data["trusted"] is False


def test_a_bundle_is_written_whole_or_not_at_all(chapterhouse: Any, home: Path) -> None:
    folder = home.parent
    first = (folder / "answer.bundle").read_bytes()
    assert (
        chapterhouse("ask", QUESTION, "--home", home, "--bundle", folder / "answer.bundle").code
        == 0
    )
    assert (folder / "answer.bundle").read_bytes() == first
    for nowhere in (folder / "no" / "such" / "x", folder, "-"):
        result = chapterhouse("ask", QUESTION, "--home", home, "--bundle", nowhere)
        assert result.code == 2
    mine = folder / "mine.md"
    mine.write_text("# Mine", "utf-8")
    result = chapterhouse("ask", QUESTION, "--home", home, "--bundle", mine)
    assert result.code == 5
    assert mine.read_text("utf-8") == "# Mine"
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith(".")) == []


def test_an_answer_as_markdown_has_footnotes(chapterhouse: Any, home: Path) -> None:
    result = chapterhouse("ask", QUESTION, "--home", home, "--markdown")
    assert result.code == 0
    assert "no vessel may exceed 4 knots.[^1]" in result.out
    assert "\n[^1]: Rules, page" in result.out or "\n[^1]: Rules. " in result.out
    both = chapterhouse("ask", QUESTION, "--home", home, "--markdown", "--json")
    assert both.code == 2


def test_a_file_is_read_from_standard_input(
    chapterhouse: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = (home.parent / "answer.bundle").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert chapterhouse("verify", "-", "--alone").code == 0


# --- what cannot be read ---------------------------------------------------------------------


@pytest.mark.parametrize("command", [("verify",), ("verify", "--alone")])
@pytest.mark.parametrize(
    ("content", "code"),
    [
        (None, 3),
        ("", 2),
        ("junk", 2),
        ("[1]", 2),
        ('{"ok": false, "error": {"message": "x"}}', 2),
        ('{"format": "chapterhouse-answer/99", "answer": {}}', 2),
    ],
)
def test_a_file_that_holds_no_answer_is_refused_in_two_lines(
    chapterhouse: Any, script: Any, tmp_path: Path, command: tuple[str, ...],
    content: str | None, code: int,
) -> None:  # fmt: skip
    script()
    path = tmp_path / "file.json"
    if content is not None:
        path.write_text(content)
    result = chapterhouse(*command, path)
    assert (result.code, result.out) == (code, "")
    assert 1 <= len(result.err.splitlines()) <= 2
    assert chapterhouse(*command, path, "--json").envelope["ok"] is False


def test_a_folder_and_a_file_without_end_are_no_answers(
    chapterhouse: Any, script: Any, tmp_path: Path
) -> None:
    script()
    assert chapterhouse("verify", tmp_path).code == 1
    if Path("/dev/zero").exists():
        result = chapterhouse("verify", "/dev/zero", "--alone")
        assert (result.code, "as no answer has" in result.err) == (2, True)


# --- what is shown ---------------------------------------------------------------------------


def test_a_hostile_bundle_is_shown_without_effect(
    chapterhouse: Any, script: Any, tmp_path: Path
) -> None:
    library = script()
    forged = replace(
        library.answer,
        question=script.hostile,
        citations=tuple(
            replace(one, title=script.hostile, source=script.hostile, document_id="x; rm -rf /")
            for one in library.answer.citations
        ),
    )
    script.write(tmp_path, forged)
    for command in (
        ("verify", "BUNDLE", "--alone"),
        ("verify", "BUNDLE"),
        ("verify", "ANSWER"),
    ):
        *words, file = [part for part in command if part != "--alone"]
        result = chapterhouse(
            *words, tmp_path / file, *(["--alone"] if "--alone" in command else [])
        )
        assert not set(result.out) & set("\x1b\x07\u202e")
        assert "\x1b" not in result.err


@pytest.mark.parametrize("source", list(SourceState))
@pytest.mark.parametrize("quote", list(QuoteState))
def test_every_state_of_a_citation_is_told_in_words(
    chapterhouse: Any, script: Any, tmp_path: Path, source: SourceState, quote: QuoteState
) -> None:
    library = script()
    found = replace(library.rechecked[0], source=source, quote=quote)
    library.rechecked = (found, found)
    script.write(tmp_path)
    result = chapterhouse("verify", tmp_path / "ANSWER")
    assert result.code == (4 if quote is QuoteState.LOST else 0)
    assert result.out.count("the quotation") == 2
    data = chapterhouse("verify", tmp_path / "ANSWER", "--json").data
    assert {one["source"] for one in data["citations"]} == {source.value}
    assert {one["quotation"] for one in data["citations"]} == {quote.value}


def test_an_answer_without_citations_has_nothing_to_check(
    chapterhouse: Any, script: Any, tmp_path: Path
) -> None:
    library = script(answer=script.refusal)
    library.rechecked = ()
    script.write(tmp_path, script.refusal)
    result = chapterhouse("verify", tmp_path / "ANSWER")
    assert (result.code, "cites nothing" in result.out) == (0, True)


def test_the_envelope_of_ask_is_an_answer(chapterhouse: Any, script: Any, tmp_path: Path) -> None:
    script()
    path = tmp_path / "printed.json"
    path.write_text(chapterhouse("ask", "x", "--json").out)
    assert json.loads(path.read_text())["ok"] is True
    assert chapterhouse("verify", path).code == 0
