"""The tools of a server that speaks the Model Context Protocol, for as long as a meeting lasts.

The server is a program of the council's owner, started without a shell, in the council's folder,
with the environment that the protocol's SDK calls harmless and what the council names beside it.
The SDK's client runs in a thread with an event loop of its own. Leaving the context ends the
thread, and with it the server: its input is closed, and if that does not end it, its process group
is killed (https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#shutdown).
"""

import asyncio
import json
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

from chapterhouse.agents.declared_tools import McpServer
from chapterhouse.council.knowledge import escape_line
from chapterhouse.errors import EngineError, UsageError
from chapterhouse.loading import lazy
from chapterhouse.models.tools import reduce_schema
from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.types import Tool

if TYPE_CHECKING:
    import mcp
    from mcp.client import stdio
else:
    mcp = lazy("mcp")
    stdio = lazy("mcp.client.stdio")

_MOST_TOOLS: Final = 128
_LONGEST_DESCRIPTION: Final = 1_000
_ENDED_SECONDS: Final = 30.0  # the SDK needs at most seven
_NOT_IN_NAMES: Final = re.compile(r"\W", re.ASCII)


@contextmanager
def mcp_tools(server: McpServer, folder: Path) -> Iterator[tuple[Tool, ...]]:
    """Start a server and yield its tools, those of them that are wanted; end it afterwards.

    Args:
        server: As the council declares it.
        folder: In which it runs.

    Raises:
        EngineError: it does not start, or does not speak the protocol.
        UsageError: it has no tool of a name that is wanted.
    """
    running = _Running(server, folder)
    try:
        yield tuple(_chosen(running.start(), server, running.call))
    finally:
        running.close()


class _Running:
    """A server that runs, and the thread in which it is spoken to."""

    def __init__(self, server: McpServer, folder: Path) -> None:
        self._server = server
        self._folder = folder
        self._ready: Future[Sequence[Any]] = Future()
        self._loop = asyncio.new_event_loop()
        self._client: mcp.Client | None = None
        self._main: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=self._run, name=f"mcp {server.command}")

    def start(self) -> Sequence[Any]:
        """Return the tools that the server lists."""
        self._thread.start()
        try:
            return self._ready.result(self._server.timeout_seconds)
        except TimeoutError:
            reason = f"it said nothing for {self._server.timeout_seconds:g} seconds"
        except Exception as error:  # noqa: BLE001 - whatever a server does, it is told of
            reason = _innermost(error)
        raise EngineError(
            f"The tools of {self._server.line} cannot be used: {reason}.",
            hint="Run the command by hand to see what is wrong with it.",
        )

    def call(self, name: str, arguments: Mapping[str, object]) -> str:
        """Return what a tool returns, as text."""
        assert self._client is not None
        seconds = self._server.timeout_seconds
        asked = self._client.call_tool(name, dict(arguments), read_timeout_seconds=seconds)
        try:
            result = asyncio.run_coroutine_threadsafe(asked, self._loop).result(seconds + 1)
        except Exception as error:
            raise EngineError(f"the server failed ({_innermost(error)})") from error
        text = _text_of(result)
        if result.is_error:
            raise UsageError(escape_line(text) or "the server says no more")
        return text

    def close(self) -> None:
        """End the server and wait until it has ended."""
        with suppress(RuntimeError):  # the loop is closed: it has ended already
            self._loop.call_soon_threadsafe(self._cancel)
        self._thread.join(_ENDED_SECONDS)

    def _cancel(self) -> None:
        if self._main is not None:
            self._main.cancel()

    def _run(self) -> None:
        with (
            Path(os.devnull).open("w") as nowhere,
            asyncio.Runner(loop_factory=lambda: self._loop) as runner,
        ):
            try:
                runner.run(self._serve(nowhere))
            except (asyncio.CancelledError, CancelledError):
                pass
            except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
                if not self._ready.done():
                    self._ready.set_exception(error)
        if not self._ready.done():
            self._ready.set_exception(EngineError("it ended"))

    async def _serve(self, nowhere: TextIO) -> None:
        self._main = asyncio.current_task()
        parameters = mcp.StdioServerParameters(
            command=self._server.command,
            args=list(self._server.args),
            env={name: os.environ[name] for name in self._server.env if name in os.environ},
            cwd=self._folder if self._folder.is_dir() else None,
        )
        async with mcp.Client(stdio.stdio_client(parameters, errlog=nowhere)) as client:
            self._client = client
            self._ready.set_result(await _all_tools(client))
            await asyncio.Event().wait()  # until it is cancelled


async def _all_tools(client: "mcp.Client") -> Sequence[Any]:
    found: list[Any] = []
    cursor: str | None = None
    while True:
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if not cursor or len(found) >= _MOST_TOOLS:
            return found[:_MOST_TOOLS]


def _chosen(
    listed: Sequence[Any], server: McpServer, call: Callable[[str, Mapping[str, object]], str]
) -> Iterator[Tool]:
    names = [tool.name for tool in listed]
    missing = [name for name in server.tools if name not in names]
    if missing:
        known = ", ".join(map(escape_line, names)) or "none"
        raise UsageError(
            f"The server {server.line} has no tool '{missing[0]}'.", hint=f"It has: {known}."
        )
    for tool in listed:
        if not server.tools or tool.name in server.tools:
            yield _tool(tool, server, call)


def _tool(listed: Any, server: McpServer, call: Callable[[str, Mapping[str, object]], str]) -> Tool:
    description = sanitise_line(listed.description or "")[:_LONGEST_DESCRIPTION]
    return Tool(
        name=_name(listed.name),
        description=description or f"A tool of the server {server.command}.",
        parameters={**reduce_schema(listed.input_schema), "type": "object"},
        call=lambda arguments: call(listed.name, arguments),
        timeout_seconds=server.timeout_seconds,
    )


def _name(name: str) -> str:
    """Return a name that every service takes: the protocol's may have dots and hyphens."""
    plain = _NOT_IN_NAMES.sub("_", name)
    return f"_{plain}"[:64] if plain[:1].isdigit() else plain[:64]


def _text_of(result: Any) -> str:
    """Return what a result holds as text; what is none is only named."""
    texts = []
    for block in result.content:
        text = getattr(block, "text", None) or getattr(
            getattr(block, "resource", None), "text", None
        )
        texts.append(text if isinstance(text, str) else f"({block.type} left out)")
    if not texts and result.structured_content is not None:
        return json.dumps(result.structured_content, ensure_ascii=False, indent=1)
    return "\n\n".join(texts)


def _innermost(error: BaseException) -> str:
    """Return the reason of an error on one line; of a group that of its first."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return escape_line(str(error)).rstrip(".") or type(error).__name__
