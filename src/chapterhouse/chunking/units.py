"""How long chunks may be, the smallest stretches that they are made of, and what is known of them.

A unit is a sentence, a table row, a line of code or a heading, with the white space behind it.
Units follow one another and cover the text.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cache, cached_property

from chapterhouse.text.analyse import analyse
from chapterhouse.text.language import detect
from chapterhouse.text.language_data import STOPWORDS
from chapterhouse.text.markdown import Block, BlockKind, blocks, sentence_spans
from chapterhouse.types import Body, Kind, Range

TARGET, MINIMUM, MAXIMUM = 700, 100, 1_500
# Two chunks that are too short and one unit between them must fit into one.
_MAXIMUM_OVER_MINIMUM = 4
_MANY = 2_000  # units, from which their number may be a burden
_TINY = 12  # characters of a unit in the mean, where it is one
_SHORT = 60  # characters to which they are joined then
_WRAPPED = 120  # characters; lines wrapped by hand are shorter
_WIKI_HEADING = re.compile(r"(?:= ?){1,6}[^=\n]+(?:= ?){1,6}[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Limits:
    """Lengths in characters.

    Raises:
        ValueError: unless 1 <= minimum <= target <= maximum and 4 * minimum <= maximum.
    """

    target: int = TARGET  # what most chunks should be near
    minimum: int = MINIMUM  # no chunk is shorter, unless it is the whole document
    maximum: int = MAXIMUM  # no chunk is longer, a repeated table header included

    def __post_init__(self) -> None:
        lengths = f"got {self.minimum}, {self.target} and {self.maximum}"
        if not 1 <= self.minimum <= self.target <= self.maximum:
            raise ValueError(f"lengths must be 1 <= minimum <= target <= maximum, {lengths}")
        if self.minimum * _MAXIMUM_OVER_MINIMUM > self.maximum:
            raise ValueError(
                f"maximum must be at least {_MAXIMUM_OVER_MINIMUM} times minimum, {lengths}"
            )

    @property
    def longest_header(self) -> int:
        """Return how long a table header may be that is repeated in every chunk."""
        return self.maximum // 4

    @property
    def longest_unit(self) -> int:
        """Return the length from which on a sentence or row may be broken.

        Short enough that pieces can always be joined into chunks within the limits: at worst a
        chunk holds a repeated header, too little, a unit, and too little again.
        """
        return max(1, self.maximum - 2 * self.minimum - self.longest_header)


DEFAULT = Limits()


class Border(IntEnum):
    """What a unit starts; the higher, the better a chunk may start with it."""

    PIECE = 0  # the rest of a sentence or row that was too long
    SENTENCE = 1  # or a row, or a line
    BLOCK = 2  # a paragraph, a table, a block of code
    HEADING = 3


@dataclass(frozen=True, slots=True)
class Unit:
    """A stretch that is not cut further."""

    start: int
    end: int
    kind: Kind
    border: Border  # what it starts
    level: int = 0  # of the heading that it is
    header: str = ""  # heading rows to be repeated in a chunk that starts inside a table


def units_of(body: Body) -> Iterator[Unit]:
    """Yield the units of a body in order; they cover its text."""
    text = body.text
    for section_start, section_end in section_bounds(body):
        for block in blocks(text[section_start:section_end]):
            yield from _block_units(text, block, section_start)


def section_bounds(body: Body) -> Iterator[Range]:
    """Yield the stretches of the sections, or the whole text where there are none."""
    if not body.sections and body.text:
        yield 0, len(body.text)
    for section in body.sections:
        yield section.start, section.end


def line_spans(text: str, start: int, end: int) -> Iterator[Range]:
    """Yield the lines of ``text[start:end]``, each with its line feed."""
    while start < end:
        stop = text.find("\n", start, end) + 1 or end
        yield start, stop
        start = stop


def _block_units(text: str, block: Block, offset: int) -> Iterator[Unit]:
    start, end = offset + block.start, offset + block.end
    if block.kind is BlockKind.HEADING:
        yield Unit(start, end, Kind.PROSE, Border.HEADING, level=block.level)
    elif block.kind is BlockKind.TABLE:
        yield from _table_units(text, start, offset + block.body_start, end)
    elif block.kind is BlockKind.CODE:
        yield from _line_units(text, start, end)
    else:
        for first, last in sentence_spans(text, start, end):
            border = _sentence_border(text, start, first) if first > start else Border.BLOCK
            yield Unit(first, last, Kind.PROSE, border)


def _line_units(text: str, start: int, end: int) -> Iterator[Unit]:
    """Yield lines; in a source file, which is one block, a definition is what a heading is.

    It starts behind a blank line and is not indented: a rule that holds for most languages, for
    half a file and for one with a syntax error.
    """
    source_file = start == 0 and end == len(text)
    blank = False
    for first, last in line_spans(text, start, end):
        line = text[first:last]
        border = Border.SENTENCE if first > start else Border.BLOCK
        if source_file and blank and line.strip():
            border = Border.BLOCK if line[0].isspace() else Border.HEADING
        yield Unit(first, last, Kind.CODE, border)
        blank = not line.strip()


def _sentence_border(text: str, start: int, first: int) -> Border:
    """Tell a sentence that starts a paragraph where paragraphs are long lines.

    Text that is not wrapped by hand often has one line a paragraph and no blank lines between.
    """
    feed = text.rfind("\n", start, first)
    if feed < 0 or not text[feed:first].isspace():
        return Border.SENTENCE
    if _WIKI_HEADING.match(text, first):
        return Border.HEADING
    line_before = feed - max(text.rfind("\n", start, feed), start)
    return Border.BLOCK if line_before > _WRAPPED else Border.SENTENCE


def _table_units(text: str, start: int, body_start: int, end: int) -> Iterator[Unit]:
    """Keep the heading rows with the first row; the others can have them repeated."""
    rows = list(line_spans(text, body_start, end))
    header = text[start:body_start]
    first = rows[0][1] if rows else end
    yield Unit(start, first, Kind.TABLE, Border.BLOCK)
    for row_start, row_end in rows[1:]:
        border = Border.SENTENCE if text[row_start:row_end].strip() else Border.PIECE
        yield Unit(row_start, row_end, Kind.TABLE, border, 0, header)


def fit(text: str, units: Iterable[Unit], limits: Limits) -> tuple[Unit, ...]:
    """Break units that are too long, at a space where there is one; drop headers that are."""
    fitting: list[Unit] = []
    for unit in units:
        fitted_unit = replace(unit, header="") if len(unit.header) > limits.longest_header else unit
        border = unit.border
        for start, end in pieces(text, unit.start, unit.end, limits.longest_unit):
            fitting.append(replace(fitted_unit, start=start, end=end, border=border))
            border = Border.PIECE
    length = sum(unit.end - unit.start for unit in fitting)
    tiny = len(fitting) > _MANY and length < _TINY * len(fitting)
    most = min(_SHORT, limits.longest_unit)
    return tuple(_join(fitting, most)) if tiny else tuple(fitting)


def _join(units: Iterable[Unit], most: int) -> Iterator[Unit]:
    """Join neighbours of one kind, in a text of hardly anything but full stops.

    The work of cutting grows with the number of units in a chunk.
    """
    last: Unit | None = None
    for unit in units:
        if last is not None and _continues(last, unit) and unit.end - last.start <= most:
            last = replace(last, end=unit.end)
            continue
        if last is not None:
            yield last
        last = unit
    if last is not None:
        yield last


def _continues(last: Unit, unit: Unit) -> bool:
    alike = (last.kind, last.header, last.level) == (unit.kind, unit.header, unit.level)
    part = unit.border in {Border.SENTENCE, Border.PIECE}
    return alike and part and last.end == unit.start


def pieces(text: str, start: int, end: int, longest: int) -> Iterator[Range]:
    """Break a stretch that is too long, at the last space before the limit where there is one."""
    while end - start > longest:
        space = max(text.rfind(mark, start + 1, start + longest) for mark in " \n\t")
        stop = space + 1 if space > start + longest // 2 else start + longest
        yield start, stop
        start = stop
    yield start, end


Terms = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class AnalysedBody(Body):
    """A body with its language, units and their terms, each found when first asked for.

    Every strategy takes a plain body too and analyses it for itself; handing the same
    ``AnalysedBody`` to several makes them share the work.
    """

    formats: tuple[str, ...] = ()  # what the file is called: its extension, its format

    @cached_property
    def language(self) -> str:
        """ISO 639-1 code, or empty."""
        return detect(self.text)

    @cached_property
    def _fitted(self) -> dict[Limits, "Units"]:
        return {}

    def units(self, limits: Limits) -> "Units":
        """Return the units broken so that they fit into chunks within ``limits``."""
        known = self._fitted.get(limits)
        if known is None:
            units = fit(self.text, units_of(self), limits)
            known = self._fitted[limits] = Units(self.text, self.language, units)
        return known


@dataclass(frozen=True, eq=False)
class Units:
    """Units of a text with their terms."""

    text: str
    language: str
    units: tuple[Unit, ...]

    @cached_property
    def terms(self) -> Sequence[Terms]:
        """Index terms of each unit, in order and with repetitions."""
        text, language = self.text, self.language
        return [tuple(analyse(text[unit.start : unit.end], language)) for unit in self.units]

    @cached_property
    def keywords(self) -> Sequence[frozenset[str]]:
        """Distinct terms of each unit that are no function words."""
        idle = function_terms(self.language)
        return [frozenset(terms).difference(idle) for terms in self.terms]


@cache
def function_terms(language: str) -> frozenset[str]:
    """Return the index terms of the function words of a language; English where it is unknown."""
    words = STOPWORDS.get(language or "en", frozenset())
    return frozenset(term for word in words for term in analyse(word, language))


def analyse_body(body: Body, formats: tuple[str, ...] = ()) -> AnalysedBody:
    """Return ``body`` as one that remembers; itself where it is one already."""
    if isinstance(body, AnalysedBody):
        return body
    return AnalysedBody(body.text, body.sections, body.pages, formats)
