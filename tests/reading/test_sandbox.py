"""What a worker cannot do: reach the network, start programs, write, take more than its share."""

import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from chapterhouse.reading import sandbox
from chapterhouse.reading.pool import ReadingPool

from .conftest import HERE, LINUX, PATIENT, QUICK, code_of, text_of


@pytest.mark.parametrize("order", ["socket", "resolve", "child", "write escaped", "append escaped"])
def test_what_is_forbidden_ends_in_a_reason_and_the_next_file_is_read(
    scripted: ReadingPool, tmp_path: Path, order: str
) -> None:
    escaped = tmp_path / "escaped"
    code, message = code_of(scripted, order.replace("escaped", str(escaped)))
    assert (code, "not allowed while reading" in message) == ("unreadable", True), message
    assert text_of(scripted, "hello") == "hello"
    assert not escaped.exists()


def test_what_readers_need_is_allowed() -> None:
    programs = frozenset({"/usr/bin/tesseract"})
    for event, arguments in (
        ("open", ("/etc/hosts", "rb", os.O_RDONLY)),
        ("open", (os.devnull, "w", os.O_WRONLY)),
        ("open", (7, "wb", os.O_WRONLY)),  # a pipe to a program
        ("subprocess.Popen", ("/usr/bin/tesseract", [], None, None)),
        ("socket.__new__", (None, socket.AF_UNIX, 1, 0)),  # the pair of an event loop
    ):
        sandbox._audit(event, arguments, programs)
    for event in ("subprocess.Popen", "os.posix_spawn"):
        with pytest.raises(PermissionError, match="program"):
            sandbox._audit(event, ("tesseract", [], None), programs)


@LINUX
def test_memory_is_limited(scripted: ReadingPool) -> None:
    assert code_of(scripted, "hog")[0] == "out-of-memory"
    assert text_of(scripted, "hello") == "hello"


@LINUX
def test_processor_time_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HERE))
    limits = replace(QUICK, wall_seconds=30.0, cpu_seconds=1)
    with ReadingPool(1, limits, reader="misbehave:read") as pool:
        found, message = code_of(pool, "spin")
        assert found == "timed-out"
        assert "processor" in message
        for _ in range(3):  # the allowance is for a file, not for the worker's life
            assert text_of(pool, "hello") == "hello"


@LINUX
def test_the_workers_of_a_large_parent_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HERE))
    ballast = bytearray(b"x") * 300_000_000
    limits = replace(PATIENT, recycle_rss_bytes=200_000_000)
    with ReadingPool(1, limits, reader="misbehave:read") as pool:
        assert text_of(pool, "process") == text_of(pool, "process")
    del ballast


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_workers_die_with_their_parent(tmp_path: Path, number: signal.Signals) -> None:
    script = (
        "import sys, time\nfrom chapterhouse.reading.pool import ReadingPool\n"
        f"sys.path.insert(0, {str(HERE)!r})\n"
        "pool = ReadingPool(1, reader='misbehave:read')\n"
        "print(pool.read(b'process', 'a').pages[0].text, flush=True)\n"
        "pool.submit(b'sleep 60', 'a')\ntime.sleep(60)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1] / "src")}
    with subprocess.Popen(
        [sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        time.sleep(0.2)
        parent.send_signal(number)
        parent.wait(10)
    for _ in range(100):
        if not _alive(worker):
            return
        time.sleep(0.05)
    pytest.fail("the worker outlived its parent")


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    status = Path(
        f"/proc/{process}/stat"
    )  # one that nobody has waited for yet is dead all the same
    return not (status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z")
