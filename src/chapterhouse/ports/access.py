"""Who may use a home over the network: what has to be stored of keys, users and what they did.

What changes something takes an entry for the audit log, which is written in the same transaction.
Times are seconds since 1970. Where nothing was ever written, nothing is found.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from chapterhouse.types import ApiKey, AuditEntry, LoginSession, User


class ApiKeys(Protocol):
    """Keys of programs. Secrets are known by their hashes."""

    def add(self, key: ApiKey, secret_hash: bytes, entry: AuditEntry) -> bool:
        """Add a key; False where there is one of its id."""
        ...

    def all(self) -> Sequence[ApiKey]:
        """Return all keys, newest first."""
        ...

    def find(self, key_id: str) -> tuple[ApiKey, bytes] | None:
        """Return a key as it is at this moment, with the hash of its secret."""
        ...

    def revoke(self, key_id: str, entry: AuditEntry) -> bool:
        """Revoke a key; False where there is none, or it is revoked already."""
        ...

    def touch(self, key_id: str, now: int) -> None:
        """Write when a key was used."""
        ...


class Users(Protocol):
    """People with passwords. Capital and small letters of a name are the same."""

    def add(self, user: User, password_hash: str, entry: AuditEntry) -> bool:
        """Add a user; False where there is one of this name."""
        ...

    def all(self) -> Sequence[User]:
        """Return all users, by name."""
        ...

    def find(self, name: str) -> tuple[User, str] | None:
        """Return a user with the hash of their password."""
        ...

    def set_password(
        self, name: str, password_hash: str, entry: AuditEntry, spared: bytes = b""
    ) -> bool:
        """Change a password and end the user's sessions, but the one of which the hash is given."""
        ...

    def rehash(self, name: str, before: str, after: str) -> None:
        """Replace the hash of a password by another of the same, unless it changed meanwhile."""
        ...

    def set_disabled(self, name: str, since: int, entry: AuditEntry) -> bool:
        """Disable a user and end their sessions, or enable them again where ``since`` is 0."""
        ...

    def remove(self, name: str, entry: AuditEntry) -> bool:
        """Remove a user and end their sessions; False where there is none of this name."""
        ...


class Logins(Protocol):
    """Passwords that are tried, and the sessions of those that were right."""

    def begin(self, subject: bytes, is_locked: Callable[[int, int], bool], now: int) -> bool:
        """Count a failure beforehand, unless the subject is locked, in one transaction.

        Args:
            subject: A hash of the name and the address.
            is_locked: Of the number of failures, and when the last one was.
            now: The time.

        Returns:
            Whether the password may be tried.
        """
        ...

    def failures(self, subject: bytes) -> tuple[int, int]:
        """Return how often a subject has failed, and when it last did."""
        ...

    def start(
        self,
        user: User,
        password_hash: str,
        secret_hash: bytes,
        subject: bytes,
        entry: AuditEntry,
    ) -> bool:
        """Start a session at the time of ``entry``, and forget the failures of the subject.

        Returns:
            False where the user was disabled or removed or has another password by now.
        """
        ...

    def find(self, secret_hash: bytes) -> LoginSession | None:
        """Return a session as it is at this moment."""
        ...

    def touch(self, secret_hash: bytes, now: int) -> None:
        """Write when a session was used."""
        ...

    def end(self, secret_hash: bytes) -> str:
        """End a session; return the name of its user, or nothing where there is none."""
        ...

    def drop_old(self, created: int, last_used: int, attempted: int) -> None:
        """Forget sessions created or last used at these times or earlier, and old failures."""
        ...


class AuditLog(Protocol):
    """What was done and refused; entries are added and, when they are old, dropped."""

    def record(self, entry: AuditEntry) -> None:
        """Add an entry."""
        ...

    def entries(
        self, limit: int, before: int, workspace: str | None, actor: str | None
    ) -> Sequence[AuditEntry]:
        """Return at most ``limit`` entries, newest first, with ids below ``before`` unless 0."""
        ...
