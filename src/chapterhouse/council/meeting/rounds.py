"""One round of a council: everyone speaks at the same time, and nobody is waited for in vain.

What is said is put on record in the order of the seats, whoever was first, so that a round that is
held again gives the same record.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, Protocol

from chapterhouse.answering.sealed import EXTRACTIVE
from chapterhouse.council.meeting.record import Record, absent, recorded
from chapterhouse.council.meeting.seating import Speaker
from chapterhouse.council.meeting.turn import OnText, Turn
from chapterhouse.errors import ChapterhouseError
from chapterhouse.types import Absence, MeetingEvent, MeetingEventKind, Statement

_log: Final = logging.getLogger("chapterhouse.council")

OnEvent = Callable[[MeetingEvent], None]
Speak = Callable[[Speaker, Turn, OnText | None], Awaitable[Statement]]


class Kept(Protocol):
    """Where what is said is kept as soon as it is said."""

    def said(self, number: int, member: str) -> Statement | None:
        """Return what a member said in a round before the meeting was interrupted."""
        ...

    def keep(self, number: int, statement: Statement) -> None:
        """Keep what a member said; it survives a crash once this returns."""
        ...

    def keep_absence(self, number: int, absence: Absence) -> None:
        """Keep that a member did not speak."""
        ...


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a round may happen at once, and how long it may take."""

    parallel: int
    seconds: float


async def held(
    turns: Sequence[tuple[Speaker, Turn]],
    limits: Limits,
    speak: Speak,
    kept: Kept,
    on_event: OnEvent,
) -> tuple[Statement | Absence, ...]:
    """Let everyone of a round speak; return what each said, or why not, in the order of the seats.

    Args:
        turns: Who speaks, and what each is asked.
        limits: Members at a time, and seconds until the round ends for whoever has not spoken.
        speak: Lets one member speak.
        kept: Where what was said is kept, and found after an interruption.
        on_event: Is told what happens.
    """
    room = asyncio.Semaphore(limits.parallel)

    async def one(speaker: Speaker, turn: Turn) -> Statement | Absence:
        async with room:
            return await _spoken(speaker, turn, speak, kept, on_event)

    tasks = [asyncio.create_task(one(speaker, turn)) for speaker, turn in turns]
    try:
        await asyncio.wait(tasks, timeout=limits.seconds)
    finally:
        late = [task for task in tasks if not task.done()]
        for task in late:
            task.cancel()
    outcomes = list[Statement | Absence]()
    for task, (speaker, turn) in zip(tasks, turns, strict=True):
        if task in late:
            reason = f"The round ended after {_seconds(limits.seconds)}."
            outcomes.append(_missing(speaker, turn, reason, kept, on_event))
        else:
            outcomes.append(task.result())
    return tuple(outcomes)


def on_record(record: Record, outcomes: Sequence[Statement | Absence]) -> Record:
    """Return the record with what came of a round."""
    for outcome in outcomes:
        if isinstance(outcome, Absence):
            record = absent(record, outcome)
        else:
            record = recorded(record, outcome)
    return record


async def _spoken(
    speaker: Speaker, turn: Turn, speak: Speak, kept: Kept, on_event: OnEvent
) -> Statement | Absence:
    """Return what a member says, or why they do not: one who fails stops nobody else."""
    event = MeetingEvent(MeetingEventKind.MEMBER_BEGAN, turn.round.name, turn.number, speaker.key)
    earlier = kept.said(turn.number, speaker.key)
    if earlier is not None:
        on_event(replace(event, kind=MeetingEventKind.RESUMED, statement=earlier))
        return earlier
    on_event(event)

    def tell(text: str) -> None:
        on_event(replace(event, kind=MeetingEventKind.TEXT, text=text))

    try:
        async with asyncio.timeout(speaker.timeout_seconds) as limit:
            said = await speak(speaker, turn, tell)
    except TimeoutError:
        if not limit.expired():
            return _missing(speaker, turn, "They took too long.", kept, on_event)
        reason = f"They took longer than {_seconds(speaker.timeout_seconds or 0)}."
        return _missing(speaker, turn, reason, kept, on_event)
    except ChapterhouseError as error:
        return _missing(speaker, turn, error.message, kept, on_event)
    except Exception as error:  # noqa: BLE001 - whatever one member does, the others go on
        _log.exception("%s could not speak", speaker.key)
        reason = f"Something went wrong with them ({type(error).__name__})."
        return _missing(speaker, turn, reason, kept, on_event)
    task = asyncio.current_task()
    if task is not None and task.cancelling():  # the round ended, whatever they made of that
        raise asyncio.CancelledError
    if not stands_in(said, speaker):
        said = _put_down(said, turn, kept)
    on_event(replace(event, kind=MeetingEventKind.SPOKE, statement=said))
    return said


def stands_in(said: Statement, speaker: Speaker) -> bool:
    """Whether quotations stand in for a model that did not answer; it is asked again next time."""
    return speaker.model is not None and speaker.inner is None and said.method == EXTRACTIVE


def _put_down(said: Statement, turn: Turn, kept: Kept) -> Statement:
    """Keep what was said; where that is not possible the meeting goes on and says so."""
    try:
        kept.keep(turn.number, said)
    except ChapterhouseError as error:
        warning = f"This could not be written to the transcript: {error.message}"
        return replace(said, warnings=(*said.warnings, warning))
    return said


def _seconds(number: float) -> str:
    return f"{number:g} second{'' if number == 1 else 's'}"


def _missing(speaker: Speaker, turn: Turn, reason: str, kept: Kept, on_event: OnEvent) -> Absence:
    absence = Absence(speaker.key, turn.round.name, reason)
    with suppress(ChapterhouseError):  # who is absent is asked again in any case
        kept.keep_absence(turn.number, absence)
    on_event(
        MeetingEvent(MeetingEventKind.ABSENT, turn.round.name, turn.number, speaker.key, reason)
    )
    return absence
