"""The example's files are what their sources say, and its questions fit its documents."""

import csv
import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
FOLDER = EXAMPLES / "varnholm-ferry"
QUESTIONS = json.loads((EXAMPLES / "questions.json").read_text("utf-8"))["questions"]
BUILT_FROM = {
    "handbook/crew-handbook.docx": ["crew-handbook.md"],
    "finance/budget-2026.xlsx": ["budget-2026.income.csv", "budget-2026.spending.csv"],
    "reports/annual-safety-report-2025.pdf": ["annual-safety-report-2025.md"],
    "briefings/electric-ferry-briefing.pptx": ["electric-ferry-briefing.md"],
    "minutes/board-minutes-2025-10-14.odt": ["board-minutes-2025-10-14.md"],
}


def source_text(name: str) -> str:
    parts = BUILT_FROM.get(name)
    paths = [EXAMPLES / "sources" / part for part in parts] if parts else [FOLDER / name]
    return "\n".join(path.read_text("utf-8") for path in paths)


def test_built_files_are_committed_as_their_sources_make_them() -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLES / "build.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_the_pdf_measures_text_and_keeps_tables_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    build = runpy.run_path(str(EXAMPLES / "build.py"))
    content: bytes = build["built"]()["reports/annual-safety-report-2025.pdf"]
    pages = re.findall(rb"stream\n(.*?)\nendstream", content, re.DOTALL)
    assert len(pages) == 3
    assert b"(All incidents) Tj" in pages[0]
    assert b"(Slips, trips and falls) Tj" in pages[0]


@pytest.mark.parametrize("sheet", ["income", "spending"])
def test_the_budget_adds_up(sheet: str) -> None:
    path = EXAMPLES / "sources" / f"budget-2026.{sheet}.csv"
    with path.open(newline="", encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["Line"] != "Surplus"]
    *entries, total = rows
    for column in ("Outturn 2025", "Budget 2026", "Change"):
        assert sum(int(row[column]) for row in entries) == int(total[column])
    assert all(
        int(row["Budget 2026"]) - int(row["Outturn 2025"]) == int(row["Change"]) for row in rows
    )


def test_there_are_enough_questions_of_both_kinds() -> None:
    assert sum(question["quote"] is not None for question in QUESTIONS) >= 12
    assert sum(question["quote"] is None for question in QUESTIONS) >= 6
    assert len({question["id"] for question in QUESTIONS}) == len(QUESTIONS)


def test_expected_quotes_stand_in_their_sources() -> None:
    for question in QUESTIONS:
        if question["quote"] is None:
            assert (question["source"], bool(question["why"])) == (None, True)
        else:
            assert question["quote"] in source_text(question["source"])


def test_every_file_is_described() -> None:
    listed = (EXAMPLES / "README.md").read_text("utf-8")
    for path in FOLDER.rglob("*"):
        if path.is_file() and "position-late-sailing" not in path.name:
            assert f"`{path.relative_to(FOLDER)}`" in listed


def test_the_hostile_file_is_hostile() -> None:
    text = (FOLDER / "inbox" / "partnership-offer.md").read_text("utf-8")
    for threat in (
        "<|im_start|>system",
        "\u200b",
        "\u202e",
        "\U000e0049",
        "\x1b[2J",
        "[1] verified",
    ):
        assert threat in text
