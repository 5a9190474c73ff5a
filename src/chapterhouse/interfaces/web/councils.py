"""Meetings of councils on the page: watched as their members speak, read afterwards."""

import json
from dataclasses import replace
from typing import Any, Final, Literal

from fastapi import Response

from chapterhouse.answering.bundle import bundle_json
from chapterhouse.council.meeting.following import FollowedMeeting
from chapterhouse.council.minutes import contents, outline
from chapterhouse.errors import NotFoundError
from chapterhouse.interfaces.api import councils as operations
from chapterhouse.interfaces.api.councils import OneMeeting
from chapterhouse.interfaces.api.meetings import MeetingState
from chapterhouse.interfaces.values import adapter_of
from chapterhouse.interfaces.web.asking import READ_WHOLE, cited_by
from chapterhouse.interfaces.web.frame import Visit, Visited, file_of, pages
from chapterhouse.library import Library
from chapterhouse.presenting.blocks import Grid, Part
from chapterhouse.presenting.citing import clean, distinguish_sources
from chapterhouse.types import (
    CouncilEvent,
    MeetingEvent,
    Minutes,
    MinutesEvent,
    Progress,
    ReadingEvent,
    Stance,
)

SaveFormat = Literal["md", "html", "json"]
# The minutes in the order in which a page shows them; what is not named follows.
_ORDER: Final = (
    "table", "positions", "decision", "dissent", "agreement", "grounds", "open-questions",
    "missing", "nothing", "absences", "members", "warnings",
)  # fmt: skip


@pages.get("/meetings/{meeting_id}", openapi_extra=READ_WHOLE)
async def show_meeting(visit: Visited, meeting: OneMeeting) -> Response:
    """Show a meeting: its minutes, or what was said so far, which the page looks at each second."""

    def look(library: Library) -> tuple[FollowedMeeting, str, bool]:
        remembers = library.settings.memory.enabled
        entries = {one.slug: one.folder for one in library.councils.all()}
        if (folder := entries.get(meeting.council)) is None:
            return FollowedMeeting(meeting.question), meeting.council, remembers
        titles = library.councils.titles(folder.council)
        followed = FollowedMeeting(meeting.question, folder.council, titles)
        return followed, folder.display_name, remembers

    followed, title, is_remembering = await visit.look(look)
    for _, name, data in visit.server.meetings.happened(meeting):
        followed.take(_event_of(name, data))
    _, problem = visit.server.meetings.outcome(meeting)
    values = {
        "path": f"/meetings/{meeting.id}",
        "question": meeting.question,
        "council": meeting.council,
        "followed": followed,
        "title": title,
        "is_open": meeting.state is MeetingState.OPEN and not (followed.minutes or problem),
        "problem": json.loads(problem)["detail"] if problem else "",
        "is_remembered": visit.may_remember and is_remembering,
    }
    return await visit.show("meeting.html", values | minutes_values(followed.minutes))


def minutes_values(minutes: Minutes | None, without: str = "statements") -> dict[str, Any]:
    """Return what templates show of minutes, but for a part of them."""
    found = contents.all_citations(minutes) if minutes else ()
    return {
        "cited_by": cited_by,
        "part": _in_order(minutes, without) if minutes else None,
        "cited": dict(distinguish_sources((name, clean(one)) for name, one in found)),
        "given": 0,
    }


def _event_of(name: str, data: str) -> CouncilEvent:
    if name == "reading":
        return ReadingEvent(Progress(**json.loads(data), current=""))
    if name == "minutes":
        return MinutesEvent(adapter_of(Minutes).validate_json(data))
    return adapter_of(MeetingEvent).validate_json(data)


@pages.post("/meetings/{meeting_id}/cancel", openapi_extra=READ_WHOLE)
async def cancel(visit: Visited, meeting: OneMeeting) -> Response:
    """End a meeting where it is."""
    await operations.cancel_meeting(visit, meeting)
    return visit.redirect(f"/meetings/{meeting.id}")


# --- the minutes --------------------------------------------------------------------------------


def _in_order(minutes: Minutes, without: str) -> Part:
    """Return minutes as a page shows them: tables first, and in them what is disputed.

    Its rounds show the statements of a meeting that is followed.
    """
    whole = outline.outline(minutes)
    found = outline.positions(contents.Reader(minutes))
    parts = [one for one in whole.parts if one.key != without]
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
    format: SaveFormat,  # noqa: A002 - in addresses
) -> Response:
    """Return minutes as a file: Markdown with footnotes, a page, or a bundle to be verified."""
    minutes = (await operations.show_meeting(visit, meeting)).minutes
    if minutes is None:
        raise NotFoundError("The meeting has no minutes.")
    return await minutes_file(visit, minutes, format)


async def minutes_file(visit: Visit, minutes: Minutes, format: str) -> Response:  # noqa: A002 - as above
    """Return minutes as a file of a format."""
    if format == "json":
        text = bundle_json(await visit.look(lambda library: library.councils.bundle(minutes)))
    else:
        made = outline.minutes_markdown if format == "md" else outline.minutes_html
        text = made(minutes)
    return file_of(text, f"minutes.{format}")
