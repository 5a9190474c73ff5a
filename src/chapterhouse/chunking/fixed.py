"""Chunks of one size with an exact overlap, for comparison and for texts without structure."""

from collections.abc import Sequence

from chapterhouse.types import Body, Span


def chunk_by_size(body: Body, size: int = 1_500, overlap: int = 200) -> Sequence[Span]:
    """Cut every ``size`` characters, each chunk starting ``overlap`` before the last one's end.

    Only the last chunk is shorter, and it always holds text that no earlier chunk has.

    Raises:
        ValueError: unless 0 <= overlap < size.
    """
    if not 0 <= overlap < size:
        raise ValueError(f"overlap must be at least 0 and less than size, got {overlap} and {size}")
    length = len(body.text)
    starts = range(0, max(length - overlap, 1), size - overlap) if length else ()
    return tuple(Span(start, min(start + size, length)) for start in starts)
