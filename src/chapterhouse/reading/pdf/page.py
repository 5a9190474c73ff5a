"""One PDF page as lines and tables in reading order."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from chapterhouse.reading.pdf.aligned import aligned_tables
from chapterhouse.reading.pdf.fields import PageMarks, with_marks
from chapterhouse.reading.pdf.layout import Segment, around, columns, reading_order, segments
from chapterhouse.reading.pdf.tables import Drawn, Table, drawn, ruled_tables
from chapterhouse.reading.pdf.text import LEADERS, Box, Word, character_count, page_text, page_words
from chapterhouse.reading.tables import markdown_table

MOST_CHARACTERS = 30_000  # a page with more keeps its plain text: layout is for what people read
# Where a font has no map of characters, PDFium gives its codes for the glyphs. Left out are
# U+F000 to F0FF, by which the bullets of symbol fonts are written.
UNMAPPED = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\ue000-\uefff\uf100-\uf8ff\ufffd\U000f0000-\U0010ffff]"
)
_LEVEL = 2.0  # points by which words on one line may differ in height


class Line(NamedTuple):
    """A line of text or a whole table (``table`` set) in its place on the page.

    ``parts`` are the texts of a line between which there are wide gaps; empty for a table.
    """

    text: str
    box: Box
    size: float = 0.0
    bold: bool = False
    table: bool = False
    sideways: bool = False
    parts: tuple[str, ...] = ()


class PageLayout(NamedTuple):
    """What stands on one page, in reading order.

    Attributes:
        height: Height of the page as it is read, in points.
        drawn: What it draws besides text.
        plain: The text as drawn, in place of lines, where there was too much to lay out.
        characters: Number of characters PDFium counts.
    """

    lines: tuple[Line, ...]
    height: float
    drawn: Drawn
    plain: str = ""
    characters: int = 0

    @property
    def unmapped_share(self) -> float:
        """Share of its characters, spaces left out, whose fonts do not say what they are."""
        text = "".join("".join(line.text.split(" ")) for line in self.lines)
        return len(UNMAPPED.findall(text)) / max(1, len(text))


def page_layout(
    page: Any,
    textpage: Any,
    size: tuple[float, float],
    most_characters: int,
    marks: PageMarks,
) -> PageLayout:
    """Return the lines and tables of a loaded page, whose size is in points, and its marks."""
    count = character_count(textpage)
    if count > most_characters:
        values = (f"{mark.label}: {mark.text}" for mark in marks.marks if not mark.is_box)
        plain = "\n".join((page_text(textpage), *values, *marks.notes))
        return PageLayout((), size[1], Drawn((), (), 0, complete=False), plain, count)
    content, turn = page_words(textpage, *size)
    words = with_marks(content, marks.marks, turn)
    on_page = drawn(page, turn)
    bottom = max((word.box.bottom for word in words), default=0.0)
    ruled = ruled_tables(words, on_page.rules)
    items = segments(_outside(words, ruled)) + [_stand_in(table) for table in ruled]
    regions = columns(items)
    aligned = [table for region in regions for table in aligned_tables(region)]
    tables = {min(table.words): table for table in (*ruled, *aligned)}
    lines = list(_lines(reading_order(items, regions), tables))
    size_of_text = max(lines, key=lambda line: len(line.text)).size if lines else 0.0
    lines += _notes(marks.notes, bottom, size_of_text)
    return PageLayout(tuple(lines), max(bottom, size[1]), on_page, characters=count)


def _notes(notes: Sequence[str], bottom: float, size: float) -> Iterator[Line]:
    """Yield notes as lines below the others, each a paragraph of its own."""
    for number, note in enumerate(notes, 1):
        top = bottom + 50.0 * number
        yield Line(note, Box(0.0, top, 100.0, top + 10.0), size)


def _outside(words: Sequence[Word], tables: Sequence[Table]) -> list[Word]:
    taken = frozenset[int]().union(*(table.words for table in tables))
    return [word for word in words if word.order not in taken]


def _stand_in(table: Table) -> Segment:
    return Segment((), table.box, 0.0, bold=False, line=-1, order=min(table.words), sideways=False)


def _lines(ordered: Sequence[Segment], tables: Mapping[int, Table]) -> Iterator[Line]:
    """Yield each table where its first word stands, and the segments outside tables as lines."""
    inside = {order: table for table in tables.values() for order in table.words}
    reported: set[int] = set()
    waiting: list[Segment] = []
    for item in ordered:
        table = inside.get(item.order)
        if waiting and (table or not _same_line(waiting[-1], item)):
            yield _line(waiting)
            waiting = []
        if table is None:
            waiting.append(item)
        elif id(table) not in reported:
            reported.add(id(table))
            yield Line(markdown_table(table.rows).rstrip(), table.box, table=True)
    if waiting:
        yield _line(waiting)


def _same_line(one: Segment, other: Segment) -> bool:
    if one.sideways or other.sideways:
        return one.sideways == other.sideways and one.line == other.line
    if one.line == other.line:
        return True
    shared = min(one.box.bottom, other.box.bottom) - max(one.box.top, other.box.top)
    gap = other.box.left - one.box.right
    level = abs(one.box.middle - other.box.middle) < _LEVEL
    near = level or -1 <= gap < 2 * max(one.size, other.size)
    return shared > 0.5 * min(one.box.height, other.box.height) and gap > -1 and near


def _line(items: Sequence[Segment]) -> Line:
    longest = max(items, key=lambda item: len(item.text))
    return Line(
        LEADERS.sub(" ...", " ".join(item.text for item in items)),
        around(item.box for item in items),
        longest.size,
        all(item.bold for item in items),
        sideways=longest.sideways,
        parts=tuple(item.text for item in items),
    )
