"""Files, what was read from them, and the documents they became."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self

DEFAULT_SHELF = "library"


class Status(StrEnum):
    """How a file ended."""

    READY = "ready"  # all of its text is in the library
    PARTIAL = "partial"  # some of it is; the notices say what is missing
    SKIPPED = "skipped"  # nothing to do: unchanged, or not a document
    REJECTED = "rejected"  # it will not be read; the code says why
    FAILED = "failed"  # it ended its reader or a process; the next run tries it again
    QUARANTINED = "quarantined"  # it did so three times, and is not tried again


# Of a file that ended so, not all is in the library though it is a document.
INCOMPLETE = (Status.PARTIAL, Status.REJECTED, Status.FAILED, Status.QUARANTINED)


class Trust(StrEnum):
    """How far what comes from a source is trusted."""

    OWN = "own"  # the user's own documents
    SHARED = "shared"  # of people who are known
    EXTERNAL = "external"  # of others
    WEB = "web"


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


# --- reading ---


@dataclass(frozen=True, slots=True)
class ExtractedPage:
    """One page, slide or sheet as Markdown. ``number`` is None where the format has no pages."""

    text: str
    number: int | None = None
    label: str = ""


@dataclass(frozen=True, slots=True)
class Member:
    """A file inside another: in an archive, or attached to a message.

    Attributes:
        path: Where in there, relative, with ``/``.
        modified: When it was last changed, seconds since 1970; 0 where that is not known.
        problem: Why it cannot be had; then there are no bytes.
    """

    path: str
    data: bytes
    modified: int = 0
    problem: Notice | None = None


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
        members: Files inside, which become documents of their own; an archive is nothing else.
    """

    pages: tuple[ExtractedPage, ...]
    format: str
    method: str
    page_kind: str = ""
    markdown: bool = True
    title: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()
    members: tuple[Member, ...] = ()


# Notices that inform without meaning that text is missing.
BENIGN_NOTICES = frozenset(
    {
        "attachments-rejected",
        "encoding-guessed",
        "extension-mismatch",
        "invisible-characters",
        "layout-skipped",
        "navigation-left-out",
        "ocr",
        "running-lines",
        "text-in-parts",
    }
)


# --- pages as they are shown ---

Rectangle = tuple[float, float, float, float]  # left, top, right, bottom as shares of a page


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a document's text on one page; ``before`` and ``after`` surround it there."""

    page: int
    text: str
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class PassagePlace:
    """Where a passage stands on a page as it is shown, line by line; or a ``reason`` why not."""

    page: int
    rectangles: tuple[Rectangle, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PageView:
    """A page as a picture, empty where none was asked for, and the places of passages."""

    png: bytes
    places: tuple[PassagePlace, ...] = ()


# --- documents ---


@dataclass(frozen=True, slots=True)
class Section:
    """A span of text under one heading; sections follow one another and cover the text.

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
    """A page, slide or sheet as a span of the canonical text."""

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
        page_kind: ``page``, ``slide``, ``sheet`` or empty.
        sha256: Hash of the bytes.
        text_sha256: Hash of the canonical text in UTF-8; citations carry it.
        language: ISO 639-1 code, or empty where it is not known.
        author: As the file states it; empty where it does not.
        ingested: When it was read into the library, seconds.
        cut_by: Fingerprint of what it was cut into chunks by; empty where that is not known.
        trust: Of the source that it comes from, as it is when the document is read.
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
    ingested: int = field(default=0, compare=False)
    cut_by: str = field(default="", compare=False)
    author: str = ""
    trust: Trust = field(default=Trust.OWN, compare=False)


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A document as lists show it, or a file that gave none.

    Attributes:
        document_id: Empty where it gave none.
        place: Its source, without the mark that what was sent has in it.
        sentence: Why it is not, or not wholly, in the library.
        modified: In seconds.
        pages: Pages, slides or sheets, as ``page_kind`` says; 0 where it has none.
        same_as: Source of the first document that was read from the same bytes; or empty.
    """

    document_id: str
    title: str
    source: str
    place: str
    format: str
    status: Status
    sentence: str
    size: int
    modified: int
    page_kind: str
    pages: int
    shelves: tuple[str, ...]
    same_as: str = ""


class ListOrder(StrEnum):
    """In which order documents are listed."""

    NAME = "name"
    DATE = "date"  # the newest first


@dataclass(frozen=True, slots=True)
class Listing:
    """Which documents are listed; what is empty leaves none out.

    Attributes:
        text: In title, source or author, whatever its case.
    """

    text: str = ""
    folder: str = ""
    shelf: str = ""
    format: str = ""
    status: Status | None = None
    tag: str = ""
    order: ListOrder = ListOrder.NAME
    limit: int = 100
    offset: int = 0


Range = tuple[int, int]  # start and end in a body's text


@dataclass(frozen=True, slots=True)
class Span:
    """A span of text chosen by a chunker.

    ``header`` repeats a table's heading rows; ``parents`` are the larger spans it lies in,
    the innermost first, where the chunker works on several levels.
    """

    start: int
    end: int
    kind: Kind = Kind.PROSE
    header: str = ""
    parents: tuple[Range, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A span of a document, small enough to be retrieved: ``text == body.text[start:end]``.

    Attributes:
        ordinal: Its place among the chunks of the document, from 0.
        header: Heading rows of the table that this chunk continues, or empty. They stand
            elsewhere in the document, so they are shown and indexed but are not in ``text``.
        section_path: Titles of the headings it stands under, outermost first.
        page: Number of the page, slide or sheet on which it starts, or None.
        page_label: That page's own name: a sheet's name, a slide's title, what is printed on a page
            as its number where that is something else, or empty.
        tokens: Number of tokens in header and text, by the library's tokenizer.
        parents: Larger spans of the document that it lies in, the innermost first; retrieval
            may answer with one of them.
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
    parents: tuple[Range, ...] = ()
    key: int = field(default=0, metadata={"exclude": True})

    @property
    def id(self) -> str:
        """Public name of the chunk: document id, colon, ordinal."""
        return f"{self.document_id}:{self.ordinal}"


def shelf_names(shelves: Sequence[str]) -> tuple[str, ...]:
    """Return shelves sorted and without repeats, the default one where none is named."""
    return tuple(sorted(set(shelves))) or (DEFAULT_SHELF,)


@dataclass(frozen=True, slots=True)
class Scope:
    """Which documents a read may see: those on any of some shelves, or everything.

    A scope without shelves sees nothing. Everything has to be asked for by name, so that a list
    which turns out to be empty never opens the whole library.

    Attributes:
        shelves: Sorted and without duplicates; None for every document.
    """

    shelves: tuple[str, ...] | None

    def __post_init__(self) -> None:
        if self.shelves is not None:
            object.__setattr__(self, "shelves", tuple(sorted(set(self.shelves))))

    @classmethod
    def everything(cls) -> Self:
        """Return the scope of every document of the workspace."""
        return cls(None)

    @classmethod
    def of(cls, shelves: Iterable[str]) -> Self:
        """Return the scope of the documents on any of ``shelves``.

        Raises:
            TypeError: ``shelves`` is one name, whose letters would be taken for shelves.
        """
        if isinstance(shelves, str):
            raise TypeError(f"A scope takes several shelves, not the text {shelves!r}.")
        return cls(tuple(shelves))

    def within(self, permitted: "Scope") -> "Scope":
        """Return what of this scope is inside another one."""
        if self.shelves is None or permitted.shelves is None:
            return permitted if self.shelves is None else self
        return Scope(tuple(name for name in self.shelves if name in permitted.shelves))

    @property
    def key(self) -> str:
        """The shelves as JSON, equal for equal ones; ``null`` is everything."""
        return json.dumps(self.shelves, ensure_ascii=False)

    def sees(self, shelves: Iterable[str]) -> bool:
        """Whether a document on these shelves is inside."""
        return self.shelves is None or not set(self.shelves).isdisjoint(shelves)
