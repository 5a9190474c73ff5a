"""How a quoted passage reads in an answer: the words of the document without its markup."""

import re

from chapterhouse.answering.passages import Passage
from chapterhouse.text.markdown import BlockKind, blocks, plain_title
from chapterhouse.types import Chunk, Kind

_LEADING_MARKS = re.compile(r"^\s*(?:#{1,6}\s+|>\s*|[-*+•]\s+|\d{1,3}[.)]\s+)+")
_CELL = re.compile(r"(?<!\\)\|")


def phrase(passage: Passage) -> str:
    """Return the passage as running text; a table row names its columns."""
    chunk = passage.hit.chunk
    if chunk.kind is Kind.CODE:
        return f"`{passage.text.strip()}`"
    if passage.text.startswith("|"):
        return _row(passage.text, _column_names(chunk, passage.start - chunk.start))
    return as_text(passage.text)


def as_text(quote: str) -> str:
    """Return a quotation on one line without the marks of Markdown; a table row as its cells."""
    if quote.startswith("|"):
        return _row(quote, [])
    return " ".join(plain_title(_LEADING_MARKS.sub("", quote)).split())


def _row(row: str, names: list[str]) -> str:
    cells = _cells(row)
    if len(names) != len(cells):
        return " · ".join(cell for cell in cells if cell)
    told = (
        f"{name}: {cell}" if name else cell for name, cell in zip(names, cells, strict=True) if cell
    )
    return " · ".join(told)


def _column_names(chunk: Chunk, position: int) -> list[str]:
    """Return the names of the columns of the table that holds ``chunk.text[position]``."""
    for block in blocks(chunk.text):
        if block.kind is BlockKind.TABLE and block.start <= position < block.end:
            return _cells(chunk.text[block.start :].split("\n", 1)[0])
    return _cells(chunk.header.split("\n", 1)[0]) if chunk.header else []


def _cells(row: str) -> list[str]:
    inner = row.strip().removeprefix("|").removesuffix("|")
    return [plain_title(cell) for cell in _CELL.split(inner)]
