"""Questions over HTTP, answered at once or as a stream of events."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Final

from fastapi.sse import EventSourceResponse, ServerSentEvent

from chapterhouse.answering.request import AskOptions
from chapterhouse.interfaces.api.routing import needs, router
from chapterhouse.interfaces.api.schemas import AskBody
from chapterhouse.interfaces.api.state import Exchange, Exchanged
from chapterhouse.interfaces.api.streaming import event_stream
from chapterhouse.interfaces.values import PublicAnswer, as_json, public_answer
from chapterhouse.library.answers import answer_of
from chapterhouse.types import AnswerEvent, AskEvent, DraftEvent, ReadingEvent
from chapterhouse.types.access import AccessLevel

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
        words=body.words,
        model=body.model,
        remember=exchange.remember,
        use_cache=exchange.remember,
        drafts=False,
        interface="api",
        counted=True,
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
