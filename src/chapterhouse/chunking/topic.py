"""Chunks that end where the words change."""

from collections.abc import Sequence

from chapterhouse.chunking.analysed import analysed
from chapterhouse.chunking.coherence import cut_where_incoherent
from chapterhouse.chunking.limits import DEFAULT, Limits
from chapterhouse.types import Body, Span

THRESHOLD = 0.3
WINDOW = 3


def chunk_by_topic(
    body: Body, limits: Limits = DEFAULT, threshold: float = THRESHOLD, window: int = WINDOW
) -> Sequence[Span]:
    """Cut where neighbouring sentences share the fewest keywords.

    Coherence at a border is the Jaccard similarity |A ∩ B| / |A ∪ B| of the keywords (index terms
    less function words) of up to ``window`` units on either side, 0 to 1.

    Source: the shape of TextTiling (Hearst, Computational Linguistics 23, 1997), with sets for
    blocks.
    """
    keywords = analysed(body).units(limits).keywords
    return cut_where_incoherent(body, limits, jaccard_at_borders(keywords, window), threshold)


def jaccard_at_borders(keywords: Sequence[frozenset[str]], window: int) -> list[float]:
    """Return the similarity of what stands before and behind each unit; 0 for the first."""
    values = [0.0]
    for border in range(1, len(keywords)):
        before = frozenset[str]().union(*keywords[max(0, border - window) : border])
        behind = frozenset[str]().union(*keywords[border : border + window])
        values.append(jaccard(before, behind))
    return values[: len(keywords)]


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Return |A ∩ B| / |A ∪ B|, 0 to 1; 0 when both are empty."""
    shared = len(one & other)
    union = len(one) + len(other) - shared
    return shared / union if union else 0.0
