"""A file of lines that only one process writes to, and in which no line is lost once it is there.

The file itself is locked (flock), so that no other file is left behind; what has to make room is
moved aside with the lock still held on it.
"""

import fcntl
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Final

from chapterhouse.errors import ChapterhouseError, RefusedError, UsageError
from chapterhouse.files import make_folder, move_into_place, sync_folder
from chapterhouse.text.naming import storable_path

LARGEST: Final = 256 * 2**20  # bytes
_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_TRIES: Final = 5  # at opening a file that others move about at the same time
_BLOCK: Final = 2**20

# Says of what a file holds whether it has to make room; raises where it must not be touched.
MustMove = Callable[[bytes], bool]


class TranscriptFile:
    """An open file, locked for this process.

    Attributes:
        path: Where it is.
        held: What was in it when it was opened.
        aside: Where what had to make room is now, or None.
    """

    def __init__(self, path: Path, descriptor: int, held: bytes, aside: Path | None) -> None:
        """Take a file that is open and locked; see ``open_transcript``."""
        self.path = path
        self.held = held
        self.aside = aside
        self._descriptor = descriptor
        self._length = len(held)
        self._broken = False

    def cut(self, length: int) -> None:
        """Leave only the first ``length`` bytes."""
        try:
            os.ftruncate(self._descriptor, length)
            os.fsync(self._descriptor)
        except OSError as error:
            raise _unwritable(self.path, error) from error
        self._length = length

    def append(self, line: bytes) -> None:
        """Add a line; once this returns, it survives a crash of the machine.

        Raises:
            ChapterhouseError: it could not be written; the file is as it was.
        """
        if self._broken or self._descriptor < 0:
            raise ChapterhouseError(
                f"The transcript {_shown(self.path)} is not written to any more.",
                hint="Writing to it failed before; convene the council again to go on.",
            )
        try:
            _write(self._descriptor, line)
            os.fsync(self._descriptor)
        except OSError as error:
            self._broken = True  # unless half of the line can be taken out again
            self.cut(self._length)
            self._broken = False
            raise _unwritable(self.path, error) from error
        self._length += len(line)

    def close(self) -> None:
        """Let go of it."""
        if self._descriptor >= 0:
            os.close(self._descriptor)  # releases the lock
            self._descriptor = -1


def open_transcript(path: Path, must_move: MustMove) -> TranscriptFile:
    """Open a file for this process alone, moving what it held aside where that must be.

    Args:
        path: Made with its folders if it is not there, for its owner's eyes only.
        must_move: Says so of what the file holds.

    Raises:
        RefusedError: another process writes to it, or it is no plain file.
        UsageError: it cannot be opened.
    """
    aside = None
    try:
        make_folder(path.parent)
        for _ in range(_TRIES):
            descriptor = _lock(path)
            try:
                held = _read(descriptor, path)
                if not must_move(held):
                    sync_folder(path.parent)
                    return TranscriptFile(path, descriptor, held, aside)
                aside = _move_aside(path)
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)
    except OSError as error:
        raise UsageError(
            f"The transcript {_shown(path)} cannot be opened: {error.strerror}.",
            hint="Name another file for it.",
        ) from error
    raise _in_use(path)


def _lock(path: Path) -> int:
    for _ in range(_TRIES):
        descriptor = os.open(path, _FLAGS, 0o600)
        try:
            _refuse_no_plain_file(path, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(path, descriptor):
                return descriptor
        except BlockingIOError:
            os.close(descriptor)
            raise _in_use(path) from None
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # it was moved aside by someone else meanwhile
    raise _in_use(path)


def _refuse_no_plain_file(path: Path, descriptor: int) -> None:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise RefusedError(f"{_shown(path)} is no plain file.", hint="Name another file.")


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _read(descriptor: int, path: Path) -> bytes:
    size = os.fstat(descriptor).st_size
    if size > LARGEST:
        raise RefusedError(
            f"{_shown(path)} has more than {LARGEST:,} bytes, which no transcript has.",
            hint="Name another file for the transcript.",
        )
    blocks: list[bytes] = []
    place = 0
    while block := os.pread(descriptor, _BLOCK, place):
        blocks.append(block)
        place += len(block)
    return b"".join(blocks)


def _move_aside(path: Path) -> Path:
    """Give a file the first of ``NAME.1.SUFFIX``, ``NAME.2.SUFFIX`` and so on that is free."""
    number = 0
    while True:
        number += 1
        aside = path.with_name(f"{path.stem}.{number}{path.suffix}")
        try:
            move_into_place(path, aside, replace=False)
        except FileExistsError:
            continue
        return aside


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _in_use(path: Path) -> RefusedError:
    return RefusedError(
        f"Another meeting is written to {_shown(path)} at this moment.",
        hint="Wait until it has ended, or name another file for the transcript.",
    )


def _unwritable(path: Path, error: OSError) -> ChapterhouseError:
    return ChapterhouseError(
        f"The transcript {_shown(path)} cannot be written to: {error.strerror}.",
        hint="What was written before is safe. Free space on the disk, or name another file.",
    )


def _shown(path: Path) -> str:
    return storable_path(str(path))
