"""Running headers, footers and page numbers of a PDF: what repeats at the edge of its pages.

The first occurrence of a running line stays, because it may be the only place that names the
document; its repetitions and all bare page numbers are dropped.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from chapterhouse.reading.pdf_page import Line, PageLayout

_EDGE = 0.12  # share of the page's height at its top and bottom where running lines stand
_LEAST_PAGES = 3  # on which the same line must stand
_LEVEL = 6.0  # points by which its height may differ
_DIGITS = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(
    r"(?:page|seite|página|pagina|p\.)?\s*[-–—|]?\s*(\d{1,4}|[ivxlc]{1,7})\s*[-–—|]?"
    r"(?:\s*(?:of|von|de|di|/)\s*\d{1,4})?",
    re.IGNORECASE,
)

Place = tuple[int, int]  # number of the page from 0, number of the line on it


def running_lines(pages: Sequence[PageLayout]) -> frozenset[Place]:
    """Return the places of the lines that repeat what an earlier page says at the same height."""
    found: defaultdict[str, list[tuple[Place, float]]] = defaultdict(list)
    numbers: list[Place] = []
    for place, line in _edge_lines(pages):
        if _PAGE_NUMBER.fullmatch(line.text):
            numbers.append(place)
        else:
            found[_DIGITS.sub("0", line.text).casefold()].append((place, line.box.middle))
    dropped: set[Place] = set()
    for places in found.values():
        dropped.update(_repetitions(places))
    if len({page for page, _ in numbers}) > 1:  # one number alone may be anything
        dropped.update(numbers)
    return frozenset(dropped)


def _edge_lines(pages: Sequence[PageLayout]) -> Iterator[tuple[Place, Line]]:
    for number, page in enumerate(pages):
        for index, line in enumerate(page.lines):
            at_edge = not _EDGE < line.box.middle / page.height < 1 - _EDGE
            if at_edge and not line.table and not line.sideways:
                yield (number, index), line


def _repetitions(places: Sequence[tuple[Place, float]]) -> Iterator[Place]:
    """Yield all but the first of the places that share their height with enough other pages."""
    levels: defaultdict[int, list[Place]] = defaultdict(list)
    for place, height in places:
        levels[round(height / _LEVEL)].append(place)
    for level in sorted(levels):
        near = sorted(levels[level] + levels.get(level + 1, []))
        if len({page for page, _ in near}) >= _LEAST_PAGES:
            yield from near[1:]
