"""The bytes of a database's file, read beside connections that are open in this process."""

from collections.abc import Iterator
from pathlib import Path

import apsw

_FLAGS = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY


def database_bytes(path: Path, size: int) -> Iterator[bytes]:
    """Yield the bytes of a database's file as they are, in pieces; none where there is no file.

    It is opened as SQLite opens it: POSIX ends the locks of a process on a file as soon as the
    process closes it anywhere, and SQLite puts that off until no connection needs them.

    Args:
        path: Of the main file, not of its log.
        size: Bytes of a piece.

    Raises:
        OSError: it cannot be read.
    """
    try:
        file = apsw.VFSFile("", str(path.absolute()), [_FLAGS, 0])
    except apsw.CantOpenError:
        if path.exists():
            raise OSError(f"{path} cannot be opened.") from None
        return
    try:
        total = file.xFileSize()
        for at in range(0, total, size):
            yield file.xRead(min(size, total - at), at)
    except apsw.IOError as error:
        raise OSError(f"{path} cannot be read: {error}") from error
    finally:
        file.xClose()
