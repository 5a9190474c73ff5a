"""What people see of keys, users and the audit log."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from chapterhouse.presenting.blocks import Block, Columns, Style, verbatim
from chapterhouse.types import ApiKey, AuditEntry, User


def secret(text: str) -> Iterator[Block]:
    """Show the secret of a new key, and nothing else."""
    yield verbatim(text)


def keys(found: Sequence[ApiKey], now: int) -> Iterator[Block]:
    """List keys, a line each."""
    if not found:
        yield verbatim("No keys. Make one: chapterhouse key create LABEL")
        return
    rows = [("id", "label", "level", "workspaces", "limits", "state", "last used")]
    rows += [
        (
            key.id,
            key.label,
            key.level.value,
            _names(key.workspaces),
            _limits(key),
            _state(key, now),
            _time(key.last_used),
        )
        for key in found
    ]
    yield Columns(rows, whole={0})


def revoked(key: ApiKey, *, dry_run: bool) -> Iterator[Block]:
    """Say that a key is revoked, or would be."""
    what = "would be revoked" if dry_run else "is revoked"
    yield verbatim("The key ", (key.id, Style.STRONG), f" ({key.label}) {what}.")


def users(found: Sequence[User]) -> Iterator[Block]:
    """List users, a line each."""
    if not found:
        yield verbatim("No users. Add one: chapterhouse user add NAME")
        return
    rows = [("name", "level", "workspaces", "state", "created")]
    rows += [
        (
            user.name,
            user.level.value,
            _names(user.workspaces),
            f"disabled {_time(user.disabled)}" if user.disabled else "active",
            _time(user.created),
        )
        for user in found
    ]
    yield Columns(rows, whole={0})


def changed(user: User, what: str) -> Iterator[Block]:
    """Say what became of a user."""
    where = "all workspaces" if user.workspaces is None else _names(user.workspaces)
    yield verbatim("User ", (user.name, Style.STRONG), f" ({user.level.value}, {where}) {what}.")


def entries(found: Sequence[AuditEntry]) -> Iterator[Block]:
    """List entries of the audit log, a line each."""
    if not found:
        yield verbatim("No entries.")
        return
    rows = [("id", "time", "who", "what", "of", "outcome", "workspace", "address")]
    rows += [
        (
            str(entry.id),
            _time(entry.at),
            entry.actor,
            entry.action,
            entry.target,
            entry.outcome.value,
            entry.workspace,
            entry.address,
        )
        for entry in found
    ]
    yield Columns(rows, whole={0})


def _names(names: tuple[str, ...] | None) -> str:
    return "all" if names is None else ", ".join(names) or "none"


def _limits(key: ApiKey) -> str:
    limits = (("shelves", key.shelves), ("personas", key.personas))
    return "; ".join(f"{word}: {_names(names)}" for word, names in limits if names is not None)


def _state(key: ApiKey, now: int) -> str:
    if key.revoked:
        return f"revoked {_time(key.revoked)}"
    if not key.is_active(now):
        return "expired"
    return f"until {_time(key.expires)}" if key.expires else "active"


def _time(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC" if seconds else ""
