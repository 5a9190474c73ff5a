"""A meeting: round after round, then the map and the minutes.

Who speaks, and who presides, is passed in: for a meeting they quote or ask models, for a plan they
only note what would be asked.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Protocol

from chapterhouse import telemetry
from chapterhouse.agents.council_model import CHAIR, RoundKind
from chapterhouse.council.map.disagreement import disagreement_map
from chapterhouse.council.meeting.chair import summed_up
from chapterhouse.council.meeting.presiding import Synthesis
from chapterhouse.council.meeting.record import Record
from chapterhouse.council.meeting.rounds import Kept, Limits, OnEvent, Speak, held, on_record
from chapterhouse.council.meeting.seating import Room, Speaker, Table
from chapterhouse.council.meeting.sources import facts_of
from chapterhouse.council.meeting.turn import OnText, Turn
from chapterhouse.errors import ChapterhouseError
from chapterhouse.replying.threads import beside
from chapterhouse.types import (
    DisagreementMap,
    MeetingEvent,
    MeetingEventKind,
    Memory,
    Minutes,
    Usage,
)

_log: Final = logging.getLogger("chapterhouse.council")

Preside = Callable[[Speaker, Synthesis, OnText], Awaitable[Minutes]]
Remind = Callable[[Speaker], tuple[Memory, ...]]


class KeptMeeting(Kept, Protocol):
    """Where a whole meeting is kept."""

    def summed_up(self, draft: Minutes) -> Minutes | None:
        """Return what the chair's model wrote about the same before; else None."""
        ...


@dataclass(frozen=True, slots=True)
class Meeting:
    """What a meeting goes by.

    Attributes:
        room: The library.
        kept: Where what is said is kept.
        on_event: Is told what happens.
        speak: Lets a member speak.
        preside: Lets the chair sum up.
        remind: What a member held in earlier meetings.
    """

    room: Room
    kept: KeptMeeting
    on_event: OnEvent
    speak: Speak
    preside: Preside
    remind: Remind


async def meet(table: Table, meeting: Meeting) -> Minutes:
    """Hold a meeting and return its minutes.

    Args:
        table: The council with everyone in their seat, and what is put to it.
        meeting: What it goes by.
    """
    council, question = table.council, table.question
    allowed = meeting.room.settings.telemetry.content
    shared = telemetry.sharing_content(allowed=allowed)
    with shared, telemetry.workflow_span(council.slug, question) as recorder:
        minutes = await _held(table, meeting)
        telemetry.tell_minutes(recorder, minutes)
        return minutes


async def _held(table: Table, meeting: Meeting) -> Minutes:
    council, question, record = table.council, table.question, Record()
    for number, entry in enumerate(council.rounds, start=1):
        turn = Turn(council, question, entry, number, record, _titles(table))
        if entry.kind is RoundKind.SYNTHESIS:  # which ends a council
            return await _synthesis(turn, table, meeting)
        record = await _round(turn, table, meeting)
    return _whole(await _drafted(question, table, record, meeting.room), record)


def _titles(table: Table) -> Sequence[tuple[str, str]]:
    return [(speaker.key, speaker.title) for speaker in table.everyone]


async def _round(turn: Turn, table: Table, meeting: Meeting) -> Record:
    keys = turn.round.speakers or tuple(speaker.key for speaker in table.speakers)
    speakers = [table.speaker(key) for key in keys]
    limits = Limits(turn.council.parallel, turn.council.round_timeout_seconds)
    _tell(meeting, turn, MeetingEventKind.ROUND_BEGAN)
    with telemetry.round_span(turn.round.name, turn.number, len(speakers)):
        turns = [(speaker, replace(turn, reminded=meeting.remind(speaker))) for speaker in speakers]
        outcomes = await held(turns, limits, meeting.speak, meeting.kept, meeting.on_event)
    _tell(meeting, turn, MeetingEventKind.ROUND_ENDED)
    return on_record(turn.record, outcomes)


async def _synthesis(turn: Turn, table: Table, meeting: Meeting) -> Minutes:
    """Return what the chair sums up, at most in the time of a round; else what rules can write."""
    draft = await _drafted(turn.question, table, turn.record, meeting.room)
    chair = table.chair
    _tell(meeting, turn, MeetingEventKind.ROUND_BEGAN)
    earlier = meeting.kept.summed_up(draft) if chair and chair.model else None
    if earlier is not None:
        _tell(meeting, turn, MeetingEventKind.RESUMED, CHAIR)
        _tell(meeting, turn, MeetingEventKind.ROUND_ENDED)
        return earlier
    if chair is not None and draft.map.rows:
        seconds = chair.timeout_seconds or turn.council.round_timeout_seconds
        _tell(meeting, turn, MeetingEventKind.MEMBER_BEGAN, CHAIR)
        with telemetry.round_span(turn.round.name, turn.number, 1):
            synthesis = Synthesis(table, replace(turn, reminded=meeting.remind(chair)), draft)
            tell = partial(_tell, meeting, turn, MeetingEventKind.TEXT, CHAIR)
            try:
                async with asyncio.timeout(seconds) as limit:
                    draft = await meeting.preside(chair, synthesis, tell)
            except Exception as error:  # noqa: BLE001 - whatever the chair does, there are minutes
                why = _too_long(seconds) if limit.expired() else _failure(error)
                reason = f"{why}, so rules summed up."
                draft = replace(draft, warnings=(*draft.warnings, reason))
                _tell(meeting, turn, MeetingEventKind.ABSENT, CHAIR, reason)
    _tell(meeting, turn, MeetingEventKind.ROUND_ENDED)
    return _whole(draft, turn.record)


def _too_long(seconds: float) -> str:
    return f"The chair took longer than {seconds:g} seconds"


def _failure(error: Exception) -> str:
    if isinstance(error, ChapterhouseError):
        return f"The chair could not sum up ({error.message})"
    _log.error("the chair could not sum up", exc_info=error)
    return f"Something went wrong with the chair ({type(error).__name__})"


async def _drafted(question: str, table: Table, record: Record, room: Room) -> Minutes:
    """Return the minutes that rules can write."""
    chart = await beside(partial(_charted, table, record, room))
    return await beside(partial(summed_up, question, table, record, chart, room.parts))


def _charted(table: Table, record: Record, room: Room) -> DisagreementMap:
    shelves = dict.fromkeys(name for one in table.everyone for name in one.request.shelves)
    facts = facts_of(record.by_number, tuple(shelves), room.parts.engines.store)
    members = [speaker.key for speaker in table.speakers]
    if any(claim.member == CHAIR for claim in record.claims):
        members.append(CHAIR)
    return disagreement_map(members, record.statements, record.by_number, facts)


def _whole(minutes: Minutes, record: Record) -> Minutes:
    """Return minutes with what all models used together."""
    used = [statement.usage for statement in record.statements if statement.usage]
    used += [minutes.usage] if minutes.usage else []
    total: Usage | None = None
    for usage in used:
        total = usage if total is None else total + usage
    return replace(minutes, usage=total)


def _tell(
    meeting: Meeting, turn: Turn, kind: MeetingEventKind, member: str = "", text: str = ""
) -> None:
    meeting.on_event(MeetingEvent(kind, turn.round.name, turn.number, member, text))
