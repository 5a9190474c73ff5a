"""The server over standard input and output, for a client that starts it.

Standard output is the protocol's alone. While the server runs the SDK keeps it to itself, and
whatever else is printed goes to standard error.
"""

import asyncio
import contextlib
import os
import signal
import threading
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Final, Self, cast

import anyio
from mcp.server.stdio import stdio_server

from chapterhouse.interfaces.mcp.server import build_server
from chapterhouse.interfaces.service import Service
from chapterhouse.interfaces.workspaces import Workspaces

SETTLE_SECONDS: Final = 2.0
_AHEAD: Final = 100  # lines that wait to be served


def serve(home: Path, workspace: str, *, remember: bool) -> bool:
    """Serve until the input ends or the process is asked to stop; say whether it was asked."""
    with closing(Workspaces(home)) as workspaces:
        service = Service(partial(workspaces.borrow, workspace), remember=remember)
        return asyncio.run(_serve(service))


async def _serve(service: Service) -> bool:
    loop = asyncio.get_running_loop()
    remember = service.remember
    server = build_server(lambda _context: service, remember=remember)
    with anyio.CancelScope() as scope:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, scope.cancel)
        lines = cast("anyio.AsyncFile[str]", _Lines(_own_input(), loop))
        async with stdio_server(stdin=lines) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
    service.workload.wait_for_threads(SETTLE_SECONDS)
    return scope.cancelled_caught


def _own_input() -> int:
    """Take standard input for the protocol, and leave an empty one for whatever else reads."""
    own = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return own


class _Lines:
    """The lines of a file, read in a thread that nobody has to wait for.

    The SDK's own reader would keep the process alive until another line came.
    """

    def __init__(self, descriptor: int, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._slots = threading.Semaphore(_AHEAD)
        threading.Thread(target=self._read, args=(descriptor,), daemon=True).start()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        line = await self._queue.get()
        if line is None:
            raise StopAsyncIteration
        self._slots.release()
        return line

    def _read(self, descriptor: int) -> None:
        with (
            contextlib.suppress(RuntimeError),  # the loop is closed: nobody listens any more
            open(descriptor, "rb") as file,
        ):
            for line in file:
                if line.strip():
                    self._slots.acquire()
                    self._pass_on(line.decode("utf-8", "replace"))
            self._pass_on(None)

    def _pass_on(self, line: str | None) -> None:
        self._loop.call_soon_threadsafe(self._queue.put_nowait, line)
