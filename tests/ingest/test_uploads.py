"""Files that were received: whole or not there, and each its own."""

from pathlib import Path

import pytest

from chapterhouse.errors import NotFoundError, RejectedError
from chapterhouse.ingest import uploads
from chapterhouse.library import Library


def received(folder: Path, data: bytes) -> str:
    with uploads.receive(folder, 100) as upload:
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
