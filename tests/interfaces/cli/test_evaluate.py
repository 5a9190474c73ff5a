import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

LARGE = "CHAPTERHOUSE_LARGE" in os.environ


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
    assert "required@10  1.000" in shown


def test_whose_documents_answer_what(chapterhouse: Any, tmp_path: Path) -> None:
    texts = {
        "maria": "# Speed\n\nInside the harbour no vessel may exceed 4 knots.\n",
        "olof": "# Tariffs\n\nA berth costs 80 euros a metre in 2026.\n",
    }
    home = ("--home", tmp_path / "home")
    for slug, text in texts.items():
        (tmp_path / slug).mkdir()
        (tmp_path / slug / f"{slug}.md").write_text(text)
        chapterhouse("persona", "new", slug, "--folder", tmp_path / slug, *home)
        chapterhouse("persona", "update", slug, *home)
    chapterhouse("council", "new", "board", "--member", "maria", "--member", "olof", *home)
    file = tmp_path / "questions.jsonl"
    asked: list[dict[str, object]] = [
        {"question": "How many knots may a vessel go in the harbour?", "answer": "4 knots"},
        {"question": "What does a berth cost a metre?", "answer": "80 euros"},
        {"question": "Who painted the ceiling of the Sistine Chapel?", "answerable": False},
    ]
    file.write_text("".join(json.dumps(one) + "\n" for one in asked))
    key = ("guest", "--level", "read", "--shelf", "maria")
    made = chapterhouse("key", "create", *key, "--json", *home).data["id"]
    expected = {"maria": ["answers", "lacks", "nobody"], "olof": ["lacks", "answers", "nobody"]}
    for options in (("--persona", "maria", "--persona", "olof"), ("--council", "board")):
        found = chapterhouse("eval", file, *options, "--json", *home).data["questions"]
        assert {name: [one["reach"][name] for one in found] for name in expected} == expected
        assert found[1]["lacking"] == {"maria": [found[1]["documents"][0]]}
    shown = chapterhouse("eval", file, "--key", made, *home).out
    assert f"{made}: answers 1 of 3" in shown
    assert re.search(r"lacks \S+/olof\.md, which answers 1 question", shown)
    wrong = chapterhouse("eval", file, "--persona", "maria", "--fail-below", "answer=.5", *home)
    assert (wrong.code, "leave out gates" in wrong.err) == (2, True)


def test_what_is_wrong_is_said(
    chapterhouse: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments, code, what in (
        (("eval", "50"), 3, "There is no library"),
        (("eval", ""), 2, "A path is empty"),
        (("eval",), 3, "There is no library"),
        (("eval", "--fail-below", "best=1"), 2, "no measure 'best'"),
        (("eval", "--fail-below", "R@5=5"), 2, "figure from 0 to 1"),
        (("feedback", "fine", "a.json"), 2, "good or bad"),
        (("feedback", "good"), 2, "Name a FILE"),
        (("feedback", "good", "a.json", "--question", "x"), 2, "Name a FILE"),
    ):
        result = chapterhouse(*arguments)
        assert (result.code, result.out, what in result.err) == (code, "", True), arguments


def test_a_gate_decides_the_exit_code(chapterhouse: Any, ferry: Path, tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    wanted = {"question": "How much is budgeted for fuel?", "required": "budget-2026.xlsx"}
    lost = {"question": "Who won the world cup \u202e?", "required": "no-such.md"}
    path.write_text(f"{json.dumps(wanted)}\n{json.dumps(lost)}\n", "utf-8")
    floors = ("--fail-below", "R@5=.5", "--fail-below", "nDCG@10=.99")
    result = chapterhouse("eval", path, *floors, "--home", ferry)
    assert (result.code, "\u202e" in result.out) == (1, False)
    assert result.out.startswith("2 questions of ")
    assert "no document is called 'no-such.md'" in result.out
    assert "passed   R@5 0.5000 ≥ 0.5" in result.out
    assert re.search(r"FAILED   nDCG@10 0\.\d+ < 0\.99", result.out)
    first, second = (chapterhouse("eval", path, *floors, "--json", "--home", ferry) for _ in "12")
    assert (first.code, first.err, first.data) == (1, "", second.data)
    assert [gate["passed"] for gate in first.data["gates"]] == [True, False]
    assert chapterhouse("eval", path, "--fail-below", "R@5=.5", "--home", ferry).code == 0


@pytest.mark.large
def test_the_examples_own_questions(
    chapterhouse: Any, ferry: Path, example_folder: Path, tmp_path: Path
) -> None:
    path = tmp_path / "example.jsonl"
    records = json.loads((example_folder.parent / "questions.json").read_text("utf-8"))["questions"]
    lines = []
    for record in records[:: 1 if LARGE else 2]:
        line = {"id": record["id"], "question": record["question"], "note": record["kind"]}
        if record["source"]:
            name = f"varnholm-ferry/{record['source']}"
            line |= {"required": [name], "answer": record["quote"]}
        else:
            line |= {"answerable": False}
        lines.append(json.dumps(line))
    path.write_text("\n".join(lines), "utf-8")
    floors = ("required@10=1", "passage@10=.95", "answer=.85", "refusal=.7", "nDCG@10=.85")
    options = [option for floor in floors for option in ("--fail-below", floor)]
    result = chapterhouse("eval", path, *options, "--home", ferry)
    assert result.code == 0, result.out
    assert result.out.startswith(f"{len(lines)} questions of ")
