import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from chapterhouse.errors import ChapterhouseError, NotFoundError, RejectedError
from chapterhouse.store import writing
from chapterhouse.store.sqlite import INLINE_MAXIMUM
from chapterhouse.types import Extraction, FileRecord, Progress, Scope, Status

EVERYTHING = Scope.everything()

PROSE = "# Badges\n\nA badge is valid for a year. It is blue and has a picture of its owner.\n"


def test_a_folder_becomes_a_library(home: Any) -> None:
    home.write("b/two.md", "# Two\n\nSecond text, in another folder than the first one.\n")
    home.write("a.md", PROSE)
    report = home.add()
    assert [o.record.source for o in report.outcomes] == ["docs/a.md", "docs/b/two.md"]
    assert [o.record.status for o in report.outcomes] == [Status.READY, Status.READY]
    assert report.changed == 2
    assert not report.interrupted
    assert home.sources() == ["docs/a.md", "docs/b/two.md"]
    first = home.store.document(report.outcomes[0].record.document_id, EVERYTHING)
    assert first.id.startswith("a-")
    assert first.title == "Badges"
    assert first.language == "en"
    assert first.metadata == {"author": "Ada Lovelace"}
    assert first.shelves == ("library",)
    assert home.store.body(first.id, EVERYTHING).text == PROSE.rstrip("\n")
    assert len(home.store.vectors_of(first.id, "hash:8")[0]) == first.chunks > 0
    assert home.faults() == []


def test_a_second_add_opens_and_writes_nothing(home: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    home.write("a.md", PROSE)
    home.write("bad.md", "ENCRYPTED")
    home.add()
    sequence, changes = home.store.sequence(), home.store._connections._writer.total_changes()
    monkeypatch.setattr("chapterhouse.ingest.ingest.open_source", None)
    report = home.add()
    assert [o.record.code for o in report.outcomes] == ["unchanged", "unchanged"]
    assert report.outcomes[1].record.sentence == "bad.md needs a password. Remove it."
    assert report.count(Status.SKIPPED) == 2
    assert report.changed == 0
    assert home.store.sequence() == sequence
    assert home.store._connections._writer.total_changes() == changes
    assert home.store.file(str(home.folder / "bad.md")).code == "encrypted"


def test_a_touched_file_is_hashed_but_not_read(home: Any) -> None:
    path = home.write("a.md", PROSE)
    home.add()
    os.utime(path, (1_700_000_000, 1_700_000_000))
    (outcome,) = home.add().outcomes
    assert (outcome.record.code, outcome.changed) == ("unchanged", False)
    assert home.read_names == []
    assert home.store.file(str(path)).mtime_ns == 1_700_000_000 * 10**9
    assert home.store.sequence() == 1


def test_a_changed_file_replaces_its_document(home: Any) -> None:
    home.write("a.md", PROSE)
    (before,) = home.add().outcomes
    home.write("a.md", PROSE.replace("blue", "green"), time=1_700_000_000)
    (after,) = home.add().outcomes
    assert after.changed
    assert after.record.document_id == before.record.document_id
    assert "green" in home.store.body(after.record.document_id, EVERYTHING).text
    assert home.store.sequence() == 2
    assert home.faults() == []


def test_a_change_of_this_moment_is_not_missed(home: Any) -> None:
    path = home.write("a.md", "One text of words.")
    os.utime(path)
    home.add()
    stamp = path.stat()
    path.write_text("Two text of words.")
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    (outcome,) = home.add().outcomes
    assert outcome.changed
    assert home.store.body(outcome.record.document_id, EVERYTHING).text == "Two text of words."


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


def test_a_file_that_turns_bad_takes_its_document_with_it(home: Any) -> None:
    home.write("a.md", PROSE)
    home.add()
    home.write("a.md", "ENCRYPTED now", time=1_700_000_000)
    (outcome,) = home.add().outcomes
    assert outcome.changed
    assert outcome.record.status is Status.REJECTED
    assert outcome.record.sentence.endswith("was removed from the library.")
    assert home.sources() == []
    assert home.store.changes(0, 9)[0].document is None
    home.write("a.md", PROSE, time=1_700_000_001)
    assert home.add().count(Status.READY) == 1
    assert home.faults() == []


def test_a_file_that_cannot_be_opened_now_keeps_its_document(
    home: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.write("a.md", PROSE)
    home.add()
    home.write("a.md", PROSE + "More.", time=1_700_000_000)

    def refuse(*_: Any, **__: Any) -> None:
        raise RejectedError("cannot-open", "docs/a.md cannot be read: Permission denied.")

    with monkeypatch.context() as closed:
        closed.setattr("chapterhouse.ingest.ingest.open_source", refuse)
        (outcome,) = home.add().outcomes
    assert (outcome.record.code, outcome.changed) == ("cannot-open", False)
    assert outcome.record.sentence.endswith("What was read earlier stays in the library.")
    assert home.sources() == ["docs/a.md"]
    assert home.add().outcomes[0].changed


def test_a_file_that_became_a_pipe_takes_its_document_with_it(home: Any) -> None:
    path = home.write("a.md", PROSE)
    home.add()
    path.unlink()
    os.mkfifo(path)
    (outcome,) = home.add().outcomes
    assert (outcome.record.code, outcome.changed) == ("not-a-file", True)
    assert home.sources() == []


def test_a_file_too_large_for_now_is_read_under_another_limit(home: Any) -> None:
    home.write("a.md", PROSE)
    assert home.add(maximum_bytes=10).outcomes[0].record.code == "too-large"
    assert home.add().outcomes[0].record.code == "unchanged"
    assert home.add(retry=True).outcomes[0].record.status is Status.READY


def test_files_that_are_gone_are_told_and_stay(home: Any) -> None:
    gone, rejected = home.write("gone.md", PROSE), home.write("bad.md", "ENCRYPTED")
    home.write("here.md", PROSE)
    home.add()
    gone.unlink()
    rejected.unlink()
    report = home.add()
    assert report.missing == ("docs/gone.md",)
    assert home.sources() == ["docs/gone.md", "docs/here.md"]
    assert home.store.file(str(rejected)) is None


def test_another_shelf_is_added_without_reading(home: Any) -> None:
    home.write("a.md", PROSE)
    home.add()
    (outcome,) = home.add(shelf="badges").outcomes
    assert outcome.changed
    assert home.read_names == []
    document = home.store.document(outcome.record.document_id, EVERYTHING)
    assert document.shelves == ("badges", "library")
    home.write("a.md", PROSE + "More.\n", time=1_700_000_000)
    home.add(shelf="third")
    assert home.store.document(document.id, EVERYTHING).shelves == ("badges", "library", "third")


def test_sources_name_the_folder_that_was_added(home: Any) -> None:
    home.write("sub/deep/a.md", PROSE)
    home.write("sub/b.md", PROSE)
    home.write("c.md", PROSE)
    other = home.folder.parent / "other" / "sub"
    other.mkdir(parents=True)
    (other / "b.md").write_text(PROSE)
    assert home.add(home.folder / "sub").outcomes[0].record.source == "sub/b.md"
    # A file below keeps its name, whichever way it is reached.
    assert [o.record.source for o in home.add().outcomes] == [
        "docs/c.md", "sub/b.md", "sub/deep/a.md",
    ]  # fmt: skip
    (outcome,) = home.add(home.folder / "sub" / "deep").outcomes
    assert outcome.record.source == "sub/deep/a.md"
    (outcome,) = home.add(other / "b.md").outcomes
    assert outcome.record.source == "sub-2/b.md"
    assert len({document.id for document in home.store.documents(EVERYTHING)}) == 4
    assert dict(home.store.roots()) == {
        "sub": str(home.folder / "sub"), "docs": str(home.folder), "sub-2": str(other),
    }  # fmt: skip


def test_the_same_folder_named_twice_is_added_once(home: Any) -> None:
    path = home.write("a.md", PROSE)
    report = home.add(home.folder, path, home.folder / ".." / "docs")
    assert len(report.outcomes) == 1


def test_a_path_that_is_not_there_stops_before_anything(home: Any) -> None:
    home.write("a.md", PROSE)
    with pytest.raises(NotFoundError):
        home.add(home.folder, home.folder / "nothing")
    assert home.sources() == []
    assert home.store.roots() == ()


def test_large_files_are_kept_as_blobs(home: Any) -> None:
    text = PROSE + "Words and more words. " * (INLINE_MAXIMUM // 20)
    home.write("large.md", text)
    (outcome,) = home.add().outcomes
    assert list(home.blobs.hashes()) == [outcome.record.sha256]
    assert home.store.content(outcome.record.sha256, EVERYTHING) == text.encode()
    assert home.faults() == []


def test_outcomes_are_told_in_order_and_after_their_commit(home: Any) -> None:
    for number in range(30):
        home.write(f"{number:02}.md", f"Text number {number} of many.")
    told: list[str] = []

    def on_progress(progress: Progress) -> None:
        assert progress.outcome is not None
        record = progress.outcome.record
        assert home.store.file(record.location) == record
        assert home.store.document(record.document_id, EVERYTHING) is not None
        assert (progress.done, progress.total) == (len(told) + 1, 30)
        told.append(progress.current)

    report = home.add(on_progress=on_progress)
    assert told == sorted(told) == [o.record.source for o in report.outcomes]
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
    monkeypatch.setattr("chapterhouse.ingest.groups._ALONE", 0)
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
    for number in range(120):
        home.write(f"{number:03}.md", f"Text number {number} of many.")
    stop = threading.Event()

    def on_progress(progress: Progress) -> None:
        if progress.done == 5:
            stop.set()

    report = home.add(stop=stop, on_progress=on_progress)
    assert report.interrupted
    assert 5 <= len(report.outcomes) == len(home.sources()) < 120
    again = home.add()
    assert not again.interrupted
    assert again.changed == 120 - len(report.outcomes)
    assert len(home.sources()) == 120
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
    for number in range(6):
        home.write(f"{number}.md", f"Text number {number} of many.")
    original = writing.write_file

    def failing(connection: Any, record: FileRecord, *arguments: Any) -> None:
        if record.source == "docs/4.md":
            raise ChapterhouseError("no space left")
        original(connection, record, *arguments)

    monkeypatch.setattr(writing, "write_file", failing)
    with pytest.raises(ChapterhouseError, match="no space left"):
        home.add()
    assert home.sources() == [f"docs/{number}.md" for number in range(4)]


def test_a_full_disk_is_said_and_what_was_told_is_safe(home: Any) -> None:
    for number in range(6):
        home.write(f"{number}.md", f"Text number {number}. " * 400)
    told: list[str] = []
    writer = home.store._connections._writer
    home.add(home.folder / "0.md")
    writer.pragma("max_page_count", writer.pragma("page_count") + 20)
    with pytest.raises(ChapterhouseError, match="no space left"):
        home.add(on_progress=lambda progress: told.append(progress.current))
    assert told
    assert home.sources() == sorted({"docs/0.md", *told})
    writer.pragma("max_page_count", 1_000_000)
    home.add()
    assert len(home.sources()) == 6
    assert home.faults() == []


def test_order_and_workers_do_not_change_the_library(home: Any, tmp_path: Path) -> None:
    for number in range(15):
        home.write(f"{number:02}.md", f"# T{number}\n\nText number {number} of many.")
    home.add(ahead=1)
    one = {d.id: d for d in home.store.documents(EVERYTHING)}
    for document in one.values():
        home.store.remove(document.id)
    home.add(home.folder / "07.md", ahead=4)
    home.add(ahead=4)
    assert {d.id: d for d in home.store.documents(EVERYTHING)} == one


def test_names_that_are_no_text_are_added_and_found_again(home: Any) -> None:
    name = os.path.join(os.fsencode(home.folder), b"caf\xe9.md")  # noqa: PTH118 - bytes
    try:
        descriptor = os.open(name, os.O_CREAT | os.O_WRONLY)
    except OSError:
        pytest.skip("the file system takes only UTF-8")
    os.write(descriptor, PROSE.encode())
    os.close(descriptor)
    os.utime(name, (1, 1))
    (outcome,) = home.add().outcomes
    assert outcome.record.source == "docs/caf\\xe9.md"
    assert outcome.record.status is Status.READY
    report = home.add()
    assert report.outcomes[0].record.code == "unchanged"
    assert report.missing == ()
