"""Whole sentences, under one heading, tables by row with their header.

A body is first cut into units that must not be broken (sentences, table rows, lines of code), in
runs that must not be mixed (prose, one table, one block of code). Units are then packed in order
into chunks. The spans follow one another and cover the text, white space and all, so that joining
them gives the text back.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from chapterhouse.chunking.units import line_spans, pieces, section_bounds
from chapterhouse.text.markdown import Block, BlockKind, blocks, sentence_spans
from chapterhouse.types import Body, Kind, Range, Span

MAXIMUM = 1_000


@dataclass(frozen=True, slots=True)
class _Run:
    """Units of one kind; paragraphs of prose under one heading are packed together."""

    kind: Kind
    units: tuple[Range, ...]
    heading: bool = False
    header: str = ""


def chunk_by_sentence(body: Body, maximum: int = MAXIMUM) -> Sequence[Span]:
    """Cut ``body`` into chunks of at most ``maximum`` characters, header included.

    A sentence is broken only when it alone is longer than ``maximum``, and then at a space.
    A chunk crosses a heading only when nothing but headings stands before it in the chunk.
    """
    if maximum < 1:
        raise ValueError(f"maximum must be at least 1 character, got {maximum}")
    packer = _Packer(body.text, maximum)
    for run in _runs(body, maximum):
        packer.add(run)
    return packer.finish()


def _runs(body: Body, maximum: int) -> Iterator[_Run]:
    text = body.text
    for section_start, section_end in section_bounds(body):
        for block in blocks(text[section_start:section_end]):
            start, end = section_start + block.start, section_start + block.end
            if block.kind is BlockKind.HEADING:
                yield _Run(Kind.PROSE, _fit(text, [(start, end)], maximum), heading=True)
            elif block.kind is BlockKind.TABLE:
                yield _table(text, block, section_start, maximum)
            elif block.kind is BlockKind.CODE:
                yield _Run(Kind.CODE, _fit(text, line_spans(text, start, end), maximum))
            else:
                yield _Run(Kind.PROSE, _fit(text, sentence_spans(text, start, end), maximum))


def _table(text: str, block: Block, offset: int, maximum: int) -> _Run:
    start, end = offset + block.start, offset + block.end
    body_start = offset + block.body_start
    header = text[start:body_start]
    rows = list(line_spans(text, body_start, end))
    if len(header) * 2 > maximum or not rows:  # too long to be repeated, or nothing to head
        return _Run(Kind.TABLE, _fit(text, line_spans(text, start, end), maximum))
    first = (start, rows[0][1])  # the header itself stands before the first row
    units = _fit(text, [first], maximum) + _fit(text, rows[1:], maximum - len(header))
    return _Run(Kind.TABLE, units, header=header)


def _fit(text: str, units: Iterable[Range], maximum: int) -> tuple[Range, ...]:
    return tuple(one for start, end in units for one in pieces(text, start, end, maximum))


class _Packer:
    """Collects runs into spans; holds the chunk that is being filled."""

    def __init__(self, text: str, maximum: int) -> None:
        self._text = text
        self._maximum = maximum
        self._spans: list[Span] = []
        self._start = self._end = 0
        self._kind = Kind.PROSE
        self._header = ""
        self._only_headings = True

    def add(self, run: _Run) -> None:
        mixes = run.heading or run.kind is not Kind.PROSE or self._kind is not Kind.PROSE
        if mixes and not self._only_headings:
            self._close()
        if not run.heading:
            self._prefer_paragraph(run)
            self._kind = run.kind
        for _, end in run.units:
            if self._end > self._start and self._length(end) > self._maximum:
                self._close()
                self._kind, self._header = run.kind, run.header
            self._end = end
            self._only_headings = self._only_headings and run.heading
        if run.kind is not Kind.PROSE:
            self._close()

    def _prefer_paragraph(self, run: _Run) -> None:
        """Start a new chunk rather than split a paragraph over one that is half full."""
        length = run.units[-1][1] - run.units[0][0]
        filled = self._end - self._start
        if (
            not self._only_headings
            and filled * 2 >= self._maximum
            and filled + length > self._maximum
            and length <= self._maximum
        ):
            self._close()

    def _length(self, end: int) -> int:
        return len(self._header) + end - self._start

    def _close(self) -> None:
        if self._end > self._start:
            self._spans.append(Span(self._start, self._end, self._kind, self._header))
        self._start = self._end
        self._kind, self._header, self._only_headings = Kind.PROSE, "", True

    def finish(self) -> tuple[Span, ...]:
        """Close the last chunk and return all spans."""
        self._close()
        return tuple(self._spans)


def chunk_by_size(body: Body, size: int = 1_500, overlap: int = 200) -> Sequence[Span]:
    """Cut every ``size`` characters, each chunk starting ``overlap`` before the last one's end.

    Only the last chunk is shorter, and it always holds text that no earlier chunk has.

    Raises:
        ValueError: unless 0 <= overlap < size.
    """
    if not 0 <= overlap < size:
        raise ValueError(f"overlap must be at least 0 and less than size, got {overlap} and {size}")
    length = len(body.text)
    starts = range(0, max(length - overlap, 1), size - overlap) if length else ()
    return tuple(Span(start, min(start + size, length)) for start in starts)
