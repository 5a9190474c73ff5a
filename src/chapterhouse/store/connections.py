"""Connections to one SQLite file: how it is opened, upgraded, read and written.

Durability: WAL with ``synchronous=FULL``, the only setting under which no simulated power cut
lost an acknowledged document. Concurrency: one writer a process, one reader a thread; readers
see the last commit and never wait for a writer (https://www.sqlite.org/wal.html).
"""

import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TypeVar
from weakref import WeakSet

import apsw

from chapterhouse.errors import (
    ChapterhouseError,
    CorruptLibraryError,
    NewerLibraryError,
    ReadOnlyError,
    RefusedError,
    UnavailableError,
    UsageError,
)
from chapterhouse.files import is_writable, make_folder, read_only_address
from chapterhouse.store.rows import Row, load_migrations, run
from chapterhouse.store.rows import Value as Binding
from chapterhouse.text.naming import natural_key

Value = TypeVar("Value")
APPLICATION_ID = 0x43485052  # "CHPR"; see https://www.sqlite.org/fileformat.html
# Earlier ones can corrupt a WAL that two connections reset at once: https://www.sqlite.org/wal.html
OLDEST_SQLITE = (3, 51, 3)

INLINE_MAXIMUM = 64 * 2**10  # bytes of a file; a larger one is a blob beside the database

_BUSY_MILLISECONDS = 5_000
_BUSY_SECONDS = 25  # before the last attempt, which waits once more
# Pages of WAL before a commit copies them into the database: 16 MiB. The copy is what costs.
_CHECKPOINT_PAGES = 4_000
_WAL_BYTES = 64 * 2**20
_NO_SPACE = (apsw.FullError, apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError)


def require_sqlite(version: str) -> None:
    """Refuse a SQLite that can corrupt a library."""
    if tuple(map(int, version.split("."))) < OLDEST_SQLITE:
        oldest = ".".join(map(str, OLDEST_SQLITE))
        raise RefusedError(
            f"SQLite {version} can corrupt a library that two processes use; {oldest} is needed.",
            hint="Upgrade the package that brings it: pip install --upgrade apsw",
        )


class Connections:
    """The connections of this process to the library at ``path``, a ``Database``."""

    identity = ""
    inline_maximum = INLINE_MAXIMUM

    def __init__(self, path: Path, migrations: Sequence[str] | None = None) -> None:
        require_sqlite(apsw.sqlite_lib_version())
        self._path = path
        self._lock = threading.RLock()
        self._local = threading.local()
        self._readers: WeakSet[apsw.Connection] = WeakSet()
        self._readers_lock = threading.Lock()  # not the writer's: readers do not wait for it
        self._closed = False
        self._inode = 0  # of the file, once it is open
        self.upgraded = False  # whether an earlier schema was
        self._holder = 0  # the thread that is in a transaction of the writer
        migrations = migrations or load_migrations()
        self.read_only = path.exists() and not is_writable(path)
        with explained(path):
            try:
                self._writer = self._opened(migrations)
            except _NO_SPACE:  # for the log that SQLite makes beside it
                if not path.exists():
                    raise
                self.read_only = True
                self._writer = self._opened(migrations)
        self._inode = inode_of(path)

    @contextmanager
    def read(self) -> Iterator[apsw.Connection]:
        """Give this thread's reader, in a transaction that sees one state throughout.

        Within ``write`` it is the writer: a thread sees what it wrote.
        """
        if self.is_writing():
            yield self._writer
            return
        with explained(self._path):
            connection = self._reader()
            _end(connection)
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                _end(connection)  # nothing was written

    def rows(self, name: str, *bindings: Binding) -> Sequence[Row]:
        """Return all rows of a statement that reads."""
        with self.read() as connection:
            return run(connection, name, *bindings)

    @contextmanager
    def frozen(self, agree: Callable[[], None]) -> Iterator[apsw.Connection]:
        """Give this thread's reader, in a transaction that sees one state known beforehand.

        Args:
            agree: Called while nobody can write, before the state is fixed; others write again as
                soon as it is. Of a library that can only be read, others may write meanwhile.
        """
        with explained(self._path):
            connection = self._reader()
            _end(connection)
            with nullcontext() if self.read_only else self.write():
                agree()
                connection.execute("BEGIN")
                connection.execute("SELECT 1 FROM sqlite_schema").fetchall()  # fixes it
            try:
                yield connection
            finally:
                _end(connection)

    @contextmanager
    def read_anew(self) -> Iterator[apsw.Connection]:
        """Give a new connection to read with, which remembers nothing.

        To SQLite 3.54 a full-text index with secure-delete looks damaged through a connection that
        has looked at it before another one changed it.
        """
        with explained(self._path):
            connection = self._connected()
            try:
                _configure(connection)
                connection.pragma("query_only", 1)
                yield connection
            finally:
                connection.close()

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[apsw.Connection]:
        """Give the writer in a transaction that is durable once the block has ended.

        A block inside another of the same thread is part of the outer one's transaction.

        Args:
            durable: Whether it has to survive a power cut; it survives the end of the process
                in any case, and costs a synchronisation of the disk less if not.

        Raises:
            ChapterhouseError: the disk is full, or another process wrote for half a minute.
            ReadOnlyError: it can only be read.
        """
        if self.read_only:
            raise ReadOnlyError(
                f"The library {self._path} can only be read.",
                hint="It belongs to somebody else, or its disk is full or cannot be written.",
            )
        if self.is_writing():
            yield self._writer
            return
        with self._lock, explained(self._path):
            connection = self._writer
            _end(connection)
            if durable:
                yield from self._transaction(connection)
                return
            before = connection.pragma("synchronous")
            connection.pragma("synchronous", "NORMAL")
            try:
                yield from self._transaction(connection)
            finally:
                connection.pragma("synchronous", before)

    def _transaction(self, connection: apsw.Connection) -> Iterator[apsw.Connection]:
        _begin(connection)
        self._holder = threading.get_ident()
        try:
            self._require_in_place()
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            _end(connection)
            raise
        finally:
            self._holder = 0

    def is_writing(self) -> bool:
        """Whether this thread is in ``write``."""
        return self._holder == threading.get_ident()

    def _require_in_place(self) -> None:
        """Refuse to write to a database that another one has taken the place of."""
        if self._inode and inode_of(self._path) != self._inode:
            raise RefusedError(
                f"The library {self._path} was replaced by another one meanwhile.",
                hint="Run the command again, or start the server again.",
            )

    def compact(self) -> None:
        """Write the database anew and cut its log off, so that nothing removed stays in either.

        ``secure_delete`` overwrites what is removed, but not the copies that SQLite leaves where it
        moves rows from page to page. While others read or the disk is full all stays as it is.
        """
        with self.write():  # which refuses what can only be read
            pass
        cannot = (apsw.BusyError, apsw.LockedError, apsw.FullError)
        with self._lock, explained(self._path), suppress(*cannot):
            _end(self._writer)
            self._writer.execute("VACUUM")
            self._writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def close(self) -> None:
        """Close every connection; the last one to leave copies the WAL into the database."""
        with self._lock, self._readers_lock:
            self._closed = True
            for connection in tuple(self._readers):
                connection.close()
            self._writer.close()

    def _opened(self, migrations: Sequence[str]) -> apsw.Connection:
        """Open the file, made or upgraded where that is needed and possible."""
        path = self._path
        if not self.read_only:
            make_folder(path.parent)
            path.touch(0o600)  # SQLite gives its other files the mode of this one
        connection = self._connected()
        try:
            if self.read_only:
                _configure(connection)
                _require_present(_version_seen(connection, path, len(migrations)), path, migrations)
            else:
                self.upgraded = _prepare_file(connection, path, migrations)
        except BaseException:
            connection.close()
            raise
        return connection

    def _connected(self) -> apsw.Connection:
        if not self.read_only:
            flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI  # for what is attached
            return apsw.Connection(str(self._path.absolute()), flags=flags)
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        return apsw.Connection(read_only_address(self._path), flags=flags)

    def _reader(self) -> apsw.Connection:
        connection: apsw.Connection | None = getattr(self._local, "reader", None)
        if connection is None:
            connection = self._connected()
            _configure(connection)
            connection.pragma("query_only", 1)
            with self._readers_lock:
                if self._closed:
                    connection.close()
                self._readers.add(connection)
            self._local.reader = connection
        return connection


def inode_of(path: Path) -> int:
    """Return the inode of a file; 0 where there is none."""
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return 0


def _configure(connection: apsw.Connection) -> None:
    connection.set_busy_timeout(_BUSY_MILLISECONDS)
    define_functions(connection)
    connection.pragma("synchronous", "FULL")
    connection.pragma("foreign_keys", 1)
    connection.pragma("secure_delete", 1)  # what is removed is overwritten
    connection.pragma("mmap_size", 0)  # unsafe while another process truncates the file
    connection.pragma("journal_size_limit", _WAL_BYTES)
    connection.pragma("wal_autocheckpoint", _CHECKPOINT_PAGES)


def define_functions(connection: apsw.Connection) -> None:
    """Define what statements call: SQLite's own lower() knows the letters of English alone."""
    connection.create_scalar_function("folded", _folded, deterministic=True)
    connection.create_scalar_function("natural", _natural, 1, deterministic=True)


def _folded(*values: object) -> str:
    return "\n".join(map(str, values)).casefold()


def _natural(*values: object) -> str:
    (path,) = values
    return natural_key(str(path or ""))


def _prepare_file(connection: apsw.Connection, path: Path, migrations: Sequence[str]) -> bool:
    """Make the schema that of now; return whether there was an earlier one."""
    _configure(connection)
    # Before a stranger's file is touched.
    version = _patiently(lambda: _version_seen(connection, path, len(migrations)))
    # SQLite does not wait for its lock here: two processes may be making the same new library.
    if str(_patiently(lambda: connection.pragma("journal_mode", "wal"))) != "wal":
        raise ChapterhouseError(
            f"The file system of {path} cannot hold a library.",
            hint="SQLite needs shared memory there: use a local disk, not a network share.",
        )
    upgraded = 0 < version < len(migrations)
    while version < len(migrations):
        version = _migrate(connection, path, migrations)
    return upgraded


def _require_present(version: int, path: Path, migrations: Sequence[str]) -> None:
    if version < len(migrations):
        raise ReadOnlyError(
            f"{path} was written by an earlier Chapterhouse and cannot be upgraded where it is.",
            hint="Open it once where it can be written, or copy the home folder.",
        )


def _version_seen(connection: apsw.Connection, path: Path, latest: int) -> int:
    """Return the version at one moment: another process may be making the library just now."""
    connection.execute("BEGIN")
    try:
        return schema_version(connection, path, latest)
    finally:
        _end(connection)


def schema_version(connection: apsw.Connection, path: Path, latest: int) -> int:
    """Return how many migrations the database has had; 0 for an empty file.

    Raises:
        CorruptLibraryError: it is no database of Chapterhouse.
        NewerLibraryError: it has had more than ``latest``.
    """
    version = int(connection.pragma("user_version"))
    owner = int(connection.pragma("application_id"))
    empty = connection.execute("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)").get
    if owner == 0 and version == 0 and empty:
        return 0
    if owner != APPLICATION_ID:
        raise CorruptLibraryError(
            f"{path} is a database, but not one of Chapterhouse.",
            hint="Name another home or workspace, or move that file away.",
        )
    if version > latest:
        raise NewerLibraryError(
            f"{path} has schema {version}; this Chapterhouse knows schemas up to {latest}.",
            hint="Upgrade Chapterhouse, or restore a backup from before the upgrade.",
        )
    return version


def _migrate(connection: apsw.Connection, path: Path, migrations: Sequence[str]) -> int:
    """Apply the next migration in one transaction, to a new database all; return its version."""
    _begin(connection)
    try:
        version = schema_version(
            connection, path, len(migrations)
        )  # another process may have done it
        if version < len(migrations):
            following = migrations[version : version + 1 if version else None]
            for migration in following:
                connection.execute(migration)
            version += len(following)
            connection.pragma("user_version", version)
            connection.pragma("application_id", APPLICATION_ID)
        connection.execute("COMMIT")
    except BaseException:
        _end(connection)
        raise
    return version


def _begin(connection: apsw.Connection) -> None:
    """Take the write lock."""
    _patiently(lambda: connection.execute("BEGIN IMMEDIATE"))


def _patiently(action: Callable[[], Value]) -> Value:
    """Repeat what another process keeps from being done, at odd moments, for a while."""
    deadline = time.monotonic() + _BUSY_SECONDS
    while time.monotonic() < deadline:
        try:
            return action()
        except apsw.BusyError:
            time.sleep(random.uniform(0.01, 0.1))  # noqa: S311 - jitter, not a secret
    return action()


def _end(connection: apsw.Connection) -> None:
    """Undo a transaction that is still open.

    None is when SQLite ended it by itself, as on a full disk; one is from before when an
    interrupt struck between its failure and its end.
    """
    if connection.in_transaction:
        connection.execute("ROLLBACK")


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what SQLite raises into errors that say what to do."""
    try:
        yield
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise CorruptLibraryError(
            f"{path} is damaged or no library: {error}",
            hint="Move the folder of the workspace away, and restore it from an export:"
            " chapterhouse import FILE. Or add the folders again.",
        ) from error
    except UnicodeDecodeError as error:
        raise CorruptLibraryError(
            f"{path} holds a text that is damaged: {error}", hint="Run: chapterhouse doctor"
        ) from error
    except apsw.FullError as error:
        raise UnavailableError(
            f"There is no space left to write {path}. What was there before is unharmed.",
            hint="Free some disk space and repeat the command; it continues where it stopped.",
        ) from error
    except (apsw.BusyError, apsw.LockedError) as error:
        raise UnavailableError(
            f"Another process kept {path} busy for too long.",
            hint="Wait until it has finished and repeat the command.",
        ) from error
    except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, apsw.IOError) as error:
        raise UnavailableError(
            f"{path} cannot be read or written: {error}",
            hint="Check that the folder exists, belongs to you and is on a working disk.",
        ) from error
    except apsw.ConnectionClosedError as error:
        raise UsageError(f"The library {path} has been closed.") from error
    except UnicodeEncodeError as error:
        raise UsageError(
            f"A text for the library holds the lone surrogate {error.object[error.start]!a}"
            f" at position {error.start}, which is no character.",
            hint="Clean the text with chapterhouse.text.sanitise before storing it.",
        ) from error
