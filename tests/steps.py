"""How much work something does, counted rather than timed: the same on every machine."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

_PER_SIZE = 2.5  # what twice the input may cost; what is quadratic costs four times as much
_FIXED = 200  # steps that do not depend on the input, such as filling a cache


def steps(action: Callable[[], object]) -> int:
    """Return how many lines of Python are run, and functions called and left, by ``action``.

    What is done in C, such as the search of a regular expression, counts as one.
    """
    count = 0

    def trace(_frame: FrameType, _event: str, _argument: Any) -> Any:
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(before)
    return count


def assert_in_proportion(work: Callable[[str], object], unit: str, size: int = 4_000) -> None:
    """Check that twice the text costs about twice the steps, and that a long text comes to an end.

    The long text is for regular expressions, whose steps are not counted: what is quadratic in
    them takes longer than the limit of the whole suite.

    Args:
        work: What is done with a text.
        unit: What the text repeats.
        size: Characters of the shorter text; the long one has fifty times as many.
    """
    once, twice, long = (unit * (times * size // len(unit)) for times in (1, 2, 50))
    work(once + unit)  # so that what is made but once is there; another text, for it may be kept
    assert steps(lambda: work(twice)) <= _PER_SIZE * steps(lambda: work(once)) + _FIXED
    work(long)
