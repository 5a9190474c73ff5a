"""Which sentence answers an aspect, and how likely the documents speak of it at all.

A conditional logit chooses among the sentences, a logistic model says whether what is chosen
answers. Both are fitted by ``benchmarks/councils/fit.py`` on councils over real folders.
"""

import json
import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from chapterhouse.council.positions.candidates import FEATURES, Candidates, Floats
from chapterhouse.types import Aspect, AspectKind

SIGNS = ("share", *(f"best {name}" for name in FEATURES), "yes or no")


@dataclass(frozen=True, slots=True)
class PositionModel:
    """Weights, made by ``benchmarks/councils/fit.py``.

    Attributes:
        choice: One for each of ``FEATURES``.
        speaks: The intercept and a weight for each of ``SIGNS``.
        least: Least likelihood of what is said; below it the documents are silent.
    """

    choice: tuple[float, ...]
    speaks: tuple[float, ...]
    least: float


@dataclass(frozen=True, slots=True)
class Chosen:
    """The sentence that answers best.

    Attributes:
        row: Its number among the candidates.
        share: How much of the answer is there, given that it is somewhere, 0 to 1.
        likely: How likely it answers, 0 to 1.
        shares: Of every sentence.
    """

    row: int
    share: float
    likely: float
    shares: Floats


def position_model(text: str) -> PositionModel:
    """Return the model of a JSON text.

    Raises:
        ValueError: a weight is missing or unknown.
    """
    read = json.loads(text)
    if set(read["choice"]) != set(FEATURES) or set(read["speaks"]) != {"intercept", *SIGNS}:
        raise ValueError("The weights are not of the features and signs.")
    return PositionModel(
        tuple(float(read["choice"][name]) for name in FEATURES),
        tuple(float(read["speaks"][name]) for name in ("intercept", *SIGNS)),
        float(read["least"]),
    )


@cache
def fitted_position_model() -> PositionModel:
    """Return the model that comes with Chapterhouse."""
    path = files("chapterhouse.council.positions").joinpath("position_model.json")
    return position_model(path.read_text("utf-8"))


def choose(candidates: Candidates, aspect: Aspect, model: PositionModel) -> Chosen | None:
    """Return the sentence that answers best; None where there is none at all."""
    if not candidates.sentences:
        return None
    shares = shares_of(candidates.table, model.choice)
    row = int(shares.argmax())
    intercept, *weights = model.speaks
    signs = signs_of(candidates, aspect, shares, row)
    logit = intercept + sum(weight * sign for weight, sign in zip(weights, signs, strict=True))
    return Chosen(row, float(shares[row]), round(1 / (1 + math.exp(-logit)), 4), shares)


def shares_of(table: Floats, weights: tuple[float, ...]) -> Floats:
    """Return the share of each row of features, sum 1."""
    logits = table @ np.asarray(weights)
    powers = np.exp(logits - logits.max())
    shares: Floats = (powers / powers.sum()).round(6)
    return shares


def signs_of(candidates: Candidates, aspect: Aspect, shares: Floats, row: int) -> tuple[float, ...]:
    """Return what speaks for it that the chosen sentence answers, one for each of ``SIGNS``."""
    own = candidates.table[row]
    asks_yes = float(aspect.kind is AspectKind.YES_NO)
    return (float(shares[row]), *(float(value) for value in own), asks_yes)
