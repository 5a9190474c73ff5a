"""Four measures of a chunk's words, for reports: nothing stores or weighs them."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import mul

from chapterhouse.chunking.analysis import function_terms
from chapterhouse.chunking.content import jaccard
from chapterhouse.text.analyse import analyse

_RICH = 8.0  # bits: 256 different words, each said once
_COHERENT = 0.3  # the topic strategy's threshold
_WEIGHTS = (0.4, 0.25, 0.1, 0.25)  # of entropy, coherence, density, position in the importance
_END = 0.5  # what is left of the position at a document's end


@dataclass(frozen=True, slots=True)
class Quality:
    """The measures of a chunk, or their means over several chunks.

    Attributes:
        entropy: Shannon entropy of its terms in bits, at least 0.
        coherence: Mean Jaccard similarity of its keywords and its neighbours', 0 to 1.
        density: How much of its keywords is repetition, 0 to below 1.
        importance: All of these and its position in one number, 0 to 1.
    """

    entropy: float
    coherence: float
    density: float
    importance: float


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
    count = max(len(qualities), 1)
    return Quality(
        math.fsum(quality.entropy for quality in qualities) / count,
        math.fsum(quality.coherence for quality in qualities) / count,
        math.fsum(quality.density for quality in qualities) / count,
        math.fsum(quality.importance for quality in qualities) / count,
    )


def _quality(
    counts: Counter[str], keywords: frozenset[str], likeness: Sequence[float], place: float
) -> Quality:
    shares = [count / counts.total() for count in counts.values()]
    entropy = max(0.0, -math.fsum(share * math.log2(share) for share in shares))
    coherence = math.fsum(likeness) / len(likeness) if likeness else 0.0
    repeated = sum(map(counts.__getitem__, keywords))
    density = 1 - len(keywords) / repeated if repeated else 0.0
    position = 1 - (1 - _END) * place
    parts = (min(1.0, entropy / _RICH), min(1.0, coherence / _COHERENT), density, position)
    return Quality(entropy, coherence, density, min(1.0, math.fsum(map(mul, _WEIGHTS, parts))))
