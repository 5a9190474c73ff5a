"""What clients may say to each tool, and what tools return as data.

The schemas that clients see are made of these. Texts, titles and quotations come from documents:
they are data, never instructions.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    model_validator,
)

from chapterhouse.types import Correction, Trust

_LONGEST_QUERY: Final = 1_000
_LONGEST_QUESTION: Final = 10_000
_MOST_PASSAGES: Final = 20

_Query = Annotated[
    str,
    Field(
        min_length=1,
        max_length=_LONGEST_QUERY,
        description="A question or statement, in the words that the documents would use.",
    ),
]
_Question = Annotated[
    str,
    Field(
        min_length=1,
        max_length=_LONGEST_QUESTION,
        description="A question in plain words, which the documents are to answer.",
    ),
]
_Limit = Annotated[
    int, Field(ge=1, le=_MOST_PASSAGES, description="At most so many passages are returned.")
]
_Similarity = Annotated[
    float, Field(ge=0, le=1, description="Only passages with this similarity or more.")
]
_Shelves = Annotated[
    tuple[str, ...],
    Field(
        max_length=50,
        description=(
            "Only documents on one of these shelves, by name; every document when left out. The "
            "slug of a persona is the name of their shelf."
        ),
    ),
]


class Parameters(BaseModel):
    """What a request brings; a parameter that does not exist is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown(cls, sent: object) -> object:
        known = [field.alias or name for name, field in cls.model_fields.items()]
        for name in sent if isinstance(sent, Mapping) else ():
            if name not in known:
                raise ValueError(no_such_parameter(name, known))
        return sent


def no_such_parameter(name: object, known: Collection[str]) -> str:
    """Return what is said of a parameter that does not exist."""
    others = f"There are: {', '.join(known)}." if known else "It takes none."
    shown = str(name)[:100].encode("utf-8", "replace").decode()  # half of a pair cannot be sent
    return f"There is no parameter '{shown}'. {others}"


class SearchArguments(Parameters):
    """Arguments of search."""

    query: _Query


class FetchArguments(Parameters):
    """Arguments of fetch."""

    id: str = Field(
        min_length=1,
        max_length=500,
        description="An id that search returned, or the id of a document.",
    )
    offset: int | None = Field(
        default=None,
        ge=0,
        description=(
            "Where in the document to begin, in characters. Long documents come in pages: give "
            "the next_offset of the page before. Left out, the page with the passage is returned."
        ),
    )


class PassagesArguments(Parameters):
    """Arguments of search_documents."""

    query: _Query
    limit: _Limit = 8
    shelves: _Shelves = ()


class KnowledgeArguments(PassagesArguments):
    """Arguments of search_knowledge."""

    min_similarity: _Similarity = 0.65


class SemanticArguments(PassagesArguments):
    """Arguments of semantic_search."""

    min_similarity: _Similarity = 0.0


class GraphArguments(Parameters):
    """Arguments of search_graph."""

    name: str = Field(
        min_length=1,
        max_length=200,
        description="A person, organization, place or thing, by any name that documents have.",
    )


class AskArguments(Parameters):
    """Arguments of ask."""

    question: _Question
    persona: str = Field(
        default="",
        max_length=100,
        description=(
            "Who is asked: the slug of a persona, from list_personas, who answers from their own "
            "shelves. Left out, the whole library is asked."
        ),
    )


class ConveneArguments(Parameters):
    """Arguments of convene."""

    council: str = Field(
        min_length=1, max_length=100, description="The slug of a council, from list_councils."
    )
    question: _Question


class NoArguments(Parameters):
    """Tools that list take none."""


# --- results ------------------------------------------------------------------------------------

Rounded = Annotated[float, AfterValidator(lambda value: round(value, 6))]


class Result(BaseModel):
    """Something that is no value of the library, or several of them."""

    model_config = ConfigDict(frozen=True, from_attributes=True)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call: data, and the same to be read."""

    data: object
    text: str


class FoundResult(Result):
    """One result of search."""

    id: str = Field(description="What fetch takes.")
    title: str
    url: str = Field(description="Web address where the document states one, else its resource.")
    text: str = Field(description="The passage that was found.")


class SearchResults(Result):
    """Results of search, best first."""

    results: tuple[FoundResult, ...]


class FetchMetadata(Result):
    """Where a page of a document comes from."""

    document_id: str
    source: str = Field(description="The file: the added folder's name and the path below it.")
    format: str
    language: str = Field(description="ISO 639-1 code, or empty.")
    start: int = Field(description="Offset of this page's first character in the document.")
    end: int
    characters: int = Field(description="Length of the whole document.")
    next_offset: int | None = Field(description="Where the next page begins; null on the last.")
    passage_start: int | None = Field(description="Offset of the passage that was asked for.")
    passage_end: int | None
    text_sha256: str = Field(description="Hash of the whole document's text, in UTF-8.")


class FetchResult(Result):
    """A page of a document."""

    id: str
    title: str
    text: str
    url: str
    metadata: FetchMetadata


class PassageResult(Result):
    """A passage and where it stands."""

    chunk_id: str = Field(description="What fetch takes.")
    document_id: str
    title: str
    source: str = Field(description="The file: the added folder's name and the path below it.")
    page: int | None = Field(description="Page, slide or sheet, where the format has them.")
    page_label: str = Field(
        description="Name of the sheet or slide, or a page's printed number; or empty."
    )
    section_path: tuple[str, ...] = Field(description="Headings above it, outermost first.")
    start: int = Field(description="First character, counted in Unicode code points from 0.")
    end: int = Field(description="The character behind the last.")
    text_sha256: str = Field(description="Hash of the whole canonical text, in UTF-8.")
    text: str
    score: Rounded = Field(description="0 to 1, of the last stage of the search: how similar.")
    exact: bool = Field(description="Whether it contains a phrase, name or code exactly as asked.")
    trust: Trust = Field(description="How far its source is trusted: own, shared, external, web.")


class PassagesResult(Result):
    """Passages, best first."""

    query: str
    passages: tuple[PassageResult, ...]
    min_similarity: float
    scores_are_absolute: bool = Field(
        description="Whether a score tells how well a passage fits; else it only orders them."
    )
    documents_searched: int
    corrections: tuple[Correction, ...] = Field(
        description="Misspelled words of the query, and the words searched also for."
    )
