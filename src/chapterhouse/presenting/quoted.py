"""A part of a document, line by line, as blocks."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final

from chapterhouse.presenting.blocks import (
    Block,
    Bullets,
    Code,
    Line,
    Lines,
    Mark,
    Paragraph,
    Style,
    Words,
)
from chapterhouse.text.sanitise import inert

# A sign before a number is no bullet, and would be lost as one.
_ITEM: Final = re.compile(
    r"([ \t]*)(?:[*•‣▪◦●○■]|[-+](?![ \t]+[\d.,$€£])"
    r"|(\d{1,9}[.)]|\(\d{1,3}\)|\(?(?:[a-z]|[ivx]{2,5})\)))[ \t]+(?=\S)"
)
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*[\w+#.-]*[ \t]*")
_CODE: Final = re.compile(r"(?: {4}|\t)[ \t]*\S")
_INDENT, _DEEPEST = 2, 5  # columns of a level, at least; levels shown


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the document: ``kind`` is code, item, text or blank; ``start`` is of its words."""

    kind: str
    text: str
    start: int
    mark: Mark = field(default_factory=Mark)


def quoted_blocks(
    text: str, key_span: tuple[int, int] = (0, 0), after: Line = ()
) -> tuple[Block, ...]:
    """Return a part of a document as blocks that keep its lines.

    Args:
        text: Of one line or of many: prose, a list behind its lead-in, code.
        key_span: Start and end in ``text`` of what is to stand out.
        after: What is said behind it: citations, a note.
    """
    groups = groupby(document_rows(text), lambda row: row.kind)
    blocks = [_block(kind, list(rows), key_span) for kind, rows in groups if kind != "blank"]
    return with_ending(tuple(blocks) or (Paragraph((Words(text),)),), after)


def with_ending(blocks: tuple[Block, ...], after: Line) -> tuple[Block, ...]:
    """Return blocks with something said at the end of the last line, or below it."""
    if not after:
        return blocks
    match blocks[-1]:
        case Paragraph(line):
            return (*blocks[:-1], Paragraph((*line, *after)))
        case Lines(lines):
            return (*blocks[:-1], Lines((*lines[:-1], (*lines[-1], *after))))
        case Bullets(lines, marks):
            return (*blocks[:-1], Bullets((*lines[:-1], (*lines[-1], *after)), marks))
        case _:
            return (*blocks, Paragraph(after))


def _block(kind: str, rows: list[Row], key_span: tuple[int, int]) -> Block:
    if kind == "code":
        return Code("\n".join(row.text for row in rows))
    lines = tuple(_line(row, key_span) for row in rows)
    if kind == "item":
        return Bullets(lines, tuple(row.mark for row in rows))
    return Lines(lines) if lines[1:] else Paragraph(lines[0])


def _line(row: Row, key_span: tuple[int, int]) -> Line:
    """Return the words of a line, those that tell apart: inert before they are cut."""
    text = inert(row.text)
    first, last = (min(max(offset - row.start, 0), len(text)) for offset in key_span)
    cut = ((0, first, Style.PLAIN), (first, last, Style.KEY), (last, None, Style.PLAIN))
    if first >= last:
        return (Words(text),)
    return tuple(Words(text[a:b], style) for a, b, style in cut if text[a:b])


def document_rows(text: str, *, has_fences: bool = True) -> Iterator[Row]:
    """Yield the lines of a text; one that goes on from an item is joined to it, offsets and all."""
    last: Row | None = None
    for row in _rows(text, has_fences=has_fences):
        if last and last.kind == "item" and row.kind == "rest":
            last = replace(last, text=f"{last.text}\n{row.text}")
            continue
        if last:
            yield last
        last = replace(row, kind="text") if row.kind == "rest" else row
    if last:
        yield last


def _rows(text: str, *, has_fences: bool) -> Iterator[Row]:
    position, fence = 0, ""
    columns: list[int] = []  # of the lists that the line stands in
    for line in text.split("\n"):
        start, position = position, position + len(line) + 1
        found = _FENCE.fullmatch(line) if has_fences else None
        item = _ITEM.match(line)
        if fence:
            fence = "" if line.strip() == fence else fence
            yield from (Row("code", line, start),) if fence else ()
        elif found:
            fence, columns = found.group(1), []
        elif item:
            column = len(item.group(1).expandtabs(4))
            columns = [*(one for one in columns if one + _INDENT <= column), column]
            mark = Mark(min(len(columns) - 1, _DEEPEST), item.group(2) or "")
            yield Row("item", line[item.end() :], start + item.end(), mark)
        elif columns and line[:1].isspace() and line.strip():
            yield Row("rest", line, start)
        elif _CODE.match(line):
            yield Row("code", line, start)
        else:
            columns = columns if not line.strip() else []
            yield Row("text" if line.strip() else "blank", line, start)
