"""How a file ended: what is stored, what stays, and what goes with it."""

import hashlib
import os
from typing import Any

import pytest

from chapterhouse.connectors.content import Content
from chapterhouse.connectors.folder import SourceFile
from chapterhouse.errors import RejectedError
from chapterhouse.ingest.look import (
    UNPACKED,
    FileTask,
    ReadingContext,
    UnpackBudget,
    status_of,
    without_text,
    worth_another_try,
)
from chapterhouse.ingest.outcomes import record_of, reject
from chapterhouse.types import FileOutcome, FileRecord, Member, Scope, Status

EVERYTHING = Scope.everything()

PROSE = "# Badges\n\nA badge is valid for a year. It is blue and has a picture of its owner.\n"


def look_at(home: Any, name: str, data: bytes | None) -> FileTask:
    """A file that was found, and opened unless there are no bytes."""
    location = str(home.folder / name)
    file = SourceFile(home.folder, (name,), location, f"docs/{name}", size=7, mtime_ns=70)
    content = data and Content(data, hashlib.sha256(data).hexdigest(), len(data), 90, 1)
    return FileTask(file, home.store.file(location), content or None)


def test_the_stamp_is_that_of_the_bytes_and_before_they_are_read_that_of_the_folder(
    home: Any,
) -> None:
    unopened = record_of(look_at(home, "a.md", None), Status.REJECTED, ("vanished", "Gone."))
    assert (unopened.size, unopened.mtime_ns, unopened.sha256) == (7, 70, "")
    opened = record_of(look_at(home, "a.md", b"four"), Status.READY, ("", ""), "a-1", "md")
    assert (opened.size, opened.mtime_ns, len(opened.sha256)) == (4, 90, 64)


@pytest.mark.parametrize(
    ("code", "text", "stays"),
    [
        ("encrypted", "Other bytes.", False),
        ("encrypted", PROSE, True),  # they gave the document once
        ("cannot-open", "Other bytes.", True),  # says nothing of the bytes
    ],
)
def test_a_rejected_file_loses_its_document_only_for_other_bytes(
    home: Any, code: str, text: str, *, stays: bool
) -> None:
    home.write("a.md", PROSE)
    home.add()
    error = RejectedError(code, "It is so.", hint="Do this.")
    work = ReadingContext(home.store, home.read, home.prepare)
    outcome = reject(look_at(home, "a.md", text.encode()), error, work)
    assert outcome.changed is not stays
    assert outcome.record.sentence.startswith("It is so. Do this. What was read earlier ")
    assert home.sources() == ["docs/a.md"] * stays
    assert home.faults() == []


def test_of_a_file_that_vanished_nothing_is_remembered(home: Any) -> None:
    work = ReadingContext(home.store, home.read, home.prepare)
    reject(look_at(home, "a.md", None), RejectedError("vanished", "Gone."), work)
    reject(look_at(home, "b.md", None), RejectedError("cannot-open", "Shut."), work)
    assert [record.source for record in home.store.files()] == ["docs/b.md"]


def test_a_touched_file_is_hashed_but_not_read(home: Any) -> None:
    path = home.write("a.md", PROSE)
    home.add()
    os.utime(path, (1_700_000_000, 1_700_000_000))
    (outcome,) = home.add().outcomes
    assert (outcome.record.code, outcome.changed) == ("unchanged", False)
    assert home.read_names == []
    assert home.store.file(str(path)).mtime_ns == 1_700_000_000 * 10**9
    assert home.store.sequence() == 1


def test_a_file_that_turns_bad_takes_its_document_with_it(home: Any) -> None:
    assert status_of("unsupported-format") is Status.SKIPPED
    path = home.write("a.md", PROSE)
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
    path.unlink()
    os.mkfifo(path)
    (outcome,) = home.add().outcomes
    assert (outcome.record.code, outcome.changed) == ("not-a-file", True)
    assert home.sources() == home.faults() == []


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


def record(code: str = "", document_id: str = "", status: Status = Status.REJECTED) -> FileRecord:
    return FileRecord("/m/a", "m/a", 1, 1, "ab", status, code, document_id=document_id)


@pytest.mark.parametrize(
    ("known", "worth"),
    [
        (record("encrypted"), False),
        (record("cannot-open"), True),
        (record("missing-extra"), True),
        (record("", status=Status.READY), True),  # its document was removed
        (record("cannot-open", "a-1"), False),
    ],
)
def test_only_what_may_pass_is_tried_again(known: FileRecord, *, worth: bool) -> None:
    assert worth_another_try(known) is worth
    assert worth_another_try(known, retry=True) is (worth or not known.document_id)


def test_a_message_names_what_gave_no_text_and_nothing_else() -> None:
    outcomes = [
        FileOutcome(record("encrypted"), changed=True),
        FileOutcome(record("", "a-1", Status.READY), changed=True),
        FileOutcome(record(UNPACKED, status=Status.SKIPPED), changed=True),
    ]
    (notice,) = without_text("m", outcomes)
    assert notice.code == "attachments-rejected"
    assert notice.sentence == "1 file in it gave no text: a."
    assert list(without_text("m", outcomes[1:])) == []


def test_the_room_of_all_archives_together_is_bounded() -> None:
    member, room = Member("a", b"12345", 0), UnpackBudget(files=3, size=12)
    assert [room.take([member]) for _ in range(3)] == [True, True, False]  # 15 bytes
    assert not UnpackBudget(files=1, size=100).take([member, member])
