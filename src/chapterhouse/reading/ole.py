"""The directory of an OLE compound file ([MS-CFB]): names of streams, and where they start."""

import struct
from dataclasses import dataclass

from chapterhouse.errors import RejectedError

SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENTRY_SIZE = 128
_HEADER_FAT_SECTORS = 109
_SECTOR_CEILING = 0xFFFFFFFA  # above are the marks for free, end of chain and tables
_DIRECTORY_SECTORS_CEILING = 4_096
_UNICODE_VERSION = 0xC1  # nFib of Word 97
# By language id, or its primary part ([MS-LCID]).
_CODE_PAGES = {
    **dict.fromkeys((0x05, 0x0E, 0x15, 0x18, 0x1A, 0x1B, 0x1C, 0x24), "cp1250"),
    **dict.fromkeys((0x02, 0x19, 0x22, 0x23, 0x2F), "cp1251"),
    **dict.fromkeys((0x25, 0x26, 0x27), "cp1257"),
    0x01: "cp1256",
    0x08: "cp1253",
    0x0D: "cp1255",
    0x1F: "cp1254",
    0x2A: "cp1258",
    0x04: "gbk",
    0x404: "big5",
    0xC04: "big5",
    0x11: "cp932",
    0x12: "cp949",
    0x1E: "cp874",
}


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream or storage: its name, first sector's offset in the file, and size."""

    name: str
    offset: int
    size: int


def streams(data: bytes) -> tuple[Stream, ...]:
    """Return the directory in order.

    Raises:
        RejectedError: ``unreadable``, the file is cut off or contradicts itself.
    """
    try:
        shift, first = struct.unpack_from("<H", data, 30)[0], struct.unpack_from("<I", data, 48)[0]
        if shift not in {9, 12}:
            raise _damaged(f"its sectors are 2**{shift} bytes long")
        return tuple(_entries(data, 1 << shift, first))
    except struct.error as error:
        raise _damaged("it was cut off") from error


def is_encrypted(data: bytes, found: tuple[Stream, ...]) -> bool:
    """Tell whether a Word, Excel or PowerPoint file needs a password.

    Sources: [MS-OFFCRYPTO] 2.2 (EncryptedPackage), [MS-DOC] 2.5.2 (fEncrypted), [MS-XLS]
    2.4.117 (FilePass), [MS-PPT] 2.1.1.
    """
    names = {stream.name.casefold(): stream for stream in found}
    if "encryptedpackage" in names or "encryptedsummary" in names:
        return True
    if word := names.get("worddocument"):
        return bool(int.from_bytes(data[word.offset + 10 : word.offset + 12], "little") & 0x0100)
    workbook = names.get("workbook") or names.get("book")
    return workbook is not None and _has_file_pass(data, workbook)


def code_page(data: bytes) -> str:
    """Return the encoding of a Word 6 or 95 file by its language, or nothing if it is Western.

    Later files are in Unicode. Source: [MS-DOC] 2.5.2 (nFib, lid), whose layout is older.
    """
    for stream in streams(data):
        if stream.name.casefold() == "worddocument":
            version, _, language = struct.unpack_from("<3H", data, stream.offset + 2)
            if version < _UNICODE_VERSION:
                return _CODE_PAGES.get(language, _CODE_PAGES.get(language & 0x3FF, ""))
    return ""


def _has_file_pass(data: bytes, workbook: Stream) -> bool:
    """Look for the record that announces encryption, which stands right behind the first."""
    place = workbook.offset
    for _ in range(8):
        if place + 4 > len(data):
            return False
        kind, length = struct.unpack_from("<2H", data, place)
        if kind == 0x2F:  # noqa: PLR2004 - FilePass
            return True
        place += 4 + length
    return False


def _entries(data: bytes, sector_size: int, first: int) -> list[Stream]:
    table = _allocation_table(data, sector_size)
    entries: list[Stream] = []
    sector, seen = first, set[int]()
    while sector < _SECTOR_CEILING:
        if sector in seen or len(seen) > _DIRECTORY_SECTORS_CEILING:
            raise _damaged("its directory runs in a circle")
        seen.add(sector)
        start = (sector + 1) * sector_size
        for place in range(start, start + sector_size, _ENTRY_SIZE):
            record = data[place : place + _ENTRY_SIZE]
            if len(record) < _ENTRY_SIZE:
                raise _damaged("it was cut off")
            if record[66]:  # neither unknown nor unallocated
                entries.append(_stream(record, sector_size))
        sector = table[sector] if sector < len(table) else _SECTOR_CEILING
    return entries


def _stream(record: bytes, sector_size: int) -> Stream:
    length = min(64, int.from_bytes(record[64:66], "little"))
    name = record[: max(0, length - 2)].decode("utf-16-le", "replace")
    first, size = struct.unpack_from("<IQ", record, 116)
    return Stream(name, (first + 1) * sector_size, size)


def _allocation_table(data: bytes, sector_size: int) -> tuple[int, ...]:
    """Return the file allocation table as far as the header lists it (7 MB of 512-byte sectors).

    The directory of a larger file whose tail lies beyond is read as far as it goes.
    """
    numbers: list[int] = []
    for sector in struct.unpack_from(f"<{_HEADER_FAT_SECTORS}I", data, 76):
        if sector >= _SECTOR_CEILING:
            break
        place = (sector + 1) * sector_size
        block = data[place : place + sector_size]
        numbers.extend(struct.unpack(f"<{len(block) // 4}I", block[: len(block) // 4 * 4]))
    return tuple(numbers)


def _damaged(what: str) -> RejectedError:
    return RejectedError("unreadable", f"The Office file is damaged: {what}.")
