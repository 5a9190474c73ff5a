"""Tables that go on over the page: the headings of the first page count for the rows of all."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from chapterhouse.reading.pdf.headings import Heading, continued, heading_of, pairs, table_markdown
from chapterhouse.reading.pdf.page import Line
from chapterhouse.reading.pdf.tables import MOST_REPEATED, Table

_LOW = 0.85  # of the page's height: where a table that goes on ends
_LONGEST = 120  # characters of a line that says that a table goes on
_GOES_ON = re.compile(
    r"continued|cont[.’']?d\b|\(cont\.\)|fortsetzung|forts\.|\bsuite\b|continuaci[óo]n|continua[çc][ãa]o|"
    r"\bcontinua\b|\bsegue\b|vervolg|fortsättning|fortsættelse|fortsettelse|jatkuu|продолжение|続き|续表",
    re.IGNORECASE,
)
_PAGE_NUMBER = re.compile(r"\W*(?:[^\W\d]{1,8}\.?\s*)?\d{1,4}(?:\s*[^\W\d]{0,4}/?\s*\d{1,4})?\W*")
_DIGITS = re.compile(r"\d+")


class _Ending(NamedTuple):
    table: Table
    heading: Heading
    is_low: bool


def continue_tables(pages: Sequence[Sequence[Line]], heights: Sequence[float]) -> list[list[Line]]:
    """Return the lines of pages, the tables with which they begin under the headings before."""
    found: list[list[Line]] = []
    above: _Ending | None = None
    for number, (lines, height) in enumerate(zip(pages, heights, strict=True)):
        written = list(lines)
        before = pages[number - 1] if number else ()
        following = pages[number + 1] if number + 1 < len(pages) else ()
        first = _outermost(lines, _texts(before))
        heading = None
        if above is not None and first is not None and (table := lines[first].table):
            heading = continued(above.table, above.heading, table, is_low=above.is_low)
            if heading is not None:
                heading = _labelled(above.heading.rows, heading)
                written[first] = lines[first]._replace(text=table_markdown(heading))
        found.append(written)
        last = _outermost(lines[::-1], _texts(following))
        above = None
        if last is not None and (table := lines[-1 - last].table):
            own = heading if heading and first == len(lines) - 1 - last else None
            low = table.box.bottom >= _LOW * height
            if own or (len(table.rows) > 1 and not pairs(table)):
                above = _Ending(table, own or heading_of(table), low)
    return found


def _labelled(above: Sequence[Sequence[str]], heading: Heading) -> Heading:
    """Return rows whose first have the label of the last above, where the page's end cuts it off.

    That is so where all rows above have labels, and labels of several rows are known.
    """
    labels = [row[0] for row in above]
    cut = 0
    while cut < len(heading.rows) and not heading.rows[cut][0] and any(heading.rows[cut][1:]):
        cut += 1
    is_known = cut > 1 or any(one == other for one, other in pairwise(labels))
    if not cut or not is_known or not all(labels) or len(labels[-1]) > MOST_REPEATED:
        return heading
    under = ((labels[-1], *row[1:]) for row in heading.rows[:cut])
    return heading._replace(rows=(*under, *heading.rows[cut:]))


def _outermost(lines: Sequence[Line], elsewhere: frozenset[str]) -> int | None:
    """Return the place of the first table, if what is before it belongs to every page."""
    for place, line in enumerate(lines):
        if line.table:
            return place
        goes_on = len(line.text) <= _LONGEST and _GOES_ON.search(line.text)
        repeated = _masked(line.text) in elsewhere or _PAGE_NUMBER.fullmatch(line.text)
        if not (goes_on or repeated):
            return None
    return None


def _texts(lines: Sequence[Line]) -> frozenset[str]:
    return frozenset(_masked(line.text) for line in lines if not line.table)


def _masked(text: str) -> str:
    return _DIGITS.sub("0", text).casefold()
