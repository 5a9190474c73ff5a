"""The database of a home in which stands who may use it, and its audit log.

It is made by what is written first, such as the start of a server.
"""

import re
import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import apsw

from chapterhouse.errors import CorruptLibraryError
from chapterhouse.files import UNFINISHED, move_into_place
from chapterhouse.store.connections import Connections, inode_of
from chapterhouse.store.statements import Row, load_migrations, run
from chapterhouse.types import AuditEntry, AuditOutcome

_MIGRATIONS: Final = "access_migrations"
_LONGEST: Final = 200  # characters of a text in the audit log
_MOST: Final = 100_000  # entries of what was done
_MOST_REFUSED: Final = 1_000  # and of what was not: anybody can make those
_OLDEST: Final = 400 * 86_400  # seconds
_PERIOD: Final = 100  # entries between two looks at how many there are
# Of a key that somebody wrote where it does not belong.
_KEY_SECRET: Final = re.compile(r"(ch_[0-9a-f]{8})_[A-Za-z0-9_-]+")


class AccessDatabase:
    """The connections to the database at ``path``; other processes may make or replace it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._opened: Connections | None = None
        self._inode = 0  # of the file that is open

    def rows(self, name: str, *bindings: str | bytes | int | None) -> Sequence[Row]:
        """Run a statement that reads; nothing is found where there is no database."""
        with self._lock, _explained():
            connections = self._connections() if self._path.exists() else None
        if connections is None:
            return ()
        # To a file that we cannot write, a connection is told that nobody else does.
        reading = connections.read_anew if connections.read_only else connections.read
        with _explained(), reading() as connection:
            return run(connection, name, *bindings)

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[apsw.Connection]:
        """Give a transaction, as ``Connections.write``; make the database if there is none."""
        with self._lock, _explained():
            connections = self._connections()
        with _explained(), connections.write(durable=durable) as connection:
            yield connection

    def change(self, entry: AuditEntry, name: str, *bindings: str | bytes | int | None) -> bool:
        """Run a statement that changes something, and record it where it did; say whether."""
        with self.write() as connection:
            changed = bool(run(connection, name, *bindings))
            if changed:
                record(connection, entry)
        return changed

    def close(self) -> None:
        """Close what is open."""
        with self._lock:
            if self._opened is not None:
                self._opened.close()

    def _connections(self) -> Connections:
        """Return the connections to the file that is there now, such as one from a backup."""
        if self._opened is None or inode_of(self._path) != self._inode:
            migrations = load_migrations(_MIGRATIONS)
            if not self._path.exists():
                self._make(migrations)
            self._opened = Connections(self._path, migrations)
            self._inode = inode_of(self._path)
        return self._opened

    def _make(self, migrations: Sequence[str]) -> None:
        """Make the database whole: on a full disk there is none, not one without its tables."""
        unfinished = self._path.with_name(f"{UNFINISHED}{secrets.token_hex(8)}")
        try:
            Connections(unfinished, migrations).close()
            with suppress(FileExistsError):  # another process was faster
                move_into_place(unfinished, self._path, replace=False)
        finally:
            for path in self._path.parent.glob(f"{unfinished.name}*"):
                path.unlink(missing_ok=True)


class AuditStore:
    """The audit log of a home."""

    def __init__(self, database: AccessDatabase) -> None:
        self._database = database

    def record(self, entry: AuditEntry) -> None:
        """Add an entry; one of a refusal costs no synchronisation of the disk."""
        is_durable = entry.outcome is not AuditOutcome.REFUSED
        with self._database.write(durable=is_durable) as connection:
            record(connection, entry)

    def entries(
        self, limit: int, before: int, workspace: str | None, actor: str | None
    ) -> tuple[AuditEntry, ...]:
        """Return the latest entries, newest first."""
        found = self._database.rows("audit_entries", before, workspace, actor, limit)
        return tuple(map(_entry, found))


def record(connection: apsw.Connection, entry: AuditEntry) -> None:
    """Add an entry in a transaction; drop the oldest of its kind where there are too many."""
    texts = (entry.actor, entry.action, entry.target, entry.outcome, entry.workspace, entry.address)
    ((key,),) = run(connection, "record_audit", entry.at, *map(_harmless, texts))
    if key % _PERIOD == 0:
        run(connection, "drop_old_audit", entry.at - _OLDEST)
        run(connection, "drop_audit_of_others", _MOST)
        run(connection, "drop_audit_of_refused", _MOST_REFUSED)


def _harmless(text: str) -> str:
    """Return a text of bounded length without the secret of a key, and without half characters."""
    whole = text.encode("utf-8", "replace").decode()
    return _KEY_SECRET.sub(r"\1_…", whole)[:_LONGEST]


def _entry(row: Row) -> AuditEntry:
    at, actor, action, target, outcome, workspace, address, key = row
    return AuditEntry(at, actor, action, target, AuditOutcome(outcome), workspace, address, key)


@contextmanager
def _explained() -> Iterator[None]:
    """Say of a damaged database what helps: it is no library, which could be repaired."""
    try:
        yield
    except CorruptLibraryError as error:
        hint = "Restore it from a backup; or move it away, and make keys and users again."
        raise CorruptLibraryError(error.message, hint=hint) from error
