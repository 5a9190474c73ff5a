"""How strong the evidence for an answer is, and from where on it is enough.

A logistic model of three numbers, fitted by ``benchmarks/answering.py`` on questions whose
documents were in the library and on questions whose documents had been taken out, of five
collections in three languages; the figures published with it are those of each collection when
the model was fitted on the other four.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from chapterhouse.answering.passages import Passage
from chapterhouse.retrieval.question import Question
from chapterhouse.text.analyse import analyse
from chapterhouse.types import Hit

THRESHOLD: Final = 0.5


@dataclass(frozen=True, slots=True)
class EvidenceModel:
    """Weights of the evidence features."""

    intercept: float
    sentence_coverage: float
    chunk_coverage: float
    cosine: float


WITH_VECTORS: Final = EvidenceModel(-7.0, 4.0, 5.5, 5.8)
# For languages without vectors.
LEXICAL_ONLY: Final = EvidenceModel(-4.0, 4.2, 5.8, 0.0)


def features(
    question: Question,
    found: Sequence[Passage],
    hits: Sequence[Hit],
    weights: Mapping[str, float],
) -> tuple[float, float, float]:
    """Return what speaks for an answer, each between 0 and 1 (the cosine from -1).

    Args:
        question: The question.
        found: The scored sentences, best first; at least one.
        hits: The chunks they come from.
        weights: Weight of each content word of the question.

    Returns:
        Coverage of the question by the best sentence, by the best chunk, and the highest cosine.
    """
    return (
        found[0].coverage,
        max(_coverage(question, hit, weights) for hit in hits),
        max(passage.cosine for passage in found),
    )


def evidence(values: tuple[float, float, float], *, served: bool) -> float:
    """Return the strength of the evidence, 0 to 1.

    Args:
        values: The features.
        served: Whether the question's language has vectors.
    """
    model = WITH_VECTORS if served else LEXICAL_ONLY
    sentence, chunk, cosine = values
    logit = (
        model.intercept
        + model.sentence_coverage * sentence
        + model.chunk_coverage * chunk
        + model.cosine * cosine
    )
    return round(1 / (1 + math.exp(-logit)), 6)


def _coverage(question: Question, hit: Hit, weights: Mapping[str, float]) -> float:
    """Return the share of the question's word weight that stands in a chunk or above it."""
    chunk = hit.chunk
    text = "\n".join((hit.document.title, *chunk.section_path, chunk.header, chunk.text))
    terms = frozenset(analyse(text, hit.document.language))
    covered = sum(weights[word] for word, own in question.words if not terms.isdisjoint(own))
    return covered / (sum(weights.values()) or 1.0)
