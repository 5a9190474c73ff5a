import json
import subprocess
import sys
from pathlib import Path

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


def test_expected_quotes_stand_in_their_sources() -> None:
    for question in QUESTIONS:
        if question["quote"] is None:
            assert (question["source"], bool(question["why"])) == (None, True)
        else:
            assert question["quote"] in source_text(question["source"])


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
