"""How strong the evidence for an answer is, and from where on it is enough.

A logistic model fitted by ``benchmarks/answering.py --fit`` on questions whose documents were in
the library and on questions whose documents had been taken out, of five collections in three
languages; the figures published with it are those of each collection when the model was fitted on
the other four. Every feature is a share, or relative to the other hits, so that neither the size
of a library nor the scale of its scores moves it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from chapterhouse.answering.answer_types import AnswerType, asked_for
from chapterhouse.answering.passages import Passage
from chapterhouse.answering.sentence_features import Marks, Matrix, letter_groups, news
from chapterhouse.retrieval.question import Question
from chapterhouse.types import Hit

THRESHOLD: Final = 0.5

LEXICAL: Final = (
    "coverage",  # of the question by the best sentence: share of its words' weight
    "hit coverage",  # by all sentences of one hit, the most of any
    "rarest missing",  # weight of the heaviest word that the hit of the best sentence lacks
    "number missing",  # weight of the numbers that it lacks
    "name missing",  # weight of the capitalised words that it lacks
    "repeated",  # weight of words that more than one of its sentences has
    "only here",  # weight of words that no other hit has
    "likeness",  # share of the question's words and of groups of their letters in the sentence
    "hit likeness",  # in its hit
    "whole",  # whether the best sentence and its neighbours have every word, or nearly
    "hit score",  # of the best sentence's hit, over the best hit's
    "lead",  # of the best hit's score over the second's, as a share of it
    "strength",  # of the best sentence over the best of another hit
    "news",  # share of words in the best sentence that the question does not have
    "open",  # whether the kind of answer wanted cannot be told
    "english",  # its stems bring more words together than those of languages with compounds
)
WITH_VECTORS: Final = (
    *LEXICAL,
    "cosine",  # highest of a sentence
    "cosine lead",  # of it over the fourth highest
)
_ENGLISH: Final = frozenset({"en", ""})  # what is not known is analysed as English
_WHOLE: Final = 0.99
_NO_RIVAL: Final = 1.0  # lead in strength of what has none
_STRENGTH_UNIT: Final = 5.0
_NEXT_COSINE: Final = 3
_FARTHEST: Final = 50.0  # of a logit; beyond, the exponential overflows


@dataclass(frozen=True, slots=True)
class EvidenceModel:
    """Weights of the evidence features, by name."""

    intercept: float
    weights: Mapping[str, float]


MODEL_WITH_VECTORS: Final = EvidenceModel(
    -2.71,
    {
        "coverage": 0.21,
        "hit coverage": 2.49,
        "rarest missing": 0.00,
        "number missing": -3.53,
        "name missing": -0.47,
        "repeated": 0.92,
        "only here": 1.63,
        "likeness": 2.28,
        "hit likeness": 2.73,
        "whole": 0.00,
        "hit score": 1.09,
        "lead": 1.06,
        "strength": 0.80,
        "news": -4.42,
        "open": 0.26,
        "english": -0.86,
        "cosine": 2.34,
        "cosine lead": 4.04,
    },
)
# For languages without vectors.
MODEL_LEXICAL: Final = EvidenceModel(
    0.03,
    {
        "coverage": 0.00,
        "hit coverage": 1.97,
        "rarest missing": 0.00,
        "number missing": -3.45,
        "name missing": -1.02,
        "repeated": 1.02,
        "only here": 1.58,
        "likeness": 2.90,
        "hit likeness": 3.14,
        "whole": 0.00,
        "hit score": 1.19,
        "lead": 1.17,
        "strength": 0.75,
        "news": -5.92,
        "open": 0.27,
        "english": -0.74,
    },
)


def features(
    question: Question,
    found: Sequence[Passage],
    hits: Sequence[Hit],
    weights: Mapping[str, float],
) -> tuple[float, ...]:
    """Return what speaks for an answer and against it.

    Args:
        question: The question.
        found: The scored sentences, best first; at least one.
        hits: The chunks they come from, best first.
        weights: Weight of each content word of the question.

    Returns:
        A number for each of ``WITH_VECTORS``.
    """
    best = found[0]
    own = sorted((p for p in found if p.hit.rank == best.hit.rank), key=lambda p: p.start)
    place = own.index(best)
    share = _shares(question, weights)
    known = frozenset(term for _, terms in question.words for term in terms)
    return (
        best.coverage,
        *_of_hits(question, found, share),
        float(_likeness(question, [best]) @ share),
        float(_likeness(question, own) @ share),
        float(_likeness(question, own[max(place - 1, 0) : place + 2]).min(initial=1.0) > _WHOLE),
        *_standing(found, hits),
        news(known, best.terms),
        float(asked_for(question.text) is AnswerType.UNKNOWN),
        float(question.languages[0] in _ENGLISH),
        *_cosines(found),
    )


def evidence(values: Sequence[float], *, served: bool) -> float:
    """Return the strength of the evidence, 0 to 1.

    Args:
        values: The features.
        served: Whether the question's language has vectors.
    """
    model = MODEL_WITH_VECTORS if served else MODEL_LEXICAL
    names = WITH_VECTORS if served else LEXICAL
    pairs = zip(names, values, strict=False)  # the last ones are those of the vectors
    logit = model.intercept + sum(model.weights[name] * value for name, value in pairs)
    return round(1 / (1 + math.exp(-min(max(logit, -_FARTHEST), _FARTHEST))), 6)


def _shares(question: Question, weights: Mapping[str, float]) -> Matrix:
    values = np.asarray([weights[word] for word, _ in question.words], dtype=np.float64)
    return values / (values.sum() or 1.0)


def _of_hits(
    question: Question, found: Sequence[Passage], share: Matrix
) -> tuple[float, float, float, float, float, float]:
    """Return what the hit of the best sentence has and lacks, and what others have."""
    words: dict[int, list[Marks]] = {}
    for passage in found:
        present = np.zeros(len(share), dtype=bool)
        present[list(passage.words)] = True
        words.setdefault(passage.hit.rank, []).append(present)
    best = found[0].hit.rank
    there = {rank: np.any(marks, axis=0) for rank, marks in words.items()}
    others = [marks for rank, marks in there.items() if rank != best]
    elsewhere = np.any(others, axis=0) if others else np.zeros(len(share), dtype=bool)
    here, missing = there[best], np.where(there[best], 0.0, share)
    numbers = np.asarray([any(map(str.isdigit, word)) for word, _ in question.words], dtype=bool)
    names = np.asarray([word[:1].isupper() for word, _ in question.words], dtype=bool)
    return (
        max(float(marks @ share) for marks in there.values()),
        float(missing.max(initial=0.0)),
        float(missing @ numbers),
        float(missing @ names),
        float((np.sum(words[best], axis=0) > 1) @ share),
        float((here & ~elsewhere) @ share),
    )


def _likeness(question: Question, passages: Sequence[Passage]) -> Matrix:
    """Return for each word 1 if the passages have it, else the share of its letters that do."""
    title = passages[0].hit.document.title.replace("_", " ")
    there = letter_groups(title).union(*(letter_groups(passage.text) for passage in passages))
    has = frozenset[int]().union(*(passage.words for passage in passages))
    result: list[float] = []
    for number, (word, _) in enumerate(question.words):
        groups = letter_groups(word)
        like = len(groups & there) / len(groups) if groups else 0.0
        result.append(1.0 if number in has else like)
    return np.asarray(result, dtype=np.float64)


def _standing(found: Sequence[Passage], hits: Sequence[Hit]) -> tuple[float, float, float]:
    """Return how far the best sentence and its hit stand above the others."""
    best = found[0]
    first, second, *_ = (*(hit.score for hit in hits), 0.0, 0.0)
    rival = next((p.strength for p in found if p.hit.rank != best.hit.rank), None)
    return (
        best.hit.score / first if first > 0 else 0.0,
        1 - second / first if first > 0 else 1.0,
        _NO_RIVAL if rival is None else min((best.strength - rival) / _STRENGTH_UNIT, _NO_RIVAL),
    )


def _cosines(found: Sequence[Passage]) -> tuple[float, float]:
    highest = sorted((passage.cosine for passage in found), reverse=True)
    return highest[0], highest[0] - highest[min(_NEXT_COSINE, len(highest) - 1)]
