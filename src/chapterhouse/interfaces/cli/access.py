"""Commands about who may use the home over the network: key, user, audit."""

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Final

import typer

from chapterhouse.errors import UsageError
from chapterhouse.interfaces.cli.envelope import plain
from chapterhouse.interfaces.cli.interrupts import loading
from chapterhouse.interfaces.cli.options import (
    DryRun,
    Yes,
    argument,
    common,
    flag,
    group,
    option,
)
from chapterhouse.interfaces.cli.session import Outcome, may_ask, named_home, require_yes
from chapterhouse.interfaces.cli.terminal import moment
from chapterhouse.presenting.blocks import Style, TerminalBlock, table, verbatim
from chapterhouse.types import AccessLevel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from chapterhouse.library.access import Access
    from chapterhouse.types import ApiKey, AuditEntry, User

_BY: Final = "command line"
_DAY: Final = 86_400  # seconds
_LONGEST_INPUT: Final = 4_096  # bytes; more than any password has

keys = group("Make, list and revoke keys, with which programs use the home over the network.")
users = group("Add, list and remove people who log in with a name and a password.")

KeyId = Annotated[str, argument("KEY", "The id of a key, as ch_1a2b3c4d.")]
UserName = Annotated[str, argument("NAME", "The name of a user.")]
Level = Annotated[
    AccessLevel,
    typer.Option("--level", help="How much is permitted; each level includes those before it."),
]
In = Annotated[
    list[str] | None,
    option("--in", "WORKSPACE", "A workspace that is permitted; repeatable. Else --workspace."),
]
Everywhere = Annotated[bool, flag("--all-workspaces", "All workspaces, later ones included.")]
PasswordFromInput = Annotated[
    bool, flag("--password-stdin", "Read the password from standard input; do not ask for it.")
]


@contextmanager
def _opened() -> "Iterator[Access]":
    """Open what says who may use the home that the common options name."""
    with loading():
        from chapterhouse.library.opening import open_access  # noqa: PLC0415 - heavy, --help needs none of it
    access = open_access(named_home())
    try:
        yield access
    finally:
        access.close()


def _workspaces(named: list[str] | None, *, everywhere: bool) -> list[str] | None:
    """Return the workspaces that are permitted; None for all."""
    if everywhere and named:
        raise typer.BadParameter("--in and --all-workspaces exclude each other.")
    return None if everywhere else named or [common().workspace]


# --- keys ---------------------------------------------------------------------------------------


@keys.command("create")
def create_key(
    label: Annotated[str, argument("LABEL", "What the key is for.")],
    *,
    level: Level = AccessLevel.READ,
    in_: In = None,
    everywhere: Everywhere = False,
    shelf: Annotated[
        list[str] | None, option("--shelf", "NAME", "Only documents on this shelf; repeatable.")
    ] = None,
    persona: Annotated[
        list[str] | None, option("--persona", "NAME", "Only this persona; repeatable.")
    ] = None,
    days: Annotated[
        int, option("--days", "N", "Days until it ends; 0 for never.", least=0, most=36_500)
    ] = 0,
) -> Outcome:
    """Make a key, and print its secret: this once."""
    workspaces = _workspaces(in_, everywhere=everywhere)
    expires = int(time.time()) + days * _DAY if days else 0
    with _opened() as access:
        made = access.create_key(
            label,
            level,
            workspaces,
            shelves=shelf or None,
            personas=persona or None,
            expires=expires,
            by=_BY,
        )
    if not common().json:
        typer.echo(f"The key {made.key.id} is not shown again: store it now.", err=True)
    return Outcome({**plain(made.key), "secret": made.secret}, [verbatim(made.secret)])


@keys.command("list")
def list_keys() -> Outcome:
    """List the keys, newest first, also those that are revoked or expired."""
    with _opened() as access:
        found = access.keys()
    now = int(time.time())
    data = [{**plain(key), "active": key.is_active(now)} for key in found]
    return Outcome(data, _table_of_keys(found, now))


@keys.command("revoke")
def revoke_key(key: KeyId, *, yes: Yes = False, dry_run: DryRun = False) -> Outcome:
    """Revoke a key at once and for good, also for servers that run.

    Asks first. Off a terminal, and with --json, it does nothing without --yes: exit code 10.
    """
    with _opened() as access:
        found = access.find_key(key)
        if not dry_run:
            if not yes:
                require_yes(f"Revoke the key {found.id} ({found.label})")
            found = access.revoke_key(found.id, by=_BY)
    what = "would be revoked" if dry_run else "is revoked"
    shown = verbatim("The key ", (found.id, Style.STRONG), f" ({found.label}) {what}.")
    return Outcome({"key": found, "dry_run": dry_run}, [shown])


# --- users --------------------------------------------------------------------------------------


@users.command("add")
def add_user(
    name: UserName,
    *,
    level: Level = AccessLevel.READ,
    in_: In = None,
    everywhere: Everywhere = False,
    password_stdin: PasswordFromInput = False,
) -> Outcome:
    """Add a user. The password is asked for, or read from standard input."""
    workspaces = _workspaces(in_, everywhere=everywhere)
    password = _read_password(from_input=password_stdin)
    with _opened() as access:
        user = access.create_user(name, password, level, workspaces, by=_BY)
    return Outcome(user, _changed(user, "is added"))


@users.command("list")
def list_users() -> Outcome:
    """List the users, by name."""
    with _opened() as access:
        found = access.users()
    return Outcome(found, _table_of_users(found))


@users.command("password")
def set_password(name: UserName, *, password_stdin: PasswordFromInput = False) -> Outcome:
    """Change the password of a user, and end their sessions."""
    with _opened() as access:
        user = access.find_user(name)
        access.set_password(user.name, _read_password(from_input=password_stdin), by=_BY)
    return Outcome(user, _changed(user, "has another password"))


@users.command("disable")
def disable_user(name: UserName) -> Outcome:
    """Let a user log in no more, and end their sessions."""
    return _change(lambda access: access.disable_user(name, by=_BY), "is disabled")


@users.command("enable")
def enable_user(name: UserName) -> Outcome:
    """Let a user who was disabled log in again."""
    return _change(lambda access: access.enable_user(name, by=_BY), "is enabled")


@users.command("remove")
def remove_user(name: UserName, *, yes: Yes = False, dry_run: DryRun = False) -> Outcome:
    """Remove a user, and end their sessions.

    Asks first. Off a terminal, and with --json, it does nothing without --yes: exit code 10.
    """
    with _opened() as access:
        user = access.find_user(name)
        if not dry_run:
            if not yes:
                require_yes(f"Remove the user {user.name}")
            access.remove_user(user.name, by=_BY)
    what = "would be removed" if dry_run else "is removed"
    return Outcome({"user": user, "dry_run": dry_run}, _changed(user, what))


def _change(change: "Callable[[Access], User]", what: str) -> Outcome:
    with _opened() as access:
        user = change(access)
    return Outcome(user, _changed(user, what))


def _read_password(*, from_input: bool) -> str:
    """Return a password that was typed twice, or the first line of standard input."""
    if from_input:
        line = sys.stdin.buffer.readline(_LONGEST_INPUT)
        try:
            return line.decode().removesuffix("\n").removesuffix("\r")
        except UnicodeDecodeError as error:
            raise UsageError("The password on standard input is not in UTF-8.") from error
    if not may_ask():
        raise UsageError(
            "Nobody can be asked for the password.", hint="Pipe it in, with --password-stdin."
        )
    prompt = "Password (it is not shown)"
    return str(typer.prompt(prompt, hide_input=True, confirmation_prompt=True, err=True))


# --- the audit log ------------------------------------------------------------------------------


def audit(
    *,
    limit: Annotated[int, option("--limit", "N", "Entries at most.", least=1, most=100_000)] = 50,
    before: Annotated[
        int, option("--before", "ID", "Only entries before this one; 0 for all.", least=0)
    ] = 0,
    actor: Annotated[
        str, option("--actor", "NAME", "Only what this key or user did, as “user ada”.")
    ] = "",
) -> Outcome:
    """List what was changed and refused, newest first, in all workspaces."""
    with _opened() as access:
        found = access.entries(limit, before, actor=actor or None)
    return Outcome(found, _table_of_entries(found))


# --- what is shown ------------------------------------------------------------------------------


def _table_of_keys(found: "Sequence[ApiKey]", now: int) -> "Iterator[TerminalBlock]":
    rows = (
        (
            key.id,
            key.label,
            key.level.value,
            _names(key.workspaces),
            _limits(key),
            _state(key, now),
            moment(key.last_used),
        )
        for key in found
    )
    header = ("id", "label", "level", "workspaces", "limits", "state", "last used")
    return table(header, rows, none="No keys. Make one: chapterhouse key create LABEL", whole={0})


def _table_of_users(found: "Sequence[User]") -> "Iterator[TerminalBlock]":
    rows = (
        (
            user.name,
            user.level.value,
            _names(user.workspaces),
            f"disabled {moment(user.disabled)}" if user.disabled else "active",
            moment(user.created),
        )
        for user in found
    )
    header = ("name", "level", "workspaces", "state", "created")
    return table(header, rows, none="No users. Add one: chapterhouse user add NAME", whole={0})


def _changed(user: "User", what: str) -> "Iterator[TerminalBlock]":
    where = "all workspaces" if user.workspaces is None else _names(user.workspaces)
    yield verbatim("User ", (user.name, Style.STRONG), f" ({user.level.value}, {where}) {what}.")


def _table_of_entries(found: "Sequence[AuditEntry]") -> "Iterator[TerminalBlock]":
    rows = (
        (
            str(entry.id),
            moment(entry.at),
            entry.actor,
            entry.action,
            entry.target,
            entry.outcome.value,
            entry.workspace,
            entry.address,
        )
        for entry in found
    )
    header = ("id", "time", "who", "what", "of", "outcome", "workspace", "address")
    return table(header, rows, none="No entries.", whole={0})


def _names(names: tuple[str, ...] | None) -> str:
    return "all" if names is None else ", ".join(names) or "none"


def _limits(key: "ApiKey") -> str:
    limits = (("shelves", key.shelves), ("personas", key.personas))
    return "; ".join(f"{word}: {_names(names)}" for word, names in limits if names is not None)


def _state(key: "ApiKey", now: int) -> str:
    if key.revoked:
        return f"revoked {moment(key.revoked)}"
    if not key.is_active(now):
        return "expired"
    return f"until {moment(key.expires)}" if key.expires else "active"
