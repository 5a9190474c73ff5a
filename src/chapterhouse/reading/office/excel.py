"""What the all-in-one library leaves out of Excel files: comments, shapes, charts, headers.

Of binary ones ([MS-XLSB]) as well.
"""

import re
import struct
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from html import unescape
from typing import Final
from xml.etree.ElementTree import Element

from chapterhouse.errors import RejectedError
from chapterhouse.reading.markdown import escaped, running_text
from chapterhouse.reading.office.cell_facts import (
    CellFacts,
    NumberFormats,
    xlsb_cells,
    xlsx_cells,
)
from chapterhouse.reading.office.number_formats import BUILT_IN
from chapterhouse.reading.office.ooxml import (
    chart_titles,
    comment_blocks,
    descendants,
    main_part,
    relation_id,
    relations,
)
from chapterhouse.reading.office.parts import Parts
from chapterhouse.types import Notice

_MAIN = "xl/workbook.xml"
_CONCERNED = re.compile(
    r"_rels/\.rels|xl/(?:worksheets|chartsheets|drawings|charts|threadedComments|comments)/(?:_rels/)?[^/]+"
    r"\.(?:xml|rels)|xl/(?:comments\d*|sharedStrings|styles)\.xml"
)
# Codes inside headers: section, font, size, colour, page, date, file and so on ([ECMA-376] part 1,
# 18.3.1.46); what they stand for is not in the file. They follow the cells.
_HEADERS = re.compile(r"<(?:\w+:)?(?:odd|even|first)(Header|Footer)(?:\s[^>]*)?>([^<]*)</")
_HEADERS_BYTES = 20_000
_HEADER_CODE = re.compile(r'&(?:&|"[^"]*"|K[0-9A-Fa-f]{6}|\d+|[A-Za-z])')
_XLSB_MAIN: Final = "xl/workbook.bin"
_XLSB_CONCERNED: Final = re.compile(
    r"_rels/\.rels|xl/(?:(?:worksheets|chartsheets|drawings|charts|threadedComments)/)?"
    r"(?:_rels/)?[^/]+\.(?:xml|rels)"
)
# Numbers of records ([MS-XLSB] 2.3).
_SHEET, _SIZE, _COMMENT, _COMMENT_TEXT, _XLSB_HEADERS = 156, 148, 635, 637, 479
_BOOK, _FORMAT, _STYLE, _CELL_STYLES, _CELL_STYLES_END = 153, 44, 47, 617, 618
_SHEETS: Final = re.compile(r"xl/worksheets/[^/]+\.bin")
_KINDS: Final = ("Header", "Footer") * 3  # of odd, even and first pages
_NO_TEXT: Final = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class SheetExtras:
    """What stands on a sheet beside its cells."""

    hidden: bool
    blocks: tuple[str, ...]
    cells: CellFacts = field(default_factory=CellFacts)


def prepare_xlsx(parts: Parts) -> tuple[Notice, ...]:
    """Cut off the parts that are damaged, for one of which the library refuses a whole workbook."""
    return parts.repair(_CONCERNED, main_part(parts, _MAIN))


def xlsx_sheet_extras(parts: Parts) -> dict[str, SheetExtras]:
    """Return by the sheet's name whether it is hidden, and its shapes, comments and headers."""
    main = main_part(parts, _MAIN)
    root = parts.xml(main)
    if root is None:
        return {}
    targets = {found.id: found.target for found in relations(parts, main)}
    extras = {}
    for sheet in descendants(root, "sheet"):
        target = targets.get(relation_id(sheet), "")
        content = parts.content(target) or b""
        extras[sheet.get("name", "")] = SheetExtras(
            hidden=sheet.get("state", "visible") != "visible",
            blocks=tuple(_blocks(parts, target, _xlsx_headers(content))),
            cells=xlsx_cells(content),
        )
    return extras


def _blocks(parts: Parts, sheet: str, headers: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield what is on a sheet beside its cells; of headers each text once."""
    found = relations(parts, sheet)
    for relation in found:
        if relation.kind == "drawing" and (root := parts.xml(relation.target)) is not None:
            yield from _drawing(parts, relation.target, root)
    notes, threads = (
        [block for one in found if one.kind == kind for block in _comments(parts, one.target)]
        for kind in ("comments", "threadedComment")
    )
    for note in notes:
        if not any(_repeats(note, thread) for thread in threads):
            yield note
    yield from threads
    printed = ((kind, header_text(coded)) for kind, coded in headers)
    yield from dict.fromkeys(f"{kind}: {text}" for kind, text in printed if text)


def _comments(parts: Parts, part: str) -> Iterable[str]:
    if part.endswith(".bin"):
        return _binary_comments(parts.content(part) or b"")
    root = parts.xml(part)
    return () if root is None else comment_blocks(root)


def _repeats(note: str, thread: str) -> bool:
    """Whether a note says, for programs that know no threads, what one on its cell says.

    Such a note begins, in any language, with what it is in brackets.
    """
    place, _, text = thread.partition(": ")
    return note.startswith(f"{place}: [") and text in note


def _drawing(parts: Parts, part: str, root: Element) -> Iterator[str]:
    """Yield the paragraphs of shapes, and the titles of charts, whose numbers are in a sheet."""
    for paragraph in descendants(root, "p"):
        text = "".join(t.text or "" for t in descendants(paragraph, "t"))
        yield escaped(" ".join(text.split()))
    for relation in relations(parts, part):
        if relation.kind == "chart" and (chart := parts.xml(relation.target)) is not None:
            yield from chart_titles(chart)


def _xlsx_headers(sheet: bytes) -> Iterator[tuple[str, str]]:
    """Yield what is printed above and below each page, with its codes."""
    for kind, coded in _HEADERS.findall(sheet[-_HEADERS_BYTES:].decode("utf-8", "replace")):
        yield kind, unescape(coded)


def header_text(coded: str) -> str:
    """Return what a header says, or nothing where it only counts."""
    return running_text(_HEADER_CODE.sub(lambda code: "&" if code[0] == "&&" else " ", coded))


def prepare_xlsb(parts: Parts) -> tuple[Notice, ...]:
    """Cut off what is damaged of the parts that are XML; the library looks after the others.

    It makes room for all cells between the first and the last one of a sheet, which a sheet states.
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
    return parts.repair(_XLSB_CONCERNED)


def xlsb_sheet_extras(parts: Parts) -> dict[str, SheetExtras]:
    """Return by the sheet's name whether it is hidden, and its shapes, comments and headers."""
    main = main_part(parts, _XLSB_MAIN)
    found = relations(parts, main)
    targets = {relation.id: relation.target for relation in found}
    styles = next((one.target for one in found if one.kind == "styles"), "")
    formats = _xlsb_formats(parts.content(main) or b"", parts.content(styles) or b"")
    extras = {}
    for kind, content in _records(parts.content(main) or b""):
        if kind == _SHEET:
            (state,) = struct.unpack_from("<I", content.ljust(4, b"\0"))
            relation, place = _string(content, 8)
            name, _ = _string(content, place)
            target = targets.get(relation, "")
            part = parts.content(target) or b""
            blocks = tuple(_blocks(parts, target, _xlsb_headers(part)))
            cells = CellFacts()
            with suppress(struct.error):  # a record that is cut off
                cells = xlsb_cells(_records(part), formats)
            extras[name] = SheetExtras(hidden=bool(state), blocks=blocks, cells=cells)
    return extras


def _xlsb_formats(book: bytes, styles: bytes) -> NumberFormats:
    """Return how the numbers of cells are shown, by the number of a cell's style."""
    codes, used, is_cell = dict(BUILT_IN), list[int](), False
    from_1904 = any(
        kind == _BOOK and content[:1] and content[0] & 1 for kind, content in _records(book)
    )
    for kind, content in _records(styles):
        is_cell = kind == _CELL_STYLES or (is_cell and kind != _CELL_STYLES_END)
        number, second = struct.unpack_from("<2H", content.ljust(4, b"\0"))
        if kind == _FORMAT:
            codes[number] = _string(content, 2)[0]
        elif kind == _STYLE and is_cell:
            used.append(second)
    return NumberFormats(tuple(codes.get(style, "") for style in used), from_1904)


def _xlsb_headers(sheet: bytes) -> Iterator[tuple[str, str]]:
    for kind, content in _records(sheet):
        place = 2
        for running in _KINDS if kind == _XLSB_HEADERS else ():
            coded, place = _string(content, place)
            yield running, coded


def _binary_comments(part: bytes) -> Iterator[str]:
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
