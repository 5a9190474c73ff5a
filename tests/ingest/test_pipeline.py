"""Files one after another: none ends the run for the others, and all are told in order."""

import errno
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.connectors.content import Content
from chapterhouse.connectors.folder import SourceFile
from chapterhouse.errors import ChapterhouseError, EngineError, MissingExtraError
from chapterhouse.ingest.look import FileTask, ReadingContext
from chapterhouse.ingest.pipeline import Write, groups, write_group
from chapterhouse.store import writing
from chapterhouse.store.blobs import Blobs
from chapterhouse.store.sqlite import Store
from chapterhouse.types import Extraction, FileOutcome, FileRecord, Progress, Scope, Status

EVERYTHING = Scope.everything()


def write_several(home: Any, count: int) -> list[str]:
    sources = [f"docs/{number:03}.md" for number in range(count)]
    for number in range(count):
        home.write(f"{number:03}.md", f"Text number {number} of many.")
    return sources


def test_a_reader_that_is_not_installed_is_the_files_own_reason(home: Any) -> None:
    def read(data: bytes, name: str) -> Any:
        if name == "001.md":
            raise MissingExtraError("Reading it", "ocr")
        return ordinary(data, name)

    write_several(home, 3)
    ordinary, home.reader = home.reader, read
    records = [outcome.record for outcome in home.add().outcomes]
    assert [record.code for record in records] == ["", "missing-extra", ""]
    assert records[1].sentence.startswith("Reading it needs the extra 'ocr'")


@pytest.mark.parametrize("error", [EngineError("It is down."), OSError(errno.ENOSPC, "It is full")])
def test_a_model_that_fails_and_a_full_disk_end_the_run_and_say_nothing_of_a_file(
    home: Any, error: Exception
) -> None:
    def prepare(*_: Any) -> None:
        raise error

    write_several(home, 3)
    with pytest.raises(type(error), match="It is"):
        home.add(prepare=prepare)
    assert list(home.store.files()) == []


def test_a_file_for_which_there_was_no_memory_is_tried_again(home: Any) -> None:
    def prepare(*_: Any) -> None:
        raise MemoryError

    home.write("a.md", "A text.")
    for status in (Status.FAILED, Status.FAILED, Status.QUARANTINED):
        (outcome,) = home.add(prepare=prepare).outcomes
        assert (outcome.record.status, outcome.record.code) == (status, "out-of-memory")


def test_one_bad_file_never_stops_the_rest(home: Any) -> None:
    for name in ("1 ENCRYPTED", "3 PICTURE", "5 BROKEN", "6 HALF", "7 NOTED"):
        home.write(f"{name}.md", name.split()[1] + " and a few words more.")
    for name in ("0", "2", "4", "8"):
        home.write(f"{name}.md", f"Good text number {name}.")
    home.write("9 empty.md", " \n")
    os.mkfifo(home.folder / "pipe")
    (home.folder / "link").symlink_to("/etc/passwd")
    report = home.add()
    assert [(o.record.source, o.record.status.value, o.record.code) for o in report.outcomes] == [
        ("docs/0.md", "ready", ""),
        ("docs/1 ENCRYPTED.md", "rejected", "encrypted"),
        ("docs/2.md", "ready", ""),
        ("docs/3 PICTURE.md", "skipped", "unsupported-format"),
        ("docs/4.md", "ready", ""),
        ("docs/5 BROKEN.md", "rejected", "internal-error"),
        ("docs/6 HALF.md", "partial", "pages-missing"),
        ("docs/7 NOTED.md", "ready", ""),
        ("docs/8.md", "ready", ""),
        ("docs/9 empty.md", "rejected", "no-text"),
        ("docs/link", "skipped", "symbolic-link"),
        ("docs/pipe", "rejected", "not-a-file"),
    ]
    sentences = {o.record.code: o.record.sentence for o in report.outcomes}
    assert "ZeroDivisionError: a bug in a reader" in sentences["internal-error"]
    assert sentences["pages-missing"] == "Page 2 is missing."
    assert home.faults() == []
    again = home.add()
    assert again.changed == 0


@pytest.mark.parametrize("ahead", [1, 4])
def test_outcomes_are_told_in_order_and_after_their_commit(home: Any, ahead: int) -> None:
    sources, told = write_several(home, 30), list[str]()

    def on_progress(progress: Progress) -> None:
        assert progress.outcome is not None
        record = progress.outcome.record
        assert home.store.file(record.location) == record
        assert home.store.document(record.document_id, EVERYTHING) is not None
        assert (progress.done, progress.total) == (len(told) + 1, 30)
        told.append(progress.current)

    report = home.add(on_progress=on_progress, ahead=ahead)
    assert told == sources == [o.record.source for o in report.outcomes]
    assert all(outcome.seconds >= 0 for outcome in report.outcomes)


def test_reading_runs_ahead_but_not_too_far(home: Any) -> None:
    for number in range(12):
        home.write(f"{number:02}.md", f"Text number {number} of many.")
    together = threading.Barrier(3, timeout=20)
    reader, most = home.reader, 0
    started: list[Future[Extraction]] = []

    def read_together(data: bytes, name: str) -> Extraction:
        together.wait()
        extraction: Extraction = reader(data, name)
        return extraction

    with ThreadPoolExecutor(6) as executor:

        def read(data: bytes, name: str) -> Future[Extraction]:
            nonlocal most
            home.read_names.append(name)
            started.append(executor.submit(read_together, data, name))
            most = max(most, sum(not future.done() for future in started))
            return started[-1]

        report = home.add(read=read, ahead=3)
    assert report.count(Status.READY) == 12  # or the barrier would have broken
    assert most == 3


def test_no_more_waits_behind_a_slow_file_than_fits(
    home: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chapterhouse.ingest.pipeline._BYTES_WAITING", 50)
    monkeypatch.setattr("chapterhouse.ingest.pipeline._ALONE", 0)
    for number in range(9):
        home.write(f"{number}.md", f"Text number {number} of many.")
    most = 0

    def read(data: bytes, name: str) -> Future[Extraction]:
        nonlocal most
        most = max(most, len(home.read_names) + 1 - home.store.sequence())
        future: Future[Extraction] = home.read(data, name)
        return future

    assert home.add(read=read, ahead=8).count(Status.READY) == 9
    assert most <= 3  # two of 22 bytes fit; a third is opened before the first is settled


def test_a_stop_ends_the_run_and_the_next_one_resumes(home: Any) -> None:
    sources, stop = write_several(home, 120), threading.Event()

    def on_progress(progress: Progress) -> None:
        if progress.done == 5:
            stop.set()

    report = home.add(stop=stop, on_progress=on_progress)
    assert report.interrupted
    assert 5 <= len(report.outcomes) == len(home.sources()) < 120
    again = home.add()
    assert not again.interrupted
    assert again.changed == 120 - len(report.outcomes)
    assert home.sources() == sources
    assert home.faults() == []


def test_an_interrupt_anywhere_keeps_what_was_told(
    home: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(10):
        home.write(f"{number}.md", f"Text number {number} of many.")
    calls = 0
    original = writing.write_file

    def interrupted(*arguments: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise KeyboardInterrupt
        original(*arguments)

    monkeypatch.setattr(writing, "write_file", interrupted)
    report = home.add()
    assert report.interrupted
    assert [o.record.source for o in report.outcomes] == home.sources()
    assert home.add().changed == 10 - len(report.outcomes)
    assert len(home.sources()) == 10
    assert home.faults() == []


def test_one_file_that_cannot_be_written_does_not_cost_those_before_it(
    home: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources, original = write_several(home, 6), writing.write_file

    def failing(connection: Any, record: FileRecord, *arguments: Any) -> None:
        if record.source == sources[4]:
            raise ChapterhouseError("no space left")
        original(connection, record, *arguments)

    monkeypatch.setattr(writing, "write_file", failing)
    with pytest.raises(ChapterhouseError, match="no space left"):
        home.add()
    assert home.sources() == sources[:4]


def test_no_more_texts_wait_behind_a_slow_file_than_fit(
    home: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chapterhouse.ingest.pipeline._READ_WAITING", 5)
    write_several(home, 20)
    go_on, opened = threading.Event(), list[str]()
    ordinary = home.reader

    def read(data: bytes, name: str) -> Any:
        if name == "000.md":
            assert go_on.wait(30)
        opened.append(name)
        if len(opened) == 4:
            go_on.set()
        assert len(opened) > 4 or name < "005.md"
        return ordinary(data, name)

    home.reader = read
    assert home.add(ahead=2).count(Status.READY) == 20


def test_a_stop_does_not_wait_for_a_file_that_takes_long(home: Any) -> None:
    write_several(home, 3)
    stop, ended = threading.Event(), threading.Event()
    ordinary = home.reader

    def read(data: bytes, name: str) -> Any:
        if name == "001.md":
            stop.set()
            assert ended.wait(30)
        return ordinary(data, name)

    home.reader = read
    report = home.add(stop=stop)
    ended.set()
    assert report.interrupted
    assert home.sources() == [o.record.source for o in report.outcomes]
    assert "docs/001.md" not in home.sources()


def test_what_is_done_with_a_file_is_told(home: Any) -> None:
    home.write("a.md", "A text.")
    home.write("b.md", "ENCRYPTED text.")
    told: list[str] = []
    home.add(
        on_step=lambda file: told.append(f"{file.step} {file.source}"),
        on_end=lambda location: told.append(f"end {location.rpartition('/')[2]}"),
    )
    assert sorted(told) == [
        "chunking docs/a.md", "end a.md", "end b.md", "reading docs/a.md", "reading docs/b.md",
    ]  # fmt: skip


LARGE = 64 * 2**10 + 1


def write(name: str, size: int = 1, apply: Callable[[], object] = lambda: None) -> Write:
    """Return a write of a file that does as ``apply`` says."""
    record = FileRecord(f"/{name}", name, size, 1, "ab" * 32, Status.SKIPPED)
    file = SourceFile(Path("/"), (name,), f"/{name}", name)
    content = Content(b"x" * size, record.sha256, size, 1, 1)

    def outcome() -> FileOutcome:
        apply()
        return FileOutcome(record, changed=True)

    return Write(FileTask(file, None, content), outcome)


def sizes(group_sizes: list[int | None]) -> list[list[int]]:
    """Return the sizes in each group; None is where the next file will be waited for."""
    writes = (None if size is None else write("a", size) for size in group_sizes)
    return [[one.look.size for one in group] for group in groups(writes)]


@given(st.lists(st.none() | st.sampled_from([1, LARGE - 1, LARGE]), max_size=120))
def test_no_file_is_lost_nor_moved(group_sizes: list[int | None]) -> None:
    found = sizes(group_sizes)
    assert [size for group in found for size in group] == [s for s in group_sizes if s is not None]
    assert all(0 < len(group) <= 50 for group in found)
    assert all(len(group) == 1 for group in found if LARGE in group)


def test_a_large_file_is_written_alone_and_nothing_waits_behind_a_slow_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("chapterhouse.ingest.pipeline.time.monotonic", lambda: 0.0)
    assert sizes([1, 1, LARGE, 1]) == [[1, 1], [LARGE], [1]]
    assert sizes([1, None, 1, 1]) == [[1], [1, 1]]
    assert [len(group) for group in sizes([1] * 120)] == [50, 50, 20]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, CancelledError])
def test_what_is_ready_when_all_is_stopped_is_kept(stop: type[BaseException]) -> None:
    def writes() -> Iterator[Write]:
        yield write("a")
        raise stop

    kept: list[str] = []
    with pytest.raises(stop):
        kept.extend(one.look.file.source for group in groups(writes()) for one in group)
    assert kept == ["a"]


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[tuple[Store, Store]]:
    """A library as it is written, and as another program sees it."""
    path, blobs = tmp_path / "library.db", Blobs(tmp_path / "blobs")
    with Store(path, blobs=blobs) as store, Store(path, blobs=blobs) as other:
        yield store, other


def recording(store: Store, name: str) -> Write:
    made = write(name)
    return write(name, apply=lambda: store.record_file(made.apply().record))


def test_where_one_cannot_be_written_those_before_it_are(
    stores: tuple[Store, Store],
) -> None:
    store, other = stores

    def refuse() -> None:
        raise ChapterhouseError("no space left")

    told: list[str] = []
    nothing: Any = None
    work = ReadingContext(store, nothing, nothing)
    group = [recording(store, "a"), write("b", apply=refuse), recording(store, "c")]
    with pytest.raises(ChapterhouseError, match="no space left"):
        told.extend(look.file.source for look, _ in write_group(group, work))
    assert told == ["a"]
    assert [record.source for record in other.files()] == ["a"]


@pytest.mark.parametrize("names", ["a", "abc"])
def test_another_program_sees_what_was_written_before_it_is_reported(
    stores: tuple[Store, Store], names: str
) -> None:
    store, other = stores
    nothing: Any = None
    work = ReadingContext(store, nothing, nothing)
    group = [recording(store, name) for name in names]
    seen = [[record.source for record in other.files()] for _ in write_group(group, work)]
    assert seen == [list(names)] * len(names)
