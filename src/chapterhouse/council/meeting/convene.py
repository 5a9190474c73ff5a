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
from chapterhouse.council.keeping.debate_memory import recall, remember_meeting
from chapterhouse.council.keeping.transcript import Heading, Transcript, key_of_meeting
from chapterhouse.council.meeting.meet import Meeting, meet
from chapterhouse.council.meeting.plan import Convening, Plan, PlannedTurn
from chapterhouse.council.meeting.presiding import Synthesis, prepared_synthesis, presided
from chapterhouse.council.meeting.quoting import quoted_turn
from chapterhouse.council.meeting.record import Ledger
from chapterhouse.council.meeting.replay import Replay
from chapterhouse.council.meeting.rounds import OnEvent
from chapterhouse.council.meeting.seating import (
    OnProgress,
    Room,
    Speaker,
    Table,
    refreshed,
    seated,
    seating_of,
)
from chapterhouse.council.meeting.speaking import Prepared, prepared, spoken_turn
from chapterhouse.council.meeting.turn import OnText, Turn
from chapterhouse.errors import ChapterhouseError, EngineError, UsageError
from chapterhouse.replying.threads import beside
from chapterhouse.types import (
    Absence,
    Claim,
    MeetingEvent,
    Memory,
    Minutes,
    Query,
    Statement,
    Support,
)

MEETINGS: Final = "meetings"  # folder of a council that holds the transcripts
_OWN_TRACES: Final = 4  # memories that an earlier holding of the same meeting may have left
_ANY: Final = Convening()
_NO_NONCE: Final = "x" * 6  # of a plan, which is shown and never sent


async def convene(
    council: str | Council,
    question: str,
    convening: Convening | None,
    room: Room,
    on_event: OnEvent | None = None,
    on_progress: OnProgress | None = None,
) -> Minutes:
    """Put a question to a council and return the minutes.

    Args:
        council: A name, or one that was built.
        question: What is to be discussed.
        convening: What the caller says about the meeting.
        room: The library.
        on_event: Is told what happens.
        on_progress: Called for each file that is read first.

    Raises:
        CouncilConfigError: the council cannot meet.
        NotFoundError: there is no such council.
        UsageError: the question is empty or too long, or there is no such profile.
        MissingExtraError: a model's extra is not installed.
    """
    choices = convening or _ANY
    table = _called(council, question, choices, room, on_progress)
    reminders = _reminders(table, choices, room)
    with _transcript(table, choices, room, reminders) as transcript:
        meeting = Meeting(
            room=room,
            kept=Replay(transcript, table, room.parts),
            on_event=on_event or _ignore,
            speak=partial(_speak, room=room),
            preside=partial(_preside, room=room),
            remind=lambda speaker: reminders.get(speaker.key, ()),
        )
        minutes = _put_down(await meet(table, meeting), transcript)
    return _remembered(minutes, choices, room)


async def planned(
    council: str | Council, question: str, convening: Convening | None, room: Room
) -> Plan:
    """Return what everyone would be told; arguments and errors as for ``convene``.

    What others would have said before is what their documents say.
    """
    choices = convening or _ANY
    shown = replace(room, parts=replace(room.parts, nonce=lambda: _NO_NONCE))
    table = _called(council, question, choices, shown, None)
    noted: dict[tuple[int, str], PlannedTurn] = {}

    async def speak(speaker: Speaker, turn: Turn, on_text: OnText | None) -> Statement:
        del on_text
        given = await beside(partial(prepared, speaker, turn, shown.parts))
        noted[turn.number, speaker.key] = _planned(speaker, turn, given)
        return await beside(partial(quoted_turn, speaker, turn, shown.parts))

    async def preside(chair: Speaker, synthesis: Synthesis, on_text: OnText) -> Minutes:
        del on_text
        given = await beside(partial(prepared_synthesis, chair, synthesis, shown.parts))
        noted[synthesis.turn.number, chair.key] = _planned(chair, synthesis.turn, given)
        return synthesis.draft

    unlimited = replace(table, council=replace(table.council, round_timeout_seconds=3600.0))
    meeting = Meeting(shown, _Nowhere(), _ignore, speak, preside, lambda _: ())
    await meet(unlimited, meeting)
    seats = [seating_of(speaker, room.parts) for speaker in table.everyone]
    order = {seat.key: place for place, seat in enumerate(seats)}
    turns = sorted(noted.items(), key=lambda item: (item[0][0], order[item[0][1]]))
    return Plan(
        table.council.slug,
        table.council.title,
        table.question,
        tuple(seats),
        tuple(turn for _, turn in turns),
        table.warnings,
    )


def _called(
    council: str | Council,
    question: str,
    choices: Convening,
    room: Room,
    on_progress: OnProgress | None,
) -> Table:
    """Bring everything that will be read up to date, and let everyone take their seat."""
    store, search = room.parts.engines.store, room.settings.search
    asked = checked_query(Query(question), store, None, None, search).text
    if not any(character.isalnum() for character in asked):
        raise UsageError("The question has no word in it.", hint="Ask in words.")
    chosen = room.councils.require(council, choices.tools)
    if choices.options is not None:
        chosen = _deciding(chosen, choices.options, choices, room)
    warnings = refreshed(chosen, room, on_progress)
    room.catch_up()
    return replace(seated(chosen, asked, choices, room), warnings=warnings)


def _deciding(
    council: Council, options: tuple[str, ...], choices: Convening, room: Room
) -> Council:
    """Return the council with other options; they are the caller's, so the caller is told."""
    deciding = replace(council, options=options)
    try:
        return room.councils.require(deciding, choices.tools)
    except CouncilConfigError as error:
        told = " ".join(f"{one.place}: {one.sentence}" for one in error.problems)
        raise UsageError(
            f"These options cannot be decided between. {told}", hint="Give two or more, none twice."
        ) from None


# --- speaking -----------------------------------------------------------------------------------


async def _speak(speaker: Speaker, turn: Turn, on_text: OnText | None, *, room: Room) -> Statement:
    """Let a member speak: a council by meeting, a model by writing, documents by being quoted."""
    with telemetry.agent_span(speaker.key, turn.question) as recorder:
        said = await _said(speaker, turn, on_text, room)
        telemetry.tell_statement(recorder, said)
        return said


async def _said(speaker: Speaker, turn: Turn, on_text: OnText | None, room: Room) -> Statement:
    met = any(said.inner for said in turn.record.statements if said.member == speaker.key)
    if speaker.inner is not None and turn.analyses and not met:
        return await _inner(speaker, speaker.inner, turn, room)
    unopposed = turn.record.replies and not turn.against(speaker)
    if turn.round.kind is RoundKind.REBUTTAL and unopposed:
        return Statement(speaker.key, turn.round.name)  # there is nothing to answer
    if speaker.model is None:
        return await beside(partial(quoted_turn, speaker, turn, room.parts))
    try:
        return await spoken_turn(speaker, turn, room.parts, on_text)
    except EngineError as error:
        quoted = await beside(partial(quoted_turn, speaker, turn, room.parts))
        return replace(quoted, warnings=(*quoted.warnings, _despite(error)))


async def _preside(chair: Speaker, synthesis: Synthesis, on_text: OnText, *, room: Room) -> Minutes:
    """Let the chair sum up; without a model, or where it cannot be reached, rules do."""
    if chair.model is None:
        return synthesis.draft
    with telemetry.agent_span(chair.key, synthesis.turn.question) as recorder:
        try:
            minutes = await presided(chair, synthesis, room.parts, on_text)
        except EngineError as error:
            warning = f"The chair's model did not answer, so rules summed up: {error.message}"
            told = f"{warning} {error.hint}".strip()
            return replace(synthesis.draft, warnings=(*synthesis.draft.warnings, told))
        telemetry.tell_minutes(recorder, minutes)
        return minutes


def _despite(error: EngineError) -> str:
    told = f"The model did not answer, so the documents are quoted: {error.message}"
    return f"{told} {error.hint}".strip()


async def _inner(speaker: Speaker, table: Table, turn: Turn, room: Room) -> Statement:
    """Let a council that is a member meet, and say what came of it."""
    meeting = Meeting(
        room=room,
        kept=_Nowhere(),
        on_event=_ignore,
        speak=partial(_speak, room=room),
        preside=partial(_preside, room=room),
        remind=lambda _: (),
    )
    minutes = await meet(table, meeting)
    ledger = Ledger()
    cited = {citation.number: citation for citation in minutes.citations}
    claims = tuple(
        Claim(
            "",
            speaker.key,
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
        member=speaker.key,
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


def _planned(speaker: Speaker, turn: Turn, given: Prepared) -> PlannedTurn:
    return PlannedTurn(
        member=speaker.key,
        round=turn.round.name,
        model=speaker.model.fingerprint if speaker.model else "",
        grounding=speaker.grounding,
        shelves=speaker.request.shelves,
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


def _transcript(
    table: Table,
    choices: Convening,
    room: Room,
    reminders: Mapping[str, tuple[Memory, ...]],
) -> Transcript:
    """Open the transcript: where the caller says, else in the council's folder if it has one."""
    council = table.council
    everyone = table.everyone
    key = key_of_meeting(
        council,
        table.question,
        sequence=room.parts.engines.store.sequence(),
        models={one.key: one.model.fingerprint for one in everyone if one.model},
        personas={one.key: _dependencies(one, reminders) for one in everyone},
        tools={one.key: [tool.name for tool in one.tools] for one in everyone},
        settings={},  # a member's own stand with them
        versions=room.parts.versions,
    )
    heading = Heading(
        council.slug,
        table.question,
        tuple(one.key for one in everyone),
        tuple(entry.name for entry in council.rounds),
    )
    path = choices.transcript
    if path is None and council.slug in room.councils.names():
        path = room.councils.path / council.slug / MEETINGS / f"{key[:16]}.ndjson"
    return Transcript.open(path, key, heading, fresh=choices.fresh)


def _dependencies(speaker: Speaker, reminders: Mapping[str, tuple[Memory, ...]]) -> str:
    """Return, as text, what a speaker's turns depend on beside model and tools."""
    own = f"{speaker.title} {speaker.instructions} {speaker.grounding} {speaker.request!r}"
    reminded = [memory.id for memory in reminders.get(speaker.key, ())]
    inner = speaker.inner.everyone if speaker.inner else ()
    council = speaker.inner.council.to_json() if speaker.inner else ""
    models = [one.model.fingerprint if one.model else "" for one in inner]
    within = (_dependencies(one, {}) for one in inner)
    return " ".join([own, *reminded, council, *models, *within])


def _reminders(table: Table, choices: Convening, room: Room) -> Mapping[str, tuple[Memory, ...]]:
    """Return what everyone held in earlier meetings; without a model nothing reminds anybody.

    What this very meeting left in the memory before reminds nobody of itself.
    """
    parts, question = room.parts, table.question
    sequence = parts.engines.store.sequence()
    found: dict[str, tuple[Memory, ...]] = {}
    for speaker in table.everyone:
        memory = speaker.request.settings.memory
        if speaker.model is None or not (choices.remember and memory.enabled and memory.recall):
            continue
        recalled = recall(
            table.council.slug,
            speaker.key,
            question,
            parts.memories,
            limit=memory.recall + _OWN_TRACES,
            now=parts.now(),
        )
        others = [one for one in recalled if (one.question, one.sequence) != (question, sequence)]
        found[speaker.key] = tuple(others[: memory.recall])
    return found


def _remembered(minutes: Minutes, choices: Convening, room: Room) -> Minutes:
    """Put what was held and decided into the memory; say so where that is not possible."""
    memory = room.settings.memory
    if not (choices.remember and memory.enabled):
        return minutes
    parts = room.parts
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
