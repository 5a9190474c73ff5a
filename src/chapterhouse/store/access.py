"""Keys, users and their sessions in the database of a home.

What changes something takes an entry for the audit log, which is written in the same transaction.
Times are seconds since 1970. Secrets are known by their hashes. Where nothing was ever written,
nothing is found.
"""

import json
import re
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from chapterhouse.errors import CorruptLibraryError
from chapterhouse.files import UNFINISHED, move_into_place
from chapterhouse.store.connections import Connections, inode_of
from chapterhouse.store.rows import (
    Connection,
    Database,
    Row,
    first,
    load_migrations,
    repeatable,
    run,
)
from chapterhouse.types import AccessLevel, ApiKey, AuditEntry, AuditOutcome, User

_MIGRATIONS: Final = "access_migrations"
_LONGEST: Final = 200  # characters of a text in the audit log
_MOST: Final = 100_000  # entries of what was done
_MOST_REFUSED: Final = 1_000  # and of what was not: anybody can make those
_OLDEST: Final = 400 * 86_400  # seconds
_PERIOD: Final = 100  # entries between two looks at how many there are
# Of a key that somebody wrote where it does not belong.
_KEY_SECRET: Final = re.compile(r"(ch_[0-9a-f]{8})_[A-Za-z0-9_-]+")


@repeatable
class AccessDatabase:
    """The database that says who may use a home.

    Args:
        place: The path of a file, which other processes may make or replace; or what opens a
            database that several homes share.
    """

    def __init__(self, place: Path | Callable[[], Database]) -> None:
        self._place = place
        self._lock = threading.Lock()
        self._opened: Database | None = None
        self._inode = 0  # of the file that is open

    def rows(self, name: str, *bindings: str | bytes | int | None) -> Sequence[Row]:
        """Run a statement that reads; nothing is found where there is no file."""
        with self._lock, _explained():
            is_there = not isinstance(self._place, Path) or self._place.exists()
            database = self._database() if is_there else None
        if database is None:
            return ()
        # To a file that we cannot write, a connection is told that nobody else does.
        reading = database.read_anew if database.read_only else database.read
        with _explained(), reading() as connection:
            return run(connection, name, *bindings)

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[Connection]:
        """Give a transaction, as ``Database.write``; make the file if there is none."""
        with self._lock, _explained():
            database = self._database()
        with _explained(), database.write(durable=durable) as connection:
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

    def _database(self) -> Database:
        """Return the database; of a file the one that is there now, such as one from a backup."""
        if not isinstance(self._place, Path):
            self._opened = self._opened or self._place()
        elif self._opened is None or inode_of(self._place) != self._inode:
            migrations = load_migrations(_MIGRATIONS)
            if not self._place.exists():
                _make(self._place, migrations)
            self._opened = Connections(self._place, migrations)
            self._inode = inode_of(self._place)
        return self._opened


def _make(path: Path, migrations: Sequence[str]) -> None:
    """Make the file whole: on a full disk there is none, not one without its tables."""
    unfinished = path.with_name(f"{UNFINISHED}{secrets.token_hex(8)}")
    try:
        Connections(unfinished, migrations).close()
        with suppress(FileExistsError):  # another process was faster
            move_into_place(unfinished, path, replace=False)
    finally:
        for left in path.parent.glob(f"{unfinished.name}*"):
            left.unlink(missing_ok=True)


@repeatable
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


def record(connection: Connection, entry: AuditEntry) -> None:
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


Binding = str | bytes | int | None


@dataclass(frozen=True, slots=True)
class LoginSession:
    """A session as it is stored; times are seconds since 1970.

    Attributes:
        last_used: When it was last used, to the minute.
    """

    user: User
    created: int
    last_used: int


@repeatable
class ApiKeyStore:
    """The keys of a home."""

    def __init__(self, database: AccessDatabase) -> None:
        self._database = database

    def add(self, key: ApiKey, secret_hash: bytes, entry: AuditEntry) -> bool:
        """Add a key; False where there is one of its id."""
        values = (
            key.id,
            secret_hash,
            key.label,
            key.level.value,
            _json(key.workspaces),
            _json(key.shelves),
            _json(key.personas),
            key.created,
            key.created_by,
            key.expires,
        )
        return self._database.change(entry, "add_api_key", *values)

    def all(self) -> tuple[ApiKey, ...]:
        """Return all keys, newest first."""
        return tuple(map(_key, self._database.rows("api_keys")))

    def find(self, key_id: str) -> tuple[ApiKey, bytes] | None:
        """Return a key with the hash of its secret."""
        for row in self._database.rows("api_key", key_id):
            *public, secret_hash = row
            return _key(public), secret_hash
        return None

    def revoke(self, key_id: str, entry: AuditEntry) -> bool:
        """Revoke a key; False where there is none, or it is revoked already."""
        return self._database.change(entry, "revoke_api_key", entry.at, key_id)

    def touch(self, key_id: str, now: int) -> None:
        """Write when a key was used."""
        with self._database.write(durable=False) as connection:
            run(connection, "touch_api_key", now, key_id)


@repeatable
class UserStore:
    """The users of a home."""

    def __init__(self, database: AccessDatabase) -> None:
        self._database = database

    def add(self, user: User, password_hash: str, entry: AuditEntry) -> bool:
        """Add a user; False where there is one of this name."""
        values = (
            user.name,
            user.level.value,
            _json(user.workspaces),
            _json(user.shelves),
            _json(user.personas),
            user.created,
            user.created_by,
            password_hash,
        )
        return self._database.change(entry, "add_user", *values)

    def all(self) -> tuple[User, ...]:
        """Return all users, by name."""
        return tuple(map(_user, self._database.rows("users")))

    def find(self, name: str) -> tuple[User, str] | None:
        """Return a user with the hash of their password."""
        for row in self._database.rows("user", name):
            *public, password_hash = row
            return _user(public), password_hash
        return None

    def set_password(
        self, name: str, password_hash: str, entry: AuditEntry, spared: bytes = b""
    ) -> bool:
        """Change a password and end the user's sessions but one."""
        with self._database.write() as connection:
            found = self._database.change(entry, "set_user_password", password_hash, name)
            if found:
                run(connection, "drop_sessions_of", name, spared)
        return found

    def rehash(self, name: str, before: str, after: str) -> None:
        """Replace the hash of a password by another of the same, unless it changed meanwhile."""
        with self._database.write() as connection:
            run(connection, "replace_user_password", after, name, before)

    def set_disabled(self, name: str, since: int, entry: AuditEntry) -> bool:
        """Disable a user and end their sessions, or enable them again."""
        with self._database.write() as connection:
            found = self._database.change(entry, "set_user_disabled", since, name)
            if found:
                run(connection, "drop_sessions_of", name, b"")
        return found

    def remove(self, name: str, entry: AuditEntry) -> bool:
        """Remove a user, and with them their sessions."""
        return self._database.change(entry, "remove_user", name)


@repeatable
class LoginStore:
    """Passwords that are tried, and sessions."""

    def __init__(self, database: AccessDatabase) -> None:
        self._database = database

    def begin(self, subject: bytes, is_locked: Callable[[int, int], bool], now: int) -> bool:
        """Count a failure of a subject beforehand, unless it is locked; return whether to try.

        Args:
            subject: A hash of the name and the address.
            is_locked: Of the number of failures, and when the last one was.
            now: The time.
        """
        with self._database.write(durable=False) as connection:
            found = first(connection, "attempt", subject)
            if found is not None and is_locked(found[0], found[1]):
                return False
            run(connection, "count_attempt", subject, now)
        return True

    def failures(self, subject: bytes) -> tuple[int, int]:
        """Return how often a subject has failed, and when it last did."""
        for failures, last in self._database.rows("attempt", subject):
            return failures, last
        return 0, 0

    def start(
        self,
        user: User,
        password_hash: str,
        secret_hash: bytes,
        subject: bytes,
        entry: AuditEntry,
    ) -> bool:
        """Start a session at the time of ``entry`` and forgive the subject.

        False where the user was disabled or removed or has another password by now.
        """
        values = (secret_hash, entry.at, user.name, password_hash)
        with self._database.write() as connection:
            started = self._database.change(entry, "add_session", *values)
            if started:
                run(connection, "drop_attempt", subject)
        return started

    def find(self, secret_hash: bytes) -> LoginSession | None:
        """Return a session."""
        for row in self._database.rows("session", secret_hash):
            *user, created, last_used = row
            return LoginSession(_user(user), created, last_used)
        return None

    def touch(self, secret_hash: bytes, now: int) -> None:
        """Write when a session was used."""
        with self._database.write(durable=False) as connection:
            run(connection, "touch_session", now, secret_hash)

    def end(self, secret_hash: bytes) -> str:
        """End a session; return the name of its user, or nothing where there is none."""
        with self._database.write() as connection:
            row = first(connection, "drop_session", secret_hash)
        return "" if row is None else str(row[0])

    def drop_old(self, created: int, last_used: int, attempted: int) -> None:
        """Forget sessions created or last used at these times or earlier, and old failures."""
        with self._database.write(durable=False) as connection:
            run(connection, "drop_old_sessions", created, last_used)
            run(connection, "drop_old_attempts", attempted)


def _json(names: tuple[str, ...] | None) -> str | None:
    return None if names is None else json.dumps(names)


def _names(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(json.loads(text))


def _key(row: Row) -> ApiKey:
    key_id, label, level, workspaces, shelves, personas, *rest = row
    limits = (_names(workspaces), _names(shelves), _names(personas))
    return ApiKey(key_id, label, AccessLevel(level), *limits, *rest)


def _user(row: Row) -> User:
    name, level, workspaces, shelves, personas, *rest = row
    limits = (_names(workspaces), _names(shelves), _names(personas))
    return User(name, AccessLevel(level), *limits, *rest)
