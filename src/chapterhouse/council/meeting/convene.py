"""A question put to a council: everyone is brought up to date, meets, and is remembered."""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from chapterhouse import telemetry
from chapterhouse.agents.council import Council
from chapterhouse.agents.council_model import RoundKind
from chapterhouse.agents.councils import Councils
from chapterhouse.agents.problems import CouncilConfigError
from chapterhouse.answering.search import check_query
from chapterhouse.answering.tool_texts import with_tool_texts
from chapterhouse.concurrency import run_in_thread, stream
from chapterhouse.council.meeting.earlier import compared, earlier_meetings
from chapterhouse.council.meeting.memory import recall, remember_meeting
from chapterhouse.council.meeting.plan import Plan, PlannedTurn
from chapterhouse.council.meeting.quoted import quoted_turn
from chapterhouse.council.meeting.replay import Replay, open_transcript
from chapterhouse.council.meeting.rounds import Meeting, hold_meeting
from chapterhouse.council.meeting.session import (
    MeetingOptions,
    OnProgress,
    Participant,
    Session,
    open_session,
    participant_record,
    refresh_sources,
)
from chapterhouse.council.meeting.synthesis import Synthesis, prepare_synthesis, write_synthesis
from chapterhouse.council.meeting.transcript import Transcript
from chapterhouse.council.meeting.turns import Ledger, OnText, Turn
from chapterhouse.council.meeting.written import Prepared, prepare_turn, written_turn
from chapterhouse.council.minutes.contents import tool_texts
from chapterhouse.council.opening import OpenedForMeeting, open_declared
from chapterhouse.council.tools import Opened
from chapterhouse.errors import ChapterhouseError, EngineError, UsageError
from chapterhouse.runtime import Runtime
from chapterhouse.types import (
    Absence,
    Claim,
    CouncilEvent,
    Memory,
    Minutes,
    MinutesEvent,
    Progress,
    Query,
    ReadingEvent,
    Scope,
    Statement,
    Support,
)

_OWN_TRACES: Final = 4  # memories that an earlier holding of the same meeting may have left
Emit = Callable[[CouncilEvent], None]
_ANY: Final = MeetingOptions()
_NO_NONCE: Final = "x" * 6  # of a plan, which is shown and never sent


def council_events(
    council: str | Council, question: str, options: MeetingOptions | None, runtime: Runtime
) -> AsyncIterator[CouncilEvent]:
    """Yield what happens in a meeting, the minutes last; as for ``convene``."""

    async def work(emit: Emit) -> CouncilEvent:
        return MinutesEvent(await convene(council, question, options, runtime, emit))

    return stream(work)


async def convene(
    council: str | Council,
    question: str,
    options: MeetingOptions | None,
    runtime: Runtime,
    emit: Emit | None = None,
) -> Minutes:
    """Put a question to a council and return the minutes.

    Args:
        council: A name, or one that was built.
        question: What is to be discussed.
        options: What the caller says about the meeting.
        runtime: The library's parts.
        emit: Is called with what happens before the minutes, from any thread.

    Raises:
        CouncilConfigError: the council cannot meet.
        NotFoundError: there is no such council.
        UsageError: the question is empty or too long, or there is no such model or earlier meeting.
        MissingExtraError: a model's extra is not installed.
    """
    choices = options or _ANY
    emit = emit or _ignore

    def on_progress(progress: Progress) -> None:
        emit(ReadingEvent(progress))

    with OpenedForMeeting() as opened:
        session = await run_in_thread(
            partial(_open, council, question, choices, runtime, opened, on_progress)
        )
        earlier = await run_in_thread(partial(earlier_meetings, session, choices, runtime))
        reminders = await run_in_thread(partial(_reminders, session, choices, runtime))
        transcript = opened.enter(open_transcript(session, choices, runtime, reminders))
        meeting = Meeting(
            runtime=runtime,
            store=Replay(transcript, session, runtime),
            on_event=emit,
            speak=partial(_speak, runtime=runtime),
            preside=partial(_preside, runtime=runtime),
            remind=lambda participant: reminders.get(participant.key, ()),
        )
        minutes = _write_minutes(await hold_meeting(session, meeting), transcript)
        finished = minutes, earlier, transcript.path, session, choices, runtime
    minutes = await run_in_thread(partial(compared, *finished))
    return await run_in_thread(partial(_remember, minutes, choices, runtime))


async def plan_meeting(
    council: str | Council, question: str, options: MeetingOptions | None, runtime: Runtime
) -> Plan:
    """Return what everyone would be told; arguments and errors as for ``convene``.

    What others would have said before is what their documents say.
    """
    choices = options or _ANY
    shown = replace(runtime, nonce=lambda: _NO_NONCE)
    noted: dict[tuple[int, str], PlannedTurn] = {}

    async def speak(participant: Participant, turn: Turn, on_text: OnText | None) -> Statement:
        del on_text
        given = await run_in_thread(partial(prepare_turn, participant, turn, shown))
        noted[turn.number, participant.key] = _plan_turn(participant, turn, given)
        return await run_in_thread(partial(quoted_turn, participant, turn, shown))

    async def preside(chair: Participant, synthesis: Synthesis, on_text: OnText) -> Minutes:
        del on_text
        given = await run_in_thread(partial(prepare_synthesis, chair, synthesis, shown))
        noted[synthesis.turn.number, chair.key] = _plan_turn(chair, synthesis.turn, given)
        return synthesis.draft

    meeting = Meeting(shown, _Nowhere(), _ignore, speak, preside, lambda _: ())
    with OpenedForMeeting() as opened:
        session = await run_in_thread(
            partial(_open, council, question, choices, shown, opened, None)
        )
        patient = replace(session.council, round_timeout_seconds=3600.0)
        await hold_meeting(replace(session, council=patient), meeting)
    participants = [participant_record(participant, runtime) for participant in session.everyone]
    order = {entry.key: place for place, entry in enumerate(participants)}
    turns = sorted(noted.items(), key=lambda item: (item[0][0], order[item[0][1]]))
    return Plan(
        session.council.slug,
        session.council.title,
        session.question,
        tuple(participants),
        tuple(turn for _, turn in turns),
        session.warnings,
    )


def _open(
    council: str | Council,
    question: str,
    choices: MeetingOptions,
    runtime: Runtime,
    opened: OpenedForMeeting,
    on_progress: OnProgress | None,
) -> Session:
    """Bring everything that will be read up to date, and let everyone take their seat."""
    store, search = runtime.store, runtime.settings.search
    asked = check_query(Query(question, Scope.everything()), store, None, None, search).text
    if not any(character.isalnum() for character in asked):
        raise UsageError("The question has no word in it.", hint="Ask in words.")
    chosen = Councils(runtime).require(council, choices.tools)
    if choices.options is not None:
        chosen = _deciding(chosen, choices.options, choices, runtime)
    warnings = list(refresh_sources(chosen, runtime, on_progress))
    runtime.catch_up()

    def open_tools(council: Council) -> Opened:
        allow = choices.allow_tools
        return open_declared(council, runtime, opened, warnings.append, allow=allow)

    session = open_session(chosen, asked, choices, runtime, open_tools)
    return replace(session, warnings=(*warnings, *session.warnings))


def _deciding(
    council: Council, options: tuple[str, ...], choices: MeetingOptions, runtime: Runtime
) -> Council:
    """Return the council with other options; they are the caller's, so the caller is told."""
    deciding = replace(council, options=options)
    try:
        return Councils(runtime).require(deciding, choices.tools)
    except CouncilConfigError as error:
        reasons = " ".join(f"{one.place}: {one.sentence}" for one in error.problems)
        raise UsageError(
            f"These options cannot be decided between. {reasons}",
            hint="Give two or more, none twice.",
        ) from None


# --- speaking -----------------------------------------------------------------------------------


async def _speak(
    participant: Participant, turn: Turn, on_text: OnText | None, *, runtime: Runtime
) -> Statement:
    """Let a member speak: a council by meeting, a model by writing, documents by being quoted."""
    runtime = with_tool_texts(runtime, turn.record.tool_texts)
    with telemetry.agent_span(participant.key, turn.question) as recorder:
        statement = await _statement(participant, turn, on_text, runtime)
        telemetry.record_statement(recorder, statement)
        return statement


async def _statement(
    participant: Participant, turn: Turn, on_text: OnText | None, runtime: Runtime
) -> Statement:
    has_met = any(
        earlier.inner for earlier in turn.record.statements if earlier.member == participant.key
    )
    if participant.inner is not None and turn.analyses and not has_met:
        return await _inner(participant, participant.inner, turn, runtime)
    has_nothing_open = turn.argues and not turn.agenda.of(participant.key)
    if turn.round.kind is RoundKind.REBUTTAL and has_nothing_open:
        return Statement(participant.key, turn.round.name)  # there is nothing to answer
    if participant.model is None or has_nothing_open:
        return await run_in_thread(partial(quoted_turn, participant, turn, runtime))
    try:
        return await written_turn(participant, participant.model, turn, runtime, on_text)
    except EngineError as error:
        quoted = await run_in_thread(partial(quoted_turn, participant, turn, runtime))
        return replace(quoted, warnings=(*quoted.warnings, _despite(error)))


async def _preside(
    chair: Participant, synthesis: Synthesis, on_text: OnText, *, runtime: Runtime
) -> Minutes:
    """Let the chair sum up; without a model, or where it cannot be reached, rules do."""
    if chair.model is None:
        return synthesis.draft
    runtime = with_tool_texts(runtime, synthesis.turn.record.tool_texts)
    with telemetry.agent_span(chair.key, synthesis.turn.question) as recorder:
        try:
            minutes = await write_synthesis(chair, chair.model, synthesis, runtime, on_text)
        except EngineError as error:
            warning = f"The chair's model did not answer, so rules summed up: {error.message}"
            warning_text = f"{warning} {error.hint}".strip()
            return replace(synthesis.draft, warnings=(*synthesis.draft.warnings, warning_text))
        telemetry.record_minutes(recorder, minutes)
        return minutes


def _despite(error: EngineError) -> str:
    warning = f"The model did not answer, so the documents are quoted: {error.message}"
    return f"{warning} {error.hint}".strip()


async def _inner(
    participant: Participant, session: Session, turn: Turn, runtime: Runtime
) -> Statement:
    """Let a council that is a member meet, and say what came of it."""
    meeting = Meeting(
        runtime=runtime,
        store=_Nowhere(),
        on_event=_ignore,
        speak=partial(_speak, runtime=runtime),
        preside=partial(_preside, runtime=runtime),
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
        read=tuple(dict.fromkeys(r for statement in minutes.statements for r in statement.read)),
        tool_texts=tool_texts(minutes),
        inner=minutes,
    )


# --- planning -----------------------------------------------------------------------------------


def _plan_turn(participant: Participant, turn: Turn, given: Prepared) -> PlannedTurn:
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


def _write_minutes(minutes: Minutes, transcript: Transcript) -> Minutes:
    """Keep the minutes; where that is not possible they say so."""
    try:
        transcript.add_minutes(minutes)
    except ChapterhouseError as error:
        warning = f"The minutes could not be written to the transcript: {error.message}"
        return replace(minutes, warnings=(*minutes.warnings, warning))
    return minutes


def _reminders(
    session: Session, choices: MeetingOptions, runtime: Runtime
) -> Mapping[str, tuple[Memory, ...]]:
    """Return what everyone held in earlier meetings; without a model nothing reminds anybody.

    What this very meeting left in the memory before reminds nobody of itself.
    """
    question = session.question
    sequence = runtime.store.sequence()
    found: dict[str, tuple[Memory, ...]] = {}
    for participant in session.everyone:
        memory = participant.request.settings.memory
        if participant.model is None or not (choices.remember and memory.enabled and memory.recall):
            continue
        recalled = recall(
            session.council.slug,
            participant.key,
            question,
            runtime.memories,
            limit=memory.recall + _OWN_TRACES,
            now=runtime.now(),
        )
        others = [one for one in recalled if (one.question, one.sequence) != (question, sequence)]
        found[participant.key] = tuple(others[: memory.recall])
    return found


def _remember(minutes: Minutes, choices: MeetingOptions, runtime: Runtime) -> Minutes:
    """Put what was held and decided into the memory; say so where that is not possible."""
    memory = runtime.settings.memory
    if not (choices.remember and memory.enabled):
        return minutes
    warnings = remember_meeting(
        minutes,
        runtime.memories,
        now=runtime.now(),
        days=memory.days,
        sequence=runtime.store.sequence(),
    )
    return replace(minutes, warnings=(*minutes.warnings, *warnings))


class _Nowhere:
    """Keeps nothing: for plans, and for councils within councils."""

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


def _ignore(_: CouncilEvent) -> None:
    """Take no notice of what happens."""
