"""The words of a library, for finding what a misspelled one may mean and whether one is absent."""

from functools import cached_property
from typing import Final

import numpy as np

from chapterhouse.text.mentions import Mentions
from chapterhouse.text.spelling import LEAST_LETTERS, edit_cost, most_edits

_BITS: Final = np.uint64(63)  # the letters of one alphabet fall on different bits


class Vocabulary:
    """Distinct words, each of at least one letter; folded, with a line feed between them.

    Filters that no near word can fail leave a few hundred of a million words to be compared: two
    words that are n edits apart differ in length by at most n, and in at most 2n of their letters.
    """

    def __init__(self, lines: str) -> None:
        self._lines = lines
        text = f"{lines}\n" if lines else ""
        codes = np.frombuffer(text.encode("utf-32-le", "replace"), dtype=np.uint32)
        self._ends = np.flatnonzero(codes == ord("\n"))
        self._starts = np.concatenate([[0], self._ends[:-1] + 1])[: len(self._ends)]
        self._lengths = self._ends - self._starts
        self._first = codes[self._starts]
        bits = np.uint64(1) << (codes.astype(np.uint64) & _BITS)
        bits[self._ends] = 0
        self._letters = np.bitwise_or.reduceat(bits, self._starts) if len(bits) else bits

    def __len__(self) -> int:
        return len(self._ends)

    @cached_property
    def mentions(self) -> Mentions:
        """The same, for finding any form of a word."""
        return Mentions(self._lines)

    def near(self, word: str) -> dict[str, float]:
        """Return the words that a folded word may be meant for, with what the misspelling costs."""
        most = most_edits(word)
        if not most or not len(self):
            return {}
        codes = np.frombuffer(word.encode("utf-32-le", "replace"), dtype=np.uint32)
        bits = np.bitwise_or.reduce(np.uint64(1) << (codes.astype(np.uint64) & _BITS))
        wanted = np.abs(self._lengths - len(word)) <= most
        wanted &= self._lengths >= LEAST_LETTERS
        wanted &= np.bitwise_count(self._letters ^ bits) <= 2 * most
        found: dict[str, float] = {}
        for place in np.flatnonzero(wanted).tolist():
            other = self._lines[self._starts[place] : self._ends[place]]
            cost = edit_cost(word, other) if other != word and other.isalpha() else None
            if cost is not None:
                found[other] = cost
        return found
