"""One PDF page as lines and tables in reading order."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from chapterhouse.reading.markdown import escaped
from chapterhouse.reading.pdf.aligned import aligned_tables
from chapterhouse.reading.pdf.fields import PageMarks, with_marks
from chapterhouse.reading.pdf.headings import heading_of, pairs, table_markdown
from chapterhouse.reading.pdf.layout import Segment, bounding_box, columns, reading_order, segments
from chapterhouse.reading.pdf.tables import Drawing, Table, drawn, ruled_tables
from chapterhouse.reading.pdf.text import (
    LEADERS,
    Box,
    character_count,
    is_right_to_left,
    is_wide,
    page_text,
    page_words,
)
from chapterhouse.text.hyphens import is_torn, join_torn, words_of
from chapterhouse.text.markdown import goes_on

MOST_CHARACTERS = 30_000  # a page with more keeps its plain text: layout is for what people read
# Where a font has no map of characters, PDFium gives its codes for the glyphs. Left out are
# U+F000 to F0FF, by which the bullets of symbol fonts are written.
UNMAPPED = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\ue000-\uefff\uf100-\uf8ff\ufffd\U000f0000-\U0010ffff]"
)
_LEVEL = 2.0  # points by which words on one line may differ in height


class Line(NamedTuple):
    """A line of text, or a whole table as Markdown, in its place on the page.

    ``parts`` are the texts of a line between which there are wide gaps; empty for a table.
    """

    text: str
    box: Box
    size: float = 0.0
    bold: bool = False
    table: Table | None = None
    sideways: bool = False
    parts: tuple[str, ...] = ()

    @property
    def is_entry(self) -> bool:
        """Whether it ends with a number behind dots or a wide gap, as an entry of contents does."""
        has_number = len(self.parts) > 1 and self.parts[-1].isdecimal()
        return has_number or bool(_CONTENTS_ENTRY.search(self.text))


class PageLayout(NamedTuple):
    """What stands on one page, in reading order."""

    lines: tuple[Line, ...]
    height: float  # of the page as it is read, in points
    drawn: Drawing  # besides text
    plain: str = ""  # the text as drawn, in place of lines, where there was too much to lay out
    characters: int = 0  # that PDFium counts

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
    above: Table | None = None,
) -> PageLayout:
    """Return the lines and tables of a loaded page, whose size is in points, and its marks.

    ``above`` is the table with which the page before ends.
    """
    count = character_count(textpage)
    if count > most_characters:
        values = (f"{mark.label}: {mark.text}" for mark in marks.marks if not mark.is_box)
        plain = "\n".join((page_text(textpage), *values, *marks.notes))
        return PageLayout((), size[1], Drawing((), (), 0, complete=False), plain, count)
    content, turn = page_words(textpage, *size)
    words = with_marks(content, marks.marks, turn)
    on_page = drawn(page, turn)
    bottom = max((word.box.bottom for word in words), default=0.0)
    ruled = ruled_tables(words, on_page.rules, above)
    taken = frozenset[int]().union(*(table.words for table in ruled))
    items = segments([word for word in words if word.order not in taken])
    items += map(_stand_in, ruled)
    regions = columns(items)
    aligned = [table for region in regions for table in aligned_tables(region)]
    tables = {min(table.words): table for table in (*ruled, *aligned)}
    lines = list(_lines(reading_order(items, regions), tables))
    size_of_text = max(lines, key=lambda line: len(line.text)).size if lines else 0.0
    for number, note in enumerate(marks.notes, 1):  # below the others, each a paragraph of its own
        top = bottom + 50.0 * number
        lines.append(Line(note, Box(0.0, top, 100.0, top + 10.0), size_of_text))
    return PageLayout(tuple(lines), max(bottom, size[1]), on_page, characters=count)


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
            yield Line(_table_text(table), table.box, table=table)
    if waiting:
        yield _line(waiting)


def _table_text(table: Table) -> str:
    if len(table.rows) == 1:  # of a table of the page before, where it is one
        return escaped(" ".join(filter(None, table.rows[0])))
    if listed := pairs(table):
        return "\n\n".join(map(escaped, listed))
    return table_markdown(heading_of(table))


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
        bounding_box(item.box for item in items),
        longest.size,
        all(item.bold for item in items),
        sideways=longest.sideways,
        parts=tuple(item.text for item in items),
    )


_BULLET = re.compile(r"[•·▪◦‣■□●○➢✓❖\x80-\x9f\ue000-\uf8ff]\s*|[-–—*]\s+")
_NUMBERED = re.compile(r"(?:\(?\d{1,3}[.)]|\(?[a-zA-Z][.)]|\[\d{1,3}\])\s+\S")
_SECTION_NUMBER = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,4})\.?\s+[^\W\d_]")
_SENTENCE_END = re.compile(r"[.!?:;,。！？]['\"”’)\]]*$")
_CONTENTS_ENTRY = re.compile(r"\.\.\.\s*[\w.-]{1,8}$")
_LARGER = 1.12  # of the body's size: from here on a line is a heading
_SMALLEST = 0.95  # of the body's size: a bold line smaller than this is a label
_LONGEST_HEADING = 160
_LONGEST_SENTENCE = 80  # characters of a heading that ends like a sentence
_LEAST_LETTERS = 2
_MOST_BOLD = 0.35  # share of bold text from which it marks no headings
_DEEPEST = 6
_LEVELS_BY_SIZE = 4


class Style(NamedTuple):
    """What the pages of a document have in common."""

    body: float  # size of the body text, in points
    levels: Mapping[float, int]  # of headings by their size, from 1
    bold: bool  # whether bold lines stand out, as they do not where much of the text is bold
    vocabulary: frozenset[str]  # words of the document, for words parted at a line's end


class Block(NamedTuple):
    """A paragraph, list item, heading (``level`` above 0) or table as Markdown."""

    text: str
    level: int = 0
    tight: bool = False  # follows the block before it without an empty line


Outline = Mapping[str, int]  # level of a heading by ``outline_key`` of a bookmark to its page


def style_of(pages: Sequence[Sequence[Line]]) -> Style:
    """Measure the lines of a whole document."""
    weights: Counter[float] = Counter()
    bold = 0
    vocabulary: set[str] = set()
    for lines in pages:
        for line in lines:
            if not line.table:
                weights[line.size] += len(line.text)
                bold += len(line.text) * line.bold
                vocabulary |= words_of(line.text)
    body = max(weights, key=lambda size: (weights[size], size), default=0.0)
    is_emphasised = bold < _MOST_BOLD * weights.total()
    levels = _levels([size for size in weights if size >= _LARGER * body], pages)
    return Style(body, levels, is_emphasised, frozenset(vocabulary))


def _levels(sizes: Sequence[float], pages: Sequence[Sequence[Line]]) -> dict[float, int]:
    """Number the sizes larger than the body's, the largest 1.

    Near sizes count as one, and those of a single page of many (a cover) open no level.
    """
    on_pages = Counter(size for lines in pages for size in {line.size for line in lines})
    least = 2 if len(pages) > 3 else 1  # noqa: PLR2004
    levels: dict[float, int] = {}
    level, last = 1, 0.0
    for size in sorted(sizes, reverse=True):
        if last and size < 0.95 * last:
            level, last = min(level + 1, _LEVELS_BY_SIZE), 0.0
        if on_pages[size] >= least:
            last = last or size
        levels[size] = level
    return levels


def blocks(lines: Sequence[Line], style: Style, outline: Outline) -> list[Block]:
    """Return the lines of one page as blocks in order."""
    return [_block(group, style, outline) for group in _groups(lines, style, outline)]


def markdown(found: Sequence[Block]) -> str:
    """Return blocks as Markdown text."""
    text = ""
    for block in found:
        mark = "#" * block.level + " " if block.level else ""
        parting = "" if not text else "\n" if block.tight else "\n\n"
        text += parting + mark + block.text
    return text


def _groups(lines: Sequence[Line], style: Style, outline: Outline) -> Iterator[list[Line]]:
    """Yield runs of lines that belong to one paragraph, heading, list item or table."""
    group: list[Line] = []
    for line in lines:
        if group and not _belongs(group, line, style, outline):
            yield group
            group = []
        group.append(line)
    if group:
        yield group


def _belongs(group: Sequence[Line], line: Line, style: Style, outline: Outline) -> bool:
    last = group[-1]
    if line.table or last.table or line.sideways != last.sideways:
        return False
    if line.sideways:
        return True
    if abs(line.size - last.size) > 0.08 * max(line.size, last.size):
        return False
    if _heading_level(group[:1], style, outline) != _heading_level([line], style, outline):
        return False
    return _is_near(group, line) and not _begins(group, line)


def _is_near(group: Sequence[Line], line: Line) -> bool:
    """Whether a line stands where the next line of the group would."""
    last = group[-1]
    height = max(last.box.height, line.box.height)
    step = line.box.middle - last.box.middle
    column = _last_column(group)
    usual = last.box.middle - column[-2].box.middle if len(column) > 1 else 1.75 * height
    if step <= 0:  # the next column, or the top of the next frame: only mid-sentence
        return step < -height and _is_open(last)
    overlap = min(last.box.right, line.box.right) - max(last.box.left, line.box.left)
    return step <= min(1.3 * usual, 2.2 * height) and overlap > 0


def _last_column(group: Sequence[Line]) -> Sequence[Line]:
    """Return the lines of a group since it last went on higher up."""
    start = len(group) - 1
    while start and group[start - 1].box.middle < group[start].box.middle:
        start -= 1
    return group[start:]


def _is_open(line: Line) -> bool:
    return line.text.endswith("-") or not _SENTENCE_END.search(line.text)


def _begins(group: Sequence[Line], line: Line) -> bool:
    """Whether a line begins a list item or, by indentation or a short line before, a paragraph."""
    last = group[-1]
    if goes_on(last.text, line.text):
        return False
    if _BULLET.match(line.text) or _NUMBERED.match(line.text) or last.is_entry:
        return True
    if line.box.middle <= last.box.middle:
        return False
    group = _last_column(group)
    left = min(item.box.left for item in group[1:] or group)
    indent = line.size or 10.0
    if is_right_to_left(line.text):
        return False
    if line.box.left > left + indent and last.box.left <= left + indent and len(group) > 1:
        return abs(line.box.centre - last.box.centre) > indent and not _is_open(last)
    right = max(item.box.right for item in (*group, line))
    ended_short = last.box.right < right - 0.25 * (right - left)
    return ended_short and not _is_open(last) and line.box.width > 0.3 * (right - left)


def _block(group: Sequence[Line], style: Style, outline: Outline) -> Block:
    if group[0].table:
        return Block(group[0].text)
    text = joined(group, style.vocabulary)
    level = _heading_level(group, style, outline)
    if level:
        return Block(text, level)
    if match := _BULLET.match(text):
        return Block("- " + text[match.end() :], tight=True)
    if _NUMBERED.match(text) or group[-1].is_entry:
        return Block(text, tight=True)
    return Block(escaped(text))


def joined(group: Sequence[Line], vocabulary: frozenset[str]) -> str:
    """Join lines to one, making words whole that were parted at a line's end."""
    text = ""
    for line in group:
        if not text:
            text = line.text
        elif is_torn(text, line.text):
            text = join_torn(text, line.text, vocabulary)
        elif is_wide(text[-1]) and is_wide(line.text[0]) and not _has_spaces(group):
            text += line.text
        else:
            text = f"{text} {line.text}"
    return text


def _has_spaces(group: Sequence[Line]) -> bool:
    """Whether the script parts words by spaces, as Korean does and Chinese does not."""
    return any("가" <= character <= "힣" for line in group for character in line.text)


def _heading_level(group: Sequence[Line], style: Style, outline: Outline) -> int:
    """Return the level of the heading that these lines are, or 0."""
    line = group[0]
    larger = line.size in style.levels
    bolder = style.bold and line.bold and line.size >= _SMALLEST * style.body
    if line.table or line.sideways or group[-1].is_entry or not (outline or larger or bolder):
        return 0
    text = " ".join(item.text for item in group)
    if len(text) > _LONGEST_HEADING or sum(map(str.isalpha, text)) < _LEAST_LETTERS:
        return 0
    if level := outline.get(outline_key(text), 0):
        return level
    is_sentence = _SENTENCE_END.search(text) and (not larger or len(text) > _LONGEST_SENTENCE)
    if is_sentence or _BULLET.match(text) or not (larger or bolder):
        return 0
    if larger:
        return style.levels[line.size]
    number = _SECTION_NUMBER.match(text)
    deepest = max(style.levels.values(), default=0)
    return min(_DEEPEST, max(deepest + 1, number.group(1).count(".") + 1 if number else 0))


def outline_key(title: str) -> str:
    """Return a title's letters and digits, case folded, without a leading section number."""
    bare = re.sub(r"^\s*[\d.]+\s+", "", title)
    return "".join(character for character in bare.casefold() if character.isalnum())
