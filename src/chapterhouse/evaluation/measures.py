"""Measures of a ranking, under the names and with the definitions of ir-measures and trec_eval.

Each takes the ids of a ranking, best first and each once, and the grades of the judged documents
(above 0: relevant), and gives a figure from 0 to 1; 0 where nothing is relevant. Written here
because ir-measures brings SciPy along, over 100 MB; a test holds them equal to it.

Source: Järvelin and Kekäläinen, TOIS 2002 (nDCG); trec_eval 9 (the rest).
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chapterhouse.errors import UsageError

Grades = Mapping[str, int]
_NAME = re.compile(r"(?P<family>nDCG|RR|R|AP|MAP)(?:@(?P<cut>[1-9]\d{0,3}))?", re.IGNORECASE)
_UNCUT: Final = 10_000  # beyond any ranking that is read
_SEED: Final = 20_260_101
_RESAMPLES: Final = 2_000
_AT_ONCE: Final = 2_000_000  # numbers drawn at once; 16 MB
_DIGITS: Final = 6


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure with its name, as ``nDCG@10``."""

    name: str
    of: Callable[[Sequence[str], Grades], float]


def measure_named(name: str) -> Measure:
    """Return the measure of this name: nDCG, R, RR with ``@`` and a number; AP, MAP."""
    match = _NAME.fullmatch(name.strip())
    family = _FAMILIES.get(match["family"].casefold()) if match else None
    if match is None or family is None or (match["cut"] is None and family.needs_cut):
        raise UsageError(
            f"There is no measure '{name}'.",
            hint="There are nDCG@10, R@5, R@100, RR@10, with any number, and MAP.",
        )
    if match["cut"] is None:
        return Measure(family.name, partial(family.of, cut=_UNCUT))
    return Measure(f"{family.name}@{match['cut']}", partial(family.of, cut=int(match["cut"])))


def ndcg(ranking: Sequence[str], grades: Grades, cut: int) -> float:
    """Return the discounted gain of the first ``cut``, over the best there could be."""
    best = _discounted(sorted((grade for grade in grades.values() if grade > 0), reverse=True), cut)
    found = _discounted([max(grades.get(name, 0), 0) for name in ranking[:cut]], cut)
    return found / best if best else 0.0


def recall(ranking: Sequence[str], grades: Grades, cut: int) -> float:
    """Return the share of the relevant documents that stand among the first ``cut``."""
    relevant = sum(grade > 0 for grade in grades.values())
    found = sum(grades.get(name, 0) > 0 for name in ranking[:cut])
    return found / relevant if relevant else 0.0


def reciprocal_rank(ranking: Sequence[str], grades: Grades, cut: int) -> float:
    """Return 1 over the place of the first relevant document, 0 behind ``cut``."""
    for place, name in enumerate(ranking[:cut], start=1):
        if grades.get(name, 0) > 0:
            return 1 / place
    return 0.0


def average_precision(ranking: Sequence[str], grades: Grades, cut: int) -> float:
    """Return the mean of the precision at each relevant document; one not found counts as 0."""
    relevant = sum(grade > 0 for grade in grades.values())
    found, total = 0, 0.0
    for place, name in enumerate(ranking[:cut], start=1):
        if grades.get(name, 0) > 0:
            found += 1
            total += found / place
    return total / relevant if relevant else 0.0


def _discounted(gains: Sequence[int], cut: int) -> float:
    return math.fsum(gain / math.log2(place + 1) for place, gain in enumerate(gains[:cut], 1))


class _Family(NamedTuple):
    name: str
    of: Callable[..., float]
    needs_cut: bool


_FAMILIES: Final = {
    "ndcg": _Family("nDCG", ndcg, needs_cut=False),
    "r": _Family("R", recall, needs_cut=True),
    "rr": _Family("RR", reciprocal_rank, needs_cut=False),
    "ap": _Family("AP", average_precision, needs_cut=False),
    "map": _Family("MAP", average_precision, needs_cut=False),
}
RANKING_MEASURES: Final = tuple(
    measure_named(name) for name in ("nDCG@10", "R@5", "R@10", "R@100", "RR@10", "MAP")
)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over ``count`` questions with its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float
    count: int


def estimate(values: Sequence[float]) -> Estimate:
    """Return the mean of ``values`` with its 95 % percentile bootstrap interval.

    All are 0 where there are no values.
    """
    if not values:
        return Estimate(0.0, 0.0, 0.0, 0)
    figures = np.asarray(values, dtype=np.float64)
    low, high = np.quantile(_bootstrap_averages(figures), (0.025, 0.975))
    mean = float(figures.mean())
    return Estimate(_rounded(mean), _rounded(low), _rounded(high), len(figures))


def _rounded(value: float) -> float:
    return round(float(value), _DIGITS) + 0.0  # which makes 0.0 of -0.0


def _bootstrap_averages(figures: NDArray[np.float64]) -> NDArray[np.float64]:
    generator = np.random.default_rng(_SEED)
    size = len(figures)
    averages = np.empty(_RESAMPLES)
    step = max(1, _AT_ONCE // size)
    for start in range(0, _RESAMPLES, step):
        rows = min(step, _RESAMPLES - start)
        drawn = generator.integers(0, size, size=(rows, size))
        averages[start : start + rows] = figures[drawn].mean(axis=1)
    return averages
