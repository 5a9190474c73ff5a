"""7-Zip archives: names, damage, headers that promise too much, and none without the extra."""

import os
import struct
import sys
import zlib
from collections.abc import Mapping
from contextlib import suppress

import py7zr
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.errors import RejectedError
from chapterhouse.reading.archives import read_archive
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.pool import ReadingPool

from .sevenzip_writer import NOISE, SMALL, sevenzipped


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


@pytest.mark.large
def test_a_solid_7_zip_archive_of_many_files_is_read(pool: ReadingPool) -> None:
    number = 10_000 if "CHAPTERHOUSE_LARGE" in os.environ else 1_000
    files = {f"letters/{n}.txt": b"Letter %d." % n for n in range(number)}
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
