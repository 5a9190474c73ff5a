"""The little Markdown that the sources are written in."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby


@dataclass(frozen=True)
class Heading:
    """A heading; level 1 is the title of the document."""

    level: int
    text: str


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of plain text."""

    text: str


@dataclass(frozen=True)
class Bullets:
    """A list, with bullets or numbers."""

    items: tuple[str, ...]
    numbered: bool = False


@dataclass(frozen=True)
class Table:
    """A table whose first row is the header."""

    rows: tuple[tuple[str, ...], ...]


Block = Heading | Paragraph | Bullets | Table

_NUMBERED = re.compile(r"\d+\. ")


def parse(markdown: str) -> tuple[Block, ...]:
    """Return the blocks of a source: headings, paragraphs, lists and pipe tables."""
    return tuple(block for part in re.split(r"\n\s*\n", markdown.strip()) for block in _part(part))


def _part(part: str) -> Iterator[Block]:
    for kind, group in groupby(part.splitlines(), _kind):
        lines = list(group)
        if kind == "heading":
            for line in lines:
                marks, text = line.split(" ", 1)
                yield Heading(len(marks), text)
        elif kind == "table":
            yield Table(tuple(_cells(line) for line in lines if not set(line) <= set("|- ")))
        elif kind == "bullet":
            yield Bullets(tuple(line[2:] for line in lines))
        elif kind == "number":
            yield Bullets(tuple(_NUMBERED.sub("", line, count=1) for line in lines), numbered=True)
        else:
            yield Paragraph(" ".join(lines))


def _kind(line: str) -> str:
    if re.match(r"#{1,6} ", line):
        return "heading"
    if line.startswith("|"):
        return "table"
    if line.startswith("- "):
        return "bullet"
    return "number" if _NUMBERED.match(line) else "text"


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.strip().strip("|").split("|"))
