"""Keys, users and their sessions in the database of a home.

What changes something takes an entry for the audit log, which is written in the same transaction.
Times are seconds since 1970. Secrets are known by their hashes. Where nothing was ever written,
nothing is found.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass

from chapterhouse.store.access_database import AccessDatabase
from chapterhouse.store.statements import Row, first, run
from chapterhouse.types import AccessLevel, ApiKey, AuditEntry, User

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
    name, level, workspaces, created, created_by, disabled = row
    return User(name, AccessLevel(level), _names(workspaces), created, created_by, disabled)
