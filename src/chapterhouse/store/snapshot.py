"""A copy of the database as it was at one moment, while others go on writing; and its checks."""

import errno
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import apsw

from chapterhouse import lazy
from chapterhouse.errors import RefusedError
from chapterhouse.files import read_only_address
from chapterhouse.store.connections import Connections, explained, schema_version
from chapterhouse.store.rows import Database, Row, load_migrations, run
from chapterhouse.types import Snapshot

if TYPE_CHECKING:
    from chapterhouse.store import moving
else:
    moving = lazy("chapterhouse.store.moving")

_PAGES_AT_ONCE: Final = 1_000
_BUSY_MILLISECONDS: Final = 5_000
_COUNTED: Final = ("document", "chunk", "memory")
_INSTRUCTIONS: Final = 100_000  # of SQLite, between two moments in which Ctrl-C is heard
_READ_ONLY: Final = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY


def take_snapshot(
    database: Database, path: Path, agree: Callable[[], None], *, memories: bool
) -> Snapshot:
    """Write a database as it is at one moment to a new file of SQLite.

    Answers that are only cached are left out, and so are jobs that have not ended. Nothing that was
    removed is in the copy.

    Args:
        path: The file; another beside it is used on the way.
        memories: Whether to take what was asked and answered, and the counts of questions.

    Raises:
        OSError: there is no space for the copy.
    """
    whole = path.with_name(f"{path.name}-whole")
    if isinstance(database, Connections):
        _copy_pages(database, whole, agree)
    else:
        with _space_for(whole):
            moving.write_file(database, whole, agree)
    path.touch(0o600)
    with explained(path), _space_for(path), closing(_quick(whole)) as copy:
        for statement in ("cached_answer", "unreferenced_content", "open_job"):
            run(copy, f"drop_every_{statement}")
        if not memories:
            for statement in ("memory", "memory_term", "question", "question_document"):
                run(copy, f"drop_every_{statement}")
        copy.execute("VACUUM INTO ?", (str(path),))
    whole.unlink()
    return count_snapshot(path)


def _copy_pages(connections: Connections, path: Path, agree: Callable[[], None]) -> None:
    """Copy page by page: unlike ``VACUUM INTO`` that goes on within the reader's transaction."""
    path.touch(0o600)
    with (
        connections.frozen(agree) as reader,
        explained(path),
        _space_for(path),
        closing(_quick(path)) as copy,
    ):
        with copy.backup("main", reader, "main") as backup:
            while not backup.done:
                backup.step(_PAGES_AT_ONCE)
        copy.pragma("journal_mode", "delete")  # the copy says that it has a log


@contextmanager
def _space_for(path: Path) -> Iterator[None]:
    """Let a full disk be the caller's error: it is not the library that finds no space."""
    try:
        yield
    except apsw.FullError as error:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path)) from error


def _quick(path: Path) -> apsw.Connection:
    """Open a file that nobody else knows and that is thrown away if anything fails."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.pragma("synchronous", "off")
    connection.set_progress_handler(lambda: False, _INSTRUCTIONS)  # Python looks for Ctrl-C there
    return connection


def count_snapshot(path: Path) -> Snapshot:
    """Count what a database that is not open holds; nothing is written.

    Raises:
        CorruptLibraryError: it is no library of Chapterhouse, or damaged.
        NewerLibraryError: a newer Chapterhouse made it.
    """
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    with (
        explained(path),
        closing(apsw.Connection(read_only_address(path), flags=flags)) as connection,
    ):
        connection.set_busy_timeout(_BUSY_MILLISECONDS)
        version = schema_version(connection, path, len(load_migrations()))
        return Snapshot(version, *(_count(connection, name) for name in _COUNTED))


def _count(connection: apsw.Connection, table: str) -> int:
    """Count the rows of a table; an earlier schema may not have it."""
    if not run(connection, "has_table", table):
        return 0
    return int(run(connection, f"count_{table}")[0][0])


def require_own_schema(path: Path) -> None:
    """Refuse a database from elsewhere that is not as ours of its schema are.

    Triggers and views that we did not make would run when the library is used.

    Raises:
        RefusedError: it has other tables, indexes, triggers or views than ours.
    """
    migrations = load_migrations()
    with (
        explained(path),
        closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection,
        closing(apsw.Connection(":memory:")) as own,
    ):
        connection.pragma("trusted_schema", 0)
        version = schema_version(connection, path, len(migrations))
        for migration in migrations[:version]:
            own.execute(migration)
        if not version or _schema(connection) != _schema(own):
            raise RefusedError(
                f"The database has other tables than a library of schema {version}.",
                hint="It was not written by chapterhouse export. Nothing was changed.",
            )


def _schema(connection: apsw.Connection) -> Sequence[Row]:
    return run(connection, "schema")


def is_in_use(path: Path) -> bool:
    """Whether any process, this one included, has a library open; not one that is damaged."""
    flags = apsw.SQLITE_OPEN_READWRITE
    with explained(path), closing(apsw.Connection(str(path), flags=flags)) as connection:
        try:
            connection.pragma("locking_mode", "exclusive")  # only who is alone gets it
            connection.execute("SELECT 1 FROM sqlite_schema").fetchall()
        except (apsw.BusyError, apsw.LockedError):
            return True
        except (apsw.NotADBError, apsw.CorruptError):
            return False
    return False


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
        file = apsw.VFSFile("", str(path.absolute()), [_READ_ONLY, 0])
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
