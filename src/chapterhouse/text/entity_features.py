"""What is known of each word of a text, for the head that finds names (``entities.py``).

Its state in the text, what it means alone, and the shapes of the words around it. States are those
that the encoder makes for the passage anyway. The states of its neighbours would find some more in
texts like those that the head was fitted on, and less in others.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse.types import TokenVectors

Floats = NDArray[np.float32]
Places = NDArray[np.intp]

POSSESSIVES: Final = frozenset({"'s", "’s"})
_FAR: Final = 2  # words to each side whose shapes count
_LONG: Final = 8  # letters
_SHORT: Final = 3
_MOSTLY: Final = 0.6  # share of a text's words with a capital above which capitals say little
_WORD: Final = re.compile(
    r"(?:https?://|www\.)\S+|[\w.+-]{1,64}@\w[\w.-]{1,200}"  # addresses
    r"|(?:[^\W\d_]\.){2,}"  # "U.S."
    r"|['’]s\b"
    r"|[@#]?\w+(?:(?:[-.&+]|['’](?!s\b))\w+)*(?:\+\+|#)?"
    r"|([^\w\s])\1*"
)
_ADDRESS: Final = re.compile(r"[@#]|\S+://|www\.|\S+@")
_BEFORE_SENTENCE: Final = frozenset(".!?:;\"“”'‘’`|*•-…")
_QUOTES: Final = frozenset("\"“”'‘’`«»„")
_BRACKETS: Final = frozenset("()[]{}<>")
OPENING: Final = frozenset('([{"“„«:;')
_LINK_WORDS: Final = (
    "a an and at by de del della der des di du en et for in la le of on the to und van von with"
)
LINKS: Final = frozenset(_LINK_WORDS.split())


def describe(text: str, tokens: TokenVectors) -> tuple[Sequence[re.Match[str]], Floats]:
    """Return the words of a text that have tokens, and their features, shape (words, features)."""
    every = list(_WORD.finditer(text))
    starts = np.asarray([word.start() for word in every], dtype=np.int64)
    owners = np.searchsorted(starts, tokens.ends - 1, side="right") - 1
    inside = owners >= 0
    known, places = np.unique(owners[inside], return_inverse=True)
    words = [every[owner] for owner in known]
    if not words:
        return (), np.zeros((0, 0), dtype=np.float32)
    states = _of_words(tokens.vectors[inside], places, len(words))
    alone = _of_words(tokens.words[inside], places, len(words))
    shapes = _shapes(text, words)
    near = [_shifted(shapes, by) for by in range(-_FAR, _FAR + 1)]
    named = states * shapes[:, :1]  # once more where the word has a capital
    return words, np.concatenate([*near, states, named, alone], axis=1)


def _of_words(vectors: Floats, places: Places, count: int) -> Floats:
    """Return the mean of the tokens of each word; tokens are in the order of their words."""
    begins = np.searchsorted(places, np.arange(count))
    sizes = np.bincount(places, minlength=count)
    sums = vectors[begins].astype(np.float32)
    for further in range(1, int(sizes.max())):  # most words are one token
        longer = sizes > further
        sums[longer] += vectors[begins[longer] + further]
    averages: Floats = (sums / sizes[:, None]).astype(np.float32)
    return averages


def _shifted(rows: Floats, by: int) -> Floats:
    """Return the rows of the words so many places before, zeros where there are none."""
    moved = np.zeros_like(rows)
    count = max(len(rows) - abs(by), 0)
    moved[max(by, 0) : max(by, 0) + count] = rows[max(-by, 0) : max(-by, 0) + count]
    return moved


def _shapes(text: str, words: Sequence[re.Match[str]]) -> Floats:
    """Return the shape of each word, and four features of its place among the others."""
    written = [word.group() for word in words]
    own = np.asarray([_shape(word) for word in written], dtype=np.float32)
    lower = {word for word in written if word.islower()}
    first = [True] + [
        before.group()[0] in _BEFORE_SENTENCE or "\n" in text[before.end() : word.start()]
        for before, word in pairwise(words)
    ]
    capital = own[:, 0] > 0
    letters = np.asarray([word[0].isalpha() for word in written])
    shouted = bool(letters.any() and capital[letters].mean() > _MOSTLY)
    elsewhere = np.asarray([word.lower() in lower for word in written])
    begins = np.asarray(first)
    place = [begins, begins & capital, elsewhere & capital, capital & shouted]
    return np.column_stack([own, *place]).astype(np.float32)


@lru_cache(4096)
def _shape(word: str) -> tuple[bool, ...]:
    capital, upper, named = word[0].isupper(), word.isupper(), any(map(str.isalnum, word))
    inner = not upper and any(map(str.isupper, word[1:]))
    return (
        capital,
        upper and len(word) > 1,
        upper and len(word) == 1,
        inner and capital,
        inner and not capital,
        any(map(str.isdigit, word)),
        word.isdigit(),
        not named,
        named and not word.isalnum(),
        _ADDRESS.match(word) is not None,
        word in POSSESSIVES,
        word.lower() in LINKS,
        word[0] in _QUOTES,
        word[0] in _BRACKETS,
        word == ".",
        word == ",",
        len(word) <= _SHORT,
        len(word) >= _LONG,
    )
