"""Outlook messages, and the compound files that they are."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.errors import RejectedError
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.mail import msg_attachments, thread
from chapterhouse.reading.ole import CompoundFile, compound_file

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


def test_attachments_have_name_and_content() -> None:
    assert list(msg_attachments(compound_file(STREAMS))) == [
        ("Pl\u00e4ne.txt", b"first content"),
        ("SHORT.TXT", b"second"),
    ]


INSIDE = "__attach_version1.0_#00000000/__substg1.0_3701000D/"


def forwarding(name: str, inner: dict[str, bytes]) -> bytes:
    """A message that carries an object."""
    return compound_file(
        {
            "__properties_version1.0": bytes(32),
            "__substg1.0_0037001F": "Fwd: the ferry".encode("utf-16-le"),
            f"{INSIDE.partition('/')[0]}/__substg1.0_3001001F": name.encode("utf-16-le"),
        }
        | {INSIDE + path: content for path, content in inner.items()}
    )


@pytest.mark.parametrize(
    ("name", "path"),
    [("The ferry", "The ferry.msg"), ("", "Timetable.msg"), ("a/b.msg", "a/b.msg")],
)
def test_a_message_inside_is_a_message_of_its_own(name: str, path: str) -> None:
    inner = {
        "__properties_version1.0": bytes(24),
        "__substg1.0_0037001F": "Timetable".encode("utf-16-le"),
        "__substg1.0_1000001F": "The ferry leaves at nine.".encode("utf-16-le"),
        FILE.format(0, "37010102"): b"At nine.",
        FILE.format(0, "3707001F"): "nine.txt".encode("utf-16-le"),
    }
    outer = read(forwarding(name, inner), "a.msg", Limits())
    (member,) = outer.members
    assert member.path == path
    assert path in outer.pages[0].text
    found = read(member.data, member.path, Limits())
    assert found.title == "Timetable"
    assert "The ferry leaves at nine." in found.pages[0].text
    assert [(one.path, one.data) for one in found.members] == [("nine.txt", b"At nine.")]


def test_an_object_of_another_program_is_a_file() -> None:
    ((name, content),) = msg_attachments(forwarding("Sheet", {"Workbook": b"cells"}))
    assert name == "Sheet"
    assert CompoundFile(content).read("Workbook") == b"cells"


def test_a_message_whose_parts_share_bytes_is_refused() -> None:
    """Streams that all point to the same sectors would fill the memory."""
    shared = {str(n): b"" for n in range(60)} | {"a": bytes(9_000)}
    data = bytearray(forwarding("", shared))
    first = data.index("a\0".encode("utf-16-le").ljust(64, b"\0"))
    for n in range(60):
        place = data.index(f"{n}\0".encode("utf-16-le").ljust(64, b"\0"))
        data[place + 116 : place + 128] = data[first + 116 : first + 128]
    with pytest.raises(RejectedError, match="twice"):
        list(msg_attachments(bytes(data)))


def test_a_real_message_inside_is_read_like_itself(data_folder: Path) -> None:
    folder = data_folder / "documents" / "docling-groundtruth" / "email" / "sources"
    data = (folder / "msg_with_attachment.msg").read_bytes()
    file = CompoundFile(data)
    inner = {path: file.read(path) for path in file.names() if "nameid" not in path}
    stated = inner["__properties_version1.0"]
    inner["__properties_version1.0"] = stated[:24] + stated[32:]
    (member,) = read(forwarding("x", inner), "a.msg", Limits()).members
    assert read(member.data, "a.msg", Limits()) == read(data, "a.msg", Limits())


def test_a_message_states_its_thread() -> None:
    assert thread(compound_file(STREAMS)) == {"message-id": "<a@b>", "references": "<c@d> <e@f>"}


def test_streams_are_found_by_path_whatever_their_case() -> None:
    file = CompoundFile(compound_file(STREAMS))
    assert sorted(file.names()) == sorted(STREAMS)
    assert file.read(FILE.format(0, "37010102").upper()) == b"first content"
    assert file.read("absent") == b""


def test_damage_ends_in_a_reason() -> None:
    data = compound_file(STREAMS)
    for end in range(0, len(data) - 4096, 1024):
        with pytest.raises(RejectedError, match="damaged"):
            list(msg_attachments(data[:end]))


def test_real_messages(data_folder: Path) -> None:
    folder = data_folder / "documents" / "docling-groundtruth" / "email" / "sources"
    data = (folder / "msg_with_attachment.msg").read_bytes()
    assert dict(msg_attachments(data)).keys() == {"test.txt", "report.pdf"}
    found = read(data, "a.msg", Limits())
    assert {member.path for member in found.members} == {"test.txt", "report.pdf"}
    assert "Attachments: " in found.pages[0].text
    assert not found.notices
    assert not list(msg_attachments((folder / "msg_simple.msg").read_bytes()))


@pytest.mark.parametrize("data", [b"", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"x" * 600])
def test_what_is_no_message_is_told(data: bytes) -> None:
    with pytest.raises(RejectedError):
        thread(data)


NAMES = st.text(st.characters(codec="utf-16-le", exclude_characters="/\0"), min_size=1, max_size=15)
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
SIZES = st.sampled_from([0, 1, 64, 65, 4095, 4096, 9000])


def apart(paths: list[str]) -> bool:
    """Whether no path leads through another one, and none differs by case alone."""
    folded = {path.casefold() for path in paths}
    above = {"/".join(p.split("/")[:n]) for p in folded for n in range(1, p.count("/") + 1)}
    return len(folded) == len(paths) and not folded & above


@given(st.lists(PATHS, unique=True, max_size=6).filter(apart), st.data())
def test_streams_come_out_as_they_went_in(paths: list[str], data: st.DataObject) -> None:
    streams = {path: bytes([n]) * data.draw(SIZES) for n, path in enumerate(paths)}
    file = CompoundFile(compound_file(streams))
    assert {path: file.read(path) for path in file.names()} == streams


def test_many_streams_and_large_ones() -> None:
    streams = {f"storage {n % 40}/{n}": bytes(n * 7) for n in range(1_500)}
    streams["large"] = bytes(range(256)) * 40_000
    file = CompoundFile(compound_file(streams))
    assert {path: file.read(path) for path in file.names()} == streams


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="too long"):
        compound_file({"x" * 32: b""})
