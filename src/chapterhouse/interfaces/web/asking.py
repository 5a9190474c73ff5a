"""Questions on the page: asked, answered as it comes, gone on from, saved, remembered."""

import json
import re
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Annotated, Any, Final, Literal

from fastapi import Form, Query, Request, Response
from fastapi.sse import ServerSentEvent
from pydantic import Field, TypeAdapter, ValidationError
from starlette.responses import StreamingResponse

from chapterhouse.answering.bundle import bundle_json
from chapterhouse.answering.request import AskOptions
from chapterhouse.errors import UsageError
from chapterhouse.interfaces.api import memory
from chapterhouse.interfaces.api.asking import event_stream, with_pings
from chapterhouse.interfaces.api.councils import MeetingBody, convene
from chapterhouse.interfaces.api.routing import OWNER, needs, require
from chapterhouse.interfaces.api.schemas import Question
from chapterhouse.interfaces.api.state import Exchange, Exchanged
from chapterhouse.interfaces.values import (
    PublicAnswer,
    adapter_of,
    all_councils,
    all_personas,
    as_json,
    public_answer,
)
from chapterhouse.interfaces.web.frame import BARE, PageForm, fragment, page_router, redirect, show
from chapterhouse.library import Library
from chapterhouse.library.answers import answer_of
from chapterhouse.presenting.answers import answer_blocks, answer_markdown, written_blocks
from chapterhouse.presenting.citing import clean, distinguish_sources
from chapterhouse.presenting.html import page
from chapterhouse.types import (
    Answer,
    AnswerEvent,
    AskEvent,
    Citation,
    DraftEvent,
    FollowUp,
    ReadingEvent,
    Turn,
)
from chapterhouse.types.access import AccessLevel

READ: Final = needs(AccessLevel.READ)
READ_WHOLE: Final = needs(AccessLevel.READ, whole=True)
WRITE_WHOLE: Final = needs(AccessLevel.WRITE, whole=True)
_EVENTS: Final = "text/event-stream"
_TURNS: Final = 6  # that a question may go on from
_TURN_CHARACTERS: Final = 2_000  # of an answer that a model is reminded of
_SUGGESTED: Final = 3
_LOOKED_AT: Final = 20  # documents whose headings may be suggested
_NUMBER: Final = re.compile(r"^(?:§\s*)?(?:\d+(?:[.)]\d+)*[.)]?|[IVX]+[.)])\s+")  # of a heading
_HEADING: Final = re.compile(r"(?=.*[^\W\d_]{3})[^\n]{4,60}")  # one that a question can name
_SAVED_BYTES: Final = 2_000_000
_turns: Final = TypeAdapter(tuple[Turn, ...])

asking: Final = page_router()


class AskForm(PageForm):
    """A question, who is asked, and what it goes on from."""

    question: Question
    who: str = Field(default="", max_length=200, pattern=r"^(|(persona|council)/.+)$")
    model: str = Field(default="", max_length=100)
    before: str = Field(default="", max_length=50_000)

    @property
    def named(self) -> tuple[str, str]:
        """Whether a persona or a council is asked, and which."""
        kind, _, slug = self.who.partition("/")
        return kind, slug

    @property
    def turns(self) -> tuple[Turn, ...]:
        """What was asked before.

        Raises:
            UsageError: it is not as the page wrote it.
        """
        try:
            return _turns.validate_json(self.before) if self.before else ()
        except ValidationError:
            raise UsageError("What was asked before cannot be read.", hint="Ask anew.") from None


@asking.get("/", openapi_extra=READ)
async def show_first(
    request: Request,
    exchange: Exchanged,
    question: Annotated[str, Query(max_length=10_000)] = "",
    who: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """Show the page on which questions are asked; of an empty library how it is filled."""
    values = await _whom_to_ask(exchange)
    return await show(
        request, exchange, "ask.html", {**values, "question": question, "who": who, "turn": None}
    )


@asking.post("/ask", openapi_extra=READ)
async def ask(request: Request, exchange: Exchanged, form: Annotated[AskForm, Form()]) -> Response:
    """Answer a question; as it comes, where a script of the page asks."""
    kind, slug = form.named
    if kind == "council":
        require(exchange.caller, AccessLevel.READ, whole=True)
        meeting = await convene(exchange, slug, MeetingBody(question=form.question))
        where = f"/meetings/{meeting.id}"
        if _EVENTS in request.headers.get("accept", ""):
            return _streamed(_once("go", json.dumps(where)))
        return redirect(request, where)
    follow_up = await _follow_up(exchange, form)
    if _EVENTS in request.headers.get("accept", ""):
        return _streamed(_answering(exchange, form, follow_up))
    answer = await exchange.ask(
        lambda library: answer_of(_events(library, exchange, form, follow_up, drafts=False))
    )
    values = await _whom_to_ask(exchange)
    turn = _turn(form, follow_up, public_answer(answer))
    return await show(
        request, exchange, "ask.html", {**values, "question": "", "who": form.who, "turn": turn}
    )


async def _follow_up(exchange: Exchange, form: AskForm) -> FollowUp:
    """Return the question as it can be understood by itself."""
    turns = form.turns[-_TURNS:]
    if not turns:
        return FollowUp(form.question, form.question)
    return await exchange.look_long(
        lambda library: library.answers.follow_up(
            form.question,
            turns,
            persona=form.named[1],
            model=form.model or None,
            remember=_may_remember(exchange),
        )
    )


def _events(
    library: Library, exchange: Exchange, form: AskForm, follow_up: FollowUp, *, drafts: bool
) -> AsyncIterator[AskEvent]:
    may_remember = _may_remember(exchange)
    options = AskOptions(
        model=form.model or None,
        remember=may_remember,
        use_cache=may_remember,
        search_text=follow_up.search_text,
        in_conversation=bool(form.before),
        drafts=drafts,
        interface="page",
        counted=True,
    )
    return library.answers.events(follow_up.question, persona=form.named[1], options=options)


def _may_remember(exchange: Exchange) -> bool:
    """Whether a question may be remembered: those of the owner, as on the command line."""
    return exchange.remember or exchange.caller.grant is OWNER


async def _answering(exchange: Exchange, form: AskForm, follow_up: FollowUp) -> AsyncIterator[str]:
    """Yield the events of an answer with what the page shows of each."""
    events = exchange.events(
        lambda library: _events(library, exchange, form, follow_up, drafts=True)
    )

    def shown(event: AskEvent) -> ServerSentEvent:
        match event:
            case ReadingEvent(progress):
                text = f"Reading what changed: {progress.done} of {progress.total}"
                return _event("reading", text)
            case DraftEvent(draft):
                part = written_blocks(draft.sentences)
                values = {"part": part, "text": draft.text, "cited": {}, "id": "draft"}
                return _event("draft", fragment("draft.html", values))
            case AnswerEvent(answer):
                turn = _turn(form, follow_up, public_answer(answer))
                values = {"turn": turn, "csrf": exchange.caller.csrf}
                return _event("answer", fragment("turn.html", values))

    async for one in event_stream(events, shown, exchange.server.stopping):
        yield f"event: {one.event}\ndata: {one.raw_data}\n\n"


def _event(name: str, text: str) -> ServerSentEvent:
    return ServerSentEvent(event=name, raw_data=json.dumps(text))


async def _once(name: str, data: str) -> AsyncIterator[str]:
    yield f"event: {name}\ndata: {data}\n\n"


def _streamed(lines: Any) -> Response:
    return StreamingResponse(with_pings(lines), media_type=_EVENTS)


def _turn(form: AskForm, follow_up: FollowUp, answer: PublicAnswer) -> dict[str, Any]:
    """Return what templates show of a question and its answer."""
    turns = (*form.turns, Turn(answer.question, answer.text[:_TURN_CHARACTERS]))
    return {
        "asked": form.question,
        "taken": follow_up.question if follow_up.question != form.question else "",
        "answer": answer,
        "part": answer_blocks(answer),
        "cited": cited_by(answer.citations),
        "before": _turns.dump_json(turns[-_TURNS:]).decode(),
        "saved": as_json(answer),
        "id": f"t{len(turns)}",
    }


def cited_by(citations: Sequence[Citation]) -> dict[str, Citation]:
    """Return citations by how they are called, as templates link them."""
    return dict(distinguish_sources((str(one.number), clean(one)) for one in citations))


async def _whom_to_ask(exchange: Exchange) -> dict[str, Any]:
    """Return whom a question can be put to, and what may be asked first."""
    is_whole = exchange.caller.grant.is_whole

    def look(library: Library) -> dict[str, Any]:
        councils = all_councils(library).councils if is_whole else ()
        return {
            "personas": [one for one in all_personas(library).personas if one.usable],
            "councils": [one for one in councils if one.usable],
            "suggested": suggest_questions(library),
            "is_empty": next(iter(library.documents.list()), None) is None,
        }

    return await exchange.look(look)


def suggest_questions(library: Library) -> list[str]:
    """Return first questions that the documents' own headings can answer."""
    found: dict[str, str] = {}  # by heading: one that many documents have is asked of once
    for document in islice(library.documents.list(), _LOOKED_AT):
        sections = library.documents.body(document.id).sections
        named = (
            _NUMBER.sub("", one.path[-1]).strip(" .:") for one in sections if len(one.path) > 1
        )
        fitting = (one for one in named if _HEADING.fullmatch(one) and one != document.title)
        heading = next((one for one in fitting if one.casefold() not in found), "")
        if heading and document.title:
            asked = f"What does “{document.title}” say about {heading}?"
            found[heading.casefold()] = asked
        if len(found) == _SUGGESTED:
            break
    return list(found.values())


# --- what was asked -----------------------------------------------------------------------------

_FORMATS: Final = {
    "md": ("text/markdown", "answer.md"),
    "html": ("text/html", "answer.html"),
    "json": ("application/json", "answer.json"),
}


class SaveForm(PageForm):
    """An answer as the page showed it, and in which format it is to be saved."""

    answer: str = Field(max_length=_SAVED_BYTES)
    format: Literal["md", "html", "json"]


@asking.post("/answers/save", openapi_extra=READ)
async def save(exchange: Exchanged, form: Annotated[SaveForm, Form()]) -> Response:
    """Return an answer as a file: Markdown with footnotes, a page, or a bundle to be verified."""
    try:
        answer = adapter_of(Answer).validate_json(form.answer)
    except ValidationError:
        raise UsageError("The answer cannot be read.", hint="Ask the question again.") from None
    answer = replace(answer, citations=tuple(map(clean, answer.citations)))
    if form.format == "md":
        text = answer_markdown(answer)
    elif form.format == "html":
        text = page(answer_blocks(answer), "Answer")
    else:
        bundle = await exchange.look(lambda library: library.answers.bundle(answer))
        text = bundle_json(bundle)
    kind, name = _FORMATS[form.format]
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type=kind, headers=headers)


@asking.get("/history", openapi_extra=READ_WHOLE)
async def show_history(
    request: Request, exchange: Exchanged, text: Annotated[str, Query(max_length=1_000)] = ""
) -> Response:
    """Show what was asked, newest first; with words what fits them best."""
    found = await memory.list_memories(exchange, text)
    values = {"memories": found.memories, "text": text, "now": int(time.time())}
    return await show(request, exchange, "history.html", values)


@asking.post("/history/{memory_id}/forget", openapi_extra=WRITE_WHOLE, dependencies=[BARE])
async def forget(request: Request, exchange: Exchanged, memory_id: str) -> Response:
    """Forget a question and its answer for good."""
    await memory.forget(exchange, memory_id)
    return redirect(request, "/history")
