"""The command line, run inside the test process, over a copy of a real library."""

import io
import json
import os
import pty
import select
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.reading.pdf_writer import Page, write_pdf

from chapterhouse import Library
from chapterhouse.answering.bundle import bundle_json, file_text, json_fields
from chapterhouse.interfaces.cli import main

HOSTILE = "Tariffs\x1b[2J\x1b]0;owned\x07 [bold red]PAID \u202egnp.exe"
HANDBOOK = (
    Page().text(72, 60, "Handbook", 20).text(72, 100, "This handbook is for guests."),
    Page()
    .text(72, 60, "Tariffs", 20)
    .text(72, 100, "A berth costs 80 euros a metre.")
    .text(72, 130, "Guests pay less [bold]here[/bold]."),
)


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def envelope(self) -> Any:
        return json.loads(self.out)

    @property
    def data(self) -> Any:
        assert self.envelope["ok"] is True, self.out
        return self.envelope["data"]


Run = Callable[..., Result]


@pytest.fixture
def chapterhouse(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def run(*arguments: object) -> Result:
        capfd.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capfd.readouterr()
        return Result(code, captured.out, captured.err)

    return run


@pytest.fixture(scope="session")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with papers, a home with a library of some of them, and what was asked of it.

    ``papers`` are in the library, ``maria`` are those of a persona, ``more`` are nowhere. Maria and
    a role make up the council of berths. What was answered is saved as ANSWER and BUNDLE, the
    minutes of a meeting as MINUTES and MINUTES-BUNDLE.
    """
    folder = tmp_path_factory.mktemp("harbour")
    for name in ("papers", "maria", "more"):
        (folder / name).mkdir()
    (folder / "papers" / "tariffs.pdf").write_bytes(write_pdf(list(HANDBOOK)))
    (folder / "maria" / "tides.md").write_text(
        "# Tides\n\nSlack water lasts eleven minutes. Slack water is short.\n"
    )
    (folder / "more" / "fog.md").write_text("# Fog\n\nFog comes at dawn.\n")
    with Library.open(folder / "home") as library:
        library.documents.add(folder / "papers")
        library.encoders.embed_pending()
        library.personas.create("maria", folders=[str(folder / "maria")])
        library.answers.ask("How long does slack water last?", persona="maria")
        council = {
            "slug": "berths",
            "members": [
                {"persona": "maria"},
                {"name": "Tom", "instructions": "Be brief.", "shelves": ["library"]},
            ],
            "rounds": ["independent_analysis", "synthesis"],
            "chair": {"name": "Chair"},
            "folders": [str(folder / "papers")],
        }
        (folder / "home" / "councils" / "berths").mkdir(parents=True)
        file = folder / "home" / "councils" / "berths" / "council.json"
        file.write_text(json.dumps(council))
        answer = library.answers.ask("What does a berth cost?")
        minutes = library.councils.convene("berths", "What shall a berth cost?")
        written = {
            "ANSWER": file_text(json_fields(answer)),
            "BUNDLE": bundle_json(library.answers.bundle(answer)),
            "MINUTES": file_text(json_fields(minutes)),
            "MINUTES-BUNDLE": bundle_json(library.councils.bundle(minutes)),
        }
    for name, text in written.items():
        (folder / name).write_text(text, "utf-8")
    return folder


@pytest.fixture
def home(harbour: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the home, which commands use unless they are told of another.

    They run where ``papers`` and the answers are, which no test changes.
    """
    monkeypatch.setenv("CHAPTERHOUSE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(harbour)
    return shutil.copytree(harbour / "home", tmp_path / "home")


@pytest.fixture
def hostile(home: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Write into the home what would steer a terminal, past all that keeps it out; return it."""
    connection = apsw.Connection(str(home / "workspaces" / "default" / "library.db"))
    connection.execute("UPDATE document SET title = ?1, source = ?1 || id", (HOSTILE,))
    connection.execute("UPDATE memory SET question = ?1, answer = answer || ?1", (HOSTILE,))
    connection.close()
    for folder, file in (("personas", "persona.config.json"), ("councils", "council.json")):
        torn = home / folder / "torn"
        torn.mkdir(parents=True)
        (torn / file).write_text(json.dumps({"slug": HOSTILE, HOSTILE: HOSTILE}))
    moved = home.rename(home.with_name(HOSTILE))
    monkeypatch.setenv("CHAPTERHOUSE_HOME", str(moved))
    return HOSTILE


@pytest.fixture
def fails(monkeypatch: pytest.MonkeyPatch) -> Callable[[type, str, BaseException], None]:

    def fail(owner: type, name: str, failure: BaseException) -> None:
        def failing(*_: object, **__: object) -> None:
            raise failure

        monkeypatch.setattr(owner, name, failing)

    return fail


@pytest.fixture(scope="session")
def ferry_home(tmp_path_factory: pytest.TempPathFactory, example_folder: Path) -> Path:
    home = tmp_path_factory.mktemp("home")
    with Library.open(home) as library:
        library.documents.add(example_folder)
    return home


@pytest.fixture
def ferry(ferry_home: Path) -> Path:
    (ferry_home / "workspaces" / "default" / "questions.jsonl").unlink(missing_ok=True)
    return ferry_home


@pytest.fixture
def say(chapterhouse: Any, monkeypatch: pytest.MonkeyPatch) -> Any:

    def run(lines: str | bytes, *arguments: object) -> Any:
        data = lines if isinstance(lines, bytes) else lines.encode()
        stream = io.TextIOWrapper(io.BytesIO(data), "utf-8", errors="surrogateescape")
        monkeypatch.setattr("sys.stdin", stream)
        return chapterhouse(*arguments)

    return run


def on_a_terminal(
    command: Sequence[object], *steps: tuple[bytes, bytes], **environment: str
) -> tuple[int, str]:
    """Run a program on a pseudo-terminal; send keys each time that something was shown."""
    terminal, other_end = pty.openpty()
    shown, since, left = b"", 0, list(steps)
    with subprocess.Popen(
        [sys.executable, *map(str, command)],
        stdin=other_end, stdout=other_end, stderr=other_end, start_new_session=True,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100", **environment},
    ) as process:  # fmt: skip
        os.close(other_end)
        while piece := _read(terminal, process):
            shown += piece
            while left and (place := shown.find(left[0][0], since)) >= 0:
                awaited, keys = left.pop(0)
                since = place + len(awaited)
                os.write(terminal, keys)
    os.close(terminal)
    return process.returncode, shown.decode("utf-8", "replace")


def _read(terminal: int, process: "subprocess.Popen[bytes]") -> bytes:
    """Return what was printed; nothing when the other end is closed, which Linux calls an error."""
    if not select.select([terminal], [], [], 60)[0]:
        process.kill()
        pytest.fail("nothing was printed for a minute")
    try:
        return os.read(terminal, 65_536)
    except OSError:
        return b""
