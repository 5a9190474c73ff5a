"""How long work will take yet: honest bounds, or nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.ingest.remaining import WINDOW_SECONDS, remaining_seconds

STEPS = st.lists(st.tuples(st.floats(0.1, 30.0), st.integers(0, 500)), min_size=1, max_size=40)


def samples_of(steps: list[tuple[float, int]]) -> list[tuple[float, int]]:
    now, done = 1_000.0, 0
    samples = [(now, done)]
    for seconds, more in steps:
        now, done = now + seconds, done + more
        samples.append((now, done))
    return samples


@given(STEPS, st.integers(1, 10_000))
def test_the_bounds_hold_what_the_mean_speed_says(
    steps: list[tuple[float, int]], left: int
) -> None:
    samples = samples_of(steps)
    total = samples[-1][1] + left
    found = remaining_seconds(samples, total)
    if found is None:
        return
    low, high = found
    window = [one for one in samples if one[0] >= samples[-1][0] - WINDOW_SECONDS]
    mean = left * (window[-1][0] - window[0][0]) / (window[-1][1] - window[0][1])
    assert 0 < low <= mean * 1.000001
    assert mean <= high * 1.000001


@given(STEPS, st.integers(1, 10_000), st.integers(1, 100))
def test_twice_as_much_takes_twice_as_long(
    steps: list[tuple[float, int]], left: int, times: int
) -> None:
    samples = samples_of(steps)
    done = samples[-1][1]
    once, more = (remaining_seconds(samples, done + left * each) for each in (1, times))
    assert (once is None) == (more is None)
    if once and more:
        assert more == pytest.approx((once[0] * times, once[1] * times))


def test_at_a_steady_speed_the_bounds_are_one() -> None:
    samples = [(float(second), 10 * second) for second in range(21)]
    assert remaining_seconds(samples, 1_200) == pytest.approx((100.0, 100.0))


def test_work_that_slows_down_may_take_longer() -> None:
    samples = [(float(second), min(100 * second, 1_000) + second) for second in range(21)]
    found = remaining_seconds(samples, 1_120)
    assert found is not None
    assert found[1] == pytest.approx(100.0)
    assert found[0] < 2


@pytest.mark.parametrize(
    "samples",
    [
        [],
        [(5.0, 0)],
        [(5.0, 0), (6.0, 50)],  # too short a time to say
        [(5.0, 0), (50.0, 0)],  # nothing was done
        [(5.0, 0), (10.0, 80), (50.0, 80)],  # nothing lately
        [(5.0, 0), (50.0, 100)],  # nothing is left
    ],
)
def test_where_nothing_is_known_nothing_is_said(samples: list[tuple[float, int]]) -> None:
    assert remaining_seconds(samples, 100) is None


def test_what_was_long_ago_does_not_count() -> None:
    slow = [(float(second), 0) for second in range(0, 1_000, 10)]
    fast = [(1_000.0 + second, 10 * second) for second in range(0, 181, 10)]
    assert remaining_seconds([*slow, *fast], 1_900) == pytest.approx((10.0, 10.0))
