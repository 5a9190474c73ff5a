"""More time for a slow step: a reader asks, the worker passes it on, the parent decides."""

import time
from collections.abc import Callable
from typing import Final


def _ignore(_seconds: float) -> None:
    """Outside a worker nobody measures the time."""


_ask: Callable[[float], None] = _ignore


def on_request(ask: Callable[[float], None]) -> None:
    """Have ``ask`` called with the seconds whenever a reader needs more time."""
    global _ask  # noqa: PLW0603 - one worker process reads one file at a time
    _ask = ask


def need(seconds: float) -> None:
    """Say that the next step may take so many seconds beyond the ordinary limit."""
    _ask(seconds)


_FIRST: Final = 10.0  # seconds that every file has
_STEP: Final = 10.0


class Allowance:
    """Time for a loop over parts, asked for as it goes on, so that one part that hangs is noticed.

    Recognition asks for its own time; the time that it takes is counted apart. ``seconds`` are for
    the loop without recognition, ``ceiling`` for all of it.
    """

    def __init__(self, seconds: float, ceiling: float) -> None:
        """Start the clock."""
        self._seconds, self._ceiling = seconds, ceiling
        self._started = time.monotonic()
        self._apart = 0.0
        self._asked = _FIRST

    def lasts(self) -> bool:
        """Whether there is time for one more part; asks for more where it may."""
        total = time.monotonic() - self._started
        spent = total - self._apart
        if spent >= self._seconds or total >= self._ceiling:
            return False
        if spent > self._asked - _STEP / 2:
            need(_STEP)
            self._asked += _STEP
        return True

    def count_apart(self, seconds: float) -> None:
        """Do not count time for which recognition asked itself."""
        self._apart += seconds
