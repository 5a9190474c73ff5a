"""How far one word is from another, as people misspell them."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

LEAST_LETTERS: Final = 4  # of a word that is corrected; a shorter one is near too many others
_TWO_EDITS_FROM: Final = 8  # letters
_LONGEST: Final = 40
_SHORT: Final = 5
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_LAST_WITH_SPACES: Final = 0x0900  # scripts from here on are analysed by pairs or have signs
_VOWELS: Final = frozenset("aeiouyäöüáàâãåéèêëíìîïóòôõúùûœæαεηιουωаеёиоуыэюя")

# What an edit costs: what people often do costs less than one letter for another.
_TRANSPOSED: Final = 0.7
_DOUBLED: Final = 0.6
_VOWEL: Final = 0.8
_OTHER: Final = 1.0
_REPLACED: Final = 1.1
_FIRST: Final = 0.3  # more, for the first letter
_MOST: Final = 1.95  # two letters that are replaced make another word


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text, folded."""
    if text.isascii():
        return frozenset(word for word in _WORD.findall(text.lower()) if len(word) <= _LONGEST)
    found = set(_WORD.findall(unicodedata.normalize("NFKC", text)))
    return frozenset(
        word.casefold()
        for word in found
        if ord(word[0]) < _LAST_WITH_SPACES and len(word) <= _LONGEST
    )


def most_edits(word: str) -> int:
    """Return how many edits away a word may be that is meant by ``word``: 0, 1 or 2."""
    if len(word) < LEAST_LETTERS:
        return 0
    return 2 if len(word) >= _TWO_EDITS_FROM else 1


def edit_cost(written: str, meant: str) -> float | None:
    """Return what it costs to write one word for another, or None where they are too far apart.

    Letters are left out, put in, replaced, or swapped with their neighbour: one edit in words of 4
    to 7 letters, two in longer ones; of two, none at the first letter. In words of up to five
    letters a consonant does not become another: "reach" is not "peach" misspelled.

    Source: Damerau, Communications of the ACM 1964; here no letter is edited twice.
    """
    most = most_edits(written)
    edits = _cheapest(written, meant, most)
    if edits is None:
        return None
    number, cost = edits
    first = written[0] != meant[0]
    if first and number > 1:
        return None
    cost += _FIRST * first
    short = len(written) <= _SHORT
    return cost if cost <= (_OTHER if short else _MOST) else None


def edit_distances(word: str, others: Sequence[str]) -> NDArray[np.int64]:
    """Return how many edits each of some words is away, a swap of two neighbours being one.

    All at once, a bit for each letter of ``word`` and a step for each letter of the others: a
    thousand words take less time than one does cell by cell.

    Source: Hyyrö, A Bit-Vector Algorithm for Computing Levenshtein and Damerau Edit Distances,
    2003; no letter is edited twice.

    Args:
        word: Of at most 63 letters.
        others: Each of at least one letter.
    """
    lengths = np.fromiter(map(len, others), np.int64, len(others))
    columns = np.array(others, dtype=np.str_).view(np.uint32).reshape(len(others), -1).T
    zero, one = np.zeros(len(others), np.uint64), np.uint64(1)
    places = {ord(letter): np.uint64(0) for letter in word}
    for place, letter in enumerate(word):
        places[ord(letter)] |= one << np.uint64(place)
    last = one << np.uint64(len(word) - 1)
    distances = np.full(len(others), len(word), np.int64)
    diagonal, before, down, up = zero, zero, zero, ~zero  # the vertical differences -1 and +1
    for step, column in enumerate(columns):
        same = zero.copy()
        for code, mask in places.items():
            same[column == code] = mask
        swapped = ((~diagonal & same) << one) & before
        diagonal = (((same & up) + up) ^ up) | same | down | swapped
        more, less = down | ~(diagonal | up), diagonal & up
        change = ((more & last) != 0).astype(np.int64) - ((less & last) != 0)
        distances += np.where(step < lengths, change, 0)
        more, less = (more << one) | one, less << one
        up, down, before = less | ~(diagonal | more), more & diagonal, same
    return distances


def _cheapest(written: str, meant: str, most: int) -> tuple[int, float] | None:
    """Return the fewest edits, and what they cost at least; None where there are more than most.

    Only the cells near the diagonal are filled: every other one is more than ``most`` edits away.
    """
    left_out = [_added(written, place) for place in range(len(written))]
    insertions = [_added(meant, place) for place in range(len(meant))]
    far = (most + 1, 0.0)
    before: list[tuple[int, float]] = []
    row = _first_row(insertions)
    for i, letter in enumerate(written, start=1):
        two_before, before = before, row
        row = [far] * (len(meant) + 1)
        row[0] = _plus(before[0], left_out[i - 1])
        for j in range(max(1, i - most), min(len(meant), i + most) + 1):
            other = meant[j - 1]
            best = min(
                _plus(before[j], left_out[i - 1]),
                _plus(row[j - 1], insertions[j - 1]),
                before[j - 1]
                if letter == other
                else _plus(before[j - 1], _replaced(letter, other)),
            )
            if i > 1 and j > 1 and letter == meant[j - 2] != other == written[i - 2]:
                best = min(best, _plus(two_before[j - 2], _TRANSPOSED))
            row[j] = best
        if min(number for number, _ in row) > most:
            return None
    return row[-1] if row[-1][0] <= most else None


def _first_row(insertions: Sequence[float]) -> list[tuple[int, float]]:
    row = [(0, 0.0)]
    for cost in insertions:
        row.append(_plus(row[-1], cost))
    return row


def _plus(edits: tuple[int, float], cost: float) -> tuple[int, float]:
    return edits[0] + 1, edits[1] + cost


def _added(word: str, place: int) -> float:
    if word[place] in word[max(0, place - 1) : place] + word[place + 1 : place + 2]:
        return _DOUBLED
    return _VOWEL if word[place] in _VOWELS else _OTHER


def _replaced(letter: str, other: str) -> float:
    return _VOWEL if letter in _VOWELS and other in _VOWELS else _REPLACED
