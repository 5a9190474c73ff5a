"""The sentences of the retrieved chunks, and how well each answers the question."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from chapterhouse.protocols import Embedder
from chapterhouse.retrieval.question import Question
from chapterhouse.retrieval.relevance import word_rarities
from chapterhouse.text.analyse import analyse
from chapterhouse.text.markdown import BlockKind, blocks
from chapterhouse.text.sentences import sentence_spans
from chapterhouse.types import Hit, Kind

# Weights of a sentence's features; chosen by ``benchmarks/answering.py``.
COVERAGE_WEIGHT: Final = 0.4
COSINE_WEIGHT: Final = 0.2
CHUNK_WEIGHT: Final = 0.4
# A word of the question that stands in the headings above a sentence counts less than in it.
PLACE_CREDIT: Final = 0.5
_MINIMUM_LETTERS: Final = 3
_LONGEST_CODE: Final = 300  # characters of a line that anyone would want quoted


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence (or table row, or line of code) of a hit, as a span of the document's text.

    Attributes:
        start: Offset of its first visible character in the document's canonical text.
        end: Offset behind its last visible character.
        terms: Its index terms.
        coverage: Share of the question's word weight that it, or its headings, contain, 0 to 1.
        cosine: Cosine with the question; 0 where the language is not served.
        score: Weighted sum of coverage, cosine and the score of its chunk.
    """

    hit: Hit
    start: int
    end: int
    text: str
    terms: frozenset[str]
    coverage: float = 0.0
    cosine: float = 0.0
    score: float = 0.0


def word_weights(
    question: Question, document_frequency: Callable[[str], int], chunks: int
) -> Mapping[str, float]:
    """Return the inverse document frequency of each content word of a question, by word."""
    rarities = word_rarities(question, document_frequency, chunks).tolist()
    return dict(zip((word for word, _ in question.words), rarities, strict=True))


def passages(
    question: Question,
    hits: Sequence[Hit],
    weights: Mapping[str, float],
    embedder: Embedder,
) -> tuple[Passage, ...]:
    """Return the scored sentences of ``hits``, best first, in total order."""
    found = [passage for hit in hits for passage in _split(hit)]
    cosines = _cosines(question, found, embedder)
    scored = [
        _score(passage, question, weights, cosine)
        for passage, cosine in zip(found, cosines, strict=True)
    ]
    return tuple(sorted(scored, key=lambda p: (-p.score, p.hit.rank, p.start)))


def _split(hit: Hit) -> Iterator[Passage]:
    chunk = hit.chunk
    for start, end in _units(chunk.text, chunk.kind):
        text = chunk.text[start:end]
        begin = start + len(text) - len(text.lstrip())
        stop = begin + len(text.strip())
        shown = chunk.text[begin:stop]
        if sum(character.isalnum() for character in shown) < _MINIMUM_LETTERS:
            continue
        if chunk.kind is Kind.CODE and len(shown) > _LONGEST_CODE:
            continue
        terms = frozenset(analyse(shown, hit.document.language))
        yield Passage(hit, chunk.start + begin, chunk.start + stop, shown, terms)


def _units(text: str, kind: Kind) -> Iterator[tuple[int, int]]:
    """Yield what may be quoted: sentences, rows below a table's header, lines of code."""
    for block in blocks(text):
        if block.kind is BlockKind.PARAGRAPH and kind is Kind.PROSE:
            yield from sentence_spans(text, block.start, block.end)
        elif block.kind is not BlockKind.HEADING:
            start = block.body_start or block.start
            yield from _lines(text, start, block.end)


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end:
        stop = text.find("\n", start, end) + 1 or end
        if not text.startswith(("```", "~~~"), start):
            yield start, stop
        start = stop


def _cosines(question: Question, found: Sequence[Passage], embedder: Embedder) -> Sequence[float]:
    if not found or not any(embedder.serves(language) for language in question.languages):
        return [0.0] * len(found)
    vectors = embedder.embed_passages([passage.text for passage in found])
    cosines = np.vecdot(vectors, embedder.embed_question(question.content)).tolist()
    return [round(cosine, 5) for cosine in cosines]


def _score(
    passage: Passage, question: Question, weights: Mapping[str, float], cosine: float
) -> Passage:
    language = passage.hit.document.language
    place = frozenset(
        analyse(" / ".join((passage.hit.document.title, *passage.hit.chunk.section_path)), language)
    ) | frozenset(analyse(passage.hit.chunk.header, language))
    covered = 0.0
    for word, terms in question.words:
        if not passage.terms.isdisjoint(terms):
            covered += weights[word]
        elif not place.isdisjoint(terms):
            covered += weights[word] * PLACE_CREDIT
    coverage = covered / (sum(weights.values()) or 1.0)
    score = (
        COVERAGE_WEIGHT * coverage
        + COSINE_WEIGHT * max(cosine, 0.0)
        + CHUNK_WEIGHT * passage.hit.score
    )
    return replace(passage, coverage=round(coverage, 6), cosine=cosine, score=round(score, 6))
