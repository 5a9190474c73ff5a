"""The bytes of one file, of one moment, from inside its folder."""

import hashlib
import os
import stat
import time
from collections.abc import Generator, Iterable
from dataclasses import dataclass

from chapterhouse.connectors.folder import SourceFile, folder_below
from chapterhouse.errors import RejectedError

MAXIMUM_BYTES = 100_000_000
ATTEMPTS = 3

_PAUSE = 0.02  # seconds before a file that was changing is read again
_PIECE = 2**20
# Within one tick of its file system's clock a file may change without a sign, so that bytes of
# two versions could be read as one: a file so young is left to settle first.
_TICK_NS = 50_000_000
_COARSE_TICK_NS = 2_000_000_000
_SECOND_NS = 1_000_000_000
# O_NONBLOCK: a pipe that took the file's place must not make us wait for its writer.
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Content:
    """The bytes of a file, their hash, and its stamp when they were read.

    ``mtime_ns`` is 0 where the file is so young that it could change without a new time; such a
    file is hashed again the next time.
    """

    data: bytes
    sha256: str
    size: int
    mtime_ns: int
    modified: int
    ctime_ns: int = 0


def open_source(file: SourceFile, *, maximum_bytes: int = MAXIMUM_BYTES) -> Content:
    """Read a file once, so that what is hashed is what is parsed and stored.

    Each folder on the way is opened from the one above it, and no link is followed: whatever is
    swapped in meanwhile, nothing outside the root is read.

    Args:
        file: A file that ``walk`` found without a problem.

    Raises:
        RejectedError: it is ``not-a-file``, ``symbolic-link``, ``cannot-open``, ``vanished``,
            ``too-large`` or ``changed-while-reading``.
    """
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(_PAUSE)
        content = _read_once(file, maximum_bytes)
        if content is not None:
            return content
    raise RejectedError(
        "changed-while-reading",
        f"{file.source} changed {ATTEMPTS} times while it was read.",
        hint="Add it again when the program that writes it has finished.",
    )


def open_all(
    files: Iterable[SourceFile], maximum_bytes: int = MAXIMUM_BYTES
) -> Generator[Content | RejectedError]:
    """Yield for each file, in the same order, its bytes or why they cannot be had."""
    for file in files:
        try:
            yield open_source(file, maximum_bytes=maximum_bytes)
        except RejectedError as error:
            yield error


def _read_once(file: SourceFile, maximum_bytes: int) -> Content | None:
    """Return the content, or None if the file changed meanwhile."""
    try:
        with folder_below(file.root, file.parts[:-1]) as folder:
            name = file.parts[-1]
            _require_file(file, os.stat(name, dir_fd=folder, follow_symlinks=False))
            descriptor = os.open(name, _OPEN, dir_fd=folder)
        try:
            return _read_descriptor(file, descriptor, maximum_bytes)
        finally:
            os.close(descriptor)
    except FileNotFoundError as error:
        raise RejectedError("vanished", f"{file.source} is no longer there.") from error
    except OSError as error:
        raise RejectedError(
            "cannot-open",
            f"{file.source} cannot be read: {error.strerror}.",
            hint="Check its permissions, then add it again.",
        ) from error


def _read_descriptor(file: SourceFile, descriptor: int, maximum_bytes: int) -> Content | None:
    found = os.fstat(descriptor)
    young = _is_young(found)
    if young:
        time.sleep(_tick_ns(found) / _SECOND_NS)
    before = os.fstat(descriptor)
    if young and _stamp(before) != _stamp(found):
        return None
    _require_file(file, before)
    if before.st_size > maximum_bytes:
        raise RejectedError(
            "too-large",
            f"{file.source} has {before.st_size:,} bytes; at most {maximum_bytes:,} are read.",
            hint="Split the file, or raise the limit in the settings.",
        )
    data = _read_bytes(descriptor, before.st_size)
    after = os.fstat(descriptor)
    if _stamp(before) != _stamp(after) or len(data) != before.st_size:
        return None
    return Content(
        data=data,
        sha256=hashlib.sha256(data).hexdigest(),
        size=len(data),
        mtime_ns=0 if young else after.st_mtime_ns,
        modified=after.st_mtime_ns // _SECOND_NS,
        ctime_ns=after.st_ctime_ns,
    )


def _read_bytes(descriptor: int, size: int) -> bytes:
    """Read to the end, but no more than one byte past ``size``."""
    pieces: list[bytes] = []
    missing = size + 1
    while missing and (piece := os.read(descriptor, min(missing, _PIECE))):
        pieces.append(piece)
        missing -= len(piece)
    return b"".join(pieces)


def _require_file(file: SourceFile, status: os.stat_result) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise RejectedError("symbolic-link", f"{file.source} has become a link.")
    if not stat.S_ISREG(status.st_mode):
        raise RejectedError("not-a-file", f"{file.source} is not a regular file.")


def _stamp(status: os.stat_result) -> tuple[int, int, int, int]:
    return (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _is_young(status: os.stat_result) -> bool:
    return 0 <= time.time_ns() - status.st_mtime_ns <= _tick_ns(status)


def _tick_ns(status: os.stat_result) -> int:
    return _TICK_NS if status.st_mtime_ns % _SECOND_NS else _COARSE_TICK_NS
