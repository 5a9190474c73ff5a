"""Each kind of long work is a job, in the foreground too."""

from pathlib import Path
from threading import Event

import pytest

from chapterhouse import Library
from chapterhouse.errors import NotFoundError
from chapterhouse.facets.long_work import adding, embedding, kinds, reprocessing, syncing
from chapterhouse.ingest.mirror import Options
from chapterhouse.types import Job, JobState, Progress


def ended(library: Library) -> list[tuple[str, str, str]]:
    return [(job.kind, job.state.value, job.lane) for job in library.jobs.list()]


def test_an_add_is_a_job_of_its_folder(library: Library, folder: Path) -> None:
    (job,) = library.jobs.list()
    assert (job.kind, job.state, job.lane) == ("add", JobState.DONE, str(folder))
    assert job.arguments == {"paths": [str(folder)], "shelf": ""}
    assert (job.done, job.total, job.result["changed"]) == (3, 3, 3)


def test_an_add_that_was_stopped_is_a_cancelled_job(library: Library, folder: Path) -> None:
    for number in range(60):
        (folder / f"new {number}.md").write_text(f"New text number {number}.")

    def interrupt(progress: Progress) -> None:
        raise KeyboardInterrupt

    report = library.documents.add(folder, on_progress=interrupt)
    assert report.interrupted
    assert library.jobs.list()[0].state is JobState.CANCELLED
    assert library.documents.add(folder).changed > 0


def test_a_cancelled_job_ends_the_add(library: Library, folder: Path) -> None:
    for number in range(60):
        (folder / f"new {number}.md").write_text(f"New text number {number}.")

    def cancel(progress: Progress) -> None:
        library.jobs.cancel(library.jobs.list()[0].id)
        for _ in range(200):
            if not pause.wait(0.05) and library.jobs.list()[0].cancelling:
                break

    pause = Event()
    report = library.documents.add(folder, on_progress=cancel)
    assert report.interrupted
    assert library.jobs.list()[0].state is JobState.CANCELLED


def test_to_read_documents_again_is_a_job(library: Library) -> None:
    name = next(library.documents.list()).id
    library.documents.reprocess(name)
    assert ended(library)[0] == ("reprocess", "done", "documents")
    assert library.jobs.list()[0].arguments == {"documents": [name]}


def test_to_make_vectors_is_a_job(library: Library) -> None:
    library.encoders.embed_pending()
    assert ended(library)[0] == ("embed", "done", "vectors")


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
