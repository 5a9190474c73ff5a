"""One evaluation from the command line to its outcome, over real libraries."""

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
    chapterhouse: Any, ferry: Path, tmp_path: Path
) -> None:
    written = tmp_path / "made.jsonl"
    made = chapterhouse("eval", "--limit", 12, "--write", written, "--home", ferry)
    assert made.code == 0
    assert made.out.startswith("12 questions made from the documents, asked of 22 documents")
    assert "far less is found" in " ".join(made.out.split())
    assert len(written.read_text("utf-8").splitlines()) == 12
    again = chapterhouse("eval", written, "--home", ferry, "--json").data
    assert again["kind"] == "questions"
    assert again["measures"]["required@10"]["mean"] > 0.9


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


def test_options_that_mean_nothing_for_a_file_are_refused(
    chapterhouse: Any, ferry: Path, tmp_path: Path
) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text('{"question": "What?", "answer": "x"}', "utf-8")
    for options in (("--shelf", "library"), ("--write", tmp_path / "made.jsonl")):
        result = chapterhouse("eval", path, *options, "--home", ferry)
        assert result.code == 2
        assert "Add --synthetic" in result.err
    path.write_text('{"question": "What?"}', "utf-8")
    result = chapterhouse("eval", path, "--home", ferry)
    assert result.code == 2
    assert "q.jsonl, line 1: nothing says what the question must find." in result.err


def test_the_examples_own_questions(
    chapterhouse: Any, ferry: Path, example_folder: Path, tmp_path: Path
) -> None:
    path = tmp_path / "example.jsonl"
    records = json.loads((example_folder.parent / "questions.json").read_text("utf-8"))["questions"]
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
    result = chapterhouse("eval", path, *options, "--home", ferry)
    assert result.code == 0, result.out
    assert result.out.startswith("35 questions of ")
