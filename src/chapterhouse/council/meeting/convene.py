"""A question put to a council: everyone is brought up to date, meets, and is remembered."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from chapterhouse import telemetry
from chapterhouse.agents.council import Council
from chapterhouse.agents.council_model import RoundKind
from chapterhouse.agents.problems import CouncilConfigError
from chapterhouse.asking import checked_query
from chapterhouse.council.meeting.memory import recall, remember_meeting
from chapterhouse.council.meeting.quoted import quoted_turn
from chapterhouse.council.meeting.replay import Replay, open_transcript
from chapterhouse.council.meeting.rounds import Meeting, OnEvent, hold_meeting
from chapterhouse.council.meeting.session import (
    CouncilContext,
    MeetingOptions,
    OnProgress,
    Participant,
    Plan,
    PlannedTurn,
    Session,
    open_session,
    refresh_sources,
    seating_of,
)
from chapterhouse.council.meeting.synthesis import Synthesis, prepare_synthesis, write_synthesis
from chapterhouse.council.meeting.transcript import Transcript
from chapterhouse.council.meeting.turns import Ledger, OnText, Turn
from chapterhouse.council.meeting.written import Prepared, prepare_turn, written_turn
from chapterhouse.errors import ChapterhouseError, EngineError, UsageError
from chapterhouse.replying.threads import beside
from chapterhouse.types import (
    Absence,
    Claim,
    MeetingEvent,
    Memory,
    Minutes,
    Query,
    Scope,
    Statement,
    Support,
)

_OWN_TRACES: Final = 4  # memories that an earlier holding of the same meeting may have left
_ANY: Final = MeetingOptions()
_NO_NONCE: Final = "x" * 6  # of a plan, which is shown and never sent


async def convene(
    council: str | Council,
    question: str,
    convening: MeetingOptions | None,
    context: CouncilContext,
    on_event: OnEvent | None = None,
    on_progress: OnProgress | None = None,
) -> Minutes:
    """Put a question to a council and return the minutes.

    Args:
        council: A name, or one that was built.
        question: What is to be discussed.
        convening: What the caller says about the meeting.
        context: The library.
        on_event: Is told what happens.
        on_progress: Called for each file that is read first.

    Raises:
        CouncilConfigError: the council cannot meet.
        NotFoundError: there is no such council.
        UsageError: the question is empty or too long, or there is no such profile.
        MissingExtraError: a model's extra is not installed.
    """
    choices = convening or _ANY
    session = _open(council, question, choices, context, on_progress)
    reminders = _reminders(session, choices, context)
    with open_transcript(session, choices, context, reminders) as transcript:
        meeting = Meeting(
            context=context,
            store=Replay(transcript, session, context.parts),
            on_event=on_event or _ignore,
            speak=partial(_speak, context=context),
            preside=partial(_preside, context=context),
            remind=lambda participant: reminders.get(participant.key, ()),
        )
        minutes = _put_down(await hold_meeting(session, meeting), transcript)
    return _remembered(minutes, choices, context)


async def planned(
    council: str | Council, question: str, convening: MeetingOptions | None, context: CouncilContext
) -> Plan:
    """Return what everyone would be told; arguments and errors as for ``convene``.

    What others would have said before is what their documents say.
    """
    choices = convening or _ANY
    shown = replace(context, parts=replace(context.parts, nonce=lambda: _NO_NONCE))
    session = _open(council, question, choices, shown, None)
    noted: dict[tuple[int, str], PlannedTurn] = {}

    async def speak(participant: Participant, turn: Turn, on_text: OnText | None) -> Statement:
        del on_text
        given = await beside(partial(prepare_turn, participant, turn, shown.parts))
        noted[turn.number, participant.key] = _planned(participant, turn, given)
        return await beside(partial(quoted_turn, participant, turn, shown.parts))

    async def preside(chair: Participant, synthesis: Synthesis, on_text: OnText) -> Minutes:
        del on_text
        given = await beside(partial(prepare_synthesis, chair, synthesis, shown.parts))
        noted[synthesis.turn.number, chair.key] = _planned(chair, synthesis.turn, given)
        return synthesis.draft

    unlimited = replace(session, council=replace(session.council, round_timeout_seconds=3600.0))
    meeting = Meeting(shown, _Nowhere(), _ignore, speak, preside, lambda _: ())
    await hold_meeting(unlimited, meeting)
    seats = [seating_of(participant, context.parts) for participant in session.everyone]
    order = {seat.key: place for place, seat in enumerate(seats)}
    turns = sorted(noted.items(), key=lambda item: (item[0][0], order[item[0][1]]))
    return Plan(
        session.council.slug,
        session.council.title,
        session.question,
        tuple(seats),
        tuple(turn for _, turn in turns),
        session.warnings,
    )


def _open(
    council: str | Council,
    question: str,
    choices: MeetingOptions,
    context: CouncilContext,
    on_progress: OnProgress | None,
) -> Session:
    """Bring everything that will be read up to date, and let everyone take their seat."""
    store, search = context.parts.engines.store, context.settings.search
    asked = checked_query(Query(question, Scope.everything()), store, None, None, search).text
    if not any(character.isalnum() for character in asked):
        raise UsageError("The question has no word in it.", hint="Ask in words.")
    chosen = context.councils.require(council, choices.tools)
    if choices.options is not None:
        chosen = _deciding(chosen, choices.options, choices, context)
    warnings = refresh_sources(chosen, context, on_progress)
    context.catch_up()
    return replace(open_session(chosen, asked, choices, context), warnings=warnings)


def _deciding(
    council: Council, options: tuple[str, ...], choices: MeetingOptions, context: CouncilContext
) -> Council:
    """Return the council with other options; they are the caller's, so the caller is told."""
    deciding = replace(council, options=options)
    try:
        return context.councils.require(deciding, choices.tools)
    except CouncilConfigError as error:
        told = " ".join(f"{one.place}: {one.sentence}" for one in error.problems)
        raise UsageError(
            f"These options cannot be decided between. {told}", hint="Give two or more, none twice."
        ) from None


# --- speaking -----------------------------------------------------------------------------------


async def _speak(
    participant: Participant, turn: Turn, on_text: OnText | None, *, context: CouncilContext
) -> Statement:
    """Let a member speak: a council by meeting, a model by writing, documents by being quoted."""
    with telemetry.agent_span(participant.key, turn.question) as recorder:
        said = await _said(participant, turn, on_text, context)
        telemetry.tell_statement(recorder, said)
        return said


async def _said(
    participant: Participant, turn: Turn, on_text: OnText | None, context: CouncilContext
) -> Statement:
    met = any(said.inner for said in turn.record.statements if said.member == participant.key)
    if participant.inner is not None and turn.analyses and not met:
        return await _inner(participant, participant.inner, turn, context)
    unopposed = turn.record.replies and not turn.against(participant)
    if turn.round.kind is RoundKind.REBUTTAL and unopposed:
        return Statement(participant.key, turn.round.name)  # there is nothing to answer
    if participant.model is None:
        return await beside(partial(quoted_turn, participant, turn, context.parts))
    try:
        return await written_turn(participant, participant.model, turn, context.parts, on_text)
    except EngineError as error:
        quoted = await beside(partial(quoted_turn, participant, turn, context.parts))
        return replace(quoted, warnings=(*quoted.warnings, _despite(error)))


async def _preside(
    chair: Participant, synthesis: Synthesis, on_text: OnText, *, context: CouncilContext
) -> Minutes:
    """Let the chair sum up; without a model, or where it cannot be reached, rules do."""
    if chair.model is None:
        return synthesis.draft
    with telemetry.agent_span(chair.key, synthesis.turn.question) as recorder:
        try:
            minutes = await write_synthesis(chair, chair.model, synthesis, context.parts, on_text)
        except EngineError as error:
            warning = f"The chair's model did not answer, so rules summed up: {error.message}"
            told = f"{warning} {error.hint}".strip()
            return replace(synthesis.draft, warnings=(*synthesis.draft.warnings, told))
        telemetry.tell_minutes(recorder, minutes)
        return minutes


def _despite(error: EngineError) -> str:
    told = f"The model did not answer, so the documents are quoted: {error.message}"
    return f"{told} {error.hint}".strip()


async def _inner(
    participant: Participant, session: Session, turn: Turn, context: CouncilContext
) -> Statement:
    """Let a council that is a member meet, and say what came of it."""
    meeting = Meeting(
        context=context,
        store=_Nowhere(),
        on_event=_ignore,
        speak=partial(_speak, context=context),
        preside=partial(_preside, context=context),
        remind=lambda _: (),
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
        read=tuple(dict.fromkeys(r for said in minutes.statements for r in said.read)),
        inner=minutes,
    )


# --- planning -----------------------------------------------------------------------------------


def _planned(participant: Participant, turn: Turn, given: Prepared) -> PlannedTurn:
    return PlannedTurn(
        member=participant.key,
        round=turn.round.name,
        model=participant.model.fingerprint if participant.model else "",
        grounding=participant.grounding,
        shelves=participant.shelves,
        tools=tuple(tool.name for tool in given.tools),
        instructions=given.instructions,
        prompt=given.prompt,
    )


# --- keeping ------------------------------------------------------------------------------------


def _put_down(minutes: Minutes, transcript: Transcript) -> Minutes:
    """Keep the minutes; where that is not possible they say so."""
    try:
        transcript.keep_minutes(minutes)
    except ChapterhouseError as error:
        warning = f"The minutes could not be written to the transcript: {error.message}"
        return replace(minutes, warnings=(*minutes.warnings, warning))
    return minutes


def _reminders(
    session: Session, choices: MeetingOptions, context: CouncilContext
) -> Mapping[str, tuple[Memory, ...]]:
    """Return what everyone held in earlier meetings; without a model nothing reminds anybody.

    What this very meeting left in the memory before reminds nobody of itself.
    """
    parts, question = context.parts, session.question
    sequence = parts.engines.store.sequence()
    found: dict[str, tuple[Memory, ...]] = {}
    for participant in session.everyone:
        memory = participant.request.settings.memory
        if participant.model is None or not (choices.remember and memory.enabled and memory.recall):
            continue
        recalled = recall(
            session.council.slug,
            participant.key,
            question,
            parts.memories,
            limit=memory.recall + _OWN_TRACES,
            now=parts.now(),
        )
        others = [one for one in recalled if (one.question, one.sequence) != (question, sequence)]
        found[participant.key] = tuple(others[: memory.recall])
    return found


def _remembered(minutes: Minutes, choices: MeetingOptions, context: CouncilContext) -> Minutes:
    """Put what was held and decided into the memory; say so where that is not possible."""
    memory = context.settings.memory
    if not (choices.remember and memory.enabled):
        return minutes
    parts = context.parts
    warnings = remember_meeting(
        minutes,
        parts.memories,
        now=parts.now(),
        days=memory.days,
        sequence=parts.engines.store.sequence(),
    )
    return replace(minutes, warnings=(*minutes.warnings, *warnings))


class _Nowhere:
    """Keeps nothing: for plans, and for councils within councils."""

    def said(self, number: int, member: str) -> Statement | None:
        """Return nothing."""
        del number, member
        return None

    def summed_up(self, draft: Minutes) -> Minutes | None:
        """Return nothing."""
        del draft
        return None

    def keep(self, number: int, statement: Statement) -> None:
        """Do nothing."""

    def keep_absence(self, number: int, absence: Absence) -> None:
        """Do nothing."""


def _ignore(_: MeetingEvent) -> None:
    """Take no notice of what happens."""
