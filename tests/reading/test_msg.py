"""Outlook messages: their threads and what they carry."""

from pathlib import Path

import pytest

from chapterhouse.errors import RejectedError
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.msg import attachments, thread
from chapterhouse.reading.ole import CompoundFile

from .conftest import ole

FILE = "__attach_version1.0_#0000000{}/__substg1.0_{}"
STREAMS = {
    "__properties_version1.0": b"x",
    "__substg1.0_1035001F": "<a@b>\0".encode("utf-16-le"),
    "__substg1.0_1039001E": b"<c@d>\r\n <e@f>\0",
    FILE.format(0, "37010102"): b"first content",
    FILE.format(0, "3707001F"): "Pl\u00e4ne.txt".encode("utf-16-le"),
    FILE.format(1, "37010102"): b"second",
    FILE.format(1, "3704001E"): b"SHORT.TXT",
}


def padded(content: bytes) -> bytes:
    return content.ljust(4096, b"\0")


def test_attachments_have_name_and_content() -> None:
    assert [(name, content.rstrip(b"\0")) for name, content in attachments(ole(STREAMS))] == [
        ("Pl\u00e4ne.txt", b"first content"),
        ("SHORT.TXT", b"second"),
    ]


def test_a_message_states_its_thread() -> None:
    assert thread(ole(STREAMS)) == {"message-id": "<a@b>", "references": "<c@d> <e@f>"}


def test_streams_are_found_by_path_whatever_their_case() -> None:
    file = CompoundFile(ole(STREAMS))
    assert sorted(file.names()) == sorted(STREAMS)
    assert file.read(FILE.format(0, "37010102").upper()) == padded(b"first content")
    assert file.read("absent") == b""


def test_damage_ends_in_a_reason() -> None:
    data = ole(STREAMS)
    for end in range(0, len(data) - 4096, 512):
        with pytest.raises(RejectedError, match="damaged"):
            list(attachments(data[:end]))


def test_real_messages(data_folder: Path) -> None:
    folder = data_folder / "documents" / "docling-groundtruth" / "email" / "sources"
    data = (folder / "msg_with_attachment.msg").read_bytes()
    assert dict(attachments(data)).keys() == {"test.txt", "report.pdf"}
    found = read(data, "a.msg", Limits())
    assert {member.path for member in found.members} == {"test.txt", "report.pdf"}
    assert "Attachments: " in found.pages[0].text
    assert not found.notices
    assert not list(attachments((folder / "msg_simple.msg").read_bytes()))


@pytest.mark.parametrize("data", [b"", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"x" * 600])
def test_what_is_no_message_is_told(data: bytes) -> None:
    with pytest.raises(RejectedError):
        thread(data)
