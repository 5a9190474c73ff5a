"""What a council is made of: members, rounds, tools and what holds for all. Values, not checked."""

import json
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import PurePath
from typing import Annotated, Any, ClassVar, Final

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    TypeAdapter,
    WrapSerializer,
)
from pydantic_core import PydanticKnownError

from chapterhouse.agents.definition import (
    LONGEST_SLUG,
    Grounding,
    Name,
    Seconds,
    ShelfName,
    Slug,
    Text,
    one_line,
)
from chapterhouse.errors import UsageError
from chapterhouse.text.naming import slug as slug_of
from chapterhouse.text.naming import valid_name
from chapterhouse.types import Tool

PARALLEL: Final = 8
ROUND_SECONDS: Final = 900.0  # a slow model on a laptop answers several members in them
CHAIR: Final = "chair"  # how rounds name who presides
# Tools that every library has: each searches the shelves of whoever calls it.
SEARCH_TOOLS: Final = frozenset(
    ("search_knowledge", "semantic_search", "search_documents", "search_graph")
)
# No persona's slug has an underscore, so that no shelf of a council is ever a persona's.
_SHELF: Final = "council_"
MOST_MEMBERS: Final = 64
GROUP: Final = "chapterhouse.tools"  # of the entry points by which packages bring tools
TOP_K: Final = 4
MOST_PASSAGES: Final = 20
# How files are read; what is built in Python is checked by its values alone.
AS_JSON: Final = ConfigDict(extra="forbid", strict=True, revalidate_instances="always")
_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Corpus:
    """A folder whose documents one tool searches, and which are on no shelf.

    Attributes:
        folder: Absolute, with ``~``, or relative to the council's own.
        name: Of the tool; empty for ``search_`` and the name of the folder.
        description: When to call it; empty for a sentence with the name of the folder.
        top_k: Passages where the model does not say how many, 1 to 20.
    """

    __pydantic_config__: ClassVar[ConfigDict] = AS_JSON

    folder: str = ""
    name: str = ""
    description: Text = ""
    top_k: Annotated[int, Field(ge=1, le=MOST_PASSAGES)] = TOP_K

    @property
    def tool_name(self) -> str:
        """The name by which a model calls it."""
        words = _NOT_IN_NAMES.sub("_", slug_of(PurePath(self.folder).name)).strip("_")
        return self.name or f"search_{words or 'corpus'}"


@dataclass(frozen=True, slots=True)
class DeclaredTool:
    """One declaration, whose key says what it is: there are corpora."""

    __pydantic_config__: ClassVar[ConfigDict] = AS_JSON

    corpus: Corpus | None = None


ToolRef = str | Tool | DeclaredTool  # a name that is registered, the tool itself, or a declaration


def tool_name(tool: ToolRef) -> str:
    """Return the name by which a tool is called and shown."""
    if isinstance(tool, str):
        return tool
    if isinstance(tool, Tool):
        return tool.name
    return tool.corpus.tool_name if tool.corpus else ""


def parse_tool(value: object) -> ToolRef:
    """Return the tool that a file names or declares; only Python has tools themselves."""
    if isinstance(value, dict):
        return _adapter().validate_json(json.dumps(value))
    if isinstance(value, DeclaredTool):
        return _adapter().validate_python(value)
    if not isinstance(value, (str, Tool)):
        raise PydanticKnownError("string_type")
    return value


def tool_as_json(tool: ToolRef) -> object:
    """Return a tool as a file has it: a declaration, or the name."""
    if isinstance(tool, DeclaredTool):
        return _adapter().dump_python(tool, exclude_defaults=True)
    return tool_name(tool)


def import_paths(modules: Iterable[str]) -> dict[int, str]:
    """Return for each tool that some modules have, by its identity, its import path."""
    return {
        id(value): f"{module}:{name}"
        for module in modules
        for name, value in vars(import_module(module)).items()
        if isinstance(value, Tool)
    }


def import_tool(ref: ToolRef, modules: Collection[str]) -> ToolRef:
    """Return the tool of an import path, from one of some modules alone; others as they are.

    Raises:
        UsageError: it is in another module, or is not there.
    """
    module, colon, name = ref.partition(":") if isinstance(ref, str) else ("", "", "")
    if not colon:
        return ref
    if module not in modules:
        raise UsageError(
            f"The tool '{ref}' is in a module that may not be imported.",
            hint=f'If you trust it: Council.from_json(text, modules=["{module}"])',
        )
    found = getattr(import_module(module), name, None)
    if not isinstance(found, Tool):
        raise UsageError(f"The module {module} has no tool '{name}'.")
    return found


def installed_names() -> frozenset[str]:
    """Return the names of the tools that installed packages bring; none is loaded."""
    return frozenset(entry.name for entry in entry_points(group=GROUP))


@cache
def _adapter() -> TypeAdapter[DeclaredTool]:
    return TypeAdapter(DeclaredTool)


_MOST_ROUNDS: Final = 32
_MOST_OPTIONS: Final = 20
_ROUND_NAME: Final = "^[a-z0-9]+(?:[_-][a-z0-9]+)*$"
_Tools = tuple[Annotated[ToolRef, PlainValidator(parse_tool), PlainSerializer(tool_as_json)], ...]


class MemberKind(StrEnum):
    """What sits in a council."""

    PERSONA = "persona"
    ROLE = "role"
    COUNCIL = "council"


class RoundKind(StrEnum):
    """What happens in a round."""

    INDEPENDENT_ANALYSIS = "independent_analysis"  # everyone for themselves
    CROSS_EXAMINATION = "cross_examination"  # everyone on the statements of the others
    REBUTTAL = "rebuttal"  # everyone on the statements that are opposed
    SYNTHESIS = "synthesis"  # the chair sums up
    OWN = "own"  # as its instructions say


BUILT_IN: Final = tuple(kind.value for kind in RoundKind if kind is not RoundKind.OWN)


@dataclass(frozen=True, slots=True)
class Member:
    """Someone who speaks in a council: a persona, a plain role, or a whole council.

    Attributes:
        persona: Slug of the persona who speaks.
        council: Slug of the council that speaks as one; it has its own tools and models.
        name: How a plain role is called; of a persona or council another name for here.
        instructions: What a plain role is to do; for a persona, what is theirs to do here.
        model: Model that speaks for them, a name of ``[models.*]``; empty for the persona's
            own, else the council's.
        grounding: Whether they are given excerpts, search for themselves, or both; None for the
            persona's own way, else ``inject``.
        timeout_seconds: Longest turn; None for the round's.
        shelves: Further shelves that they read beside the council's, and a persona's own.
        folders: Folders and files whose documents only they read; paths as for the council's.
    """

    __pydantic_config__: ClassVar[ConfigDict] = AS_JSON

    persona: str = ""
    council: str = ""
    name: Name = ""
    instructions: Text = ""
    model: str = ""
    tools: _Tools = ()
    grounding: Grounding | None = None
    timeout_seconds: Seconds | None = None
    shelves: tuple[ShelfName, ...] = ()
    folders: tuple[str, ...] = ()

    @property
    def kind(self) -> MemberKind:
        """What they are."""
        if self.council:
            return MemberKind.COUNCIL
        return MemberKind.PERSONA if self.persona else MemberKind.ROLE

    @property
    def key(self) -> str:
        """How rounds and minutes name them: of their name, else of their persona or council."""
        return slug_of(self.name) if self.name else self.persona or self.council

    def own_shelf(self, slug: str) -> tuple[str, ...]:
        """Return the shelf of their ``folders`` in the council ``slug``; nothing without any."""
        return (self.reserved_shelf(slug),) if self.folders else ()

    def reserved_shelf(self, slug: str) -> str:
        """Return the shelf of the documents that they alone read in the council ``slug``."""
        name = f"{shelf_of(slug)}_{self.key}"
        if not valid_name(name):  # too long, or of letters that no shelf's name may have
            name = f"{shelf_of(slug)}_{sha256(self.key.encode()).hexdigest()[:8]}"
        return name


@dataclass(frozen=True, slots=True)
class Round:
    """One round of a council.

    Attributes:
        name: A built-in kind, or a name of your own in lower case.
        instructions: What is to be done; a round of your own needs them, of a built-in one they
            come on top.
        speakers: Keys of the members who speak, ``chair`` for who presides; empty for all
            members, in a synthesis for the chair.
        sees_statements: Of a round of your own: whether the statements made so far are shown.
    """

    __pydantic_config__: ClassVar[ConfigDict] = AS_JSON

    name: Annotated[str, Field(min_length=1, max_length=LONGEST_SLUG, pattern=_ROUND_NAME)]
    instructions: Text = ""
    speakers: tuple[str, ...] = ()
    sees_statements: bool = False

    @property
    def kind(self) -> RoundKind:
        """What happens in it."""
        return RoundKind(self.name) if self.name in BUILT_IN else RoundKind.OWN

    @property
    def shows_statements(self) -> bool:
        """Whether the statements made so far are shown to those who speak."""
        if self.kind is RoundKind.OWN:
            return self.sees_statements
        return self.kind is not RoundKind.INDEPENDENT_ANALYSIS


def _short(entry: Round, write: Callable[[Round], dict[str, Any]]) -> object:
    """Return a round as a file has it: a name alone where nothing else is said."""
    written = write(entry)
    return written if len(written) > 1 else entry.name


_Round = Annotated[Round, WrapSerializer(_short)]
_Option = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(one_line)]


@dataclass(frozen=True, slots=True)
class CouncilModel:
    """A council as its file has it.

    Attributes:
        slug: Name in kebab case, and that of its folder.
        display_name: How it is called; empty for the slug in words.
        purpose: What it is for, shown to every member.
        model: Model of members that have none of their own; empty for the library's.
        tools: What every member and the chair may call, but no council that is a member.
        chaired_by: Who presides and sums up: a persona or a plain role; ``chair`` in the file.
        folders: Further folders whose documents all members read: absolute, with ``~``, or
            relative to the council's own.
        parallel: Members that speak at a time, 1 to 64.
        round_timeout_seconds: When a round ends, even if a member has not spoken.
    """

    __pydantic_config__: ClassVar[ConfigDict] = AS_JSON

    slug: Slug
    display_name: Name = ""
    purpose: Text = ""
    model: str = ""
    tools: _Tools = ()
    members: Annotated[tuple[Member, ...], Field(max_length=MOST_MEMBERS)] = ()
    rounds: Annotated[tuple[_Round, ...], Field(max_length=_MOST_ROUNDS)] = ()
    chaired_by: Annotated[Member | None, Field(alias="chair")] = None
    folders: tuple[str, ...] = ()
    options: Annotated[tuple[_Option, ...], Field(max_length=_MOST_OPTIONS)] = ()
    parallel: Annotated[int, Field(ge=1, le=64)] = PARALLEL
    round_timeout_seconds: Seconds = ROUND_SECONDS

    @property
    def title(self) -> str:
        """How it is called; the slug in words where there is no display name."""
        return self.display_name or self.slug.replace("-", " ").title()

    @property
    def everyone(self) -> tuple[Member, ...]:
        """The members, then who presides."""
        return (*self.members, self.chaired_by) if self.chaired_by else self.members

    @property
    def shelf(self) -> str:
        """The shelf of the documents that all members share."""
        return shelf_of(self.slug)


def shelf_of(slug: str) -> str:
    """Return the shelf of a council's shared documents."""
    return f"{_SHELF}{slug}"


def shelves_of(slug: str, shelves: Collection[str]) -> frozenset[str]:
    """Return those of ``shelves`` that are the council's: the shared one, and its members'."""
    shared = shelf_of(slug)
    return frozenset(name for name in shelves if name == shared or name.startswith(f"{shared}_"))


def is_council_shelf(name: str) -> bool:
    """Whether a shelf is a council's own, be the council there or not."""
    return name.startswith(_SHELF)
