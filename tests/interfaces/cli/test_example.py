import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.interfaces.cli.conftest import on_a_terminal
from tests.served import until

PROGRAM = (sys.executable, "-m", "chapterhouse")


@pytest.fixture
def home(ferry: Path) -> Path:
    return ferry


class Shell:
    def __init__(self, run: Any) -> None:
        self.run_here = run

    def run(self, *arguments: object, home: Path) -> Any:
        return self.run_here(*arguments, "--home", home)

    def data(self, *arguments: object, home: Path) -> Any:
        return self.run(*arguments, "--json", home=home).data


@pytest.fixture
def shell(chapterhouse: Any) -> Shell:
    return Shell(chapterhouse)


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


def test_a_terminal_is_asked_before_anything_is_removed_and_has_progress_and_styles(
    tmp_path: Path,
) -> None:
    (tmp_path / "torn.pdf").write_bytes(b"%PDF-1.7 torn")
    (tmp_path / "berths.md").write_text("# Berths\n\nA berth costs 80 euros a metre.\n")
    home = ("--home", tmp_path / "home")
    code, shown = on_a_terminal(("-m", "chapterhouse", "add", tmp_path, *home), NO_COLOR="")
    assert (code, "rejected" in shown) == (4, True)
    assert ("\x1b[" in shown, "━" in shown) == (True, True)
    remove = ("-m", "chapterhouse", "docs", "remove", "berths.md", *home)
    code, shown = on_a_terminal(remove, (b"[y/N]", b"n\n"))
    assert (code, "Nothing was removed." in shown) == (10, True)


PAPERS = 1_500 if "CHAPTERHOUSE_LARGE" in os.environ else 150


@pytest.mark.large
def test_interrupted_in_the_middle_of_an_add(shell: Shell, tmp_path: Path) -> None:
    papers, home = tmp_path / "papers", tmp_path / "home"
    papers.mkdir()
    for number in range(PAPERS):
        (papers / f"{number:04}.md").write_text(f"# Paper {number}\n\n" + "A sentence. " * 200)
    with subprocess.Popen(
        [*PROGRAM, "add", papers, "--home", home],
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

    def is_stored() -> bool:
        assert process.poll() is None, "it ended before it could be interrupted"
        with contextlib.suppress(sqlite3.OperationalError):  # not there yet, or half made
            return _count_documents(database) > 0
        return False

    until(is_stored)


def _count_documents(database: Path) -> int:
    uri = f"{database.as_uri()}?mode=ro"
    with contextlib.closing(sqlite3.connect(uri, uri=True)) as connection:
        ((number,),) = connection.execute("SELECT count(*) FROM document")
    return int(number)
