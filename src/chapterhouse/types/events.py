"""What happens while a question is answered or a council meets, in the order in which it does."""

from dataclasses import dataclass

from chapterhouse.types.answers import Answer, Draft
from chapterhouse.types.ledger import Progress
from chapterhouse.types.minutes import MeetingEvent, Minutes


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


@dataclass(frozen=True, slots=True)
class MinutesEvent:
    """The minutes of a meeting; the last event."""

    minutes: Minutes


AskEvent = ReadingEvent | DraftEvent | AnswerEvent
CouncilEvent = ReadingEvent | MeetingEvent | MinutesEvent
