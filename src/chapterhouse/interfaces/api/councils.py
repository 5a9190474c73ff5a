"""Personas and councils over HTTP, and meetings: begun at once, followed as long as wanted."""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Final

from fastapi import Depends, Header, Query
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import ConfigDict, Field, StrictBool

from chapterhouse.agents.registry import AgentRemoval
from chapterhouse.council.meeting.session import MeetingOptions
from chapterhouse.errors import NotFoundError
from chapterhouse.interfaces.api.asking import event_stream
from chapterhouse.interfaces.api.meetings import Happening, Meeting, NumberedEvent
from chapterhouse.interfaces.api.routing import needs, router
from chapterhouse.interfaces.api.schemas import Body, Line, Question
from chapterhouse.interfaces.api.state import Exchange, Exchanged
from chapterhouse.interfaces.schemas import Result
from chapterhouse.interfaces.values import (
    CouncilEntry,
    CouncilList,
    PersonaEntry,
    PersonaList,
    adapter_of,
    all_councils,
    all_personas,
    as_json,
    meeting_events,
    public_event,
    public_minutes,
)
from chapterhouse.library import Library
from chapterhouse.types import CouncilEvent, MeetingEvent, Minutes, MinutesEvent, ReadingEvent
from chapterhouse.types.access import AccessLevel

READ: Final = needs(AccessLevel.READ, whole=True)
READ_SOME: Final = needs(AccessLevel.READ)
ADMIN: Final = needs(AccessLevel.ADMIN, whole=True)
councils: Final = router("/api/councils", "councils")
meetings: Final = router("/api/meetings", "meetings")


class MeetingBody(Body):
    """What a council is to discuss."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "question": "Should the pier be renewed before winter?",
                    "options": ["Renew it now", "Wait until spring"],
                }
            ]
        }
    )

    question: Question
    options: Annotated[tuple[Line, ...], Field(max_length=20)] = Field(
        default=(), description="What is to be decided between; the council's own when empty."
    )
    model: str | None = Field(
        default=None,
        max_length=100,
        description="A model of the settings that speaks for everybody; “none” only reads.",
    )
    remember: StrictBool = Field(
        default=True,
        description=(
            "Whether the council remembers the meeting; only where the server was started with"
            " --memory."
        ),
    )


@dataclass(frozen=True, slots=True)
class MeetingOutcome(Meeting):
    """A meeting with what came of it.

    Attributes:
        minutes: Once it has ended well.
        problem: Why it ended without minutes, as problem details (RFC 9457).
    """

    minutes: Minutes | None
    problem: dict[str, Any] | None


class MeetingsResult(Result):
    """Meetings, newest first."""

    meetings: tuple[Meeting, ...]


@councils.get("", openapi_extra=READ)
async def list_councils(exchange: Exchanged) -> CouncilList:
    """List the councils, those that cannot meet with the reason."""
    return await exchange.look(all_councils)


@councils.get("/{slug}", openapi_extra=READ)
async def show_council(exchange: Exchanged, slug: str) -> CouncilEntry:
    """Show a council."""

    def show(library: Library) -> CouncilEntry:
        require_council(library, slug)
        return next(one for one in all_councils(library).councils if one.slug == slug)

    return await exchange.look(show)


class AgentRemovalResult(Result):
    """What went with a persona or council, or would go in a dry run.

    Attributes:
        councils: Those that it sits in or presides over: they cannot meet until they are changed.
        documents: How many were on its shelves alone, and left the library.
        memories: How many remembered questions and answers were its own, and are forgotten.
    """

    slug: str
    display_name: str
    councils: tuple[str, ...]
    documents: int
    memories: int
    dry_run: bool


DryRun = Annotated[bool, Query(description="Say what would go, and change nothing.")]


@councils.delete("/{slug}", openapi_extra=ADMIN)
async def remove_council(
    exchange: Exchanged, slug: str, dry_run: DryRun = False
) -> AgentRemovalResult:
    """Remove a council with its documents and memories; its folder is moved aside."""
    return _removed(await remove_agent(exchange, "council", slug, dry_run=dry_run), dry_run=dry_run)


async def remove_agent(exchange: Exchange, kind: str, slug: str, *, dry_run: bool) -> AgentRemoval:
    """Remove a persona or council that is called exactly so, or say what would go with it."""

    def work(library: Library) -> AgentRemoval:
        registry = library.personas if kind == "persona" else library.councils
        if slug not in registry.names():
            raise NotFoundError(f"There is no {kind} '{slug[:100]}'.")
        return registry.remove_agent(slug, dry_run=dry_run)

    if dry_run:
        return await exchange.look_at_whole(work)
    return await exchange.change(f"{kind}.remove", slug, work)


def _removed(found: AgentRemoval, *, dry_run: bool) -> AgentRemovalResult:
    names = ("slug", "display_name", "councils", "documents", "memories")
    return AgentRemovalResult(**{one: getattr(found, one) for one in names}, dry_run=dry_run)


@councils.post("/{slug}/meetings", status_code=202, openapi_extra=READ)
async def convene(exchange: Exchanged, slug: str, body: MeetingBody) -> Meeting:
    """Let a council meet. The answer comes at once; follow the meeting by its events."""
    return await open_meeting(
        exchange, slug, body, interface="api", remember=exchange.remember and body.remember
    )


async def open_meeting(
    exchange: Exchange, slug: str, body: MeetingBody, *, interface: str, remember: bool
) -> Meeting:
    """Let a council meet, and count and perhaps remember it as asked over an interface."""
    await exchange.look(lambda library: require_council(library, slug, can_meet=True))
    options = MeetingOptions(
        interface=interface,
        counted=True,
        model=body.model,
        options=body.options or None,
        remember=remember,
    )

    async def happenings() -> AsyncGenerator[Happening]:
        events = exchange.events(
            lambda library: meeting_events(library, slug, body.question, options)
        )
        async with aclosing(events) as opened:
            async for event in opened:
                yield _happening(event)

    return exchange.server.meetings.open(exchange.caller, slug, body.question, happenings())


def require_council(library: Library, slug: str, *, can_meet: bool = False) -> None:
    """See that there is a council of exactly this name."""
    if slug not in library.councils.names():
        raise NotFoundError(f"There is no council '{slug[:100]}'.")
    if can_meet:
        library.councils.require(slug)


# --- meetings ----------------------------------------------------------------------------------


async def meeting_of(exchange: Exchanged, meeting_id: str) -> Meeting:
    """Return the meeting that a request is about."""
    return exchange.server.meetings.get(exchange.caller, meeting_id)


OneMeeting = Annotated[Meeting, Depends(meeting_of)]


@meetings.get("", openapi_extra=READ)
async def list_meetings(exchange: Exchanged) -> MeetingsResult:
    """List your own meetings that go on, or ended within the last hour, newest first."""
    return MeetingsResult(meetings=exchange.server.meetings.list(exchange.caller))


@meetings.get("/{meeting_id}", openapi_extra=READ)
async def show_meeting(exchange: Exchanged, meeting: OneMeeting) -> MeetingOutcome:
    """Show a meeting: how far it is, and the minutes once it has ended."""
    minutes, problem = exchange.server.meetings.outcome(meeting)
    return MeetingOutcome(
        **asdict(meeting),
        minutes=adapter_of(Minutes).validate_json(minutes) if minutes else None,
        problem=json.loads(problem) if problem else None,
    )


@meetings.get("/{meeting_id}/events", openapi_extra=READ, response_class=EventSourceResponse)
async def follow_meeting(
    exchange: Exchanged,
    meeting: OneMeeting,
    last_event_id: Annotated[
        int, Header(ge=0, description="Begin after this event; 0: from the beginning.")
    ] = 0,
) -> AsyncIterator[ServerSentEvent]:
    """Follow a meeting from its beginning: the last event is ``minutes`` or ``error``.

    Before it come ``reading``, ``round-began``, ``member-began``, ``text``,
    ``spoke``, ``resumed``, ``absent`` and ``round-ended``. ``stopped`` says that the server stops.
    """
    followed = exchange.server.meetings.follow(meeting, last_event_id)
    async for event in event_stream(followed, _event, exchange.server.stopping):
        yield event


@meetings.post("/{meeting_id}/cancel", openapi_extra=READ)
async def cancel_meeting(exchange: Exchanged, meeting: OneMeeting) -> MeetingOutcome:
    """End a meeting where it is; one that has ended stays as it is."""
    await exchange.server.meetings.cancel(meeting.id)
    return await show_meeting(exchange, await meeting_of(exchange, meeting.id))


def _happening(event: CouncilEvent) -> Happening:
    match event:
        case ReadingEvent(progress):
            return "reading", json.dumps({"done": progress.done, "total": progress.total})
        case MinutesEvent(minutes):
            return "minutes", as_json(public_minutes(minutes))
        case MeetingEvent(kind):
            return kind.value, as_json(public_event(event))


def _event(numbered: NumberedEvent) -> ServerSentEvent:
    number, name, data = numbered
    return ServerSentEvent(event=name, id=str(number) if number else None, raw_data=data)


personas: Final = router("/api/personas", "personas")


@personas.get("", openapi_extra=READ_SOME)
async def list_personas(exchange: Exchanged) -> PersonaList:
    """List the personas that you may ask, those that cannot be used with the reason."""
    return await exchange.look(all_personas)


@personas.get("/{slug}", openapi_extra=READ_SOME)
async def show_persona(exchange: Exchanged, slug: str) -> PersonaEntry:
    """Show a persona."""
    found = (await exchange.look(all_personas)).personas
    for one in found:
        if one.slug == slug:
            return one
    raise NotFoundError(f"There is no persona '{slug[:100]}'.")


@personas.delete("/{slug}", openapi_extra=ADMIN)
async def remove_persona(
    exchange: Exchanged, slug: str, dry_run: DryRun = False
) -> AgentRemovalResult:
    """Remove a persona with their documents and memories; their folder is moved aside."""
    return _removed(await remove_agent(exchange, "persona", slug, dry_run=dry_run), dry_run=dry_run)
