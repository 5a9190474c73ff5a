"""Answers, with their citations and with what was compared with these."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from chapterhouse.types.documents import Trust
from chapterhouse.types.writing import TOOL_TEXT, Usage


@dataclass(frozen=True, slots=True)
class Evidence:
    """A span of a document that a sentence may rest on.

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


EXTRACTIVE: Final = "extractive"  # the method of what was composed without a model
QUOTED: Final = "quoted from the documents"  # the note of a quotation below what a model wrote


@dataclass(frozen=True, slots=True)
class Citation:
    """A quotation that anyone can check: ``text[start:end] == quote`` in the canonical text.

    Attributes:
        marker: How a prompt and Markdown name its place: ``document:section``.
        year: Of the document, where it states a date; or empty.
        link: Web address of the place, where the document states its source; or empty.
        verified: Whether the quotation was found there when the answer was given.
        header: Heading row of the table, where the quotation is a row of one; or empty.
        trust: How far the document's source was trusted when the answer was given.
    """

    number: int
    document_id: str
    title: str
    source: str
    section_path: tuple[str, ...]
    page: int | None
    page_kind: str
    page_label: str
    start: int
    end: int
    quote: str
    text_sha256: str
    marker: str = ""
    year: str = ""
    link: str = ""
    verified: bool = False
    header: str = ""
    trust: Trust = Trust.OWN

    @property
    def tool(self) -> str:
        """The tool whose stored text is quoted; empty where a document is."""
        is_text = self.document_id.startswith(TOOL_TEXT)
        return self.document_id.split(".")[1] if is_text else ""


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """One sentence of an answer as a model wrote it, or one part that is quoted.

    Attributes:
        text: As it is shown. A quoted part may be several lines of Markdown: a list behind its
            lead-in, or lines of code.
        citations: Numbers of its citations: of a quotation where it stands, of what a model wrote
            the sentences of its sources that come closest.
        mismatches: What in it is in none of the passages that it cites.
        before: Markdown that stands before it: a paragraph's break, a mark of a list; or empty.
        note: A remark for the reader, such as ``3 of 9 items of its list``; or empty.
        key_span: Start and end in ``text`` of the sentence that comes closest, where the rest is
            what stands around it; (0, 0) where all of it does.
        opinion: What a model that was asked once more says about it; or None.
    """

    text: str
    citations: tuple[int, ...]
    mismatches: tuple[Mismatch, ...] = ()
    before: str = ""
    note: str = ""
    key_span: tuple[int, int] = (0, 0)
    opinion: Opinion | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer while a model writes it.

    Attributes:
        sentences: Those that are whole, checked; the last ones may still change.
        text: The one that is begun, not checked.
    """

    sentences: tuple[AnswerSentence, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Searched:
    """What was looked through for an answer.

    Attributes:
        terms: Words of the question that were looked for.
        missing_terms: Those that no document searched has.
        nearest: The closest headings, as ``title › section``.
        partly_read: How many of the documents are read only in part; counted where nothing was
            found, else 0.
        partly_read_names: The first of their files, at most three.
        languages: Of the documents, the most frequent first, where the question is in another;
            else empty.
        question_language: Of the question, in that case; else empty.
        nearest_documents: Ids of the documents of the closest passages, in order. They are counted
            and are no part of what is shown, written or compared.
    """

    documents: int
    chunks: int
    terms: tuple[str, ...]
    missing_terms: tuple[str, ...]
    nearest: tuple[str, ...]
    partly_read: int = 0
    partly_read_names: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    question_language: str = ""
    nearest_documents: tuple[str, ...] = field(
        default=(), compare=False, metadata={"exclude": True}
    )


@dataclass(frozen=True, slots=True)
class VersionDifference:
    """Two versions of one document whose same sentence has another value.

    Attributes:
        newer: Number of the citation of the newer one.
        older: Number of that of the older one.
        values: What differs, of the newer one and of the older one.
    """

    newer: int
    older: int
    values: tuple[tuple[str, str], ...]
    ordered: bool = True


class AnswerOutcome(StrEnum):
    """What a question found."""

    ANSWER = "answer"  # what is shown answers it, as far as is known
    PASSAGES = "passages"  # what comes closest is shown, for the reader to judge
    NOT_FOUND = "not-found"  # nothing is shown


SURE: Final = 0.95  # confidence from which an answer is called sure


class Route(StrEnum):
    """What became of a question."""

    ANSWERED = "answered"
    INSUFFICIENT = "insufficient"  # a question for them, but their documents do not hold it
    OUT_OF_SCOPE = "out-of-scope"  # not a question for them
    GENERAL = "general"  # out of scope, and answered by the general model from no document


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with its evidence, the passages that come closest, or an honest refusal.

    Attributes:
        confidence: Chance that what is shown answers the question, 0 to 1.
        method: How it was composed: ``extractive``, or a model's name.
        warnings: What did not work and what was done instead.
        persona: Slug of who answers; empty for the library itself.
        notice: A remark for the reader: a deferral, or that something is missing.
        versions: What other versions of the documents shown say otherwise.
        rejected: Markers that the model wrote and that cite nothing it was given.
        handed_to: Slug of the persona who answered instead, or who could; or empty.
        usage: Of the model, where one wrote.
        cached: Whether it was written earlier and nothing that it depends on has changed since.
        refreshed: What was read of the persona's folders first, in a sentence; or empty.
    """

    question: str
    outcome: AnswerOutcome
    sentences: tuple[AnswerSentence, ...]
    citations: tuple[Citation, ...]
    searched: Searched
    confidence: float
    method: str = "extractive"
    warnings: tuple[str, ...] = ()
    persona: str = ""
    display_name: str = ""
    route: Route = Route.ANSWERED
    notice: str = ""
    versions: tuple[VersionDifference, ...] = ()
    rejected: tuple[str, ...] = ()
    handed_to: str = ""
    usage: Usage | None = None
    cached: bool = False
    refreshed: str = ""

    @property
    def found(self) -> bool:
        """Whether what is shown answers the question, as far as is known."""
        return self.outcome is AnswerOutcome.ANSWER

    @property
    def certainty(self) -> str:
        """How sure a quoted answer is, in a word: ``sure`` or ``likely``; else empty."""
        if not self.found or self.method != "extractive":
            return ""
        return "sure" if self.confidence >= SURE else "likely"

    @property
    def text(self) -> str:
        """The answer as one line of text with bracketed citation numbers."""
        return " ".join(
            sentence.text + "".join(f" [{number}]" for number in sentence.citations)
            for sentence in self.sentences
        )
