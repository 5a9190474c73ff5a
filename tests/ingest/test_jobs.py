"""Jobs are run to one end, whatever becomes of their processes."""

import errno
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from threading import Event, Thread
from typing import Any

import apsw
import pytest

from chapterhouse.errors import (
    BusyError,
    ChapterhouseError,
    RejectedError,
    UnavailableError,
    UsageError,
)
from chapterhouse.ingest import jobs as module
from chapterhouse.ingest.ingest import add
from chapterhouse.ingest.jobs import JobResult, Runner, Tracker, claim, ended, run_here, run_job
from chapterhouse.ingest.look import ReadingContext
from chapterhouse.ingest.workers import Worker
from chapterhouse.store.blobs import Blobs
from chapterhouse.store.jobs import JobStore
from chapterhouse.store.sqlite import Store
from chapterhouse.types import (
    FINISHED,
    AddReport,
    Extraction,
    FileInFlight,
    FileOutcome,
    FileRecord,
    Job,
    JobState,
    Progress,
    Scope,
    Status,
    Step,
)

KILLS = int(os.environ.get("CHAPTERHOUSE_KILLS", "2"))  # 50 in make soak


@pytest.fixture
def runner(home: Any, tmp_path: Path) -> Iterator[Runner]:
    worker = Worker(tmp_path / "background")
    yield Runner(home.store, worker)
    worker.close()


def make(runner: Runner, name: str = "a", lane: str = "") -> Job:
    job = runner.jobs.enqueue("add", {"paths": [name]}, lane or name, runner.clock())
    claimed = claim(runner, job.id)
    assert claimed is not None
    return claimed


def test_a_job_that_is_done_says_what_came_of_it(runner: Runner) -> None:
    def work(tracker: Tracker) -> JobResult:
        tracker.progress(Progress(2, 2, "a/b.md"))
        return JobResult(JobState.PARTIAL, {"files": 2})

    job = run_job(make(runner), work, runner)
    assert (job.state, job.done, job.result) == (JobState.PARTIAL, 2, {"files": 2})
    stored = runner.jobs.job(job.id)
    assert (stored.state, stored.current) == (JobState.PARTIAL, "a/b.md")
    assert stored.finished > 0


def test_a_job_fails_for_what_its_work_raises(runner: Runner) -> None:
    for error, sentence, hint in (
        (UsageError("It is wrong.", hint="Do it right."), "It is wrong.", "Do it right."),
        (ValueError("seven"), "ValueError: seven", ""),
    ):

        def work(tracker: Tracker, error: Exception = error) -> JobResult:
            raise error

        job = make(runner)
        with pytest.raises(type(error)):
            run_job(job, work, runner)
        failed = runner.jobs.job(job.id)
        assert (failed.state, failed.error, failed.hint) == (JobState.FAILED, sentence, hint)


@pytest.mark.parametrize("is_queued", [False, True])
def test_after_an_interrupt_a_job_is_cancelled_or_given_back(
    runner: Runner, *, is_queued: bool
) -> None:
    state = JobState.PENDING if is_queued else JobState.CANCELLED

    def work(tracker: Tracker) -> JobResult:
        raise KeyboardInterrupt

    def early(tracker: Tracker) -> JobResult:
        return ended(AddReport((), interrupted=True))

    job = make(runner)
    with pytest.raises(KeyboardInterrupt):
        run_job(job, work, runner, is_queued=is_queued)
    other = run_job(make(runner, "b"), early, runner, is_queued=is_queued)
    found = [runner.jobs.job(one.id) for one in (job, other)]
    assert [one.state for one in found] == [state, state]
    assert [one.attempts for one in found] == [int(state is JobState.CANCELLED)] * 2


@pytest.mark.parametrize(
    ("error", "kind", "state"),
    [
        (UnavailableError("It is full."), "add", JobState.PENDING),
        (BusyError("Too much at once."), "sync", JobState.PENDING),
        (OSError(errno.ENOSPC, "No space"), "embed", JobState.PENDING),
        (MemoryError(), "reprocess", JobState.PENDING),
        (UsageError("It is wrong."), "add", JobState.FAILED),
        (OSError(errno.ENOENT, "No file"), "add", JobState.FAILED),
        (ValueError("seven"), "upload", JobState.PENDING),
        (RejectedError("empty", "It is empty."), "upload", JobState.FAILED),
    ],
)
def test_what_passes_puts_a_job_off_and_only_a_refusal_ends_an_upload(
    runner: Runner, error: Exception, kind: str, state: JobState
) -> None:
    def work(tracker: Tracker) -> JobResult:
        raise error

    job, waits = runner.jobs.enqueue(kind, {}, "a", runner.clock()), []
    for _ in range(9):
        claimed = claim(runner, job.id)
        if claimed is None:
            break
        with suppress(type(error)):
            run_job(claimed, work, runner, is_queued=True)
        job = runner.jobs.job(job.id)
        waits.append(job.waits_until - int(runner.clock()))
        assert job.state is state
    assert job.error
    if state is JobState.PENDING:
        assert (job.attempts, job.waits) == (0, 9)
        assert all(one <= later + 1 for one, later in pairwise(waits))  # whole seconds
        assert waits[-1] == pytest.approx(60, abs=2)
        assert claim(runner) is None


def test_how_a_job_ended_is_written_as_soon_as_it_can_be(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_UNWRITABLE_SECONDS", 0.01)
    finish, failures = JobStore.finish, iter([True, True])

    def unwritable(jobs: JobStore, job: Job, now: float) -> bool:
        if next(failures, False):
            raise UnavailableError("There is no space left.")
        return finish(jobs, job, now)

    monkeypatch.setattr(JobStore, "finish", unwritable)
    job = make(runner)
    assert run_job(job, lambda _: JobResult(JobState.DONE), runner, is_queued=True).state == "done"
    assert runner.jobs.job(job.id).state is JobState.DONE


def test_a_job_stops_when_somebody_cancels_it(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BEAT_SECONDS", 0.01)

    def work(tracker: Tracker) -> JobResult:
        runner.jobs.cancel(job.id, 1.0)
        assert tracker.stop.wait(30)
        return ended(AddReport((), interrupted=True))

    job = make(runner)
    assert run_job(job, work, runner, is_queued=True).state is JobState.CANCELLED
    assert runner.jobs.job(job.id).state is JobState.CANCELLED


def test_the_lease_is_extended_while_the_work_lasts(
    runner: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BEAT_SECONDS", 0.01)
    short, goes_on = replace(runner, lease_seconds=0.3), Event()

    def work(tracker: Tracker) -> JobResult:
        first = runner.jobs.job(job.id).lease_until
        while runner.jobs.job(job.id).lease_until < first + 0.5:
            assert not goes_on.wait(0.01)
        return JobResult(JobState.DONE)

    job = make(short)
    assert run_job(job, work, short).state is JobState.DONE


def test_one_that_is_run_here_goes_on_with_what_a_dead_process_left(
    runner: Runner, tmp_path: Path
) -> None:
    dead = Worker(tmp_path / "background")
    left = runner.jobs.enqueue("add", {"paths": ["a"]}, "a", runner.clock())
    claim(replace(runner, worker=dead), left.id)
    (tmp_path / "background" / dead.name).rename(tmp_path / "lock")
    dead_name = dead.name
    dead.close()
    (tmp_path / "lock").rename(tmp_path / "background" / dead_name)  # as after kill -9
    job = run_here("add", {"paths": ["a"]}, "a", lambda _: JobResult(JobState.DONE), runner)
    assert (job.id, job.attempts) == (left.id, 2)
    assert not (tmp_path / "background" / dead_name).exists()


def test_one_that_is_run_here_waits_for_its_lane(runner: Runner) -> None:
    other = make(runner, "x", "lane")
    waited = Event()
    found: list[Job] = []

    def run() -> None:
        arguments = {"paths": ["y"]}
        work = lambda _: JobResult(JobState.DONE)  # noqa: E731 - a line is enough
        found.append(run_here("add", arguments, "lane", work, runner, waited.set))

    thread = Thread(target=run)
    thread.start()
    assert waited.wait(30)
    assert not found
    run_job(other, lambda _: JobResult(JobState.DONE), runner)
    thread.join(30)
    assert found[0].state is JobState.DONE


def test_a_job_whose_processes_die_fails_at_last(runner: Runner) -> None:
    job = runner.jobs.enqueue("add", {"paths": ["a"]}, "a", runner.clock())
    for _ in range(3):
        claimed = claim(runner, job.id)
        assert claimed is not None
        runner.jobs.expire(claimed)  # and its process is gone

    def work(tracker: Tracker) -> JobResult:
        pytest.fail("it is tried a fourth time")

    with pytest.raises(ChapterhouseError, match="died 3 times"):
        run_here("add", {"paths": ["a"]}, "a", work, runner)
    assert runner.jobs.job(job.id).state is JobState.FAILED


def test_a_file_that_ends_its_process_is_parked_and_the_others_are_in(
    home: Any, runner: Runner
) -> None:
    for number in range(12):
        home.write(f"{number:02}.md", "POISON" if number == 5 else f"Text number {number}.")
    prepare, deaths = home.prepare, 0

    def prepared(extraction: Extraction, *more: Any) -> Any:
        if extraction.pages[0].text == "POISON":
            raise SystemExit  # which ends a process: nothing of ours catches it
        return prepare(extraction, *more)

    def work(tracker: Tracker) -> JobResult:
        paths = [home.folder]
        return ended(add(paths, tracker.follow(ReadingContext(home.store, home.read, prepared))))

    job = runner.jobs.enqueue("add", {}, "a", runner.clock())
    while (claimed := claim(runner, job.id)) is not None:
        try:
            run_job(claimed, work, runner)
        except SystemExit:
            deaths += 1
            runner.jobs.expire(claimed)
    assert deaths == 3
    end = runner.jobs.job(job.id)
    assert (end.state, end.attempts) == (JobState.PARTIAL, 1)
    assert home.sources() == [f"docs/{number:02}.md" for number in range(12) if number != 5]
    record = home.store.file(str(home.folder / "05.md"))
    assert (record.status, record.code) == (Status.QUARANTINED, "process-died")
    assert record.sentence == "The process that worked on it died three times."
    assert home.faults() == []
    assert home.add().changed == 0  # and is not read again
    assert home.read_names == []
    home.write("05.md", "Another text.", time=1_650_000_000)
    assert home.add().changed == 1  # unless it is another


def outcome(status: Status, earlier: tuple[FileRecord, ...] = ()) -> FileOutcome:
    record = FileRecord("/a", "a", 1, 1, "", status, "code", "Why.")
    return FileOutcome(record, changed=True, earlier=earlier)


def test_how_a_job_that_reads_files_ends() -> None:
    good, bad = outcome(Status.READY), outcome(Status.REJECTED)
    same = outcome(Status.SKIPPED, (bad.record,))
    assert ended(AddReport((good,))).state is JobState.DONE
    assert ended(AddReport((good, same))).state is JobState.PARTIAL
    assert ended(AddReport((good,), interrupted=True)).state is JobState.CANCELLED
    partial = ended(AddReport((good, bad)))
    assert partial.state is JobState.PARTIAL
    assert partial.result["counts"] == {"ready": 1, "rejected": 1}
    assert partial.result["problems"] == [
        {"source": "a", "status": "rejected", "code": "code", "sentence": "Why."}
    ]


# --- processes -----------------------------------------------------------------------------------


def start(home: Path, *options: str) -> "subprocess.Popen[str]":
    script = Path(__file__).with_name("job_process.py")
    return subprocess.Popen(
        [sys.executable, script, home, *options],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


def order(home: Path, folders: list[Path]) -> None:
    with Store(home / "library.db", blobs=Blobs(home / "blobs")) as store:
        for folder in folders:
            store.jobs().enqueue("add", {"paths": [str(folder)]}, str(folder), 1.0)


def jobs_of(home: Path) -> list[Job]:
    with Store(home / "library.db", blobs=Blobs(home / "blobs")) as store:
        return list(store.jobs().jobs())


def contents(home: Path) -> list[tuple[str, str, str]]:
    with Store(home / "library.db", blobs=Blobs(home / "blobs")) as store:
        return [(one.id, one.source, one.sha256) for one in store.documents(Scope.everything())]


def count_documents(home: Path) -> int:
    with apsw.Connection(str(home / "library.db"), flags=apsw.SQLITE_OPEN_READONLY) as database:
        database.set_busy_timeout(10_000)
        ((count,),) = list(database.execute("SELECT count(*) FROM document"))
    return int(count)


def write_files(folder: Path, count: int, words: int = 40) -> Path:
    folder.mkdir(parents=True)
    for number in range(count):
        text = f"文書{folder.name}{number}の本文です。" * words  # no language model has to load
        (folder / f"{number:03}.md").write_text(text, encoding="utf-8")
        os.utime(folder / f"{number:03}.md", (1_600_000_000, 1_600_000_000))
    return folder


@pytest.mark.timeout(120 + 4 * KILLS)
def test_kill_9_of_a_worker_loses_no_job_and_does_none_twice(tmp_path: Path) -> None:
    chance = random.Random(7)
    folders = [write_files(tmp_path / f"docs{number}", 40) for number in range(2)]
    home, whole = tmp_path / "home", tmp_path / "whole"
    order(home, folders)
    for _ in range(KILLS):
        before, process = count_documents(home), start(home)
        assert process.stdout is not None
        process.stdout.readline()
        # A job that gets nowhere three times is given up, as it should be.
        while process.poll() is None and count_documents(home) == before:
            time.sleep(0.002)
        time.sleep(chance.random() * 0.1)
        process.kill()
        process.communicate()
    while any(job.state not in FINISHED for job in jobs_of(home)):
        start(home).communicate(timeout=60)
    order(whole, folders)
    start(whole).communicate(timeout=60)
    assert contents(home) == contents(whole)
    assert len(contents(whole)) == 80
    found = jobs_of(home)
    assert [job.state for job in found] == [JobState.DONE] * 2


# --- how far it is ---------------------------------------------------------------------------


class Clock:
    """A time that passes when it is wanted to."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def claimed(jobs: JobStore, clock: Clock) -> Job:
    jobs.enqueue("add", {}, "a", clock())
    job = jobs.claim("w", clock(), clock() + 60)
    assert job is not None
    return job


def file(name: str, step: Step = Step.READING) -> FileInFlight:
    return FileInFlight(f"/a/{name}", f"a/{name}", step)


def test_what_is_new_is_written_at_the_next_look_until_another_worker_has_the_job(
    home: Any,
) -> None:
    clock = Clock()
    job = claimed(home.store.jobs(), clock)
    tracker = Tracker(job, home.store.jobs(), clock, 60)
    tracker.begin(file("1"))
    tracker.begin(file("2"))
    tracker.end("/a/1")
    tracker.progress(Progress(1, 2, "a/1"))
    assert home.store.jobs().job(job.id) == job
    clock.now += 5
    tracker.look()
    seen = home.store.jobs().job(job.id)
    assert (seen.done, seen.total, seen.current) == (1, 2, "a/1")
    assert (seen.in_flight, seen.lease_until) == ((file("2"),), 1_065)
    assert (tracker.ended().done, tracker.ended().in_flight) == (1, ())
    clock.now += 60
    assert home.store.jobs().claim("other", clock(), clock() + 60) is not None
    tracker.look()
    assert tracker.stop.is_set()


def test_once_something_is_done_earlier_deaths_no_longer_count(home: Any) -> None:
    clock = Clock()
    job = replace(claimed(home.store.jobs(), clock), attempts=3)
    tracker = Tracker(job, home.store.jobs(), clock, 60)
    record = FileRecord("/a/1", "a/1", 1, 1, "", Status.READY)
    tracker.progress(Progress(1, 2, "a/1", FileOutcome(record, changed=False)))
    assert tracker.ended().attempts == 3
    tracker.progress(Progress(2, 2, "a/1", FileOutcome(record, changed=True)))
    tracker.write()
    assert home.store.jobs().job(job.id).attempts == 1


# --- workers ------------------------------------------------------------------------------------

SCRIPT = """
import sys
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
    assert not mine.is_gone(mine.name)
    for _ in range(2):
        mine.close()
    assert list(tmp_path.iterdir()) == []
