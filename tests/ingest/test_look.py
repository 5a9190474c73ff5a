"""What is known of a file that was looked at before, and what a message says of what it carries."""

import pytest

from chapterhouse.ingest.look import (
    UNPACKED,
    UnpackBudget,
    status_of,
    without_text,
    worth_another_try,
)
from chapterhouse.types import FileOutcome, FileRecord, Member, Status


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


def test_no_document_and_a_bad_one_are_told_apart() -> None:
    assert status_of("unsupported-format") is Status.SKIPPED
    assert status_of("encrypted") is Status.REJECTED


def test_the_room_of_all_archives_together_is_bounded() -> None:
    member = Member("a", b"12345", 0)
    room = UnpackBudget(files=3, size=12)
    assert room.take([member])
    assert room.take([member])
    assert not room.take([member])  # 15 bytes
    assert not UnpackBudget(files=1, size=100).take([member, member])


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
