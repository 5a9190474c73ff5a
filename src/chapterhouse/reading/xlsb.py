"""What the all-in-one library leaves out of binary Excel files ([MS-XLSB]).

Which sheets are hidden, texts of shapes, comments, and headers.
"""

import re
import struct
from collections.abc import Iterator
from typing import Final

from chapterhouse.errors import RejectedError
from chapterhouse.reading.ooxml import comment_blocks, main_part, relations
from chapterhouse.reading.ooxml_sheets import SheetExtras, drawing_blocks, header_text
from chapterhouse.reading.xml_parts import Parts
from chapterhouse.types import Notice

_MAIN: Final = "xl/workbook.bin"
_CONCERNED: Final = re.compile(
    r"_rels/\.rels|xl/(?:(?:worksheets|chartsheets|drawings|charts|threadedComments)/)?"
    r"(?:_rels/)?[^/]+\.(?:xml|rels)"
)
# Numbers of records ([MS-XLSB] 2.3).
_SHEET, _SIZE, _COMMENT, _COMMENT_TEXT, _HEADERS = 156, 148, 635, 637, 479
_SHEETS: Final = re.compile(r"xl/worksheets/[^/]+\.bin")
_KINDS: Final = ("Header", "Footer") * 3  # of odd, even and first pages
_NO_TEXT: Final = 0xFFFFFFFF


def prepare(parts: Parts) -> tuple[Notice, ...]:
    """Cut off what is damaged of the parts that are XML; the library looks after the others.

    It makes room for all cells between the first and the last one of a sheet, which a sheet states.

    Raises:
        RejectedError: as `Parts.mend`, and ``too-many-cells``.
    """
    most = parts.limits.sheet_cells
    for name in parts.names():
        if _SHEETS.fullmatch(name):
            stated = next(
                (c for kind, c in _records(parts.content(name) or b"") if kind == _SIZE), b""
            )
            first, last, left, right = struct.unpack_from("<4I", stated.ljust(16, b"\0"))
            cells = (last - first + 1) * (right - left + 1)
            if cells > most:
                sentence = f"A sheet spans {cells:,} cells; the limit is {most:,}."
                raise RejectedError("too-many-cells", sentence)
    return parts.mend(_CONCERNED)


def sheet_extras(parts: Parts) -> dict[str, SheetExtras]:
    """Return by the sheet's name whether it is hidden, and its shapes, comments and headers."""
    main = main_part(parts, _MAIN)
    targets = {found.id: found.target for found in relations(parts, main)}
    extras = {}
    for kind, content in _records(parts.content(main) or b""):
        if kind == _SHEET:
            (state,) = struct.unpack_from("<I", content.ljust(4, b"\0"))
            relation, place = _string(content, 8)
            name, _ = _string(content, place)
            blocks = tuple(_blocks(parts, targets.get(relation, "")))
            extras[name] = SheetExtras(hidden=bool(state), blocks=blocks)
    return extras


def _blocks(parts: Parts, sheet: str) -> Iterator[str]:
    yield from drawing_blocks(parts, sheet)
    kinds = {relation.kind: relation.target for relation in relations(parts, sheet)}
    threads = parts.xml(kinds["threadedComment"]) if "threadedComment" in kinds else None
    if threads is not None:  # the plain ones only say so
        yield from comment_blocks(threads)
    else:
        yield from _comments(parts.content(kinds.get("comments", "")) or b"")
    said: dict[str, None] = {}
    for kind, content in _records(parts.content(sheet) or b""):
        if kind == _HEADERS:
            place = 2
            for running in _KINDS:
                coded, place = _string(content, place)
                if text := header_text(coded):
                    said[f"{running}: {text}"] = None
    yield from said


def _comments(part: bytes) -> Iterator[str]:
    cell = ""
    for kind, content in _records(part):
        if kind == _COMMENT:
            row, _, column = struct.unpack_from("<3I", content.ljust(16, b"\0"), 4)
            cell = f"{_letters(column)}{row + 1}"
        elif kind == _COMMENT_TEXT and (text := " ".join(_string(content, 1)[0].split())):
            yield f"Comment on {cell}: {text}"


def _letters(column: int) -> str:
    """Return the name of a column, 0 for A."""
    name = ""
    column += 1
    while column > 0:
        column, letter = divmod(column - 1, 26)
        name = chr(65 + letter) + name
    return name


def _records(part: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the records of a part; one that is cut off with what is left of it."""
    place = 0
    while place < len(part):
        kind = part[place]
        if kind & 0x80 and place + 1 < len(part):
            place += 1
            kind = kind & 0x7F | (part[place] & 0x7F) << 7
        place += 1
        length = 0
        for shift in range(0, 28, 7):
            byte = part[place] if place < len(part) else 0
            place += 1
            length |= (byte & 0x7F) << shift
            if not byte & 0x80:
                break
        yield kind, part[place : place + length]
        place += length


def _string(content: bytes, place: int) -> tuple[str, int]:
    """Return a text behind the number of its characters, and where it ends."""
    if place + 4 > len(content):
        return "", len(content)
    (length,) = struct.unpack_from("<I", content, place)
    place += 4
    if length == _NO_TEXT:
        return "", place
    end = place + 2 * length
    return content[place:end].decode("utf-16-le", "replace"), end
