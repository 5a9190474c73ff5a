"""Council: who meets, in which rounds, with what at hand. Built call by call, never changed.

It is read from JSON and written as JSON here too.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, Self, TypedDict, Unpack

from pydantic import TypeAdapter

from chapterhouse.agents.council_checks import meaning_problems
from chapterhouse.agents.council_model import (
    BUILT_IN,
    Corpus,
    CouncilModel,
    DeclaredTool,
    Member,
    Round,
    ToolRef,
    import_paths,
    import_tool,
)
from chapterhouse.agents.definition import (
    COUNCIL_TEMPLATES,
    DefinitionFolder,
    Grounding,
    ParsedDefinition,
    Schema,
    parse_definition,
    require_template,
    template_text,
    value_problems,
)
from chapterhouse.agents.problems import (
    CouncilConfigError,
    Problem,
    References,
    errors_first,
    in_file,
)
from chapterhouse.errors import UsageError
from chapterhouse.store.definitions import COUNCIL_FILE, DOCS

_NOTHING: Final = References()
_KEYS: Final = {"chaired_by": "chair"}  # a field whose key is the name of a method


class MemberWords(TypedDict, total=False):
    """The words for a member; what they mean stands with ``Member``."""

    persona: str
    council: str
    name: str
    instructions: str
    model: str
    tools: Iterable[ToolRef]
    grounding: Grounding | None
    timeout_seconds: float | None
    shelves: Iterable[str]
    folders: Iterable[str]


@dataclass(frozen=True, slots=True)
class Council(CouncilModel):
    """A council as its file has it, or as it is built in Python; ``CouncilModel`` has its fields.

    Every method that adds something returns a new council. Nothing is checked on the way:
    ``problems`` and ``Councils.validate`` name everything that is wrong at once.
    """

    # --- building ------------------------------------------------------------------------------

    @classmethod
    def new(cls, slug: str, *, display_name: str = "", purpose: str = "") -> Self:
        """Begin a council."""
        return cls(slug, display_name, purpose)

    def default_model(self, name: str) -> Self:
        """Let the model of this name speak for members without one."""
        return replace(self, model=name)

    def add_tool(self, *tools: ToolRef) -> Self:
        """Give all members and the chair tools, by registered name or as they are."""
        return replace(self, tools=(*self.tools, *tools))

    def set_tools(self, *tools: ToolRef) -> Self:
        """Give all members and the chair these tools, and none that they had before."""
        return replace(self, tools=tools)

    def add_member(self, member: Member | str | None = None, **words: Unpack[MemberWords]) -> Self:
        """Seat a member: one that is made already, or a persona by slug, or as the words say."""
        return replace(self, members=(*self.members, _member(member, words)))

    def add_round(
        self,
        name: Round | str,
        *,
        instructions: str = "",
        speakers: Iterable[str] = (),
        sees_statements: bool = False,
    ) -> Self:
        """Add a round: a built-in kind by its name, or one of your own with instructions."""
        if isinstance(name, Round):
            own = Round(name.name, instructions, tuple(speakers), sees_statements)
            if own != Round(name.name):
                raise UsageError("Give a round, or the words for one, not both.")
            return replace(self, rounds=(*self.rounds, name))
        made = Round(name, instructions, tuple(speakers), sees_statements)
        return replace(self, rounds=(*self.rounds, made))

    def chair(self, member: Member | str | None = None, **words: Unpack[MemberWords]) -> Self:
        """Say who presides; as ``add_member``, but never a council."""
        return replace(self, chaired_by=_member(member, words))

    def link(self, *folders: str | Path) -> Self:
        """Let all members read the documents of further folders."""
        return replace(self, folders=(*self.folders, *map(str, folders)))

    def decide_between(self, *options: str) -> Self:
        """Say what is to be decided between."""
        return replace(self, options=(*self.options, *options))

    def limits(
        self, *, parallel: int | None = None, round_timeout_seconds: float | None = None
    ) -> Self:
        """Say how many members speak at a time, and how long a round may take."""
        return replace(
            self,
            parallel=self.parallel if parallel is None else parallel,
            round_timeout_seconds=(
                self.round_timeout_seconds
                if round_timeout_seconds is None
                else round_timeout_seconds
            ),
        )

    def to_json(self, modules: Iterable[str] = ()) -> str:
        """Return the council as its file has it: tools by name, defaults left out.

        Args:
            modules: Tools that one of these modules has are written as ``module:name``, by which
                ``from_json`` finds them again.
        """
        paths = import_paths(modules)
        named = _with_tools(self, lambda ref: paths.get(id(ref), ref))
        return json.dumps(as_object(named), ensure_ascii=False, indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str, modules: Iterable[str] = ()) -> "Council":
        """Return the council that ``to_json`` or a person has written.

        Args:
            modules: A tool written as ``module:name`` is imported, from one of these alone.

        Raises:
            CouncilConfigError: with every problem of its form.
            UsageError: a tool is in no module that may be imported, or is not there.
        """
        parsed = parse_definition(text, council_schema()).required()
        return _with_tools(parsed, partial(import_tool, modules=tuple(modules)))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All that is wrong with it by itself; ``Councils.validate`` compares it with the rest."""
        return check_council(self)


def _with_tools(council: Council, change: Callable[[ToolRef], ToolRef]) -> Council:
    """Return a council with each reference to a tool changed."""

    def of(member: Member) -> Member:
        return replace(member, tools=tuple(map(change, member.tools)))

    return replace(
        council,
        tools=tuple(map(change, council.tools)),
        members=tuple(map(of, council.members)),
        chaired_by=of(council.chaired_by) if council.chaired_by else None,
    )


def _member(member: Member | str | None, words: MemberWords) -> Member:
    given: dict[str, Any] = {**words}
    given |= {key: tuple(given.get(key, ())) for key in ("tools", "shelves", "folders")}
    described = Member(**given)
    if member is None:
        return described
    if isinstance(member, Member):
        if described != Member():
            raise UsageError("Give a member, or the words for one, not both.")
        return member
    if described.persona or described.council:
        raise UsageError(f"'{member}' is the persona; leave out persona= and council=.")
    return replace(described, persona=member)


def council_from(
    template: str,
    slug: str,
    *,
    display_name: str = "",
    personas: Sequence[str] = (),
    members: Sequence[Member] = (),
    folders: Sequence[str] = (),
) -> Council:
    """Return a council as a template begins it; personas and members replace its roles."""
    require_template(template, COUNCIL_TEMPLATES)
    raw = {**json.loads(template_text(f"{template}.json")), "slug": slug}
    begun = parse_definition(json.dumps(raw), council_schema()).required().link(*folders)
    own = (*(Member(persona=persona) for persona in personas), *members)
    return replace(begun, display_name=display_name, members=own or begun.members)


class CouncilFolder(DefinitionFolder[Council]):
    """A council as its folder has it."""

    @property
    def council(self) -> Council:
        """The council."""
        return self.config

    @property
    def docs(self) -> Path:
        """Where the documents are that belong to the council itself."""
        return self.path / DOCS

    @property
    def file(self) -> Path:
        """The configuration file."""
        return self.path / COUNCIL_FILE

    @property
    def member_folders(self) -> dict[str, tuple[Path, ...]]:
        """By shelf, the folders and files that one member alone reads, absolute."""
        return {
            shelf: self.located(member.folders)
            for member in self.council.members
            for shelf in member.own_shelf(self.slug)
        }


# --- writing -------------------------------------------------------------------------------------


def as_object(council: Council) -> dict[str, Any]:
    """Return a council as a JSON object, without defaults; equal councils give equal objects."""
    dump = council_schema().adapter.dump_python
    written: dict[str, Any] = dump(council, mode="json", by_alias=True, exclude_defaults=True)
    return written


# --- reading -------------------------------------------------------------------------------------


def check_parsed(
    parsed: ParsedDefinition[Council], name: str, references: References
) -> tuple[Problem, ...]:
    """Return what is wrong with the form of what was read in a folder, else with its meaning."""
    if parsed.problems or parsed.value is None:
        return parsed.problems
    return check_council(parsed.value, references, f"{name}/{COUNCIL_FILE}")


def check_council(
    council: Council, references: References = _NOTHING, file: str = ""
) -> tuple[Problem, ...]:
    """Return all that is wrong with a council, errors first; by default its slug is the file."""
    values = {_KEYS.get(one.name, one.name): getattr(council, one.name) for one in fields(council)}
    found = (*value_problems(values, council_schema()), *meaning_problems(council, references))
    return errors_first(in_file(file or council.slug, found))


_HINTS: Final = {
    "slug": "Call it as the folder is called, like: berth-tariffs",
    "rounds.name": f"There are: {', '.join(BUILT_IN)}. Call your own one like: cost_check",
    "members.shelves": "See the shelves: chapterhouse status",
    "parallel": "Most want 8.",
    "round_timeout_seconds": "Most want 60 to 600.",
    "members.timeout_seconds": "Most want 60 to 600.",
}


@cache
def council_schema() -> Schema[Council]:
    """Return what ``council.json`` may say."""
    places: list[tuple[tuple[str, ...], Any]] = [
        ((), Council),
        (("members",), Member),
        (("chair",), Member),
        (("rounds",), Round),
    ]
    for tools in (("tools",), ("members", "tools"), ("chair", "tools")):
        places += [
            (tools, DeclaredTool),
            ((*tools, "corpus"), Corpus),
        ]
    keys = {
        place: tuple(_KEYS.get(field.name, field.name) for field in fields(kind))
        for place, kind in places
    }
    return Schema(
        COUNCIL_FILE,
        CouncilConfigError,
        TypeAdapter(Council),
        keys,
        "councils.md",
        '{"slug": "berths", "members": [{"persona": "maria"}]}',
        "chapterhouse council new SLUG makes what is missing in a folder.",
        _HINTS,
        objects={
            "Member": 'It must be an object like {{"persona": "maria"}}',
            "Corpus": 'It must be an object like {{"folder": "papers"}}',
            "Round": (
                'It must be a name like "synthesis", or an object like {{"name": "synthesis"}}'
            ),
        },
        in_full=_in_full,
    )


def _in_full(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a council with each round as an object; a name alone is short for one."""
    if not isinstance(raw.get("rounds"), list):
        return raw
    return {**raw, "rounds": [{"name": o} if isinstance(o, str) else o for o in raw["rounds"]]}
