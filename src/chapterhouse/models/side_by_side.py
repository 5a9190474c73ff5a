"""Embedding several texts at once, each on one thread."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import numpy as np
from numpy.typing import NDArray

THREADS: Final = "OMP_NUM_THREADS"  # the usual name of the number
_MOST: Final = 4  # threads; more would leave nothing to those who wait for an answer


def embed_each(
    texts: Sequence[str], embed: Callable[[str], NDArray[np.float32]], dimensions: int
) -> NDArray[np.float32]:
    """Return one row a text, shape (texts, dimensions): zeros for a text without a character."""
    vectors = np.zeros((len(texts), dimensions), dtype=np.float32)
    rows = [row for row, text in enumerate(texts) if text.strip()]
    workers = min(_threads(), len(rows))
    if workers <= 1:
        for row in rows:
            vectors[row] = embed(texts[row])
        return vectors
    with ThreadPoolExecutor(workers) as pool:
        for row, vector in zip(rows, pool.map(embed, (texts[row] for row in rows)), strict=True):
            vectors[row] = vector
    return vectors


def _threads() -> int:
    """Return how many threads may run: the background process is allowed one."""
    allowed = os.environ.get(THREADS, "")
    return int(allowed) if allowed.isdecimal() and int(allowed) else min(_MOST, os.cpu_count() or 1)
