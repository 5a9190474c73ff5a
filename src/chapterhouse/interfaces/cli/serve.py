"""The command that serves the library to other programs: mcp."""

import json as json_text
import logging
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from chapterhouse.errors import MissingExtraError, UsageError
from chapterhouse.interfaces.cli.options import COMMON, common, flag, option
from chapterhouse.interfaces.cli.session import Outcome, named_home, opened_library
from chapterhouse.loading import is_installed, lazy
from chapterhouse.presenting.blocks import Raw

if TYPE_CHECKING:
    from chapterhouse.interfaces.mcp import over_http, over_stdio
    from chapterhouse.library import Library
else:
    over_http = lazy("chapterhouse.interfaces.mcp.over_http")
    over_stdio = lazy("chapterhouse.interfaces.mcp.over_stdio")

_HOST, _PORT = "127.0.0.1", 8431


def mcp(
    *,
    http: Annotated[
        bool, flag("--http", "Serve over HTTP; else over standard input and output.")
    ] = False,
    host: Annotated[str, option("--host", "ADDRESS", "Where to listen, with --http.")] = _HOST,
    port: Annotated[
        int,
        option(
            "--port", "N", "Where to listen, with --http; 0: any that is free.", least=0, most=65535
        ),
    ] = _PORT,
    allow_host: Annotated[
        list[str] | None,
        option("--allow-host", "NAME", "Another host name that clients may use; repeatable."),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        option("--allow-origin", "ORIGIN", "A web origin that may call the server; repeatable."),
    ] = None,
    memory: Annotated[bool, flag("--memory", "Remember questions, answers and meetings.")] = False,
    config: Annotated[bool, flag("--config", "Print what clients need to know, and stop.")] = False,
) -> Outcome:
    """Serve the library to clients that speak the Model Context Protocol.

    Clients only read, unless --memory is given. Over standard input and output it ends with its
    client; over HTTP it serves this machine alone until it is stopped.
    """
    over_http = (host, port, allow_host, allow_origin) != (_HOST, _PORT, None, None)
    if over_http and not http:
        raise typer.BadParameter("--host, --port and --allow-… are for --http.")
    # On standard output there is nothing but the protocol, so errors are told as text.
    COMMON.set(replace(common(), json=common().json and (http or config)))

    if config:
        return _client_config(http=http, host=host, port=port, memory=memory)
    _require_extra()
    with opened_library(create=True) as library:
        _log_plainly()
        if http:
            names, origins = tuple(allow_host or ()), tuple(allow_origin or ())
            return _serve_http(library, host, port, names, origins, remember=memory)
        return _serve_stdio(library, remember=memory)


def _require_extra() -> None:
    if not is_installed("mcp"):
        raise MissingExtraError("The MCP server", "mcp")


def _log_plainly() -> None:
    """Write the log on standard error; with --debug all of ours, tracebacks included."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(name)s: %(message)s")
    if common().debug:
        logging.getLogger("chapterhouse").setLevel(logging.DEBUG)


def _serve_stdio(library: "Library", *, remember: bool) -> Outcome:
    if sys.stdin.isatty():
        typer.echo(
            "Clients start this server and speak to it over standard input and output; see "
            "chapterhouse mcp --config. Stop it with Ctrl-C.",
            err=True,
        )
    if over_stdio.serve(library, remember=remember):
        raise KeyboardInterrupt
    return _nothing()


def _serve_http(
    library: "Library",
    host: str,
    port: int,
    names: tuple[str, ...],
    origins: tuple[str, ...],
    *,
    remember: bool,
) -> Outcome:
    address = over_http.Address(host, port, names, origins)

    def announce(url: str) -> None:
        if not over_http.is_loopback(host):
            typer.echo(
                "Other machines can read this library now, and there is no login yet: anyone who "
                f"can connect to {host} may ask.",
                err=True,
            )
        typer.echo(f"Serving MCP at {url}. Stop it with Ctrl-C.", err=True)

    over_http.serve(library, address, remember=remember, announce=announce)
    return _nothing()


def _client_config(*, http: bool, host: str, port: int, memory: bool) -> Outcome:
    """Return the entry that most clients take into their configuration file."""
    _require_extra()
    entry: dict[str, object]
    if http:
        if not port:
            raise UsageError("With --port 0 the address is only known once it is served.")
        name = f"[{host}]" if ":" in host else host
        entry = {"type": "http", "url": f"http://{name}:{port}/mcp"}
    else:
        arguments = ["-m", "chapterhouse", "mcp", "--home", str(named_home())]
        arguments += ["--workspace", common().workspace] if common().workspace != "default" else []
        arguments += ["--memory"] if memory else []
        entry = {"command": sys.executable, "args": arguments}
    shown = {"mcpServers": {"chapterhouse": entry}}
    return Outcome(shown, [Raw(json_text.dumps(shown, indent=2, ensure_ascii=True))])


def _nothing() -> Outcome:
    return Outcome({}, ())
