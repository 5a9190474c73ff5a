"""What ``persona.config.json`` may say."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, get_origin

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter
from pydantic_core import PydanticCustomError

from chapterhouse.agents.checks import KEBAB, LONGEST_SLUG, RESERVED
from chapterhouse.agents.definition_json import Schema, parse_model
from chapterhouse.agents.problems import PersonaConfigError, in_file
from chapterhouse.text.naming import valid_name
from chapterhouse.text.sanitise import sanitise_line

CONFIG_FILE: Final = "persona.config.json"


def _one_line(value: str) -> str:
    if sanitise_line(value) != value:
        raise PydanticCustomError(
            "invisible",
            "must be one line without invisible characters, and without spaces at its ends",
        )
    return value


def _shelf(value: str) -> str:
    if not valid_name(value):
        raise PydanticCustomError("name", f"cannot be the name of a shelf: {value!r}")
    return value


def _slug(value: str) -> str:
    if value in RESERVED:
        raise PydanticCustomError("reserved", f"is a reserved word: {value!r}")
    return value


_Sentences = Annotated[str, Field(max_length=1_000), AfterValidator(_one_line)]
_Name = Annotated[str, Field(max_length=80), AfterValidator(_one_line)]
_Entry = Annotated[str, Field(min_length=1, max_length=80), AfterValidator(_one_line)]
_Shelf = Annotated[str, AfterValidator(_shelf)]
_Path = Annotated[str, Field(min_length=1, max_length=4_096)]
Slug = Annotated[str, Field(pattern=f"^{KEBAB}$", max_length=LONGEST_SLUG), AfterValidator(_slug)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Profile(_Part):
    """What they know about; ``persona update`` proposes it."""

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
        model: Empty for the library's, a name of ``[models.*]``, or ``none``.
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


_PARTS: Final[Mapping[tuple[str, ...], type[BaseModel]]] = {(): PersonaConfig} | {
    (name,): field.annotation
    for name, field in PersonaConfig.model_fields.items()
    if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
}
_KINDS: Final = {
    ".".join((*place, name)): field.annotation
    for place, part in _PARTS.items()
    for name, field in part.model_fields.items()
}
PERSONA_SCHEMA: Final = Schema(
    TypeAdapter(PersonaConfig),
    {place: tuple(part.model_fields) for place, part in _PARTS.items()},
    "personas.md",
    '{"slug": "maria", "tags": []}',
    hints={
        "slug": "Call it as the folder is called, like: maria-keller",
        "grounding": 'Most want "inject": their documents are always searched.',
        "out_of_scope": 'Most want "defer": they say that it is not for them.',
        "shelves": "See the shelves there are: chapterhouse status",
    },
)


def parse_config(raw: Mapping[str, Any], file: str) -> PersonaConfig:
    """Return the configuration that ``raw`` states.

    Raises:
        PersonaConfigError: with every problem: an unknown key, a value of the wrong kind or size.
    """
    parsed = parse_model(raw, PERSONA_SCHEMA)
    if isinstance(parsed, PersonaConfig):
        return parsed
    raise PersonaConfigError(tuple(in_file(file, parsed)))


def value_of(key: str, text: str) -> object:
    """Return what ``KEY=TEXT`` means: JSON where it is some, else text; a list between commas."""
    try:
        value: object = json.loads(text, parse_constant=_refuse_constant)
    except ValueError:
        value = text
    kind = _KINDS.get(key)
    if get_origin(kind) is tuple and not isinstance(value, list):
        return [part.strip() for part in text.split(",") if part.strip()]
    return text if kind is str and not isinstance(value, str) else value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")
