"""The product around a real language model on a real server: a small one, which talks nonsense.

Run by ``make test-model``. What it writes is not judged here: labels, exit codes and the time that
is left to it are.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from chapterhouse import Library
from chapterhouse.answering.writing import NO_ANSWER
from chapterhouse.types import AskEvent, DraftEvent

PYTHON = os.environ.get("CHAPTERHOUSE_MODEL_PYTHON", "")
pytestmark = [
    pytest.mark.skipif(not PYTHON, reason="run by: make test-model"),
    pytest.mark.timeout(1_800),
]
QUESTION = "How fast may a vessel go inside the harbour?"
RULES = "# Rules\n\n## Speed\n\nInside the harbour no vessel may exceed 4 knots.\n"
LONG = "# Log\n\n" + "".join(
    f"## Day {day}\n\nOn day {day} a vessel went {day % 9} knots inside the harbour. "
    f"{'The harbour master wrote how fast each vessel may go and went home. ' * 8}\n\n"
    for day in range(1, 13)
)
SMALL = "[packing]\nmaximum = 300\n"


@contextmanager
def served(context: int = 2_048, slots: int = 1) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """Serve the model; its address and its process."""
    with subprocess.Popen(
        [PYTHON, str(Path(__file__).parent / "serve.py"), str(context), str(slots)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        address = next((line for line in process.stdout if line.startswith("http")), "")
        try:
            assert address
            yield address.strip(), process
        finally:
            process.kill()


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with served() as (address, _):
        yield address


def settings(address: str, *, more: str = SMALL, **model: object) -> str:
    usual = {"engine": "openai", "maximum_tokens": 48, "timeout_seconds": 900, "context_size": 0}
    wanted = {**usual, **model}
    lines = [f"{name} = {json.dumps(value)}" for name, value in wanted.items()]
    return "\n".join(
        [
            "[language_model]",
            f'base_url = "{address}/v1"',
            'model = "smollm2"',
            *lines,
            "[embedding]",
            'engine = "none"',
            "background = false",
            more,
        ]
    )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    (tmp_path / "rules.md").write_text(RULES, "utf-8")
    (tmp_path / "log.md").write_text(LONG, "utf-8")
    return folder


def prepared(home: Path, text: str, *documents: str) -> None:
    (home / "chapterhouse.toml").write_text(text, "utf-8")
    with Library.open(home) as library:
        library.documents.add(*(home.parent / name for name in documents or ("rules.md",)))


def run(home: Path, *words: str, typed: str = "") -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "chapterhouse", *words],
        env={**os.environ, "CHAPTERHOUSE_HOME": str(home), "CHAPTERHOUSE_BACKGROUND": "0"},
        input=typed,
        capture_output=True,
        text=True,
        check=False,
        timeout=1_700,
    )


def told(result: "subprocess.CompletedProcess[str]") -> Any:
    assert "Traceback" not in result.stderr
    return json.loads(result.stdout)["data"]


def assert_labelled(answer: Any) -> None:
    if answer["method"] == "extractive":
        assert answer["warnings"] or answer["notice"] == NO_ANSWER
    else:
        assert "smollm2" in answer["method"]
        assert all("mismatches" in sentence for sentence in answer["sentences"])


def test_the_model_is_found_chosen_and_tried(home: Path, server: str) -> None:
    prepared(home, SMALL)
    chosen = run(home, "model", "use", server, "--yes", "--json")
    assert "Traceback" not in chosen.stderr
    assert "smollm2" in (home / "chapterhouse.toml").read_text("utf-8")
    tried = run(home, "model", "test", "--json")
    assert tried.returncode in {0, 1}
    data = told(tried)
    assert data["context_size"] == 2_048
    assert data["slots"] == 1


def test_an_answer_says_whose_it_is(home: Path, server: str) -> None:
    prepared(home, settings(server))
    result = run(home, "ask", QUESTION, "--json")
    assert result.returncode in {0, 1, 6}  # 6: nothing that it wrote is an answer
    assert_labelled(told(result))
    assert told(result)["usage"]["calls"] == 1


def test_a_server_that_dies_is_told_of(home: Path) -> None:
    with served() as (address, process):
        prepared(home, settings(address, maximum_tokens=800, attempts=1))
        drafts: list[DraftEvent] = []

        def hear(event: AskEvent) -> None:
            if isinstance(event, DraftEvent):
                if not drafts:
                    process.send_signal(signal.SIGKILL)
                drafts.append(event)

        with Library.open(home) as library:
            answer = library.answers.ask(QUESTION, on_event=hear)
    assert drafts
    assert answer.method == "extractive"
    assert "4 knots" in answer.text
    assert any("The model did not answer" in warning for warning in answer.warnings)
    result = run(home, "ask", QUESTION, "--json")  # and now nobody is there at all
    assert "could not be reached" in told(result)["warnings"][0]
