"""The sentences of passages that come closest to a sentence: where to look, not whether it holds.

Each term of the sentence weighs by how few sentences of the passages have it.
"""

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from chapterhouse.text.analyse import analyse
from chapterhouse.text.sentences import sentence_spans
from chapterhouse.types import Evidence, Quotation

_LONGER: Final = 0.2  # share of the sentence's weight that a second sentence must bring


class _Sentence(NamedTuple):
    start: int
    end: int
    terms: frozenset[str]


@lru_cache(maxsize=512)
def _sentences(text: str, language: str) -> tuple[_Sentence, ...]:
    found: list[_Sentence] = []
    for start, end in sentence_spans(text, 0, len(text)):
        written = text[start:end]
        begin = start + len(written) - len(written.lstrip())
        terms = frozenset(analyse(written, language))
        if terms:
            found.append(_Sentence(begin, begin + len(written.strip()), terms))
    return tuple(found)


def closest_sentences(sentence: str, passages: Sequence[Evidence]) -> Quotation | None:
    """Return the sentence of some passages that comes closest, or two neighbours.

    Returns:
        None where they share no word with it.
    """
    terms = frozenset[str]().union(
        *(analyse(sentence, language) for language in {one.language for one in passages})
    )
    read = [_sentences(one.text, one.language) for one in passages]
    counts = Counter(term for own in read for one in own for term in one.terms & terms)
    total = sum(map(len, read))
    weights = {term: math.log(1 + total / count) for term, count in counts.items()}
    if not weights:
        return None

    def worth(*chosen: _Sentence) -> float:
        shared = frozenset[str]().union(*(one.terms for one in chosen)) & terms
        return math.fsum(weights[term] for term in shared)

    place, best = max(
        ((place, number) for place, own in enumerate(read) for number in range(len(own))),
        key=lambda one: (worth(read[one[0]][one[1]]), -one[0], -one[1]),
    )
    own, passage = read[place], passages[place]
    first = last = own[best]
    neighbours = [own[n] for n in (best - 1, best + 1) if 0 <= n < len(own)]
    second = max(neighbours, key=lambda one: worth(first, one), default=first)
    if worth(first, second) >= worth(first) + _LONGER * math.fsum(weights.values()):
        first, last = sorted((first, second), key=lambda one: one.start)
    quote = passage.text[first.start : last.end]
    start = passage.start + first.start
    return Quotation(passage.document_id, start, start + len(quote), quote)
