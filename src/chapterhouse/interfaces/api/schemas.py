"""What requests bring, and answers that are no value of the library or several of them."""

import base64
import binascii
from dataclasses import dataclass
from typing import Annotated, Final, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from chapterhouse.errors import RejectedError
from chapterhouse.interfaces.schemas import Parameters, Result, Rounded
from chapterhouse.interfaces.values import PublicDocument
from chapterhouse.reading.attachments import image_attachment
from chapterhouse.text.naming import NAME_PATTERN
from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.types import Attachment, FileSearch, Job, ListedFile, RemovalState, Section

_MOST_NAMES: Final = 50
_LONGEST_NAME: Final = 100
_LONGEST_QUERY: Final = 10_000
_LONGEST_BODY: Final = 4 * 2**20


def _number(value: object) -> object:
    """Return a number of JSON: ``"1"`` and ``true`` are none, and 1.0 is 1."""
    if isinstance(value, bool | str):
        raise ValueError("Input should be a number")  # noqa: TRY004 - pydantic's own protocol
    return value


STRICT: Final = BeforeValidator(_number)  # stands last, or the description lacks the bounds


LARGEST: Final = 2**53  # a whole number that every program reads as it is written
# With a bound, pydantic refuses half of a surrogate pair, which no text in UTF-8 can hold.
Text = Annotated[str, Field(max_length=_LONGEST_BODY)]
Line = Annotated[str, AfterValidator(sanitise_line)]
Name = Annotated[str, Field(min_length=1, max_length=_LONGEST_NAME)]
Shelf = Annotated[str, Field(pattern=NAME_PATTERN)]  # one that may be made
SHELF_SAYS: Final = "Without one where it is already, the only one of the key, or library."
MaybeShelf = Annotated[str, Field(pattern=f"^$|{NAME_PATTERN}", description=SHELF_SAYS)]
Names = Annotated[tuple[Name, ...], Field(max_length=_MOST_NAMES)]
ChosenDocuments = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=4_000)], ...],
    Field(
        max_length=100,
        description="Ids or names of documents, or folders, which alone are searched.",
    ),
]
Question = Annotated[str, Field(min_length=1, max_length=_LONGEST_QUERY)]


class Body(Parameters):
    """What a request brings."""


# --- documents ----------------------------------------------------------------------------------


class DocumentPage(Result):
    """Documents in order of id."""

    documents: tuple[PublicDocument, ...]
    files: tuple[ListedFile, ...] = Field(
        default=(), description="Files that gave no document, where `status` asks for them."
    )
    next: str = Field(description="The cursor of the next page; empty on the last.")


@dataclass(frozen=True, slots=True)
class UploadJob(Job):
    """The job that reads a file, and the document where the request has waited for it."""

    document: PublicDocument | None = None


class ContentResult(Result):
    """The text of a document, as its chunks are cut from."""

    id: str
    text: str
    text_sha256: str
    sections: tuple[Section, ...]


class TextBody(Body):
    """A text that is in no file."""

    text: str = Field(min_length=1, max_length=2_000_000)
    title: str = Field(default="", max_length=500)
    shelf: MaybeShelf = ""


class ShelvesBody(Body):
    """The shelves that a document is to be on."""

    shelves: Annotated[tuple[Shelf, ...], Field(min_length=1, max_length=_MOST_NAMES)]


class RemovalResult(Result):
    """What was removed, and whether a file of the library still has something of it."""

    state: RemovalState = Field(
        description="removed: no file has anything of it; incomplete: a file still has some;"
        " unsearched: words may be in files until the next removal. No search finds it in any case."
    )
    documents: tuple[PublicDocument, ...]
    in_place: tuple[str, ...] = Field(
        description="Sources whose file is still in its folder: the next sync reads it again."
    )
    search: FileSearch | None = Field(
        description="How many passages, names, ids and hashes files were searched for, and how many"
        " of them a file still has; null where none was searched. Files are not named."
    )


# --- searching and asking -----------------------------------------------------------------------


class SearchBody(Body):
    """What is searched for."""

    query: Question
    limit: Annotated[int, Field(ge=1, le=100), STRICT] | None = Field(
        default=None, description="At most so many; as the settings say without it."
    )
    per_document: Annotated[int, Field(ge=0, le=100), STRICT] | None = Field(
        default=None, description="At most so many of a document, 0 for any; likewise."
    )
    shelves: Names = ()
    documents: ChosenDocuments = ()
    tags: Names = ()


class ContextBody(Body):
    """What a context is packed for."""

    question: Question
    max_tokens: Annotated[int, Field(ge=1, le=1_000_000), STRICT] | None = None
    purpose: Annotated[str, Field(max_length=_LONGEST_NAME)] = ""
    shelves: Names = ()
    documents: ChosenDocuments = ()
    tags: Names = ()


class ExcerptResult(Result):
    """A part of a context, and where it stands."""

    document_id: str
    source: str
    chunk_id: str
    rank: int = Field(description="Of the hit that it was made from.")
    start: int
    end: int
    text: str
    tokens: int
    relevance: Rounded = Field(description="Share of the answer that it is expected to hold.")


class ContextResult(Result):
    """Excerpts that fit a number of tokens."""

    question: str
    tokens: int
    maximum: int
    markdown: str = Field(description="The excerpts under their sources, for a reader or a model.")
    diversity: float
    information_gain: float
    excerpts: tuple[ExcerptResult, ...]
    sources: tuple[str, ...] = Field(description="Ids of the documents, in order of appearance.")
    candidates: int = Field(description="How many excerpts there were to choose from.")
    warnings: tuple[str, ...]


class ImageBody(Body):
    """An image that goes along with a question."""

    name: Name
    data: Annotated[str, Field(max_length=_LONGEST_BODY, description="Its bytes, in Base64.")]

    def attachment(self) -> Attachment:
        """Return it as a model is shown it."""
        data = base64.b64decode(self.data, validate=True)
        return image_attachment(data, sanitise_line(self.name))

    @model_validator(mode="after")
    def _is_an_image(self) -> Self:
        try:
            self.attachment()
        except binascii.Error:
            raise ValueError(f"The image {self.name} is not in Base64.") from None
        except RejectedError as error:
            raise ValueError(error.message) from None
        return self


class AskBody(Body):
    """A question, and to whom."""

    question: Question
    persona: Annotated[str, Field(max_length=_LONGEST_NAME)] = ""
    shelves: Names = ()
    documents: ChosenDocuments = ()
    tags: Names = ()
    model: Annotated[str, Field(max_length=_LONGEST_NAME)] | None = None
    words: Annotated[int, Field(ge=1, le=10_000), STRICT] | None = None
    images: Annotated[
        tuple[ImageBody, ...],
        Field(
            max_length=4,
            description="PNG, JPEG, GIF or WebP, shown to the model; a request has at most 4 MiB.",
        ),
    ] = ()


# --- jobs ---------------------------------------------------------------------------------------


class JobsResult(Result):
    """Jobs, newest first."""

    jobs: tuple[Job, ...]
