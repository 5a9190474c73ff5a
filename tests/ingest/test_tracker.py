"""A running job writes how far it is, and stops where it is to."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from chapterhouse.ingest.look import Work
from chapterhouse.ingest.tracker import Tracker
from chapterhouse.store.blobs import FolderBlobs
from chapterhouse.store.jobs import JobStore
from chapterhouse.store.sqlite import SqliteStore
from chapterhouse.types import (
    FileInFlight,
    FileOutcome,
    FileRecord,
    Job,
    Progress,
    Status,
    Step,
)


class Clock:
    """A time that passes when it is wanted to."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(tmp_path / "library.db", blobs=FolderBlobs(tmp_path / "blobs")) as opened:
        yield opened


@pytest.fixture
def jobs(store: SqliteStore) -> JobStore:
    return store.jobs()


def claimed(jobs: JobStore, clock: Clock) -> Job:
    jobs.enqueue("add", {}, "a", clock())
    job = jobs.claim("w", clock(), clock() + 60)
    assert job is not None
    return job


def file(name: str, step: Step = Step.READING) -> FileInFlight:
    return FileInFlight(f"/a/{name}", f"a/{name}", step)


def test_what_is_new_is_written_at_the_next_look(jobs: JobStore) -> None:
    clock = Clock()
    job = claimed(jobs, clock)
    tracker = Tracker(job, jobs, clock, 60)
    tracker.begin(file("1"))
    tracker.begin(file("2"))
    tracker.end("/a/1")
    tracker.progress(Progress(1, 2, "a/1"))
    assert jobs.job(job.id) == job
    clock.now += 5
    tracker.look()
    seen = jobs.job(job.id)
    assert (seen.done, seen.total, seen.current) == (1, 2, "a/1")
    assert seen.in_flight == (file("2"),)
    assert seen.lease_until == 1_065
    assert tracker.ended().done == 1
    assert tracker.ended().in_flight == ()


def test_a_look_without_news_writes_nothing(jobs: JobStore) -> None:
    clock = Clock()
    job = claimed(jobs, clock)
    clock.now += 5
    Tracker(job, jobs, clock, 60).look()
    assert jobs.job(job.id) == job


def test_a_file_is_written_down_before_this_process_works_on_it(jobs: JobStore) -> None:
    clock = Clock()
    job = claimed(jobs, clock)
    tracker = Tracker(job, jobs, clock, 60)
    tracker.begin(file("1"))
    tracker.begin(file("1", Step.CHUNKING))
    assert jobs.job(job.id).in_flight == (file("1", Step.CHUNKING),)


@pytest.mark.parametrize("has_news", [False, True])
def test_a_cancelled_job_stops(jobs: JobStore, *, has_news: bool) -> None:
    clock = Clock()
    job = claimed(jobs, clock)
    tracker = Tracker(job, jobs, clock, 60)
    jobs.cancel(job.id, clock())
    if has_news:
        tracker.progress(Progress(1, 2, "a/1"))
    assert not tracker.stop.is_set()
    tracker.look()
    assert tracker.stop.is_set()
    assert tracker.is_cancelled


def test_a_job_that_another_worker_has_by_now_stops(jobs: JobStore) -> None:
    clock = Clock()
    job = claimed(jobs, clock)
    tracker = Tracker(job, jobs, clock, 60)
    clock.now += 60
    assert jobs.claim("other", clock(), clock() + 60) is not None
    tracker.look()
    assert tracker.stop.is_set()


def test_work_reports_to_its_tracker_and_to_whom_it_reported_before(
    store: SqliteStore, jobs: JobStore
) -> None:
    clock, seen = Clock(), list[Progress]()
    tracker = Tracker(claimed(jobs, clock), jobs, clock, 60)
    work = Work(store, lambda *_: None, lambda *_: None)  # type: ignore[arg-type]  # not called
    followed = tracker.follow(replace(work, on_progress=seen.append))
    followed.on_progress(Progress(1, 2, "a"))
    followed.on_step(file("1"))
    assert followed.stop is tracker.stop
    assert seen == [Progress(1, 2, "a")]
    assert tracker.ended().done == 1
    followed.on_end("/a/1")
    tracker.write()
    assert jobs.jobs()[0].in_flight == ()


def test_once_something_is_done_earlier_deaths_no_longer_count(jobs: JobStore) -> None:
    clock = Clock()
    job = replace(claimed(jobs, clock), attempts=3)
    tracker = Tracker(job, jobs, clock, 60)
    record = FileRecord("/a/1", "a/1", 1, 1, "", Status.READY)
    tracker.progress(Progress(1, 2, "a/1", FileOutcome(record, changed=False)))
    assert tracker.ended().attempts == 3
    tracker.progress(Progress(2, 2, "a/1", FileOutcome(record, changed=True)))
    tracker.write()
    assert jobs.job(job.id).attempts == 1
