"""What the sentences of an answer rest on, and what was compared with it."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Evidence:
    """A stretch of a document that a sentence may rest on.

    Attributes:
        language: ISO 639-1 code, or empty.
        section_path: Titles of the headings it stands under, outermost first.
        date: The day that the document states for itself, ``YYYY-MM-DD`` or a part of it, or
            empty.
        header: Heading rows of a table that are shown above it; or empty.
    """

    document_id: str
    start: int
    end: int
    text: str
    language: str = ""
    title: str = ""
    section_path: tuple[str, ...] = ()
    date: str = ""
    header: str = ""


@dataclass(frozen=True, slots=True)
class Quotation:
    """A span of a document with its words: ``text[start:end] == quote`` in the canonical text."""

    document_id: str
    start: int
    end: int
    quote: str


class MismatchKind(StrEnum):
    """What in a sentence was compared exactly."""

    QUOTATION = "quotation"
    NUMBER = "number"
    AMOUNT = "amount"
    DATE = "date"


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Something in a sentence that none of the passages has that it cites.

    Attributes:
        text: As the sentence has it.
        instead: What stands in its place in the passages, where that is plain; or empty.
    """

    kind: MismatchKind
    text: str
    instead: str = ""


class OpinionKind(StrEnum):
    """What a model that is asked once more says of the sources about a sentence."""

    CONFIRMS = "confirms"
    CONTRADICTS = "contradicts"
    SILENT = "silent"


@dataclass(frozen=True, slots=True)
class Opinion:
    """A second opinion by a model on a sentence.

    Attributes:
        citation: Number of the citation of the words that it gives for it; 0 where it has none.
    """

    kind: OpinionKind
    model: str
    citation: int = 0
