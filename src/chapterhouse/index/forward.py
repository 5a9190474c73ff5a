"""The forward file: the index terms of each chunk as numbers, for what looks at many chunks.

Three logs: the terms of all rows one after the other; where section, title and row end; and the
chunk key of each row. The row of a key never changes, for a key is one version of a chunk; rows
whose chunks are gone stay until the file is written anew.
"""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse.index.state import (
    KeyTable,
    append,
    is_whole,
    log_path,
    map_log,
    read_log,
)
from chapterhouse.text.terms import each_number
from chapterhouse.types import TermRows

LOGS: Final = ("terms", "ends", "keys")
_MARKS: Final = 3  # ends of text, section path and title

Fields = tuple[Sequence[str], Sequence[str], Sequence[str]]  # terms of text, section path, title


@dataclass(frozen=True, slots=True)
class Extent:
    """How much of the forward file counts."""

    edition: int = 0  # grows whenever the file is written anew
    rows: int = 0
    terms: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Forward:
    """What is loaded of one extent of the file."""

    extent: Extent
    table: KeyTable
    ends: NDArray[np.int64]  # (rows, 3): where the text, the section path and the row end
    terms: NDArray[np.uint32]  # (terms,)

    def terms_of(self, keys: Sequence[int]) -> TermRows:
        """Return the terms of chunks, one row for each of ``keys`` in their order."""
        rows = self.table.find(np.asarray(keys, dtype=np.int64))
        return self._gathered(rows)

    def has(self, keys: Sequence[int]) -> bool:
        """Whether there is a row for each of ``keys``."""
        return bool((self.table.find(np.asarray(keys, dtype=np.int64)) >= 0).all())

    def fault(self) -> str:
        """Say whether the ends of the rows can be those of rows, or nothing."""
        ends = self.ends.reshape(-1)
        in_order = bool((np.diff(ends, prepend=0) >= 0).all())
        whole = not len(ends) or int(ends[-1]) == len(self.terms)
        return "" if in_order and whole else "has rows of terms that overlap or leave their file"

    def has_fields(self, keys: Sequence[int], fields: Sequence[Fields]) -> bool:
        """Whether the rows of ``keys`` hold exactly these terms, in the same fields."""
        rows = self.terms_of(keys)
        lengths = np.asarray([list(map(len, one)) for one in fields], np.int64).reshape(-1, _MARKS)
        starts = np.concatenate([[0], np.cumsum(lengths.sum(axis=1))])
        sections = starts[:-1] + lengths[:, 0]
        terms = np.fromiter(each_number(chain.from_iterable(chain(*fields))), np.uint32)
        return (
            np.array_equal(rows.terms, terms)
            and np.array_equal(rows.starts, starts)
            and np.array_equal(rows.sections, sections)
            and np.array_equal(rows.titles, sections + lengths[:, 1])
        )

    def lengths_of(self, keys: NDArray[np.int64]) -> Mapping[str, NDArray[np.int64]]:
        """Return how many terms each field of some chunks has; a body holds all of them."""
        rows = self.table.find(keys)
        rows = rows[rows >= 0]
        before = np.where(rows > 0, self.ends[rows - 1, -1], 0)
        text, section, title = self.ends[rows].T
        return {"body": title - before, "title": title - section, "section": section - text}

    def _gathered(self, rows: NDArray[np.int64]) -> TermRows:
        known = rows >= 0
        marks = np.zeros((len(rows), _MARKS + 1), dtype=np.int64)  # the first: where rows start
        marks[known, 1:] = self.ends[rows[known]]
        later = known & (rows > 0)
        marks[later, 0] = self.ends[rows[later] - 1, -1]
        lengths = marks[:, -1] - marks[:, 0]
        starts = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum(lengths, out=starts[1:])
        shift = starts[:-1] - marks[:, 0]  # from a place in the file to one in the answer
        places = np.arange(starts[-1]) - np.repeat(shift, lengths)
        return TermRows(
            terms=self.terms[places],
            starts=starts,
            sections=marks[:, 1] + shift,
            titles=marks[:, 2] + shift,
        )


NOTHING: Final = Forward(
    Extent(), KeyTable(), np.zeros((0, _MARKS), np.int64), np.zeros(0, np.uint32)
)


def load(folder: Path, extent: Extent, before: Forward = NOTHING) -> Forward:
    """Load an extent; of what ``before`` holds only the rest is read.

    Raises:
        OSError: a log is not there.
        ValueError: a log is shorter than ``extent`` says.
    """
    if extent == before.extent:
        return before
    if extent.edition != before.extent.edition or extent.rows < before.extent.rows:
        before = NOTHING
    known = before.extent.rows
    data = read_log(_path(folder, "keys", extent), known * 8, extent.rows * 8)
    return Forward(
        extent,
        before.table.extended(np.frombuffer(data, dtype="<i8")),
        map_log(_path(folder, "ends", extent), np.int64, (extent.rows, _MARKS)),
        map_log(_path(folder, "terms", extent), np.uint32, (extent.terms,)),
    )


def is_there(folder: Path, extent: Extent) -> bool:
    """Whether the logs have all that ``extent`` counts."""
    sizes = zip(LOGS, (extent.terms * 4, extent.rows * 8 * _MARKS, extent.rows * 8), strict=True)
    return all(is_whole(_path(folder, name, extent), size) for name, size in sizes)


class Rows:
    """Rows to be appended behind what is loaded; those of known keys are left out."""

    def __init__(self, loaded: Forward) -> None:
        self._loaded = loaded
        self._keys: dict[int, None] = {}
        self._lengths: list[int] = []  # three of each row
        self._terms = array("I")  # of all rows, 32 bits each

    def unknown(self, keys: Sequence[int]) -> frozenset[int]:
        """Return those of ``keys`` that have no row yet."""
        found = self._loaded.table.find(np.asarray(keys, dtype=np.int64))
        return frozenset(
            key
            for key, row in zip(keys, found.tolist(), strict=True)
            if row < 0 and key not in self._keys
        )

    def add(self, key: int, fields: Fields) -> None:
        """Add the row of a key that has none."""
        self._keys[key] = None
        self._lengths.extend(map(len, fields))
        self._terms.extend(each_number(chain(*fields)))

    def write(self, folder: Path) -> Extent:
        """Append the rows; return the extent that counts them once the state says so."""
        extent = self._loaded.extent
        if not self._keys:
            return extent
        # (rows, 3) -> running sum over all fields of all rows -> the ends of each row's fields
        flat = np.asarray(self._lengths, dtype=np.int64)
        ends = (np.cumsum(flat) + extent.terms).reshape(-1, _MARKS)
        keys = np.fromiter(self._keys, dtype=np.int64)
        return _append(folder, extent, keys, ends, np.asarray(self._terms, dtype=np.uint32))


def rewrite(folder: Path, loaded: Forward, keys_left: NDArray[np.int64]) -> Extent:
    """Write the rows of the keys ``keys_left`` into the next edition."""
    keys = keys_left[loaded.table.find(keys_left) >= 0]
    rows = loaded.terms_of(keys.tolist())
    ends = np.stack([rows.sections, rows.titles, rows.starts[1:]], axis=1)
    empty = Extent(loaded.extent.edition + 1)
    return _append(folder, empty, keys, ends, rows.terms)


def _append(
    folder: Path,
    extent: Extent,
    keys: NDArray[np.int64],
    ends: NDArray[np.int64],
    terms: NDArray[np.uint32],
) -> Extent:
    size = append(_path(folder, "terms", extent), extent.terms * 4, [terms])
    append(_path(folder, "ends", extent), extent.rows * 8 * _MARKS, [np.ascontiguousarray(ends)])
    append(_path(folder, "keys", extent), extent.rows * 8, [keys])
    return Extent(extent.edition, extent.rows + len(keys), size // 4)


def _path(folder: Path, name: str, extent: Extent) -> Path:
    return log_path(folder, name, extent.edition)
