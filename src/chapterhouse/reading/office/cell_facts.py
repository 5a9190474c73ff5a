"""What a sheet says of its cells that the all-in-one library leaves out.

Which are merged, and in binary files how numbers are shown. The library begins a sheet at its
first cell with a value, so that its cells are found again by where the others begin and end.
"""

import re
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from chapterhouse.reading.grid import Span
from chapterhouse.reading.office.number_formats import show_number

_MERGED: Final = re.compile(
    rb"<(?:\w+:)?mergeCell\s[^>]*?ref\s*=\s*[\"']\$?([A-Z]{1,3})\$?(\d{1,7}):\$?([A-Z]{1,3})\$?(\d{1,7})[\"']"
)
_FILLED: Final = re.compile(
    rb"<(?:\w+:)?c\s[^>]*?\br\s*=\s*[\"']([A-Z]{1,3})(\d{1,7})[\"'][^>]*(?<!/)>\s*<(?!/)"
)
# Numbers of records in [MS-XLSB] 2.3: cells with values, those with a number among them.
_ROW, _XLSB_MERGED, _XLSB_SHORT, _XLSB_NUMBERS = 0, 176, 2, (5, 9)
_XLSB_CELLS: Final = range(2, 12)
_STYLE: Final = 0xFFFFFF
# Numbers of records ([MS-XLS] 2.3): cells with texts or truth values, and with numbers.
_NUMBER, _SHORT, _SHORTS, _FORMULA = 0x203, 0x27E, 0xBD, 0x06
_CELLS: Final = frozenset({0xFD, 0x204, 0xD6, 0x205, _NUMBER, _SHORT, _FORMULA})
_MERGES, _START, _END = 0xE5, 0x809, 0x0A
_NO_NUMBER: Final = b"\xff\xff"  # of a formula
_EMPTY: Final = 3  # what a formula without a value results in


@dataclass(frozen=True, slots=True)
class NumberFormats:
    """The formats of a binary workbook, by the number of a cell's style."""

    codes: tuple[str, ...] = ()
    from_1904: bool = False

    def shown(self, value: float, style: int) -> str:
        """Return what a cell shows; empty where the number says it better."""
        code = self.codes[style] if style < len(self.codes) else ""
        return show_number(f"{value:.15g}", code, from_1904=self.from_1904) if code else ""


@dataclass(slots=True)
class CellFacts:
    """By places in the sheet: where cells have values, which are merged, what numbers show."""

    formats: NumberFormats = NumberFormats()
    rows: set[int] = field(default_factory=set)
    columns: set[int] = field(default_factory=set)
    spans: list[Span] = field(default_factory=list)
    shown: dict[tuple[int, int], str] = field(default_factory=dict)

    def add(self, row: int, column: int, value: float | None = None, style: int = 0) -> None:
        """Add a cell that has a value: a number, or something else."""
        self.rows.add(row)
        self.columns.add(column)
        if value is not None and (text := self.formats.shown(value, style)):
            self.shown[row, column] = text


def with_facts(
    rows: Sequence[Sequence[str]], facts: CellFacts
) -> tuple[Sequence[Sequence[str]], Sequence[Span]]:
    """Return rows whose numbers are as shown, and which of their cells are merged.

    Both are left as they were where the sheet ends elsewhere than the rows.
    """
    top, left = min(facts.rows, default=0), min(facts.columns, default=0)
    size = max(facts.rows, default=-1) - top + 1, max(facts.columns, default=-1) - left + 1
    if not rows or (len(rows), len(rows[0])) != size:
        return rows, ()
    if facts.shown:
        rows = own = [list(row) for row in rows]
        for (row, column), text in facts.shown.items():
            own[row - top][column - left] = text
    return rows, [
        Span(span.top - top, span.left - left, span.bottom - top, span.right - left)
        for span in facts.spans
        if span.top >= top and span.left >= left
    ]


def xlsx_cells(sheet: bytes) -> CellFacts:
    """Return which cells of a sheet in XML are merged."""
    facts = CellFacts()
    if b"mergeCell " in sheet:
        for letters, row in set(_FILLED.findall(sheet)):
            facts.add(int(row) - 1, _column(letters))
        for left, top, right, bottom in _MERGED.findall(sheet):
            facts.spans.append(Span(int(top) - 1, _column(left), int(bottom) - 1, _column(right)))
    return facts


@cache
def _column(letters: bytes) -> int:
    """Return the number of a column, 0 for A."""
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number - 1


def xls_cells(records: Iterable[tuple[int, bytes]], formats: NumberFormats) -> CellFacts:
    """Return which cells of a sheet of before 2007 are merged, and what their numbers show."""
    facts = CellFacts(formats)
    depth = 0
    for kind, content in records:
        depth += (kind == _START) - (kind == _END)
        if depth > 1:  # a chart on the sheet, which has cells of its own
            continue
        if kind == _MERGES:
            (count,) = struct.unpack_from("<H", content)
            for top, bottom, left, right in struct.iter_unpack("<4H", content[2 : 2 + 8 * count]):
                facts.spans.append(Span(top, left, bottom, right))
        elif kind == _SHORTS:
            row, first = struct.unpack_from("<2H", content)
            for place, (style, short) in enumerate(struct.iter_unpack("<HI", content[4:-2])):
                facts.add(row, first + place, _short_number(short), style)
        elif kind in _CELLS:
            row, column, style = struct.unpack_from("<3H", content)
            value = _stored(kind, content)
            if kind != _FORMULA or value is not None or content[6] != _EMPTY:
                facts.add(row, column, value, style)
    return facts


def _stored(kind: int, content: bytes) -> float | None:
    """Return the number in a record; None where it has a text."""
    if kind == _SHORT:
        return _short_number(*struct.unpack_from("<I", content, 6))
    if kind == _NUMBER or (kind == _FORMULA and content[12:14] != _NO_NUMBER):
        return float(*struct.unpack_from("<d", content, 6))
    return None


def xlsb_cells(records: Iterable[tuple[int, bytes]], formats: NumberFormats) -> CellFacts:
    """Return which cells of a binary sheet are merged, and what their numbers show."""
    facts = CellFacts(formats)
    row = 0
    for kind, content in records:
        if kind == _ROW:
            (row,) = struct.unpack_from("<I", content)
        elif kind == _XLSB_MERGED:
            top, bottom, left, right = struct.unpack_from("<4I", content)
            facts.spans.append(Span(top, left, bottom, right))
        elif kind in _XLSB_CELLS:
            column, style = struct.unpack_from("<2I", content)
            value: float | None = None
            if kind == _XLSB_SHORT:
                value = _short_number(*struct.unpack_from("<I", content, 8))
            elif kind in _XLSB_NUMBERS:
                (value,) = struct.unpack_from("<d", content, 8)
            facts.add(row, column, value, style & _STYLE)
    return facts


def _short_number(stored: int) -> float:
    """Return a number of four bytes ([MS-XLS] 2.5.217): an integer, or half of a float."""
    if stored & 2:
        value = float(stored >> 2 if stored < 1 << 31 else (stored >> 2) - (1 << 30))
    else:
        (value,) = struct.unpack("<d", struct.pack("<Q", (stored & 0xFFFFFFFC) << 32))
    return value / 100 if stored & 1 else value
