"""Which sentence answers an aspect, and how likely the documents speak of it at all.

A conditional logit chooses among the sentences; a logistic model says whether what is chosen
answers, by the sentence itself and by what the other members' documents have on the same. Both are
fitted by ``benchmarks/councils/council_fit.py`` on councils over real folders.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from chapterhouse.council.positions.candidates import FEATURES, Candidates, Floats
from chapterhouse.types import Aspect, AspectKind

SIGNS = (
    "share",
    *(f"best {name}" for name in FEATURES),
    "yes or no",
    "behind",  # how far its score is behind the best of any member
    "above",  # how far it is above the mean of the members
)


@dataclass(frozen=True, slots=True)
class PositionModel:
    """Weights, made by ``benchmarks/councils/council_fit.py``.

    Attributes:
        choice: One for each of ``FEATURES``.
        answers: The intercept and a weight for each of ``SIGNS``.
        least: Least likelihood of what is said; below it the documents are silent.
    """

    choice: tuple[float, ...]
    answers: tuple[float, ...]
    least: float


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """The sentence that answers best.

    Attributes:
        row: Its number among the candidates.
        score: Before it becomes a share; of one aspect comparable between members.
        shares: How much of the answer is in each sentence, given that it is somewhere, sum 1.
    """

    row: int
    score: float
    shares: Floats

    @property
    def share(self) -> float:
        """Of the sentence that was chosen."""
        return float(self.shares[self.row])


def position_model(text: str) -> PositionModel:
    """Return the model of a JSON text.

    Raises:
        ValueError: a weight is missing or unknown.
    """
    read = json.loads(text)
    if set(read["choice"]) != set(FEATURES) or set(read["answers"]) != {"intercept", *SIGNS}:
        raise ValueError("The weights are not of the features and signs.")
    return PositionModel(
        tuple(float(read["choice"][name]) for name in FEATURES),
        tuple(float(read["answers"][name]) for name in ("intercept", *SIGNS)),
        float(read["least"]),
    )


@cache
def fitted_position_model() -> PositionModel:
    """Return the model that comes with Chapterhouse."""
    path = files("chapterhouse.council.positions").joinpath("position_model.json")
    return position_model(path.read_text("utf-8"))


def choose(candidates: Candidates, weights: Sequence[float]) -> Chosen | None:
    """Return the sentence that answers best; None where there is none at all.

    Args:
        candidates: The sentences of a member's documents.
        weights: One for each of ``FEATURES``.
    """
    if not candidates.sentences:
        return None
    scores = candidates.table @ np.asarray(weights)
    powers = np.exp(scores - scores.max())
    row = int(scores.argmax())
    return Chosen(row, float(scores[row]), (powers / powers.sum()).round(6))


def likelihood(signs: Sequence[float], model: PositionModel) -> float:
    """Return how likely what was chosen answers, 0 to 1."""
    intercept, *weights = model.answers
    logit = intercept + sum(weight * sign for weight, sign in zip(weights, signs, strict=True))
    return round(1 / (1 + math.exp(-logit)), 4)


def signs_of(
    candidates: Candidates, chosen: Chosen, aspect: Aspect, scores: Sequence[float]
) -> tuple[float, ...]:
    """Return what answers for it that the chosen sentence answers, one for each of ``SIGNS``.

    Args:
        candidates: The sentences of the member's documents.
        chosen: The one that was chosen.
        aspect: What is asked.
        scores: Those of what was chosen for each member, this one included.
    """
    own = (float(value) for value in candidates.table[chosen.row])
    asks_yes = float(aspect.kind is AspectKind.YES_NO)
    behind, above = max(scores) - chosen.score, chosen.score - sum(scores) / len(scores)
    return (chosen.share, *own, asks_yes, behind, above)
