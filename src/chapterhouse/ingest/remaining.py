"""How long a piece of work will take yet, from how fast it went in the last minutes."""

from collections.abc import Sequence
from typing import Final

WINDOW_SECONDS: Final = 180.0  # what was before says little about what comes
_LEAST_SECONDS: Final = 4.0  # of which something is known


def remaining_seconds(
    samples: Sequence[tuple[float, int]], total: int
) -> tuple[float, float] | None:
    """Return the least and the most seconds that are left, or None while nothing can be said.

    The least is what is left at the best of three speeds, the most at the worst: those of the
    first half of the window, of its second half, and of all of it. Where the second half did
    nothing, as at one large file, nothing is said.

    Args:
        samples: Times in seconds and how much was done by then, both rising, the latest last.
        total: How much there is to do.
    """
    if not samples:
        return None
    end, done = samples[-1]
    if done >= total:
        return None
    window = [sample for sample in samples if sample[0] >= end - WINDOW_SECONDS]
    begin = window[0][0]
    if end - begin < _LEAST_SECONDS:
        return None
    middle = min(window, key=lambda sample: abs(sample[0] - (begin + end) / 2))
    latest = _speed(middle, window[-1])
    if latest <= 0:
        return None
    speeds = [latest, _speed(window[0], window[-1]), _speed(window[0], middle)]
    moving = [speed for speed in speeds if speed > 0]
    return (total - done) / max(moving), (total - done) / min(moving)


def _speed(first: tuple[float, int], last: tuple[float, int]) -> float:
    seconds = last[0] - first[0]
    return (last[1] - first[1]) / seconds if seconds > 0 else 0.0
