"""Whether a text mentions a word in any form, and how far a word is from another.

What is said to be absent must be absent.

Letters are folded so that the forms of a word begin alike: without marks, "ie" and "y", "f" and
"v", one letter for two. What is left after an ending is looked for inside words, as compounds have
it. So rather too much is a form of a word than too little, and a word is called absent less often
than it is.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse.text.language_data import STOPWORDS, language_data

# Of these languages the endings are known, and forms hardly differ in more. Others, such as
# Finnish, Russian and Arabic, also change the middle of a word.
LANGUAGES: Final = frozenset({"", *["da", "de", "en", "es", "fr", "it", "nl", "no", "pt", "sv"]})
_WORD: Final = re.compile(r"[^\W\d_]+")
_POSSESSIVE: Final = re.compile(r"['’](?:s|S)?$")
_ELIDED: Final = re.compile(r"^[^\W\d_]{1,2}['’](?=[^\W\d_]{2})")
_MARKS: Final = re.compile(r"[\u0300-\u036f]")
_LETTERS: Final = str.maketrans(
    {"æ": "a", "œ": "o", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
)
# In order; the last ones make one letter of two.
_ALIKE: Final = (
    ("ae", "a"), ("oe", "o"), ("ue", "u"), ("y", "i"), ("v", "f"), ("ce", "se"), ("ci", "si"),
    ("z", "s"), ("ck", "k"), *((letter * 2, letter) for letter in "abcdefghijklmnoprstu"),
)  # fmt: skip
_ENDINGS: Final = """
    s es e u ue us ues ex ix ices izes ed d ing er ers ly ion ions ation ations ment ments
    en em ern n nen um us on ung ungen
    x al als ail aux el els eaux ent ait ant ants ante
    a o i as os is ais eis ois ol il ao oes aes m ns he hi ini
    et erne erna arna orna na ene ar or r t heid heden
"""
_SHORTEST: Final = 3  # letters that are left before an ending
_ANYWHERE: Final = 4  # letters that are looked for inside words, too
_OTHER_FORMS: Final = tuple(
    tuple(pair.split())
    for pair in (
        "man men", "foot feet", "tooth teeth", "goose geese", "mouse mice", "louse lice",
        "child children", "person people", "penny pence",
    )
)  # fmt: skip
_LINKS: Final = ("", "s", "n", "en", "e", "es", "er")  # between the parts of a compound


def fold_letters(text: str) -> str:
    """Return a text in lower case with the letters of which forms of words differ made alike."""
    plain = text.casefold()
    if not plain.isascii():
        plain = _MARKS.sub("", unicodedata.normalize("NFKD", plain)).translate(_LETTERS)
    for written, other in _ALIKE:
        plain = plain.replace(written, other)
    return plain


def bare_word(word: str) -> str:
    """Return a word without its possessive ending and without an article that is elided."""
    return _ELIDED.sub("", _POSSESSIVE.sub("", word))


def parts_to_find(word: str) -> tuple[str, ...]:
    """Return the runs of letters of a word that can be looked for: of known scripts, not short."""
    runs = _WORD.findall(unicodedata.normalize("NFKC", bare_word(word)))
    return tuple(run for run in runs if len(run) >= _SHORTEST and max(run) < "\u0530")


def beginnings(word: str) -> frozenset[str]:
    """Return what forms of a word begin with, folded: itself, and what is left before an ending."""
    written = word.casefold()
    forms = [written]
    for one, other in (*_OTHER_FORMS, *(pair[::-1] for pair in _OTHER_FORMS)):
        if written.endswith(one):
            forms.append(f"{written.removesuffix(one)}{other}")
    folded = list(map(fold_letters, forms))
    cut = {form.removesuffix(ending) for form in folded for ending in _folded_endings()}
    return frozenset({*folded, *(one for one in cut if len(one) >= _SHORTEST)})


@cache
def _folded_endings() -> frozenset[str]:
    return frozenset(map(fold_letters, _ENDINGS.split()))


@cache
def _form_words() -> frozenset[str]:
    known = set[str]().union(*STOPWORDS.values())
    for data in language_data().values():
        known.update(data.number_words, data.date_words, data.empty_words, data.form_words)
    return frozenset[str]().union(*map(beginnings, known))


def is_form_word(word: str) -> bool:
    """Whether a word of a question says in which form it is answered, not what it is about."""
    return not _form_words().isdisjoint(beginnings(word))


class Mentions:
    """The words of some documents, a line each, in which forms of others are looked for."""

    def __init__(self, lines: str) -> None:
        self._lines = f"\n{fold_letters(lines)}\n"

    def __contains__(self, word: str) -> bool:
        """Whether a form of a word may be among these: alone, in a compound, or as its parts."""
        if any(map(str.isdigit, word)):
            return fold_letters(word) in self._lines
        return any(map(self._holds, beginnings(word))) or self._holds_parts(word.casefold())

    def _holds(self, beginning: str) -> bool:
        if len(beginning) >= _ANYWHERE:
            return beginning in self._lines
        return f"\n{beginning}" in self._lines or f"{beginning}\n" in self._lines

    def _holds_parts(self, word: str) -> bool:
        """Whether a word is made of two that are here."""
        for at in range(_SHORTEST, len(word) - _SHORTEST + 1):
            first = word[:at]
            whole = {first.removesuffix(link) for link in _LINKS}
            here = any(
                len(one) >= _SHORTEST and f"\n{fold_letters(one)}\n" in self._lines for one in whole
            )
            if here and any(f"\n{one}" in self._lines for one in beginnings(word[at:])):
                return True
        return False


# --- how far one word is from another, as people misspell them ------------------------------------

LEAST_LETTERS: Final = 4  # of a word that is corrected; a shorter one is near too many others
_TWO_EDITS_FROM: Final = 8  # letters
_LONGEST_WORD: Final = 40
_SHORT_WORD: Final = 5
_SPELLED: Final = re.compile(r"[^\W\d_]{2,}")
_LAST_WITH_SPACES: Final = 0x0900  # scripts from here on are analysed by pairs or have signs
_VOWELS: Final = frozenset("aeiouyäöüáàâãåéèêëíìîïóòôõúùûœæαεηιουωаеёиоуыэюя")

# What an edit costs: what people often do costs less than one letter for another.
_TRANSPOSED: Final = 0.7
_DOUBLED: Final = 0.6
_VOWEL: Final = 0.8
_OTHER_EDIT: Final = 1.0
_REPLACED: Final = 1.1
_FIRST: Final = 0.3  # more, for the first letter
_MOST: Final = 1.95  # two letters that are replaced make another word


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text, folded."""
    if text.isascii():
        return frozenset(
            word for word in _SPELLED.findall(text.lower()) if len(word) <= _LONGEST_WORD
        )
    found = set(_SPELLED.findall(unicodedata.normalize("NFKC", text)))
    return frozenset(
        word.casefold()
        for word in found
        if ord(word[0]) < _LAST_WITH_SPACES and len(word) <= _LONGEST_WORD
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
    short = len(written) <= _SHORT_WORD
    return cost if cost <= (_OTHER_EDIT if short else _MOST) else None


def edit_distances(word: str, others: Sequence[str]) -> NDArray[np.int64]:
    """Return how many edits each of some words is away, a swap of two neighbours being one.

    All at once, a bit for each letter of ``word`` and a step for each letter of the others: a
    thousand words take less time than one does cell by cell.

    Source: Hyyrö, A Bit-Vector Algorithm for Computing Levenshtein and Damerau Edit Distances,
    2003; no letter is edited twice. ``word`` has at most 63 letters, the others have at least one.
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
    row = list(accumulate(insertions, _plus, initial=(0, 0.0)))
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


def _plus(edits: tuple[int, float], cost: float) -> tuple[int, float]:
    return edits[0] + 1, edits[1] + cost


def _added(word: str, place: int) -> float:
    if word[place] in word[max(0, place - 1) : place] + word[place + 1 : place + 2]:
        return _DOUBLED
    return _VOWEL if word[place] in _VOWELS else _OTHER_EDIT


def _replaced(letter: str, other: str) -> float:
    return _VOWEL if letter in _VOWELS and other in _VOWELS else _REPLACED
