"""eval and feedback as users have them: the command line over real libraries."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from defusedxml import ElementTree

EXAMPLE = Path(__file__).parents[3] / "examples" / "varnholm-ferry"
DOCUMENTS = {
    "d1": ("Tariffs", "A guest berth costs 80 euros a metre. Members pay half of that."),
    "d2": ("Opening hours", "The harbour office opens at nine. It is closed on Sundays."),
    "d3": ("Fire drill \x1b[2J", "A fire drill takes place every month at the muster."),
}
QUESTIONS = {"q1": "What does a guest berth cost?", "q2": "Who won the world cup \u202e?"}
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq2\td3\t1\n"


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    folder = tmp_path / "harbour"
    folder.mkdir()
    documents = [{"_id": key, "title": t, "text": x} for key, (t, x) in DOCUMENTS.items()]
    questions = [{"_id": key, "text": text} for key, text in QUESTIONS.items()]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, documents)), "utf-8")
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, questions)), "utf-8")
    (folder / "qrels.tsv").write_text(QRELS, "utf-8")
    return folder


@pytest.fixture(scope="module")
def example_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from chapterhouse import Library  # noqa: PLC0415 - once a module, where it is needed

    home = tmp_path_factory.mktemp("home")
    with Library.open(home) as library:
        library.documents.add(EXAMPLE)
    return home


@pytest.fixture
def home(example_home: Path) -> Path:
    """The example's library without questions of its own."""
    (example_home / "workspaces" / "default" / "questions.jsonl").unlink(missing_ok=True)
    return example_home


def test_help_lists_both(chapterhouse: Any) -> None:
    out = chapterhouse("--help").out
    assert "\n  eval " in out
    assert "\n  feedback " in out


def test_a_collection_is_shown_with_intervals_and_what_went_wrong(
    chapterhouse: Any, beir: Path, tmp_path: Path
) -> None:
    result = chapterhouse("eval", beir)
    assert result.code == 0
    assert result.out.startswith("2 questions of harbour, asked of 3 documents")
    for expected in ("nDCG@10", "95 % interval", "one search took", "Worst 1 of 1", "(not found)"):
        assert expected in result.out
    assert "\x1b" not in result.out
    assert "\u202e" not in result.out
    assert not (tmp_path / "home").exists()  # it has a library of its own, and that is gone


def test_json_is_the_same_twice_unless_times_are_asked_for(chapterhouse: Any, beir: Path) -> None:
    first, second = (chapterhouse("eval", beir, "--ablation", "--json") for _ in range(2))
    assert first.data == second.data
    assert first.err == ""
    assert "latency" not in first.data
    assert set(chapterhouse("eval", beir, "--latency", "--json").data["latency"]) == {
        "p50",
        "p95",
        "p99",
    }
    one = first.data["questions"][0]
    assert one["ranking"][0]["document"] == "d1"
    assert one["scores"]["nDCG@10"] == 1.0
    assert first.data["measures"]["R@5"]["count"] == 2
    assert first.data["ablation"][0]["measures"]["MAP"].keys() >= {"other", "gain", "p", "wins"}


def test_a_run_is_written_and_compared_with(chapterhouse: Any, beir: Path, tmp_path: Path) -> None:
    run = tmp_path / "before.trec"
    assert chapterhouse("eval", beir, "--run", run).code == 0
    assert run.read_text().startswith("q1 Q0 d1 1 ")
    run.write_text("q1 Q0 d2 1 5 x\n")
    result = chapterhouse("eval", beir, "--compare", run)
    assert "Against " in result.out
    assert "1 question is not ranked there; each scores 0." in result.out
    assert "no difference beyond chance" in result.out
    run.write_text("q1 Q0 d2 1\n")
    wrong = chapterhouse("eval", beir, "--compare", run)
    assert wrong.code == 2
    assert "before.trec, line 1: 4 fields instead of 6" in wrong.err


def test_a_gate_decides_the_exit_code_and_junit_says_so(
    chapterhouse: Any, beir: Path, tmp_path: Path
) -> None:
    xml = tmp_path / "junit.xml"
    floors = ("--fail-below", "R@5=.5", "--fail-below", "nDCG@10=.99")
    result = chapterhouse("eval", beir, *floors, "--junit", xml)
    assert result.code == 1
    assert "passed   R@5 0.5000 ≥ 0.5" in result.out
    assert "FAILED   nDCG@10 0.5000 < 0.99" in result.out
    cases = ElementTree.parse(xml).findall(".//testcase")
    assert [(case.attrib["name"], len(case)) for case in cases] == [
        ("R@5 >= 0.5", 0),
        ("nDCG@10 >= 0.99", 1),
    ]
    as_json = chapterhouse("eval", beir, *floors, "--json")
    assert as_json.code == 1
    assert [gate["passed"] for gate in as_json.data["gates"]] == [True, False]
    assert chapterhouse("eval", beir, "--fail-below", "R@5=.5").code == 0


def test_progress_is_drawn_on_a_terminal_only(
    chapterhouse: Any, beir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert chapterhouse("eval", beir).err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert chapterhouse("eval", beir).code == 0


def test_an_interrupt_leaves_nothing_behind(beir: Path, tmp_path: Path) -> None:
    documents = ({"_id": f"d{n}", "text": f"Berth {n} costs {n} euros."} for n in range(5_000))
    (beir / "corpus.jsonl").write_text("\n".join(map(json.dumps, documents)), "utf-8")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    options = ("--run", "a.trec", "--junit", "a.xml")
    with subprocess.Popen(
        [sys.executable, "-m", "chapterhouse", "eval", beir, *options],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(temporary)},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        while not list(temporary.glob("*/workspaces/*/library.db")):
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)  # met like Ctrl-C, which a shell may have switched off
        assert process.wait(60) == 130
        assert process.stderr
        assert process.stderr.read().startswith("chapterhouse: Stopped.")
    assert list(temporary.iterdir()) == []
    assert not list(tmp_path.glob("a.*")) + list(tmp_path.glob(".a.*"))


def test_without_anything_the_documents_themselves_are_asked_about(
    chapterhouse: Any, home: Path, tmp_path: Path
) -> None:
    written = tmp_path / "made.jsonl"
    made = chapterhouse("eval", "--limit", 12, "--write", written, "--home", home)
    assert made.code == 0
    assert made.out.startswith("12 questions made from the documents, asked of 22 documents")
    assert "far less is found" in " ".join(made.out.split())
    assert len(written.read_text("utf-8").splitlines()) == 12
    again = chapterhouse("eval", written, "--home", home, "--json").data
    assert again["kind"] == "questions"
    assert again["measures"]["required@10"]["mean"] > 0.9


def test_verdicts_are_kept_and_evaluated_by_default(
    chapterhouse: Any, home: Path, tmp_path: Path
) -> None:
    question = "How much is budgeted for fuel in 2026?"
    answer = tmp_path / "answer.json"
    answer.write_text(chapterhouse("ask", question, "--home", home, "--json").out, "utf-8")
    kept = chapterhouse("feedback", "good", answer, "--home", home)
    assert kept.code == 0
    assert kept.out.startswith("Added to ")
    assert "must find: varnholm-ferry/finance/budget-2026.xlsx" in kept.out
    again = chapterhouse("feedback", "good", answer, "--home", home, "--json").data
    assert again["change"] == "unchanged"
    none = chapterhouse(
        "feedback", "good", "--question", "How do I bake sourdough bread?", "--home", home
    )
    assert "must find no answer" in none.out
    found = chapterhouse("eval", "--home", home, "--json").data
    assert found["name"].endswith("questions.jsonl")
    assert found["measures"]["answer"]["mean"] == found["measures"]["refusal"]["mean"] == 1.0
    bad = ("feedback", "bad", answer, "--required", "tickets.csv", "--home", home)
    assert chapterhouse(*bad).code == 3
    shown = chapterhouse("eval", "--home", home).out
    assert "Every question got all it wants." in shown


def test_only_what_was_wrong_is_kept_of_a_bad_answer(
    chapterhouse: Any, home: Path, tmp_path: Path
) -> None:
    question = "How much is budgeted for fuel in 2026?"
    answer = tmp_path / "answer.json"
    answer.write_text(chapterhouse("ask", question, "--home", home, "--json").out, "utf-8")
    shown = json.loads(answer.read_text("utf-8"))["data"]
    bad = ("feedback", "bad", answer, "--home", home, "--json")

    first = shown["sentences"][0]["text"]
    assert chapterhouse(*bad, "--sentence", 1).data["question"]["wrong"] == [first]
    quoted = chapterhouse(*bad, "--passage", 1).data["question"]
    assert quoted["wrong"] == [shown["citations"][0]["quote"]]
    source = shown["citations"][0]["source"]
    named = chapterhouse(*bad, "--document", source).data["question"]
    assert (named["wrong"], named["forbidden"]) == ([], [source])
    assert chapterhouse(*bad, "--sentence", 99).code == 2
    assert chapterhouse("feedback", "good", answer, "--home", home, "--passage", 1).code == 2

    kept = chapterhouse("feedback", "bad", answer, "--home", home)
    assert "must not show: " in kept.out
    assert "must not rest on" not in kept.out
    found = chapterhouse("eval", "--home", home, "--json").data
    assert found["measures"]["corrected"]["mean"] == 0.0


def test_an_answer_is_read_from_standard_input(
    chapterhouse: Any, home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    printed = chapterhouse("ask", "What is a regatta week?", "--home", home, "--json").out
    (tmp_path / "a.json").write_text(printed, "utf-8")
    with (tmp_path / "a.json").open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        result = chapterhouse("feedback", "bad", "-", "--required", "tickets.txt", "--home", home)
    assert result.code == 3
    assert "No document is called 'tickets.txt'" in result.err


def test_ways_of_cutting_are_scored(chapterhouse: Any, tmp_path: Path) -> None:
    text = "# Harbour\n\nThe gate closes at nine. A guest berth costs 80 euros a metre.\n"
    (tmp_path / "gold" / "corpora").mkdir(parents=True)
    (tmp_path / "gold" / "corpora" / "a.md").write_text(text, "utf-8")
    start = text.index("The gate")
    span = {"content": text[start : start + 24], "start_index": start, "end_index": start + 24}
    quoted = json.dumps([span]).replace('"', '""')
    (tmp_path / "gold" / "questions.csv").write_text(
        f'question,references,corpus_id\nWhen does the gate close?,"{quoted}",a\n', "utf-8"
    )
    result = chapterhouse("eval", "--chunking", tmp_path / "gold")
    assert result.code == 0
    assert re.search(r"^sentence +1 ", result.out, re.MULTILINE)
    assert "100.0 ± 0.0" in result.out
    data = chapterhouse("eval", "--chunking", tmp_path / "gold", "--json").data
    assert data["strategies"][0]["measures"]["recall"]["mean"] == 1.0
    assert data["strategies"][0]["quality"]["entropy"] > 1
    assert chapterhouse("eval", "--chunking", tmp_path).code == 3


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


def test_options_that_mean_nothing_for_a_file_are_refused(
    chapterhouse: Any, home: Path, tmp_path: Path
) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text('{"question": "What?", "answer": "x"}', "utf-8")
    for options in (("--shelf", "library"), ("--write", tmp_path / "made.jsonl")):
        result = chapterhouse("eval", path, *options, "--home", home)
        assert result.code == 2
        assert "Add --synthetic" in result.err
    path.write_text('{"question": "What?"}', "utf-8")
    result = chapterhouse("eval", path, "--home", home)
    assert result.code == 2
    assert "q.jsonl, line 1: nothing says what the question must find." in result.err


def test_the_examples_own_questions(chapterhouse: Any, home: Path, tmp_path: Path) -> None:
    path = tmp_path / "example.jsonl"
    records = json.loads((EXAMPLE.parent / "questions.json").read_text("utf-8"))["questions"]
    lines = []
    for record in records:
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
    result = chapterhouse("eval", path, *options, "--home", home)
    assert result.code == 0, result.out
    assert result.out.startswith("35 questions of ")
