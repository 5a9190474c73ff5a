"""How sure a figure is: intervals of means, and whether two ways of ranking differ.

Everything is drawn from a generator with a fixed seed, so that the same figures give the same
intervals on every run.

Sources: Efron and Tibshirani, 1993 (the bootstrap); Smucker, Allan and Carterette, CIKM 2007 (the
paired randomisation test for retrieval).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

_SEED: Final = 20_260_101
_RESAMPLES: Final = 2_000
_PERMUTATIONS: Final = 10_000
_EXACT: Final = 13  # questions up to which every one of the 2^n signs is tried
_AT_ONCE: Final = 2_000_000  # numbers drawn at once; 16 MB
_SAME: Final = 1e-12  # what two orders of adding the same numbers may differ by
_DIGITS: Final = 6


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over ``count`` questions with its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class Difference:
    """What one way of ranking gains over another on the same questions.

    Attributes:
        gain: Mean of the differences, with its interval.
        p: Chance of a difference at least as large if both were the same, two-sided, 0 to 1.
        wins: Questions on which it is better.
        losses: Questions on which it is worse.
        ties: Questions on which both are the same.
    """

    gain: Estimate
    p: float
    wins: int
    losses: int
    ties: int


def estimate(values: Sequence[float]) -> Estimate:
    """Return the mean of ``values`` with its 95 % percentile bootstrap interval.

    All are 0 where there are no values.
    """
    if not values:
        return Estimate(0.0, 0.0, 0.0, 0)
    figures = np.asarray(values, dtype=np.float64)
    low, high = np.quantile(_resampled_means(figures), (0.025, 0.975))
    mean = float(figures.mean())
    return Estimate(_rounded(mean), _rounded(low), _rounded(high), len(figures))


def compare(ours: Sequence[float], others: Sequence[float]) -> Difference:
    """Compare two lists of figures for the same questions in the same order.

    Raises:
        ValueError: they are not of one length.
    """
    if len(ours) != len(others):
        raise ValueError(f"{len(ours)} figures cannot be paired with {len(others)}")
    gains = np.asarray(ours, dtype=np.float64) - np.asarray(others, dtype=np.float64)
    return Difference(
        gain=estimate(gains.tolist()),
        p=round(_randomisation_test(gains), _DIGITS),
        wins=int((gains > _SAME).sum()),
        losses=int((gains < -_SAME).sum()),
        ties=int((np.abs(gains) <= _SAME).sum()),
    )


def _rounded(value: float) -> float:
    return round(float(value), _DIGITS) + 0.0  # which makes 0.0 of -0.0


def _resampled_means(figures: NDArray[np.float64]) -> NDArray[np.float64]:
    generator = np.random.default_rng(_SEED)
    size = len(figures)
    means = np.empty(_RESAMPLES)
    step = max(1, _AT_ONCE // size)
    for start in range(0, _RESAMPLES, step):
        rows = min(step, _RESAMPLES - start)
        drawn = generator.integers(0, size, size=(rows, size))
        means[start : start + rows] = figures[drawn].mean(axis=1)
    return means


def _randomisation_test(gains: NDArray[np.float64]) -> float:
    """Count how often random signs give a sum at least as far from 0 as the observed one."""
    moved = gains[np.abs(gains) > _SAME]  # a sign in front of 0 changes nothing
    size = len(moved)
    if size == 0:
        return 1.0
    observed = abs(float(moved.sum())) - _SAME * size
    if size <= _EXACT:
        signs = np.asarray(list(product((-1.0, 1.0), repeat=size)))
        return float((np.abs(signs @ moved) >= observed).mean())
    generator = np.random.default_rng(_SEED)
    extreme = 0
    step = max(1, _AT_ONCE // size)
    for start in range(0, _PERMUTATIONS, step):
        rows = min(step, _PERMUTATIONS - start)
        flips = generator.integers(0, 2, size=(rows, size), dtype=np.int8) * 2.0 - 1.0
        extreme += int((np.abs(flips @ moved) >= observed).sum())
    return (extreme + 1) / (_PERMUTATIONS + 1)
