"""How a document begins: what is shown of it where a summary is asked for."""

from collections.abc import Sequence
from itertools import takewhile
from typing import Final

from chapterhouse.answering.parts import Part
from chapterhouse.text.front_matter import body_start
from chapterhouse.text.sentences import sentence_spans
from chapterhouse.types import Hit

_REACH: Final = 3_000  # characters


def beginning(text: str, hit: Hit, words: int) -> Part | None:
    """Return the first whole sentences of a document, headings before them apart; None without any.

    Args:
        text: Of the document.
        hit: One of its passages, which stands for it.
        words: At most so many.
    """
    start = body_start(text) if hit.document.format == "md" else 0
    spans = [
        (first, first + len(text[first:last].rstrip()))
        for first, last in sentence_spans(text, start, min(start + _REACH, len(text)))
        if text[first:last].strip()
    ]
    while spans and text.startswith("#", spans[0][0]):
        del spans[0]
    whole = _within(text, spans, words)
    return Part(hit, ((whole[0][0], whole[-1][1]),), whole[0]) if whole else None


def _within(text: str, spans: Sequence[tuple[int, int]], words: int) -> list[tuple[int, int]]:
    return list(takewhile(lambda span: len(text[spans[0][0] : span[1]].split()) <= words, spans))
