"""What is in an archive comes out whole, and nothing comes out of a hostile one."""

import bz2
import gzip
import io
import lzma
import random
import struct
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

import py7zr
import pytest
from hypothesis import given
from hypothesis import strategies as st
from py7zr.helpers import ArchiveTimestamp

from chapterhouse.errors import RejectedError
from chapterhouse.reading.archives import read_archive
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.members import clean_path, limit_members
from chapterhouse.reading.pool import ReadingPool
from chapterhouse.types import Member

FILES = {"annex/a.txt": b"The annex.", "annex/b.bin": bytes(range(256)), "c.md": b"# C\n\nText."}
MAY = 1_777_888_800  # 4 May 2026, 10:00 UTC


def zipped(files: Mapping[str, bytes] = FILES) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 5, 4, 10, 0, 0)), content)
    return target.getvalue()


def tarred(files: Mapping[str, bytes] = FILES) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(content), MAY
            archive.addfile(entry, io.BytesIO(content))
    return target.getvalue()


def sevenzipped(
    files: Mapping[str, bytes] = FILES,
    *,
    password: str | None = None,
    hidden_names: bool = False,
    plain_header: bool = False,
    method: int = py7zr.FILTER_LZMA2,
    attributes: int | None = None,
) -> bytes:
    """A solid 7-Zip archive, its names as they are given."""
    target = io.BytesIO()
    filters = None if password else [{"id": method}]
    if method == py7zr.FILTER_LZMA2 and filters:
        filters[0]["preset"] = 1
    archive = py7zr.SevenZipFile(
        target, "w", filters=filters, password=password, header_encryption=hidden_names
    )
    with archive:
        archive.set_encoded_header_mode(not plain_header)
        for name, content in files.items():
            archive._writef(io.BytesIO(content), name)
            entry = archive.files.files_list[-1]
            entry["filename"] = name
            entry["lastwritetime"] = ArchiveTimestamp.from_datetime(MAY)
            if attributes is not None:
                entry["attributes"] = attributes
    return target.getvalue()


PACKED = {
    "a.zip": zipped(),
    "a.7z": sevenzipped(),
    "older.7z": sevenzipped(method=py7zr.FILTER_PPMD),
    "a.tar": tarred(),
    "a.tar.gz": gzip.compress(tarred()),
    "a.tgz": gzip.compress(tarred()),
    "a.tar.bz2": bz2.compress(tarred()),
    "a.txz": lzma.compress(tarred()),
    "download": zipped(),  # no extension says what it is
}


@pytest.mark.parametrize("name", PACKED)
def test_every_file_comes_out_as_it_went_in(name: str, pool: ReadingPool) -> None:
    found = pool.read(PACKED[name], name)
    assert {one.path: one.data for one in found.members} == FILES
    assert {one.modified for one in found.members} == {MAY}
    assert not found.pages
    assert not found.notices


@pytest.mark.parametrize(
    ("name", "data", "inside"),
    [
        ("note.txt.gz", gzip.compress(b"At dusk."), "note.txt"),
        ("note.txt.bz2", bz2.compress(b"At dusk."), "note.txt"),
        ("NOTE.TXT.XZ", lzma.compress(b"At dusk."), "NOTE.TXT"),
        (".gz", gzip.compress(b"At dusk."), ".gz"),
        ("two.gz", gzip.compress(b"At ") + gzip.compress(b"dusk."), "two"),
    ],
    ids=["gz", "bz2", "xz", "no name", "two members"],
)
def test_what_is_compressed_alone_keeps_its_name(name: str, data: bytes, inside: str) -> None:
    (member,) = read(data, name, Limits()).members
    assert (member.path, member.data) == (inside, b"At dusk.")


@pytest.mark.parametrize(
    ("path", "cleaned"),
    [
        ("a/b.txt", "a/b.txt"),
        ("/etc/passwd", "etc/passwd"),
        ("../../b.txt", "b.txt"),
        ("a/./b/../c.txt", "a/b/c.txt"),
        ("C:\\Users\\a.txt", "Users/a.txt"),
        ("..", "file"),
        ("", "file"),
    ],
)
def test_no_path_leads_out_of_an_archive(path: str, cleaned: str) -> None:
    assert clean_path(path) == cleaned


@given(st.text(max_size=40))
def test_every_path_is_clean(path: str) -> None:
    parts = clean_path(path).split("/")
    assert all(part and part not in {".", ".."} and "\\" not in part for part in parts)


def test_files_of_one_name_are_told_apart() -> None:
    same = [Member("a/b.txt", b"1"), Member("a//b.txt", b"2"), Member("a/README", b"3")]
    found = list(limit_members([*same, *same[2:]], Limits()))
    assert [one.path for one in found] == ["a/b.txt", "a/b (2).txt", "a/README", "a/README (2)"]


# --- what is hostile or broken -------------------------------------------------------------------


NOISE = random.Random(1).randbytes(500)  # which cannot be made smaller


LINK = 0xA1FF8000  # the attributes of a symbolic link written on Linux


def sparse_tar(size: int) -> bytes:
    """A tar that claims a file larger than it is."""
    entry = tarfile.TarInfo("huge.txt")
    entry.size = size
    return entry.tobuf(tarfile.GNU_FORMAT) + bytes(1024)


def with_flag(data: bytes, flag: int) -> bytes:
    """A ZIP whose entries all carry a flag."""
    changed = bytearray(data)
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(mark)
        while at >= 0:
            (flags,) = struct.unpack_from("<H", data, at + place)
            struct.pack_into("<H", changed, at + place, flags | flag)
            at = data.find(mark, at + 4)
    return bytes(changed)


SMALL = replace(Limits(), archive_bytes=2_000_000, archive_entry_bytes=500_000, archive_files=50)
BOMBS = {
    "a.gz": (gzip.compress(bytes(3_000_000)), "archive-too-large"),
    "a.bz2": (bz2.compress(bytes(3_000_000)), "archive-too-large"),
    "a.xz": (lzma.compress(bytes(3_000_000)), "archive-too-large"),
    "a.zip": (zipped({f"{n}.txt": bytes(450_000) for n in range(5)}), "archive-too-large"),
    "a.tar": (tarred({f"{n}.txt": bytes(450_000) for n in range(5)}), "archive-too-large"),
    "many.zip": (zipped({f"{n}.txt": b"x" for n in range(51)}), "archive-too-many-entries"),
    "many.tar": (tarred({f"{n}.txt": b"x" for n in range(51)}), "archive-too-many-entries"),
    "a.7z": (sevenzipped({f"{n}.txt": bytes(450_000) for n in range(5)}), "archive-too-large"),
    "many.7z": (sevenzipped({f"{n}.txt": b"x" for n in range(51)}), "archive-too-many-entries"),
    "cut.7z": (sevenzipped()[:-30], "archive-damaged"),
    "secret.7z": (sevenzipped(password="ferry"), "encrypted"),
    "hidden.7z": (sevenzipped(password="ferry", hidden_names=True), "encrypted"),
    "cut.gz": (gzip.compress(bytes(range(256)) * 50)[:-20], "archive-damaged"),
    "cut.xz": (lzma.compress(bytes(range(256)) * 50)[:-20], "archive-damaged"),
    "cut.zip": (zipped()[:-30], "archive-damaged"),
    "sparse.tar": (sparse_tar(8 * 2**30), "archive-damaged"),
    "cut.tar.gz": (gzip.compress(tarred()[:300]), "archive-damaged"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_what_would_unpack_to_too_much_is_refused_whole(name: str) -> None:
    data, code = BOMBS[name]
    with pytest.raises(RejectedError) as caught:
        read(data, name, SMALL)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("data", "format_", "code"),
    [
        (zipped({"large.txt": bytes(600_000)}), "zip", "too-large"),
        (tarred({"large.txt": bytes(600_000)}), "tar", "too-large"),
        (gzip.compress(bytes(600_000)), "gz", "too-large"),
        (sevenzipped({"large.txt": bytes(600_000)}), "7z", "too-large"),
        (sevenzipped({"link": b"/etc/passwd"}, attributes=LINK), "7z", "symbolic-link"),
        (
            sevenzipped({"a.txt": NOISE}, method=py7zr.FILTER_COPY).replace(NOISE[:5], b"Anger"),
            "7z",
            "archive-damaged",
        ),
        (with_flag(zipped({"secret.txt": b"hidden"}), 1), "zip", "encrypted"),
        (zipped({"a.txt": NOISE}).replace(NOISE[:9], b"Another! "), "zip", "archive-damaged"),
    ],
    ids=["zip", "tar", "gz", "7z", "7z link", "7z damaged", "encrypted", "damaged"],
)
def test_a_file_that_cannot_be_had_says_why(data: bytes, format_: str, code: str) -> None:
    (member,) = read_archive(data, "a", format_, SMALL).members
    assert member.data == b""
    assert member.problem is not None
    assert member.problem.code == code


def test_links_in_an_archive_are_not_followed() -> None:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        for kind, name in ((tarfile.SYMTYPE, "soft"), (tarfile.LNKTYPE, "hard")):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, "/etc/passwd"
            archive.addfile(entry)
        archive.addfile(tarfile.TarInfo("folder/"))
    found = read(target.getvalue(), "a.tar", Limits()).members
    assert [(one.path, one.problem and one.problem.code) for one in found[:2]] == [
        ("soft", "symbolic-link"),
        ("hard", "symbolic-link"),
    ]
    assert not any(one.data for one in found)


@pytest.mark.parametrize("name", ["app.jar", "tool.whl", "letter.docx"])
def test_a_zip_that_says_it_is_something_else_is_not_unpacked(name: str) -> None:
    with pytest.raises(RejectedError) as caught:
        read(zipped(), name, Limits())
    assert caught.value.code == "unsupported-format"


@given(st.binary(max_size=300), st.sampled_from(["zip", "7z", "tar", "gz", "bz2", "xz"]))
def test_any_bytes_end_in_files_or_a_reason(data: bytes, format_: str) -> None:
    with suppress(RejectedError):
        found = read_archive(data, f"a.{format_}", format_, SMALL)
        assert all(one.path for one in found.members)


def test_names_of_old_programs_are_read_in_the_code_page_of_dos() -> None:
    data = zipped({"caf\u00e9.txt": b"Coffee."}).replace("caf\u00e9".encode(), b"caf\x82 ")
    (member,) = read_archive(with_flag(data, 0), "a.zip", "zip", Limits()).members
    assert member.path == "caf\u00e9 .txt"


# --- 7-Zip ---------------------------------------------------------------------------------------


def test_strange_names_in_a_7_zip_archive_lead_nowhere() -> None:
    names = ["../../up.txt", "/etc/passwd", "C:\\Users\\a.txt", "same.txt", "CON", ".."]
    found = read_archive(
        sevenzipped({name: name.encode() for name in names}), "a.7z", "7z", SMALL
    ).members
    assert [one.path for one in found] == [
        *("up.txt", "etc/passwd", "Users/a.txt", "same.txt", "CON", "file")
    ]
    assert [one.data.decode() for one in found] == names


def test_what_stands_before_the_damage_in_a_7_zip_archive_is_kept() -> None:
    data = bytearray(sevenzipped({f"{n}.txt": NOISE * 40 for n in range(4)}))
    whole = [one.data for one in read_archive(bytes(data), "a.7z", "7z", SMALL).members]
    assert whole == [NOISE * 40] * 4
    plain = sevenzipped({f"{n}.txt": NOISE[n:] for n in range(4)}, method=py7zr.FILTER_COPY)
    found = read_archive(plain.replace(NOISE[3:12], b"Another! ", 1), "a.7z", "7z", SMALL).members
    codes = [one.problem and one.problem.code for one in found]
    assert codes == ["archive-damaged", None, None, None]


def test_a_solid_7_zip_archive_of_ten_thousand_files_is_read(pool: ReadingPool) -> None:
    files = {f"letters/{n}.txt": b"Letter %d." % n for n in range(10_000)}
    found = pool.read(sevenzipped(files), "letters.7z")
    assert {one.path: one.data for one in found.members} == files


def test_empty_files_and_folders_of_a_7_zip_archive() -> None:
    found = read_archive(sevenzipped({"empty.txt": b"", "a.txt": b"A."}), "a.7z", "7z", SMALL)
    assert [(one.path, one.data, one.problem) for one in found.members] == [
        ("empty.txt", b"", None),
        ("a.txt", b"A.", None),
    ]
    folder = sevenzipped({"folder": b""}, attributes=0x10)
    assert not read_archive(folder, "a.7z", "7z", SMALL).members


def test_without_its_extra_a_7_zip_archive_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "py7zr", None)
    monkeypatch.delitem(sys.modules, "chapterhouse.reading.sevenzip", raising=False)
    with pytest.raises(RejectedError) as caught:
        read(sevenzipped(), "a.7z", Limits())
    assert caught.value.code == "missing-extra"
    assert "the extra 'archives'" in caught.value.message
    assert "pip install" in caught.value.hint


def with_header(data: bytes, changes: Mapping[int, int]) -> bytes:
    """A 7-Zip archive with other bytes in its header, whose checksums fit them."""
    start, size = struct.unpack_from("<QQ", data, 12)
    header = bytearray(data[32 + start : 32 + start + size])
    for place, byte in changes.items():
        header[place % size] = byte
    begin = struct.pack("<QQI", start, size, zlib.crc32(header))
    head = data[:8] + struct.pack("<I", zlib.crc32(begin)) + begin
    return head + data[32 : 32 + start] + bytes(header)


def header_of_empty_files(count: int) -> bytes:
    """A 7-Zip archive of empty files without names: a bit each."""
    number = b"\xff" + struct.pack("<Q", count)
    bits = b"\xff" * (-(-count // 8))
    stated = b"\x0e\xff" + struct.pack("<Q", len(bits)) + bits
    padding = b"\x19" + number + bytes(count)  # a count must fit into the bytes of the header
    header = b"\x01\x05" + number + stated + padding + b"\0\0"
    begin = struct.pack("<QQI", 0, len(header), zlib.crc32(header))
    mark = b"7z\xbc\xaf\x27\x1c\0\x04"
    return mark + struct.pack("<I", zlib.crc32(begin)) + begin + header


@pytest.mark.parametrize("count", [60, 8_000_000])
def test_a_7_zip_header_of_too_many_files_is_refused(count: int) -> None:
    with pytest.raises(RejectedError) as caught:
        read_archive(header_of_empty_files(count), "a.7z", "7z", SMALL)
    assert caught.value.code == "archive-too-many-entries"
    assert len(read_archive(header_of_empty_files(9), "a.7z", "7z", SMALL).members) == 9


PLAIN_HEADER = sevenzipped(plain_header=True)


@given(st.dictionaries(st.integers(0, 10_000), st.integers(0, 255), min_size=1, max_size=4))
def test_a_7_zip_archive_with_a_changed_header_ends_in_files_or_a_reason(
    changes: dict[int, int],
) -> None:
    assert with_header(PLAIN_HEADER, {}) == PLAIN_HEADER
    with suppress(RejectedError):
        found = read_archive(with_header(PLAIN_HEADER, changes), "a.7z", "7z", SMALL).members
        assert len(found) <= SMALL.archive_files
