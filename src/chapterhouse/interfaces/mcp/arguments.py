"""What clients may say to each tool."""

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

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


class _Arguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SearchArguments(_Arguments):
    """Arguments of search."""

    query: _Query


class FetchArguments(_Arguments):
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


class PassagesArguments(_Arguments):
    """Arguments of search_documents."""

    query: _Query
    limit: _Limit = 8
    shelves: _Shelves = ()


class KnowledgeArguments(_Arguments):
    """Arguments of search_knowledge."""

    query: _Query
    limit: _Limit = 8
    min_similarity: float = Field(
        default=0.65, ge=0, le=1, description="Only passages with this similarity or more."
    )
    shelves: _Shelves = ()


class SemanticArguments(_Arguments):
    """Arguments of semantic_search."""

    query: _Query
    limit: _Limit = 8
    min_similarity: float = Field(
        default=0.7, ge=0, le=1, description="Only passages with this similarity or more."
    )
    shelves: _Shelves = ()


class AskArguments(_Arguments):
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


class ConveneArguments(_Arguments):
    """Arguments of convene."""

    council: str = Field(
        min_length=1, max_length=100, description="The slug of a council, from list_councils."
    )
    question: _Question


class NoArguments(_Arguments):
    """Tools that list take none."""
