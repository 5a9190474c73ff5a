"""The central directory of a ZIP file, read without trusting it.

`zipfile` of Python 3.11.7 has no check for overlapping entries (CVE-2024-0450), so the geometry
is checked here, from APPNOTE.TXT 6.3.10 sections 4.3 to 4.5, before any parser sees the file.
"""

import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from chapterhouse.errors import RejectedError
from chapterhouse.reading.limits import Limits

_END = struct.Struct("<4s4H2LH")
_END64_LOCATOR = struct.Struct("<4sLQL")
_END64 = struct.Struct("<4sQ2H2L4Q")
_ENTRY = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_ENCRYPTED = 0x1
_DESCRIPTOR = 0x8
_STORED, _DEFLATED = 0, 8
_MISSING_32 = 0xFFFFFFFF
_COMMENT_CEILING = 0xFFFF
_DEFLATE_CEILING = 1_032
_STEP = 1 << 20


@dataclass(frozen=True, slots=True)
class Entry:
    """One file in a ZIP, as the central directory declares it."""

    name: str
    method: int
    encrypted: bool
    stored_size: int
    size: int
    start: int  # of the local header
    data: int  # of the content
    end: int  # of the content
    checksum: int  # CRC-32 of what the content unpacks to
    modified: int  # seconds since 1970, taken for UTC; 0 where none is stated


def read_directory(data: bytes, limits: Limits) -> tuple[Entry, ...]:
    """Return the entries in order of position, having checked that they can be trusted."""
    count, size, offset, position = _end_of_directory(data)
    if count > limits.archive_entries:
        sentence = f"The container has {count:,} entries; the limit is {limits.archive_entries:,}."
        raise RejectedError("archive-too-many-entries", sentence)
    # Bytes in front of the archive shift every offset by the same amount.
    shift = position - size - offset
    if shift < 0:
        raise _damaged("its directory lies outside the file")
    entries: list[Entry] = []
    place = position - size
    for _ in range(count):
        entry, place = _entry(data, place, shift)
        entries.append(entry)
    if place != position:
        raise _damaged("its directory is not as long as it says")
    entries.sort(key=lambda entry: entry.start)
    _check_geometry(entries, position - size)
    _check_sizes(entries, limits)
    return tuple(entries)


def check_claims(data: bytes, entries: tuple[Entry, ...], limits: Limits) -> None:
    """Unpack what could be larger than it says, without keeping it.

    Deflate shrinks by at most 1,032, so a small entry cannot break the limit whatever it claims.
    """
    for entry in entries:
        largest = entry.stored_size * _DEFLATE_CEILING
        if entry.method != _DEFLATED or entry.encrypted or largest <= limits.archive_entry_bytes:
            continue
        inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        feed, size = data[entry.data : entry.end], 0
        with _as_damage(entry):
            while feed and size <= entry.size:
                size += len(inflater.decompress(feed, _STEP))
                feed = inflater.unconsumed_tail
        if size > entry.size:
            raise _damaged(f"{entry.name!r} unpacks to more than the directory says")


@contextmanager
def _as_damage(entry: Entry) -> Iterator[None]:
    try:
        yield
    except zlib.error as error:
        raise _damaged(f"{entry.name!r} cannot be unpacked ({error})") from error


def inflate(data: bytes, entry: Entry, ceiling: int) -> bytes:
    """Return at most ``ceiling`` bytes of an entry's content."""
    stored = data[entry.data : entry.end]
    if entry.method == _STORED:
        return stored[:ceiling]
    if entry.method != _DEFLATED:
        raise _damaged(f"{entry.name!r} uses compression method {entry.method}")
    with _as_damage(entry):
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(stored, ceiling)


def _damaged(what: str) -> RejectedError:
    return RejectedError("archive-damaged", f"The ZIP container is damaged: {what}.")


def _end_of_directory(data: bytes) -> tuple[int, int, int, int]:
    """Return the directory's count, size, declared offset, and where it really ends."""
    position = data.rfind(b"PK\x05\x06", max(0, len(data) - _END.size - _COMMENT_CEILING))
    if position < 0 or position + _END.size > len(data):
        raise _damaged("its directory is missing, as in a file that was cut off")
    _, disk, start_disk, here, count, size, offset, _ = _END.unpack_from(data, position)
    locator = position - _END64_LOCATOR.size
    if locator >= 0 and data[locator : locator + 4] == b"PK\x06\x07":
        _, disk, _, disks = _END64_LOCATOR.unpack_from(data, locator)
        position = locator - _END64.size
        if disk or disks > 1 or position < 0 or data[position : position + 4] != b"PK\x06\x06":
            raise _damaged("its 64-bit directory record is missing")
        *_, here, count, size, offset = _END64.unpack_from(data, position)
        start_disk = 0
    if disk or start_disk or here != count:
        raise _damaged("it spans several disks")
    return count, size, offset, position


def _entry(data: bytes, place: int, shift: int) -> tuple[Entry, int]:
    """Return the entry whose directory record begins at ``place``, and where the next does."""
    if place < 0 or data[place : place + 4] != b"PK\x01\x02" or place + _ENTRY.size > len(data):
        raise _damaged("a directory record is missing")
    record = _ENTRY.unpack_from(data, place)
    flags, method, stored_size, size = record[3], record[4], record[8], record[9]
    name_length, extra_length, comment_length, offset = (*record[10:13], record[16])
    name_end = place + _ENTRY.size + name_length
    name = _name(data[place + _ENTRY.size : name_end])
    extra = data[name_end : name_end + extra_length]
    size, stored_size, offset = _wide(extra, size, stored_size, offset)
    start = offset + shift
    if start < 0 or data[start : start + 4] != b"PK\x03\x04" or start + _LOCAL.size > len(data):
        raise _damaged(f"{name!r} is not where the directory says")
    local = _LOCAL.unpack_from(data, start)
    content = start + _LOCAL.size + local[9] + local[10]
    if content + stored_size > len(data):
        raise _damaged(f"{name!r} reaches beyond the end of the file")
    if not local[2] & _DESCRIPTOR and local[7] not in {stored_size, _MISSING_32}:
        raise _damaged(f"{name!r} has two different sizes")
    encrypted = bool((flags | local[2]) & _ENCRYPTED)
    sizes = (stored_size, size, start, content, content + stored_size)
    entry = Entry(name, method, encrypted, *sizes, record[7], _seconds(record[6], record[5]))
    return entry, name_end + extra_length + comment_length


def _name(written: bytes) -> str:
    """Return a name: UTF-8 whether the entry says so or not, else the code page of DOS."""
    try:
        return written.decode("utf-8")
    except UnicodeDecodeError:
        return written.decode("cp437")


def _seconds(date: int, time: int) -> int:
    """Return a time as DOS writes it in seconds since 1970; 0 where it is none."""
    day = 1980 + (date >> 9), date >> 5 & 15, date & 31
    try:
        stated = datetime(*day, time >> 11, time >> 5 & 63, (time & 31) * 2, tzinfo=UTC)
    except ValueError:
        return 0
    return int(stated.timestamp())


def _wide(extra: bytes, size: int, stored_size: int, offset: int) -> tuple[int, int, int]:
    """Replace the 32-bit values that say 'see the 64-bit field' by that field's."""
    values = [size, stored_size, offset]
    if _MISSING_32 not in values:
        return size, stored_size, offset
    place = 0
    while place + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, place)
        if kind == 1:
            field = extra[place + 4 : place + 4 + length]
            for index, value in enumerate(values):
                if value == _MISSING_32 and len(field) >= 8:  # noqa: PLR2004 - a 64-bit number
                    (values[index],) = struct.unpack_from("<Q", field)
                    field = field[8:]
        place += 4 + length
    if _MISSING_32 in values:
        raise _damaged("a 64-bit size is missing")
    return values[0], values[1], values[2]


def _check_geometry(entries: list[Entry], directory: int) -> None:
    reached = 0
    for entry in entries:
        if entry.start < reached:
            which = f"{entry.name!r} overlaps another entry"
            message = f"The ZIP container is built to expand without end: {which}."
            raise RejectedError("archive-overlap", message)
        reached = entry.end
    if reached > directory:
        message = "The ZIP container's entries overlap its own directory."
        raise RejectedError("archive-overlap", message)


def _check_sizes(entries: list[Entry], limits: Limits) -> None:
    total = sum(entry.size for entry in entries)
    if total > limits.archive_bytes:
        sizes = f"{total:,} bytes; the limit is {limits.archive_bytes:,}"
        raise RejectedError("archive-too-large", f"The container unpacks to {sizes}.")
    for entry in entries:
        if entry.method == _STORED and entry.size != entry.stored_size and not entry.encrypted:
            raise _damaged(f"{entry.name!r} has two different sizes")
        if entry.size > limits.archive_entry_bytes:
            sizes = f"{entry.size:,} bytes; the limit is {limits.archive_entry_bytes:,}"
            message = f"{entry.name!r} in the container unpacks to {sizes}."
            raise RejectedError("archive-too-large", message)
        grown = entry.size > limits.archive_ratio * max(1, entry.stored_size)
        if grown and entry.size > limits.archive_ratio_grace:
            sizes = f"from {entry.stored_size:,} to {entry.size:,} bytes"
            message = f"{entry.name!r} in the container would grow {sizes}."
            raise RejectedError("archive-ratio", message)
