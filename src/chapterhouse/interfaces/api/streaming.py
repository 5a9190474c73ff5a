"""Streams of events for clients: each ends with an event that says how."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import Final, TypeVar

from fastapi.sse import ServerSentEvent

from chapterhouse.interfaces.api.problems import problem

Event = TypeVar("Event")

_QUIET_SECONDS: Final = 15.0
_PING: Final = ": ping\n\n"


async def event_stream(
    events: AsyncGenerator[Event],
    show: Callable[[Event], ServerSentEvent],
    stopping: asyncio.Event,
) -> AsyncIterator[ServerSentEvent]:
    """Yield events as clients get them, the last of them a result, ``error`` or ``stopped``."""
    async with aclosing(until_stopped(events, stopping)) as opened:
        try:
            async for event in opened:
                yield show(event)
        except Exception as error:  # noqa: BLE001 - the answer has begun: the client is told here
            yield ServerSentEvent(event="error", raw_data=bytes(problem(error).body).decode())
            return
    if stopping.is_set():
        yield ServerSentEvent(event="stopped", data={"detail": "The server stops."})


async def until_stopped(
    events: AsyncGenerator[Event], stopping: asyncio.Event
) -> AsyncGenerator[Event]:
    """Yield events until there is no other, or the server stops, which ends their work."""
    async with aclosing(events) as opened:
        while (event := await _next_of(opened, stopping)) is not None:
            yield event


async def with_pings(lines: AsyncGenerator[str]) -> AsyncIterator[str]:
    """Yield lines, and comments while there is none, so that nobody takes the stream for dead."""
    following: asyncio.Future[str | None] | None = None
    async with aclosing(lines) as opened:
        try:
            while True:
                following = asyncio.ensure_future(anext(opened, None))
                while not (await asyncio.wait((following,), timeout=_QUIET_SECONDS))[0]:
                    yield _PING
                line = following.result()
                if line is None:
                    return
                yield line
        finally:
            if following is not None and not following.done():
                following.cancel()
                await asyncio.gather(following, return_exceptions=True)


async def _next_of(events: AsyncGenerator[Event], stopping: asyncio.Event) -> Event | None:
    """Return the next event; None where there is no other, or the server stops."""
    following = asyncio.ensure_future(anext(events, None))
    stop = asyncio.ensure_future(stopping.wait())
    try:
        await asyncio.wait((following, stop), return_when=asyncio.FIRST_COMPLETED)
        return following.result() if following.done() else None
    finally:
        stop.cancel()
        if not following.done():
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
