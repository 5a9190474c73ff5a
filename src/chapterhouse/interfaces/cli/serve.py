"""Commands that serve the library to other programs: serve, mcp."""

import json as json_text
import logging
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from chapterhouse.errors import UsageError
from chapterhouse.interfaces.cli.options import COMMON, common, flag, option
from chapterhouse.interfaces.cli.session import Outcome, named_home, opened_library
from chapterhouse.loading import lazy
from chapterhouse.presenting.blocks import Raw

if TYPE_CHECKING:
    from chapterhouse.interfaces import owner_key
    from chapterhouse.interfaces.api import serving, state
    from chapterhouse.interfaces.mcp import over_stdio
    from chapterhouse.reading import pool
else:
    owner_key = lazy("chapterhouse.interfaces.owner_key")
    serving = lazy("chapterhouse.interfaces.api.serving")
    state = lazy("chapterhouse.interfaces.api.state")
    pool = lazy("chapterhouse.reading.pool")
    over_stdio = lazy("chapterhouse.interfaces.mcp.over_stdio")

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
    memory: Annotated[bool, flag("--memory", "Remember questions, answers and meetings.")] = False,
    workers: Annotated[
        int,
        option("--workers", "N", "How many processes answer; one for each core.", least=1, most=64),
    ] = 1,
) -> Outcome:
    """Serve the home over HTTP: the REST API, MCP and the protocol of OpenAI's clients.

    It serves this machine alone until it is stopped, and lets in who shows the key in owner.key, a
    file of the home that the server makes. For other machines, make a key (chapterhouse key
    create), and name the address and the host name.
    """
    _log_requests()
    address = serving.Address(host, port, tuple(allow_host or ()), tuple(allow_origin or ()))

    with opened_library(create=True) as library:
        home = library.home
    key = f"The key is in {home / owner_key.NAME}. " if address.is_local else ""

    def announce(url: str) -> None:
        served_at = f"Serving {url}/api, {url}/v1 and {url}/mcp."
        typer.echo(f"{served_at} {key}Stop it with Ctrl-C.", err=True)
        typer.echo(pool.describe_readers(), err=True)

    options = state.ServerOptions(remember=memory, processes=workers)
    serving.serve(home, address, options, announce, _log_settings())
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
    if over_stdio.serve(home, workspace, remember=remember):
        raise KeyboardInterrupt
    return _nothing()


def _client_config(*, http: bool, memory: bool) -> Outcome:
    """Return the entry that most clients take into their configuration file."""
    entry: dict[str, object]
    if http:
        key = owner_key.read_owner_key(named_home()) or "ch_…"
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
