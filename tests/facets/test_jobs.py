"""Jobs as programs use them: ordered, worked off, stopped, tried again."""

from pathlib import Path
from typing import Any

import pytest

from chapterhouse import Library
from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.types import Job, JobState, Progress


def write(folder: Path, name: str) -> Path:
    made = folder / name
    made.mkdir()
    (made / f"{name}.md").write_text(f"# {name}\n\nA text about {name}.")
    return made


def test_what_is_left_to_a_worker_waits_for_one(tmp_path: Path) -> None:
    with Library.open() as library:
        job = library.documents.add_later(write(tmp_path, "bread"))
        assert library.documents.add_later(tmp_path / "bread") == job
        assert library.status().documents == 0
        seen: list[str] = []
        told: list[Progress] = []
        (ended,) = library.jobs.work(
            idle_seconds=0, on_progress=told.append, on_end=lambda one: seen.append(one.id)
        )
        assert (ended.id, ended.state) == (job.id, JobState.DONE)
        assert seen == [job.id]
        assert [one.current for one in told] == ["bread/bread.md"]
        assert library.search.hits("bread").hits
        assert library.jobs.get(job.id).state is JobState.DONE


def test_one_job_may_be_enough(tmp_path: Path) -> None:
    with Library.open() as library:
        for name in ("bread", "cheese"):
            library.documents.add_later(write(tmp_path, name))
        assert len(library.jobs.work(once=True)) == 1
        assert [job.state for job in library.jobs.list((JobState.PENDING,))] == [JobState.PENDING]
        assert [job.lane for job in library.jobs.list(lane=str(tmp_path / "bread"))] == [
            str(tmp_path / "bread")
        ]


def test_a_job_that_fails_does_not_end_the_worker(tmp_path: Path) -> None:
    with Library.open() as library:
        gone = write(tmp_path, "gone")
        library.documents.add_later(gone)
        library.documents.add_later(write(tmp_path, "bread"))
        library._runtime.runner.jobs.enqueue("knit", {}, "wool", 1.0)
        (gone / "gone.md").unlink()
        gone.rmdir()
        first, second, third = library.jobs.work(idle_seconds=0)
        assert (first.state, second.state, third.state) == (
            JobState.FAILED,
            JobState.DONE,
            JobState.FAILED,
        )
        assert "no file or folder" in first.error
        assert "'knit'" in third.error


def test_an_interrupted_worker_gives_its_job_back(tmp_path: Path) -> None:
    folder = write(tmp_path, "bread")
    for number in range(60):
        (folder / f"{number}.md").write_text(f"Text {number}.")

    def interrupt(progress: Progress) -> None:
        raise KeyboardInterrupt

    with Library.open() as library:
        job = library.documents.add_later(folder)
        with pytest.raises(KeyboardInterrupt):
            library.jobs.work(on_progress=interrupt)
        left = library.jobs.get(job.id)
        assert (left.state, left.attempts) == (JobState.PENDING, 0)
        (ended,) = library.jobs.work(idle_seconds=0)
        assert (ended.id, ended.state) == (job.id, JobState.DONE)
        assert library.status().documents == 61


def test_only_what_has_not_ended_is_cancelled_and_only_what_has_is_tried_again(
    tmp_path: Path,
) -> None:
    with Library.open() as library:
        job = library.documents.add_later(write(tmp_path, "bread"))
        with pytest.raises(UsageError, match="has not ended"):
            library.jobs.retry(job.id)
        assert library.jobs.cancel(job.id).state is JobState.CANCELLED
        with pytest.raises(UsageError, match="has ended"):
            library.jobs.cancel(job.id)
        again: Job = library.jobs.retry(job.id)
        assert (again.kind, again.arguments, again.lane) == (job.kind, job.arguments, job.lane)
        assert again.id != job.id
        assert library.jobs.work(idle_seconds=0)[0].id == again.id
        with pytest.raises(NotFoundError):
            library.jobs.get("j99")


def test_nothing_is_left_to_a_worker_that_an_add_would_refuse(tmp_path: Path) -> None:
    with Library.open() as library:
        paths: list[Any] = [tmp_path / "nothing"]
        with pytest.raises(NotFoundError):
            library.documents.add_later(*paths)
        with pytest.raises(UsageError):
            library.documents.add_later()
        with pytest.raises(UsageError):
            library.documents.add_later(tmp_path, shelf="not a name")
        assert library.jobs.list() == ()
