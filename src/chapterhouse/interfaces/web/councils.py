"""Councils on the page: listed, watched as their members speak, read afterwards."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Annotated, Any, Final, Literal

from fastapi import Header, Query, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from markupsafe import Markup

from chapterhouse.answering.bundle import bundle_json
from chapterhouse.council.meeting.following import FollowedMeeting, MeetingRound, Speaker
from chapterhouse.council.minutes import contents, outline
from chapterhouse.errors import NotFoundError
from chapterhouse.interfaces.api import councils as operations
from chapterhouse.interfaces.api.asking import event_stream
from chapterhouse.interfaces.api.councils import OneMeeting
from chapterhouse.interfaces.api.meetings import ERROR, Meeting, MeetingState, NumberedEvent
from chapterhouse.interfaces.values import adapter_of
from chapterhouse.interfaces.web.asking import READ_WHOLE, cited_by
from chapterhouse.interfaces.web.frame import (
    BARE,
    Visit,
    Visited,
    file_of,
    fragment,
    pages,
)
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
)

# The minutes in the order in which a page shows them; what is not named follows.
_ORDER: Final = (
    "table", "positions", "decision", "dissent", "agreement", "grounds", "open-questions",
    "missing", "nothing", "absences", "members", "warnings",
)  # fmt: skip


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


@pages.get("/meetings/{meeting_id}", openapi_extra=READ_WHOLE)
async def show_meeting(visit: Visited, meeting: OneMeeting) -> Response:
    """Show a meeting: its minutes, or what was said so far."""
    followed, title = await _enter(visit, meeting)
    happened = visit.server.meetings.happened(meeting)
    for _, name, data in happened:
        followed.take(_event_of(name, data))
    _, problem = visit.server.meetings.outcome(meeting)
    detail = json.loads(problem)["detail"] if problem else ""
    values = _values(visit, meeting, followed, title, detail)
    return await visit.show("meeting.html", {**values, "after": happened[-1][0] if happened else 0})


@pages.get(
    "/meetings/{meeting_id}/events",
    openapi_extra=READ_WHOLE,
    response_class=EventSourceResponse,
)
async def follow_meeting(
    visit: Visited,
    meeting: OneMeeting,
    after: Annotated[int, Query(ge=0)] = 0,
    last_event_id: Annotated[int, Header(ge=0)] = 0,
) -> AsyncIterator[ServerSentEvent]:
    """Follow a meeting behind an event: each brings what is to be put on the page."""
    (followed, title), seen = await _enter(visit, meeting), max(after, last_event_id)

    def shown(event: NumberedEvent) -> ServerSentEvent:
        number, name, data = event
        if name == ERROR:
            return ServerSentEvent(event=ERROR, raw_data=data)
        text = _take(followed, name, data)
        is_end = followed.minutes is not None
        if is_end:
            text += fragment("meeting_end.html", _values(visit, meeting, followed, title))
        return ServerSentEvent(event="end" if is_end else "show", id=str(number), data=text)

    happening = visit.server.meetings.follow(meeting)
    async for one in event_stream(happening, shown, visit.server.stopping):
        if one.event not in {"show", "end"}:  # it failed, was stopped, or the server stops
            found = one.data or json.loads(one.raw_data or "{}")
            values = _values(visit, meeting, followed, title, found["detail"])
            yield ServerSentEvent(event="end", data=fragment("meeting_end.html", values))
        elif int(one.id or 0) > seen:
            yield one


async def _enter(visit: Visit, meeting: Meeting) -> tuple[FollowedMeeting, str]:
    """Return a meeting of which nothing was taken yet, and how its council is called."""

    def look(library: Library) -> tuple[FollowedMeeting, str]:
        entries = {one.slug: one.folder for one in library.councils.all()}
        if (folder := entries.get(meeting.council)) is None:
            return FollowedMeeting(meeting.question), meeting.council
        titles = library.councils.titles(folder.council)
        return FollowedMeeting(meeting.question, folder.council, titles), folder.display_name

    return await visit.look(look)


@pages.post("/meetings/{meeting_id}/cancel", openapi_extra=READ_WHOLE, dependencies=[BARE])
async def cancel(visit: Visited, meeting: OneMeeting) -> Response:
    """End a meeting where it is."""
    await operations.cancel_meeting(visit, meeting)
    return visit.redirect(f"/meetings/{meeting.id}")


# --- the minutes --------------------------------------------------------------------------------


def _values(
    visit: Visit, meeting: Meeting, followed: FollowedMeeting, title: str, problem: str = ""
) -> dict[str, Any]:
    """Return what templates show of a meeting, as far as it is."""
    is_open = meeting.state is MeetingState.OPEN and not (followed.minutes or problem)
    values = {
        "cited_by": cited_by,
        "meeting": meeting,
        "followed": followed,
        "title": title,
        "is_open": is_open,
        "problem": problem,
        "csrf": visit.caller.csrf,
        "part": None,
    }
    minutes = followed.minutes
    if minutes is None:
        return values
    cited = distinguish_sources((name, clean(one)) for name, one in contents.all_citations(minutes))
    return {
        **values,
        "minutes": minutes,
        "part": _in_order(minutes),
        "cited": dict(cited),
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


@pages.get("/meetings/{meeting_id}/minutes", openapi_extra=READ_WHOLE)
async def save_minutes(
    visit: Visited,
    meeting: OneMeeting,
    format: Literal["md", "html", "json"],  # noqa: A002 - in addresses
) -> Response:
    """Return minutes as a file: Markdown with footnotes, a page, or a bundle to be verified."""
    minutes = (await operations.show_meeting(visit, meeting)).minutes
    if minutes is None:
        raise NotFoundError("The meeting has no minutes.")
    if format == "json":
        text = bundle_json(await visit.look(lambda library: library.councils.bundle(minutes)))
    else:
        made = outline.minutes_markdown if format == "md" else outline.minutes_html
        text = made(minutes)
    return file_of(text, f"minutes.{format}")
