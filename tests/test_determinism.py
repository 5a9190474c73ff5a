"""The same folder and the same questions give the same bytes, in any home."""

import json
import subprocess
import sys
from pathlib import Path

QUESTIONS = (
    "What will harbour works and dredging cost in 2026?",
    "How many passengers may MV Teal carry under amber?",
    "How many parking spaces are there at the Osk pier?",
    "Welche Regeln gelten für Gäste am Liegeplatz?",
)


def run(home: Path, *arguments: str) -> str:
    """Return the output of a command without what may differ: times, and the home's own name."""
    command = [sys.executable, "-m", "chapterhouse", *arguments, "--json", "--home", str(home)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert result.returncode in {0, 6}, result.stderr
    fields = json.loads(result.stdout)
    fields["meta"].pop("seconds")
    for outcome in fields["data"].get("outcomes", []) if isinstance(fields["data"], dict) else []:
        outcome.pop("seconds", None)
    return json.dumps(fields, ensure_ascii=False).replace(str(home), "HOME")


def test_two_fresh_homes_answer_with_the_same_bytes(tmp_path: Path, example_folder: Path) -> None:
    told = []
    for name in ("one", "two"):
        home = tmp_path / name
        lines = [run(home, "add", str(example_folder))]
        lines += [run(home, "ask", question) for question in QUESTIONS]
        lines += [run(home, "search", question, "--explain") for question in QUESTIONS]
        lines += [run(home, "search", question, "--all") for question in QUESTIONS[:2]]
        lines += [run(home, "context", question, "--tokens", "300") for question in QUESTIONS]
        lines.append(run(home, "eval", "--synthetic", "--limit", "15", "--ablation"))
        lines.append(run(home, "docs", "list"))
        told.append(lines)
    assert told[0] == told[1]
