"""Fitting the two models of offline answers: which sentence, and whether at all."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

Matrix = NDArray[np.float64]

SENTENCE_RIDGE = 2e-3  # on standardised features
EVIDENCE_RIDGE = 2e-3
# Against a collection of three languages of the same texts; the others have few questions, or
# questions that are answered by yes or no.
COLLECTION_WEIGHTS = {"pubmedqa": 0.3, "anthropic-docs": 0.1}
_BOUNDS = {1: (0.0, None), -1: (None, 0.0), 0: (None, None)}
_HARD_SHARE = 0.8  # of the weight of what cannot be answered, where some of it is foreign


@dataclass(frozen=True, slots=True)
class Choice:
    """One question's sentences: their features and which of them hold the answer."""

    features: Matrix  # (sentences, features)
    holds: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Logistic:
    """A fitted logistic model."""

    intercept: float
    weights: Matrix

    def logits(self, features: Matrix) -> Matrix:
        """Return the logit of each row."""
        return features[:, : len(self.weights)] @ self.weights + self.intercept


def fit_sentences(choices: Sequence[Choice], signs: Sequence[int]) -> Matrix:
    """Return the weights of a conditional logit over as many features as there are signs."""
    width = len(signs)
    useful = [choice for choice in choices if choice.holds.any()]
    values = np.concatenate([choice.features[:, :width] for choice in useful])
    holds = np.concatenate([choice.holds for choice in useful]).astype(float)
    lengths = [len(choice.holds) for choice in useful]
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    owner = np.repeat(np.arange(len(useful)), lengths)
    scale = values.std(axis=0) + 1e-9
    scaled = (values - values.mean(axis=0)) / scale

    def loss(model: Matrix) -> tuple[float, Matrix]:
        logits = scaled @ model
        powers = np.exp(logits - np.maximum.reduceat(logits, starts)[owner])
        whole = np.add.reduceat(powers, starts)
        right = np.add.reduceat(powers * holds, starts)
        slope = (powers / whole[owner] - powers * holds / right[owner]) @ scaled / len(useful)
        value = -np.log(right / whole).mean() + SENTENCE_RIDGE * (model @ model)
        return float(value), slope + 2 * SENTENCE_RIDGE * model

    bounds = [_BOUNDS[sign] for sign in signs]
    found = minimize(loss, np.zeros(width), jac=True, method="L-BFGS-B", bounds=bounds).x
    result: Matrix = found / scale
    return result


def fit_evidence(values: Matrix, labels: Matrix, weights: Matrix, signs: Sequence[int]) -> Logistic:
    """Fit a logistic model with a ridge on standardised features.

    Args:
        values: Shape (questions, features).
        labels: 1 where the documents hold an answer.
        weights: Of the questions.
        signs: 1 for features that may only speak for an answer, -1 only against it, 0 either:
            those that say nearly the same would else be played off against each other.
    """
    weights = weights / weights.sum()
    mean, scale = np.average(values, axis=0, weights=weights), values.std(axis=0) + 1e-9
    scaled = (values - mean) / scale

    def loss(model: Matrix) -> tuple[float, Matrix]:
        logits = scaled @ model[1:] + model[0]
        wrong = weights * (1 / (1 + np.exp(-logits)) - labels)
        losses = np.logaddexp(0, logits) - labels * logits
        value = (weights * losses).sum() + EVIDENCE_RIDGE * (model[1:] @ model[1:])
        slope = np.concatenate([[wrong.sum()], scaled.T @ wrong + 2 * EVIDENCE_RIDGE * model[1:]])
        return float(value), slope

    bounds = [(None, None), *(_BOUNDS[sign] for sign in signs)]
    start = np.zeros(values.shape[1] + 1)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return Logistic(float(found[0] - mean @ (found[1:] / scale)), found[1:] / scale)


def balance(
    name: str, answerable: NDArray[np.bool_], foreign: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the weight of each question: both classes of a collection weigh the same."""
    hard = ~answerable & ~foreign
    hard_share = _HARD_SHARE if foreign.any() else 1.0
    weights = np.zeros(len(answerable))
    for members, share in ((answerable, 1.0), (hard, hard_share), (foreign, 1 - hard_share)):
        weights[members] = share / max(int(members.sum()), 1)
    return weights * COLLECTION_WEIGHTS.get(name, 1.0)


def area(scores: Matrix, labels: NDArray[np.bool_]) -> float:
    """Return the area under the ROC curve: the chance that a pair is in order, ties half."""
    order = np.sort(scores[~labels])
    below = np.searchsorted(order, scores[labels], side="left")
    upto = np.searchsorted(order, scores[labels], side="right")
    return float((below + upto).mean() / 2 / len(order))
