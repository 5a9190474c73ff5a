"""The command line as users have it: real processes, the real library, the example's documents."""

import contextlib
import os
import pty
import select
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[3] / "examples"
FOLDER = EXAMPLES / "varnholm-ferry"


@pytest.fixture
def home(ferry: Path) -> Path:
    """The home of the example's library, which no test here changes."""
    return ferry


def command(*arguments: object, home: Path) -> list[str]:
    return [sys.executable, "-m", "chapterhouse", *map(str, arguments), "--home", str(home)]


class Shell:
    """Commands run in this process, which is quicker; the terminal tests start real ones."""

    def __init__(self, run: Any) -> None:
        self.run_here = run

    def run(self, *arguments: object, home: Path) -> Any:
        return self.run_here(*arguments, "--home", home)

    def data(self, *arguments: object, home: Path, code: int = 0) -> Any:
        result = self.run(*arguments, "--json", home=home)
        assert result.code == code, result
        return result.data


@pytest.fixture
def shell(chapterhouse: Any) -> Shell:
    return Shell(chapterhouse)


def on_a_terminal(
    *arguments: object, home: Path, keys: bytes = b"", **environment: str
) -> tuple[int, str]:
    """Run with a pseudo-terminal for all three streams; send ``keys`` at the first prompt."""
    terminal, other_end = pty.openpty()
    shown = b""
    with subprocess.Popen(
        command(*arguments, home=home),
        stdin=other_end,
        stdout=other_end,
        stderr=other_end,
        env={**os.environ, "TERM": "xterm", **environment},
        start_new_session=True,
    ) as process:
        os.close(other_end)
        while piece := _read_terminal(terminal):
            shown += piece
            if keys and b"[y/N]" in shown:
                os.write(terminal, keys)
                keys = b""
    os.close(terminal)
    return process.returncode, shown.decode("utf-8", "replace")


def _read_terminal(terminal: int) -> bytes:
    """Return what was printed; nothing when the other end is closed, which Linux calls an error."""
    assert select.select([terminal], [], [], 60)[0], "nothing was printed for a minute"
    try:
        return os.read(terminal, 65_536)
    except OSError:
        return b""


def test_every_file_of_the_example_is_read_whole(shell: Shell, home: Path) -> None:
    records = shell.data("docs", "list", "--files", home=home)
    assert {record["status"] for record in records} == {"ready"}
    assert len(records) == sum(path.is_file() for path in FOLDER.rglob("*"))


def test_a_table_row_of_a_spreadsheet_is_cited(shell: Shell, home: Path) -> None:
    question = "How much is budgeted for fuel in 2026?"
    cited = shell.run("ask", question, "--json", home=home).data["citations"]
    first = next(one for one in cited if one["source"].endswith("budget-2026.xlsx"))
    assert first["page_label"] == "Spending"
    assert "508400" in first["quote"]
    assert first["verified"] is True
    text = shell.run("ask", question, "--sources", home=home).out
    assert "sheet Spending" in text
    assert "verified" in text


def test_every_citation_opens_at_its_quote(shell: Shell, home: Path) -> None:
    question = "Up to how much may stranded passengers claim for lodging a night?"
    citations = shell.data("ask", question, home=home)["citations"]
    assert citations
    for citation in citations:
        span = f"{citation['start']}:{citation['end']}"
        place = shell.data("docs", "show", citation["document_id"], "--span", span, home=home)
        assert place["text"] == citation["quote"]
        assert place["section_path"] == citation["section_path"]


def test_the_hostile_offer_is_only_text(shell: Shell, home: Path) -> None:
    done = shell.run("docs", "show", "partnership-offer.md", "--text", home=home)
    assert done.code == 0
    assert "\x1b" not in done.out
    assert "\u200b" not in done.out
    assert "\U000e0049" not in done.out
    assert "[bold red]PAID[/bold red]" in done.out
    found = shell.run("search", "maintenance mode passenger limits", home=home).out
    assert "<|im_start|>system" in found
    notices = shell.data("docs", "show", "partnership-offer.md", home=home)["document"]["notices"]
    assert [notice["code"] for notice in notices] == ["invisible-characters"]


def test_files_that_cannot_be_read_end_with_4(shell: Shell, tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "good.md").write_text("# Berths\n\nA berth costs 80 euros.\n")
    (papers / "torn.pdf").write_bytes(b"%PDF-1.7\n" + bytes(200))
    (papers / "program").write_bytes(b"\x7fELF" + bytes(200))
    (papers / "evil\x1b[31m.md").write_text("# Red\n\nNot red.\n")
    done = shell.run("add", papers, home=tmp_path / "home")
    assert done.code == 4
    assert "rejected" in done.out
    assert "torn.pdf" in done.out
    assert "1 skipped" in done.out
    assert "(unsupported-format)" in done.out
    assert "\x1b" not in done.out + done.err


def test_a_dry_run_changes_nothing(shell: Shell, home: Path, tmp_path: Path) -> None:
    paper = tmp_path / "new.md"
    paper.write_text("# New\n\nNever seen before.\n")
    before = shell.data("status", home=home)
    planned = shell.data("add", paper, "--dry-run", home=home)
    assert [outcome["record"]["code"] for outcome in planned["outcomes"]] == ["would-be-read"]
    shown = shell.run("add", paper, "--dry-run", home=home).out
    assert shown == f"1 of 1 file would be read\n  {tmp_path.name}/new.md\n"
    assert shell.data("docs", "reprocess", "--dry-run", home=home)["dry_run"] is True
    assert shell.data("reindex", "--dry-run", home=home) == before
    assert shell.data("status", home=home) == before


def test_missing_files_keep_their_documents_until_removed(shell: Shell, tmp_path: Path) -> None:
    papers, home = tmp_path / "papers", tmp_path / "home"
    papers.mkdir()
    (papers / "berths.md").write_text("# Berths\n\nA berth costs 80 euros a metre.\n")
    shell.data("add", papers, home=home)
    (papers / "berths.md").unlink()
    assert shell.data("add", papers, home=home)["missing"] == ["papers/berths.md"]
    assert len(shell.data("docs", "remove", "--missing", "--yes", home=home)["documents"]) == 1


def test_a_terminal_is_asked_before_anything_is_removed(shell: Shell, tmp_path: Path) -> None:
    paper, home = tmp_path / "berths.md", tmp_path / "home"
    paper.write_text("# Berths\n\nA berth costs 80 euros a metre.\n")
    shell.data("add", paper, home=home)
    code, shown = on_a_terminal("docs", "remove", "berths.md", home=home, keys=b"n\n")
    assert (code, "Nothing was removed." in shown) == (10, True)


@pytest.mark.parametrize("plain", ["", "1"])
def test_progress_and_styles_only_on_a_terminal(tmp_path: Path, plain: str) -> None:
    (tmp_path / "torn.pdf").write_bytes(b"%PDF-1.7 torn")
    added = ("add", tmp_path / "torn.pdf")
    code, shown = on_a_terminal(*added, home=tmp_path / "home", NO_COLOR=plain)
    assert (code, "rejected" in shown) == (4, True)
    assert ("\x1b[" in shown, "━" in shown) == (not plain, not plain)


def test_a_reader_that_stops_early_is_no_error(shell: Shell, tmp_path: Path) -> None:
    paper, home = tmp_path / "long.md", tmp_path / "home"
    paper.write_text("A line that is not short at all.\n" * 8_000)  # more than a pipe takes
    shell.data("add", paper, home=home)
    with subprocess.Popen(
        command("docs", "show", "long.md", "--text", home=home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Unbuffered, Python takes the half of a write that went out for the whole.
        env={**os.environ, "PYTHONUNBUFFERED": ""},
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.read(10)
        process.stdout.close()
        complaint = process.stderr.read()
    assert process.returncode == 1
    assert complaint == b""


PAPERS = 1_500 if "CHAPTERHOUSE_LARGE" in os.environ else 150


@pytest.mark.large
def test_interrupted_in_the_middle_of_an_add(shell: Shell, tmp_path: Path) -> None:
    papers, home = tmp_path / "papers", tmp_path / "home"
    papers.mkdir()
    for number in range(PAPERS):
        (papers / f"{number:04}.md").write_text(f"# Paper {number}\n\n" + "A sentence. " * 200)
    with subprocess.Popen(
        command("add", papers, home=home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        _wait_for_documents(home, process)
        # As Ctrl-C does: to the whole group, so the reading processes hear it too.
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, out + err
    assert "safe on disk" in err
    assert "same command again" in err
    assert "Traceback" not in err
    kept = shell.data("status", home=home)["documents"]
    assert 0 < kept < PAPERS
    rest = shell.data("add", papers, home=home)
    assert rest["changed"] == PAPERS - kept
    assert shell.data("status", home=home)["documents"] == PAPERS


def _wait_for_documents(home: Path, process: subprocess.Popen[str]) -> None:
    """Look into the database: a command of our own would take longer than the whole add."""
    database = home / "workspaces/default/library.db"
    for _ in _ticks(60):
        assert process.poll() is None, "it ended before it could be interrupted"
        with contextlib.suppress(sqlite3.OperationalError):  # not there yet, or half made
            if _count_documents(database):
                return
    raise AssertionError("no document was stored in time")


def _count_documents(database: Path) -> int:
    uri = f"{database.as_uri()}?mode=ro"
    with contextlib.closing(sqlite3.connect(uri, uri=True)) as connection:
        ((number,),) = connection.execute("SELECT count(*) FROM document")
    return int(number)


def _ticks(seconds: float) -> Iterator[None]:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield
        time.sleep(0.05)
