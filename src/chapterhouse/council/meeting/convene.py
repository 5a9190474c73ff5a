"""A question put to a council: everyone is brought up to date, meets, and is remembered."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from chapterhouse.agents.council import Council
from chapterhouse.agents.council_model import RoundKind
from chapterhouse.agents.councils import Councils
from chapterhouse.agents.problems import CouncilConfigError
from chapterhouse.answering.memory import minutes_record, record_question
from chapterhouse.answering.runtime import Runtime
from chapterhouse.answering.search import check_query
from chapterhouse.concurrency import run_in_thread, stream
from chapterhouse.council.meeting.chair import prepare_synthesis
from chapterhouse.council.meeting.memory import recall, remember_meeting
from chapterhouse.council.meeting.record import Allowance, Record, TurnTask
from chapterhouse.council.meeting.rounds import Meeting, hold_meeting, ignore
from chapterhouse.council.meeting.session import (
    MeetingOptions,
    OnProgress,
    Participant,
    Session,
    fit_session,
    open_session,
    participant_record,
    refresh_sources,
)
from chapterhouse.council.meeting.transcript import Transcript, open_transcript
from chapterhouse.council.meeting.written import TurnPrompt, prepare_turn
from chapterhouse.council.tools import Opened, open_declared
from chapterhouse.errors import ChapterhouseError, UsageError
from chapterhouse.text.naming import storable_path
from chapterhouse.types import (
    CouncilEvent,
    Memory,
    Minutes,
    MinutesEvent,
    ParticipantRecord,
    Progress,
    Query,
    ReadingEvent,
    Scope,
)


@dataclass(frozen=True, slots=True)
class PlannedTurn:
    """One turn as it would be put to a model.

    Attributes:
        member: Key of who would speak; ``chair`` for who presides.
        model: Name of the model; empty for who has none, and is asked nothing.
        prompt: The user's message, without what others would say before.
    """

    member: str
    round: str
    model: str
    grounding: str
    shelves: tuple[str, ...]
    tools: tuple[str, ...]
    instructions: str
    prompt: str


@dataclass(frozen=True, slots=True)
class Plan:
    """A meeting before it is held: who would sit in it, and what each would be told."""

    council: str
    title: str
    question: str
    participants: tuple[ParticipantRecord, ...]
    turns: tuple[PlannedTurn, ...]
    warnings: tuple[str, ...] = ()


_RECALL: Final = 3  # earlier meetings, where no setting says how many
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

    ``emit`` is called with what happens before the minutes, from any thread.
    """
    choices = options or _ANY
    emit = emit or ignore

    def on_progress(progress: Progress) -> None:
        emit(ReadingEvent(progress))

    session = await run_in_thread(partial(_open, council, question, choices, runtime, on_progress))
    reminders = await run_in_thread(partial(_reminders, session, choices, runtime))
    session = await fit_session(session)
    allowance = Allowance(choices.seconds, choices.tokens)
    with open_transcript(session, choices, runtime, reminders) as transcript:
        if transcript.aside and not choices.fresh:
            session = replace(session, warnings=(*session.warnings, _moved(transcript.aside)))
        meeting = Meeting(runtime, transcript, emit, allowance, reminders)
        minutes = _write_minutes(await hold_meeting(session, meeting), transcript)
    await run_in_thread(runtime.definitions["council"].share)  # the transcript
    if choices.is_counted:
        record = partial(record_question, minutes_record(minutes), choices.interface)
        await run_in_thread(partial(record, runtime, with_text=choices.remember))
    return await run_in_thread(partial(_remember, minutes, choices, runtime))


async def plan_meeting(
    council: str | Council, question: str, options: MeetingOptions | None, runtime: Runtime
) -> Plan:
    """Return what everyone would be told; arguments and errors as for ``convene``.

    What others would say before is not known, and left out.
    """
    shown = replace(runtime, nonce=lambda: _NO_NONCE)
    session = await run_in_thread(partial(_open, council, question, options or _ANY, shown, None))
    turns = await run_in_thread(partial(_planned_turns, session, shown))
    participants = [participant_record(participant, runtime) for participant in session.everyone]
    return Plan(
        session.council.slug,
        session.council.title,
        session.question,
        tuple(participants),
        tuple(turns),
        session.warnings,
    )


def _open(
    council: str | Council,
    question: str,
    choices: MeetingOptions,
    runtime: Runtime,
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
        return open_declared(council, runtime, warnings.append)

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


# --- planning -----------------------------------------------------------------------------------


def _planned_turns(session: Session, runtime: Runtime) -> Iterator[PlannedTurn]:
    """Yield every turn in the order of rounds and seats; the chair's synthesis ends a council."""
    titles = {one.key: one.title for one in session.everyone}
    for number, entry in enumerate(session.council.rounds, start=1):
        task = TurnTask(
            session.council, session.question, session.aspects, entry, number, Record(), titles
        )
        if entry.kind is RoundKind.SYNTHESIS:
            if session.chair:
                prepared = prepare_synthesis(session.chair, session, task, runtime)
                yield _plan_turn(session.chair, task, prepared)
            return
        named = entry.speakers
        speakers = [one for one in session.everyone if one.key in named]
        for one in speakers if named else session.participants:
            yield _plan_turn(one, task, prepare_turn(one, task, runtime))


def _plan_turn(participant: Participant, task: TurnTask, given: TurnPrompt) -> PlannedTurn:
    return PlannedTurn(
        member=participant.key,
        round=task.round.name,
        model=participant.model.fingerprint if participant.model else "",
        grounding=participant.grounding,
        shelves=participant.shelves,
        tools=tuple(tool.name for tool in given.tools),
        instructions=given.instructions,
        prompt=given.prompt,
    )


# --- keeping ------------------------------------------------------------------------------------


def _moved(aside: Path) -> str:
    """Return what is said where a transcript was there that could not be gone on from."""
    name = storable_path(str(aside))
    return (
        "The transcript was of another meeting or an earlier version, and the meeting began anew;"
        f" it is now in {name}."
    )


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
        most = _RECALL if memory.recall is None else memory.recall
        if participant.model is None or not (choices.remember and memory.enabled and most):
            continue
        recalled = recall(
            session.council.slug,
            participant.key,
            question,
            runtime.memories,
            limit=most + _OWN_TRACES,
            now=runtime.now(),
        )
        others = [one for one in recalled if (one.question, one.sequence) != (question, sequence)]
        found[participant.key] = tuple(others[:most])
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
