"""Making one list out of several."""

from collections.abc import Mapping, Sequence

from chapterhouse.types import Fusion, Scored

# Of the built-in table, chosen by ``make eval`` over ten sets: best mean, and below BM25 alone on
# none of them. Those of other embedders are on their cards.
TABLE_FUSION = Fusion(weight=0.3, floor=0.1, ceiling=0.7, alone=0.25)


def combine_scores(
    lexical: Sequence[Scored],
    vector: Sequence[Scored],
    fusion: Fusion = TABLE_FUSION,
) -> dict[int, float]:
    """Return ``(1 - w) · BM25 / highest BM25 + w · clipped cosine`` for every chunk in a list.

    A chunk that a list lacks counts 0 there; one that shares no word with the question must be
    near enough to be a hit at all. Scores lie between 0 and 1.
    """
    highest = max((hit.score for hit in lexical), default=0.0) or 1.0
    weight, floor, span = fusion.weight, fusion.floor, fusion.ceiling - fusion.floor
    fused = {hit.key: (1 - weight) * (hit.score / highest) for hit in lexical}
    for hit in vector:
        known = fused.get(hit.key)
        if hit.score > floor and (known is not None or hit.score >= fusion.alone):
            nearness = (hit.score - floor) / span
            fused[hit.key] = (known or 0.0) + weight * (nearness if nearness < 1 else 1.0)
    return fused


def rank_scores(
    lexical: Sequence[Scored], vector: Sequence[Scored], _fusion: Fusion = TABLE_FUSION
) -> dict[int, float]:
    """Return the reciprocal rank fusion of both lists, over its highest possible value."""
    k = 60.0
    fused = reciprocal_ranks([lexical, vector], k=k)
    return {key: score * (k + 1) / 2 for key, score in fused.items()}


def lexical_scores(
    lexical: Sequence[Scored], _vector: Sequence[Scored], _fusion: Fusion = TABLE_FUSION
) -> dict[int, float]:
    """Return ``BM25 / highest BM25`` for every chunk found by its words; vectors count nothing."""
    highest = max((hit.score for hit in lexical), default=0.0) or 1.0
    return {hit.key: hit.score / highest for hit in lexical}


def best_scores(lists: Sequence[Mapping[int, float]], weights: Sequence[float]) -> dict[int, float]:
    """Return for every chunk its best weighted score of any variant; weights are at most 1."""
    best: dict[int, float] = {}
    for scores, weight in zip(lists, weights, strict=True):
        for key, score in scores.items():
            weighted = weight * score
            if weighted >= best.get(key, 0.0):
                best[key] = weighted
    return best


def variant_ranks(
    lists: Sequence[Mapping[int, float]], weights: Sequence[float], k: float = 60.0
) -> dict[int, float]:
    """Return the reciprocal rank fusion of the variants, over its highest possible value.

    With one variant there is nothing to fuse: its scores stay as they are.
    """
    if len(lists) == 1:
        return dict(lists[0])
    ordered = [
        [Scored(key, scores[key]) for key in sorted(scores, key=lambda key: (-scores[key], key))]
        for scores in lists
    ]
    fused = reciprocal_ranks(ordered, weights, k)
    highest = sum(weights) / (k + 1)
    return {key: score / highest for key, score in fused.items()}


def reciprocal_ranks(
    lists: Sequence[Sequence[Scored]], weights: Sequence[float] = (), k: float = 60.0
) -> dict[int, float]:
    """Return the weighted reciprocal rank fusion ``Σ w / (k + rank)``, ranks from 1.

    Source: Cormack, Clarke and Büttcher, SIGIR 2009.

    Raises:
        ValueError: the number of weights is neither 0 nor that of the lists, or k is negative.
    """
    if weights and len(weights) != len(lists):
        raise ValueError(f"{len(lists)} lists need as many weights, got {len(weights)}")
    if k < 0:
        raise ValueError(f"k must not be negative, got {k}")
    fused: dict[int, float] = {}
    for weight, hits in zip(weights or (1.0,) * len(lists), lists, strict=True):
        for rank, hit in enumerate(hits, start=1):
            fused[hit.key] = fused.get(hit.key, 0.0) + weight / (k + rank)
    return fused
