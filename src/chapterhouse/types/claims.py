"""What the sentences of an answer rest on, and how far it carries them."""

from dataclasses import dataclass
from enum import StrEnum


class Support(StrEnum):
    """How far the documents carry a sentence of an answer."""

    VERBATIM = "verbatim"  # it stands there to the letter
    SUPPORTED = "supported"  # all that it says stands there, in other words
    PARTLY = "partly"  # some of what it says stands there, the rest nowhere
    MISATTRIBUTED = "misattributed"  # it is carried by another document than the one cited
    FRANKENQUOTE = "frankenquote"  # it passes for a quotation and is stitched from several places
    UNSUPPORTED = "unsupported"  # it does not stand there, or is contradicted
    FABRICATED = "fabricated"  # what it cites does not exist
    NO_CLAIM = "no-claim"  # it states no fact: a greeting, a heading, "the documents do not say"


class ProblemKind(StrEnum):
    """What in a sentence does not agree with its evidence."""

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
    """

    document_id: str
    start: int
    end: int
    text: str
    language: str = ""
    title: str = ""
    section_path: tuple[str, ...] = ()
    date: str = ""


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
    said: str
    found: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """How far a sentence is carried, and by what.

    Attributes:
        spans: The sentences of the evidence that carry it, the best first; of a misattributed
            sentence those of the other document; empty where nothing does.
        problems: What does not agree.
        score: Share of what it says that its evidence says, 0 to 1.
    """

    support: Support
    spans: tuple[Quotation, ...] = ()
    problems: tuple[Problem, ...] = ()
    score: float = 0.0


class ConflictKind(StrEnum):
    """In what two sources disagree."""

    NUMBER = "number"
    DATE = "date"
    NEGATION = "negation"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class Side:
    """What one of two disagreeing sources says.

    Attributes:
        span: The sentence.
        value: What it states: the number, the date or the name; empty where that is not sure.
        title: The document's title.
        date: The day that the document states for itself, or empty.
    """

    span: Quotation
    value: str
    title: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two sources that disagree about one subject.

    Attributes:
        subject: The words that both sentences share.
        sides: Both, the newer first where the dates tell.
        newer: Whether the first side is the newer one; None where the dates do not tell.
    """

    kind: ConflictKind
    subject: str
    sides: tuple[Side, Side]
    newer: bool | None = None
