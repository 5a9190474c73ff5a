"""Jobs: workers that are killed, a file that kills them, lanes, cancelling, and what a job costs.

    python benchmarks/jobs.py [--kills 50]

Workers are processes of ``tests/ingest/job_process.py``: the real store, queue and pipeline, with
a reader of Markdown in the process. They are killed (``SIGKILL``) in the middle of jobs until so
many kills are done; the library they leave is compared with one that was built in one go. Takes
a minute or two on two cores.
"""

import argparse
import os
import random
import runpy
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from chapterhouse.ingest import ingest
from chapterhouse.library import Library
from chapterhouse.store.blobs import FolderBlobs
from chapterhouse.store.sqlite import SqliteStore
from chapterhouse.types import FINISHED, Job, JobState, Progress, Scope, Status
from measuring import Bar, Machine, Row, Table, finish

TESTS = Path(__file__).resolve().parent.parent / "tests" / "ingest"
FOLDERS, FILES = 6, 200
UNCHANGED = 10_000
TURNS = 16
SLOW_SECONDS = 20.0
SMALL = 200
WORK: Any = runpy.run_path(str(TESTS / "job_process.py"))["main"]
OLD = 1_600_000_000


def write_files(folder: Path, count: int, sentences: int = 40, version: int = 0) -> Path:
    """Write documents whose language no model has to be loaded for."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        path = folder / f"{number:05}.md"
        words = f"文書{folder.name}{number}版{version}の本文です。"
        path.write_text(f"# 文書{number}\n\n" + words * sentences)
        os.utime(path, (OLD + version, OLD + version))
    return folder


def opened(home: Path) -> SqliteStore:
    return SqliteStore(home / "library.db", blobs=FolderBlobs(home / "blobs"))


def order(home: Path, folders: list[Path], times: int = 1) -> None:
    """Leave a job for each folder, several where ``times`` says so."""
    with opened(home) as store:
        for turn in range(times):
            for folder in folders:
                arguments = {"paths": [str(folder)], "turn": turn}
                store.jobs().enqueue("add", arguments, str(folder), time.time())


def jobs_of(home: Path) -> list[Job]:
    with opened(home) as store:
        return list(store.jobs().jobs())


def contents(home: Path) -> list[tuple[str, str, str, int]]:
    """Return what decides whether two libraries are the same."""
    with opened(home) as store:
        found = store.documents(Scope.everything())
        return [(one.id, one.source, one.text_sha256, one.chunks) for one in found]


class WorkerProcess:
    """A worker in a process of its own, forked: to load Python again takes longer than its work."""

    def __init__(self, home: Path, word: str = "") -> None:
        ours, theirs = os.pipe()
        self._process = os.fork()
        if self._process == 0:
            os.close(ours)
            sys.stdout = os.fdopen(theirs, "w")
            code = 1
            try:
                WORK(home, word)
                code = 0
            finally:
                sys.stdout.flush()
                os._exit(code)
        os.close(theirs)
        self._lines = os.fdopen(ours)

    def begun(self) -> str:
        """Wait until it has begun a job; return its line, or nothing where there was none."""
        return self._lines.readline()

    def kill(self) -> None:
        """End it at once."""
        os.kill(self._process, signal.SIGKILL)

    def end(self) -> tuple[int, list[str]]:
        """Wait for its end; return its status and the lines that were not yet read."""
        lines = self._lines.readlines()
        self._lines.close()
        return os.waitstatus_to_exitcode(os.waitpid(self._process, 0)[1]), lines


def kill_workers(folder: Path, kills: int) -> tuple[list[Row], list[Bar]]:
    """Kill workers in the middle of jobs; return how it ended."""
    chance, home, whole = random.Random(7), folder / "home", folder / "whole"
    folders = [write_files(folder / f"docs{number}", FILES) for number in range(FOLDERS)]
    order(home, folders)
    hit = 0
    for turn in range(kills):
        process = WorkerProcess(home)
        if not process.begun():  # nothing is left to be killed at
            process.end()
            for one in folders:
                write_files(one, FILES, version=turn)
            order(home, folders)
            process = WorkerProcess(home)
            process.begun()
        time.sleep(chance.random())
        process.kill()
        process.end()
        hit += any(job.state is JobState.RUNNING for job in jobs_of(home))
    while any(job.state not in FINISHED for job in jobs_of(home)):
        WorkerProcess(home).end()
    found = jobs_of(home)
    failed = [job for job in found if job.state is JobState.FAILED]
    order(home, [Path(job.lane) for job in failed])  # as `jobs retry` does
    WorkerProcess(home).end()
    order(whole, folders)
    WorkerProcess(whole).end()
    with opened(home) as store:
        parked = sum(one.status is Status.QUARANTINED for one in store.files())
    ends = {JobState.DONE, JobState.FAILED}
    otherwise = [job for job in jobs_of(home) if job.state not in ends]
    otherwise += [job for job in failed if "died 3 times" not in job.error]
    rows: list[Row] = [
        ("kills in the middle of a job", hit),
        ("jobs", len(found)),
        ("of these failed for three deaths in a row with nothing done, and retried", len(failed)),
        ("documents", len(contents(home))),
    ]
    bars = [
        Bar("kills", float(kills), least=50),
        Bar("kills in the middle of a job, share", hit / kills, least=0.8),
        Bar("jobs that ended otherwise than as done or so", len(otherwise), most=0),
        Bar("documents unlike those of one go", _difference(home, whole), most=0),
        Bar("files parked that are harmless", parked, most=0),
    ]
    return rows, bars


def _difference(one: Path, other: Path) -> int:
    return len(set(contents(one)) ^ set(contents(other)))


def poison(folder: Path) -> tuple[list[Row], list[Bar]]:
    """Add a file that kills its process each time; return how it ended."""
    docs, home = write_files(folder / "poison", 200), folder / "poisoned"
    (docs / "00100.md").write_text("毒 POISON")
    order(home, [docs])
    deaths = 0
    while any(job.state not in FINISHED for job in jobs_of(home)):
        code, _ = WorkerProcess(home, "POISON").end()
        deaths += code == -signal.SIGKILL
        assert deaths < 10
    with opened(home) as store:
        record = store.file(str(docs / "00100.md"))
    assert record is not None
    assert record.status is Status.QUARANTINED
    rows: list[Row] = [("of the parked file", record.sentence)]
    return rows, [
        Bar("deaths until a file that kills its process is parked", deaths, most=3),
        Bar("other documents of its folder that are missing", 199 - len(contents(home)), most=0),
    ]


def several(folder: Path) -> list[Bar]:
    """Let four workers do twenty jobs of five lanes."""
    folders = [write_files(folder / f"lane{number}", 20) for number in range(5)]
    home = folder / "several"
    order(home, folders, 4)
    processes = [WorkerProcess(home) for _ in range(4)]
    lines = [line.split() for one in processes for line in one.end()[1]]
    begun = [(job, lane, float(at)) for what, job, lane, at in lines if what == "begin"]
    ended = {job: float(at) for what, job, _, at in lines if what == "end"}
    overlaps = sum(
        first[1] == second[1] and first[2] <= second[2] < ended[first[0]]
        for first in begun
        for second in begun
        if first[0] != second[0]
    )
    return [
        Bar("jobs of 20 that 4 workers ran not exactly once", abs(len(begun) - 20), most=0),
        Bar("times that two jobs of a lane ran at once", overlaps, most=0),
    ]


def cancel(library: Library, folder: Path) -> Bar:
    """Return how long an add runs on after another process has cancelled it."""
    seconds = []
    for turn in range(3):
        docs, began = write_files(folder / f"cancelled{turn}", 1_500), threading.Event()

        def add(docs: Path = docs, began: threading.Event = began) -> None:
            library.documents.add(docs, on_progress=lambda _: began.set())

        thread = threading.Thread(target=add)
        thread.start()
        began.wait()
        (job,) = library.jobs.list((JobState.RUNNING,))
        with Library.open(library.home) as other:
            asked = time.perf_counter()
            other.jobs.cancel(job.id)
        thread.join()
        seconds.append(time.perf_counter() - asked)
        assert library.jobs.get(job.id).state is JobState.CANCELLED
    return Bar("seconds from cancelling to the end of an add", max(seconds), most=2)


def unchanged(library: Library, folder: Path) -> tuple[Row, Bar]:
    """Compare an add of an unchanged folder with the same outside any job, in turns."""
    docs = write_files(folder / "unchanged", UNCHANGED, 1)
    library.documents.add(docs)
    runtime = library._runtime  # noqa: SLF001 - what no user can do
    with_job: list[float] = []
    without: list[float] = []

    def job() -> None:
        library.documents.add(docs)

    changed: list[Progress] = []

    def follow(progress: Progress) -> None:  # an add counts what it changed, job or not
        if progress.outcome is not None and progress.outcome.changed:
            changed.append(progress)

    def plain() -> None:
        ingest.add([docs], runtime.work(follow, "library"))
        runtime.catch_up()

    both = ((job, with_job), (plain, without))
    for turn in range(TURNS):
        for work, seconds in both if turn % 2 else reversed(both):
            began = time.process_time()  # whatever else the machine does
            work()
            seconds.append(time.process_time() - began)
    one, other = min(with_job), min(without)
    row = (
        f"{UNCHANGED:,} unchanged files: as a job, without one, best of 16, seconds of processor",
        f"{one:.2f}, {other:.2f}",
    )
    return row, Bar("unchanged files as a job, times the same without one", one / other, most=1.05)


def behind(folder: Path) -> tuple[list[Row], list[Bar]]:
    """Add small files behind one that takes long to read; return when they were read."""
    docs, home = write_files(folder / "behind", SMALL), folder / "slow"
    (docs / "00000.md").write_text("遅い SLOW")
    parts: dict[str, Any] = runpy.run_path(str(TESTS / "conftest.py"))
    read: list[float] = []
    began = time.perf_counter()

    def reader(data: bytes, name: str) -> object:
        if b"SLOW" in data:
            time.sleep(SLOW_SECONDS)
        else:
            read.append(time.perf_counter() - began)
        return parts["read_marked"](data, name)

    stored: list[float] = []

    def on_progress(_: Progress) -> None:
        stored.append(time.perf_counter() - began)

    blobs = FolderBlobs(home / "blobs")
    with opened(home) as store, ThreadPoolExecutor(2) as executor:
        made = replace(parts["Home"](docs, store, blobs, executor), reader=reader)
        made.add(on_progress=on_progress, ahead=8)
    waiting = sum(at < SLOW_SECONDS / 2 for at in read)
    rows: list[Row] = [
        (f"small files read within {SLOW_SECONDS / 2:g} s, of {SMALL - 1}", waiting),
        ("seconds until the last was stored", stored[-1]),
    ]
    return rows, [Bar("small files read while one takes 20 s", waiting, least=60)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    kills, machine = parser.parse_args().kills, Machine()
    with TemporaryDirectory() as name:
        folder = Path(name)
        rows, bars = kill_workers(folder, kills)
        print("killed", flush=True)
        more_rows, more_bars = poison(folder)
        bars += [*more_bars, *several(folder)]
        slow_rows, slow_bars = behind(folder)
        print("behind", flush=True)
        with Library.open(folder / "house") as library:
            bars.append(cancel(library, folder))
        print("cancelled", flush=True)
        with Library.open(folder / "unchanged house") as library:
            row, bar = unchanged(library, folder)
        rows += [*more_rows, *slow_rows, row]
        bars += [*slow_bars, bar]
    table = Table("What was seen", ("what", "seen"), tuple((a, str(b)) for a, b in rows))
    return finish("jobs", "Jobs", bars, [table], machine.setting())


if __name__ == "__main__":
    sys.exit(main())
