import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from dataclasses import replace
from pathlib import Path

import pytest

from chapterhouse.errors import RejectedError, UsageError
from chapterhouse.reading import limits as reading_limits
from chapterhouse.reading.pool import ReadingPool
from chapterhouse.types import Passage, PassagePlace

from .conftest import HERE, PATIENT, QUICK, Scripted, code_of, text_of


@pytest.mark.parametrize(
    ("order", "code", "words"),
    [
        ("spin", "timed-out", "1 seconds"),
        ("sleep 60", "timed-out", "1 seconds"),
        ("signal 9", "reader-crashed", "SIGKILL"),
        ("signal 11", "reader-crashed", "SIGSEGV"),
        ("signal 6", "reader-crashed", "SIGABRT"),
        ("exit 0", "reader-crashed", "exit status 0"),
        ("exit 3", "reader-crashed", "exit status 3"),
        ("nonsense " + "x" * 100, "reader-crashed", "nonsense"),
        ("garble", "reader-crashed", "nonsense"),
    ],
)
def test_misbehaviour_ends_in_its_code_and_the_next_file_is_read(
    scripted: ReadingPool, order: str, code: str, words: str
) -> None:
    found, message = code_of(scripted, order)
    assert (found, words in message) == (code, True), message
    assert text_of(scripted, "hello") == "hello"


@pytest.mark.parametrize(
    ("order", "code"),
    [
        ("spin", "timed-out"),
        ("signal 11", "reader-crashed"),
        ("recurse", "too-deep"),
        ("other", "reader-crashed"),
        ("garble", "reader-crashed"),
    ],
)
def test_showing_a_page_ends_as_reading_does(scripted: ReadingPool, order: str, code: str) -> None:
    with pytest.raises(RejectedError) as caught:
        scripted.show(order.encode(), 1, ()).result()
    assert caught.value.code == code
    passage = Passage(2, "nine", "a", "b")
    view = scripted.show(b"hello", 1, (passage,)).result()
    assert view.png == b"hello"
    assert view.places == (PassagePlace(1, reason='[1, [[2, "nine", "a", "b"]]]'),)
    assert text_of(scripted, "hello") == "hello"


def test_a_slow_step_may_ask_for_time_and_gets_no_more_than_the_ceiling(
    scripted_pool: Scripted,
) -> None:
    with scripted_pool(QUICK) as pool:
        text_of(pool, "hello")
        assert text_of(pool, "ask 1.5") == "ask"
    limits = replace(QUICK, wall_seconds_ceiling=1.2)
    with scripted_pool(limits) as pool:
        text_of(pool, "hello")
        assert code_of(pool, "ask 8") == (
            "timed-out", "Reading it took longer than 1 seconds and was stopped."
        )  # fmt: skip


def test_a_worker_sees_no_secrets_and_ignores_the_terminal(scripted: ReadingPool) -> None:
    names = text_of(scripted, "environment").split("\n")
    assert "PATH" in names
    assert not [name for name in names if name.startswith(("CHAPTERHOUSE", "HOME", "PYTEST"))]
    assert text_of(scripted, "interrupt") == "interrupt"


def test_a_worker_is_kept_and_recycled(scripted_pool: Scripted) -> None:
    with scripted_pool(replace(PATIENT, recycle_files=3)) as pool:
        seen = [text_of(pool, "process") for _ in range(7)]
    assert seen[0] == seen[1] == seen[2] != seen[3] == seen[4] == seen[5] != seen[6]


def test_a_worker_that_has_grown_is_recycled(scripted_pool: Scripted) -> None:
    with scripted_pool(replace(PATIENT, recycle_rss_bytes=1)) as pool:
        assert text_of(pool, "process") != text_of(pool, "process")


def test_many_threads_may_use_one_pool(pool: ReadingPool) -> None:
    wrong: list[str] = []

    def work(thread: int) -> None:
        for number in range(25):
            wanted = f"thread {thread} file {number}"
            found = pool.read(wanted.encode(), "a.txt").pages[0].text
            if found != wanted:
                wrong.append(found)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_files_are_read_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HERE))
    with ReadingPool(2, PATIENT, reader="misbehave:read") as pool:
        for future in [pool.submit(b"hello", "a"), pool.submit(b"hello", "b")]:
            future.result()
        both = [pool.submit(b"sleep 2", "a"), pool.submit(b"sleep 2", "b")]
        while not any(future.done() for future in both):
            if all(future.running() for future in both):
                return
            time.sleep(0.01)
    pytest.fail("one waited for the other")


def test_closing_ends_what_runs_and_cancels_what_waits(scripted_pool: Scripted) -> None:
    pool = scripted_pool(PATIENT)
    process = int(text_of(pool, "process"))
    running, waiting = pool.submit(b"sleep 60", "a"), pool.submit(b"hello", "b")
    while not running.running():
        time.sleep(0.01)
    pool.close()
    for future in (running, waiting):
        with pytest.raises(CancelledError):
            future.result()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    pool.close()
    with pytest.raises(UsageError):
        pool.submit(b"x", "x")


def test_no_workers_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="at least one"):
        ReadingPool(0)


ASK = "from chapterhouse.reading.pool import ReadingPool\nwith ReadingPool(1) as pool: print("
ASK += "pool.read(b'hello', 'a.txt').pages[0].text)"


@pytest.mark.parametrize("how", ["script", "stdin"])
def test_any_main_module_will_do(tmp_path: Path, how: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1] / "src")}
    script = tmp_path / "script.py"
    script.write_text(ASK)  # no guard by __name__: it would run again in a spawned copy
    arguments = [str(script)] if how == "script" else ["-"]
    done = subprocess.run(
        [sys.executable, *arguments],
        input=ASK,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("hello\n", "")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """The seconds that have passed, to be set."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    yield now
    reading_limits.on_request(bool)


def test_more_time_is_asked_for_before_it_runs_out(clock: list[float]) -> None:
    asked: list[float] = []
    reading_limits.on_request(asked.append)
    allowance = reading_limits.Allowance(30, 100)
    for second in range(30):
        clock[0] = float(second)
        assert allowance.lasts()
    assert asked == [10.0] * 3
    clock[0] = 30.0
    assert not allowance.lasts()


def test_recognition_is_counted_apart_up_to_the_ceiling(clock: list[float]) -> None:
    allowance = reading_limits.Allowance(30, 100)
    clock[0] = 90.0
    allowance.count_apart(80.0)
    assert allowance.lasts()
    clock[0] = 100.0
    allowance.count_apart(10.0)
    assert not allowance.lasts()
