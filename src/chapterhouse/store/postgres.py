"""One schema of a PostgreSQL database: how it is made, read and written.

Durability is the server's: a commit waits until its log is on disk. Concurrency: a transaction that
writes takes a lock of its schema first, so that changes are committed in the order of their
sequence numbers and what a statement looked at is still so when the next one writes; readers see
one state throughout and wait for nobody.
"""

import hashlib
import secrets
import select
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from importlib.resources import files
from typing import Final

import psycopg
from psycopg import errors
from psycopg.pq import TransactionStatus
from psycopg.sql import SQL, Identifier

from chapterhouse.errors import (
    ChapterhouseError,
    CorruptLibraryError,
    NewerLibraryError,
    ReadOnlyError,
    UnavailableError,
    UsageError,
)
from chapterhouse.store.postgres_server import (
    VERSIONS,
    Driver,
    connect,
    explained,
    has_versions,
    place_of,
)
from chapterhouse.store.postgres_statements import Session
from chapterhouse.store.rows import Connection, Row, Value, load_migrations, run

# Tables, and the migrations of SQLite after which they are the same.
LIBRARY: Final = ("postgres_schema.sql", "migrations")
ACCESS: Final = ("postgres_access.sql", "access_migrations")

_MOST: Final = 8  # connections to a schema at once
_WAIT_SECONDS: Final = 30.0  # for one of them
_PAUSE_SECONDS: Final = 0.1
_LOCK_SECONDS: Final = 30  # for who writes
_COMPACT_SECONDS: Final = 5  # for who reads
_BEGIN: Final = """
BEGIN ISOLATION LEVEL READ COMMITTED;
SET LOCAL synchronous_commit = {commit};
SELECT pg_advisory_xact_lock({key});
INSERT INTO latest_write VALUES ('{node}', '{token}', now())
ON CONFLICT (node) DO UPDATE SET token = excluded.token, at = excluded.at
"""
_READ: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"


class PostgresDatabase:
    """The connections of this process to the schema of a workspace or home, a ``Database``.

    Args:
        address: ``postgresql://…``, or what else libpq takes.
        schema: Its name; it is made where it is not there.
        tables: ``LIBRARY`` or ``ACCESS``.
        statement_seconds: That one statement may take.

    Raises:
        UnavailableError: the server cannot be reached.
        RefusedError: the server refuses the user, or is too old.
        NewerLibraryError: the schema was made by a newer Chapterhouse.
        CorruptLibraryError: there is such a schema, and it is not ours.
    """

    inline_maximum = 2**62  # less where larger files go to a bucket
    upgraded = False

    def __init__(
        self,
        address: str,
        schema: str,
        tables: tuple[str, str] = LIBRARY,
        *,
        statement_seconds: int = 600,
    ) -> None:
        self._address = address
        self._statement_seconds = statement_seconds
        self._schema = schema
        self._place = place_of(address)
        self._tables, migrations = tables
        self._version = len(load_migrations(migrations))
        digest = hashlib.sha256(schema.encode()).digest()
        self._lock_key = int.from_bytes(digest[:8], "big", signed=True)
        self._lock = threading.RLock()  # threads wait here rather than each with a connection
        self._local = threading.local()
        self._idle: deque[Driver] = deque()
        self._free = threading.BoundedSemaphore(_MOST)
        self._closed = False
        self._node = secrets.token_hex(8)  # of this process and schema
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        with explained(self._place), self._borrowed() as connection:
            found = connection.execute("SELECT pg_is_in_recovery()").fetchone()
            self.read_only = bool(found and found[0])
            if self._version_seen(connection) != self._version:
                self._make(connection)
            if not self.read_only:  # of processes that are gone
                connection.execute("DELETE FROM latest_write WHERE at < now() - interval '1 day'")
            known = connection.execute(f"SELECT id FROM {VERSIONS}").fetchone()  # noqa: S608 - our own
            self.identity = str(known[0]) if known else ""

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Give a connection in a transaction that sees one state throughout."""
        known: Connection | None = getattr(self._local, "session", None)
        if known is not None:
            yield known
            return
        with explained(self._place), self._borrowed(_READ) as connection:
            self._local.session = Session(connection)
            try:
                yield self._local.session
            finally:
                self._local.session = None

    def rows(self, name: str, *bindings: Value) -> Sequence[Row]:
        """Return all rows of a statement that reads; alone it needs no transaction."""
        known: Connection | None = getattr(self._local, "session", None)
        if known is not None:
            return run(known, name, *bindings)
        with explained(self._place), self._borrowed() as connection:
            return run(Session(connection), name, *bindings)

    @contextmanager
    def frozen(self, agree: Callable[[], None]) -> Iterator[Connection]:
        """Give a connection in a transaction that sees one state known beforehand."""
        with explained(self._place), self._borrowed() as connection:
            with nullcontext() if self.read_only else self.write():
                agree()
                connection.execute(f"{_READ}; SELECT 1")  # which fixes it
            yield Session(connection)

    read_anew = read  # nothing is remembered

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[Connection]:
        """Give a connection in a transaction that is durable once the block has ended."""
        if self.read_only:
            raise ReadOnlyError(
                f"The database {self._place} can only be read: it is a replica.",
                hint="Name the address of the primary server.",
            )
        if self.is_writing():
            yield self._local.session
            return
        token = secrets.token_hex(8)
        begin = _BEGIN.format(
            commit="DEFAULT" if durable else "off", key=self._lock_key, node=self._node, token=token
        )
        before = getattr(self._local, "session", None)
        with self._lock, explained(self._place), self._borrowed(begin) as connection:
            self._local.session, self._local.is_writing = Session(connection), True
            try:
                yield self._local.session
                self._commit(connection, token)
            finally:
                self._local.session, self._local.is_writing = before, False

    def _commit(self, connection: Driver, token: str) -> None:
        """Commit a transaction; where the answer is lost, find out whether it was committed."""
        try:
            if connection.execute("COMMIT").statusmessage != "COMMIT":
                raise ChapterhouseError(f"{self._place} undid a transaction that had failed.")
        except psycopg.OperationalError as error:
            latest = self._latest_write()
            if latest is None:
                raise UnavailableError(
                    f"{self._place} went away, and did not say whether a change is stored.",
                    hint="Look whether it is before you repeat it.",
                ) from error
            if latest != token:
                raise

    def _latest_write(self) -> str | None:
        """Return the token of what we committed last, as soon as a server says it.

        Who had the lock is gone once we have it: after that nothing is committed any more.
        """
        deadline = time.monotonic() + _WAIT_SECONDS
        while time.monotonic() < deadline:
            with suppress(psycopg.Error), closing(self._connected()) as connection:
                connection.execute(f"BEGIN; SELECT pg_advisory_xact_lock({self._lock_key})")
                asked = "SELECT token FROM latest_write WHERE node = $1"
                found = connection.execute(asked, [self._node]).fetchone()
                return str(found[0]) if found else ""
            time.sleep(_PAUSE_SECONDS)
        return None

    def is_writing(self) -> bool:
        """Whether this thread is in ``write``."""
        return getattr(self._local, "is_writing", False)

    def compact(self) -> None:
        """Write every table anew, so that nothing removed stays in its files.

        The server's log, replicas and backups are not ours to rewrite. A table that others use
        for long stays as it is.
        """
        with self.write():  # which refuses what can only be read
            pass
        with self._lock, explained(self._place), self._borrowed() as connection:
            connection.execute(
                f"SET lock_timeout = '{_COMPACT_SECONDS}s'; SET statement_timeout = 0"
            )
            found = connection.execute(
                "SELECT relname FROM pg_class"
                " WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
            ).fetchall()
            for (table,) in found:
                with suppress(errors.LockNotAvailable, errors.DiskFull):
                    connection.execute(SQL("VACUUM (FULL) {}").format(Identifier(table)))
            self._configure(connection)

    def number_on(self, connection: Connection) -> None:
        """Let the next key of each table follow those that rows from elsewhere brought along."""
        statement = (
            "SELECT table_name, pg_get_serial_sequence(quote_ident(table_name), column_name)"
            " FROM information_schema.columns"
            " WHERE table_schema = current_schema() AND is_identity = 'YES'"
        )
        for table, sequence in connection.execute(statement).fetchall():
            known = f"SELECT setval('{sequence}', max(key)) FROM {table} HAVING max(key) > 0"  # noqa: S608 - our own names
            connection.execute(known)

    def close(self) -> None:
        """Close every connection that is not in use; the others when they are given back."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    # --- connections ----------------------------------------------------------------------------

    @contextmanager
    def _borrowed(self, begin: str = "") -> Iterator[Driver]:
        """Give a connection for this block alone; a transaction that is open at its end is undone.

        Args:
            begin: What to run on it first.
        """
        if self._closed:
            raise UsageError(f"The library in {self._place} has been closed.")
        if not self._free.acquire(timeout=_WAIT_SECONDS):
            raise UnavailableError(
                f"All {_MOST} connections to {self._place} were in use for too long.",
                hint="Repeat the command, or let fewer questions be asked at once.",
            )
        try:
            connection = self._alive() or self._connected()
            try:
                if begin:
                    connection.execute(begin)
                yield connection
            finally:
                self._give_back(connection)
        finally:
            self._free.release()

    def _alive(self) -> Driver | None:
        """Return a connection that is idle; those that the server has ended meanwhile go."""
        with suppress(IndexError):
            while True:
                connection = self._idle.pop()
                poll = select.poll()
                poll.register(connection.fileno(), select.POLLIN)
                if not poll.poll(0):  # an idle one has nothing to say but its end
                    return connection
                connection.close()
        return None

    def _give_back(self, connection: Driver) -> None:
        status = connection.info.transaction_status
        if status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
            with suppress(psycopg.Error):
                connection.execute("ROLLBACK")
        if connection.info.transaction_status is not TransactionStatus.IDLE or self._closed:
            connection.close()
        else:
            self._idle.append(connection)

    def _connected(self) -> Driver:
        connection = connect(self._address)
        try:
            self._configure(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _configure(self, connection: Driver) -> None:
        connection.execute(
            SQL(
                "SET search_path TO {}; SET lock_timeout = {}; SET statement_timeout = {};"
                " SET jit = off"
            ).format(Identifier(self._schema), f"{_LOCK_SECONDS}s", f"{self._statement_seconds}s")
        )

    # --- the schema -----------------------------------------------------------------------------

    def _version_seen(self, connection: Driver) -> int:
        """Return which version the schema has; 0 where it is not there, or is empty."""
        if not has_versions(connection, self._schema):
            return 0
        found = connection.execute(
            SQL("SELECT version FROM {}").format(Identifier(self._schema, VERSIONS))
        ).fetchone()
        version = int(found[0]) if found else 0
        if version > self._version:
            raise NewerLibraryError(
                f"{self._place} has schema {version}; this Chapterhouse knows schemas up to"
                f" {self._version}.",
                hint="Upgrade Chapterhouse, or restore a backup from before the upgrade.",
            )
        return version

    def _make(self, connection: Driver) -> None:
        """Make schema and tables in one transaction, unless another process is faster."""
        if self.read_only:
            raise ReadOnlyError(
                f"{self._place} is a replica without the schema {self._schema}.",
                hint="Open it once through the primary server.",
            )
        schema = Identifier(self._schema)
        connection.execute(f"BEGIN; SELECT pg_advisory_xact_lock({self._lock_key})")
        if self._version_seen(connection) == 0:
            there = "SELECT to_regnamespace($1) IS NOT NULL"
            name = schema.as_string(connection)
            if not connection.execute(there, [name]).fetchone()[0]:  # type: ignore[index]  # one row
                connection.execute(SQL("CREATE SCHEMA {}").format(schema))
            used = "SELECT 1 FROM pg_class WHERE relnamespace = $1::regnamespace LIMIT 1"
            if connection.execute(used, [name]).fetchone():
                raise CorruptLibraryError(
                    f"{self._place} has a schema {self._schema}, but not one of Chapterhouse.",
                    hint="Name another database or workspace, or rename that schema.",
                )
            connection.execute(_text(self._tables))
            connection.execute(
                f"CREATE TABLE {VERSIONS} AS"
                f" SELECT {self._version} AS version, gen_random_uuid() AS id"
            )
        connection.execute("COMMIT")


def _text(name: str) -> bytes:
    return files(__package__).joinpath(name).read_bytes()
