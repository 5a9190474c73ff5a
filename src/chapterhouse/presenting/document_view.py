"""A document around a passage as blocks for a page; exactly the characters of the passage marked.

What is shown is the text as it is stored, whose inline Markdown is left as it is written. Not shown
is only what makes the blocks: white space around them, the signs of headings and their underlines,
lines that fence code, the pipes of a table with its row of dashes and the backslash before a pipe
in a cell.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby
from typing import Final, NamedTuple

from chapterhouse.presenting.quoted import Row, document_rows
from chapterhouse.text.markdown import ATX, CELL, FENCE, PLAIN, Block, BlockKind, blocks
from chapterhouse.types import Body, Range

LONGEST: Final = 20_000  # characters that are shown at once, the heading rows of tables apart
_PIECES: Final = 8  # of a block that is as long as that
_MESSAGES: Final = frozenset({"eml", "msg"})
_HEADERS: Final = 2  # blocks at the top of a message: its subject, and who wrote it when to whom
_BEFORE_PIPE: Final = re.compile(r"\\(?=\|)")


@dataclass(frozen=True, slots=True)
class Run:
    """Characters of the document that follow one another, all of the passage or none."""

    text: str
    is_marked: bool


Runs = tuple[Run, ...]


class ViewKind(StrEnum):
    """What a block of a document is."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"
    TABLE = "table"
    CODE = "code"
    PAGE = "page"  # where a page, slide or sheet begins


@dataclass(frozen=True, slots=True)
class ViewBlock:
    """A block of a document.

    Attributes:
        runs: Its text; its lines stay apart by line feeds.
        level: Of a heading, from 1; of an item, 0 for the outermost list; number of a page.
        anchor: Of a heading, unique in the document.
        marker: What stands before the text of an item, as written.
        header: The cells of a table's heading row.
        rows: The cells of its other rows.
        label: The own name of a page.
    """

    kind: ViewKind
    runs: Runs = ()
    level: int = 0
    anchor: str = ""
    marker: Runs = ()
    header: tuple[Runs, ...] = ()
    rows: tuple[tuple[Runs, ...], ...] = ()
    label: str = ""


@dataclass(frozen=True, slots=True)
class DocumentView:
    """The part ``[start, end)`` of a document.

    Attributes:
        opening: The headers of a message that begins before this part.
        earlier: Where the part before this one begins, None where there is none.
        later: Likewise the one behind it.
    """

    blocks: tuple[ViewBlock, ...]
    start: int
    end: int
    opening: tuple[ViewBlock, ...] = ()
    earlier: int | None = None
    later: int | None = None


class _Piece(NamedTuple):
    start: int
    end: int
    block: Block  # that it is of


def view_document(
    body: Body, format_: str, span: Range = (0, 0), *, begin: int | None = None
) -> DocumentView:
    """Return the part of a document around a passage.

    Args:
        format_: Of the document: in a plain text nothing is a heading, table or code.
        span: Start and end of the passage.
        begin: Where another part begins, as ``earlier`` and ``later`` say it.
    """
    text = body.text
    at = span[0] if begin is None else begin
    pieces = list(_pieces(text, _blocks(body, format_, at)))
    if not pieces:
        return DocumentView((), 0, 0)
    place = max(0, bisect_right(pieces, at, key=lambda piece: piece.start) - 1)
    before = 0 if begin is not None else (LONGEST - min(span[1] - span[0], LONGEST)) // 2
    first = _first(pieces, place, before)
    last = _last(pieces, first)
    shown = pieces[first:last]
    start, end = shown[0].start, shown[-1].end
    above = pieces[: min(first, _HEADERS)] if format_ in _MESSAGES else ()
    return DocumentView(
        tuple(_view(body, shown, span)),
        start,
        end,
        tuple(_view(body, above, span)),
        pieces[_first(pieces, first, LONGEST)].start if start else None,
        end if end < len(text) else None,
    )


def _first(pieces: Sequence[_Piece], place: int, most: int) -> int:
    """Return the first of the pieces that fit before one."""
    end = pieces[place].start
    while place and end - pieces[place - 1].start <= most:
        place -= 1
    return place


def _last(pieces: Sequence[_Piece], first: int) -> int:
    """Return where the pieces end that fit from one on, at least that one."""
    last = first + 1
    while last < len(pieces) and pieces[last].end - pieces[first].start <= LONGEST:
        last += 1
    return last


def _blocks(body: Body, format_: str, at: int) -> Iterator[Block]:
    """Yield the blocks of the sections around a place: there may be millions in the document."""
    if format_ in PLAIN:
        yield from (Block(BlockKind.PARAGRAPH, 0, len(body.text)),) if body.text else ()
        return
    low = 0 if format_ in _MESSAGES else at - 2 * LONGEST
    near = [one for one in body.sections if one.end > low and one.start < at + 2 * LONGEST]
    shift = near[0].start if near else 0
    for one in blocks(body.text[shift : near[-1].end if near else None]):
        start, end, rows = (place + shift for place in (one.start, one.end, one.body_start))
        yield replace(one, start=start, end=end, body_start=rows)


def _pieces(text: str, found: Iterable[Block]) -> Iterator[_Piece]:
    """Cut long blocks at the ends of their lines, and lines that are none of a table."""
    longest = LONGEST // _PIECES
    for block in found:
        start = block.start
        while block.end - start > longest:
            end = text.rfind("\n", start, start + longest) + 1
            if end <= start and block.kind is BlockKind.TABLE:
                end = text.find("\n", start, block.end) + 1 or block.end
            end = end if end > start else start + longest
            yield _Piece(start, end, block)
            start = end
        if start < block.end:
            yield _Piece(start, block.end, block)


def _view(body: Body, pieces: Sequence[_Piece], span: Range) -> Iterator[ViewBlock]:
    """Yield the blocks of pieces that follow one another, each page announced."""
    starts = [page.start for page in body.pages]

    def belongs_to(piece: _Piece) -> tuple[int, int]:
        is_prose = piece.block.kind is BlockKind.PARAGRAPH  # lists go on over blank lines
        return bisect_right(starts, piece.start), -1 if is_prose else piece.block.start

    shown = 0
    for (page, _), group in groupby(pieces, belongs_to):
        if page != shown:
            shown, one = page, body.pages[page - 1]
            yield ViewBlock(ViewKind.PAGE, level=one.number, label=one.label)
        first, *others = group
        yield from _block(body.text, first._replace(end=[first, *others][-1].end), span)


def _block(text: str, piece: _Piece, span: Range) -> Iterator[ViewBlock]:
    block = piece.block
    match block.kind:
        case BlockKind.HEADING:
            title = _runs(text, [_title(text, block)], span)
            yield ViewBlock(ViewKind.HEADING, title, block.level, f"at-{block.start}")
        case BlockKind.TABLE:
            header = next(_lines(text, block.start, block.end))
            rows = _lines(text, max(piece.start, block.body_start), piece.end)
            cells = (tuple(_cells(text, row, span)) for row in (header, *rows))
            yield ViewBlock(ViewKind.TABLE, header=next(cells), rows=tuple(cells))
        case BlockKind.CODE:
            start, end = _inside(text, block)
            part = _stripped(text, max(piece.start, start), min(piece.end, end), "\n")
            yield ViewBlock(ViewKind.CODE, _runs(text, [part], span))
        case BlockKind.PARAGRAPH:
            yield from _prose(text, piece, span)


def _prose(text: str, piece: _Piece, span: Range) -> Iterator[ViewBlock]:
    """Yield paragraphs, and the items and indented code between them."""
    rows = document_rows(text[piece.start : piece.end], has_fences=False)
    for kind, group in groupby(rows, lambda row: row.kind):
        found = list(group)
        if kind == "item":
            yield from (_item(text, row, piece.start, span) for row in found)
        elif kind != "blank":
            start = found[0].start + piece.start
            end = found[-1].start + len(found[-1].text) + piece.start
            shown = ViewKind.CODE if kind == "code" else ViewKind.PARAGRAPH
            yield ViewBlock(shown, _runs(text, [(start, end)], span))


def _item(text: str, row: Row, offset: int, span: Range) -> ViewBlock:
    start = row.start + offset
    marker = _stripped(text, max(offset, text.rfind("\n", 0, start) + 1), start)
    runs = _runs(text, [(start, start + len(row.text))], span)
    return ViewBlock(ViewKind.ITEM, runs, row.mark.depth, marker=_runs(text, [marker], span))


def _title(text: str, block: Block) -> Range:
    """Return where the title of a heading stands, without the signs before and behind it."""
    start, end = _stripped(text, *next(_lines(text, block.start, block.end)))
    found = ATX.match(text, block.start, end)
    return found.span(2) if found else (start, end)


def _inside(text: str, block: Block) -> Range:
    """Return where code stands between the lines that fence it."""
    _, start = next(_lines(text, block.start, block.end))
    _, end = _stripped(text, start, block.end)
    last = max(start, text.rfind("\n", start, end) + 1)
    opening, closing = FENCE.match(text, block.start), text[last:end].strip()
    is_closed = opening and closing.startswith(opening[1]) and not closing.strip(opening[1])
    return start, last if is_closed else block.end


def _cells(text: str, row: Range, span: Range) -> Iterator[Runs]:
    """Yield the cells of a row, as ``text.markdown.table_cells`` cuts it."""
    start, end = _stripped(text, *row)
    start += text.startswith("|", start, end)
    end -= text.endswith("|", start, end)
    for pipe in (*CELL.finditer(text, start, end), None):
        place, stop = _stripped(text, start, pipe.start() if pipe else end)
        shown = []
        for escape in _BEFORE_PIPE.finditer(text, place, stop):
            shown.append((place, escape.start()))
            place = escape.end()
        yield _runs(text, [*shown, (place, stop)], span)
        start = pipe.end() if pipe else end


def _lines(text: str, start: int, end: int) -> Iterator[Range]:
    """Yield the lines between two places that are not blank, with their line feeds."""
    while start < end:
        stop = text.find("\n", start, end) + 1 or end
        if text[start:stop].strip():
            yield start, stop
        start = stop


def _stripped(text: str, start: int, end: int, left_out: str | None = None) -> Range:
    """Return a part of the text without white space at its ends."""
    part = text[start:end]
    start += len(part) - len(part.lstrip(left_out))
    return start, max(start, start + len(part.strip(left_out)))


def _runs(text: str, shown: Iterable[Range], span: Range) -> Runs:
    """Return stretches of the text as runs, cut where the passage begins and ends."""
    cut = []
    for start, end in shown:
        first, last = (min(max(place, start), end) for place in (span[0], max(span)))
        cut += [(start, first, False), (first, last, True), (last, end, False)]
    parts = ((text[start:end], is_marked) for start, end, is_marked in cut if start < end)
    return tuple(
        Run("".join(part for part, _ in group), is_marked)
        for is_marked, group in groupby(parts, lambda part: part[1])
    )
