"""Making one list out of several."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from chapterhouse.types import Fusion, Scored

# What the best hit by words may score where words count alone: less than where meaning agrees.
WORDS_ALONE: Final = 0.7
_PRIOR: Final = 5  # pairs of a score and a cosine that weigh as much as the score by itself
_NO_SPREAD: Final = 1e-18


@dataclass(frozen=True, slots=True)
class RankedList:
    """What one retriever found for a question, best first.

    Attributes:
        name: Of its scores in ``Hit.stages``.
        similarity: How its scores join those of others, where they are cosines; None where only
            their ratio to a score says something, as BM25's.
        full: Score of a hit that has all that was looked for; 0 where that is not known.
    """

    name: str
    hits: Sequence[Scored]
    similarity: Fusion | None = None
    full: float = 0.0


def combine_scores(lists: Sequence[RankedList]) -> dict[int, float]:
    """Return ``(1 - w) · BM25 / full BM25 + w · clipped cosine`` for every chunk in a list.

    Full is the BM25 of a hit that has all words, or the highest where that is more: where the best
    of the words' hits has few of them, as with a question in other words than the documents', the
    cosine counts more.

    Any number of lists: ``w`` is each similarity's own, and lists of relative scores share what is
    left. A chunk that words found and a similarity lacks has no vector yet, or none in its
    language. That says nothing about it, so it counts as those do that words found alike. One that
    only similarities hold must be near enough to be a hit at all. Where no similarity found
    anything, words count alone. With one similarity at most, scores lie between 0 and 1.
    """
    similar = [(each.hits, each.similarity) for each in lists if each.similarity]
    left = 1 - sum(fusion.weight for _, fusion in similar)
    if not any(hits for hits, _ in similar):
        left, similar = WORDS_ALONE, []
    words = _word_scores(lists, by_full_score=bool(similar))
    fused = {key: left * score for key, score in words.items()}
    for hits, fusion in similar:
        _add_similarity(fused, words, hits, fusion)
    return fused


def _word_scores(lists: Sequence[RankedList], *, by_full_score: bool = False) -> dict[int, float]:
    """Return the mean of the relative scores of every chunk in their lists.

    Args:
        by_full_score: Whether they are relative to a full score, not to the highest there is.
    """
    relative = [each for each in lists if each.similarity is None]
    found: dict[int, float] = {}
    for each in relative:
        highest = max(_highest(each), each.full if by_full_score else 0.0)
        for hit in each.hits:
            share = hit.score / highest / len(relative)
            found[hit.key] = found.get(hit.key, 0.0) + share
    return found


def _add_similarity(
    fused: dict[int, float], words: Mapping[int, float], hits: Sequence[Scored], fusion: Fusion
) -> None:
    known: dict[int, float] = {}
    for hit in hits:
        near = _nearness(hit.score, fusion)
        if hit.key in words:
            known[hit.key] = near
        if near and (hit.key in fused or hit.score >= fusion.alone):
            fused[hit.key] = fused.get(hit.key, 0.0) + fusion.weight * near
    if unknown := words.keys() - known.keys():
        expected = _expectation([(words[key], near) for key, near in known.items()])
        for key in unknown:
            fused[key] += fusion.weight * expected(words[key])


def _nearness(cosine: float, fusion: Fusion) -> float:
    return min(max((cosine - fusion.floor) / (fusion.ceiling - fusion.floor), 0.0), 1.0)


def _expectation(pairs: Sequence[tuple[float, float]]) -> Callable[[float], float]:
    """Return what nearness a score of words lets expect, 0 to 1, never less for a higher score.

    The slope lies between that of the regression, under which the best of many guesses would
    stand behind the best of what is known, and the one that spreads guesses as widely. Few pairs
    say little: then the score itself is expected. Chosen by ``benchmarks/fresh.py``
    of commit 604e6751.
    """
    count = len(pairs)
    if not count:
        return lambda score: score
    mean = sum(score for score, _ in pairs) / count
    near = sum(own for _, own in pairs) / count
    spread = sum((score - mean) ** 2 for score, _ in pairs)
    together = sum((score - mean) * (own - near) for score, own in pairs)
    both = spread * sum((own - near) ** 2 for _, own in pairs)
    correlation = max(together, 0.0) / math.sqrt(both) if both > _NO_SPREAD else 0.0
    slope = together / spread / math.sqrt(correlation) if correlation else 0.0

    def expected(score: float) -> float:
        on_line: float = min(max(near + slope * (score - mean), 0.0), 1.0)
        return (count * on_line + _PRIOR * score) / (count + _PRIOR)

    return expected


def rank_scores(lists: Sequence[RankedList]) -> dict[int, float]:
    """Return the reciprocal rank fusion of the lists, over its highest possible value.

    The ranks by words take the place of those by similarity that a chunk does not have.
    """
    k = 60.0
    fused = reciprocal_ranks([each.hits for each in lists], k=k)
    relative = [each.hits for each in lists if each.similarity is None]
    words = reciprocal_ranks(relative, k=k)
    for each in lists:
        if each.similarity:
            for key in words.keys() - {hit.key for hit in each.hits}:
                fused[key] += words[key] / len(relative)
    return {key: score * (k + 1) / len(lists) for key, score in fused.items()}


def lexical_scores(lists: Sequence[RankedList]) -> dict[int, float]:
    """Return ``BM25 / highest BM25`` for every chunk found by its words; vectors count nothing."""
    return _word_scores(lists)


def _highest(ranked: RankedList) -> float:
    return max((hit.score for hit in ranked.hits), default=0.0) or 1.0


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
