"""Index terms as numbers: the same term has the same number everywhere and for ever."""

import zlib
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from chapterhouse.text.analyse import analyse
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


def term_number(term: str) -> int:
    """Return the 32-bit number of a term: the CRC-32 of its UTF-8.

    Two of a million different terms share one about once in ten thousand; that moves a score a
    little and nothing else, since what is found and shown never depends on these numbers.
    """
    return _NUMBERS[term]


def each_number(terms: Iterable[str]) -> Iterator[int]:
    """Yield the numbers of terms in their order."""
    return map(_NUMBERS.__getitem__, terms)


def term_numbers(terms: Iterable[str]) -> NDArray[np.uint32]:
    """Return the numbers of terms in their order."""
    return np.fromiter(each_number(terms), dtype=np.uint32)


def text_of_section(section_path: Sequence[str]) -> str:
    """Return a section path as the text that is indexed for it."""
    return " / ".join(section_path)


def term_rows(fields: Iterable[tuple[str, str, str, str]]) -> TermRows:
    """Return rows made from (text, section, title, language) of each chunk.

    An index keeps the same rows on disk; this makes them from texts.
    """
    rows: list[NDArray[np.uint32]] = []
    lengths: list[tuple[int, int]] = []
    for text, section, title, language in fields:
        parts = [term_numbers(analyse(part, language)) for part in (text, section, title)]
        rows.append(np.concatenate(parts))
        lengths.append((len(parts[0]), len(parts[0]) + len(parts[1])))
    starts = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum([len(row) for row in rows], out=starts[1:])
    within = np.asarray(lengths, dtype=np.int64).reshape(-1, 2)
    return TermRows(
        terms=np.concatenate([np.zeros(0, np.uint32), *rows]),
        starts=starts,
        sections=starts[:-1] + within[:, 0],
        titles=starts[:-1] + within[:, 1],
    )


def rows_at(rows: TermRows, places: Sequence[int]) -> TermRows:
    """Return some of the rows, in the order of ``places``."""
    wanted = np.asarray(places, dtype=np.int64)
    lengths = np.diff(rows.starts)[wanted]
    starts = np.zeros(len(wanted) + 1, dtype=np.int64)
    np.cumsum(lengths, out=starts[1:])
    shift = rows.starts[wanted] - starts[:-1]
    return TermRows(
        terms=rows.terms[np.arange(starts[-1]) + np.repeat(shift, lengths)],
        starts=starts,
        sections=rows.sections[wanted] - shift,
        titles=rows.titles[wanted] - shift,
    )
