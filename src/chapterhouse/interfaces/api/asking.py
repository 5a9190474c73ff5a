"""Questions over HTTP, and streams of events: each ends with an event that says how."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Final, TypeVar

from fastapi.sse import EventSourceResponse, ServerSentEvent

from chapterhouse.answering.request import AskOptions
from chapterhouse.interfaces.api.problems import problem
from chapterhouse.interfaces.api.routing import needs, router
from chapterhouse.interfaces.api.schemas import AskBody
from chapterhouse.interfaces.api.state import Exchange, Exchanged
from chapterhouse.interfaces.values import PublicAnswer, as_json, public_answer
from chapterhouse.library.answers import answer_of
from chapterhouse.types import AnswerEvent, AskEvent, DraftEvent, ReadingEvent
from chapterhouse.types.access import AccessLevel

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


READ: Final = needs(AccessLevel.READ)
asking: Final = router("/api/ask", "asking")


@asking.post("", openapi_extra=READ)
async def ask(exchange: Exchanged, body: AskBody) -> PublicAnswer:
    """Answer a question, every sentence with a citation that was checked, or say that none is."""
    options = ask_options(exchange, body)
    answer = await exchange.ask(
        lambda library: answer_of(
            library.answers.events(body.question, persona=body.persona, options=options)
        )
    )
    return public_answer(answer)


@asking.post("/stream", openapi_extra=READ, response_class=EventSourceResponse)
async def ask_stream(exchange: Exchanged, body: AskBody) -> AsyncIterator[ServerSentEvent]:
    """Answer a question as it comes: ``reading``, ``draft``; at last ``answer`` or ``error``."""
    options = replace(ask_options(exchange, body), drafts=True)
    events = exchange.events(
        lambda library: library.answers.events(body.question, persona=body.persona, options=options)
    )
    async for event in event_stream(events, _event, exchange.server.stopping):
        yield event


def ask_options(exchange: Exchange, body: AskBody) -> AskOptions:
    """Return what a request says about its question."""
    return AskOptions(
        shelves=body.shelves or None,
        tags=body.tags,
        documents=body.documents,
        words=body.words,
        model=body.model,
        remember=exchange.remember,
        use_cache=exchange.remember,
        drafts=False,
        interface="api",
        counted=True,
        images=tuple(one.attachment() for one in body.images),
    )


def _event(event: AskEvent) -> ServerSentEvent:
    match event:
        case ReadingEvent(progress):
            return ServerSentEvent(
                event="reading", data={"done": progress.done, "total": progress.total}
            )
        case DraftEvent(draft):
            return ServerSentEvent(event="draft", raw_data=as_json(draft))
        case AnswerEvent(answer):
            return ServerSentEvent(event="answer", raw_data=as_json(public_answer(answer)))
