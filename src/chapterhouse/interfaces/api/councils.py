"""Personas and councils over HTTP, and meetings: begun at once, followed as long as wanted."""

import json
from collections.abc import AsyncIterator
from typing import Annotated, Any, Final

from fastapi import Depends, Header
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import AliasPath, BeforeValidator, ConfigDict, Field, StrictBool

from chapterhouse.council.meeting.session import MeetingOptions
from chapterhouse.errors import NotFoundError
from chapterhouse.interfaces.agent_results import all_councils, all_personas, meeting_events
from chapterhouse.interfaces.api.meetings import Meeting, MeetingState, NumberedEvent, Opening
from chapterhouse.interfaces.api.problems import problem
from chapterhouse.interfaces.api.routing import needs, router
from chapterhouse.interfaces.api.schemas import Body, Line, Question
from chapterhouse.interfaces.api.state import Exchanged
from chapterhouse.interfaces.api.streaming import event_stream
from chapterhouse.interfaces.schemas import (
    CitationResult,
    CouncilResult,
    CouncilsResult,
    MinutesResult,
    PersonaResult,
    PersonasResult,
    Result,
)
from chapterhouse.interfaces.service import without_paths
from chapterhouse.library import Library
from chapterhouse.types import (
    MeetingEvent,
    MeetingEventKind,
    MinutesEvent,
    ReadingEvent,
    Reply,
    Statement,
)
from chapterhouse.types.access import AccessLevel

READ: Final = needs(AccessLevel.READ, whole=True)
READ_SOME: Final = needs(AccessLevel.READ)
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


class MeetingResult(Result):
    """A meeting of a council, and how far it is."""

    id: str
    council: str = Field(validation_alias=AliasPath("opening", "council"), description="The slug.")
    question: str = Field(validation_alias=AliasPath("opening", "question"))
    state: MeetingState = Field(description="open: it goes on, or waits for a place.")
    began: int = Field(description="In seconds since 1970.")
    ended: int = Field(description="In seconds since 1970; 0: it has not.")


class MeetingDetailResult(MeetingResult):
    """A meeting with what came of it."""

    minutes: MinutesResult | None = Field(description="Once it has ended well.")
    problem: Annotated[
        dict[str, Any] | None,
        BeforeValidator(lambda error: error and json.loads(bytes(problem(error).body))),
    ] = Field(
        validation_alias="error",
        description="Why it ended without minutes, as problem details (RFC 9457).",
    )


class MeetingsResult(Result):
    """Meetings, newest first."""

    meetings: tuple[MeetingResult, ...]


class MemberTurnResult(Result):
    """What a member said in a round; it cites by number."""

    statements: tuple[Statement, ...]
    replies: tuple[Reply, ...]
    option: str
    missing: tuple[str, ...]
    open_questions: tuple[str, ...]
    citations: tuple[CitationResult, ...]
    method: str


class MeetingEventResult(Result):
    """Something that happened in a meeting."""

    round: str
    number: int = Field(description="Of the round, from 1.")
    member: str = Field(description="The key; chair for who presides; empty for the round itself.")
    text: str
    turn: MemberTurnResult | None


@councils.get("", openapi_extra=READ)
async def list_councils(exchange: Exchanged) -> CouncilsResult:
    """List the councils, those that cannot meet with the reason."""
    return await exchange.look(all_councils)


@councils.get("/{slug}", openapi_extra=READ)
async def show_council(exchange: Exchanged, slug: str) -> CouncilResult:
    """Show a council."""

    def show(library: Library) -> CouncilResult:
        require_council(library, slug)
        return next(one for one in all_councils(library).councils if one.slug == slug)

    return await exchange.look(show)


@councils.post("/{slug}/meetings", status_code=202, openapi_extra=READ)
async def convene(exchange: Exchanged, slug: str, body: MeetingBody) -> MeetingResult:
    """Let a council meet. The answer comes at once; follow the meeting by its events."""
    await exchange.look(lambda library: require_council(library, slug, can_meet=True))
    options = MeetingOptions(
        interface="api",
        counted=True,
        model=body.model,
        options=body.options or None,
        remember=exchange.remember and body.remember,
    )
    caller = exchange.caller
    opening = Opening(caller.workspace, caller.grant.name, slug, body.question)
    events = exchange.events(lambda library: meeting_events(library, slug, body.question, options))
    begun = exchange.server.meetings.open(opening, events)
    return MeetingResult.model_validate(begun)


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
    found = exchange.server.meetings.list(exchange.caller)
    return MeetingsResult(meetings=tuple(map(MeetingResult.model_validate, found)))


@meetings.get("/{meeting_id}", openapi_extra=READ)
async def show_meeting(meeting: OneMeeting) -> MeetingDetailResult:
    """Show a meeting: how far it is, and the minutes once it has ended."""
    return MeetingDetailResult.model_validate(meeting)


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
    events = event_stream(meeting.follow(last_event_id), _event, exchange.server.stopping)
    async for event in events:
        yield event


@meetings.post("/{meeting_id}/cancel", openapi_extra=READ)
async def cancel_meeting(exchange: Exchanged, meeting: OneMeeting) -> MeetingDetailResult:
    """End a meeting where it is; one that has ended stays as it is."""
    await exchange.server.meetings.cancel(meeting)
    return MeetingDetailResult.model_validate(meeting)


def _event(numbered: NumberedEvent) -> ServerSentEvent:
    shown: Result | dict[str, int]
    number, happened = numbered
    match happened:
        case ReadingEvent(progress):
            name, shown = "reading", {"done": progress.done, "total": progress.total}
        case MinutesEvent(minutes):
            name, shown = "minutes", MinutesResult.model_validate(minutes)
        case MeetingEvent(kind) as event:
            is_written = kind is MeetingEventKind.TEXT  # by a model: sent as it is
            text = event.text if is_written else without_paths(event.text)
            name, shown = kind.value, MeetingEventResult.of(event, text=text)
    return ServerSentEvent(event=name, id=str(number), data=shown)


personas: Final = router("/api/personas", "personas")


@personas.get("", openapi_extra=READ_SOME)
async def list_personas(exchange: Exchanged) -> PersonasResult:
    """List the personas that you may ask, those that cannot be used with the reason."""
    return await exchange.look(all_personas)


@personas.get("/{slug}", openapi_extra=READ_SOME)
async def show_persona(exchange: Exchanged, slug: str) -> PersonaResult:
    """Show a persona."""
    found = (await exchange.look(all_personas)).personas
    for one in found:
        if one.slug == slug:
            return one
    raise NotFoundError(f"There is no persona '{slug[:100]}'.")
