"""What can be said of a chunk before anyone asks.

All measures come from counting words: a second look by an embedder, at every sentence, would
double the cost of adding a document, and these together cost about a tenth of it
(``benchmarks/chunking.py``). For the same reason words are folded and not stemmed.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import mul

from chapterhouse.chunking.topic import jaccard
from chapterhouse.text.analyse import analyse
from chapterhouse.text.language_data import STOPWORDS
from chapterhouse.types import Quality

# Parting words at every mark this way is three times as fast as finding them by a pattern.
_MARKS = str.maketrans(dict.fromkeys("!\"#$%&'()*+,-./:;<=>?@[\\]^`{|}~…–—‘’“”«»„·•", " "))
_WITHOUT_SPACES = frozenset({"zh", "ja", "ko"})  # their words are the analyser's pairs
_RICH = 8.0  # bits: 256 different words, each said once
_COHERENT = 0.3  # the topic strategy's threshold
_WEIGHTS = (0.4, 0.25, 0.1, 0.25)  # of entropy, coherence, density, position in the importance
_END = 0.5  # what is left of the position at a document's end


@dataclass(frozen=True, slots=True)
class _Profile:
    """What is known of a chunk by itself."""

    entropy: float
    keywords: frozenset[str]
    density: float


def measure_quality(texts: Sequence[str], language: str) -> tuple[Quality, ...]:
    """Return the quality of each chunk of a document, given their texts in order.

    * entropy: H = −Σ p log₂ p over the chunk's words, p being a word's share of them; from 0 (one
      word, or none) to log₂ of the number of words. Source: Shannon, Bell System Technical
      Journal 27, 1948.
    * coherence: mean Jaccard similarity |A ∩ B| / |A ∪ B| of its keywords (distinct words less
      function words) and those of the chunks before and behind it; 0 to 1, 0 without neighbours.
    * density: how much its sentences speak of the same things, told by repetition: 1 − d / n for
      d distinct keywords among n, 0 (each said once, or none) to below 1. It stands in for
      nearness in meaning. Source: reiteration in Halliday and Hasan, Cohesion in English, 1976.
    * importance: .4 · min(1, entropy / 8) + .25 · min(1, coherence / .3) + .1 · density
      + .25 · position, 0 to 1, where position falls from 1 at the document's first chunk to ½ at
      its last.

    Args:
        texts: What the chunks say, without repeated headers.
        language: ISO 639-1 code of the document, or empty.
    """
    idle = STOPWORDS.get(language or "en", frozenset())
    profiles = [_profile(_words(text, language), idle) for text in texts]
    likeness = [jaccard(one.keywords, other.keywords) for one, other in pairwise(profiles)]
    return tuple(
        _quality(number, profiles, likeness[max(number - 1, 0) : number + 1])
        for number in range(len(profiles))
    )


def _words(text: str, language: str) -> list[str]:
    if language in _WITHOUT_SPACES:
        return analyse(text, language)
    return text.lower().translate(_MARKS).split()


def _profile(words: Sequence[str], idle: frozenset[str]) -> _Profile:
    counts = Counter(words)
    keywords = frozenset(counts) - idle
    said = sum(map(counts.__getitem__, keywords))
    return _Profile(
        entropy(counts, len(words)), keywords, 1 - len(keywords) / said if said else 0.0
    )


def entropy(counts: Mapping[str, int], total: int) -> float:
    """Return H = −Σ p log₂ p in bits, at least 0, of words counted ``total`` times in all."""
    if total <= 1:
        return 0.0
    # The same sum with the division taken out: log₂ n − Σ c log₂ c / n; what is said once adds 0.
    repeated = [count for count in counts.values() if count > 1]
    weighted = math.fsum(map(mul, repeated, map(math.log2, repeated)))
    return max(0.0, math.log2(total) - weighted / total)


def _quality(number: int, profiles: Sequence[_Profile], likeness: Sequence[float]) -> Quality:
    own = profiles[number]
    coherence = sum(likeness) / len(likeness) if likeness else 0.0
    last = len(profiles) - 1
    position = 1.0 - (1.0 - _END) * (number / last if last else 0.0)
    parts = (min(1.0, own.entropy / _RICH), min(1.0, coherence / _COHERENT), own.density, position)
    importance = math.fsum(map(mul, _WEIGHTS, parts))
    return Quality(own.entropy, coherence, own.density, min(1.0, importance))
