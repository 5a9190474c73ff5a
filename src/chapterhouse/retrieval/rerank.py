"""Ordering the shortlist again, by what is worth looking at only for the best candidates."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from chapterhouse.errors import EngineError
from chapterhouse.ports.models import Reranker
from chapterhouse.retrieval.features import FEATURES, Floats, features, question_terms
from chapterhouse.retrieval.shortlist import Rerank, Shortlist, passage_text

_STEEPEST: Final = 25.0  # of a logit: beyond it a score is 0 or 1 to eleven digits


@dataclass(frozen=True, slots=True)
class FeatureModel:
    """A linear model over ``FEATURES``, made by ``benchmarks/reranker.py``.

    A candidate's score is ``1 / (1 + exp(−(intercept + Σ weight · feature)))``: the share of such
    candidates that answered their question in the collections it was fitted on.
    """

    intercept: float
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.weights) != len(FEATURES):
            raise ValueError(f"{len(FEATURES)} features need as many weights: {self.weights}")

    def scores(self, table: Floats) -> Floats:
        """Return one score a row of ``table``, between 0 and 1."""
        logits = np.clip(self.intercept + table @ np.asarray(self.weights), -_STEEPEST, _STEEPEST)
        scores: Floats = 1.0 / (1.0 + np.exp(-logits))
        return scores


def feature_model(text: str) -> FeatureModel:
    """Return the model of a JSON text: an intercept, and a weight for each name of ``FEATURES``.

    Raises:
        ValueError: it is something else, or a feature is missing, unknown or not a number.
    """
    fields = json.loads(text)
    named = fields.get("weights") if isinstance(fields, dict) else None
    if not isinstance(named, dict) or set(fields) != {"intercept", "weights"}:
        raise ValueError("A model has an intercept and weights by name.")
    if set(named) != set(FEATURES):
        raise ValueError(f"The weights are of {sorted(named)}, the features {sorted(FEATURES)}.")
    values = [fields["intercept"], *(named[name] for name in FEATURES)]
    if not all(isinstance(value, int | float) and math.isfinite(value) for value in values):
        raise ValueError(f"A weight is not a finite number: {values}")
    return FeatureModel(float(values[0]), tuple(map(float, values[1:])))


def table_of(shortlist: Shortlist) -> Floats:
    """Return the features of every candidate, shape (candidates, features)."""
    question = shortlist.question
    frequencies = shortlist.frequencies([term.term for term in question.terms])
    return features(
        question_terms(question.terms, frequencies, question.order, shortlist.size),
        shortlist.rows,
        shortlist.scores,
        [chunk.document_id for chunk in shortlist.chunks],
        [chunk.ordinal for chunk in shortlist.chunks],
    )


def by_features(model: FeatureModel) -> Rerank:
    """Return a reranker that counts: no model to run, some hundred microseconds."""

    def rerank(shortlist: Shortlist) -> Sequence[float]:
        scores: list[float] = model.scores(table_of(shortlist)).tolist()
        return scores

    return rerank


def by_model(reranker: Reranker) -> Rerank:
    """Return a reranker that lets a model read question and passages together.

    Models score on scales of their own; the logistic function brings them between 0 and 1
    without changing an order.
    """

    def rerank(shortlist: Shortlist) -> Sequence[float]:
        passages = [
            passage_text(chunk, shortlist.documents.get(chunk.document_id))
            for chunk in shortlist.chunks
        ]
        scores = reranker.score(shortlist.question.text, passages)
        if len(scores) != len(passages) or not all(map(math.isfinite, scores)):
            raise EngineError(f"{reranker.fingerprint} gave no score for some of the passages.")
        if all(0.0 <= score <= 1.0 for score in scores):
            return scores
        return [1.0 / (1.0 + math.exp(-max(min(s, _STEEPEST), -_STEEPEST))) for s in scores]

    return rerank
