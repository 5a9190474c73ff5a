"""What happens while a question is answered or a council meets, in the order in which it does."""

from dataclasses import dataclass
from enum import StrEnum

from chapterhouse.types.answers import Answer, Draft
from chapterhouse.types.ledger import Progress
from chapterhouse.types.minutes import MemberTurn, Minutes


@dataclass(frozen=True, slots=True)
class ReadingEvent:
    """A file that had changed is read before the question is put."""

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
    TEXT = "text"  # a piece of what a model writes, before it is checked
    SPOKE = "spoke"
    RESUMED = "resumed"  # what was said before the meeting was interrupted
    ABSENT = "absent"
    ROUND_ENDED = "round-ended"


@dataclass(frozen=True, slots=True)
class MeetingEvent:
    """Something that happened in a meeting, told while it goes on.

    Attributes:
        member: Key of who speaks; ``chair`` for who presides; empty for the round itself.
        text: The piece of text, or why someone is absent.
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
