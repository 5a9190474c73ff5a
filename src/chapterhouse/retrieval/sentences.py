"""The sentences of the hits: what may be quoted, and from where to where."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from chapterhouse.text.canonical import body_start
from chapterhouse.text.counting import word_spans
from chapterhouse.text.markdown import Block, BlockKind, blocks, sentence_spans
from chapterhouse.types import Chunk, Hit, Kind, Range

LONGEST: Final = 60  # words that are quoted as one
_SHORTEST: Final = 15  # words before a break
# "3. GENERAL 3.1 Term and Termination." heads what follows it.
_CLAUSE_TITLE: Final = re.compile(
    r"(?:(?:\d{1,3}(?:\.\d{1,3}){0,3}[.)]?|\(?[A-Za-z][.)])\s+(?:[^\W\d_][^\s.:;]*[\s.:]+){1,9})+"
)
_SMALL: Final = 4  # letters of a word that needs no capital in a title
# Where a sentence breaks best: before a clause that is marked, behind a clause, at a line's end.
_BREAKS: Final = tuple(
    map(re.compile, (r"\s+(?=\(?[a-z0-9ivx]{1,4}\)\s)", r"[;；]\s*", r"[,，、:：]\s+", r"\n\s*"))
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, table row, item of a list or block of code of a hit.

    The spans of a hit's sentences follow one another and cover it, so that runs of them are its
    text.

    Attributes:
        rank: Place of its hit among the hits, from 0.
        start: Offset in the document's text, of the headings before it where it has any.
        end: Offset behind the white space after it.
        begin: Offset of its first visible character, headings apart.
        stop: Offset behind its last visible character.
        header: The heading rows of its table; or empty.
        share: Part of the answer that it may be expected to hold; 1 over all hits.
    """

    rank: int
    start: int
    end: int
    begin: int
    stop: int
    header: str = ""
    share: float = 0.0


def text_of(hit: Hit, sentence: Sentence) -> str:
    """Return what is visible of a sentence, headings apart."""
    return hit.chunk.text[sentence.begin - hit.chunk.start : sentence.stop - hit.chunk.start]


def split_hits(hits: Sequence[Hit]) -> tuple[Sentence, ...]:
    """Return the sentences of ``hits`` in order of rank and place.

    Where hits overlap, a sentence belongs to the better one and is not repeated.
    """
    claimed: dict[str, list[Range]] = {}
    found: list[Sentence] = []
    for rank, hit in enumerate(hits):
        before = claimed.setdefault(hit.document.id, [])
        for sentence in _split(rank, hit.chunk):
            if not any(sentence.start < stop and begin < sentence.end for begin, stop in before):
                found.append(sentence)  # noqa: PERF401 - clearer
        before.append((hit.chunk.start, hit.chunk.end))
    return tuple(found)


def _split(rank: int, chunk: Chunk) -> Iterator[Sentence]:
    """Yield what may stand alone; a heading, and a table's, goes with what follows it."""
    tables = _own_tables(chunk)
    pending, spans = 0, tuple(_spans(chunk))
    title = None
    for (start, end), following in zip(spans, (*spans[1:], None), strict=True):
        of_table = any(table.start <= start < table.body_start for table in tables)
        if (chunk.text.startswith("#", start) or of_table) and end < len(chunk.text):
            continue
        if following and _is_clause_title(chunk.text[start:end], chunk.text[slice(*following)]):
            title = start if title is None else title
            continue
        first = start if title is None else title
        visible = chunk.text[first:end]
        begin = first + len(visible) - len(visible.lstrip("\n "))
        stop = first + len(visible.rstrip())
        yield Sentence(
            rank,
            chunk.start + pending,
            chunk.start + end,
            chunk.start + begin,
            chunk.start + max(stop, begin),
            _header(chunk, tables, begin),
        )
        pending, title = end, None


def _is_clause_title(text: str, following: str) -> bool:
    """Whether a sentence is the numbered title of a clause that begins behind it."""
    if not _CLAUSE_TITLE.fullmatch(f"{text.strip()} ") or _CLAUSE_TITLE.match(following.lstrip()):
        return False
    words = [word for word in text.split() if word[:1].isalpha()]
    return all(len(word) <= _SMALL or not word[0].islower() for word in words)


def _header(chunk: Chunk, tables: Sequence[Block], begin: int) -> str:
    """Return the heading rows of the table of which a row begins at a place; else nothing."""
    if not chunk.text.startswith("|", begin):
        return ""
    own = (table for table in tables if table.start <= begin < table.end)
    return next((chunk.text[table.start : table.body_start] for table in own), chunk.header)


def _spans(chunk: Chunk) -> Iterator[Range]:
    if chunk.kind is Kind.CODE:
        yield 0, len(chunk.text)
        return
    begin = body_start(chunk.text) if not chunk.start else 0  # front matter is no sentence
    if begin:
        yield 0, begin
    for start, end in sentence_spans(chunk.text, begin, len(chunk.text)):
        yield from _cut(chunk.text, start, end)


def _cut(text: str, start: int, end: int) -> Iterator[Range]:
    """Cut a sentence that is too long to be quoted where it breaks best; never a row."""
    if not text.startswith("|", start):
        words = word_spans(text, start, end)
        while len(words) > LONGEST:
            last = words[LONGEST - 1][1]
            breaks = (_last(mark, text, words[_SHORTEST][0], last) for mark in _BREAKS)
            stop = next(filter(None, breaks), words[LONGEST][0])
            yield start, stop
            start, words = stop, [word for word in words if word[0] >= stop]
    yield start, end


def _last(mark: re.Pattern[str], text: str, start: int, end: int) -> int:
    """Return where what follows the last mark begins; 0 where there is none."""
    return max((match.end() for match in mark.finditer(text, start, end)), default=0)


def _own_tables(chunk: Chunk) -> Sequence[Block]:
    """Return the tables of which a chunk has the heading rows."""
    found = blocks(chunk.text) if "|" in chunk.text else ()
    return [block for block in found if block.kind is BlockKind.TABLE]


def table_header(chunk: Chunk) -> str:
    """Return the heading rows of the table that a chunk itself begins; or nothing."""
    own = () if chunk.header or chunk.kind is not Kind.TABLE else _own_tables(chunk)
    return next((chunk.text[table.start : table.body_start] for table in own), "")
