"""Files that end their reader or their process are tried three times, and no more."""

from typing import Any

import pytest

from chapterhouse.errors import RejectedError
from chapterhouse.ingest.look import ReadingContext
from chapterhouse.ingest.outcomes import blame, parked_files, release
from chapterhouse.ingest.reprocess import reprocess
from chapterhouse.types import FileInFlight, Status, Step


def in_flight(home: Any, name: str, step: Step = Step.CHUNKING, sha256: str = "00") -> FileInFlight:
    return FileInFlight(str(home.folder / name), f"docs/{name}", step, 5, 7, sha256)


def record(home: Any, name: str) -> Any:
    return home.store.file(str(home.folder / name))


def crash(data: bytes, name: str) -> Any:
    raise RejectedError("reader-crashed", "The process reading it died.")


def test_a_file_that_crashes_its_reader_is_tried_in_three_runs(home: Any) -> None:
    home.write("a.md", "One text.")
    ordinary, home.reader = home.reader, crash
    ends = []
    for _ in range(4):
        (outcome,) = home.add().outcomes
        ends.append((outcome.record.status.value, outcome.record.attempts, len(home.read_names)))
    assert ends == [
        ("failed", 1, 1),
        ("failed", 2, 1),
        ("quarantined", 3, 1),
        ("skipped", 3, 0),
    ]
    assert [one.source for one in parked_files((), home.store)] == ["docs/a.md"]
    assert home.add(retry=True).changed == 0
    home.write("a.md", "Another text.", time=1_650_000_000)
    (outcome,) = home.add().outcomes
    assert (outcome.record.status, outcome.record.attempts) == (Status.FAILED, 1)
    home.reader = ordinary
    (outcome,) = home.add().outcomes
    assert (outcome.record.status, outcome.record.attempts) == (Status.READY, 0)


def test_what_the_process_had_in_hand_is_blamed_for_its_death(home: Any) -> None:
    reading = [in_flight(home, name, Step.READING) for name in "ac"]
    assert blame([*reading, in_flight(home, "b")], home.store) == ()
    assert [one.source for one in home.store.files()] == ["docs/b"]
    assert blame([in_flight(home, "b", sha256="11")], home.store) == ()
    assert record(home, "b").attempts == 1  # other bytes count anew
    blame(reading, home.store)  # nothing was in hand: each that was read
    assert [one.attempts for one in home.store.files()] == [1, 1, 1]
    assert blame([in_flight(home, "d", Step.EMBEDDING)], home.store) == ()  # no file's fault
    assert record(home, "d") is None


def test_a_suspect_is_read_last_and_alone(home: Any) -> None:
    for name in "abcd":
        home.write(f"{name}.md", f"Text {name}.")
    blame([in_flight(home, f"{name}.md", Step.READING) for name in "ab"], home.store)
    steps: list[str] = []
    told: list[tuple[int, int]] = []
    report = home.add(
        on_step=lambda file: steps.append(f"{file.source[-4]} {file.step.value}"),
        on_progress=lambda progress: told.append((progress.done, progress.total)),
    )
    assert steps[-4:] == ["a reading", "a chunking", "b reading", "b chunking"]
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert [one.record.source for one in report.outcomes] == [f"docs/{name}.md" for name in "abcd"]
    assert all(one.record.attempts == 0 for one in report.outcomes)


@pytest.mark.parametrize("is_new", [False, True])
def test_a_document_that_was_there_stays_unless_its_file_is_another(
    home: Any, *, is_new: bool
) -> None:
    home.write("a.md", "One text.")
    home.add()
    known = record(home, "a.md")
    file = in_flight(home, "a.md", sha256="new" if is_new else known.sha256)
    assert blame([file], home.store) == ()
    assert record(home, "a.md").document_id == known.document_id
    assert record(home, "a.md").status is Status.READY
    blame([file], home.store)
    (parked,) = blame([file], home.store)
    assert parked == record(home, "a.md")
    assert parked.status is Status.QUARANTINED
    assert bool(home.sources()) is not is_new
    assert ("stays" in parked.sentence) is not is_new
    assert ("was removed" in parked.sentence) is is_new
    assert home.faults() == []


def test_released_files_are_read_again(home: Any) -> None:
    home.write("a.md", "One text.")
    ordinary, home.reader = home.reader, crash
    for _ in range(3):
        home.add()
    release(parked_files(("a.md",), home.store), home.store)
    assert parked_files((), home.store) == ()
    assert record(home, "a.md").status is Status.FAILED
    home.reader = ordinary
    assert home.add().changed == 1


def test_a_document_in_quarantine_is_not_reprocessed_and_has_its_status_again(home: Any) -> None:
    home.write("a.md", "HALF a text.")
    home.add()
    for _ in range(3):
        blame([in_flight(home, "a.md", sha256=record(home, "a.md").sha256)], home.store)
    home.read_names.clear()
    work = ReadingContext(home.store, home.read, home.prepare)
    (outcome,) = reprocess((), work).outcomes
    assert home.read_names == []
    assert [one.status for one in outcome.earlier] == [Status.QUARANTINED]
    release(parked_files((), home.store), home.store)
    assert record(home, "a.md").status is Status.PARTIAL
    assert home.faults() == []
