"""Files that only grow, of which the index's state says how much counts.

A writer cuts off what a killed one left behind the counted part, appends, and makes the disk keep
it before the state counts it. Readers map or read the counted part, which never changes; after a
catch-up they read what was added and nothing else.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def log_path(folder: Path, name: str, generation: int) -> Path:
    """Return where the log ``name`` of a generation lies."""
    return folder / f"{name}.{generation}"


def append(path: Path, counted: int, parts: Iterable[bytes | NDArray[Any]]) -> int:
    """Put ``parts`` behind the first ``counted`` bytes; return how many count now.

    Raises:
        OSError: they cannot be written; what counted before is unharmed.
    """
    written = 0
    with path.open("r+b" if path.exists() else "w+b") as stream:
        if stream.seek(0, os.SEEK_END) != counted:
            stream.truncate(counted)
            stream.seek(counted)
        for part in parts:
            written += stream.write(part if isinstance(part, bytes) else part.tobytes())
        stream.flush()
        if written:
            _sync(stream.fileno())
    return counted + written


def _sync(descriptor: int) -> None:
    """Make the disk keep a file's bytes; where there is no cheaper way, its times as well."""
    getattr(os, "fdatasync", os.fsync)(descriptor)


def is_whole(path: Path, counted: int) -> bool:
    """Whether a log has all that counts of it."""
    try:
        return path.stat().st_size >= counted
    except OSError:
        return not counted


def map_log(
    path: Path, dtype: type[np.generic], shape: tuple[int, ...], offset: int = 0
) -> NDArray[Any]:
    """Map a log into memory, read only, from ``offset`` bytes on.

    Raises:
        OSError: it is not there.
        ValueError: it is shorter than ``shape``.
    """
    if not all(shape):
        return np.zeros(shape, dtype=dtype)
    mapped = np.memmap(path, dtype=dtype, mode="r", shape=shape, offset=offset)
    return mapped.view(np.ndarray)  # a memmap costs tens of microseconds each time it is sliced


def read_log(path: Path, start: int, end: int) -> bytes:
    """Return the bytes of a log from ``start`` to ``end``.

    Raises:
        OSError: it is not there.
        ValueError: it is shorter than ``end``.
    """
    if start == end:
        return b""
    with path.open("rb") as stream:
        stream.seek(start)
        data = stream.read(end - start)
    if len(data) != end - start:
        raise ValueError(f"{path.name} has {start + len(data)} bytes, not {end}.")
    return data


def drop_generations(folder: Path, names: Iterable[str], before: int) -> None:
    """Delete the logs of the generations before one."""
    for name in names:
        for path in folder.glob(f"{name}.*"):
            number = path.name.rpartition(".")[2]
            if number.isdecimal() and int(number) < before:
                path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True, eq=False)
class KeyTable:
    """The row of each chunk key, looked up many at a time.

    Attributes:
        keys: Sorted, shape (rows,).
        rows: The row of each, shape (rows,); None where they are in order already, as they are
            while documents are only added: keys grow.
    """

    keys: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    rows: NDArray[np.int64] | None = None

    def extended(self, added: NDArray[np.int64]) -> "KeyTable":
        """Return a table that also knows the rows of ``added``, which follow the others."""
        known = len(self.keys)
        if not len(added):
            return self
        last = self.keys[-1:]
        keys = np.concatenate([self.keys, added])
        if self.rows is None and bool((np.diff(added, prepend=last) > 0).all()):
            return KeyTable(keys)
        rows = np.arange(known) if self.rows is None else self.rows
        rows = np.concatenate([rows, np.arange(known, known + len(added))])
        order = np.argsort(keys, kind="stable")
        return KeyTable(keys[order], rows[order])

    def find(self, wanted: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the last row of each wanted key, -1 where there is none."""
        if not len(self.keys):
            return np.full(len(wanted), -1, dtype=np.int64)
        places = np.maximum(np.searchsorted(self.keys, wanted, side="right") - 1, 0)
        rows = places if self.rows is None else self.rows[places]
        return np.where(self.keys[places] == wanted, rows, -1)
