"""Chunks that end where the meaning changes, as an embedder sees it."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from chapterhouse.chunking.analysed import analysed
from chapterhouse.chunking.coherence import cut_where_incoherent
from chapterhouse.chunking.limits import DEFAULT, Limits
from chapterhouse.types import Body, Span

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

THRESHOLD = 0.85
WINDOW = 3
Embed = Callable[[Sequence[str]], "NDArray[np.float32]"]


def chunk_by_meaning(
    body: Body,
    embed: Embed,
    limits: Limits = DEFAULT,
    threshold: float = THRESHOLD,
    window: int = WINDOW,
) -> Sequence[Span]:
    """Cut where the vectors of neighbouring windows point apart the most.

    Coherence at a border is the cosine of the sums of the vectors of up to ``window`` units on
    either side, -1 to 1.

    Args:
        body: What to cut.
        embed: Gives a unit vector a text, shape (texts, dimensions).
        limits: Lengths to keep.
        threshold: Cosine from which on a border is not cut unless the limits demand it.
        window: Units on either side.
    """
    units = analysed(body).units(limits).units
    if not units:
        return ()
    vectors = embed([body.text[unit.start : unit.end] for unit in units])
    return cut_where_incoherent(body, limits, cosine_at_borders(vectors, window), threshold)


def cosine_at_borders(vectors: "NDArray[np.float32]", window: int) -> list[float]:
    """Return the cosine of what stands before and behind each unit; 0 for the first."""
    import numpy as np  # noqa: PLC0415 - only this strategy needs it

    count = len(vectors)
    sums = np.zeros((count + 1, vectors.shape[1]), dtype=np.float64)
    np.cumsum(vectors, axis=0, out=sums[1:])
    border = np.arange(count)
    before = sums[border] - sums[np.maximum(border - window, 0)]
    behind = sums[np.minimum(border + window, count)] - sums[border]
    lengths = np.sqrt((before**2).sum(axis=1) * (behind**2).sum(axis=1))
    products = (before * behind).sum(axis=1)
    cosines: list[float] = np.divide(
        products, lengths, out=np.zeros(count), where=lengths > 0
    ).tolist()
    return cosines
