"""A document around a passage as blocks for a page; exactly the characters of the passage marked.

What is shown is the text as it is stored; signs and addresses of inline Markdown are told apart, so
that a page leaves them out. Left out here is only what makes the blocks: white space around them,
the signs of headings and their underlines, of quotations, and lines that are rules or fence code,
the pipes of a table with its row of dashes and the backslash before a pipe in a cell.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby, pairwise
from typing import Final, NamedTuple

from chapterhouse.presenting.quoted import Row, document_rows
from chapterhouse.text.markdown import (
    ATX,
    CELL,
    FENCE,
    MARKED,
    PLAIN,
    Block,
    BlockKind,
    Emphasis,
    Inline,
    blocks,
    inline_parts,
)
from chapterhouse.types import Body, Range, Section

LONGEST: Final = 20_000  # characters that are shown at once, the heading rows of tables apart
_PIECES: Final = 8  # of a block that is as long as that
_MESSAGES: Final = frozenset({"eml", "msg"})
_HEADERS: Final = 2  # blocks at the top of a message: its subject, and who wrote it when to whom
_BEFORE_PIPE: Final = re.compile(r"\\(?=\|)")
_QUOTED: Final = re.compile(r" {0,3}(?:> ?)+")
_RULE: Final = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*")
_HARD_BREAK: Final = re.compile(r"(?: {2}|\\)\n")
_WRAPPED: Final = 50  # characters of a line that was cut because it was full, at least


@dataclass(frozen=True, slots=True)
class Run:
    """Characters of the document that follow one another, all of the passage or none.

    Attributes:
        is_sign: Whether they are Markdown around the words: asterisks, the address of a link.
    """

    text: str
    is_marked: bool
    emphasis: tuple[Emphasis, ...] = ()
    is_sign: bool = False


Runs = tuple[Run, ...]
_SIGN: Final = Run("", is_marked=False, is_sign=True)


class ViewKind(StrEnum):
    """What a block of a document is."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    QUOTATION = "quotation"
    RULE = "rule"
    ITEM = "item"
    TABLE = "table"
    CODE = "code"
    PAGE = "page"  # where a page, slide or sheet begins


@dataclass(frozen=True, slots=True)
class ViewBlock:
    """A block of a document.

    Attributes:
        runs: Its text; its lines are told apart by line feeds.
        flows: Whether its lines ended only because they were full.
        level: Of a heading, from 1; of an item, 0 for the outermost list; number of a page.
        anchor: Of a heading, unique in the document.
        marker: What stands before the text of an item, as written.
        header: The cells of a table's heading row.
    """

    kind: ViewKind
    runs: Runs = ()
    level: int = 0
    anchor: str = ""
    marker: Runs = ()
    header: tuple[Runs, ...] = ()
    rows: tuple[tuple[Runs, ...], ...] = ()
    label: str = ""
    flows: bool = False


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


class _Source(NamedTuple):
    text: str
    format: str
    span: Range  # the passage


def view_document(
    body: Body, format_: str, span: Range = (0, 0), *, begin: int | None = None
) -> DocumentView:
    """Return the part of a document around a passage.

    Args:
        format_: Of the document: in a plain text nothing is a heading, table or code, and only some
            formats' readers write emphasis.
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
    source = _Source(text, format_, span)
    return DocumentView(
        tuple(_view(body, shown, source)),
        start,
        end,
        tuple(_view(body, above, source)),
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


def quotation_view(quote: str, format_: str, header: str = "") -> tuple[ViewBlock, ...]:
    """Return a quotation as blocks; a row of a table below its ``header``. Nothing is marked."""
    if header:
        rule = "|---" * len(CELL.findall(header)) + "|"
        quote = f"{header}\n{rule}\n{quote}"
    body = Body(quote, (Section(0, 0, (), 0, len(quote)),), ())
    return view_document(body, format_).blocks


def _view(body: Body, pieces: Sequence[_Piece], source: _Source) -> Iterator[ViewBlock]:
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
        yield from _block(source, first._replace(end=[first, *others][-1].end))


def _block(source: _Source, piece: _Piece) -> Iterator[ViewBlock]:
    text, block = source.text, piece.block
    match block.kind:
        case BlockKind.HEADING:
            title = _runs(source, [_title(text, block)])
            yield ViewBlock(ViewKind.HEADING, title, block.level, f"at-{block.start}")
        case BlockKind.TABLE:
            header = next(_lines(text, block.start, block.end))
            rows = _lines(text, max(piece.start, block.body_start), piece.end)
            cells = (tuple(_cells(source, row)) for row in (header, *rows))
            yield ViewBlock(ViewKind.TABLE, header=next(cells), rows=tuple(cells))
        case BlockKind.CODE:
            start, end = _inside(text, block)
            part = _stripped(text, max(piece.start, start), min(piece.end, end), "\n")
            yield ViewBlock(ViewKind.CODE, _runs(source, [part], is_code=True))
        case BlockKind.PARAGRAPH:
            yield from _prose(source, piece)


def _prose(source: _Source, piece: _Piece) -> Iterator[ViewBlock]:
    """Yield paragraphs, and the items, quotations, rules and indented code between them."""
    rows = document_rows(source.text[piece.start : piece.end], has_fences=False)
    for kind, group in groupby(rows, lambda row: _kind(row, source.format)):
        found = [replace(row, start=row.start + piece.start) for row in group]
        match kind:
            case ViewKind.ITEM:
                yield from (_item(source, row, piece.start) for row in found)
            case ViewKind.RULE:
                yield ViewBlock(ViewKind.RULE)
            case ViewKind():
                *above, (start, end) = (_line(row, kind) for row in found)
                shown = [*above, (start, end - 1)]  # without the line feed at its end
                runs = _runs(source, shown, is_code=kind is ViewKind.CODE)
                yield ViewBlock(kind, runs, flows=_flows(source, shown))


def _kind(row: Row, format_: str) -> ViewKind | None:
    """Return what is shown of a row; None where it is blank."""
    if row.kind != "text":
        return {"item": ViewKind.ITEM, "code": ViewKind.CODE}.get(row.kind)
    if format_ in MARKED and _RULE.fullmatch(row.text):
        return ViewKind.RULE
    is_quoted = format_ in MARKED and _QUOTED.match(row.text)
    return ViewKind.QUOTATION if is_quoted else ViewKind.PARAGRAPH


def _line(row: Row, kind: ViewKind) -> Range:
    """Return where a row's words stand, with the line feed behind it."""
    sign = _QUOTED.match(row.text) if kind is ViewKind.QUOTATION else None
    return row.start + (sign.end() if sign else 0), row.start + len(row.text) + 1


def _flows(source: _Source, shown: Sequence[Range]) -> bool:
    """Whether lines ended only because no other word fitted, or are one in Markdown."""
    lines = [source.text[start:end] for start, end in shown]
    if source.format == "md":
        return not any(map(_HARD_BREAK.search, lines[:-1]))
    longest = max(map(len, lines))
    return longest >= _WRAPPED and all(
        len(line) + len(following.partition(" ")[0]) >= longest
        for line, following in pairwise(lines)
    )


def _item(source: _Source, row: Row, first: int) -> ViewBlock:
    text, start = source.text, row.start
    marker = _stripped(text, max(first, text.rfind("\n", 0, start) + 1), start)
    runs = _runs(source, [(start, start + len(row.text))])
    return ViewBlock(
        ViewKind.ITEM, runs, row.mark.depth, marker=_runs(source, [marker]), flows=True
    )


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


def _cells(source: _Source, row: Range) -> Iterator[Runs]:
    """Yield the cells of a row, as ``text.markdown.table_cells`` cuts it."""
    text = source.text
    start, end = _stripped(text, *row)
    start += text.startswith("|", start, end)
    end -= text.endswith("|", start, end)
    for pipe in (*CELL.finditer(text, start, end), None):
        place, stop = _stripped(text, start, pipe.start() if pipe else end)
        shown = []
        for escape in _BEFORE_PIPE.finditer(text, place, stop):
            shown.append((place, escape.start()))
            place = escape.end()
        yield _runs(source, [*shown, (place, stop)])
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


def _runs(source: _Source, shown: Sequence[Range], *, is_code: bool = False) -> Runs:
    """Return stretches of the text as runs, cut where the passage and what stands out begin."""
    begin, end = shown[0][0], shown[-1][1]
    words = [] if is_code else inline_parts(source.text[begin:end], source.format)
    parts: list[tuple[int, Run]] = []  # each up to a place
    for one in words or [Inline(0, end - begin)]:
        start, stop = begin + one.start, begin + one.end
        parts += [(start, _SIGN), (stop, Run("", is_marked=False, emphasis=one.emphasis))]
    parts.append((end, _SIGN))
    cut: list[Run] = []
    number = 0
    for low, high in shown:
        at = low
        while at < high:
            while parts[number][0] <= at:
                number += 1
            until = min(parts[number][0], high)
            cut += _marked(source, at, until, parts[number][1])
            at = until
    return tuple(
        replace(run, text="".join(one.text for one in alike))
        for run, alike in groupby(cut, lambda run: replace(run, text=""))
    )


def _marked(source: _Source, start: int, end: int, like: Run) -> Iterator[Run]:
    """Yield characters as runs like another, those of the passage apart."""
    first, last = (min(max(place, start), end) for place in (source.span[0], max(source.span)))
    for low, high, is_marked in ((start, first, False), (first, last, True), (last, end, False)):
        if low < high:
            yield replace(like, text=source.text[low:high], is_marked=is_marked)
