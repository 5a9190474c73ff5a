"""How much of the answer each sentence of the hits may be expected to hold.

A conditional logit (the model of choice among alternatives): a sentence's share is
``exp(w · features) / Σ exp(w · features)`` over all sentences of all hits of one question. The
shares of a question add up to 1, so those of a stretch may be added, and they say "how much of the
answer is here, given that it is somewhere here"; whether it is there at all is the business of
``answering``. Every feature is relative to the question or its best hit, so that another scale of
scores needs no new weights; a new ranking gains by new ones, which ``benchmarks/packing.py --fit``
prints, each set weighing the same.

Source: McFadden, Conditional logit analysis of qualitative choice behavior, 1974.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse.protocols import Embedder
from chapterhouse.retrieval.features import inverse_frequency
from chapterhouse.retrieval.question import Question
from chapterhouse.text.analyse import analyse
from chapterhouse.text.markdown import Block, BlockKind, blocks
from chapterhouse.text.sentences import sentence_spans
from chapterhouse.text.terms import text_of_section
from chapterhouse.types import Chunk, Hit, Kind, Stretch

FEATURES: Final = (
    "score",  # of its hit, over the best hit's
    "neighbours",  # scores of other hits near it in the document, over the best hit's
    "coverage",  # share of the question's word weight in the sentence, its headings and header
    "best coverage",  # coverage over the best sentence's
    "window coverage",  # share in the sentence and the one before and after
    "hit coverage",  # share in the whole hit
    "place coverage",  # share in the hit and those at most two places away
    "length",  # logarithm of its tokens
    "cosine",  # with the question
    "window cosine",  # mean of it and the one before and after
)
LEXICAL_FEATURES: Final = len(FEATURES) - 2
QUESTION_FEATURES: Final = (
    "constant",
    "best coverage",  # of a sentence
    "lead",  # of the best hit's score over the second, as a share of it
    "words",  # of the question, in tens
)
# Share of a hit that is spread evenly over its tokens: an answer is often longer than the sentence
# that has the question's words, and the sentences around it have none of them.
SPREAD: Final = 0.6
_LEAST_SHARPNESS: Final = 0.2
_REACH: Final = 4.0  # chunks after which a neighbour's influence has fallen to 1/e
_NEAR: Final = 2


@dataclass(frozen=True, slots=True)
class ShareModel:
    """Weights, fitted.

    Attributes:
        features: One for each of ``FEATURES``, or of the first ``LEXICAL_FEATURES``.
        sharpness: One for each of ``QUESTION_FEATURES``: their sum multiplies the logits, so that
            a question with a clear winner trusts it more than one without.
    """

    features: tuple[float, ...]
    sharpness: tuple[float, ...]


# Fitted by ``benchmarks/packing.py --fit`` on six sets in three languages: with vectors, and for
# languages without.
MODELS: Final = (
    ShareModel(
        (2.4, 2.06, -1.03, 3.03, 2.0, 2.21, 5.99, 0.34, 1.18, 2.44), (0.64, 0.09, 0.23, 0.23)
    ),
    ShareModel((2.84, 1.97, -0.65, 3.24, 2.62, 1.49, 5.78, 0.3), (0.64, 0.09, 0.23, 0.22)),
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence or table row of a hit (of code, all of it), by offsets in the document's text.

    Attributes:
        rank: Place of its hit among the hits, from 0.
        tokens: What it costs.
        share: Part of the answer that it may be expected to hold; 1 over all hits.
    """

    rank: int
    start: int
    end: int
    tokens: int
    share: float = 0.0


def word_rarities(
    question: Question, document_frequency: Callable[[str], int], chunks: int
) -> NDArray[np.float64]:
    """Return the inverse document frequency of each content word of a question, in their order.

    A word is as frequent as its most frequent stem.
    """
    counts = [max(map(document_frequency, terms)) for _, terms in question.words]
    return inverse_frequency(counts, chunks)


def word_weights(
    question: Question, document_frequency: Callable[[str], int], chunks: int
) -> NDArray[np.float64]:
    """Return the share of each content word in the question's weight, in their order; sum 1."""
    found = word_rarities(question, document_frequency, chunks)
    return found / (found.sum() or 1.0)


def judged_sentences(
    question: Question,
    hits: Sequence[Hit],
    weights: NDArray[np.float64],
    count_tokens: Callable[[str], int],
    embedder: Embedder | None = None,
    models: Sequence[ShareModel] = MODELS,
) -> Sequence[Sentence]:
    """Return every sentence of ``hits`` with its share, in order of rank and place.

    Where hits overlap, a sentence belongs to the better one and is not repeated.

    Args:
        question: What was asked, made ready.
        hits: Best first.
        weights: From ``word_weights``.
        count_tokens: Counts the tokens of a text.
        embedder: Adds the cosines; None, or one that does not serve the question's language,
            leaves them out.
        models: Weights, for all features and for the lexical ones.
    """
    sentences = split(hits, count_tokens)
    if not sentences:
        return ()
    found = features(question, hits, sentences, weights, embedder)
    model = next(model for model in models if len(model.features) == found.shape[1])
    own = shares(found, question_features(question, hits, found), model)
    spread = _spread(own, sentences)
    return [
        replace(sentence, share=float(share))
        for sentence, share in zip(sentences, spread, strict=True)
    ]


def shares(
    found: NDArray[np.float64], of_question: NDArray[np.float64], model: ShareModel
) -> NDArray[np.float64]:
    """Return the share of each row of features, shape (sentences,), sum 1."""
    logits = found @ np.asarray(model.features)
    sharpness = max(float(of_question @ np.asarray(model.sharpness)), _LEAST_SHARPNESS)
    powers = np.exp((logits - logits.max()) * sharpness)
    result: NDArray[np.float64] = powers / powers.sum()
    return result


def question_features(
    question: Question, hits: Sequence[Hit], found: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return ``QUESTION_FEATURES``, shape (4,)."""
    scores = sorted((hit.score for hit in hits), reverse=True)
    lead = 1 - scores[1] / scores[0] if len(scores) > 1 and scores[0] > 0 else 1.0
    coverage = found[:, FEATURES.index("coverage")].max()
    return np.asarray([1.0, coverage, lead, len(question.words) / 10])


def _spread(own: NDArray[np.float64], sentences: Sequence[Sentence]) -> NDArray[np.float64]:
    ranks = np.asarray([sentence.rank for sentence in sentences])
    tokens = np.asarray([max(sentence.tokens, 1) for sentence in sentences], dtype=np.float64)
    of_hit = (np.bincount(ranks, own) / np.maximum(np.bincount(ranks, tokens), 1.0))[ranks]
    result: NDArray[np.float64] = (1 - SPREAD) * own + SPREAD * of_hit * tokens
    return result


def split(hits: Sequence[Hit], count_tokens: Callable[[str], int]) -> Sequence[Sentence]:
    """Return the sentences of ``hits``, each stretch of a document once, without shares."""
    claimed: dict[str, list[Stretch]] = {}
    result: list[Sentence] = []
    for rank, hit in enumerate(hits):
        before = claimed.setdefault(hit.document.id, [])
        for start, end in _units(hit):
            if not any(start < stop and begin < end for begin, stop in before):
                text = hit.chunk.text[start - hit.chunk.start : end - hit.chunk.start]
                result.append(Sentence(rank, start, end, count_tokens(text)))
        before.append((hit.chunk.start, hit.chunk.end))
    return result


def _units(hit: Hit) -> Iterator[Stretch]:
    """Yield what may stand alone; a heading, and a table's, goes with what follows it."""
    chunk = hit.chunk
    if chunk.kind is Kind.CODE:
        yield chunk.start, chunk.end
        return
    table = _own_table(chunk)
    begin, body = 0, table.body_start if table else 0
    for start, end in sentence_spans(chunk.text, 0, len(chunk.text)):
        heading = chunk.text.startswith("#", start) or end <= body
        if heading and end < len(chunk.text):
            continue
        yield chunk.start + begin, chunk.start + end
        begin = end


def table_header(chunk: Chunk) -> str:
    """Return the heading rows of the table that a chunk itself begins."""
    table = _own_table(chunk)
    return chunk.text[table.start : table.body_start] if table else ""


def _own_table(chunk: Chunk) -> Block | None:
    if chunk.kind is not Kind.TABLE or chunk.header:
        return None
    return next((block for block in blocks(chunk.text) if block.kind is BlockKind.TABLE), None)


def features(
    question: Question,
    hits: Sequence[Hit],
    sentences: Sequence[Sentence],
    weights: NDArray[np.float64],
    embedder: Embedder | None,
) -> NDArray[np.float64]:
    """Return a row for each sentence: ``FEATURES``, or without cosines the lexical ones."""
    ranks = np.asarray([sentence.rank for sentence in sentences])
    own = _words_in(question, hits, sentences)
    place = _words_around(question, hits)
    hit_words = np.zeros((len(hits), own.shape[1]), dtype=bool)
    np.logical_or.at(hit_words, ranks, own)
    coverage = (own | place[ranks]) @ weights
    highest = max((hit.score for hit in hits), default=0.0) or 1.0
    scores = np.asarray([hit.score for hit in hits]) / highest
    near, nearby_words = _nearby(hits, scores, hit_words)
    columns = [
        scores[ranks],
        near[ranks],
        coverage,
        coverage / (coverage.max() or 1.0),
        (own | _shifted(own, ranks, 1) | _shifted(own, ranks, -1)) @ weights,
        (hit_words @ weights)[ranks],
        (nearby_words @ weights)[ranks],
        np.log1p([sentence.tokens for sentence in sentences]),
    ]
    if embedder and any(embedder.serves(language) for language in question.languages):
        columns += _cosine_columns(question, hits, sentences, embedder, ranks)
    return np.column_stack(columns)


def _words_in(
    question: Question, hits: Sequence[Hit], sentences: Sequence[Sentence]
) -> NDArray[np.bool_]:
    """Return which of the question's words stand in which sentence."""
    found = np.zeros((len(sentences), len(question.words)), dtype=bool)
    for row, sentence in enumerate(sentences):
        hit = hits[sentence.rank]
        found[row] = _contains(question, analyse(_text(hit, sentence), hit.document.language))
    return found


def _words_around(question: Question, hits: Sequence[Hit]) -> NDArray[np.bool_]:
    """Return which of the question's words stand in a hit's title, headings and table header."""
    found = np.zeros((len(hits), len(question.words)), dtype=bool)
    known: dict[tuple[str, str], Sequence[bool]] = {}
    for row, hit in enumerate(hits):
        section = text_of_section(hit.chunk.section_path)
        around = f"{hit.document.title} / {section} / {hit.chunk.header}"
        key = around, hit.document.language
        if key not in known:
            known[key] = _contains(question, analyse(*key))
        found[row] = known[key]
    return found


def _contains(question: Question, terms: Iterable[str]) -> Sequence[bool]:
    present = frozenset(terms)
    return [not present.isdisjoint(of_word) for _, of_word in question.words]


def _text(hit: Hit, sentence: Sentence) -> str:
    return hit.chunk.text[sentence.start - hit.chunk.start : sentence.end - hit.chunk.start]


def _nearby(
    hits: Sequence[Hit], scores: NDArray[np.float64], words: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return for each hit what the others of its document near it add, and the words there."""
    documents = np.asarray([hit.document.id for hit in hits])
    ordinals = np.asarray([hit.chunk.ordinal for hit in hits])
    same = documents[:, None] == documents
    distance = np.abs(ordinals[:, None] - ordinals)
    influence = np.where(same & (distance > 0), np.exp(-distance / _REACH), 0.0)
    close = (same & (distance <= _NEAR)).astype(np.float64)
    return influence @ scores, (close @ words) > 0


def _shifted(own: NDArray[np.bool_], ranks: NDArray[np.intp], by: int) -> NDArray[np.bool_]:
    """Return each sentence's neighbour's row, empty where that belongs to another hit."""
    moved = np.roll(own, by, axis=0)
    foreign = np.roll(ranks, by) != ranks
    foreign[0 if by > 0 else -1] = True
    moved[foreign] = False
    return moved


def _cosine_columns(
    question: Question,
    hits: Sequence[Hit],
    sentences: Sequence[Sentence],
    embedder: Embedder,
    ranks: NDArray[np.intp],
) -> list[NDArray[np.float64]]:
    texts = [_text(hits[sentence.rank], sentence) for sentence in sentences]
    vectors = embedder.embed_passages(texts)
    cosines = (vectors @ embedder.embed_question(question.content)).astype(np.float64)
    sums, counts = cosines.copy(), np.ones(len(cosines))
    together = np.asarray([one == other for one, other in pairwise(ranks)], dtype=np.float64)
    sums[1:] += cosines[:-1] * together
    sums[:-1] += cosines[1:] * together
    counts[1:] += together
    counts[:-1] += together
    return [cosines, sums / counts]
