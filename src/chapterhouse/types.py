"""The values that travel through Chapterhouse: frozen, standard library only.

Offsets are counts of Unicode code points into ``Body.text`` (the canonical text of a document),
half open: ``text[start:end]``. Times are whole seconds since 1970 in UTC. Hashes are lower-case
hexadecimal SHA-256.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

DEFAULT_SHELF = "library"


class Status(StrEnum):
    """How a file ended."""

    READY = "ready"  # all of its text is in the library
    PARTIAL = "partial"  # some of it is; the notices say what is missing
    SKIPPED = "skipped"  # nothing to do: unchanged, or not a document
    REJECTED = "rejected"  # it will not be read; the code says why


class Kind(StrEnum):
    """What a chunk is made of."""

    PROSE = "prose"
    TABLE = "table"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Notice:
    """Something about a file that its owner should know: a stable code and a sentence."""

    code: str
    sentence: str
    page: int | None = None


# --- reading -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ExtractedPage:
    """One page, slide or sheet as Markdown. ``number`` is None where the format has no pages."""

    text: str
    number: int | None = None
    label: str = ""


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a reader made of some bytes, before cleaning.

    Attributes:
        pages: The text in reading order; one unnumbered page where the format has none.
        format: Short name of the format as ``docs formats`` lists it, such as ``pdf``.
        method: What extracted it, with its version, such as ``pypdfium2 5.15.2``.
        page_kind: ``page``, ``slide``, ``sheet`` or empty.
        markdown: Whether ``#`` lines are headings; False for plain text.
        title: The title the file states of itself, or empty.
        metadata: What else the file states of itself: author, date, language.
        notices: What could not be read and why. Any notice makes the document partial unless
            its code is in ``BENIGN_NOTICES``.
    """

    pages: tuple[ExtractedPage, ...]
    format: str
    method: str
    page_kind: str = ""
    markdown: bool = True
    title: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()


# Notices that inform without meaning that text is missing.
BENIGN_NOTICES = frozenset(
    {"extension-mismatch", "invisible-characters", "encoding-guessed", "layout-skipped"}
)


# --- documents ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of text under one heading; sections follow one another and cover the text.

    ``path`` holds the titles from the outermost heading down to this one; it is empty for what
    stands before the first heading, whose ``level`` is 0.
    """

    ordinal: int
    level: int
    path: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Page:
    """A page, slide or sheet as a stretch of the canonical text."""

    number: int
    label: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Body:
    """The canonical text of a document and its shape."""

    text: str
    sections: tuple[Section, ...] = ()
    pages: tuple[Page, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """Everything about a document except its text.

    Attributes:
        id: Stable, readable name: a slug of the file name and eight hexadecimal digits.
        source: Where it came from, as shown: the added folder's name and the path below it.
        location: Absolute path (later also a URL) that it was read from.
        format: Short name of the format.
        page_kind: ``page``, ``slide``, ``sheet`` or empty.
        sha256: Hash of the bytes.
        text_sha256: Hash of the canonical text in UTF-8; citations carry it.
        size: Bytes.
        modified: Modification time of the file, seconds.
        language: ISO 639-1 code, or empty where it could not be told.
    """

    id: str
    source: str
    location: str
    title: str
    format: str
    method: str
    sha256: str
    text_sha256: str
    size: int
    modified: int
    status: Status = Status.READY
    page_kind: str = ""
    language: str = ""
    shelves: tuple[str, ...] = (DEFAULT_SHELF,)
    notices: tuple[Notice, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    characters: int = 0
    chunks: int = 0


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of text chosen by a chunker. ``header`` repeats a table's heading rows."""

    start: int
    end: int
    kind: Kind = Kind.PROSE
    header: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of a document, small enough to be retrieved: ``text == body.text[start:end]``.

    Attributes:
        document_id: The document it belongs to.
        ordinal: Its place among the chunks of the document, from 0.
        header: Heading rows of the table that this chunk continues, or empty. They stand
            elsewhere in the document, so they are shown and indexed but are not in ``text``.
        section_path: Titles of the headings it stands under, outermost first.
        page: Number of the page, slide or sheet on which it starts, or None.
        page_label: That page's own name: a sheet's name, a slide's title, or empty.
        tokens: Number of tokens in header and text, by the library's tokenizer.
        key: The store's own number for this version of the chunk; never reused. 0 before storing.
    """

    document_id: str
    ordinal: int
    start: int
    end: int
    text: str
    kind: Kind = Kind.PROSE
    header: str = ""
    section_path: tuple[str, ...] = ()
    page: int | None = None
    page_label: str = ""
    tokens: int = 0
    key: int = 0

    @property
    def id(self) -> str:
        """Public name of the chunk: document id, colon, ordinal."""
        return f"{self.document_id}:{self.ordinal}"


# --- the ledger of files -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FileRecord:
    """What became of one file the last time it was looked at.

    ``size`` and ``mtime_ns`` let the next look skip it without opening it.
    """

    location: str
    source: str
    size: int
    mtime_ns: int
    sha256: str
    status: Status
    code: str = ""
    sentence: str = ""
    document_id: str = ""
    format: str = ""


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """How one file ended in this run, told after it is safe on disk."""

    record: FileRecord
    changed: bool  # whether this run altered the library
    notices: tuple[Notice, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a long piece of work is. ``outcome`` is set when a file has just been finished."""

    done: int
    total: int
    current: str
    outcome: FileOutcome | None = None


@dataclass(frozen=True, slots=True)
class AddReport:
    """What one ``add`` did. ``outcomes`` is in order of source name."""

    outcomes: tuple[FileOutcome, ...]
    missing: tuple[str, ...] = ()  # sources once added from these folders that are gone now
    interrupted: bool = False

    def count(self, status: Status) -> int:
        """Count the files that ended so."""
        return sum(outcome.record.status == status for outcome in self.outcomes)

    @property
    def changed(self) -> int:
        """Count the files whose documents were written."""
        return sum(outcome.changed for outcome in self.outcomes)


# --- change feed -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Change:
    """The latest thing that happened to a document. ``document`` is None when it was removed."""

    sequence: int
    document_id: str
    document: Document | None


# --- asking ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Query:
    """A question as it is put to the library.

    Attributes:
        text: The question.
        shelves: Only documents on one of these; empty means all.
        limit: Number of hits wanted, 1 to 1,000.
        per_document: At most so many hits from one document; 0 means no cap.
    """

    text: str
    shelves: tuple[str, ...] = ()
    limit: int = 10
    per_document: int = 3


@dataclass(frozen=True, slots=True)
class WeightedTerm:
    """An index term of a question and its weight: how often the question says it."""

    term: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Scored:
    """A chunk key and its score in one list; higher is better."""

    key: int
    score: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that answers a query, best first.

    ``stages`` holds the score and rank of each stage that saw it, for ``--explain``.
    """

    rank: int
    score: float
    chunk: Chunk
    document: Document
    stages: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits of one query and what was done to find them."""

    query: Query
    hits: tuple[Hit, ...]
    terms: tuple[str, ...]  # what the question became in the index
    languages: tuple[str, ...]  # the stemmers that were tried
    exact: tuple[str, ...]  # file names, identifiers and phrases looked for to the letter
    documents: int  # number searched
    chunks: int


@dataclass(frozen=True, slots=True)
class Citation:
    """A quotation that anyone can check: ``text[start:end] == quote`` in the canonical text."""

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
    verified: bool = False


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """One sentence of an answer and the numbers of the citations that carry it."""

    text: str
    citations: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Searched:
    """What was looked through for an answer."""

    documents: int
    chunks: int
    terms: tuple[str, ...]
    missing_terms: tuple[str, ...]  # words of the question that stand in no document searched
    nearest: tuple[str, ...]  # the closest headings, as "title › section"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with its evidence, or an honest refusal.

    Attributes:
        found: Whether the documents hold an answer.
        evidence: Strength of the evidence, 0 to 1; below the threshold ``found`` is False.
        method: How it was composed: ``extractive``, later also a model's name.
    """

    question: str
    found: bool
    sentences: tuple[AnswerSentence, ...]
    citations: tuple[Citation, ...]
    searched: Searched
    evidence: float
    method: str = "extractive"

    @property
    def text(self) -> str:
        """The answer as one line of text with bracketed citation numbers."""
        return " ".join(
            sentence.text + "".join(f" [{number}]" for number in sentence.citations)
            for sentence in self.sentences
        )


# --- state of a library ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LibraryStatus:
    """Counts and places, for ``status``."""

    home: str
    workspace: str
    documents: int
    chunks: int
    sequence: int
    by_format: Mapping[str, int]
    by_status: Mapping[str, int]
    by_shelf: Mapping[str, int]
    lexical_sequence: int
    vector_sequence: int
    embedder: str
    disk_bytes: int


@dataclass(frozen=True, slots=True)
class Census:
    """How much there is to search, and in which languages (documents by ISO 639-1 code)."""

    documents: int
    chunks: int
    languages: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing ``doctor`` looked at."""

    name: str
    passed: bool
    sentence: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class FormatSupport:
    """One row of ``docs formats``."""

    format: str
    extensions: tuple[str, ...]
    method: str
    available: bool
    note: str = ""


def shelf_names(shelves: Sequence[str]) -> tuple[str, ...]:
    """Return shelves sorted and without repeats, the default one where none is named."""
    return tuple(sorted(set(shelves))) or (DEFAULT_SHELF,)
