"""Chunks that say about equally much."""

import math
from collections import Counter
from collections.abc import Sequence

from chapterhouse.chunking.analysed import Terms, analysed
from chapterhouse.chunking.limits import DEFAULT, Limits
from chapterhouse.chunking.segment import best_starts, spans_from, structure_costs
from chapterhouse.types import Body, Span

SLACK = 0.2


def chunk_by_density(body: Body, limits: Limits = DEFAULT, slack: float = SLACK) -> Sequence[Span]:
    """Cut so that the information in a chunk is near that of a mean chunk of target length.

    A term of probability p in the document carries −log₂ p bits; their mean is the Shannon
    entropy H = −Σ p log₂ p, and their sum over a chunk is what the chunk says. Rare words make a
    chunk shorter, repetition makes it longer. Within ``slack`` of the mean nothing is preferred
    but good borders; characters keep their limits.
    """
    units = analysed(body).units(limits)
    bits = information(units.terms)
    characters = len(body.text)
    total = math.fsum(bits)
    scale = characters / total if total else 0.0  # so that the mean chunk has the target's size
    sizes = [
        value * scale if scale else unit.end - unit.start
        for unit, value in zip(units.units, bits, strict=True)
    ]
    costs = structure_costs(units.units)
    return spans_from(units.units, best_starts(units.units, costs, limits, sizes, slack))


def information(terms: Sequence[Terms]) -> list[float]:
    """Return the bits in each unit's terms, given how often the document says each of them."""
    counts = Counter[str]()
    for unit_terms in terms:
        counts.update(unit_terms)
    total = counts.total()
    bits = {term: -math.log2(count / total) for term, count in counts.items()}
    return [sum(map(bits.__getitem__, unit_terms)) for unit_terms in terms]
