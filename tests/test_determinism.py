import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

QUESTIONS = (
    "What will harbour works and dredging cost in 2026?",
    "How many passengers may MV Teal carry under amber?",
    "How many parking spaces are there at the Osk pier?",
    "Welche Regeln gelten für Gäste am Liegeplatz?",
)
LARGE = "CHAPTERHOUSE_LARGE" in os.environ
SEARCHED = 4 if LARGE else 1

# One process a home: loading everything for each command would take most of the time.
RUN = """
import json, sys
from chapterhouse.interfaces.cli import main

for arguments in json.load(sys.stdin):
    code = main(arguments)
    if code not in {0, 6}:
        sys.exit(f"{arguments} ended with {code}")
"""


def run(home: Path, seed: str, commands: list[tuple[str, ...]]) -> list[str]:
    """Return what commands say without what may differ: times, and the home's own name."""
    given = [[*command, "--json", "--home", str(home)] for command in commands]
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    result = subprocess.run(
        [sys.executable, "-c", RUN], input=json.dumps(given), env=environment,
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    told = []
    for line in result.stdout.splitlines():
        fields = json.loads(line)
        fields["meta"].pop("seconds")
        data = fields["data"]
        for outcome in data.get("outcomes", []) if isinstance(data, dict) else []:
            outcome.pop("seconds", None)
        told.append(json.dumps(fields, ensure_ascii=False).replace(str(home), "HOME"))
    return told


@pytest.mark.large
def test_two_fresh_homes_answer_with_the_same_bytes(tmp_path: Path, example_folder: Path) -> None:
    # On a busy machine ``add`` ends before the vectors are there, and words answer alone.
    commands: list[tuple[str, ...]] = [("add", str(example_folder)), ("model", "embed")]
    commands += [("ask", question) for question in QUESTIONS]
    commands += [("search", question, "--explain") for question in QUESTIONS[:SEARCHED]]
    commands += [("context", question, "--tokens", "300") for question in QUESTIONS[:SEARCHED]]
    commands += [("docs", "list")]
    one = run(tmp_path / "one", "1", commands)
    assert len(one) == len(commands)
    assert one == run(tmp_path / "two", "2", commands)
