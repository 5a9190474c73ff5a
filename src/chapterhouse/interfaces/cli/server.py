"""Commands that serve the home to others, and say who they are: serve, mcp, key, user, audit."""

import json as json_text
import logging
import secrets
import sys
import time
import webbrowser
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from chapterhouse import lazy
from chapterhouse.errors import UsageError
from chapterhouse.interfaces.cli.envelope import plain
from chapterhouse.interfaces.cli.interrupts import loading
from chapterhouse.interfaces.cli.options import (
    COMMON,
    DryRun,
    Yes,
    argument,
    common,
    flag,
    group,
    option,
)
from chapterhouse.interfaces.cli.session import (
    Outcome,
    may_ask,
    named_home,
    opened_library,
    require_yes,
)
from chapterhouse.presenting.blocks import Raw, Style, TerminalBlock, table, verbatim
from chapterhouse.presenting.wording import moment
from chapterhouse.types import AccessLevel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from chapterhouse.interfaces import admission, serving
    from chapterhouse.interfaces.api import state
    from chapterhouse.interfaces.mcp import server as mcp_server
    from chapterhouse.library.access import Access
    from chapterhouse.reading import pool
    from chapterhouse.types import ApiKey, User
else:
    admission = lazy("chapterhouse.interfaces.admission")
    serving = lazy("chapterhouse.interfaces.serving")
    state = lazy("chapterhouse.interfaces.api.state")
    pool = lazy("chapterhouse.reading.pool")
    mcp_server = lazy("chapterhouse.interfaces.mcp.server")


_HOST, _PORT = "127.0.0.1", 8431
_LOG_LINE = "%(asctime)s %(name)s: %(message)s"


def serve(
    *,
    host: Annotated[str, option("--host", "ADDRESS", "Where to listen.")] = _HOST,
    port: Annotated[
        int,
        option("--port", "N", "Where to listen; 0: any that is free.", least=0, most=65535),
    ] = _PORT,
    allow_host: Annotated[
        list[str] | None,
        option("--allow-host", "NAME", "Another host name that clients may use; repeatable."),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        option(
            "--allow-origin",
            "ORIGIN",
            "The web origin at which a proxy shows this server, so that pages there may call it. "
            "It is no CORS: pages of other sites cannot. Repeatable.",
        ),
    ] = None,
    open_: Annotated[
        bool, flag("--open", "Open the page in your browser, signed in as the owner.")
    ] = False,
    memory: Annotated[bool, flag("--memory", "Remember questions, answers and meetings.")] = False,
    workers: Annotated[
        int,
        option("--workers", "N", "How many processes answer; one for each core.", least=1, most=64),
    ] = 1,
) -> Outcome:
    """Serve the home over HTTP: the page, the API, MCP and what OpenAI's clients speak.

    It serves this machine alone until it is stopped, and lets in who shows the key in owner.key, a
    file of the home that the server makes. For other machines, make a key (chapterhouse key
    create), and name the address and the host name.
    """
    _log_requests()
    address = serving.Address(host, port, tuple(allow_host or ()), tuple(allow_origin or ()))
    if open_ and not address.is_local:
        raise UsageError(
            "--open signs a browser in as the owner, where only this machine can call.",
            hint="Leave --host and --allow-host out, or open the address and sign in.",
        )
    entrance = secrets.token_urlsafe() if address.is_local else ""

    with opened_library(create=True) as library:
        home = library.home
    key = f"The key is in {home / admission.OWNER_KEY}. " if address.is_local else ""

    def announce(url: str) -> None:
        served_at = f"Serving {url}/api, {url}/v1 and {url}/mcp."
        typer.echo(f"{served_at} {key}Stop it with Ctrl-C.", err=True)
        way_in = f"{url}/enter?code={entrance}" if entrance else url
        typer.echo(f"The page: {way_in}" + " (this link works once)" * bool(entrance), err=True)
        typer.echo(pool.describe_readers(), err=True)
        if open_ and not webbrowser.open(way_in):
            typer.echo("No browser could be opened: follow the link.", err=True)

    options = state.ServerOptions(remember=memory, processes=workers)
    serving.serve(home, address, options, announce, _log_settings(), entrance)
    return _nothing()


def mcp(
    *,
    memory: Annotated[bool, flag("--memory", "Remember questions, answers and meetings.")] = False,
    http: Annotated[
        bool, flag("--http", "With --config: for a server that “chapterhouse serve” started.")
    ] = False,
    config: Annotated[bool, flag("--config", "Print what clients need to know, and stop.")] = False,
) -> Outcome:
    """Serve the library over standard input and output to clients that speak MCP.

    Clients start it, and it ends with them. They only read, unless --memory is given. Over HTTP,
    “chapterhouse serve” speaks the Model Context Protocol, too.
    """
    if http and not config:
        raise UsageError(
            "Over HTTP, MCP is a part of the server.", hint="Start it: chapterhouse serve"
        )
    # On standard output there is nothing but the protocol, so errors are told as text.
    COMMON.set(replace(common(), json=common().json and config))
    if config:
        return _client_config(http=http, memory=memory)
    with opened_library(create=True) as library:
        home, workspace = library.home, library.workspace
    _log_plainly()
    return _serve_stdio(home, workspace, remember=memory)


def _log_requests() -> None:
    """Write the log on standard error with a line for each request, unless --quiet is given."""
    _log_plainly(_LOG_LINE)
    if not common().quiet:
        logging.getLogger("chapterhouse.access").setLevel(logging.INFO)


def _log_settings() -> dict[str, Any]:
    """Return how another process writes the same log, as ``logging.config`` takes it."""
    names = ("chapterhouse", "chapterhouse.access")
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"format": _LOG_LINE}},
        "handlers": {"error": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"level": logging.WARNING, "handlers": ["error"]},
        "loggers": {name: {"level": logging.getLogger(name).level} for name in names},
    }


def _log_plainly(form: str = "%(name)s: %(message)s") -> None:
    """Write the log on standard error; with --debug all of ours, tracebacks included."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format=form)
    if common().debug:
        logging.getLogger("chapterhouse").setLevel(logging.DEBUG)


def _serve_stdio(home: Path, workspace: str, *, remember: bool) -> Outcome:
    if sys.stdin.isatty():
        typer.echo(
            "Clients start this server and speak to it over standard input and output; see "
            "chapterhouse mcp --config. Stop it with Ctrl-C.",
            err=True,
        )
    if mcp_server.serve(home, workspace, remember=remember):
        raise KeyboardInterrupt
    return _nothing()


def _client_config(*, http: bool, memory: bool) -> Outcome:
    """Return the entry that most clients take into their configuration file."""
    entry: dict[str, object]
    if http:
        key = admission.read_owner_key(named_home()) or "ch_…"
        entry = {
            "type": "http",
            "url": f"http://{_HOST}:{_PORT}/mcp",
            "headers": {"Authorization": f"Bearer {key}"},
        }
    else:
        arguments = ["-m", "chapterhouse", "mcp", "--home", str(named_home())]
        arguments += ["--workspace", common().workspace] if common().workspace != "default" else []
        arguments += ["--memory"] if memory else []
        entry = {"command": sys.executable, "args": arguments}
    shown = {"mcpServers": {"chapterhouse": entry}}
    return Outcome(shown, [Raw(json_text.dumps(shown, indent=2, ensure_ascii=True))])


def _nothing() -> Outcome:
    return Outcome({}, ())


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
Shelves = Annotated[
    list[str] | None, option("--shelf", "NAME", "Only documents on this shelf; repeatable.")
]
Personas = Annotated[
    list[str] | None, option("--persona", "NAME", "Only this persona; repeatable.")
]
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
    shelf: Shelves = None,
    persona: Personas = None,
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
    shelf: Shelves = None,
    persona: Personas = None,
    password_stdin: PasswordFromInput = False,
) -> Outcome:
    """Add a user. The password is asked for, or read from standard input."""
    workspaces = _workspaces(in_, everywhere=everywhere)
    password = _read_password(from_input=password_stdin)
    with _opened() as access:
        user = access.create_user(
            name,
            password,
            level,
            workspaces,
            shelves=shelf or None,
            personas=persona or None,
            by=_BY,
        )
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
    shown = table(
        found,
        ("id", lambda entry: str(entry.id)),
        ("time", lambda entry: moment(entry.at)),
        ("who", lambda entry: entry.actor),
        ("what", lambda entry: entry.action),
        ("of", lambda entry: entry.target),
        "outcome",
        "workspace",
        "address",
        none="No entries.",
        whole={0},
    )
    return Outcome(found, shown)


# --- what is shown ------------------------------------------------------------------------------


def _table_of_keys(found: "Sequence[ApiKey]", now: int) -> "Iterator[TerminalBlock]":
    return table(
        found,
        "id",
        "label",
        "level",
        ("workspaces", lambda key: _names(key.workspaces)),
        ("limits", _limits),
        ("state", lambda key: _state(key, now)),
        ("last used", lambda key: moment(key.last_used)),
        none="No keys. Make one: chapterhouse key create LABEL",
        whole={0},
    )


def _table_of_users(found: "Sequence[User]") -> "Iterator[TerminalBlock]":
    return table(
        found,
        "name",
        "level",
        ("workspaces", lambda user: _names(user.workspaces)),
        ("limits", _limits),
        ("state", lambda one: f"disabled {moment(one.disabled)}" if one.disabled else "active"),
        ("created", lambda user: moment(user.created)),
        none="No users. Add one: chapterhouse user add NAME",
        whole={0},
    )


def _changed(user: "User", what: str) -> "Iterator[TerminalBlock]":
    where = "all workspaces" if user.workspaces is None else _names(user.workspaces)
    permitted = ", ".join(filter(None, (user.level.value, where, _limits(user))))
    yield verbatim("User ", (user.name, Style.STRONG), f" ({permitted}) {what}.")


def _names(names: tuple[str, ...] | None) -> str:
    return "all" if names is None else ", ".join(names) or "none"


def _limits(one: "ApiKey | User") -> str:
    limits = (("shelves", one.shelves), ("personas", one.personas))
    return "; ".join(f"{word}: {_names(names)}" for word, names in limits if names is not None)


def _state(key: "ApiKey", now: int) -> str:
    if key.revoked:
        return f"revoked {moment(key.revoked)}"
    if not key.is_active(now):
        return "expired"
    return f"until {moment(key.expires)}" if key.expires else "active"
