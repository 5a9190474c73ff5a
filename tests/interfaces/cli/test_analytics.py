"""analytics show, csv, clear."""

import csv
from pathlib import Path
from typing import Any

TABLES = {
    *("days", "gaps", "most-cited", "never-cited"),
    *("models", "asked", "interfaces", "documents"),
}


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


def test_csv_files_are_written_anew(chapterhouse: Any, home: Path, tmp_path: Path) -> None:
    chapterhouse("ask", "What does a berth cost?")
    for _ in range(2):
        result = chapterhouse("analytics", "csv", tmp_path / "new" / "figures")
        assert result.code == 0, result.err
    files = {path.stem: path for path in (tmp_path / "new" / "figures").iterdir()}
    assert files.keys() == TABLES
    with files["days"].open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 30
    assert sum(int(row["questions"]) for row in rows) >= 1
    (tmp_path / "file").write_text("mine")
    assert chapterhouse("analytics", "csv", tmp_path / "file").code == 2
    assert (tmp_path / "file").read_text() == "mine"
