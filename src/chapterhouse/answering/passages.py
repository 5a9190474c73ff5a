"""The sentences of the retrieved chunks, and how well each answers the question."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from chapterhouse.answering.sentence_features import Matrix, Unit, features, match
from chapterhouse.answering.sentence_model import shares, strengths
from chapterhouse.protocols import Embedder
from chapterhouse.retrieval.question import Question
from chapterhouse.retrieval.relevance import word_rarities
from chapterhouse.text.analyse import analyse
from chapterhouse.text.markdown import BlockKind, blocks
from chapterhouse.text.sentences import sentence_spans
from chapterhouse.types import Chunk, Hit, Kind

_MINIMUM_LETTERS: Final = 3
_DECIMALS: Final = 6
_LONGEST_CODE: Final = 300  # characters of a line that anyone would want quoted
_EVERYWHERE: Final[Mapping[str, int]] = {}


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence (or table row, or line of code) of a hit, as a span of the document's text.

    Attributes:
        start: Offset of its first visible character in the document's canonical text.
        end: Offset behind its last visible character.
        terms: Its index terms.
        words: Numbers of the question's content words that stand in it or in its headings.
        coverage: Their share of the weight of all, 0 to 1.
        cosine: Cosine with the question; 0 where the language is not served.
        strength: Logit of the sentence model; only differences within a question mean anything.
        score: Chance that the answer is here, given that it is somewhere here; all sum to 1.
    """

    hit: Hit
    start: int
    end: int
    text: str
    terms: frozenset[str]
    words: frozenset[int] = frozenset()
    coverage: float = 0.0
    cosine: float = 0.0
    strength: float = 0.0
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
    judge: Callable[[Matrix], Matrix] = strengths,
    begins: Mapping[str, int] = _EVERYWHERE,
) -> tuple[Passage, ...]:
    """Return the scored sentences of ``hits``, best first, in total order.

    Args:
        question: What was asked, made ready.
        hits: Best first.
        weights: From ``word_weights``.
        embedder: Adds the cosines where it serves the question's language.
        judge: Gives the rows of features their logits.
        begins: Where a document's own text begins, by its id, if not at 0: what stands before
            describes the document and is not quoted.
    """
    units = [
        unit for hit in hits for unit in split(hit) if unit.start >= begins.get(hit.document.id, 0)
    ]
    if not units:
        return ()
    cosines = _cosines(question, units, embedder)
    matches = match(question, units, weights)
    logits = judge(features(question, units, matches, cosines))
    there = matches.own | matches.place
    coverage = (there @ matches.weights).round(_DECIMALS)
    score = shares(logits).round(_DECIMALS)
    found = (
        Passage(
            unit.hit,
            unit.start,
            unit.end,
            unit.text,
            frozenset(unit.terms),
            words=frozenset(np.flatnonzero(there[row]).tolist()),
            coverage=float(coverage[row]),
            cosine=0.0 if cosines is None else float(cosines[row]),
            strength=float(logits[row]),
            score=float(score[row]),
        )
        for row, unit in enumerate(units)
    )
    return tuple(sorted(found, key=lambda p: (-p.strength, p.hit.rank, p.start)))


def split(hit: Hit) -> Iterator[Unit]:
    """Yield what may be quoted from a hit, in its order."""
    chunk = hit.chunk
    for start, end, header in _units(chunk):
        text = chunk.text[start:end]
        begin = start + len(text) - len(text.lstrip())
        stop = begin + len(text.strip())
        shown = chunk.text[begin:stop]
        if sum(character.isalnum() for character in shown) < _MINIMUM_LETTERS:
            continue
        if chunk.kind is Kind.CODE and len(shown) > _LONGEST_CODE:
            continue
        terms = tuple(analyse(shown, hit.document.language))
        yield Unit(hit, chunk.start + begin, chunk.start + stop, shown, terms, header)


def _units(chunk: Chunk) -> Iterator[tuple[int, int, str]]:
    """Yield what may be quoted, and its table's header: sentences, rows, lines of code."""
    text = chunk.text
    for block in blocks(text):
        if block.kind is BlockKind.PARAGRAPH and chunk.kind is Kind.PROSE:
            for start, end in sentence_spans(text, block.start, block.end):
                yield start, end, chunk.header
        elif block.kind is not BlockKind.HEADING:
            body = block.body_start or block.start
            header = text[block.start : body] or chunk.header
            for start, end in _lines(text, body, block.end):
                yield start, end, header


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end:
        stop = text.find("\n", start, end) + 1 or end
        if not text.startswith(("```", "~~~"), start):
            yield start, stop
        start = stop


def _cosines(question: Question, units: Sequence[Unit], embedder: Embedder) -> Matrix | None:
    if not any(embedder.serves(language) for language in question.languages):
        return None
    vectors = embedder.embed_passages([unit.text for unit in units])
    cosines = np.vecdot(vectors, embedder.embed_question(question.content)).astype(np.float64)
    rounded: Matrix = cosines.round(5)
    return rounded
