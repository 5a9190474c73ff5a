"""Questions as they are counted, and what the counts come to."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

DAY: Final = 86_400  # seconds


def day_of(seconds: int) -> str:
    """Return the day of a time, UTC, ISO 8601."""
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()


class QuestionOutcome(StrEnum):
    """What a question or a meeting came to."""

    ANSWER = "answer"  # answered; or a meeting that decided on its documents
    PASSAGES = "passages"  # what came closest was shown, for the reader to judge
    NOT_FOUND = "not-found"  # nothing was shown
    OUT_OF_SCOPE = "out-of-scope"  # not a question for the persona who was asked


@dataclass(frozen=True, slots=True)
class QuestionRecord:
    """One question or meeting as it is recorded.

    Attributes:
        asked: When, in seconds.
        interface: ``cli``, ``python``, ``mcp``, ``api`` or ``openai``.
        persona: Slug of who answered; empty for the library.
        council: Slug of the council that met; empty where none did.
        text: The question; empty unless the settings allow it.
        cited: Ids of the documents that an answer cites, in order.
        nearest: Ids of the documents that come closest, the nearest first.
    """

    asked: int
    outcome: QuestionOutcome
    interface: str = "python"
    persona: str = ""
    council: str = ""
    text: str = ""
    cited: tuple[str, ...] = ()
    nearest: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OutcomeCounts:
    """Questions by what they came to."""

    questions: int = 0
    answered: int = 0
    passages: int = 0
    not_found: int = 0
    out_of_scope: int = 0


@dataclass(frozen=True, slots=True)
class DocumentUse:
    """A document, and the questions of the period that it had to do with.

    Attributes:
        modified: When its file was last changed, in seconds.
    """

    document_id: str
    title: str
    source: str
    modified: int
    questions: int = 0


@dataclass(frozen=True, slots=True)
class UnansweredQuestion:
    """A question that got no answer, or only the closest passages.

    Attributes:
        text: As it was asked; empty where texts are not recorded.
        persona: Slug of who was asked; empty for the library and for meetings.
        council: Slug of the council; empty where none met.
        not_found: How often nothing was shown.
        last: When the last time, in seconds.
        nearest: Id of the document that came closest; empty where none did.
    """

    text: str
    persona: str
    council: str
    questions: int
    not_found: int
    last: int
    nearest: str


@dataclass(frozen=True, slots=True)
class DocumentFigures:
    """The documents as they are now.

    Attributes:
        by_age: By the time since the file was last changed, the newest first.
        cited: Documents that an answer of the period cites; all others were not cited.
    """

    documents: int
    chunks: int
    by_status: Mapping[str, int]
    by_format: Mapping[str, int]
    by_shelf: Mapping[str, int]
    by_age: Mapping[str, int]
    cited: int


@dataclass(frozen=True, slots=True)
class QuestionFigures:
    """What the store counts of the questions of a period, in one moment.

    Attributes:
        unanswered: The most frequent first.
        cited: Ids of documents with the number of answers that cite them, the most first.
        never_cited: Ids of documents that none cites, the longest unchanged first.
        ages: Documents by the days since they were changed; -1 where that is not known.
    """

    outcomes: OutcomeCounts
    by_day: Mapping[str, OutcomeCounts]
    by_interface: Mapping[str, int]
    unanswered: tuple[UnansweredQuestion, ...]
    cited: Mapping[str, int]
    never_cited: tuple[str, ...]
    cited_documents: int
    ages: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Analytics:
    """What was asked in a period, and what that says about the documents.

    Attributes:
        days: Of the period, today included; 0 for all that is recorded.
        first_day: Of the period, UTC, ISO 8601.
        by_day: What the questions of each day came to, UTC, ISO 8601; days without any are absent.
        by_interface: Questions by the way in which they came.
        unanswered: The most frequent first.
        never_cited: The longest unchanged first.
    """

    days: int
    first_day: str
    last_day: str
    documents: DocumentFigures
    outcomes: OutcomeCounts
    by_day: Mapping[str, OutcomeCounts] = field(default_factory=dict)
    by_interface: Mapping[str, int] = field(default_factory=dict)
    unanswered: tuple[UnansweredQuestion, ...] = ()
    most_cited: tuple[DocumentUse, ...] = ()
    never_cited: tuple[DocumentUse, ...] = ()
