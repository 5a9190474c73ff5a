"""Embedding several texts at once, each on one thread."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

_Result = TypeVar("_Result")

THREADS: Final = "OMP_NUM_THREADS"  # the usual name of the number
_MOST: Final = 4  # threads; more would leave nothing to those who wait for an answer


def embed_each(
    texts: Sequence[str], embed: Callable[[str], NDArray[np.float32]], dimensions: int
) -> NDArray[np.float32]:
    """Return one row a text, shape (texts, dimensions): zeros for a text without a character."""
    vectors = np.zeros((len(texts), dimensions), dtype=np.float32)
    rows = [row for row, text in enumerate(texts) if text.strip()]
    for row, vector in zip(rows, apply_each([texts[row] for row in rows], embed), strict=True):
        vectors[row] = vector
    return vectors


def apply_each(texts: Sequence[str], read: Callable[[str], _Result]) -> list[_Result]:
    """Return what ``read`` makes of each text, in their order."""
    workers = min(_threads(), len(texts))
    if workers <= 1:
        return list(map(read, texts))
    longest = sorted(range(len(texts)), key=lambda row: -len(texts[row]))  # so that all end at once
    with ThreadPoolExecutor(workers) as pool:
        made = dict(zip(longest, pool.map(read, [texts[row] for row in longest]), strict=True))
    return [made[row] for row in range(len(texts))]


def _threads() -> int:
    """Return how many threads may run: the background process is allowed one."""
    allowed = os.environ.get(THREADS, "")
    return int(allowed) if allowed.isdecimal() and int(allowed) else min(_MOST, os.cpu_count() or 1)
