"""Time for many parts is asked for as it goes on, and ends."""

import time
from collections.abc import Iterator

import pytest

from chapterhouse.reading import budget


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """The seconds that have passed, to be set."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    yield now
    budget.on_request(budget._ignore)


def test_more_time_is_asked_for_before_it_runs_out(clock: list[float]) -> None:
    asked: list[float] = []
    budget.on_request(asked.append)
    allowance = budget.Allowance(30, 100)
    for second in range(30):
        clock[0] = float(second)
        assert allowance.lasts()
    assert asked == [10.0] * 3
    clock[0] = 30.0
    assert not allowance.lasts()


def test_recognition_is_counted_apart_up_to_the_ceiling(clock: list[float]) -> None:
    allowance = budget.Allowance(30, 100)
    clock[0] = 90.0
    allowance.count_apart(80.0)
    assert allowance.lasts()
    clock[0] = 100.0
    allowance.count_apart(10.0)
    assert not allowance.lasts()
