"""The queue of jobs: each goes to one worker, lanes take turns, none is lost with its worker."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.databases import NewPlace

from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.store import jobs as module
from chapterhouse.store.jobs import JobStore
from chapterhouse.store.sqlite import Store
from chapterhouse.types import OPEN, FileInFlight, Job, JobState, Step


@pytest.fixture
def jobs(store: Store) -> JobStore:
    return store.jobs()


def make(jobs: JobStore, name: str, lane: str = "", now: float = 1.0) -> Job:
    return jobs.enqueue("add", {"paths": [name]}, lane or name, now)


def claimed(jobs: JobStore, worker: str = "w", now: float = 10.0) -> str:
    job = jobs.claim(worker, now, now + 60)
    return job.id if job else ""


def test_an_equal_pending_job_is_not_made_twice(jobs: JobStore) -> None:
    first = make(jobs, "a")
    assert make(jobs, "a", now=2.0) == first
    assert make(jobs, "b").id != first.id
    assert jobs.enqueue("sync", {"paths": ["a"]}, "a", 1.0).id != first.id
    assert claimed(jobs) == first.id
    assert make(jobs, "a").id != first.id  # somebody is at the first: what came since is not in it
    third = make(jobs, "c")
    jobs.claim("w", 10.0, 20.0, third.id)
    assert make(jobs, "c", now=21.0).id == third.id  # nobody is at it any more


def test_lanes_take_turns_and_no_two_jobs_of_one_run_at_a_time(jobs: JobStore) -> None:
    large = [make(jobs, f"large {number}", "large") for number in range(4)]
    make(jobs, "small", "small")
    served = []
    for number in range(5):
        job = jobs.claim("w", 10.0, 70.0)
        assert job is not None
        assert (job.state, job.worker, job.attempts, job.started) == ("running", "w", 1, 10)
        if number == 2:
            assert jobs.claim("other", 11.0, 71.0) is None
            assert jobs.claim("other", 11.0, 71.0, large[2].id) is None
        served.append(job.lane)
        jobs.finish(replace(job, state=JobState.DONE), 11.0)
    assert served == ["large", "small", "large", "large", "large"]


def test_after_its_lease_a_job_is_taken_over(jobs: JobStore) -> None:
    job = make(jobs, "a")
    mine = jobs.claim("w", 10.0, 20.0)
    assert mine is not None
    assert jobs.claim("other", 19.9, 80.0) is None
    assert jobs.report(replace(mine, done=3), 30.0)
    assert jobs.claim("other", 25.0, 80.0) is None
    theirs = jobs.claim("other", 30.0, 90.0)
    assert theirs is not None
    assert (theirs.id, theirs.attempts, theirs.done, theirs.started) == (job.id, 2, 3, 10)
    assert not jobs.report(mine, 99.0)
    assert not jobs.finish(replace(mine, state=JobState.DONE), 31.0)
    assert jobs.job(job.id).worker == "other"
    jobs.expire(mine)  # no longer theirs to give
    assert jobs.claim("third", 31.0, 91.0) is None
    jobs.expire(theirs)
    assert jobs.claim("third", 31.0, 91.0) is not None


def test_a_job_that_is_put_off_is_claimed_later_or_by_name(jobs: JobStore) -> None:
    made = make(jobs, "a")
    job = jobs.claim("w", 10.0, 70.0)
    assert job is not None
    off = replace(job, state=JobState.PENDING, waits=1, waits_until=30, error="It is full.")
    assert jobs.finish(off, 20.0)
    waiting = jobs.job(job.id)
    assert (waiting.waits, waiting.waits_until, waiting.error) == (1, 30, "It is full.")
    assert make(jobs, "a", now=21.0).id == made.id
    assert jobs.claim("w", 29.0, 89.0) is None
    assert claimed(jobs, now=30.0) == job.id
    assert jobs.job(job.id).error == ""
    assert jobs.finish(off, 31.0)
    assert jobs.claim("w", 29.0, 89.0, job.id) is not None  # as a command does


def test_received_files_can_be_taken_alone_and_take_turns_with_the_rest(jobs: JobStore) -> None:
    for number in range(4):
        jobs.enqueue("upload", {"file": str(number)}, f"upload {number}", 1.0)
        make(jobs, f"large {number}", "large")
    taken = [jobs.claim("w", 10.0, 70.0, kind="upload") for _ in range(2)]
    assert [job and job.kind for job in taken] == ["upload", "upload"]
    served = []
    for _ in range(4):
        job = jobs.claim("w", 10.0, 70.0)
        assert job is not None
        served.append(job.kind)
        jobs.finish(replace(job, state=JobState.DONE), 11.0)
    assert served == ["add", "upload", "add", "upload"]
    taken = [jobs.claim("w", 10.0, 70.0, kind="upload") for _ in range(2)]
    assert taken == [None, None]


def test_a_job_is_found_again_as_it_was_written_and_cancelled(jobs: JobStore) -> None:
    job = jobs.claim("w", 10.0, 70.0, make(jobs, "ä/b").id)
    assert job is not None
    file = FileInFlight("/a/b.md", "a/b.md", Step.CHUNKING, 5, 7, "00")
    now = replace(job, done=1, total=4, current="a/a.md", in_flight=(file,), attempts=2)
    assert jobs.report(now, 80.0)
    assert jobs.job(job.id) == replace(now, lease_until=80.0)
    waiting = make(jobs, "a")
    assert jobs.cancel(waiting.id, 12.0).state is JobState.CANCELLED
    asked = jobs.cancel(job.id, 12.0)
    assert (asked.state, asked.cancelling) == (JobState.RUNNING, True)
    assert not jobs.report(now, 80.0)
    end = replace(now, state=JobState.CANCELLED, result={"files": 4}, error="No.", hint="Do.")
    assert jobs.finish(end, 90.0)
    found = jobs.job(job.id)
    assert replace(found, cancelling=now.cancelling) == replace(end, finished=90, lease_until=0.0)
    assert jobs.jobs(OPEN) == ()
    assert jobs.cancel(waiting.id, 99.0).finished == 12


def test_what_is_listed(jobs: JobStore) -> None:
    first, second, third = make(jobs, "a", "x"), make(jobs, "b", "y"), make(jobs, "c", "x")
    jobs.cancel(second.id, 5.0)
    assert [job.id for job in jobs.jobs()] == [third.id, second.id, first.id]
    assert [job.id for job in jobs.jobs(lane="x")] == [third.id, first.id]
    assert [job.id for job in jobs.jobs((JobState.CANCELLED,))] == [second.id]
    assert [job.id for job in jobs.jobs(limit=1)] == [third.id]


def test_the_oldest_finished_jobs_are_dropped(
    jobs: JobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_REMEMBERED", 3)
    waiting = make(jobs, "waits", "waits")
    made = [make(jobs, str(number)) for number in range(6)]
    for job in made:
        mine = jobs.claim("w", 10.0, 70.0, job.id)
        assert mine is not None
        jobs.finish(replace(mine, state=JobState.DONE), 20.0)
    left = [job.id for job in jobs.jobs(limit=99)]
    assert left == [*(job.id for job in reversed(made[3:])), waiting.id]


def test_what_is_no_id_or_not_there(jobs: JobStore) -> None:
    for name in ("", "x", "j", "m1", "j1 2", "-1"):
        with pytest.raises(UsageError):
            jobs.job(name)
    with pytest.raises(NotFoundError):
        jobs.job("j7")
    with pytest.raises(NotFoundError):
        jobs.cancel("j7", 1.0)


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["make", "claim", "report", "finish", "back", "cancel", "wait"]),
        st.integers(0, 5),
    ),
    max_size=40,
)


@given(ACTIONS)
def test_whatever_happens_a_job_has_one_worker_and_a_lane_one_job(
    tmp_path_factory: Any, new_place: NewPlace, actions: list[tuple[str, int]]
) -> None:
    with new_place(tmp_path_factory.mktemp("queue"))() as store:
        jobs, now, held = store.jobs(), 10.0, dict[str, Job]()
        ends: dict[str, int] = {}
        for action, number in actions:
            mine = held.get(f"w{number}")
            if action == "make":
                jobs.enqueue("add", {"number": number}, f"lane {number % 3}", now)
            elif action == "wait":
                now += 4 * number
            elif action == "claim" and (got := jobs.claim(f"w{number}", now, now + 10)):
                held[f"w{number}"] = got
            elif action == "cancel":
                for job in jobs.jobs(OPEN)[:1]:
                    jobs.cancel(job.id, now)
            elif mine and action == "report":
                jobs.report(mine, now + 10)
            elif mine and action in {"finish", "back"}:
                state = JobState.DONE if action == "finish" else JobState.PENDING
                done = jobs.finish(replace(mine, state=state), now)
                ends[mine.id] = ends.get(mine.id, 0) + (done and action == "finish")
                del held[f"w{number}"]
            leased = [job for job in jobs.jobs((JobState.RUNNING,)) if job.lease_until > now]
            assert len({job.lane for job in leased}) == len(leased)
        assert all(count <= 1 for count in ends.values())
