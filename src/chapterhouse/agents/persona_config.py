"""What ``persona.config.json`` may say."""

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from chapterhouse.text.naming import valid_name
from chapterhouse.text.sanitise import sanitise_line

CONFIG_FILE: Final = "persona.config.json"
_SLUG: Final = r"^[a-z0-9]+(-[a-z0-9]+)*$"
# Shelves, words of commands, and folders that a persona's own folder is not.
RESERVED: Final = frozenset(
    (
        "all",
        "council",
        "councils",
        "everyone",
        "general",
        "library",
        "none",
        "persona",
        "personas",
        "shared",
    )
)


def _one_line(value: str) -> str:
    if sanitise_line(value) != value:
        raise ValueError(
            "must be one line without invisible characters, and without spaces at its ends"
        )
    return value


def _shelf(value: str) -> str:
    if not valid_name(value):
        raise ValueError(f"cannot be the name of a shelf: {value!r}")
    return value


def _slug(value: str) -> str:
    if value in RESERVED:
        raise ValueError(f"is a reserved word: {value!r}")
    return value


_Sentences = Annotated[str, Field(max_length=1_000), AfterValidator(_one_line)]
_Name = Annotated[str, Field(max_length=80), AfterValidator(_one_line)]
_Entry = Annotated[str, Field(min_length=1, max_length=80), AfterValidator(_one_line)]
_Shelf = Annotated[str, AfterValidator(_shelf)]
_Path = Annotated[str, Field(min_length=1, max_length=4_096)]
Slug = Annotated[str, Field(pattern=_SLUG, max_length=40), AfterValidator(_slug)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Profile(_Part):
    """What they know about; ``persona train`` proposes it."""

    expertise: _Sentences = ""
    key_terms: tuple[_Entry, ...] = Field(default=(), max_length=200)
    aliases: tuple[_Entry, ...] = Field(default=(), max_length=200)


class Retrieval(_Part):
    """How their documents are searched; None leaves it to the library."""

    vector_threshold: float | None = Field(default=None, ge=-1, le=1)
    bm25_min_score: float | None = Field(default=None, ge=0)
    min_similarity: float | None = Field(default=None, ge=0, le=1)
    max_chunks: int = Field(default=12, ge=1, le=1_000)
    max_tokens: int | None = Field(default=None, ge=1, le=10_000_000)
    per_document: int | None = Field(default=None, ge=0, le=1_000)
    recency: float | None = Field(default=None, ge=0, le=1)


class MemoryChoice(_Part):
    """What is remembered of their answers; None leaves it to the library."""

    enabled: bool | None = None
    days: int | None = Field(default=None, ge=0, le=36_500)
    recall: int | None = Field(default=None, ge=0, le=20)


class AnswerChoice(_Part):
    """How long their answers are; None leaves it to the library."""

    words: int | None = Field(default=None, ge=10, le=2_000)


class PersonaConfig(_Part):
    """A persona's configuration, as its owner writes it.

    Attributes:
        slug: Name of the folder and of the persona's shelf.
        display_name: How they are called; empty for the slug in words.
        tags: What they know about: routes questions, and ranks documents with the same tags.
        model: Empty for the library's, a name of ``[profiles.*]``, or ``none``.
        folders: Further folders whose documents are theirs: absolute, with ``~``, or relative to
            the persona's own.
        shelves: Shelves of others that they read besides.
        exclude: Files that stay out of the index, below the persona's folder or absolute.
        out_of_scope: What becomes of a question that is not for them.
    """

    slug: Slug
    display_name: _Name = ""
    tags: tuple[_Entry, ...] = Field(default=(), max_length=100)
    profile: Profile = Profile()
    retrieval: Retrieval = Retrieval()
    grounding: Literal["inject", "tool", "both"] = "inject"
    model: _Name = ""
    folders: tuple[_Path, ...] = Field(default=(), max_length=100)
    shelves: tuple[_Shelf, ...] = Field(default=(), max_length=100)
    exclude: tuple[_Path, ...] = Field(default=(), max_length=10_000)
    out_of_scope: Literal["defer", "general", "persona"] = "defer"
    memory: MemoryChoice = MemoryChoice()
    answer: AnswerChoice = AnswerChoice()
