"""Which row of a table heads the others: its first, that of the page before, or none.

A value under a false heading is worse than one under none, so a first row that may be one of the
others heads nothing.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from chapterhouse.reading.grid_headings import can_head, has_digits
from chapterhouse.reading.markdown import markdown_table
from chapterhouse.reading.pdf.tables import Table, same_places

_NEAR = 6.0  # points by which the words of a column may stand elsewhere on the next page
_LABELLED = 0.6  # share of the rows of a list of pairs whose first cell ends with a colon
_LONGEST_NAME = 60  # characters of the name of a pair
_PAIR = 2
_NAME = re.compile(r"\(?(?=\w).*[^\W\d]", re.DOTALL)  # no bullet before it
_LABEL = re.compile(r".*\w.*[:\uff1a]\s*\Z", re.DOTALL)
_NO_COLON = re.compile(r"[:\uff1a]|\A\(?\w{1,5}[.)]\Z")  # it has one, or numbers an item
_VALUE = re.compile(r"[^\w]{0,3}\d")


class Heading(NamedTuple):
    """What heads a table, and the rows below it; ``cells`` are empty where nothing does."""

    cells: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def heading_of(table: Table) -> Heading:
    """Return the heading row of a table by itself."""
    width = len(table.rows[0])
    if table.bold_top or can_head(table.rows[0], table.rows[1:]):
        return Heading(table.rows[0], table.rows[1:])
    return Heading(("",) * width, table.rows)


def continued(above: Table, heading: Heading, table: Table, *, is_low: bool) -> Heading | None:
    """Return the heading of a table with which that of the page before may go on.

    None where it is another table. ``is_low`` says that the one above ends low on its page.
    """
    first = table.rows[0]
    if len(first) != len(heading.cells) or not _same_columns(above, table):
        return None
    if _folded(first) == _folded(heading.cells):
        return Heading(heading.cells, table.rows[1:]) if len(table.rows) > 1 else None
    goes_on = _is_further_row(above, heading, table, is_low=is_low)
    if goes_on is None:
        return Heading(("",) * len(first), table.rows)
    return Heading(heading.cells, table.rows) if goes_on else None


def _is_further_row(above: Table, heading: Heading, table: Table, *, is_low: bool) -> bool | None:
    """Whether a first row is one of the rows of the page before; None where nothing says so."""
    first = table.rows[0]
    asked = [column for column in _numeric_columns(heading.rows) if first[column]]
    if any(not _holds_numbers(heading.rows, n) for n in _numeric_columns(table.rows)):
        return None
    if asked:
        numbers = sum(any(map(str.isdigit, first[column])) for column in asked)
        named = not any(map(_VALUE.match, (heading.cells[column] for column in asked)))
        if numbers == len(asked) and (named or not table.bold_top):
            return True
        return None if numbers and not table.bold_top else False
    if table.bold_top or not any(heading.cells):
        return not table.bold_top
    known = [{row[column] for row in heading.rows} for column in range(len(first))]
    recurs = any(cell and cell in known[column] for column, cell in enumerate(first))
    return True if above.bold_top or recurs or (is_low and table.edges) else None


def pairs(table: Table) -> tuple[str, ...]:
    """Return the names and values of a list of pairs, which has no headings; of others nothing."""
    return tuple(_pairs(table.rows)) if _is_list_of_pairs(table) else ()


def table_markdown(heading: Heading) -> str:
    """Return a table with its heading row as Markdown."""
    return markdown_table([heading.cells, *heading.rows]).rstrip()


def _is_list_of_pairs(table: Table) -> bool:
    rows = table.rows
    width = len(rows[0])
    if width % _PAIR or table.bold_top:
        return False
    names = [row[column] for row in rows for column in range(0, width, _PAIR) if row[column]]
    if any(len(name) > _LONGEST_NAME or not _NAME.match(name) for name in names):
        return False
    labels = sum(_LABEL.match(name) is not None for name in names)
    if _LABEL.match(rows[0][0]) and labels >= _LABELLED * len(names):
        values = [row[column] for row in rows for column in range(1, width, _PAIR)]
        return not any(map(_LABEL.match, values))
    if width != _PAIR or len(set(names)) < len(rows):
        return False
    return table.bold_side or not can_head(rows[0], rows[1:])


def _pairs(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for row in rows:
        for name, value in zip(row[::_PAIR], row[1::_PAIR], strict=True):
            colon = ":" if name and value and not _NO_COLON.search(name) else ""
            if pair := f"{name}{colon} {value}".strip():
                yield pair


def _numeric_columns(rows: Sequence[Sequence[str]]) -> list[int]:
    return [column for column in range(len(rows[0]) if rows else 0) if has_digits(rows, column)]


def _holds_numbers(rows: Sequence[Sequence[str]], column: int) -> bool:
    """Whether some cell of a column holds a digit, or all are empty."""
    cells = [row[column] for row in rows if row[column]]
    return not cells or any(any(map(str.isdigit, cell)) for cell in cells)


def _same_columns(above: Table, table: Table) -> bool:
    if above.edges or table.edges:
        return same_places(above.edges, table.edges)
    if len(above.columns) != len(table.columns):
        return False
    return all(
        min(abs(a - c), abs(b - d), abs(a + b - c - d) / 2) <= _NEAR and a < d and c < b
        for (a, b), (c, d) in zip(above.columns, table.columns, strict=True)
    )


def _folded(row: Sequence[str]) -> list[str]:
    return ["".join(cell.split()).casefold() for cell in row]
