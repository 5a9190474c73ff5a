import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from chapterhouse import Library


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "bread.md").write_text("# Bread\n\nBread is baked on Fridays.")
    return folder


def test_from_background_to_done(chapterhouse: Any, notes: Path) -> None:
    waits = chapterhouse("add", notes, "--background")
    assert waits.code == 0
    assert waits.out == "Job j1 waits.\nDo it: chapterhouse worker\n"
    assert chapterhouse("jobs", "list", "--open", "--json").data[0]["state"] == "pending"
    worked = chapterhouse("worker", "--idle-seconds", 0)
    assert worked.code == 0
    assert "j1  add   done" in worked.out
    assert f"j1 add {notes}: done" in worked.err
    shown = chapterhouse("jobs", "show", "j1")
    assert "1 of 1 file" in shown.out
    assert "changed  1" in shown.out
    assert chapterhouse("jobs", "list", "--open").out == "No jobs.\n"
    assert chapterhouse("jobs", "list", "--lane", notes, "--json").data[0]["id"] == "j1"


def test_stopped_and_tried_again(chapterhouse: Any, notes: Path) -> None:
    chapterhouse("add", notes, "--background")
    assert chapterhouse("jobs", "cancel", "j1").out == "Job j1 is cancelled.\n"
    assert chapterhouse("jobs", "cancel", "j1").code == 2
    assert "j2" in chapterhouse("jobs", "retry", "j1").out
    assert chapterhouse("jobs", "retry", "j2").code == 2
    (job,) = chapterhouse("worker", "--once", "--json").data
    assert (job["id"], job["state"]) == ("j2", "done")
    assert "lease_until" not in job


def test_exit_codes_of_a_worker(chapterhouse: Any, notes: Path) -> None:
    (notes / "empty.md").write_text(" ")
    chapterhouse("add", notes, "--background")
    partly = chapterhouse("worker", "--once")
    assert partly.code == 4
    assert "rejected" in chapterhouse("jobs", "show", "j1").out
    gone = notes / "gone.md"
    gone.write_text("A text.")
    chapterhouse("add", gone, "--background")
    gone.unlink()
    failed = chapterhouse("worker", "--once")
    assert failed.code == 1
    assert "There is no file or folder" in failed.out


def test_wrong_input(chapterhouse: Any, notes: Path) -> None:
    chapterhouse("init")
    assert chapterhouse("jobs", "show", "j9").code == 3
    assert chapterhouse("jobs", "show", "nine").code == 2
    assert chapterhouse("add", notes / "nothing", "--background").code == 3
    assert chapterhouse("add", "-", "--background").code == 2
    assert chapterhouse("add", notes, "--background", "--dry-run").code == 2
    assert chapterhouse("worker", "--idle-seconds", -1).code == 2


def test_a_worker_that_is_asked_to_stop_ends(tmp_path: Path) -> None:
    home = tmp_path / "house"
    process = subprocess.Popen(
        [sys.executable, "-m", "chapterhouse", "worker", "--home", home],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    while not list((home / "workspaces" / "default" / "background").glob("*_*")):
        assert process.poll() is None
        time.sleep(0.05)
    process.terminate()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.startswith("chapterhouse: Stopped.")
    with Library.open(home) as library:
        assert library.jobs.list() == ()
