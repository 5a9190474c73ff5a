"""How a participant speaks: a council by meeting, a model by writing.

A model speaks as long as the meeting has time and tokens left.
"""

from dataclasses import replace
from functools import partial

from chapterhouse import telemetry
from chapterhouse.answering.runtime import Runtime
from chapterhouse.answering.tool_texts import with_tool_texts
from chapterhouse.council.meeting.chair import Synthesis, write_minutes
from chapterhouse.council.meeting.limits import Allowance
from chapterhouse.council.meeting.record import Ledger, OnText, TurnTask
from chapterhouse.council.meeting.rounds import Meeting, hold_meeting
from chapterhouse.council.meeting.session import Participant, Session
from chapterhouse.council.meeting.transcript import Transcript
from chapterhouse.council.meeting.written import written_turn
from chapterhouse.council.minutes.contents import tool_texts
from chapterhouse.types import (
    EXTRACTIVE,
    CouncilEvent,
    Ground,
    MemberTurn,
    Minutes,
    Statement,
)


async def speak(
    participant: Participant,
    task: TurnTask,
    on_text: OnText | None,
    *,
    runtime: Runtime,
    allowance: Allowance,
) -> MemberTurn:
    """Let a member speak: a council by meeting, a model by writing."""
    runtime = with_tool_texts(runtime, task.record.tool_texts)
    spoke = any(one.member == participant.key for one in task.record.turns)
    turn = MemberTurn(participant.key, task.round.name)  # where there is nothing to answer
    with telemetry.agent_span(participant.key, task.question) as recorder:
        if participant.inner is not None and not task.argues and not spoke:
            turn = await _inner(participant, participant.inner, task, runtime, allowance)
        elif participant.model and not (task.argues and not task.to_reply(participant.key)):
            if allowance.is_used:
                allowance.note("members were not asked any more")
            else:
                turn = await written_turn(participant, participant.model, task, runtime, on_text)
                allowance.add(turn.usage)
        telemetry.record_turn(recorder, turn)
        return turn


async def preside(
    chair: Participant,
    synthesis: Synthesis,
    on_text: OnText,
    *,
    runtime: Runtime,
    allowance: Allowance,
) -> Minutes:
    """Let the chair sum up; without a model, or where nothing is left, the draft stays."""
    if chair.model is None:
        return synthesis.draft
    if allowance.is_used:
        allowance.note("the chair was not asked")
        return synthesis.draft
    runtime = with_tool_texts(runtime, synthesis.task.record.tool_texts)
    with telemetry.agent_span(chair.key, synthesis.task.question) as recorder:
        minutes = await write_minutes(chair, chair.model, synthesis, runtime, on_text)
        telemetry.record_minutes(recorder, minutes)
    allowance.add(minutes.usage)
    return minutes


async def _inner(
    participant: Participant,
    session: Session,
    task: TurnTask,
    runtime: Runtime,
    allowance: Allowance,
) -> MemberTurn:
    """Let a council that is a member meet, and say what came of it."""
    meeting = Meeting(
        runtime=runtime,
        transcript=Transcript(),
        on_event=ignore,
        speak=partial(speak, runtime=runtime, allowance=allowance),
        preside=partial(preside, runtime=runtime, allowance=allowance),
        remind=lambda _: (),
        allowance=allowance,
    )
    if not session.debates:
        return MemberTurn(participant.key, task.round.name)
    minutes = await hold_meeting(session, meeting)
    ledger = Ledger()
    cited = {citation.number: citation for citation in minutes.citations}

    def numbers(own: tuple[int, ...]) -> tuple[int, ...]:
        return ledger.numbers(cited[number] for number in own)

    statements = tuple(
        replace(
            one,
            id="",
            member=participant.key,
            round=task.round.name,
            question=one.question if one.question in task.questions else "",
            citations=numbers(one.citations),
            grounds=tuple(replace(g, citations=numbers(g.citations)) for g in one.grounds),
        )
        for one in _conclusions(minutes)
    )
    return MemberTurn(
        member=participant.key,
        round=task.round.name,
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
