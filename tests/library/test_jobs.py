from pathlib import Path
from threading import Event
from typing import Any

import pytest

from chapterhouse import Library
from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.ingest.mirror import Options
from chapterhouse.library.long_work import adding, embedding, kinds, reprocessing, syncing
from chapterhouse.types import EncoderStatus, Job, JobState, Progress


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
            once=True, on_progress=told.append, on_end=lambda one: seen.append(one.id)
        )
        assert (ended.id, ended.state) == (job.id, JobState.DONE)
        assert seen == [job.id]
        assert [one.current for one in told] == ["bread/bread.md"]
        assert library.search.hits("bread").hits
        assert library.jobs.get(job.id).state is JobState.DONE


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
    def interrupt(progress: Progress) -> None:
        raise KeyboardInterrupt

    with Library.open() as library:
        job = library.documents.add_later(write(tmp_path, "bread"))
        with pytest.raises(KeyboardInterrupt):
            library.jobs.work(on_progress=interrupt)
        left = library.jobs.get(job.id)
        assert (left.state, left.attempts) == (JobState.PENDING, 0)
        (ended,) = library.jobs.work(idle_seconds=0)
        assert (ended.id, ended.state) == (job.id, JobState.DONE)
        assert library.status().documents == 1


def test_what_has_not_ended_is_cancelled_and_what_has_is_tried_again(tmp_path: Path) -> None:
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


def test_an_add_is_a_job_of_its_folder(library: Library, folder: Path) -> None:
    (job,) = library.jobs.list()
    assert (job.kind, job.state, job.lane) == ("add", JobState.DONE, str(folder))
    assert job.arguments == {"paths": [str(folder)], "shelf": ""}
    assert (job.done, job.total, job.result["changed"]) == (3, 3, 3)


def test_an_add_that_is_stopped_or_cancelled_ends(library: Library, folder: Path) -> None:
    for number in range(60):
        (folder / f"new {number}.md").write_text(f"New text number {number}.")

    def interrupt(progress: Progress) -> None:
        raise KeyboardInterrupt

    def cancel(progress: Progress) -> None:
        library.jobs.cancel(library.jobs.list()[0].id)
        for _ in range(200):
            if not pause.wait(0.05) and library.jobs.list()[0].cancelling:
                break

    pause = Event()
    for stop in (interrupt, cancel):
        assert library.documents.add(folder, on_progress=stop).interrupted
        assert library.jobs.list()[0].state is JobState.CANCELLED
    assert library.documents.add(folder).changed > 0


def test_to_read_documents_again_and_to_make_vectors_are_jobs(library: Library) -> None:
    name = next(library.documents.list()).id
    library.documents.reprocess(name)
    library.encoders.embed_pending()
    embed, again, _ = library.jobs.list()
    assert (again.kind, again.state, again.lane) == ("reprocess", JobState.DONE, "documents")
    assert again.arguments == {"documents": [name]}
    assert (embed.kind, embed.state, embed.lane) == ("embed", JobState.DONE, "vectors")


def test_how_many_vectors_there_are_to_make_is_known_from_the_start(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoders = library._runtime.encoders
    building = EncoderStatus("building", "tiny", "x", 3, 9)
    statuses = (EncoderStatus("active", "old", "y", 9, 9), building)
    monkeypatch.setattr(encoders, "statuses", lambda: statuses)
    monkeypatch.setattr(encoders, "embed", lambda *_: 0)  # which stops before its first document
    library.encoders.embed_pending()
    (job, *_) = library.jobs.list()
    assert (job.kind, job.done, job.total) == ("embed", 3, 9)


def test_orders_of_the_same_are_equal(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b.md").touch()
    first = adding([tmp_path / "a", tmp_path / "b.md"], "library")
    second = adding([tmp_path / "b.md", tmp_path / "a", tmp_path / "a"], "library")
    assert first.arguments == second.arguments
    assert first.lane == str(tmp_path / "a")
    assert reprocessing(["b", "a"]) == reprocessing(["a", "b", "a"])
    syncs = syncing(["a"], Options())
    known = {first.kind, embedding().kind, reprocessing([]).kind, syncs.kind, "upload"}
    assert known == kinds()
    with pytest.raises(NotFoundError):
        adding([tmp_path / "nothing"], "library")


def test_a_path_of_stray_bytes_is_found_again(library: Library, tmp_path: Path) -> None:
    path = tmp_path / "n\udcff.md"
    try:
        path.write_text("A text.")
    except OSError:
        pytest.skip("this file system takes only text as names")
    assert library.documents.add(path).changed == 1
    job: Job = library.jobs.list()[0]
    assert job.lane == str(tmp_path / "n\\xff.md")
