"""What a council makes of a question: statements, replies to them, and minutes.

Every statement has the numbers of its citations. Within a turn that has citations of
its own they count in those; in minutes, whose turns have none, in ``Minutes.citations``.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from chapterhouse.types.answers import Answer, Citation, Draft, Mismatch
from chapterhouse.types.sources import Progress
from chapterhouse.types.writing import ToolCall, ToolText, Usage

GAP: Final = "…"  # at the end of a quotation whose sentence goes on


@dataclass(frozen=True, slots=True)
class Aspect:
    """One of the things that a question asks.

    Attributes:
        context: What the question says before it; or empty.
    """

    text: str
    context: str = ""


@dataclass(frozen=True, slots=True)
class TableCell:
    """What one member's documents say on one thing: a quotation, or nothing.

    Attributes:
        text: The quotation as it is shown; empty where nothing was found.
        citations: Its number in ``Minutes.citations``.
    """

    member: str
    text: str = ""
    citations: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TableRow:
    """One thing that a question asks, with a cell for each member in the order of the seats."""

    asked: str
    cells: tuple[TableCell, ...] = ()


class Stance(StrEnum):
    """How a member says that they stand to a statement."""

    STAND = "stand"  # they hold it
    CONCEDE = "concede"  # they give up their own, or give way to that of another
    OPPOSE = "oppose"  # they hold that it is not so


@dataclass(frozen=True, slots=True)
class Ground:
    """A sentence on which a position rests, and what in it no cited passage has."""

    text: str
    citations: tuple[int, ...] = ()
    mismatches: tuple[Mismatch, ...] = ()


@dataclass(frozen=True, slots=True)
class Statement:
    """What a member holds on one of the things that are asked.

    Attributes:
        id: ``s1``, ``s2`` and so on through the whole meeting; empty until it is recorded.
        member: Key of who states it.
        position: In their own words; of a member without a model, the words of a document.
        label: The same in at most five words; or empty.
        question: The thing asked; empty for the question as a whole.
    """

    id: str
    member: str
    round: str
    position: str
    label: str = ""
    question: str = ""
    citations: tuple[int, ...] = ()
    mismatches: tuple[Mismatch, ...] = ()
    grounds: tuple[Ground, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What a member says to a statement, by its id."""

    member: str
    round: str
    statement: str
    stance: Stance
    reason: str = ""
    citations: tuple[int, ...] = ()
    mismatches: tuple[Mismatch, ...] = ()


@dataclass(frozen=True, slots=True)
class MemberTurn:
    """What one member stated in one round.

    Attributes:
        option: What they would choose, where there are options; or empty.
        missing: What evidence they lack, in sentences.
        open_questions: What they would want to know.
        citations: Of statements and replies; empty once they are in minutes.
        method: How it was composed: ``extractive``, or a model's name.
        tool_calls: What the model looked up, without the results.
        tool_texts: What tools returned, of all that is cited here.
        rejected: Markers that the model wrote and that cite nothing it was given.
        inner: The minutes of the council that the member is.
    """

    member: str
    round: str
    statements: tuple[Statement, ...] = ()
    replies: tuple[Reply, ...] = ()
    option: str = ""
    missing: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()
    method: str = "extractive"
    usage: Usage | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_texts: tuple[ToolText, ...] = ()
    warnings: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    inner: "Minutes | None" = None


@dataclass(frozen=True, slots=True)
class Absence:
    """A member who did not speak in a round, and why."""

    member: str
    round: str
    reason: str


@dataclass(frozen=True, slots=True)
class Agreement:
    """How every member stands to a statement in the end, by their own replies.

    Attributes:
        stand: Keys of those who hold it: who made it, unless they gave it up, and who replied so.
        concede: Of those who gave it up, or gave way to it.
        oppose: Of those who hold that it is not so.
        silent: Of those who did not reply to it.
    """

    statement: str
    stand: tuple[str, ...] = ()
    concede: tuple[str, ...] = ()
    oppose: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ParticipantRecord:
    """Who sits in a council, as minutes name them.

    Attributes:
        key: How rounds and statements name them.
        kind: ``persona``, ``role`` or ``council``.
        model: Name of the model that speaks for them; empty where none does.
    """

    key: str
    title: str
    kind: str
    persona: str = ""
    shelves: tuple[str, ...] = ()
    documents: int = 0
    model: str = ""


@dataclass(frozen=True, slots=True)
class Point:
    """A sentence of the minutes.

    Attributes:
        citations: Numbers of the citations that it names.
        statements: Ids of the statements that it names.
        members: Keys of those who hold it.
    """

    text: str
    citations: tuple[int, ...] = ()
    mismatches: tuple[Mismatch, ...] = ()
    statements: tuple[str, ...] = ()
    members: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gap:
    """Evidence that is missing, and from whose shelf."""

    member: str
    shelf: str
    text: str


@dataclass(frozen=True, slots=True)
class Minutes:
    """What came of a meeting.

    Attributes:
        turns: In the order of rounds and seats; the chair's summing up is not among them.
        agreement: How every member stands to each statement, in the order of the statements.
        decided: The option that was chosen; empty where there were none or it stays open.
        decision: What was decided, or why nothing was.
        table: What the documents of members without a model say on each thing that was asked.
        chair: How who presided is called; empty where nobody did.
        method: How it was summed up: ``extractive``, or a model's name.
        usage: Of all models together, where any wrote.
        tool_texts: What tools returned, of all that the chair cites.
    """

    council: str
    title: str
    question: str
    purpose: str = ""
    options: tuple[str, ...] = ()
    members: tuple[ParticipantRecord, ...] = ()
    rounds: tuple[str, ...] = ()
    turns: tuple[MemberTurn, ...] = ()
    absences: tuple[Absence, ...] = ()
    agreement: tuple[Agreement, ...] = ()
    decided: str = ""
    decision: tuple[Point, ...] = ()
    grounds: tuple[Point, ...] = ()
    dissent: tuple[Point, ...] = ()
    open_questions: tuple[Point, ...] = ()
    missing: tuple[Gap, ...] = ()
    table: tuple[TableRow, ...] = ()
    citations: tuple[Citation, ...] = ()
    chair: str = ""
    method: str = "extractive"
    usage: Usage | None = None
    warnings: tuple[str, ...] = ()
    tool_texts: tuple[ToolText, ...] = ()

    @property
    def debated(self) -> bool:
        """Whether a model spoke for anybody; else documents were only read."""
        return bool(self.turns) or any(member.model for member in self.members)

    @property
    def statements(self) -> tuple[Statement, ...]:
        """All statements in the order in which they were made."""
        return tuple(one for turn in self.turns for one in turn.statements)

    @property
    def replies(self) -> tuple[Reply, ...]:
        """All replies in the order in which they were made."""
        return tuple(one for turn in self.turns for one in turn.replies)


@dataclass(frozen=True, slots=True)
class ReadingEvent:
    """A file that had changed is read before the question is asked."""

    progress: Progress


@dataclass(frozen=True, slots=True)
class DraftEvent:
    """What a model has written so far, checked sentence by sentence."""

    draft: Draft


@dataclass(frozen=True, slots=True)
class AnswerEvent:
    """The answer; the last event."""

    answer: Answer


class MeetingEventKind(StrEnum):
    """What happened in a meeting."""

    ROUND_BEGAN = "round-began"
    MEMBER_BEGAN = "member-began"
    TEXT = "text"  # some of what a model writes, before it is checked
    SPOKE = "spoke"
    RESUMED = "resumed"  # a turn from before the meeting was interrupted
    ABSENT = "absent"
    ROUND_ENDED = "round-ended"


@dataclass(frozen=True, slots=True)
class MeetingEvent:
    """Something that happened in a meeting, reported while it goes on.

    Attributes:
        member: Key of who speaks; ``chair`` for who presides; empty for the round itself.
        text: The new part of the text, or why someone is absent.
    """

    kind: MeetingEventKind
    round: str
    number: int
    member: str = ""
    text: str = ""
    turn: MemberTurn | None = None


@dataclass(frozen=True, slots=True)
class MinutesEvent:
    """The minutes of a meeting; the last event."""

    minutes: Minutes


AskEvent = ReadingEvent | DraftEvent | AnswerEvent
CouncilEvent = ReadingEvent | MeetingEvent | MinutesEvent
