"""Cut by what sentences say: their topic, their meaning, or how much they say; and measure it.

Topic and meaning share one shape. Coherence is how alike both sides of a border are. A threshold
alone does not cut well: single sentences share so few words that nearly every border lies below
.3. So the threshold only forbids cuts, coherence is measured against the document's own mean and
spread, and the best cuts near the target length are chosen among the borders below the threshold.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from itertools import pairwise
from operator import mul

import numpy as np
from numpy.typing import NDArray

from chapterhouse.chunking.segment import best_starts, spans_from, structure_costs
from chapterhouse.chunking.units import DEFAULT, Limits, Terms, analyse_body, function_terms
from chapterhouse.text.analyse import analyse
from chapterhouse.types import Body, Span

TOPIC_THRESHOLD = 0.3
MEANING_THRESHOLD = 0.85
_WINDOW = 3  # units on either side of a border
_SLACK = 0.2  # share of the mean by which chunks of equal information may differ
# A border at which coherence lies one standard deviation below the document's mean is worth this
# much more to cut. Small, so that it decides between borders of one rank and not over the rank:
# weights from .1 to .6 lie within each other's intervals (benchmarks/chunking.py).
_WEIGHT = 0.25
_COHERENT = 2.0  # a cut where the threshold is reached: only to keep within the limits

Embed = Callable[[Sequence[str]], NDArray[np.float32]]


def chunk_by_topic(
    body: Body, limits: Limits = DEFAULT, threshold: float = TOPIC_THRESHOLD
) -> Sequence[Span]:
    """Cut where neighbouring sentences share the fewest keywords.

    Coherence at a border is the Jaccard similarity |A ∩ B| / |A ∪ B| of the keywords (index terms
    less function words) of up to three units on either side, 0 to 1.

    Source: the shape of TextTiling (Hearst, Computational Linguistics 23, 1997), with sets for
    blocks.
    """
    keywords = analyse_body(body).units(limits).keywords
    return _cut_where_incoherent(body, limits, _jaccard_at_borders(keywords), threshold)


def chunk_by_meaning(
    body: Body, embed: Embed, limits: Limits = DEFAULT, threshold: float = MEANING_THRESHOLD
) -> Sequence[Span]:
    """Cut where the vectors of neighbouring sentences point apart the most.

    Coherence at a border is the cosine of the sums of the vectors of up to three units on either
    side, -1 to 1; from ``threshold`` on a border is not cut unless the limits demand it. ``embed``
    gives a unit vector a text, shape (texts, dimensions).
    """
    units = analyse_body(body).units(limits).units
    if not units:
        return ()
    vectors = embed([body.text[unit.start : unit.end] for unit in units])
    return _cut_where_incoherent(body, limits, _cosine_at_borders(vectors), threshold)


def chunk_by_density(body: Body, limits: Limits = DEFAULT) -> Sequence[Span]:
    """Cut so that the information in a chunk is near that of a mean chunk of target length.

    A term of probability p in the document carries −log₂ p bits; their mean is the Shannon
    entropy H = −Σ p log₂ p, and their sum over a chunk is what the chunk says. Rare words make a
    chunk shorter, repetition makes it longer. Within a fifth of the mean nothing is preferred but
    good borders; characters keep their limits.
    """
    units = analyse_body(body).units(limits)
    bits = _information(units.terms)
    total = math.fsum(bits)
    scale = len(body.text) / total if total else 0.0  # so that the mean chunk has the target's size
    sizes = [
        value * scale if scale else unit.end - unit.start
        for unit, value in zip(units.units, bits, strict=True)
    ]
    costs = structure_costs(units.units)
    return spans_from(units.units, best_starts(units.units, costs, limits, sizes, _SLACK))


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Return |A ∩ B| / |A ∪ B|, 0 to 1; 0 when both are empty."""
    shared = len(one & other)
    union = len(one) + len(other) - shared
    return shared / union if union else 0.0


def _cut_where_incoherent(
    body: Body, limits: Limits, coherence: Sequence[float], threshold: float
) -> Sequence[Span]:
    """Cut at the lowest points of coherence that are below the threshold.

    ``coherence`` has a value for the border before each unit; the first is unused.
    """
    units = analyse_body(body).units(limits).units
    mean, spread = _mean_and_spread(coherence[1:])
    costs = [
        structure + _WEIGHT * (value - mean) / spread + (_COHERENT if value >= threshold else 0.0)
        for structure, value in zip(structure_costs(units), coherence, strict=True)
    ]
    return spans_from(units, best_starts(units, costs, limits))


def _jaccard_at_borders(keywords: Sequence[frozenset[str]]) -> list[float]:
    """Return the similarity of what stands before and behind each unit; 0 for the first."""
    values = [0.0]
    for border in range(1, len(keywords)):
        before = frozenset[str]().union(*keywords[max(0, border - _WINDOW) : border])
        behind = frozenset[str]().union(*keywords[border : border + _WINDOW])
        values.append(jaccard(before, behind))
    return values[: len(keywords)]


def _cosine_at_borders(vectors: NDArray[np.float32]) -> list[float]:
    """Return the cosine of what stands before and behind each unit; 0 for the first."""
    count = len(vectors)
    sums = np.zeros((count + 1, vectors.shape[1]), dtype=np.float64)
    np.cumsum(vectors, axis=0, out=sums[1:])
    border = np.arange(count)
    before = sums[border] - sums[np.maximum(border - _WINDOW, 0)]
    behind = sums[np.minimum(border + _WINDOW, count)] - sums[border]
    lengths = np.sqrt((before**2).sum(axis=1) * (behind**2).sum(axis=1))
    products = (before * behind).sum(axis=1)
    cosines: list[float] = np.divide(
        products, lengths, out=np.zeros(count), where=lengths > 0
    ).tolist()
    return cosines


def _mean_and_spread(values: Sequence[float]) -> tuple[float, float]:
    if not values:
        return 0.0, 1.0
    mean = math.fsum(values) / len(values)
    variance = math.fsum((value - mean) ** 2 for value in values) / len(values)
    return mean, math.sqrt(variance) or 1.0


def _information(terms: Sequence[Terms]) -> list[float]:
    """Return the bits in each unit's terms, given how often the document says each of them."""
    counts = Counter[str]()
    for unit_terms in terms:
        counts.update(unit_terms)
    total = counts.total()
    bits = {term: -math.log2(count / total) for term, count in counts.items()}
    return [sum(map(bits.__getitem__, unit_terms)) for unit_terms in terms]


# --- measures of a chunk's words, for reports: nothing stores or weighs them ----------------------

_RICH = 8.0  # bits: 256 different words, each said once
_IMPORTANCE = (0.4, 0.25, 0.1, 0.25)  # of entropy, coherence, density, position in the importance
_END = 0.5  # what is left of the position at a document's end


@dataclass(frozen=True, slots=True)
class Quality:
    """The measures of a chunk, or their means over several chunks."""

    entropy: float  # Shannon entropy of its terms in bits, at least 0
    coherence: float  # mean Jaccard similarity of its keywords and its neighbours', 0 to 1
    density: float  # how much of its keywords is repetition, 0 to below 1
    importance: float  # all of these and its position in one number, 0 to 1


def measure_quality(texts: Sequence[str], language: str) -> tuple[Quality, ...]:
    """Return the quality of each chunk, given what they say in order, without repeated headers."""
    counts = [Counter(analyse(text, language)) for text in texts]
    keywords = [frozenset(counted) - function_terms(language) for counted in counts]
    likeness = [jaccard(one, other) for one, other in pairwise(keywords)]
    last = max(len(texts) - 1, 1)
    return tuple(
        _quality(counted, own, likeness[max(number - 1, 0) : number + 1], number / last)
        for number, (counted, own) in enumerate(zip(counts, keywords, strict=True))
    )


def mean_quality(qualities: Sequence[Quality]) -> Quality:
    """Return the mean of each measure, 0 of no chunks."""
    measures = zip(*map(astuple, qualities), strict=True)
    averages = (math.fsum(values) / len(qualities) for values in measures)
    return Quality(*averages) if qualities else Quality(0.0, 0.0, 0.0, 0.0)


def _quality(
    counts: Counter[str], keywords: frozenset[str], likeness: Sequence[float], place: float
) -> Quality:
    shares = [count / counts.total() for count in counts.values()]
    entropy = max(0.0, -math.fsum(share * math.log2(share) for share in shares))
    coherence = math.fsum(likeness) / len(likeness) if likeness else 0.0
    repeated = sum(map(counts.__getitem__, keywords))
    density = 1 - len(keywords) / repeated if repeated else 0.0
    position = 1 - (1 - _END) * place
    parts = (min(1.0, entropy / _RICH), min(1.0, coherence / TOPIC_THRESHOLD), density, position)
    return Quality(entropy, coherence, density, min(1.0, math.fsum(map(mul, _IMPORTANCE, parts))))
