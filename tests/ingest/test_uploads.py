"""Files that were received: whole or not there, and each its own."""

import io
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from chapterhouse.answering.runtime import Runtime
from chapterhouse.errors import RejectedError, UsageError
from chapterhouse.ingest import uploads
from chapterhouse.library import Library
from chapterhouse.store.connections import Connections
from chapterhouse.store.jobs import JobStore
from chapterhouse.types import Job, JobState


def received(folder: Path, data: bytes, *, jobs: bool = True) -> str:
    with uploads.receive(folder, None, 100, lambda _: jobs) as upload:
        upload.write(data)
        return upload.finish()


TEXT = b"A kite needs four metres of wind in a second."


def sent(library: Library, data: bytes = TEXT, name: str = "kites.txt") -> Job:
    with library.documents.receive() as upload:
        upload.write(data)
        return library.documents.upload_later(upload.finish(), name)


def left(library: Library) -> list[str]:
    return [path.name for path in (library.folder / uploads.FOLDER).iterdir()]


def test_equal_bytes_that_are_received_twice_are_two_files_and_two_jobs(tmp_path: Path) -> None:
    first, second = received(tmp_path, b"kites"), received(tmp_path, b"kites")
    uploads.drop(tmp_path, None, first)
    assert uploads.read(tmp_path, None, second) == b"kites"
    with pytest.raises(RejectedError, match="not there any more"):
        uploads.read(tmp_path, None, first)
    with Library.open(tmp_path / "home") as library:
        for name in ("kites.txt", "dragons.txt"):
            sent(library, name=name)
        library.jobs.work(idle_seconds=0)
        jobs = library.jobs.list()
        assert [job.state for job in jobs] == ["done", "done"]
        assert all(job.result["documents"] for job in jobs)
        assert left(library) == []


@pytest.mark.parametrize(("data", "code"), [(b"", "empty"), (b"x" * 101, "too-large")])
def test_what_is_refused_leaves_nothing(tmp_path: Path, data: bytes, code: str) -> None:
    with pytest.raises(RejectedError) as refused:
        received(tmp_path, data)
    assert refused.value.code == code
    assert list((tmp_path / uploads.FOLDER).iterdir()) == []


@pytest.fixture
def looks_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "_BETWEEN_SECONDS", 0)


@pytest.mark.usefixtures("looks_each_time")
def test_what_no_job_will_read_is_deleted_after_a_day(tmp_path: Path) -> None:
    old, recent = received(tmp_path, b"kites"), received(tmp_path, b"dragons")
    os.utime(tmp_path / uploads.FOLDER / old, (0, 0))
    received(tmp_path, b"more")
    assert uploads.read(tmp_path, None, old) == b"kites"  # its job is still known
    received(tmp_path, b"more", jobs=False)
    with pytest.raises(RejectedError):
        uploads.read(tmp_path, None, old)
    assert uploads.read(tmp_path, None, recent) == b"dragons"


@pytest.mark.usefixtures("looks_each_time")
def test_a_cancelled_upload_can_be_tried_again_as_long_as_its_job_is_known(tmp_path: Path) -> None:
    with Library.open(tmp_path) as library:
        job = sent(library)
        (name,) = left(library)
        library.jobs.cancel(job.id)
        os.utime(library.folder / uploads.FOLDER / name, (0, 0))
        with library.documents.receive():
            pass
        library.jobs.retry(job.id)
        library.jobs.work(idle_seconds=0)
        (document,) = library.documents.list()
        assert (document.title, document.source.rpartition("/")[2]) == ("kites", "kites.txt")


def test_an_archive_that_is_sent_twice_is_read_once_and_fails_never(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.bin", bytes(range(256)))  # which is not read
        archive.writestr("oars.md", "# Oars\n\nOars are of ash.\n")
    with Library.open(tmp_path) as library:
        for _ in range(2):
            job = sent(library, packed.getvalue(), "boats.zip")
            library.jobs.work(idle_seconds=0)
            assert library.jobs.get(job.id).state != "failed"
        assert [document.title for document in library.documents.list()] == ["Oars"]


# --- what becomes of an upload whose worker is stopped ------------------------------------------


@contextmanager
def full_disk(library: Library) -> Iterator[None]:
    """Let the database not grow in the block."""
    connections = library._runtime.store._connections
    assert isinstance(connections, Connections)
    writer = connections._writer
    writer.pragma("max_page_count", writer.pragma("page_count"))
    try:
        yield
    finally:
        writer.pragma("max_page_count", 2**30)


def die(library: Library, monkeypatch: pytest.MonkeyPatch, place: type, name: str) -> None:
    """Let a worker die, as by kill -9, when it comes by a function."""

    def end(*_: object) -> None:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(place, name, end)
        with pytest.raises(SystemExit):
            library.jobs.work(idle_seconds=0)
    (running,) = library.jobs.list((JobState.RUNNING,))
    library._runtime.runner.jobs.expire(running)


@pytest.mark.parametrize("kind", ["upload", "add", "sync", "reprocess"])
def test_a_job_that_meets_a_full_disk_is_done_when_there_is_space(
    tmp_path: Path, kind: str
) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "old.md").write_text("# Old\n\nThe tide turns at four.")
    with Library.open(tmp_path / "home") as library:
        if kind in ("sync", "reprocess"):
            library.documents.add(papers)
        text = "The keeper of the lighthouse wrote at night. " * 8_000
        (papers / "new.md").write_text(text)
        (papers / "old.md").write_text(text + "It was.")
        match kind:
            case "upload":
                job = sent(library, text.encode())
            case "add":
                job = library.documents.add_later(papers)
            case "sync":
                job = library.sources.sync_later()
            case _:
                job = library.documents.reprocess_later(next(library.documents.list()).id)
        with full_disk(library):
            library.jobs.work(once=True)
        waiting = library.jobs.get(job.id)
        assert (waiting.state, waiting.attempts, waiting.waits) == (JobState.PENDING, 0, 1)
        assert "no space left" in waiting.error
        assert waiting.waits_until
        assert library.jobs.due() == ()
        library.jobs.work(once=True)
        ended = library.jobs.get(job.id)
        assert (ended.state, ended.error, ended.attempts) == (JobState.DONE, "", 1)
        assert not (library.folder / uploads.FOLDER).exists() or left(library) == []


@pytest.mark.parametrize("removed", [False, True])
def test_what_was_stored_when_the_worker_died_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, removed: bool
) -> None:
    with Library.open(tmp_path) as library:
        job = sent(library)
        die(library, monkeypatch, Runtime, "catch_up")
        (document,) = library.documents.list()
        if removed:
            library.documents.remove(document.id)
        library.jobs.work(idle_seconds=0)
        ended = library.jobs.get(job.id)
        state = JobState.CANCELLED if removed else JobState.DONE
        assert (ended.state, left(library)) == (state, [])
        assert len(list(library.documents.list())) == 1 - removed
        assert len(library.search.hits("kite").hits) == 1 - removed


def test_an_upload_whose_work_is_done_does_not_fail_and_names_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Library.open(tmp_path) as library:
        job = sent(library)
        (name,) = left(library)
        die(library, monkeypatch, JobStore, "finish")
        assert left(library) == []  # it is stored, and the job knows
        library.jobs.work(idle_seconds=0)
        ended = library.jobs.get(job.id)
        assert (ended.state, left(library)) == (JobState.DONE, [])
        assert dict(ended.arguments) == {"shelf": ""}
        assert name[:8] not in ended.lane
        with pytest.raises(UsageError, match="is in the library"):
            library.jobs.retry(job.id)


def test_an_upload_that_is_cancelled_when_its_worker_died_is_not_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Library.open(tmp_path) as library:
        job = sent(library)
        die(library, monkeypatch, JobStore, "stored")
        assert list(library.documents.list()) == []
        library.jobs.cancel(job.id)
        library.jobs.work(idle_seconds=0)
        assert library.jobs.get(job.id).state is JobState.CANCELLED
        assert list(library.documents.list()) == []


def test_a_refused_upload_keeps_its_bytes_for_another_try(tmp_path: Path) -> None:
    with Library.open(tmp_path) as library:
        job = sent(library, b"MZ" + bytes(range(256)), "setup.exe")
        for _ in range(2):
            library.jobs.work(idle_seconds=0)
            refused = library.jobs.get(job.id)
            assert (refused.state, len(left(library))) == (JobState.FAILED, 1)
            job = library.jobs.retry(job.id)


def test_an_upload_that_is_cancelled_while_it_is_read_is_not_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = JobStore.stored

    def late(jobs: JobStore, job: Job, result: dict[str, object]) -> bool:
        jobs.cancel(job.id, 1.0)  # as a removal does just before
        return stored(jobs, job, result)

    monkeypatch.setattr(JobStore, "stored", late)
    with Library.open(tmp_path) as library:
        job = sent(library)
        library.jobs.work(idle_seconds=0)
        assert library.jobs.get(job.id).state is JobState.CANCELLED
        assert list(library.documents.list()) == []
