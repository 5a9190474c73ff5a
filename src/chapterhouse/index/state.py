"""The small file in which an index says how far it has come, and the lock of its writer."""

import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

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


def writer_lock(folder: Path, wait_seconds: float) -> AbstractContextManager[bool]:
    """Hold the index's writer lock; without it the index is searched as it is."""
    return lock_folder(folder, "lock", wait_seconds)
