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


WITH_VECTORS: Final = EvidenceModel(-7.2, 4.8, 5.8, 5.9)
# For languages without vectors.
LEXICAL_ONLY: Final = EvidenceModel(-4.2, 5.0, 6.2, 0.0)


def evidence(
    question: Question,
    found: Sequence[Passage],
    hits: Sequence[Hit],
    weights: Mapping[str, float],
    *,
    served: bool,
) -> float:
    """Return the strength of the evidence, 0 to 1.

    Args:
        question: The question.
        found: The scored sentences, best first.
        hits: The chunks they come from.
        weights: Weight of each content word of the question.
        served: Whether the question's language has vectors.
    """
    if not found:
        return 0.0
    model = WITH_VECTORS if served else LEXICAL_ONLY
    logit = (
        model.intercept
        + model.sentence_coverage * found[0].coverage
        + model.chunk_coverage * max(_coverage(question, hit, weights) for hit in hits)
        + model.cosine * max(passage.cosine for passage in found)
    )
    return round(1 / (1 + math.exp(-logit)), 6)


def _coverage(question: Question, hit: Hit, weights: Mapping[str, float]) -> float:
    """Return the share of the question's word weight that stands in a chunk or above it."""
    chunk = hit.chunk
    text = "\n".join((hit.document.title, *chunk.section_path, chunk.header, chunk.text))
    terms = frozenset(analyse(text, hit.document.language))
    covered = sum(weights[word] for word, own in question.words if not terms.isdisjoint(own))
    return covered / (sum(weights.values()) or 1.0)
