"""What the all-in-one library leaves out of Excel files of 1997 to 2003 ([MS-XLS]).

Which sheets are hidden, texts of shapes and comments, and headers.
"""

import struct
from collections.abc import Iterator

from chapterhouse.reading.ole import CompoundFile
from chapterhouse.reading.ooxml_sheets import SheetExtras, header_text

# Numbers of records ([MS-XLS] 2.3).
_START, _SHEET, _SHAPE_TEXT, _CONTINUE = 0x809, 0x85, 0x1B6, 0x3C
_END = 0x0A
_RUNNING = {0x14: "Header", 0x15: "Footer"}
_VERSION = 0x600  # of files in Unicode
_HIDDEN = 0x03


def sheet_extras(data: bytes) -> dict[str, SheetExtras]:
    """Return what stands beside the cells, by the sheet's name; nothing of earlier versions.

    Raises:
        RejectedError: ``unreadable``.
    """
    book = CompoundFile(data).read("Workbook")
    try:
        if struct.unpack_from("<3H", book)[::2] != (_START, _VERSION):
            return {}
        return dict(_sheets(book))
    except (struct.error, IndexError):
        return {}


def _sheets(book: bytes) -> Iterator[tuple[str, SheetExtras]]:
    for kind, content in _records(book, 0):
        if kind == _SHEET:
            place, state = struct.unpack_from("<IB", content)
            name = _string(content, 6, content[6], 1)
            blocks = tuple(dict.fromkeys(_blocks(book, place)))
            yield name, SheetExtras(hidden=bool(state & _HIDDEN), blocks=blocks)


def _blocks(book: bytes, place: int) -> Iterator[str]:
    """Yield the texts of one sheet's shapes, and what is printed above and below it."""
    running: list[str] = []
    awaited = 0  # characters of a shape's text, which the next record holds
    for kind, content in _records(book, place):
        if kind in _RUNNING and content:
            (length,) = struct.unpack_from("<H", content)
            if text := header_text(_string(content, 0, length, 2)):
                running.append(f"{_RUNNING[kind]}: {text}")
        elif kind == _SHAPE_TEXT:
            (awaited,) = struct.unpack_from("<H", content, 10)
        elif kind == _CONTINUE and awaited:
            if text := " ".join(_string(content, 0, awaited, 0).split()):
                yield text
            awaited = 0
    yield from running


def _records(book: bytes, place: int) -> Iterator[tuple[int, bytes]]:
    """Yield the records of the part of the stream that begins there; parts inside it too."""
    depth = 0
    while place + 4 <= len(book):
        kind, length = struct.unpack_from("<2H", book, place)
        depth += (kind == _START) - (kind == _END)
        if depth <= 0:
            return
        yield kind, book[place + 4 : place + 4 + length]
        place += 4 + length


def _string(content: bytes, place: int, length: int, width: int) -> str:
    """Return a text behind its length of so many bytes and a byte that says how it is stored."""
    start = place + width + 1
    if content[start - 1] & 1:
        return content[start : start + 2 * length].decode("utf-16-le", "replace")
    return content[start : start + length].decode("latin-1")
