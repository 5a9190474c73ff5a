"""The small file in which an index says how far it has come, and the lock of its writer."""

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from chapterhouse.errors import CorruptLibraryError
from chapterhouse.files import lock_folder

Value = TypeVar("Value")
_STATE = "state.json"


@dataclass(frozen=True, slots=True)
class IndexState:
    """How far an index has come.

    Attributes:
        sequence: The last change of the store that it has applied.
        fingerprint: What it was built with; another fingerprint means it must be rebuilt.
        generation: Grows whenever the files are replaced rather than appended to.
        counts: What counts of the index's own files, by name; the rest of them is torn.
    """

    sequence: int = 0
    fingerprint: str = ""
    generation: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)


def read_state(folder: Path) -> IndexState:
    """Return the state of the index in ``folder``; the empty state if it is absent or torn."""
    path = f"{folder}/{_STATE}"
    try:
        found = os.stat(path)  # noqa: PTH116 - half the time of a Path, at every look at an index
        return _parse(path, found.st_ino, found.st_mtime_ns, found.st_size)
    except OSError:
        return IndexState()


@lru_cache(maxsize=64)
def _parse(path: str, _inode: int, _mtime_ns: int, _size: int) -> IndexState:
    """Parse a state file as it was found: every question looks at it a dozen times.

    Each state is a file of its own with the nanosecond at which it was written, so it differs from
    the last one in one of the three.

    Raises:
        OSError: it cannot be read.
    """
    try:
        fields = json.loads(Path(path).read_bytes())
        return IndexState(
            int(fields["sequence"]),
            str(fields["fingerprint"]),
            int(fields["generation"]),
            {str(name): int(count) for name, count in fields.get("counts", {}).items()},
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        # An index can always be rebuilt from the store: an unreadable state means "from nothing".
        return IndexState()


def write_state(folder: Path, state: IndexState) -> None:
    """Replace the state in one step.

    It is written after the index's own commit. If the process dies between the two, the index
    is ahead of its state and applies some changes again, which changes nothing.
    """
    temporary = folder / f"{_STATE}.{os.getpid()}.new"
    temporary.write_text(json.dumps(asdict(state)), "utf-8")
    now = time.time_ns()  # the system's own time of a file may be that of one 4 ms before
    os.utime(temporary, ns=(now, now))
    temporary.replace(folder / _STATE)


def load_current(read: Callable[[], IndexState], load: Callable[[IndexState], Value]) -> Value:
    """Load what the state describes, once more where files were replaced between two looks.

    Raises:
        CorruptLibraryError: the files of a state that stands cannot be loaded.
    """
    while True:
        state = read()
        try:
            return load(state)
        except CorruptLibraryError:
            if read() == state:
                raise


@contextmanager
def explain_damage(index: str = "lexical") -> Iterator[None]:
    """Say what to do where a library only says that something failed."""
    try:
        yield
    except (ValueError, OSError, KeyError, TypeError, IndexError) as error:
        raise CorruptLibraryError(
            f"The {index} index cannot be used: {error}",
            hint="If the disk is full, make room. Then run: chapterhouse reindex",
        ) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # Rust's, which is no Exception
            raise
        raise CorruptLibraryError(
            f"The {index} index is damaged: {error}", hint="Run: chapterhouse reindex"
        ) from error


def writer_lock(folder: Path, wait_seconds: float) -> AbstractContextManager[bool]:
    """Hold the index's writer lock; without it the index is searched as it is."""
    return lock_folder(folder, "lock", wait_seconds)


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
