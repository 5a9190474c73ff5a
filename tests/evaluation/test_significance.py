"""Intervals of means and the paired test."""

import math
import random
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.evaluation.measures import compare, estimate

figures = st.lists(st.floats(0, 1), min_size=1, max_size=40)
pairs = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=40)


@given(figures)
def test_a_mean_lies_in_its_interval(values: list[float]) -> None:
    found = estimate(values)
    assert min(values) - 1e-6 <= found.low <= found.mean + 1e-6
    assert found.mean - 1e-6 <= found.high <= max(values) + 1e-6
    assert found.mean == pytest.approx(math.fsum(values) / len(values), abs=1e-6)
    assert found.count == len(values)


def test_the_same_figures_give_the_same_interval() -> None:
    values = [random.Random(1).random() for _ in range(500)]
    assert estimate(values) == estimate(values)


def test_the_interval_is_that_of_the_normal_approximation() -> None:
    drawn = random.Random(2)
    values = [drawn.random() for _ in range(2_000)]
    found = estimate(values)
    half = 1.96 * math.sqrt(1 / 12 / len(values))
    assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.1)


def test_no_figures_are_no_figure() -> None:
    assert estimate([]).count == 0


@given(pairs)
def test_a_comparison_turned_round_is_the_same_turned_round(
    values: list[tuple[float, float]],
) -> None:
    ours, others = [a for a, _ in values], [b for _, b in values]
    there, back = compare(ours, others), compare(others, ours)
    assert there.p == back.p
    assert there.gain.mean == -back.gain.mean
    assert (there.wins, there.losses, there.ties) == (back.losses, back.wins, back.ties)
    assert there.wins + there.losses + there.ties == len(values)
    assert 0 < there.p <= 1


@given(st.lists(st.integers(-8, 8), min_size=1, max_size=9))
def test_few_questions_are_tested_exactly(eighths: list[int]) -> None:
    gains = [value / 8 for value in eighths]
    sums = [
        abs(sum(sign * gain for sign, gain in zip(signs, gains, strict=True)))
        for signs in product((-1, 1), repeat=len(gains))
    ]
    extreme = sum(total >= abs(sum(gains)) for total in sums)
    found = compare([max(gain, 0.0) for gain in gains], [max(-gain, 0.0) for gain in gains])
    assert found.p == pytest.approx(extreme / len(sums), abs=1e-6)


def test_the_sampled_test_agrees_with_the_exact_one() -> None:
    drawn = random.Random(3)
    gains = [drawn.uniform(-0.1, 0.2) for _ in range(13)]  # no two sums alike
    exact = compare(gains, [0.0] * 13).p
    sampled = compare([*gains, 1e-9], [0.0] * 14).p  # one more, which moves no sum
    assert sampled == pytest.approx(exact, abs=0.02)


def test_a_clear_gain_is_significant_and_noise_is_not() -> None:
    drawn = random.Random(4)
    others = [drawn.random() * 0.8 for _ in range(200)]
    better = [value + drawn.random() * 0.1 for value in others]
    noisy = [value + drawn.uniform(-0.1, 0.1) for value in others]
    assert compare(better, others).p < 0.001
    assert compare(better, others).gain.low > 0
    assert compare(noisy, others).p > 0.05


def test_unpaired_lists_are_refused() -> None:
    with pytest.raises(ValueError, match="paired"):
        compare([1.0], [1.0, 0.0])
