"""A small judged collection and a library of one's own, both real."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from chapterhouse import Library

CORPUS = {
    "d1": ("Tariffs", "A guest berth costs 80 euros a metre. Members pay half of that."),
    "d2": ("Opening hours", "The harbour office opens at nine. It is closed on Sundays."),
    "d3": ("Fire drill", "A fire drill takes place every month. The crew meets at the muster."),
    "d4": ("Old tariffs", "Until 2019 a guest berth cost 60 euros a metre."),
    "d5": ("Empty", " "),
}
QUERIES = {
    "q1": "What does a guest berth cost?",
    "q2": "When does the harbour office open?",
    "q3": "How often is there a fire drill?",
    "q4": "nothing is judged here",
}
QRELS = [("q1", "d1", 2), ("q1", "d4", 1), ("q2", "d2", 1), ("q3", "d3", 1), ("q3", "d2", 0)]


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    """A folder in BEIR layout."""
    folder = tmp_path / "harbour"
    folder.mkdir()
    documents = [{"_id": key, "title": t, "text": x} for key, (t, x) in CORPUS.items()]
    questions = [{"_id": key, "text": text} for key, text in QUERIES.items()]
    rows = ["query-id\tcorpus-id\tscore", *("\t".join(map(str, row)) for row in QRELS)]
    for name, lines in (
        ("corpus.jsonl", map(json.dumps, documents)),
        ("queries.jsonl", map(json.dumps, questions)),
        ("qrels.tsv", rows),
    ):
        (folder / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return folder


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    """A library with three documents."""
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "tariffs.md").write_text(
        "# Tariffs\n\nA guest berth costs **80 euros** a metre.\n\n"
        "## Reduced harbour dues\n\nMembers of the sailing club pay half of the harbour dues.\n",
        "utf-8",
    )
    (papers / "tariffs-2019.md").write_text(
        "# Tariffs of 2019\n\nA guest berth costs 60 euros a metre until the end of 2019.\n",
        "utf-8",
    )
    (papers / "glossary.md").write_text(
        "# Glossary of the harbour\n\nA slipway is a ramp on which boats are moved to the water. "
        "The gauge at the Kessel quay shows the water above chart datum in decimetres.\n",
        "utf-8",
    )
    with Library.open(tmp_path / "home") as opened:
        opened.documents.add(papers)
        yield opened
