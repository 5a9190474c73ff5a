"""A meeting as it is followed: its rounds, and in each who speaks, side by side."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from types import MappingProxyType
from typing import Final

from chapterhouse.agents.council import Council
from chapterhouse.agents.council_model import CHAIR, RoundKind
from chapterhouse.council.meeting.record import Record, add_outcome
from chapterhouse.council.minutes.contents import Reader, round_title
from chapterhouse.council.minutes.outline import turn_part
from chapterhouse.presenting.blocks import Part
from chapterhouse.types import (
    Absence,
    Citation,
    CouncilEvent,
    MeetingEvent,
    MemberTurn,
    Minutes,
    MinutesEvent,
    ParticipantRecord,
    ReadingEvent,
)
from chapterhouse.types import MeetingEventKind as Kind

_NOBODY: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(slots=True)
class Speaker:
    """One who speaks in a round.

    Attributes:
        state: ``waits``, ``speaks``, ``spoke`` or ``is absent``.
        text: What was written so far, unchecked; of who is absent, why.
        citations: What ``part`` cites.
    """

    round: int
    key: str
    title: str
    state: str = "waits"
    text: str = ""
    part: Part | None = None
    citations: tuple[Citation, ...] = ()


@dataclass(slots=True)
class MeetingRound:
    """A round, with who speaks in it by their keys, in the order of the seats."""

    number: int
    name: str
    speakers: dict[str, Speaker] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """What it is called."""
        return round_title(self.name)


class FollowedMeeting:
    """What happened in a meeting, taken event by event.

    Args:
        council: As it is now, if it can still be read; it may have been changed since.
        titles: How its members and its chair are called, by their keys.

    Attributes:
        now: What happens at the moment, in a sentence.
    """

    def __init__(
        self, question: str, council: Council | None = None, titles: Mapping[str, str] = _NOBODY
    ) -> None:
        self.rounds: dict[int, MeetingRound] = {}
        self.now = "The council comes together."
        self.minutes: Minutes | None = None
        self._council, self._titles, self._record = council, titles, Record()
        members = tuple(ParticipantRecord(key, title, "") for key, title in titles.items())
        self._so_far = Minutes("", "", question, members=members)
        self._outcomes: dict[str, MemberTurn | Absence] = {}  # of the round that goes on

    def take(self, event: CouncilEvent) -> MeetingRound | Speaker | None:
        """Take an event; return what it changed, None where that is but a moment or all."""
        match event:
            case ReadingEvent(progress):
                self.now = f"Reading what changed: {progress.done} of {progress.total}."
            case MinutesEvent(minutes):
                self.minutes, self.now = minutes, "The meeting has ended."
                self._show_as_recorded(minutes)
                self.rounds = {
                    number: round_
                    for number, round_ in self.rounds.items()
                    if any(one.part or one.text for one in round_.speakers.values())
                }
            case MeetingEvent(kind, name, number):
                round_ = self.rounds.setdefault(number, self._opened(number, name))
                if kind is Kind.ROUND_BEGAN:
                    self.now = f"Round {number}: {round_.title}."
                elif kind is Kind.ROUND_ENDED:
                    self.now = f"Round {number} has ended."
                    self._end(round_)
                else:
                    return self._take_part(event, round_)
                return round_
        return None

    def _opened(self, number: int, name: str) -> MeetingRound:
        """Return a round in which everyone waits who is to speak: columns are not moved later."""
        entries = self._council.rounds if self._council else ()
        round_ = MeetingRound(number, name)
        if self._council and number <= len(entries) and entries[number - 1].name == name:
            entry = entries[number - 1]
            members = [member.key for member in self._council.members]
            chair = entry.kind is RoundKind.SYNTHESIS
            for key in [CHAIR] if chair else entry.speakers or members:
                round_.speakers[key] = Speaker(number, key, self._titles.get(key, key))
        return round_

    def _take_part(self, event: MeetingEvent, round_: MeetingRound) -> Speaker:
        title = self._titles.get(event.member, event.member)
        speaker = round_.speakers.setdefault(
            event.member, Speaker(round_.number, event.member, title)
        )
        if event.kind is Kind.MEMBER_BEGAN:
            speaker.state = "speaks"
        elif event.kind is Kind.TEXT:
            speaker.text += event.text
        elif event.kind is Kind.ABSENT:
            speaker.state, speaker.text = "is absent", event.text
            self._outcomes[speaker.key] = Absence(speaker.key, event.round, event.text)
        elif event.turn is not None:  # its statements are named when the round has ended
            speaker.state, speaker.citations = "spoke", event.turn.citations
            reader = Reader(replace(self._so_far, citations=speaker.citations))
            speaker.part = turn_part(reader, event.turn, 0)
            self._outcomes[speaker.key] = event.turn
        speaking = [one.title for one in round_.speakers.values() if one.state == "speaks"]
        verb = {0: "has spoken", 1: "speaks"}.get(len(speaking), "speak")
        self.now = f"{round_.title}: {' and '.join(speaking) or 'Everyone'} {verb}."
        return speaker

    def _end(self, round_: MeetingRound) -> None:
        """Name the statements of a round and number its citations, as minutes do."""
        outcomes = [self._outcomes[key] for key in round_.speakers if key in self._outcomes]
        self._record, self._outcomes = reduce(add_outcome, outcomes, self._record), {}
        turns, citations = self._record.turns, self._record.citations
        self._so_far = replace(self._so_far, turns=turns, citations=citations)
        self._show_as_recorded(self._so_far)
        round_.speakers = {key: one for key, one in round_.speakers.items() if one.state != "waits"}
        for speaker in round_.speakers.values():
            speaker.state = "spoke" if speaker.state == "speaks" else speaker.state

    def _show_as_recorded(self, minutes: Minutes) -> None:
        reader = Reader(minutes)
        for number, turn in enumerate(minutes.turns, 1):
            for round_ in self.rounds.values():
                if round_.name == turn.round and (speaker := round_.speakers.get(turn.member)):
                    speaker.part = turn_part(reader, turn, number)
                    speaker.citations = minutes.citations
