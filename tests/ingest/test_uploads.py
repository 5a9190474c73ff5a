"""Files that were received: whole or not there, and each its own."""

import io
import os
import zipfile
from pathlib import Path

import pytest

from chapterhouse.errors import NotFoundError, RejectedError
from chapterhouse.ingest import uploads
from chapterhouse.library import Library


def received(folder: Path, data: bytes, *, jobs: bool = True) -> str:
    with uploads.receive(folder, 100, lambda _: jobs) as upload:
        upload.write(data)
        return upload.finish()


def test_equal_bytes_that_are_received_twice_are_dropped_one_by_one(tmp_path: Path) -> None:
    first, second = received(tmp_path, b"kites"), received(tmp_path, b"kites")
    uploads.drop(tmp_path, first)
    assert uploads.read(tmp_path, second) == b"kites"
    with pytest.raises(NotFoundError, match="not there any more"):
        uploads.read(tmp_path, first)


@pytest.mark.parametrize(("data", "code"), [(b"", "empty"), (b"x" * 101, "too-large")])
def test_what_is_refused_leaves_nothing(tmp_path: Path, data: bytes, code: str) -> None:
    with pytest.raises(RejectedError) as refused:
        received(tmp_path, data)
    assert refused.value.code == code
    assert list((tmp_path / uploads.FOLDER).iterdir()) == []


def test_a_file_under_two_names_is_read_by_two_jobs(tmp_path: Path) -> None:
    with Library.open(tmp_path) as library:
        for name in ("kites.txt", "dragons.txt"):
            with library.documents.receive() as upload:
                upload.write(b"A kite needs four metres of wind in a second.\n")
                library.documents.upload_later(upload.finish(), name)
        library.jobs.work(idle_seconds=0)
        jobs = library.jobs.list()
        assert [job.state for job in jobs] == ["done", "done"]
        assert all(job.result["documents"] for job in jobs)
        assert list((tmp_path / "workspaces" / "default" / uploads.FOLDER).iterdir()) == []


@pytest.fixture
def looks_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "_BETWEEN_SECONDS", 0)


@pytest.mark.usefixtures("looks_each_time")
def test_what_no_job_will_read_is_deleted_after_a_day(tmp_path: Path) -> None:
    old, recent = received(tmp_path, b"kites"), received(tmp_path, b"dragons")
    os.utime(tmp_path / uploads.FOLDER / old, (0, 0))
    received(tmp_path, b"more")
    assert uploads.read(tmp_path, old) == b"kites"  # its job is still known
    received(tmp_path, b"more", jobs=False)
    with pytest.raises(NotFoundError):
        uploads.read(tmp_path, old)
    assert uploads.read(tmp_path, recent) == b"dragons"


def test_a_folder_is_listed_once_a_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed: list[Path] = []
    monkeypatch.setattr(uploads, "drop_abandoned", lambda folder, _: listed.append(folder))
    for _ in range(3):
        received(tmp_path, b"kites")
    assert listed == [tmp_path]


@pytest.mark.usefixtures("looks_each_time")
def test_a_cancelled_upload_can_be_tried_again_as_long_as_its_job_is_known(tmp_path: Path) -> None:
    with Library.open(tmp_path) as library:
        with library.documents.receive() as upload:
            upload.write(b"A kite needs four metres of wind in a second.\n")
            name = upload.finish()
            job = library.documents.upload_later(name, "kites.txt")
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
        archive.writestr("oars.md", "# Oars\n\nOars are of ash.\n")
    with Library.open(tmp_path) as library:
        for _ in range(2):
            with library.documents.receive() as upload:
                upload.write(packed.getvalue())
                job = library.documents.upload_later(upload.finish(), "boats.zip")
            library.jobs.work(idle_seconds=0)
            assert library.jobs.get(job.id).state == "done"
        assert [document.title for document in library.documents.list()] == ["Oars"]
