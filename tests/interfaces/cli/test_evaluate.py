"""eval and feedback as users have them: the command line over real libraries."""

import json
from pathlib import Path
from typing import Any

import pytest


def test_help_lists_both(chapterhouse: Any) -> None:
    out = chapterhouse("--help").out
    assert "\n  eval " in out
    assert "\n  feedback " in out


def test_verdicts_are_kept_and_evaluated_by_default(
    chapterhouse: Any, ferry: Path, tmp_path: Path
) -> None:
    question = "How much is budgeted for fuel in 2026?"
    answer = tmp_path / "answer.json"
    answer.write_text(chapterhouse("ask", question, "--home", ferry, "--json").out, "utf-8")
    kept = chapterhouse("feedback", "good", answer, "--home", ferry)
    assert kept.code == 0
    assert kept.out.startswith("Added to ")
    assert "must find: varnholm-ferry/finance/budget-2026.xlsx" in kept.out
    again = chapterhouse("feedback", "good", answer, "--home", ferry, "--json").data
    assert again["change"] == "unchanged"
    none = chapterhouse(
        "feedback", "good", "--question", "How do I bake sourdough bread?", "--home", ferry
    )
    assert "must find no answer" in none.out
    found = chapterhouse("eval", "--home", ferry, "--json").data
    assert found["name"].endswith("questions.jsonl")
    assert found["measures"]["answer"]["mean"] == found["measures"]["refusal"]["mean"] == 1.0
    bad = ("feedback", "bad", answer, "--required", "tickets.csv", "--home", ferry)
    assert chapterhouse(*bad).code == 3
    shown = chapterhouse("eval", "--home", ferry).out
    assert "Every question got all it wants." in shown


def test_only_what_was_wrong_is_kept_of_a_bad_answer(
    chapterhouse: Any, ferry: Path, tmp_path: Path
) -> None:
    question = "How much is budgeted for fuel in 2026?"
    answer = tmp_path / "answer.json"
    answer.write_text(chapterhouse("ask", question, "--home", ferry, "--json").out, "utf-8")
    shown = json.loads(answer.read_text("utf-8"))["data"]
    bad = ("feedback", "bad", answer, "--home", ferry, "--json")

    first = shown["sentences"][0]["text"]
    assert chapterhouse(*bad, "--sentence", 1).data["question"]["wrong"] == [first]
    quoted = chapterhouse(*bad, "--passage", 1).data["question"]
    assert quoted["wrong"] == [shown["citations"][0]["quote"]]
    source = shown["citations"][0]["source"]
    named = chapterhouse(*bad, "--document", source).data["question"]
    assert (named["wrong"], named["forbidden"]) == ([], [source])
    assert chapterhouse(*bad, "--sentence", 99).code == 2
    assert chapterhouse("feedback", "good", answer, "--home", ferry, "--passage", 1).code == 2

    kept = chapterhouse("feedback", "bad", answer, "--home", ferry)
    assert "must not show: " in kept.out
    assert "must not rest on" not in kept.out
    found = chapterhouse("eval", "--home", ferry, "--json").data
    assert found["measures"]["corrected"]["mean"] == 0.0


def test_an_answer_is_read_from_standard_input(
    chapterhouse: Any, ferry: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    printed = chapterhouse("ask", "What is a regatta week?", "--home", ferry, "--json").out
    (tmp_path / "a.json").write_text(printed, "utf-8")
    with (tmp_path / "a.json").open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        result = chapterhouse("feedback", "bad", "-", "--required", "tickets.txt", "--home", ferry)
    assert result.code == 3
    assert "No document is called 'tickets.txt'" in result.err


@pytest.mark.parametrize(
    ("arguments", "code", "what"),
    [
        (("eval", "50"), 3, "There is no folder or file 50."),
        (("eval", "."), 2, "is no collection"),
        (("eval", ""), 2, "A path is empty"),
        (("eval",), 3, "There is no library"),
        (("eval", "--synthetic", "x"), 2, "--limit N"),
        (("eval", "--chunking"), 2, "takes a folder"),
        (("eval", "--chunking", "x", "--ablation"), 2, "takes a folder"),
        (("eval", "--fail-below", "best=1"), 2, "no measure 'best'"),
        (("eval", "--fail-below", "R@5=5"), 2, "figure from 0 to 1"),
        (("eval", "--run", "none/a.trec"), 2, "folder none is not there"),
        (("eval", "--junit", "."), 2, "is a folder"),
        (("eval", "--compare", "none.trec"), 2, "no file none.trec"),
        (("eval", "--limit", "0"), 2, "--limit"),
        (("feedback", "fine", "a.json"), 2, "good or bad"),
        (("feedback", "good"), 2, "Name a FILE"),
        (("feedback", "good", "a.json", "--question", "x"), 2, "Name a FILE"),
    ],
)
def test_what_is_wrong_is_said(
    chapterhouse: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    code: int,
    what: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    result = chapterhouse(*arguments)
    assert result.code == code
    assert result.out == ""
    assert result.err.startswith("chapterhouse: ")
    assert what in result.err
    as_json = chapterhouse(*arguments, "--json")
    assert as_json.code == code
    assert as_json.envelope["ok"] is False
