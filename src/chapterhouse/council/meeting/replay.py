"""What of an earlier holding of a meeting may be used again: only what still proves itself.

A transcript is a file, and anyone who can write to it can write anything. So members who quote are
never taken from it, for they quote as fast as it is read. What a model said is taken only if every
quotation stands in the stored text to the character; what a chair's model wrote only if, besides,
it sums up the very record that comes out again.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from chapterhouse.agents.councils import Councils
from chapterhouse.answering.cite import verify
from chapterhouse.answering.search import lookup_in
from chapterhouse.answering.tool_texts import with_tool_texts
from chapterhouse.council.meeting.session import (
    MeetingOptions,
    Participant,
    Session,
)
from chapterhouse.council.meeting.transcript import Heading, Transcript, key_of_meeting
from chapterhouse.council.minutes.contents import sentences_of, tool_texts
from chapterhouse.runtime import Runtime
from chapterhouse.types import Absence, Citation, MemberTurn, Memory, Minutes, Scope, ToolText

MEETINGS: Final = "meetings"  # folder of a council that holds the transcripts


class Replay:
    """A transcript from which only what proves itself is taken. Writes as the transcript does."""

    def __init__(self, transcript: Transcript, session: Session, runtime: Runtime) -> None:
        """Take the transcript of a meeting of ``session``."""
        self._transcript = transcript
        self._models = {one.key for one in session.everyone if one.model or one.inner}
        self._runtime = runtime

    def turn(self, number: int, member: str) -> MemberTurn | None:
        """Return what a member's model said in round ``number``, if it proves itself."""
        found = self._transcript.turn(number, member)
        if found is None or member not in self._models or not self._proves(found):
            return None
        return found

    def minutes(self, draft: Minutes) -> Minutes | None:
        """Return the minutes that the chair's model wrote about the same, if they prove themselves.

        Args:
            draft: What the record comes to without a chair.
        """
        found = self._transcript.minutes
        if found is None or found.method == draft.method or not _about_the_same(found, draft):
            return None
        stand = self._stand(found.citations, tool_texts(found))
        return found if stand and found.decided in {"", *draft.options} else None

    def add_turn(self, number: int, turn: MemberTurn) -> None:
        """Keep what a member said; errors as the transcript's."""
        self._transcript.add_turn(number, turn)

    def add_absence(self, number: int, absence: Absence) -> None:
        """Keep that a member did not speak; errors as the transcript's."""
        self._transcript.add_absence(number, absence)

    def _proves(self, turn: MemberTurn) -> bool:
        """Whether every quotation stands where it is said to, also in a council that is a member's.

        Every number that is cited is one of them.
        """
        texts = (*turn.tool_texts, *(tool_texts(turn.inner) if turn.inner else ()))
        inner = turn.inner.citations if turn.inner else ()
        known = {citation.number for citation in turn.citations}
        numbers = {number for one in sentences_of(turn) for number in one.citations}
        return numbers <= known and self._stand((*turn.citations, *inner), texts)

    def _stand(self, citations: Sequence[Citation], texts: Sequence[ToolText]) -> bool:
        store = with_tool_texts(self._runtime, texts).store
        holdings = lookup_in(store, Scope.everything())
        return all(
            verify(one, holdings.document(one.document_id), holdings.body(one.document_id)) == one
            for one in citations
        )


def _about_the_same(found: Minutes, draft: Minutes) -> bool:
    """Whether minutes sum up the same record, of the same people."""
    same = ("council", "question", "options", "members", "turns", "agreement", "absences")
    return all(getattr(found, name) == getattr(draft, name) for name in same)


def open_transcript(
    session: Session,
    choices: MeetingOptions,
    runtime: Runtime,
    reminders: Mapping[str, tuple[Memory, ...]],
) -> Transcript:
    """Open the transcript: where the caller says, else in the council's folder if it has one."""
    council = session.council
    everyone = session.everyone
    key = key_of_meeting(
        council,
        session.question,
        sequence=runtime.store.sequence(),
        models={one.key: one.model.fingerprint for one in everyone if one.model},
        personas={one.key: _dependencies(one, reminders) for one in everyone},
        tools={
            one.key: [f"{tool.name} {tool.fingerprint}" for tool in one.tools] for one in everyone
        },
        settings={},  # a member's own stand with them
        versions=runtime.versions,
    )
    heading = Heading(
        council.slug,
        session.question,
        tuple(one.key for one in everyone),
        tuple(entry.name for entry in council.rounds),
    )
    path = choices.transcript
    if path is None and council.slug in Councils(runtime).names():
        path = Councils(runtime).folder(council.slug) / MEETINGS / f"{key[:16]}.ndjson"
    return Transcript.open(path, key, heading, fresh=choices.fresh)


def _dependencies(participant: Participant, reminders: Mapping[str, tuple[Memory, ...]]) -> str:
    """Return, as text, what a participant's turns depend on beside model and tools."""
    one = participant
    own = f"{one.title} {one.instructions} {one.grounding} {one.request!r}"
    reminded = [memory.id for memory in reminders.get(participant.key, ())]
    inner = participant.inner.everyone if participant.inner else ()
    council = participant.inner.council.to_json() if participant.inner else ""
    models = [one.model.fingerprint if one.model else "" for one in inner]
    within = (_dependencies(one, {}) for one in inner)
    return " ".join([own, *reminded, council, *models, *within])
