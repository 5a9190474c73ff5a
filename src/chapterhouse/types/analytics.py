"""Questions as they are counted, and what the counts come to."""

from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

DAY: Final = 86_400  # seconds
WEAK: Final = 0.8  # confidence below which an answer counts as weak


def day_of(seconds: int) -> str:
    """Return the day of a time, UTC, ISO 8601."""
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()


class QuestionOutcome(StrEnum):
    """What a question or a meeting came to."""

    ANSWER = "answer"  # answered; or a meeting that decided on its documents
    PASSAGES = "passages"  # the closest passages were shown, and none answers for certain
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
        confidence: 0 to 1; of a meeting 1 where it decided, else 0.
        milliseconds: How long it took until the answer was there.
        model: Which wrote; empty where none did.
        cached: Whether the answer was written earlier: it cost nothing now.
        cost: US dollars; None where no price is known.
        text: The question; empty unless the settings allow it.
        cited: Ids of the documents that an answer cites, in order.
        nearest: Ids of the documents that come closest, the nearest first.
    """

    asked: int
    outcome: QuestionOutcome
    interface: str = "python"
    persona: str = ""
    council: str = ""
    confidence: float = 0.0
    milliseconds: int = 0
    model: str = ""
    cached: bool = False
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0
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

    def __add__(self, further: "OutcomeCounts") -> "OutcomeCounts":
        """Return the sum of both."""
        return OutcomeCounts(*map(sum, zip(astuple(self), astuple(further), strict=True)))


@dataclass(frozen=True, slots=True)
class DayFigures:
    """The questions of one day, UTC, ISO 8601."""

    day: str
    outcomes: OutcomeCounts


@dataclass(frozen=True, slots=True)
class ModelFigures:
    """What a model wrote, how long that took, and what it cost.

    Attributes:
        model: Its name; empty for answers that no model wrote.
        cached: Questions that were answered from the cache; times leave them out.
        median: Milliseconds that half of the questions did not exceed; 0 where all were cached.
        percentile_95: Milliseconds that 95 % of them did not exceed.
        cost: US dollars, of all uses whose price is known; None where none is.
        unpriced: Questions whose price is not known.
    """

    model: str
    questions: int
    cached: int
    median: int
    percentile_95: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    unpriced: int


@dataclass(frozen=True, slots=True)
class AskedFigures:
    """The questions to the library, to one persona or to one council.

    Attributes:
        persona: Slug of who answered; empty for the library and for meetings.
        council: Slug of the council; empty where none met.
        median: Milliseconds that half of the questions did not exceed.
        cost: US dollars, of all uses whose price is known; None where none is.
    """

    persona: str
    council: str
    outcomes: OutcomeCounts
    median: int
    cost: float | None


@dataclass(frozen=True, slots=True)
class DocumentUse:
    """A document, and the questions of the period that it had to do with.

    Attributes:
        modified: When its file was last changed, in seconds.
        questions: How many there are.
    """

    document_id: str
    title: str
    source: str
    modified: int
    questions: int = 0


@dataclass(frozen=True, slots=True)
class ContentGap:
    """Questions on one subject that the documents answer weakly or not at all.

    Attributes:
        outcomes: Those that were answered have an uncertain answer.
        terms: Words that most of them share, where their texts are recorded.
        examples: Some of them as they were asked, where their texts are recorded.
        nearest: The documents that came closest, with the number of questions of the gap.
        last: When the last of them was asked, in seconds.
    """

    outcomes: OutcomeCounts
    last: int
    nearest: tuple[DocumentUse, ...]
    terms: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentFigures:
    """The documents as they are now.

    Attributes:
        by_status: Files, by what became of them.
        by_age: By the time since the file was last changed, the newest first.
        cited: Documents that an answer of the period cites; all others were not cited.
    """

    documents: int
    by_status: Mapping[str, int]
    by_format: Mapping[str, int]
    by_shelf: Mapping[str, int]
    by_age: Mapping[str, int]
    cited: int


@dataclass(frozen=True, slots=True)
class QuestionFigures:
    """What the store counts of the questions of a period, in one moment.

    Attributes:
        weak: The questions that were answered weakly or not at all, in order of time.
        cited: Ids of documents with the number of answers that cite them, the most first.
        never_cited: Ids of documents that none cites, the longest unchanged first.
        cited_documents: How many documents are cited at all.
        ages: Documents by the days since they were changed; -1 where that is not known.
    """

    outcomes: OutcomeCounts
    by_interface: Mapping[str, int]
    by_day: tuple[DayFigures, ...]
    asked: tuple[AskedFigures, ...]
    models: tuple[ModelFigures, ...]
    weak: tuple[QuestionRecord, ...]
    cited: Mapping[str, int]
    never_cited: tuple[str, ...]
    cited_documents: int
    ages: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Analytics:
    """What was asked in a period, and what that says about the documents.

    Attributes:
        days: Of the period, today included; 0 for all that is recorded.
        first_day: Of the period, UTC, ISO 8601; empty where nothing is recorded.
        last_day: Today.
        by_interface: Questions by the way in which they came.
        by_day: Every day of the period, in order.
        gaps: The largest first.
        gap_count: How many gaps there are, those left out included.
        most_cited: By the number of answers that cite them.
        never_cited: The longest unchanged first.
    """

    days: int
    first_day: str
    last_day: str
    documents: DocumentFigures
    outcomes: OutcomeCounts
    by_interface: Mapping[str, int] = field(default_factory=dict)
    by_day: tuple[DayFigures, ...] = ()
    gaps: tuple[ContentGap, ...] = ()
    gap_count: int = 0
    most_cited: tuple[DocumentUse, ...] = ()
    never_cited: tuple[DocumentUse, ...] = ()
    models: tuple[ModelFigures, ...] = ()
    asked: tuple[AskedFigures, ...] = ()
