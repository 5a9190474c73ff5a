"""The parts of which minutes are made up for readers, whatever form they are shown in.

All text in them may come from a document or a model: it is for the form to make it inert.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class Style(StrEnum):
    """How words stand out."""

    PLAIN = "plain"
    STRONG = "strong"
    WARNING = "warning"  # what a reader is to beware of
    QUIET = "quiet"  # about the words beside it


@dataclass(frozen=True, slots=True)
class Words:
    """A stretch of text."""

    text: str
    style: Style = Style.PLAIN


@dataclass(frozen=True, slots=True)
class Cited:
    """Numbers of citations, as they are called in the whole of the minutes."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClaimName:
    """The name of a claim, where it is stated or where it is meant.

    Attributes:
        anchor: Of the claim, unique in the whole of the minutes; empty where there is none.
        stated: Whether this is the place where it is stated.
    """

    name: str
    anchor: str = ""
    stated: bool = False


Line = tuple[Words | Cited | ClaimName, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A line of its own."""

    line: Line


@dataclass(frozen=True, slots=True)
class Bullets:
    """Lines below each other."""

    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class GridCell:
    """A cell of a table.

    Attributes:
        tone: A stance or a leaning, where it shows one; or empty.
    """

    line: Line
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: its first column names the rows.

    Attributes:
        caption: What it shows.
        columns: What stands above each column, the first included.
        rows: As long as ``columns``.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[GridCell, ...], ...]


@dataclass(frozen=True, slots=True)
class Facing:
    """One side of what is disputed.

    Attributes:
        who: Who is on it.
        value: What it states.
        date: Of its document, with what that means.
    """

    who: str
    line: Line
    value: str = ""
    date: str = ""
    newer: bool = False


@dataclass(frozen=True, slots=True)
class Opposed:
    """Two sides beside each other, and what can be said of them."""

    title: str
    sides: tuple[Facing, Facing]
    verdict: str


Block = Paragraph | Bullets | Grid | Opposed


@dataclass(frozen=True, slots=True)
class Part:
    """A titled part.

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


def paragraphs(lines: Sequence[str]) -> tuple[Paragraph, ...]:
    """Return a paragraph for each text."""
    return tuple(Paragraph(plain(line)) for line in lines)
