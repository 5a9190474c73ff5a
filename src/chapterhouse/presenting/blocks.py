"""The parts of which answers, hits and minutes are made up for readers, in whatever format.

All text in them may come from a document or a model: it is for the renderer to make it inert.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from operator import attrgetter
from typing import TypeVar

from chapterhouse.types import Citation

Value = TypeVar("Value")


class Style(StrEnum):
    """How words stand out."""

    PLAIN = "plain"
    STRONG = "strong"
    WARNING = "warning"  # what a reader is to beware of
    QUIET = "quiet"  # about the words beside it
    KEY = "key"  # what comes closest, where the rest only surrounds it
    GOOD = "good"  # what went well
    BAD = "bad"  # what did not
    TITLE = "title"  # what it is about
    NOTABLE = "notable"  # what is new, or was measured


@dataclass(frozen=True, slots=True)
class Words:
    """Some text."""

    text: str
    style: Style = Style.PLAIN


@dataclass(frozen=True, slots=True)
class CitationBlock:
    """Numbers of citations, as they are called in all of what is shown."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StatementName:
    """The id of a statement, where it is made or where it is meant.

    Attributes:
        anchor: Of the statement, unique in the whole of the minutes; empty where there is none.
    """

    name: str
    anchor: str = ""
    stated: bool = False


Line = tuple[Words | CitationBlock | StatementName, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A line of its own."""

    line: Line


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines that stay apart, as those of an address or of a table's row."""

    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """What stands before an item in a document.

    Attributes:
        depth: 0 for the outermost list.
        number: As written, like ``3.``; empty for a bullet.
    """

    depth: int = 0
    number: str = ""


@dataclass(frozen=True, slots=True)
class Bullets:
    """Items of a list.

    Attributes:
        marks: Of a document's own list, one for each line; none for a list of ours.
    """

    lines: tuple[Line, ...]
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class Code:
    """Lines in which every space counts."""

    text: str


@dataclass(frozen=True, slots=True)
class Verbatim:
    """A text in which every space counts, as in a list of files; ``indent`` counts columns."""

    line: tuple[Words, ...]
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Raw:
    """A text that is copied as it is, such as a page of Markdown or a whole document."""

    text: str


@dataclass(frozen=True, slots=True)
class Columns:
    """Rows of texts in aligned columns; the first names them where there is a ``header``.

    Attributes:
        whole: Numbers of columns that are not shortened, such as names to be copied.
        below: For each row what stands under it; or empty.
        wrap: Whether long texts are wrapped rather than shortened.
    """

    rows: Sequence[Sequence[str]]
    header: bool = True
    whole: Collection[int] = ()
    below: Sequence[str] = ()
    wrap: bool = False


@dataclass(frozen=True, slots=True)
class Sources:
    """Citations by how they are called."""

    citations: tuple[tuple[str, Citation], ...]


@dataclass(frozen=True, slots=True)
class GridCell:
    """A cell of a table.

    Attributes:
        tone: A stance, where it shows one; or empty.
        more: What belongs to it and opens on a page; elsewhere it follows.
    """

    line: Line
    tone: str = ""
    more: Line = ()

    @property
    def whole(self) -> Line:
        """All that it says."""
        return (
            (*self.line, Words(": "), *self.more)
            if self.line and self.more
            else (self.line or self.more)
        )


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: its first column names the rows, which are as long as ``columns``.

    Attributes:
        sortable: Whether a page lets its rows be sorted and searched.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[GridCell, ...], ...]
    sortable: bool = False


Block = Paragraph | Lines | Bullets | Code | Grid | Sources
TerminalBlock = Block | Verbatim | Raw | Columns  # the others are only ever printed


@dataclass(frozen=True, slots=True)
class Part:
    """A part, with a title or without.

    Attributes:
        key: Names it in addresses: lower-case letters, digits and hyphens.
        parts: What stands below it under titles of their own.
    """

    key: str
    title: str
    blocks: tuple[Block, ...] = ()
    parts: tuple["Part", ...] = field(default=())


def plain(text: str) -> Line:
    """Return a line of plain words."""
    return (Words(text),)


def verbatim(*parts: str | tuple[str, Style], indent: int = 0) -> Verbatim:
    """Return a line of texts, plain or with a style."""
    words = (Words(one) if isinstance(one, str) else Words(*one) for one in parts)
    return Verbatim(tuple(words), indent)


def table(
    found: Iterable[Value],
    *columns: str | tuple[str, Callable[[Value], object]],
    none: str = "",
    whole: Collection[int] = (),
    below: Callable[[Value], str] | None = None,
    wrap: bool = False,
) -> Iterator[TerminalBlock]:
    """Yield a row for each value below the names of its columns; or ``none`` where there are none.

    A column is what its function makes of a value, else the attribute that is called as it is. The
    rest is as in ``Columns``.
    """
    made = list(found)
    if none and not made:
        yield verbatim(none)
        return
    gets = [
        attrgetter(one.replace(" ", "_")) if isinstance(one, str) else one[1] for one in columns
    ]
    header = [one if isinstance(one, str) else one[0] for one in columns]
    rows = [[_cell(get(one)) for get in gets] for one in made]
    reasons = ["", *map(below, made)] if below else ()
    yield Columns([header, *rows], whole=whole, below=reasons, wrap=wrap)


def record(value: object, *rows: str | tuple[str, object]) -> Columns:
    """Return what is known of a value in two columns, without what is empty.

    A row is a name with what stands behind it, else the attribute that is called as it is.
    """
    named = [(one, getattr(value, one)) if isinstance(one, str) else one for one in rows]
    cells = [(name, _cell(entry)) for name, entry in named]
    return Columns([row for row in cells if row[1]], header=False)


def _cell(value: object) -> str:
    """Return a value for people: yes or no, ``1,024``, the value of an enumeration, a list."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case Enum():
            return str(value.value)
        case int():
            return f"{value:,}"
        case tuple() | list():
            return ", ".join(map(str, value))
        case _:
            return str(value)


def paragraph(text: str, style: Style = Style.PLAIN) -> Paragraph:
    """Return a line of its own in one style."""
    return Paragraph((Words(text, style),))


def lines_of(block: Block) -> Iterator[Line]:
    """Yield every line of a block."""
    match block:
        case Paragraph(line):
            yield line
        case Lines(lines) | Bullets(lines):
            yield from lines
        case Grid():
            yield from (cell.whole for row in block.rows for cell in row)
        case Code() | Sources():
            pass


def names_in(block: Block) -> Iterator[str]:
    """Yield every citation in a block, by how it is called."""
    for line in lines_of(block):
        for run in line:
            if isinstance(run, CitationBlock):
                yield from run.names
