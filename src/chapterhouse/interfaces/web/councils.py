"""Councils on the page: convened, watched as their members speak, read afterwards."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Annotated, Any, Final, Literal

from fastapi import Form, Header, Query, Request, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from markupsafe import Markup
from pydantic import BeforeValidator, Field

from chapterhouse.agents.definition import COUNCIL_TEMPLATES, PERSONA_TEMPLATES
from chapterhouse.agents.problems import errors
from chapterhouse.answering.bundle import bundle_json
from chapterhouse.council.meeting.following import FollowedMeeting, MeetingRound, Speaker
from chapterhouse.council.minutes import contents, outline
from chapterhouse.errors import NotFoundError
from chapterhouse.interfaces.api import councils as operations
from chapterhouse.interfaces.api.asking import event_stream
from chapterhouse.interfaces.api.councils import MeetingBody, OneMeeting
from chapterhouse.interfaces.api.meetings import ERROR, Meeting, MeetingState, NumberedEvent
from chapterhouse.interfaces.api.schemas import Line, Question
from chapterhouse.interfaces.api.state import Exchange, Exchanged
from chapterhouse.interfaces.service import without_paths
from chapterhouse.interfaces.values import adapter_of, all_councils, all_personas, as_json
from chapterhouse.interfaces.web.asking import READ, READ_WHOLE, cited_by
from chapterhouse.interfaces.web.frame import BARE, PageForm, fragment, page_router, redirect, show
from chapterhouse.library import Library
from chapterhouse.presenting.blocks import Grid, Part
from chapterhouse.presenting.citing import clean, distinguish_sources
from chapterhouse.text.sanitise import sanitise
from chapterhouse.types import (
    CouncilEvent,
    MeetingEvent,
    MeetingEventKind,
    Minutes,
    MinutesEvent,
    Progress,
    ReadingEvent,
    Stance,
    Turn,
)

_MOST_OPTIONS: Final = 20
_LONGEST_DECISION: Final = 2_000  # characters of what came of a meeting, where one asks on
# The minutes in the order in which a page shows them; what is not named follows.
_ORDER: Final = (
    "table", "positions", "decision", "dissent", "agreement", "grounds", "open-questions",
    "missing", "nothing", "absences", "members", "warnings",
)  # fmt: skip

councils: Final = page_router()


def lines_of(value: object) -> object:
    """Return the lines of a field in which each is an entry."""
    texts = value if isinstance(value, list) else [value]
    return [line.strip() for text in texts for line in str(text).splitlines() if line.strip()]


class MeetingForm(PageForm):
    """What a council is to discuss; an option on each line."""

    question: Question
    options: Annotated[
        tuple[Line, ...], BeforeValidator(lines_of), Field(max_length=_MOST_OPTIONS)
    ] = ()
    model: str = Field(default="", max_length=100)


@councils.get("/councils", openapi_extra=READ)
async def show_councils(request: Request, exchange: Exchanged) -> Response:
    """Show the councils and personas that the caller may ask, and their own meetings."""
    return await show_agents(request, exchange)


async def show_agents(request: Request, exchange: Exchange, **more: Any) -> Response:
    """Show all councils and personas; ``more`` says what is wrong with one that is to be made."""
    is_whole = exchange.caller.grant.is_whole

    def look(library: Library) -> dict[str, Any]:
        found = all_councils(library).councils if is_whole else ()
        return {
            "councils": found,
            "titles": {
                one.slug: library.councils.titles(one.folder.council)
                for one in library.councils.all()
                if one.folder
            },
            "wrong": _wrong(library) if is_whole else {},
            "personas": all_personas(library).personas,
            "models": (*library.settings.models, "none"),
        }

    values = {
        **await exchange.look(look),
        "meetings": exchange.server.meetings.list(exchange.caller) if is_whole else (),
        "templates": {"council": COUNCIL_TEMPLATES, "persona": tuple(PERSONA_TEMPLATES)},
        "made": None,
        "problem": "",
        **more,
    }
    answer = await show(request, exchange, "councils.html", values)
    answer.status_code = 422 if values["problem"] else answer.status_code
    return answer


def _wrong(library: Library) -> dict[str, list[str]]:
    """Return why councils cannot meet, by their slugs."""
    found: dict[str, list[str]] = {}
    for one in errors(library.councils.validate()):
        place = f"{one.place}: " if one.place else ""
        found.setdefault(one.slug, []).append(without_paths(f"{place}{one.sentence}"))
    return found


@councils.post("/councils/{slug}/meetings", openapi_extra=READ_WHOLE)
async def convene(
    request: Request, exchange: Exchanged, slug: str, form: Annotated[MeetingForm, Form()]
) -> Response:
    """Let a council meet, and show the meeting."""
    body = MeetingBody(question=form.question, options=form.options, model=form.model or None)
    meeting = await operations.convene(exchange, slug, body)
    return redirect(request, f"/meetings/{meeting.id}")


# --- a meeting as it goes on --------------------------------------------------------------------


def _take(followed: FollowedMeeting, name: str, data: str) -> str:
    """Let something happen in a meeting; return what of it is put on a page."""
    event = _event_of(name, data)
    changed = followed.take(event)
    now = str(Markup('<p data-fills="said">{}</p>').format(followed.now))
    if isinstance(event, MeetingEvent) and event.kind is MeetingEventKind.TEXT:
        piece = Markup('<span data-into="draft-{}-{}">{}</span>')
        return piece.format(event.number, event.member, sanitise(event.text).text)
    if isinstance(changed, MeetingRound):
        return now + fragment("meeting_round.html", {"round": changed, "cited_by": cited_by})
    if isinstance(changed, Speaker):
        return now + fragment("meeting_speaker.html", {"speaker": changed, "cited_by": cited_by})
    return now


def _event_of(name: str, data: str) -> CouncilEvent:
    if name == "reading":
        return ReadingEvent(Progress(**json.loads(data), current=""))
    if name == "minutes":
        return MinutesEvent(adapter_of(Minutes).validate_json(data))
    return adapter_of(MeetingEvent).validate_json(data)


@councils.get("/meetings/{meeting_id}", openapi_extra=READ_WHOLE)
async def show_meeting(request: Request, exchange: Exchanged, meeting: OneMeeting) -> Response:
    """Show a meeting: its minutes, or what was said so far."""
    followed = await _enter(exchange, meeting)
    happened = exchange.server.meetings.happened(meeting)
    for _, name, data in happened:
        followed.take(_event_of(name, data))
    _, problem = exchange.server.meetings.outcome(meeting)
    values = _values(exchange, meeting, followed, json.loads(problem)["detail"] if problem else "")
    return await show(
        request, exchange, "meeting.html", {**values, "after": happened[-1][0] if happened else 0}
    )


@councils.get(
    "/meetings/{meeting_id}/events",
    openapi_extra=READ_WHOLE,
    response_class=EventSourceResponse,
)
async def follow_meeting(
    exchange: Exchanged,
    meeting: OneMeeting,
    after: Annotated[int, Query(ge=0)] = 0,
    last_event_id: Annotated[int, Header(ge=0)] = 0,
) -> AsyncIterator[ServerSentEvent]:
    """Follow a meeting behind an event: each brings what is to be put on the page."""
    followed, seen = await _enter(exchange, meeting), max(after, last_event_id)

    def shown(event: NumberedEvent) -> ServerSentEvent:
        number, name, data = event
        if name == ERROR:
            return ServerSentEvent(event=ERROR, raw_data=data)
        text = _take(followed, name, data)
        is_end = followed.minutes is not None
        if is_end:
            text += fragment("meeting_end.html", _values(exchange, meeting, followed))
        return ServerSentEvent(event="end" if is_end else "show", id=str(number), data=text)

    happening = exchange.server.meetings.follow(meeting)
    async for one in event_stream(happening, shown, exchange.server.stopping):
        if one.event not in {"show", "end"}:  # it failed, was stopped, or the server stops
            found = one.data or json.loads(one.raw_data or "{}")
            values = _values(exchange, meeting, followed, found["detail"])
            yield ServerSentEvent(event="end", data=fragment("meeting_end.html", values))
        elif int(one.id or 0) > seen:
            yield one


async def _enter(exchange: Exchange, meeting: Meeting) -> FollowedMeeting:
    def look(library: Library) -> FollowedMeeting:
        entries = {one.slug: one.folder for one in library.councils.all()}
        if (folder := entries.get(meeting.council)) is None:
            return FollowedMeeting(meeting.question)
        council = folder.council
        return FollowedMeeting(meeting.question, council, library.councils.titles(council))

    return await exchange.look(look)


@councils.post("/meetings/{meeting_id}/cancel", openapi_extra=READ_WHOLE, dependencies=[BARE])
async def cancel(request: Request, exchange: Exchanged, meeting: OneMeeting) -> Response:
    """End a meeting where it is."""
    await operations.cancel_meeting(exchange, meeting)
    return redirect(request, f"/meetings/{meeting.id}")


# --- the minutes --------------------------------------------------------------------------------


def _values(
    exchange: Exchange, meeting: Meeting, followed: FollowedMeeting, problem: str = ""
) -> dict[str, Any]:
    """Return what templates show of a meeting, as far as it is."""
    is_open = meeting.state is MeetingState.OPEN and not (followed.minutes or problem)
    values = {
        "cited_by": cited_by,
        "meeting": meeting,
        "followed": followed,
        "is_open": is_open,
        "problem": problem,
        "csrf": exchange.caller.csrf,
        "part": None,
    }
    minutes = followed.minutes
    if minutes is None:
        return values
    decided = " ".join(one.text for one in minutes.decision)[:_LONGEST_DECISION]
    cited = distinguish_sources((name, clean(one)) for name, one in contents.all_citations(minutes))
    return {
        **values,
        "minutes": minutes,
        "part": _in_order(minutes),
        "cited": dict(cited),
        "before": as_json((Turn(minutes.question, decided),)),
    }


def _in_order(minutes: Minutes) -> Part:
    """Return minutes as a page shows them: tables first, and in them what is disputed."""
    whole = outline.outline(minutes)
    found = outline.positions(contents.Reader(minutes))
    parts = [one for one in whole.parts if one.key != "statements"]  # which its rounds show
    parts += [Part("positions", "What each member holds", found)] if found else []
    order = {key: place for place, key in enumerate(_ORDER)}
    parts.sort(key=lambda one: order.get(one.key, len(order)))
    blocks = whole.blocks[1:]  # the question is the page's title
    return replace(whole, blocks=blocks, parts=tuple(map(_disputed_first, parts)))


def _disputed_first(part: Part) -> Part:
    blocks = tuple(
        replace(
            one,
            rows=tuple(sorted(one.rows, key=lambda row: all(c.tone != Stance.OPPOSE for c in row))),
        )
        if isinstance(one, Grid)
        else one
        for one in part.blocks
    )
    return replace(part, blocks=blocks)


_FORMATS: Final = {"md": "text/markdown", "html": "text/html", "json": "application/json"}


@councils.get("/meetings/{meeting_id}/minutes", openapi_extra=READ_WHOLE)
async def save_minutes(
    exchange: Exchanged,
    meeting: OneMeeting,
    format: Literal["md", "html", "json"],  # noqa: A002 - in addresses
) -> Response:
    """Return minutes as a file: Markdown with footnotes, a page, or a bundle to be verified."""
    minutes = (await operations.show_meeting(exchange, meeting)).minutes
    if minutes is None:
        raise NotFoundError("The meeting has no minutes.")
    if format == "json":
        text = bundle_json(await exchange.look(lambda library: library.councils.bundle(minutes)))
    else:
        made = outline.minutes_markdown if format == "md" else outline.minutes_html
        text = made(minutes)
    headers = {"Content-Disposition": f'attachment; filename="minutes.{format}"'}
    return Response(text, media_type=_FORMATS[format], headers=headers)
