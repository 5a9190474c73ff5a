"""How a participant speaks: a council by meeting, a model by writing.

A model speaks as long as the meeting has time and tokens left.
"""

from dataclasses import replace
from functools import partial

from chapterhouse import telemetry
from chapterhouse.answering.tool_texts import with_tool_texts
from chapterhouse.council.meeting.limits import Allowance
from chapterhouse.council.meeting.rounds import Meeting, hold_meeting
from chapterhouse.council.meeting.session import Participant, Session
from chapterhouse.council.meeting.synthesis import Synthesis, write_synthesis
from chapterhouse.council.meeting.turns import Ledger, OnText, Turn, with_examined
from chapterhouse.council.meeting.written import written_turn
from chapterhouse.council.minutes.contents import tool_texts
from chapterhouse.errors import EngineError
from chapterhouse.ports.models import LanguageModel
from chapterhouse.runtime import Runtime
from chapterhouse.types import (
    Absence,
    Claim,
    CouncilEvent,
    Minutes,
    Statement,
    Support,
)


async def speak(
    participant: Participant,
    turn: Turn,
    on_text: OnText | None,
    *,
    runtime: Runtime,
    allowance: Allowance,
) -> Statement:
    """Let a member speak: a council by meeting, a model by writing."""
    runtime = with_tool_texts(runtime, turn.record.tool_texts)
    with telemetry.agent_span(participant.key, turn.question) as recorder:
        statement = await _statement(participant, turn, on_text, runtime, allowance)
        telemetry.record_statement(recorder, statement)
        return statement


async def _statement(
    participant: Participant,
    turn: Turn,
    on_text: OnText | None,
    runtime: Runtime,
    allowance: Allowance,
) -> Statement:
    has_met = any(
        earlier.inner for earlier in turn.record.statements if earlier.member == participant.key
    )
    if participant.inner is not None and turn.analyses and not has_met:
        return await _inner(participant, participant.inner, turn, runtime, allowance)
    nothing = with_examined(Statement(participant.key, turn.round.name), turn)
    if participant.model is None or (turn.argues and not turn.agenda.of(participant.key)):
        return nothing  # there is nothing to answer
    if allowance.is_used:
        allowance.note("members were not asked any more")
        return nothing
    statement = await written_turn(participant, participant.model, turn, runtime, on_text)
    allowance.add(statement.usage)
    return statement


async def preside(
    chair: Participant,
    synthesis: Synthesis,
    on_text: OnText,
    *,
    runtime: Runtime,
    allowance: Allowance,
) -> Minutes:
    """Let the chair sum up; without a model, or where it cannot be reached, rules do."""
    if chair.model is None:
        return synthesis.draft
    if allowance.is_used:
        allowance.note("the chair was not asked")
        return synthesis.draft
    runtime = with_tool_texts(runtime, synthesis.turn.record.tool_texts)
    minutes = await _written_synthesis(chair, chair.model, synthesis, on_text, runtime)
    allowance.add(minutes.usage)
    return minutes


async def _written_synthesis(
    chair: Participant,
    model: LanguageModel,
    synthesis: Synthesis,
    on_text: OnText,
    runtime: Runtime,
) -> Minutes:
    with telemetry.agent_span(chair.key, synthesis.turn.question) as recorder:
        try:
            minutes = await write_synthesis(chair, model, synthesis, runtime, on_text)
        except EngineError as error:
            warning = f"The chair's model did not answer, so rules summed up: {error.message}"
            warning_text = f"{warning} {error.hint}".strip()
            return replace(synthesis.draft, warnings=(*synthesis.draft.warnings, warning_text))
        telemetry.record_minutes(recorder, minutes)
        return minutes


async def _inner(
    participant: Participant,
    session: Session,
    turn: Turn,
    runtime: Runtime,
    allowance: Allowance,
) -> Statement:
    """Let a council that is a member meet, and say what came of it."""
    meeting = Meeting(
        runtime=runtime,
        store=NothingStored(),
        on_event=ignore,
        speak=partial(speak, runtime=runtime, allowance=allowance),
        preside=partial(preside, runtime=runtime, allowance=allowance),
        remind=lambda _: (),
        allowance=allowance,
    )
    minutes = await hold_meeting(session, meeting)
    ledger = Ledger()
    cited = {citation.number: citation for citation in minutes.citations}
    claims = tuple(
        Claim(
            "",
            participant.key,
            turn.round.name,
            point.text,
            ledger.numbers(cited[number] for number in point.citations),
            point.support,
            point.problems,
        )
        for point in minutes.grounds
        if point.support is not Support.NO_STATEMENT
    )
    return Statement(
        member=participant.key,
        round=turn.round.name,
        position=" ".join(point.text for point in minutes.decision),
        option=minutes.decided if minutes.decided in turn.council.options else "",
        claims=claims,
        # What one of its members lacks another may have: only of a council that found nothing
        # at all can be said what it lacks. Its own minutes say the rest.
        missing=() if claims else tuple(dict.fromkeys(gap.text for gap in minutes.missing)),
        citations=ledger.citations,
        method=minutes.method,
        usage=minutes.usage,
        warnings=(*minutes.warnings, *(f"{a.member}: {a.reason}" for a in minutes.absences)),
        read=tuple(dict.fromkeys(r for statement in minutes.statements for r in statement.read)),
        tool_texts=tool_texts(minutes),
        inner=minutes,
    )


class NothingStored:
    """Keeps nothing: for councils within councils."""

    def statement(self, number: int, member: str) -> Statement | None:
        """Return nothing."""
        del number, member
        return None

    def minutes(self, draft: Minutes) -> Minutes | None:
        """Return nothing."""
        del draft
        return None

    def add_statement(self, number: int, statement: Statement) -> None:
        """Do nothing."""

    def add_absence(self, number: int, absence: Absence) -> None:
        """Do nothing."""


def ignore(_: CouncilEvent) -> None:
    """Take no notice of what happens."""
