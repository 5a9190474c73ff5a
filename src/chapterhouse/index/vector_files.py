"""The files of the vector index, and what is held of them in memory.

Seven logs. One entry a row: the vector, its code, the code's figures, and the chunk key. A document
holds one run of rows, as the last entry of its slot in ``runs`` says; rows in no run are gone.
``names`` gives each slot's document and ``shelves`` each number's set of shelves, one JSON value a
line. What is loaded is never changed: a catch-up makes a new value that shares what stayed.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse.index.nearest import Codes, encode
from chapterhouse.index.state import (
    IndexState,
    KeyTable,
    append,
    is_whole,
    log_path,
    map_log,
    read_log,
)
from chapterhouse.types import Scope

LOGS: Final = ("vectors", "codes", "figures", "keys", "runs", "names", "shelves")
_FIGURES: Final = 3  # scale, error, norm
_RUN: Final = 4  # slot, first row, rows, number of the set of shelves
_PIECES: Final = 16  # in which the codes may be mapped
_AT_ONCE: Final = 65_536  # rows copied at a time when the files are written anew


@dataclass(frozen=True, slots=True)
class Extent:
    """How much of the files counts: rows, runs, and bytes of the two texts."""

    generation: int = 0
    rows: int = 0
    runs: int = 0
    names: int = 0
    shelves: int = 0

    @classmethod
    def of(cls, state: IndexState) -> "Extent":
        """Return what a state counts."""
        counts = [state.counts.get(name, 0) for name in ("rows", "runs", "names", "shelves")]
        return cls(state.generation, *counts)

    def counts(self) -> dict[str, int]:
        """Return the numbers for a state."""
        return {
            "rows": self.rows, "runs": self.runs, "names": self.names, "shelves": self.shelves
        }  # fmt: skip

    def sizes(self, dimensions: int) -> dict[str, int]:
        """Return the bytes of each log."""
        return {
            "vectors": self.rows * dimensions * 4,
            "codes": self.rows * dimensions,
            "figures": self.rows * _FIGURES * 4,
            "keys": self.rows * 8,
            "runs": self.runs * _RUN * 8,
            "names": self.names,
            "shelves": self.shelves,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows inside a scope.

    Attributes:
        number: How many there are.
        mask: Which, shape (all rows,), or None for all.
    """

    number: int
    mask: NDArray[np.bool_] | None


@dataclass(frozen=True, slots=True, eq=False)
class LoadedVectors:
    """What is held of one extent of the files."""

    extent: Extent
    vectors: NDArray[np.float32]  # (rows, dimensions), mapped
    codes: Codes  # its steps mapped
    keys: NDArray[np.int64]  # (rows,)
    table: KeyTable
    live: NDArray[np.bool_]  # (rows,): whether the row is in a run
    sets: NDArray[np.int32]  # (rows,): number of its document's set of shelves
    runs: NDArray[np.int64]  # (slots, 2): first row and number of rows
    shelves: tuple[frozenset[str], ...]  # by number
    scopes: dict[str, Rows] = field(default_factory=dict)  # found already, by the scope's key


def nothing(dimensions: int) -> LoadedVectors:
    """Return what is held of no files."""
    return LoadedVectors(
        Extent(),
        np.zeros((0, dimensions), np.float32),
        encode(np.zeros((0, dimensions), np.float32)),
        np.zeros(0, np.int64),
        KeyTable(),
        np.zeros(0, np.bool_),
        np.zeros(0, np.int32),
        np.zeros((0, 2), np.int64),
        (),
    )


def are_whole(folder: Path, extent: Extent, dimensions: int) -> bool:
    """Whether the logs have all that counts."""
    sizes = extent.sizes(dimensions)
    return all(is_whole(log_path(folder, name, extent.generation), sizes[name]) for name in LOGS)


def load(folder: Path, extent: Extent, before: LoadedVectors) -> LoadedVectors:
    """Load an extent; of what ``before`` holds only the rest is read.

    Raises:
        OSError: a log is not there.
        ValueError: a log is shorter than it should be.
    """
    if extent == before.extent:
        return before
    dimensions = before.vectors.shape[1]
    if extent.generation != before.extent.generation or extent.rows < before.extent.rows:
        before = nothing(dimensions)
    old, new = before.extent.sizes(dimensions), extent.sizes(dimensions)

    def tail(name: str) -> bytes:
        return read_log(log_path(folder, name, extent.generation), old[name], new[name])

    figures = np.frombuffer(tail("figures"), dtype=np.float32).reshape(-1, _FIGURES)
    keys = np.frombuffer(tail("keys"), dtype=np.int64)
    runs = np.frombuffer(tail("runs"), dtype=np.int64).reshape(-1, _RUN)
    added = [frozenset(json.loads(line)) for line in tail("shelves").splitlines()]
    _require_sound(runs, extent.rows, len(before.shelves) + len(added))
    live, sets, spans = _with_runs(before, extent.rows, runs)
    codes = Codes(
        _more_steps(folder, extent, before),
        np.concatenate([before.codes.scales, figures[:, 0]]),
        np.concatenate([before.codes.errors, figures[:, 1]]),
        max(before.codes.norm, float(figures[:, 2].max(initial=0.0))),
        max(before.codes.error, float(figures[:, 1].max(initial=0.0))),
    )
    return LoadedVectors(
        extent,
        map_log(
            log_path(folder, "vectors", extent.generation), np.float32, (extent.rows, dimensions)
        ),
        codes,
        np.concatenate([before.keys, keys]),
        before.table.extended(keys),
        live,
        sets,
        spans,
        (*before.shelves, *added),
    )


def _more_steps(
    folder: Path, extent: Extent, before: LoadedVectors
) -> tuple[NDArray[np.int8], ...]:
    """Map the codes that were added behind the pieces mapped before, or all of them anew.

    Every question reads all codes: mapped anew, each page of them has to be found again.
    """
    known, dimensions = before.vectors.shape
    pieces = before.codes.steps
    if extent.rows == known:
        return pieces
    if known == 0 or len(pieces) >= _PIECES:
        known, pieces = 0, ()
    path = log_path(folder, "codes", extent.generation)
    return (*pieces, map_log(path, np.int8, (extent.rows - known, dimensions), known * dimensions))


def _with_runs(
    before: LoadedVectors, rows: int, runs: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.int32], NDArray[np.int64]]:
    """Return which rows live, their sets of shelves and every slot's run, after ``runs``."""
    more = rows - len(before.live)
    live = np.concatenate([before.live, np.zeros(more, np.bool_)])
    sets = np.concatenate([before.sets, np.zeros(more, np.int32)])
    # The last entry of a slot is the one that holds.
    slots, from_end = np.unique(runs[::-1, 0], return_index=True)
    last = runs[len(runs) - 1 - from_end]
    highest = int(slots.max(initial=-1)) + 1
    spans = np.zeros((max(highest, len(before.runs)), 2), np.int64)
    spans[: len(before.runs)] = before.runs
    live[_rows_of(spans[slots])] = False
    spans[slots] = last[:, 1:3]
    now = _rows_of(spans[slots])
    live[now] = True
    sets[now] = np.repeat(last[:, 3], last[:, 2])
    return live, sets, spans


def _rows_of(spans: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return all rows of some runs (first, number), one run after the other."""
    first, number = spans.T
    ends = np.cumsum(number)
    total = int(ends[-1]) if len(ends) else 0
    rows: NDArray[np.int64] = np.arange(total) + np.repeat(first - (ends - number), number)
    return rows


def row_faults(loaded: LoadedVectors) -> NDArray[np.bool_]:
    """Say of each row whether its code and figures are not what its vector gives.

    The length of the longest code is that of all rows which were appended together.
    """
    faults = np.zeros(loaded.extent.rows, np.bool_)
    steps = np.concatenate(loaded.codes.steps)
    for start in range(0, loaded.extent.rows, _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        codes = encode(np.nan_to_num(loaded.vectors[some]))
        faults[some] = (
            (codes.steps[0] != steps[some]).any(axis=1)
            | (codes.scales != loaded.codes.scales[some])
            | (codes.errors != loaded.codes.errors[some])
        )
    return faults


def _require_sound(runs: NDArray[np.int64], rows: int, shelves: int) -> None:
    """Refuse runs that lead out of the files."""
    slots, first, number, sets = runs.T
    outside = (first < 0) | (number < 0) | (first > rows) | (number > rows) | (sets < 0)
    outside |= (first + number > rows) | ((number > 0) & (sets >= shelves))
    if len(runs) and (outside.any() or slots.min() < 0 or slots.max() > rows + len(runs)):
        raise ValueError("a run of rows leads out of the file.")


def rows_of(loaded: LoadedVectors, scope: Scope, size: int) -> Rows:
    """Return the rows of the documents inside a scope; remember ``size`` such answers."""
    rows = loaded.scopes.get(scope.key)
    if rows is None:
        inside = [scope.sees(names) for names in loaded.shelves]
        mask = loaded.live & np.asarray([*inside, False])[loaded.sets]
        number = int(np.count_nonzero(mask))
        rows = Rows(number, None if number == len(mask) else mask)
        if len(loaded.scopes) >= size:
            loaded.scopes.clear()
        loaded.scopes[scope.key] = rows
    return rows


class Names:
    """The slot of each document: what a writer has to know and a reader has not."""

    def __init__(self) -> None:
        self._generation = -1
        self._read = 0
        self._slots: dict[str, int] = {}

    def slots(self, folder: Path, extent: Extent) -> dict[str, int]:
        """Return the slots of one extent; of what was read before only the rest is read."""
        if extent.generation != self._generation or extent.names != self._read:
            # More may have been given out than came to count, when a batch failed.
            data = read_log(log_path(folder, "names", extent.generation), 0, extent.names)
            names = json.loads(b"[" + b",".join(data.splitlines()) + b"]")
            self._slots = {name: slot for slot, name in enumerate(names)}
            self._generation = extent.generation
        self._read = -1  # until the batch that may add to it is counted
        return self._slots

    def counted(self, extent: Extent) -> None:
        """Take note that all slots given out are in the files."""
        self._read = extent.names


class Batch:
    """Changes to be written behind what is loaded."""

    def __init__(self, loaded: LoadedVectors, slots: dict[str, int]) -> None:
        self._loaded = loaded
        self._slots = slots
        self._vectors: list[NDArray[np.float32]] = []
        self._keys: list[NDArray[np.int64]] = []
        self._rows = loaded.extent.rows
        self._runs: list[tuple[int, int, int, int]] = []
        self._names: list[str] = []
        self._numbers = {names: number for number, names in enumerate(loaded.shelves)}
        self._new_shelves: list[frozenset[str]] = []

    def drop(self, document_id: str) -> None:
        """Leave a document without rows."""
        slot = self._slots.get(document_id)
        if slot is not None:
            self._runs.append((slot, 0, 0, 0))

    def replace(
        self,
        document_id: str,
        shelves: Sequence[str],
        keys: NDArray[np.int64],
        vectors: NDArray[np.float32],
    ) -> None:
        """Give a document these rows, at least one; those it has already are not written again."""
        slot = self._slots.get(document_id)
        if slot is None:
            slot = self._slots[document_id] = len(self._slots)
            self._names.append(document_id)
        first = self._standing(slot, keys)
        if first < 0:
            first = self._rows
            self._rows += len(keys)
            self._keys.append(keys)
            self._vectors.append(vectors)
        self._runs.append((slot, first, len(keys), self._number(frozenset(shelves))))

    def write(self, folder: Path) -> Extent:
        """Append everything; return the extent that counts it once the state says so."""
        extent = self._loaded.extent
        dimensions = self._loaded.vectors.shape[1]
        vectors = np.concatenate([np.zeros((0, dimensions), np.float32), *self._vectors])
        keys = np.concatenate([np.zeros(0, np.int64), *self._keys])
        runs = np.asarray(self._runs, dtype=np.int64)
        shelves = [sorted(names) for names in self._new_shelves]
        return _append(folder, extent, vectors, keys, runs, self._names, shelves)

    def _standing(self, slot: int, keys: NDArray[np.int64]) -> int:
        """Return the first row of the slot's run if it holds exactly ``keys``, else -1."""
        if slot >= len(self._loaded.runs):
            return -1
        first, number = self._loaded.runs[slot].tolist()
        standing = self._loaded.keys[first : first + number]
        return first if np.array_equal(standing, keys) else -1

    def _number(self, shelves: frozenset[str]) -> int:
        number = self._numbers.setdefault(shelves, len(self._numbers))
        if number == len(self._loaded.shelves) + len(self._new_shelves):
            self._new_shelves.append(shelves)
        return number


def rewrite(folder: Path, loaded: LoadedVectors, slots: dict[str, int]) -> Extent:
    """Write the live rows into the next generation, in the order in which they stand."""
    held = np.flatnonzero(loaded.runs[:, 1])
    held = held[np.argsort(loaded.runs[held, 0], kind="stable")]
    spans = loaded.runs[held]
    rows = _rows_of(spans)
    names = {slot: name for name, slot in slots.items()}
    first = np.cumsum(spans[:, 1]) - spans[:, 1]
    runs = np.stack([np.arange(len(held)), first, spans[:, 1], loaded.sets[spans[:, 0]]], axis=1)
    extent = _append(
        folder,
        Extent(loaded.extent.generation + 1),
        np.zeros((0, loaded.vectors.shape[1]), np.float32),
        np.zeros(0, np.int64),
        runs.astype(np.int64),
        [names[slot] for slot in held.tolist()],
        [sorted(names) for names in loaded.shelves],
    )
    no_runs = np.zeros((0, _RUN), np.int64)
    for start in range(0, len(rows), _AT_ONCE):
        some = rows[start : start + _AT_ONCE]
        vectors, keys = loaded.vectors[some], loaded.keys[some]
        extent = _append(folder, extent, vectors, keys, no_runs, [], [])
    return extent


def _append(
    folder: Path,
    extent: Extent,
    vectors: NDArray[np.float32],
    keys: NDArray[np.int64],
    runs: NDArray[np.int64],
    names: Sequence[str],
    shelves: Sequence[Sequence[str]],
) -> Extent:
    codes = encode(vectors)
    lengths = np.full(len(vectors), codes.norm, np.float32)
    added = {
        "vectors": vectors.tobytes(),
        "codes": codes.steps[0].tobytes(),
        "figures": np.stack([codes.scales, codes.errors, lengths], axis=1).tobytes(),
        "keys": keys.tobytes(),
        "runs": runs.tobytes(),
        "names": _lines(names),
        "shelves": _lines(shelves),
    }
    sizes = extent.sizes(vectors.shape[1])
    for name in LOGS:
        append(log_path(folder, name, extent.generation), sizes[name], [added[name]])
    return Extent(
        extent.generation,
        extent.rows + len(vectors),
        extent.runs + len(runs),
        extent.names + len(added["names"]),
        extent.shelves + len(added["shelves"]),
    )


def _lines(values: Sequence[object]) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)
