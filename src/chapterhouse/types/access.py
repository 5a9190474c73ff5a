"""Who may use a home over the network: keys, users, what they may do, and what was done."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from chapterhouse.types.documents import Scope


class AccessLevel(StrEnum):
    """How much somebody may do; each level includes those before it."""

    READ = "read"  # search, ask, convene
    WRITE = "write"  # add, change and remove documents, personas and councils
    ADMIN = "admin"  # settings, keys, users

    def includes(self, other: "AccessLevel") -> bool:
        """Whether who has this level may do what needs the other."""
        levels = tuple(AccessLevel)
        return levels.index(self) >= levels.index(other)


@dataclass(frozen=True, slots=True)
class Grant:
    """What one caller may do. An empty tuple means nothing, never everything.

    Attributes:
        name: Whose it is, for logs: ``key ch_1a2b3c4d`` or ``user ada``.
        shelves: With the documents of which shelves; None for every document.
        personas: Which personas they may ask; None for all.
    """

    name: str
    level: AccessLevel
    workspaces: tuple[str, ...] | None
    shelves: tuple[str, ...] | None = None
    personas: tuple[str, ...] | None = None

    @property
    def is_whole(self) -> bool:
        """Whether it is limited neither to shelves nor to personas."""
        return self.shelves is None and self.personas is None

    @property
    def scope(self) -> Scope:
        """Which documents it may see."""
        return Scope(self.shelves)

    def permits(self, level: AccessLevel, workspace: str) -> bool:
        """Whether it is enough for what needs ``level`` in ``workspace``."""
        return self.level.includes(level) and _permits(self.workspaces, (workspace,))

    def permits_persona(self, persona: str) -> bool:
        """Whether a persona may be asked, by its slug."""
        return _permits(self.personas, (persona,))

    def includes(self, other: "Grant") -> bool:
        """Whether it permits all that the other permits, so that it may give that to others."""
        return (
            self.level.includes(other.level)
            and _permits(self.workspaces, other.workspaces)
            and _permits(self.shelves, other.shelves)
            and _permits(self.personas, other.personas)
        )


def _permits(limit: tuple[str, ...] | None, names: Iterable[str] | None) -> bool:
    """Whether all of ``names`` are within a limit; None is no limit, and is all names."""
    return limit is None or (names is not None and set(names) <= set(limit))


@dataclass(frozen=True, slots=True)
class ApiKey:
    """What may be shown of a key; times are seconds since 1970.

    Attributes:
        id: With which the secret begins, such as ``ch_1a2b3c4d``.
        level, workspaces, shelves, personas: As in ``Grant``.
        expires: When it ends; 0: never.
        last_used: When it was last used, to the minute; 0: never.
    """

    id: str
    label: str
    level: AccessLevel
    workspaces: tuple[str, ...] | None
    shelves: tuple[str, ...] | None
    personas: tuple[str, ...] | None
    created: int
    created_by: str
    expires: int = 0
    revoked: int = 0
    last_used: int = 0

    @property
    def grant(self) -> Grant:
        """What who has it may do."""
        return Grant(f"key {self.id}", self.level, self.workspaces, self.shelves, self.personas)

    def is_active(self, now: int) -> bool:
        """Whether it is neither revoked nor expired."""
        return not self.revoked and (not self.expires or now < self.expires)


@dataclass(frozen=True, slots=True)
class User:
    """Somebody with a password; times are seconds since 1970.

    Attributes:
        name: Unique; capital and small letters are the same.
        level, workspaces, shelves, personas: As in ``Grant``.
        disabled: Since when they may not log in; 0: they may.
    """

    name: str
    level: AccessLevel
    workspaces: tuple[str, ...] | None
    shelves: tuple[str, ...] | None
    personas: tuple[str, ...] | None
    created: int
    created_by: str
    disabled: int = 0

    @property
    def grant(self) -> Grant:
        """What they may do."""
        return Grant(f"user {self.name}", self.level, self.workspaces, self.shelves, self.personas)


class AuditOutcome(StrEnum):
    """How something ended that was recorded."""

    DONE = "done"
    REFUSED = "refused"  # they may not
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """Something that was done or refused, without secrets and without content.

    Attributes:
        at: When, in seconds since 1970.
        actor: Who, as the name of a ``Grant``; empty: nobody known.
        action: What, such as ``key.create``.
        workspace: Where; empty: in the home.
        address: Of the client; empty: on this machine.
        id: Its place in the order; 0 before it is recorded.
    """

    at: int
    actor: str
    action: str
    target: str = ""
    outcome: AuditOutcome = AuditOutcome.DONE
    workspace: str = ""
    address: str = ""
    id: int = 0
