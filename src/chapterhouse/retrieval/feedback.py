"""Pseudo-relevance feedback: what the best chunks have in common beyond the question.

Source: the relevance model RM3 of Abdul-Jaleel et al., TREC 2004, with a term's probability
weighted by its inverse document frequency, so that rare common terms count most.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from typing import Final

from chapterhouse.retrieval.features import inverse_frequency
from chapterhouse.text.analyse import analyse
from chapterhouse.types import WeightedTerm

CHUNKS: Final = 8  # that are taken for relevant
TERMS: Final = 20  # that are kept
_CONSIDERED: Final = 80  # frequent ones whose document frequency is looked up
_LEAST_WEIGHT: Final = 1.5  # inverse document frequency of a term that says something

Frequencies = Callable[[Sequence[str]], Sequence[int]]


def feedback_terms(
    best: Sequence[tuple[str, str, float]],
    asked: Collection[str],
    frequencies: Frequencies,
    chunks: int,
) -> tuple[WeightedTerm, ...]:
    """Return the terms that speak most for the best chunks, the weightiest first.

    Args:
        best: Text, language and score of the chunks taken for relevant.
        asked: Terms of the question, which are left out.
        frequencies: Number of chunks in which each term occurs.
        chunks: Number of chunks there are.
    """
    total = sum(score for _, _, score in best)
    likely: defaultdict[str, float] = defaultdict(float)
    for text, language, score in best:
        terms = analyse(text, language)
        share = (score / total if total else 1.0 / len(best)) / max(len(terms), 1)
        for term in terms:
            likely[term] += share
    considered = sorted(
        ((term, p) for term, p in likely.items() if len(term) > 1 and term not in asked),
        key=lambda item: (-item[1], item[0]),
    )[:_CONSIDERED]
    counted = frequencies([term for term, _ in considered])
    rarity = inverse_frequency(counted, chunks)
    scored = [
        WeightedTerm(term, round(p * float(weight), 9))
        for (term, p), weight, number in zip(considered, rarity, counted, strict=True)
        if weight >= _LEAST_WEIGHT and number > 1
    ]
    return tuple(sorted(scored, key=lambda term: (-term.weight, term.term))[:TERMS])
