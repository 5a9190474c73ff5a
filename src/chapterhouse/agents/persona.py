"""A persona: what ``persona.config.json`` and ``persona.md`` say, and how they are changed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_origin

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter

from chapterhouse.agents.definition import (
    DEFAULT_PERSONA_TEMPLATE,
    PERSONA_TEMPLATES,
    DefinitionFolder,
    Grounding,
    Name,
    Schema,
    ShelfName,
    Slug,
    as_json,
    change_definition,
    one_line,
    parse_definition,
    prose_from,
    read_definition,
    require_new,
    require_template,
)
from chapterhouse.agents.problems import (
    Code,
    PersonaConfigError,
    Problem,
)
from chapterhouse.errors import UsageError
from chapterhouse.store.definitions import CONFIG_FILE, PROSE_FILE, RAG, RAW, Definitions
from chapterhouse.text.sanitise import sanitise, sanitise_line
from chapterhouse.types import Persona

_LONGEST_PROSE: Final = 100_000  # characters; more would not fit a prompt

# --- what the configuration may say ---------------------------------------------------------------


_Sentences = Annotated[str, Field(max_length=1_000), AfterValidator(one_line)]
_Entry = Annotated[str, Field(min_length=1, max_length=80), AfterValidator(one_line)]
_Path = Annotated[str, Field(min_length=1, max_length=4_096)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Profile(_Part):
    """What they know about; ``persona update`` proposes it."""

    expertise: _Sentences = ""
    key_terms: tuple[_Entry, ...] = Field(default=(), max_length=200)
    aliases: tuple[_Entry, ...] = Field(default=(), max_length=200)


class Retrieval(_Part):
    """How their documents are searched; None leaves it to the library. Age counts by default."""

    vector_threshold: float | None = Field(default=None, ge=-1, le=1)
    bm25_min_score: float | None = Field(default=None, ge=0)
    min_similarity: float | None = Field(default=None, ge=0, le=1)
    max_chunks: int = Field(default=12, ge=1, le=1_000)
    max_tokens: int | None = Field(default=None, ge=1, le=10_000_000)
    per_document: int | None = Field(default=None, ge=0, le=1_000)
    # At 1, what a file without a date says, which is as old as its copy, displaces what is dated.
    recency: float = Field(default=0.25, ge=0, le=1)


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
        grounding: Whether a model is given excerpts, searches for itself, or both.
        model: Empty for the library's, a name of ``[models.*]``, or ``none``.
        folders: Further folders whose documents are theirs: absolute, with ``~``, or relative to
            the persona's own.
        shelves: Shelves of others that they read besides.
        exclude: Files that stay out of the index, below the persona's folder or absolute.
    """

    slug: Slug
    display_name: Name = ""
    tags: tuple[_Entry, ...] = Field(default=(), max_length=100)
    profile: Profile = Profile()
    retrieval: Retrieval = Retrieval()
    grounding: Grounding = "inject"
    model: Name = ""
    folders: tuple[_Path, ...] = Field(default=(), max_length=100)
    shelves: tuple[ShelfName, ...] = Field(default=(), max_length=100)
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
    CONFIG_FILE,
    PersonaConfigError,
    TypeAdapter(PersonaConfig),
    {place: tuple(part.model_fields) for place, part in _PARTS.items()},
    "personas.md",
    '{"slug": "maria", "tags": []}',
    "chapterhouse persona new SLUG writes what is missing in a folder.",
    hints={
        "slug": "Call it as the folder is called, like: maria-keller",
        "grounding": 'Most want "inject": their documents are always searched.',
        "out_of_scope": 'Most want "defer": they say that it is not for them.',
        "shelves": "See the shelves there are: chapterhouse status",
    },
)


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


# --- the persona as a whole -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PersonaFolder(DefinitionFolder[PersonaConfig]):
    """A persona as their folder has them; ``prose`` without invisible characters."""

    prose: str

    @property
    def raw(self) -> Path:
        """Where documents of any format are dropped."""
        return self.path / RAW

    @property
    def rag(self) -> Path:
        """Where the curated documents are."""
        return self.path / RAG

    @property
    def excluded(self) -> frozenset[Path]:
        """The files that stay out of the index, absolute."""
        return frozenset(self.located(self.config.exclude))

    @property
    def persona(self) -> Persona:
        """Who they are, for asking."""
        profile = self.config.profile
        return Persona(
            slug=self.slug,
            display_name=self.display_name,
            prose="" if UNTOUCHED in self.prose else self.prose,
            tags=self.config.tags,
            key_terms=profile.key_terms,
            aliases=profile.aliases,
            expertise=profile.expertise,
            shelves=self.config.shelves,
        )


# Stands in every template but the blank one: what holds it says nothing of anybody.
UNTOUCHED: Final = "Write here, in your own words"


def load(definitions: Definitions, slug: str) -> PersonaFolder:
    """Return the persona of this name; raises ``PersonaConfigError`` where the files are no use."""
    return _folder(definitions, slug, read_definition(definitions, slug, PERSONA_SCHEMA).required())


def _folder(definitions: Definitions, slug: str, config: PersonaConfig) -> PersonaFolder:
    return PersonaFolder(definitions.folder(slug), config, read_prose(definitions, slug))


def read_prose(definitions: Definitions, slug: str) -> str:
    """Return what ``persona.md`` says; nothing where it is not there."""
    try:
        data = definitions.read(slug, PROSE_FILE, 4 * _LONGEST_PROSE + 1)
        return check_prose(slug, data.decode("utf-8-sig"))
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise _bad_prose(slug, f"It is not UTF-8 (line {line}).", "Save it as UTF-8.") from None
    except OSError as error:
        sentence = f"It cannot be read: {error.strerror}."
        raise _bad_prose(slug, sentence, "Check its permissions.") from None


def check_prose(slug: str, text: str) -> str:
    """Return what a text says of a persona, without what nobody sees in it.

    Raises ``PersonaConfigError`` where it is too long.
    """
    prose = sanitise(text).text.strip()
    if len(prose) > _LONGEST_PROSE:
        sentence = f"It has {len(prose):,} characters; at most {_LONGEST_PROSE:,} are read."
        hint = "Put what is knowledge rather than character into RAW-DOCS."
        raise _bad_prose(slug, sentence, hint, Code.RANGE)
    return prose


def _bad_prose(
    slug: str, sentence: str, hint: str, code: Code = Code.UNREADABLE
) -> PersonaConfigError:
    problem = Problem((), code, sentence, hint, file=f"{slug}/{PROSE_FILE}")
    return PersonaConfigError([problem])


def create(
    definitions: Definitions,
    slug: str,
    *,
    display_name: str = "",
    template: str = DEFAULT_PERSONA_TEMPLATE,
    folders: Sequence[str] = (),
) -> PersonaFolder:
    """Make a persona, or what is missing of one; write over nothing."""
    require_template(template, PERSONA_TEMPLATES)
    name = sanitise_line(display_name) or slug.replace("-", " ").title()
    raw = _first_config(slug, name, PERSONA_TEMPLATES[template], folders)
    config = parse_definition(as_json(raw), PERSONA_SCHEMA).required()
    hint = f"Change its files; see: chapterhouse persona show {slug}"
    require_new(definitions, "persona", slug, CONFIG_FILE, hint)
    definitions.make(slug, (RAW, RAG))
    if not definitions.has(slug, PROSE_FILE):
        definitions.write(slug, PROSE_FILE, prose_from(template, name))
    definitions.write(slug, CONFIG_FILE, as_json(raw))  # last: with it the persona exists
    return _folder(definitions, slug, config)


def _first_config(
    slug: str, name: str, settings: Mapping[str, Any], folders: Sequence[str]
) -> dict[str, Any]:
    return {
        "slug": slug,
        "display_name": name,
        "tags": [],
        "profile": {"expertise": "", "key_terms": [], "aliases": []},
        "retrieval": {"max_chunks": 12},
        "grounding": "inject",
        "model": "",
        "folders": list(folders),
        "shelves": [],
        "out_of_scope": "defer",
        **settings,
    }


def change(definitions: Definitions, slug: str, changes: Mapping[str, object]) -> PersonaFolder:
    """Set some keys of a configuration; errors as for ``change_definition``."""
    if changes.get("slug", slug) != slug:
        raise UsageError(
            "The slug is the folder's name.", hint="Rename the folder, and then set the slug in it."
        )
    config = change_definition(definitions, slug, changes, PERSONA_SCHEMA)
    return _folder(definitions, slug, config)
