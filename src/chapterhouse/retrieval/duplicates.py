"""Chunks that say the same as a better one."""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse.types import Chunk, TermRows

SIMILARITY: Final = 0.9  # Jaccard similarity of terms from which two chunks say the same
_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_LEAST_TERMS: Final = 8  # shorter chunks are alike too easily
_TERM: Final = np.uint64(0xFFFFFFFF)  # the bits of a term; a row and a count have 16 each above it


def near_duplicates(
    chunks: Sequence[Chunk], rows: TermRows, similarity: float = SIMILARITY
) -> dict[int, int]:
    """Return for each chunk that repeats an earlier one the place of that one.

    Two chunks say the same where their distinct terms overlap by ``similarity`` and their
    numbers are equal: "within 14 days" and "within 30 days" differ in what matters.

    Args:
        similarity: Jaccard similarity, above 0 and at most 1.
    """
    found: dict[int, int] = {}
    for earlier, later in sorted(_alike(rows, similarity), key=lambda pair: (pair[1], pair[0])):
        if later in found or earlier in found:
            continue
        if _numbers(chunks[earlier]) == _numbers(chunks[later]):
            found[later] = earlier
    return found


def _alike(rows: TermRows, similarity: float) -> Iterator[tuple[int, int]]:
    """Yield pairs of places, the earlier first, whose terms overlap enough.

    Two sets of n terms that overlap by s share one of the first n − ⌈s·n⌉ + 1 terms of each, in
    any one order of all terms; in the order of rarity few others do.
    Source: Chaudhuri, Ganti and Kaushik, ICDE 2006 (prefix filter).
    """
    sets = _rarest_first(rows)
    having: defaultdict[int, list[int]] = defaultdict(list)
    for later, terms in enumerate(sets):
        if len(terms) < _LEAST_TERMS:
            continue
        prefix = terms[: len(terms) - math.ceil(similarity * len(terms)) + 1].tolist()
        candidates = {place for term in prefix for place in having[term]}
        for earlier in sorted(candidates):
            common = len(np.intersect1d(terms, sets[earlier], assume_unique=True))
            if common >= similarity * (len(terms) + len(sets[earlier]) - common):
                yield earlier, later
        for term in prefix:
            having[term].append(later)


def _rarest_first(rows: TermRows) -> list[NDArray[np.uint64]]:
    """Return the distinct terms of each chunk's text, those in fewest of the chunks first.

    Row, count and term are sorted as one number: that takes half the time of ``np.unique`` and
    ``np.lexsort``, and every question comes by here.
    """
    number = len(rows.starts) - 1
    if number < 1:
        return []
    row = np.repeat(np.arange(number, dtype=np.uint64), np.diff(rows.starts))
    of_text = np.arange(len(rows.terms)) < rows.sections[row]
    both = np.sort(row[of_text] << np.uint64(32) | rows.terms[of_text])
    both = both[np.diff(both, prepend=~both[:1]) != 0]
    row, terms = both >> np.uint64(32), both & _TERM
    every = np.sort(terms)
    counts = np.searchsorted(every, terms, "right") - np.searchsorted(every, terms)
    ordered = np.sort(row << np.uint64(48) | counts.astype(np.uint64) << np.uint64(32) | terms)
    return np.split(ordered & _TERM, np.searchsorted(row, np.arange(1, number)))


def _numbers(chunk: Chunk) -> frozenset[str]:
    return frozenset(_NUMBER.findall(chunk.header + chunk.text))
