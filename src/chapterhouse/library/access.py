"""Who may use a home over the network: keys, users, sessions, and what they did.

Nothing is remembered in the process: each question is answered from the database, so that a key
that is revoked, or a user who is disabled, is refused everywhere at once.
"""

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from chapterhouse.errors import ChapterhouseError, NotFoundError, UsageError
from chapterhouse.library.passwords import FORGOTTEN_AFTER, Passwords, seconds_left, subject_of
from chapterhouse.store.access import AccessDatabase, ApiKeyStore, AuditStore, LoginStore, UserStore
from chapterhouse.text.naming import printable_name, valid_name
from chapterhouse.types import (
    AccessLevel,
    ApiKey,
    AuditEntry,
    AuditOutcome,
    Grant,
    User,
)

IDLE_SECONDS: Final = 12 * 3_600  # after which a session that nobody uses is over
SESSION_SECONDS: Final = 7 * 86_400  # after which every session is
_SECRET_BYTES: Final = 32
_PREFIX_BYTES: Final = 4
_MINUTE: Final = 60
LABEL_CHARACTERS: Final = 100
_KEY: Final = re.compile(r"(ch_[0-9a-f]{8})_[A-Za-z0-9_-]{43}")
_KEY_ID: Final = re.compile(r"ch_[0-9a-f]{8}")
_SESSION: Final = re.compile(r"[A-Za-z0-9_-]{43}")


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key that was just made, with its secret, which is nowhere else."""

    key: ApiKey
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class NewSession:
    """What a browser gets when its user has logged in.

    Attributes:
        secret: For the cookie alone; only its hash is stored.
        expires: When it ends at the latest, in seconds since 1970.
    """

    secret: str = field(repr=False, metadata={"exclude": True})
    expires: int


class Access:
    """Who may use a home. Safe to share between threads; several processes may use one home.

    What changes something takes who does it, ``by``, for the audit log, and raises ReadOnlyError
    where the home can only be read; what names a user that there is not, NotFoundError.
    """

    def __init__(
        self, database: AccessDatabase, passwords: Passwords, now: Callable[[], int]
    ) -> None:
        """Work with a database, which ``close`` closes; times are seconds since 1970."""
        self._keys = ApiKeyStore(database)
        self._users = UserStore(database)
        self._logins = LoginStore(database)
        self._audit = AuditStore(database)
        self._passwords = passwords
        self._now = now
        self.close = database.close

    def is_configured(self) -> bool:
        """Whether anybody can be let in: there is a user, or a key that is valid."""
        return self.has_users() or any(key.is_active(self._now()) for key in self._keys.all())

    # --- keys -----------------------------------------------------------------------------------

    def create_key(
        self,
        label: str,
        level: AccessLevel,
        workspaces: Sequence[str] | None,
        *,
        shelves: Sequence[str] | None = None,
        personas: Sequence[str] | None = None,
        expires: int = 0,
        by: str,
    ) -> NewKey:
        """Make a key. Its secret is returned once and stored nowhere.

        Args:
            label: What it is for, 1 to 100 characters.
            workspaces: In which workspaces; None for all, nothing of a list without any.
            shelves: With the documents of which shelves; None for every document.
            personas: Which personas may be asked; None for all.
            expires: When it ends, in seconds since 1970; 0 for never.

        Raises:
            UsageError: a name cannot be one, the label is empty or too long, or it has expired.
        """
        now = self._now()
        if 0 != expires <= now:
            raise UsageError("The key would have expired before it is made.")
        key = ApiKey(
            id="",
            label=check_label(label),
            level=level,
            workspaces=check_names("workspace", workspaces),
            shelves=check_names("shelf", shelves),
            personas=check_names("persona", personas),
            created=now,
            created_by=by,
            expires=expires,
        )
        while True:  # until the id is new
            key = replace(key, id=f"ch_{secrets.token_hex(_PREFIX_BYTES)}")
            secret = f"{key.id}_{secrets.token_urlsafe(_SECRET_BYTES)}"
            entry = AuditEntry(now, by, "key.create", f"{key.id} {describe(key.grant)}")
            if self._keys.add(key, _hash(secret), entry):
                return NewKey(key, secret)

    def keys(self) -> tuple[ApiKey, ...]:
        """Return all keys, newest first; those that are revoked or expired, too."""
        return tuple(self._keys.all())

    def find_key(self, key_id: str) -> ApiKey:
        """Return a key by its id.

        Raises:
            UsageError: it is no id; it is not repeated, for it may be the secret.
        """
        if _KEY_ID.fullmatch(key_id) is None:
            raise UsageError(
                "That is no id of a key.", hint="They look like ch_1a2b3c4d; see: key list"
            )
        found = self._keys.find(key_id)
        if found is None:
            raise NotFoundError(f"There is no key '{key_id}'.", hint="See: chapterhouse key list")
        return found[0]

    def revoke_key(self, key_id: str, *, by: str) -> ApiKey:
        """Revoke a key: nobody is let in with it any more, anywhere. Return it."""
        self.find_key(key_id)
        self._keys.revoke(key_id, AuditEntry(self._now(), by, "key.revoke", key_id))
        return self.find_key(key_id)

    def authenticate(self, secret: str) -> Grant | None:
        """Return what who has the secret of a key may do; None for nothing at all.

        What cannot be a secret is refused without a look at the disk.
        """
        match = _KEY.fullmatch(secret)
        found = self._keys.find(match[1]) if match else None
        if found is None:
            return None
        key, secret_hash = found
        now = self._now()
        if not hmac.compare_digest(_hash(secret), secret_hash) or not key.is_active(now):
            return None
        if now - key.last_used >= _MINUTE:
            _try_to(partial(self._keys.touch, key.id, now))
        return key.grant

    # --- users ----------------------------------------------------------------------------------

    def has_users(self) -> bool:
        """Whether there is any user, disabled ones included."""
        return bool(self._users.all())

    def create_user(
        self,
        name: str,
        password: str,
        level: AccessLevel,
        workspaces: Sequence[str] | None,
        *,
        shelves: Sequence[str] | None = None,
        personas: Sequence[str] | None = None,
        by: str,
    ) -> User:
        """Add a user.

        Args:
            name: Letters, digits, ``-`` and ``_``, at most 64; capital and small ones are the same.
            password: At least 12 characters, at most 1,000 bytes.
            workspaces, shelves, personas: As of a key.

        Raises:
            UsageError: the name or password cannot be one, or there is a user of this name.
        """
        now = self._now()
        user = User(
            name=check_name("user", name),
            level=level,
            workspaces=check_names("workspace", workspaces),
            shelves=check_names("shelf", shelves),
            personas=check_names("persona", personas),
            created=now,
            created_by=by,
        )
        entry = AuditEntry(now, by, "user.create", f"{name} {describe(user.grant)}")
        if not self._users.add(user, self._passwords.hash(password), entry):
            raise UsageError(
                f"There is a user '{name}' already.",
                hint=f"Another password: chapterhouse user password {name}",
            )
        return user

    def users(self) -> tuple[User, ...]:
        """Return all users, by name."""
        return tuple(self._users.all())

    def find_user(self, name: str) -> User:
        """Return a user."""
        found = self._users.find(name) if valid_name(name) else None
        if found is None:
            raise NotFoundError(f"There is no user '{name}'.", hint="See: chapterhouse user list")
        return found[0]

    def set_password(self, name: str, password: str, *, by: str, session: str = "") -> None:
        """Change a password and end the user's sessions, except the one with this secret."""
        entry = self._change(name, "user.password", by)
        spared = _hash(session) if session else b""
        fresh = self._passwords.hash(password)
        if not self._users.set_password(entry.target, fresh, entry, spared):
            self.find_user(name)  # raises: they were removed meanwhile

    def disable_user(self, name: str, *, by: str) -> User:
        """Let a user log in no more, and end their sessions. Return what they are then."""
        entry = self._change(name, "user.disable", by)
        self._users.set_disabled(entry.target, entry.at, entry)
        return self.find_user(name)

    def enable_user(self, name: str, *, by: str) -> User:
        """Let a user log in again. Return what they are then."""
        entry = self._change(name, "user.enable", by)
        self._users.set_disabled(entry.target, 0, entry)
        return self.find_user(name)

    def remove_user(self, name: str, *, by: str) -> None:
        """Remove a user, and end their sessions."""
        entry = self._change(name, "user.remove", by)
        self._users.remove(entry.target, entry)

    def _change(self, name: str, action: str, by: str) -> AuditEntry:
        return AuditEntry(self._now(), by, action, self.find_user(name).name)

    # --- sessions -------------------------------------------------------------------------------

    def log_in(self, name: str, password: str, address: str = "") -> NewSession | None:
        """Start a session for a user whose password it is.

        Names that there are not are refused as wrong passwords are, and as slowly. After five
        failures of a name from an address there is a pause, which doubles with each further one,
        from half a minute to a quarter of an hour; they are forgotten after an hour without any.

        Args:
            address: Of the client; empty on this machine.

        Returns:
            None where the password is not theirs, they are disabled, or there is a pause.
        """
        now = self._now()
        subject = subject_of(name, address)
        self._logins.drop_old(now - SESSION_SECONDS, now - IDLE_SECONDS, now - FORGOTTEN_AFTER)
        if not self._logins.begin(subject, partial(_is_locked, now), now):
            return None
        found = self._users.find(name)
        user, stored = found or (None, None)
        actor = user.grant.name if user else ""
        entry = AuditEntry(now, actor, "user.log_in", user.name if user else "", address=address)
        matches = self._passwords.verify(stored, password)
        if matches and user is not None and stored is not None:
            stored = self._refresh_hash(user.name, stored, password)
            secret = secrets.token_urlsafe(_SECRET_BYTES)
            if self._logins.start(user, stored, _hash(secret), subject, entry):
                return NewSession(secret, now + SESSION_SECONDS)
        self._audit.record(replace(entry, actor="", outcome=AuditOutcome.REFUSED))
        return None

    def seconds_until_log_in(self, name: str, address: str = "") -> int:
        """Return for how long nobody can log in so; the same for names that there are not."""
        return seconds_left(*self._logins.failures(subject_of(name, address)), self._now())

    def authenticate_session(self, secret: str) -> Grant | None:
        """Return what the user of a session may do; None where it is over.

        What cannot be a secret is refused without a look at the disk.
        """
        secret_hash = _hash(secret) if _SESSION.fullmatch(secret) else b""
        found = self._logins.find(secret_hash) if secret_hash else None
        if found is None:
            return None
        now = self._now()
        if now - found.last_used >= IDLE_SECONDS or now - found.created >= SESSION_SECONDS:
            return None
        if now - found.last_used >= _MINUTE:
            _try_to(partial(self._logins.touch, secret_hash, now))
        return found.user.grant

    def log_out(self, secret: str) -> None:
        """End a session, if there is one."""
        name = self._logins.end(_hash(secret)) if _SESSION.fullmatch(secret) else ""
        if name:
            self.record(f"user {name}", "user.log_out", name)

    def _refresh_hash(self, name: str, stored: str, password: str) -> str:
        """Return the hash of a password that is right, made anew where its parameters are old."""
        if not self._passwords.is_outdated(stored):
            return stored
        fresh = self._passwords.rehash(password)
        self._users.rehash(name, stored, fresh)
        return fresh

    # --- what was done --------------------------------------------------------------------------

    def record(
        self,
        actor: str,
        action: str,
        target: str = "",
        outcome: AuditOutcome = AuditOutcome.DONE,
        *,
        workspace: str = "",
        address: str = "",
    ) -> None:
        """Add to the audit log what is done or refused now; arguments as of ``AuditEntry``.

        Of texts the first 200 characters are stored. The last 100,000 entries of what was done and
        the last 1,000 of what was refused stay, for 400 days.
        """
        now = self._now()
        self._audit.record(AuditEntry(now, actor, action, target, outcome, workspace, address))

    def entries(
        self,
        limit: int = 100,
        before: int = 0,
        workspace: str | None = None,
        actor: str | None = None,
    ) -> tuple[AuditEntry, ...]:
        """Return entries of the audit log, newest first.

        Args:
            before: Only those with a smaller id, to go on from the last one seen; 0 for all.
            workspace: Only those of a workspace; an empty text for those of the home.
            actor: Only what somebody did, by the name of their grant.
        """
        return tuple(self._audit.entries(limit, before, workspace, actor))


def _is_locked(now: int, failures: int, last: int) -> bool:
    return seconds_left(failures, last, now) > 0


def _hash(secret: str) -> bytes:
    """Return what is stored of a secret: it is random, so a plain hash tells nothing of it."""
    return hashlib.sha256(secret.encode()).digest()


def owner_session(key: str) -> str:
    """Return the secret of the session of who shows the key of the home's owner."""
    digest = hmac.new(key.encode(), b"session", hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def _try_to(note: Callable[[], None]) -> None:
    """Note when something was used, where that can be written: nobody is refused for that."""
    with suppress(ChapterhouseError):
        note()


# --- what is written into a grant -----------------------------------------------------------------


def check_label(label: str) -> str:
    """Return a label as it can be stored and shown."""
    shown = printable_name(label).strip()
    if not 0 < len(shown) <= LABEL_CHARACTERS:
        raise UsageError(f"The label of a key has 1 to {LABEL_CHARACTERS} characters.")
    return shown


def check_names(what: str, names: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return names in order, each once; None stays None."""
    if names is None:
        return None
    if isinstance(names, str):  # whose letters would be taken
        raise UsageError(f"Names of several are wanted, not the text '{names}'.")
    return tuple(sorted({check_name(what, name) for name in names}))


def check_name(what: str, name: str) -> str:
    """Return a name that can be one."""
    if not valid_name(name):
        raise UsageError(
            f"'{name}' cannot be the name of a {what}.",
            hint="Letters, digits, - and _, at most 64; the first is a letter or digit.",
        )
    return name


def describe(grant: Grant) -> str:
    """Return what a grant permits, for the audit log."""
    limits = (("in", grant.workspaces), ("shelves", grant.shelves), ("personas", grant.personas))
    parts = (f"{word} {','.join(names) or 'none'}" for word, names in limits if names is not None)
    return " ".join((grant.level.value, *parts))
