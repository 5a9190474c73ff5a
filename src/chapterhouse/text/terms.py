"""Index terms as numbers: the same term has the same number everywhere and for ever."""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chapterhouse.text.analyse import analyse
from chapterhouse.text.dates import date_terms
from chapterhouse.types import TermRows

_KNOWN = 200_000  # terms whose numbers are remembered; some twenty megabytes


class _Numbers(dict[str, int]):
    """Numbers of the terms met so far: indexing looks up every term of every chunk."""

    def __missing__(self, term: str) -> int:
        if len(self) >= _KNOWN:
            self.clear()
        number = self[term] = zlib.crc32(term.encode("utf-8", "surrogatepass"))
        return number


_NUMBERS = _Numbers()


def each_number(terms: Iterable[str]) -> Iterator[int]:
    """Yield the 32-bit numbers of terms in their order: the CRC-32 of their UTF-8.

    Two of a million different terms share one about once in ten thousand; that moves a score a
    little and nothing else, since what is found and shown never depends on these numbers.
    """
    return map(_NUMBERS.__getitem__, terms)


def term_numbers(terms: Iterable[str]) -> NDArray[np.uint32]:
    """Return the numbers of terms in their order."""
    return np.fromiter(each_number(terms), dtype=np.uint32)


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """Every place at which one of some terms stands, in order of row and position."""

    row: NDArray[np.int64]
    term: NDArray[np.int64]
    position: NDArray[np.int64]  # within the row


def find_terms(numbers: NDArray[np.uint32], rows: TermRows) -> Matches:
    """Return where terms, given by their numbers, stand in rows."""
    if not len(numbers):
        nothing = np.zeros(0, dtype=np.int64)
        return Matches(nothing, nothing, nothing)
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    places = np.searchsorted(ordered, rows.terms)
    places[places == len(ordered)] = 0
    at = np.flatnonzero(ordered[places] == rows.terms)
    row = np.searchsorted(rows.starts, at, side="right") - 1
    return Matches(row, order[places[at]], at - rows.starts[row])


def terms_in(text: str, language: str) -> list[str]:
    """Return the index terms of a text in order, and behind them those of its dates."""
    return analyse(text, language) + date_terms(text, language)


def text_of_section(section_path: Sequence[str]) -> str:
    """Return a section path as the text that is indexed for it."""
    return " / ".join(section_path)
