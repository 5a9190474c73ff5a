"""analytics show, clear."""

from pathlib import Path
from typing import Any


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
