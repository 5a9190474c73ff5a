"""A worker whose process has ended is seen to be gone."""

import subprocess
import sys
from pathlib import Path

from chapterhouse.ingest.workers import Worker

SCRIPT = """
import os, signal, sys
from pathlib import Path
from chapterhouse.ingest.workers import Worker
worker = Worker(Path(sys.argv[1]))
print(worker.name, flush=True)
sys.stdin.read()
"""


def test_a_worker_is_there_until_its_process_ends(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, tmp_path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    name = process.stdout.readline().strip()
    mine = Worker(tmp_path)
    assert mine.name != name
    assert not mine.is_gone(name)
    process.kill()
    process.communicate()
    assert mine.is_gone(name)
    mine.forget(name)
    assert mine.is_gone(name)  # as after one that was closed with a job at hand
    assert not mine.is_gone("elsewhere_1_0a")  # of another machine's nothing can be seen
    mine.close()


def test_a_worker_sees_itself_and_leaves_nothing(tmp_path: Path) -> None:
    worker = Worker(tmp_path / "background")
    name = worker.name
    assert worker.name == name
    assert not worker.is_gone(name)
    worker.close()
    assert list((tmp_path / "background").iterdir()) == []
    worker.close()


def test_one_of_another_machine_may_be_at_work(tmp_path: Path) -> None:
    (tmp_path / "elsewhere_7_00ff").touch()
    assert not Worker(tmp_path).is_gone("elsewhere_7_00ff")
