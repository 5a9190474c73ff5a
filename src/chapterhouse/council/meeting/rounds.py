"""The rounds of a meeting: everyone speaks at the same time, and nobody is waited for in vain.

What is said is put on record in the order of the seats, whoever was first, so that a round that is
held again gives the same record. In the end come the minutes.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Final

from chapterhouse import telemetry
from chapterhouse.agents.council_model import CHAIR, RoundKind
from chapterhouse.answering.runtime import Runtime
from chapterhouse.answering.tool_texts import with_tool_texts
from chapterhouse.concurrency import run_in_thread
from chapterhouse.council.meeting.chair import draft_minutes, write_minutes
from chapterhouse.council.meeting.record import (
    Allowance,
    Ledger,
    OnText,
    Record,
    TurnTask,
    add_outcome,
)
from chapterhouse.council.meeting.session import Participant, Session
from chapterhouse.council.meeting.transcript import Transcript
from chapterhouse.council.meeting.written import write_turn
from chapterhouse.council.minutes.contents import tool_texts
from chapterhouse.errors import ChapterhouseError
from chapterhouse.types import (
    EXTRACTIVE,
    Absence,
    CouncilEvent,
    Ground,
    MeetingEvent,
    MeetingEventKind,
    MemberTurn,
    Memory,
    Minutes,
    Statement,
    Usage,
)

_log: Final = logging.getLogger("chapterhouse.council")

OnEvent = Callable[[MeetingEvent], None]
Speak = Callable[[Participant, TurnTask, OnText | None], Awaitable[MemberTurn]]


async def hold_round(
    tasks: Sequence[tuple[Participant, TurnTask]],
    speak: Speak,
    transcript: Transcript,
    on_event: OnEvent,
    *,
    parallel: int,
    seconds: float,
) -> tuple[MemberTurn | Absence, ...]:
    """Let everyone of a round speak; return what each said, or why not, in the order of the seats.

    So many speak at a time as ``parallel`` says; after ``seconds`` it ends for who has not spoken.
    """
    everybody, models = asyncio.Semaphore(parallel), dict[str, asyncio.Semaphore]()

    async def one(participant: Participant, task: TurnTask) -> MemberTurn | Absence:
        model, at_once = participant.model, participant.capacity.at_once
        own: AbstractAsyncContextManager[None] = nullcontext()
        if model and at_once:  # no more of one model than its server works on
            own = models.setdefault(model.fingerprint, asyncio.Semaphore(at_once))
        async with own, everybody:
            return await _take_turn(participant, task, speak, transcript, on_event)

    running = [asyncio.create_task(one(participant, task)) for participant, task in tasks]
    try:
        await asyncio.wait(running, timeout=seconds)
    finally:
        late = [one for one in running if not one.done()]
        for unfinished in late:
            unfinished.cancel()
    outcomes = list[MemberTurn | Absence]()
    for ended, (participant, task) in zip(running, tasks, strict=True):
        if ended in late:
            reason = f"The round ended after {_seconds(seconds)}."
            outcomes.append(_missing(participant, task, reason, transcript, on_event))
        else:
            outcomes.append(ended.result())
    return tuple(outcomes)


async def _take_turn(
    participant: Participant,
    task: TurnTask,
    speak: Speak,
    transcript: Transcript,
    on_event: OnEvent,
) -> MemberTurn | Absence:
    """Return what a member says, or why they do not: one who fails stops nobody else."""
    event = MeetingEvent(
        MeetingEventKind.MEMBER_BEGAN, task.round.name, task.number, participant.key
    )
    earlier = transcript.turn(task.number, participant.key)
    if earlier is not None:
        on_event(replace(event, kind=MeetingEventKind.RESUMED, turn=earlier))
        return earlier
    on_event(event)

    def on_text(text: str) -> None:
        on_event(replace(event, kind=MeetingEventKind.TEXT, text=text))

    reason = ""
    try:
        async with asyncio.timeout(participant.timeout_seconds) as limit:
            turn = await speak(participant, task, on_text)
    except TimeoutError:
        reason = "They took too long."
        if limit.expired():
            reason = f"They took longer than {_seconds(participant.timeout_seconds or 0)}."
    except ChapterhouseError as error:
        reason = f"{error.message} {error.hint}".strip()
    except Exception as error:  # noqa: BLE001 - whatever one member does, the others go on
        _log.exception("%s could not speak", participant.key)
        reason = f"Something went wrong with them ({type(error).__name__})."
    if reason:
        return _missing(participant, task, reason, transcript, on_event)
    running = asyncio.current_task()
    if running is not None and running.cancelling():  # the round ended, whatever they made of it
        raise asyncio.CancelledError
    try:
        transcript.add_turn(task.number, turn)
    except ChapterhouseError as error:  # the meeting goes on and says so
        warning = f"This could not be written to the transcript: {error.message}"
        turn = replace(turn, warnings=(*turn.warnings, warning))
    on_event(replace(event, kind=MeetingEventKind.SPOKE, turn=turn))
    return turn


def _seconds(number: float) -> str:
    return f"{number:.3g} second{'' if number == 1 else 's'}"


def _missing(
    participant: Participant, task: TurnTask, reason: str, transcript: Transcript, on_event: OnEvent
) -> Absence:
    absence = Absence(participant.key, task.round.name, reason)
    with suppress(ChapterhouseError):  # who is absent is asked again in any case
        transcript.add_absence(task.number, absence)
    on_event(
        MeetingEvent(MeetingEventKind.ABSENT, task.round.name, task.number, participant.key, reason)
    )
    return absence


@dataclass(frozen=True, slots=True)
class Meeting:
    """What a meeting goes by.

    Attributes:
        reminders: What members held in earlier meetings, by key.
    """

    runtime: Runtime
    transcript: Transcript
    on_event: OnEvent
    allowance: Allowance
    reminders: Mapping[str, tuple[Memory, ...]] = field(default_factory=dict)

    def remind(self, participant: Participant, task: TurnTask) -> TurnTask:
        """Return a task with what who is asked held before."""
        return replace(task, reminded=self.reminders.get(participant.key, ()))


async def hold_meeting(session: Session, meeting: Meeting) -> Minutes:
    """Hold a meeting and return its minutes."""
    council, question = session.council, session.question
    allowed = meeting.runtime.settings.telemetry.content
    shared = telemetry.sharing_content(allowed=allowed)
    with shared, telemetry.workflow_span(council.slug, question) as recorder:
        minutes = await _hold(session, meeting)
        telemetry.record_minutes(recorder, minutes)
        return minutes


async def _hold(session: Session, meeting: Meeting) -> Minutes:
    council, record = session.council, Record()
    titles = {one.key: one.title for one in session.everyone}
    for number, entry in enumerate(council.rounds if session.debates else (), start=1):
        task = TurnTask(council, session.question, session.aspects, entry, number, record, titles)
        if entry.kind is RoundKind.SYNTHESIS:  # which ends a council
            return await _synthesis(task, session, meeting)
        if record.turns and meeting.allowance.is_used:
            meeting.allowance.note(f"the round {entry.name.replace('_', ' ')} was not held")
            continue
        record = await _round(task, session, meeting)
    return _whole(await _draft(session, record, meeting.runtime), record, meeting)


async def _round(task: TurnTask, session: Session, meeting: Meeting) -> Record:
    keys = task.round.speakers or tuple(participant.key for participant in session.participants)
    everyone = [session.participant(key) for key in keys]
    speakers = [one for one in everyone if one.model or one.inner]
    seconds = min(task.council.round_timeout_seconds, meeting.allowance.seconds_left)
    _emit(meeting, task, MeetingEventKind.ROUND_BEGAN)
    with telemetry.round_span(task.round.name, task.number, len(speakers)):
        tasks = [(one, meeting.remind(one, task)) for one in speakers]
        outcomes = await hold_round(
            tasks,
            partial(speak, meeting=meeting),
            meeting.transcript,
            meeting.on_event,
            parallel=task.council.parallel,
            seconds=seconds,
        )
    if not meeting.allowance.seconds_left:
        meeting.allowance.note(f"the round {task.round.name.replace('_', ' ')} was ended")
    _emit(meeting, task, MeetingEventKind.ROUND_ENDED)
    return reduce(add_outcome, outcomes, task.record)


async def _synthesis(task: TurnTask, session: Session, meeting: Meeting) -> Minutes:
    """Return what the chair sums up, at most in the time of a round; else what was said."""
    draft = await _draft(session, task.record, meeting.runtime)
    chair = session.chair
    _emit(meeting, task, MeetingEventKind.ROUND_BEGAN)
    earlier = meeting.transcript.minutes if chair and chair.model else None
    if earlier is not None and earlier.method != draft.method:
        _emit(meeting, task, MeetingEventKind.RESUMED, CHAIR)
        _emit(meeting, task, MeetingEventKind.ROUND_ENDED)
        return earlier
    if chair is not None and draft.statements:
        seconds = chair.timeout_seconds or task.council.round_timeout_seconds
        seconds = min(seconds, meeting.allowance.seconds_left)
        _emit(meeting, task, MeetingEventKind.MEMBER_BEGAN, CHAIR)
        with telemetry.round_span(task.round.name, task.number, 1):
            task = meeting.remind(chair, task)
            try:
                async with asyncio.timeout(seconds) as limit:
                    draft = await _preside(chair, session, task, draft, meeting)
            except Exception as error:  # noqa: BLE001 - whatever the chair does, there are minutes
                why = f"The chair took longer than {_seconds(seconds)}"
                why = why if limit.expired() else _failure(error)
                reason = f"{why}, so nobody summed up."
                draft = replace(draft, warnings=(*draft.warnings, reason))
                _emit(meeting, task, MeetingEventKind.ABSENT, CHAIR, reason)
    _emit(meeting, task, MeetingEventKind.ROUND_ENDED)
    return _whole(draft, task.record, meeting)


def _failure(error: Exception) -> str:
    if isinstance(error, ChapterhouseError):
        return f"The chair could not sum up ({f'{error.message} {error.hint}'.strip()})"
    _log.error("the chair could not sum up", exc_info=error)
    return f"Something went wrong with the chair ({type(error).__name__})"


async def _draft(session: Session, record: Record, runtime: Runtime) -> Minutes:
    runtime = with_tool_texts(runtime, record.tool_texts)
    return await run_in_thread(partial(draft_minutes, session, record, runtime))


def _whole(minutes: Minutes, record: Record, meeting: Meeting) -> Minutes:
    """Return minutes with what all models used together, and what a limit left out."""
    used = [turn.usage for turn in record.turns if turn.usage]
    used += [minutes.usage] if minutes.usage else []
    total: Usage | None = None
    for usage in used:
        total = usage if total is None else total + usage
    return replace(minutes, usage=total, warnings=(*minutes.warnings, *meeting.allowance.warnings))


def _emit(
    meeting: Meeting, task: TurnTask, kind: MeetingEventKind, member: str = "", text: str = ""
) -> None:
    meeting.on_event(MeetingEvent(kind, task.round.name, task.number, member, text))


async def speak(
    participant: Participant, task: TurnTask, on_text: OnText | None, meeting: Meeting
) -> MemberTurn:
    """Let a member speak: a council by meeting, a model by writing while something is left."""
    runtime, allowance = with_tool_texts(meeting.runtime, task.record.tool_texts), meeting.allowance
    spoke = any(one.member == participant.key for one in task.record.turns)
    turn = MemberTurn(participant.key, task.round.name)  # where there is nothing to answer
    with telemetry.agent_span(participant.key, task.question) as recorder:
        if participant.inner is not None and not task.argues and not spoke:
            if participant.inner.debates:
                within = Meeting(runtime, Transcript(), ignore, allowance)
                minutes = await hold_meeting(participant.inner, within)
                turn = _turn_of_council(turn, minutes, task)
        elif participant.model and not (task.argues and not task.to_reply(participant.key)):
            if allowance.is_used:
                allowance.note("members were not asked any more")
            else:
                turn = await write_turn(participant, participant.model, task, runtime, on_text)
                allowance.add(turn.usage)
        telemetry.record_turn(recorder, turn)
        return turn


async def _preside(
    chair: Participant, session: Session, task: TurnTask, draft: Minutes, meeting: Meeting
) -> Minutes:
    """Let the chair sum up; without a model, or where nothing is left, the draft stays."""
    if chair.model is None:
        return draft
    if meeting.allowance.is_used:
        meeting.allowance.note("the chair was not asked")
        return draft
    runtime = with_tool_texts(meeting.runtime, task.record.tool_texts)
    on_text = partial(_emit, meeting, task, MeetingEventKind.TEXT, CHAIR)
    with telemetry.agent_span(chair.key, task.question) as recorder:
        minutes = await write_minutes(chair, chair.model, session, task, draft, runtime, on_text)
        telemetry.record_minutes(recorder, minutes)
    meeting.allowance.add(minutes.usage)
    return minutes


def _turn_of_council(turn: MemberTurn, minutes: Minutes, task: TurnTask) -> MemberTurn:
    """Return the turn of a council that has met: what came of it."""
    ledger = Ledger()
    cited = {citation.number: citation for citation in minutes.citations}

    def numbers(own: tuple[int, ...]) -> tuple[int, ...]:
        return ledger.numbers(cited[number] for number in own)

    statements = tuple(
        replace(
            one,
            id="",
            member=turn.member,
            round=turn.round,
            question=one.question if one.question in task.questions else "",
            citations=numbers(one.citations),
            grounds=tuple(replace(g, citations=numbers(g.citations)) for g in one.grounds),
        )
        for one in _conclusions(minutes)
    )
    return replace(
        turn,
        statements=statements,
        option=minutes.decided if minutes.decided in task.council.options else "",
        # What one of its members lacks another may have: only of a council that found nothing
        # at all can be said what it lacks. Its own minutes say the rest.
        missing=() if statements else tuple(dict.fromkeys(gap.text for gap in minutes.missing)),
        citations=ledger.citations,
        method=minutes.method,
        usage=minutes.usage,
        warnings=(*minutes.warnings, *(f"{a.member}: {a.reason}" for a in minutes.absences)),
        tool_texts=tool_texts(minutes),
        inner=minutes,
    )


def _conclusions(minutes: Minutes) -> tuple[Statement, ...]:
    """Return what a council holds: what its chair wrote, else what its members still hold."""
    if minutes.method != EXTRACTIVE:
        decision = " ".join(point.text for point in minutes.decision)
        numbers = dict.fromkeys(n for point in minutes.decision for n in point.citations)
        mismatches = tuple(one for point in minutes.decision for one in point.mismatches)
        grounds = tuple(Ground(p.text, p.citations, p.mismatches) for p in minutes.grounds)
        text = decision or " ".join(point.text for point in minutes.grounds)
        return (Statement("", "", "", text, "", "", tuple(numbers), mismatches, grounds),)
    held = {one.statement for one in minutes.agreement if one.stand}
    return tuple(one for one in minutes.statements if one.id in held)


def ignore(_: CouncilEvent) -> None:
    """Take no notice of what happens."""
