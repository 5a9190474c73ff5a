"""What the sentences of an answer rest on, and what was compared with it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Support(StrEnum):
    """What was found about a claim of a council in the documents."""

    QUOTED = "quoted"  # it stands there word for word
    SUPPORTED = "supported"  # they say the same in other words, as far as can be told
    CITED = "cited"  # its writer quotes words that stand there and state no other facts
    NOT_FOUND = "not-found"  # nothing there supports it for certain
    DISAGREES = "disagrees"  # they state another number or date
    NO_STATEMENT = "no-statement"  # it states no fact: a greeting, a heading, "they do not say"


FOUND: Final = frozenset({Support.QUOTED, Support.SUPPORTED, Support.CITED})
"""What the documents say."""


class ProblemKind(StrEnum):
    """What in a claim of a council does not agree with its evidence."""

    NUMBER = "number"
    DATE = "date"
    NAME = "name"
    NEGATION = "negation"
    WORDS = "words"  # content words that the evidence lacks
    QUOTATION = "quotation"  # words in quotation marks that do not stand there so
    MARKER = "marker"  # a citation of nothing that was given


@dataclass(frozen=True, slots=True)
class Evidence:
    """A stretch of a document that a sentence may rest on.

    Attributes:
        start: Offset in the document's canonical text; ``text == body.text[start:end]``.
        language: ISO 639-1 code, or empty.
        title: The document's title.
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


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a sentence that its evidence does not say, and what it says instead."""

    kind: ProblemKind
    claimed: str
    found: str = ""


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
        model: Who gave it.
        citation: Number of the citation of the words that it gives for it; 0 where it has none.
    """

    kind: OpinionKind
    model: str
    citation: int = 0


class ConflictKind(StrEnum):
    """In what two sources disagree."""

    NUMBER = "number"
    DATE = "date"
    NEGATION = "negation"
    NAME = "name"
