"""Questions of clients of OpenAI's protocol, and their answers as text that only grows."""

from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from fastapi import Request
from starlette.responses import StreamingResponse

from chapterhouse.answering.request import AskOptions
from chapterhouse.concurrency import run_in_thread
from chapterhouse.council.meeting.session import MeetingOptions
from chapterhouse.errors import BusyError
from chapterhouse.interfaces.api.asking import ask_options, until_stopped, with_pings
from chapterhouse.interfaces.api.openai.conversation import Conversation
from chapterhouse.interfaces.api.openai.models import Target
from chapterhouse.interfaces.api.openai.results import (
    Shown,
    draft_text,
    opening_of,
    show_answer,
    show_minutes,
)
from chapterhouse.interfaces.api.problems import OPENAI, problem
from chapterhouse.interfaces.api.schemas import AskBody
from chapterhouse.interfaces.api.state import Exchange
from chapterhouse.interfaces.values import meeting_events
from chapterhouse.library import Library
from chapterhouse.text.counting import estimate_tokens
from chapterhouse.types import (
    AnswerEvent,
    AskEvent,
    CouncilEvent,
    Draft,
    DraftEvent,
    FollowUp,
    MinutesEvent,
    Tool,
    Usage,
)

_UNSETTLED: Final = 2  # sentences at the end of a draft that may still change
_CHANGED: Final = "When all of it was checked, the answer became another one:"
_Event = FollowUp | AskEvent | CouncilEvent


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What is asked of whom.

    Attributes:
        documents: The address below which the server shows documents.
    """

    target: Target
    conversation: Conversation
    options: AskOptions
    documents: str


def inquiry_of(
    exchange: Exchange,
    request: Request,
    target: Target,
    conversation: Conversation,
    words: int | None,
    tools: tuple[Tool, ...] = (),
) -> Inquiry:
    """Return what a request asks."""
    asked = ask_options(exchange, AskBody(question=conversation.question, words=words))
    options = replace(asked, drafts=True, tools=tools, tool_texts=conversation.tool_texts)
    documents = f"{str(request.base_url).rstrip('/')}/api/documents"
    return Inquiry(target, conversation, options, documents)


async def pieces(exchange: Exchange, inquiry: Inquiry) -> AsyncGenerator[str | Shown]:
    """Yield the text of an answer as it comes; at last all that there is to show.

    The pieces together are its text: what was yielded is never taken back. So a sentence that a
    model writes is yielded once those behind it are there, and one of them names a source: then no
    notice will be shown before it.

    Raises:
        BusyError: the server stops.
        ToolCallsWanted: a model wants tools of the client called first.
    """
    question = inquiry.conversation.question
    found, sent = FollowUp(question, question), ""
    events = exchange.events(lambda library: _events(library, inquiry))
    async for event in until_stopped(events, exchange.server.stopping):
        match event:
            case FollowUp():
                found = event
            case DraftEvent():
                text = _settled(event.draft, opening_of(found))
                if text.startswith(sent) and text != sent:
                    yield text[len(sent) :]
                    sent = text
            case AnswerEvent():
                opening = opening_of(found)
                shown = show_answer(event.answer, opening, inquiry.documents)
                if not shown.text.startswith(sent):
                    opening = f"{sent}\n\n{_CHANGED}\n\n{opening}"
                    shown = show_answer(event.answer, opening, inquiry.documents)
                yield shown.text[len(sent) :]
                yield shown
                return
            case MinutesEvent():
                shown = show_minutes(event.minutes, inquiry.documents)
                yield shown.text
                yield shown
                return
            case _:  # what a meeting does is in its minutes
                pass
    raise BusyError("The server stops.", seconds=5)


async def complete(exchange: Exchange, inquiry: Inquiry) -> Shown:
    """Return the answer at once; errors as of ``pieces``."""
    options = replace(inquiry.options, drafts=False)
    async for piece in pieces(exchange, replace(inquiry, options=options)):
        if isinstance(piece, Shown):
            return piece
    raise AssertionError("the last piece is all that there is to show")


def tokens_of(inquiry: Inquiry, usage: Usage | None, text: str) -> tuple[int, int]:
    """Return how many tokens were read and written: as a model's service counted, or about."""
    if usage is not None and usage.prompt_tokens:
        return usage.prompt_tokens, usage.completion_tokens
    return estimate_tokens(inquiry.conversation.text), estimate_tokens(text)


def stream_response(lines: AsyncGenerator[str]) -> StreamingResponse:
    """Return a response of events for clients; who stops reading stops the work."""
    unbuffered = {"X-Accel-Buffering": "no"}  # by proxies such as nginx
    return StreamingResponse(with_pings(lines), 200, unbuffered, media_type="text/event-stream")


def error_data(error: Exception) -> str:
    """Return an error that comes after the answer has begun, as JSON."""
    return bytes(problem(error, OPENAI).body).decode()


def _settled(draft: Draft, opening: str) -> str:
    sentences = draft.sentences[:-_UNSETTLED]
    if not any(sentence.citations for sentence in sentences):
        return ""
    return opening + draft_text(sentences)


async def _events(library: Library, inquiry: Inquiry) -> AsyncIterator[_Event]:
    target, question, options = inquiry.target, inquiry.conversation.question, inquiry.options
    if target.kind == "council":
        meeting = MeetingOptions(remember=options.remember, interface="api", counted=True)
        async for event in meeting_events(library, target.slug, question, meeting):
            yield event
        return
    found = FollowUp(question, question)
    if inquiry.conversation.before:
        follow_up = partial(
            library.answers.follow_up,
            question,
            inquiry.conversation.before,
            persona=target.slug,
            shelves=options.shelves,
            model=options.model,
            remember=options.remember,
        )
        found = await run_in_thread(follow_up)
        yield found
        options = replace(options, search_text=found.search_text, in_conversation=True)
    if library.settings.answer.check == "model":  # a second opinion may change any sentence
        options = replace(options, drafts=False)
    async for answered in library.answers.events(
        found.question, persona=target.slug, options=options
    ):
        yield answered
