"""What the all-in-one library leaves out of Word files of 1997 to 2003, or should not show.

It leaves out headers and endnotes, and shows text that a tracked change deleted. The text of all
parts of a document stands in one run of characters, cut into pieces that lie anywhere in the file
([MS-DOC] 2.4.1).
"""

import re
import struct
from collections.abc import Iterator

from chapterhouse.reading.ole import CompoundFile
from chapterhouse.reading.plain import running_text
from chapterhouse.types import Stretch

_WORD_97 = 0xC1
_SECOND_TABLE = 0x0200
_COMPRESSED = 0x40000000
# Places in the header of the main stream ([MS-DOC] 2.5.4, 2.5.6).
_LENGTHS, _HEADERS, _RUNS, _PIECES = 0x4C, 0xF2, 0xFA, 0x1A2
_PAGE = 512  # bytes of a page of properties
_PAGE_NUMBER = 0x3FFFFF
_DELETED = 0x0800  # the property of a run that a tracked change deleted ([MS-DOC] 2.6.1)
_OPERANDS = (1, 1, 2, 4, 2, 2, 0, 3)  # bytes, by the kind of a property; the seventh says it
# Order of the parts of a document; the lengths stand in it.
_PARTS = ("text", "footnotes", "headers", "macros", "comments", "endnotes", "boxes", "header boxes")
_SEPARATORS = 6  # of notes; after them six texts a section
_KINDS = ("Header", "Header", "Footer", "Footer", "Header", "Footer")
_FIELD = re.compile(r"\x13([^\x13\x14\x15]*)(?:\x14([^\x13\x14\x15]*))?\x15")
_COUNTING = re.compile(r"\s*(?:PAGE|NUMPAGES|SECTIONPAGES|DATE|TIME)\b", re.IGNORECASE)
_CONTROLS = re.compile(r"[\x00-\x1f]+")


def without_deleted(data: bytes) -> bytes:
    """Return a file with zeros for the text that tracked changes deleted; readers drop these.

    Raises:
        RejectedError: ``unreadable``.
    """
    file = CompoundFile(data)
    try:
        main, table, version = _streams(file)
        spans = list(_deleted(main, table)) if version >= _WORD_97 else []
    except (struct.error, IndexError):
        return data
    return file.blanked("WordDocument", spans) if spans else data


def _streams(file: CompoundFile) -> tuple[bytes, bytes, int]:
    """Return the main stream, the one of tables, and the version of the format."""
    main = file.read("WordDocument")
    version, flags = struct.unpack_from("<H6xH", main, 2)
    return main, file.read("1Table" if flags & _SECOND_TABLE else "0Table"), version


def _deleted(main: bytes, table: bytes) -> Iterator[Stretch]:
    """Yield where in the main stream deleted runs stand ([MS-DOC] 2.8.5, 2.9.33)."""
    place, size = struct.unpack_from("<2I", main, _RUNS)
    count = max(size - 4, 0) // 8
    for number in struct.unpack_from(f"<{count}I", table, place + 4 * (count + 1)):
        start = (number & _PAGE_NUMBER) * _PAGE
        page = main[start : start + _PAGE]
        runs = page[_PAGE - 1]
        bounds = struct.unpack_from(f"<{runs + 1}I", page)
        for index in range(runs):
            own = 2 * page[4 * (runs + 1) + index]
            if own and _is_deleted(page[own + 1 : own + 1 + page[own]]):
                yield bounds[index], bounds[index + 1]


def _is_deleted(properties: bytes) -> bool:
    place, found = 0, False
    while place + 2 < len(properties):
        (name,) = struct.unpack_from("<H", properties, place)
        if name == _DELETED:
            found = properties[place + 2] == 1
        place += 2 + (_OPERANDS[name >> 13] or 1 + properties[place + 2])
    return found


def headers_and_endnotes(data: bytes) -> list[str] | None:
    """Return headers and footers, each once, text boxes in them, and endnotes.

    Returns:
        None for files of earlier versions and where the tables contradict themselves.

    Raises:
        RejectedError: ``unreadable``.
    """
    try:
        main, table, version = _streams(CompoundFile(data))
        if version < _WORD_97:
            return None
        parts = _parts(main, "".join(_pieces(main, table)))
        return list(dict.fromkeys([*_running(main, table, parts["headers"]), *_others(parts)]))
    except (struct.error, ValueError):
        return None


def _parts(main: bytes, text: str) -> dict[str, str]:
    lengths = struct.unpack_from(f"<{len(_PARTS)}I", main, _LENGTHS)
    found, place = {}, 0
    for name, length in zip(_PARTS, lengths, strict=True):
        found[name] = text[place : place + length]
        place += length
    return found


def _pieces(main: bytes, table: bytes) -> Iterator[str]:
    """Yield the text of the pieces in order ([MS-DOC] 2.9.38, 2.9.178)."""
    place, size = struct.unpack_from("<2I", main, _PIECES)
    pieces = table[place : place + size]
    while pieces[:1] == b"\x01":  # formatting in front of them
        pieces = pieces[3 + struct.unpack_from("<H", pieces, 1)[0] :]
    (length,) = struct.unpack_from("<I", pieces, 1)
    count = (length - 4) // 12
    ends = struct.unpack_from(f"<{count + 1}I", pieces, 5)
    for index in range(count):
        (start,) = struct.unpack_from("<I", pieces, 5 + 4 * (count + 1) + 8 * index + 2)
        characters = ends[index + 1] - ends[index]
        if start & _COMPRESSED:
            start = (start & ~_COMPRESSED) // 2
            yield main[start : start + characters].decode("cp1252", "replace")
        else:
            yield main[start : start + 2 * characters].decode("utf-16-le", "replace")


def _running(main: bytes, table: bytes, text: str) -> Iterator[str]:
    """Yield headers and footers ([MS-DOC] 2.8.13): after the separators, six texts a section."""
    place, size = struct.unpack_from("<2I", main, _HEADERS)
    ends = struct.unpack_from(f"<{size // 4}I", table, place)
    for index in range(_SEPARATORS, len(ends) - 1):
        if shown := _shown(text[ends[index] : ends[index + 1]]):
            yield f"{_KINDS[(index - _SEPARATORS) % len(_KINDS)]}: {shown}"


def _others(parts: dict[str, str]) -> Iterator[str]:
    for note in parts["endnotes"].split("\x02"):  # the mark that each begins with
        if shown := _shown(note):
            yield f"Endnote: {shown}"
    if shown := _shown(parts["header boxes"]):
        yield f"Header: {shown}"


def _shown(text: str) -> str:
    """Return text on one line without fields that count; nothing where no letter is left."""
    text = text.replace("\0", "")  # deleted
    while (plain := _FIELD.sub(_result, text)) != text:
        text = plain
    return running_text(_CONTROLS.sub(" ", text))


def _result(field: re.Match[str]) -> str:
    return "" if _COUNTING.match(field[1]) else field[2] or ""
