"""Tables that are derived from the store: one SQLite file that follows its changes.

What a power cut or a deleted file takes is read from the documents again.
"""

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import ClassVar, Final

import apsw

from chapterhouse.errors import ChapterhouseError, CorruptLibraryError
from chapterhouse.files import read_only_address
from chapterhouse.index.state import writer_lock
from chapterhouse.store.sqlite import Store
from chapterhouse.types import Change

Rows = Sequence[tuple[str | int | float, ...]]
_BATCH_CHANGES: Final = 512
_PAUSE_SECONDS: Final = 0.02
_PROGRESS: Final = """
CREATE TABLE IF NOT EXISTS progress (
  id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL, sequence INTEGER NOT NULL
) STRICT;
"""


class DerivedTables(ABC):
    """The tables in one file. Safe to share between threads and processes.

    Attributes:
        what: How messages call it.
        file: Its name in the folder.
        version: Grows when the same text gives other rows.
        schema: SQL that makes the tables where they are not.
    """

    what: ClassVar[str]
    file: ClassVar[str]
    version: ClassVar[int]
    schema: ClassVar[str]

    def __init__(self, folder: Path, *, wait_seconds: float = 10.0) -> None:
        self._folder = folder
        self._path = folder / self.file
        self._wait_seconds = wait_seconds
        self._lock = threading.Lock()
        self._connection: apsw.Connection | None = None

    @abstractmethod
    def _clear(self, connection: apsw.Connection) -> None:
        """Delete all rows."""

    @abstractmethod
    def _apply(self, changes: Sequence[Change], store: Store) -> Iterator[tuple[str, Rows]]:
        """Yield statements with their values, each for many rows, that apply some changes."""

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def sequence(self) -> int:
        """Return the number of the last change it has applied."""
        with self._read():
            return self._sequence()

    def catch_up(self, store: Store) -> int:
        """Apply the changes it has missed; wait a while for another process that is at it."""
        if self.sequence() < store.sequence():
            with writer_lock(self._folder, self._wait_seconds) as held:
                if held:
                    self._apply_all(store)
        return self.sequence()

    def rebuild(self, store: Store) -> int:
        """Throw everything away and read every document again; what was is overwritten."""
        with writer_lock(self._folder, self._wait_seconds * 6) as held:
            if held:
                try:
                    self._require_sound()
                    with self._read() as database, database as connection:
                        self._clear(connection)
                        connection.execute("DELETE FROM progress")
                except CorruptLibraryError:
                    self._delete()
                self._apply_all(store)
                with self._read() as connection, suppress(apsw.BusyError):  # someone reads
                    connection.execute("VACUUM")  # until then pages hold what was deleted
                    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        return self.sequence()

    def _require_sound(self) -> None:
        with self._read() as connection:
            found = connection.execute("PRAGMA integrity_check(1)").get
        if found != "ok":
            raise CorruptLibraryError(f"{self.what} is damaged: {found}")

    @contextmanager
    def _read(self) -> Iterator[apsw.Connection]:
        """Give the connection to one thread; say what to do where the file is damaged."""
        with self._lock, self._explained():
            yield self._open()

    def _apply_all(self, store: Store) -> None:
        with self._read() as database:
            after = self._sequence()
            if not after:
                with database as connection:  # nothing yet, or rows of another version
                    self._clear(connection)
        while changes := store.changes(after, _BATCH_CHANGES):
            after = changes[-1].sequence
            rows = list(self._apply(changes, store))
            with self._read() as database, database as connection:
                for statement, values in rows:
                    connection.executemany(statement, values)
                connection.execute(
                    "INSERT INTO progress VALUES (1, ?, ?) ON CONFLICT (id) DO UPDATE"
                    " SET version = excluded.version, sequence = excluded.sequence",
                    (self.version, after),
                )

    def _delete(self) -> None:
        """Delete a damaged file; who has it open meets the damage and opens the next one."""
        self.close()
        for path in self._folder.glob(f"{self._path.name}*"):
            path.unlink(missing_ok=True)

    def _sequence(self) -> int:
        found = self._open().execute(
            "SELECT sequence FROM progress WHERE version = ?", (self.version,)
        ).get  # fmt: skip
        return int(found or 0)

    def _open(self) -> apsw.Connection:
        if self._connection is None:
            try:
                self._connection = self._opened()
            except (OSError, apsw.FullError, apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError):
                self._connection = self._as_it_is()
        return self._connection

    def _opened(self) -> apsw.Connection:
        self._folder.mkdir(parents=True, exist_ok=True)
        connection = apsw.Connection(str(self._path))
        try:
            connection.set_busy_timeout(int(self._wait_seconds * 1000))
            self._make_ready(connection)
        except apsw.Error:
            connection.close()
            raise
        return connection

    def _as_it_is(self) -> apsw.Connection:
        """Open what can only be read; where there is nothing, an empty table in memory."""
        if self._path.exists() and self._path.stat().st_size:
            flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
            return apsw.Connection(read_only_address(self._path), flags=flags)
        connection = apsw.Connection(":memory:")
        connection.execute(_PROGRESS + self.schema)
        return connection

    def _make_ready(self, connection: apsw.Connection) -> None:
        """Make the tables; SQLite does not wait where another switches a new file to WAL."""
        deadline = time.monotonic() + self._wait_seconds
        while True:
            try:
                connection.execute("PRAGMA journal_mode = wal; PRAGMA synchronous = normal")
                connection.execute(_PROGRESS + self.schema)
            except apsw.BusyError:
                if time.monotonic() >= deadline:
                    raise
                time.sleep(_PAUSE_SECONDS)
            else:
                return

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say what to do where the file turns out to be damaged, which may be at any page."""
        try:
            yield
        except (apsw.NotADBError, apsw.CorruptError, UnicodeDecodeError) as error:
            raise CorruptLibraryError(
                f"{self.what} cannot be used: {error}",
                hint=f"Run: chapterhouse reindex. Or delete {self._path}: it is made anew.",
            ) from error
        except (apsw.FullError, apsw.IOError) as error:
            raise ChapterhouseError(
                f"{self.what} cannot be read or written: {error}",
                hint="If the disk is full, make room. The next command goes on where this stopped.",
            ) from error
