"""Council: who meets, in which rounds, with what at hand. Built call by call, never changed.

It is read from JSON and written as JSON here too. What cannot be read is left out, so that the
checks can name what else is wrong at the same time.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache
from pathlib import Path as FilePath
from typing import Any, Final, Self, TypedDict, Unpack

from pydantic import TypeAdapter

from chapterhouse.agents.council_checks import check_council
from chapterhouse.agents.council_model import (
    CouncilModel,
    Grounding,
    Member,
    Round,
)
from chapterhouse.agents.declared_tools import (
    Corpus,
    DeclaredTool,
    ToolRef,
    tool_name,
)
from chapterhouse.agents.definition import (
    JsonObject,
    Schema,
    parse_model,
    parse_object,
    read_object,
)
from chapterhouse.agents.problems import (
    Code,
    CouncilConfigError,
    Path,
    Problem,
    References,
    errors,
    errors_first,
    in_file,
    mismatch_problems,
)
from chapterhouse.agents.templates import COUNCIL_TEMPLATES, require_template, template_text
from chapterhouse.errors import UsageError
from chapterhouse.ports.definitions import Definitions
from chapterhouse.types.personas import COUNCIL_FILE

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

    def add_member(self, member: Member | str | None = None, **words: Unpack[MemberWords]) -> Self:
        """Seat a member: one that is made already, or a persona by slug, or as the words say.

        Raises:
            UsageError: a member was given and words for another besides.
        """
        return replace(self, members=(*self.members, _member(member, words)))

    def add_round(
        self,
        name: Round | str,
        *,
        instructions: str = "",
        speakers: Iterable[str] = (),
        sees_statements: bool = False,
    ) -> Self:
        """Add a round: a built-in kind by its name, or one of your own with instructions.

        Raises:
            UsageError: a round was given and words for another besides.
        """
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

    def link(self, *folders: str | FilePath) -> Self:
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

    def to_json(self) -> str:
        """Return the council as its file has it: tools by name, defaults left out."""
        return json.dumps(as_object(self), ensure_ascii=False, indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Council":
        """Return the council that ``to_json`` or a person has written.

        Raises:
            CouncilConfigError: with every problem of its form: no JSON, an unknown key, a key
                that is there twice, a value of the wrong kind.
        """
        return parse_council(text).required()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All that is wrong with it by itself; ``Councils.validate`` compares it with the rest."""
        return check_council(self)


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
    """Return a council as a template begins it; personas and members take the place of its roles.

    Raises:
        NotFoundError: there is no template of this name.
    """
    require_template(template, COUNCIL_TEMPLATES)
    begun = parse_council(template_text(f"{template}.json")).required().link(*folders)
    own = (*(Member(persona=persona) for persona in personas), *members)
    return replace(begun, slug=slug, display_name=display_name, members=own or begun.members)


# --- writing -------------------------------------------------------------------------------------


def as_object(council: Council) -> dict[str, Any]:
    """Return a council as a JSON object, without defaults; equal councils give equal objects."""
    return {"slug": council.slug, **_written(council)}


def _written(value: Council | Member | Round | DeclaredTool | Corpus) -> dict[str, Any]:
    return {
        _KEYS.get(field.name, field.name): _plain(field.name, getattr(value, field.name))
        for field in fields(value)
        if field.default is not MISSING and getattr(value, field.name) != field.default
    }


def _plain(name: str, value: Any) -> Any:
    if name == "tools":
        return [_written(t) if isinstance(t, DeclaredTool) else tool_name(t) for t in value]
    if isinstance(value, Member | Corpus):
        return _written(value)
    if isinstance(value, Round):
        more = _written(value)
        return {"name": value.name, **more} if more else value.name
    return [_plain("", entry) for entry in value] if isinstance(value, tuple) else value


# --- reading -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ParsedCouncil:
    """What a file says, and what is wrong with its form.

    Attributes:
        council: Without what could not be read; None where nothing could.
        raw: The object as its owner wrote it.
    """

    council: Council | None
    problems: tuple[Problem, ...] = ()
    raw: Mapping[str, Any] | None = None

    def required(self) -> Council:
        """Return the council."""
        wrong = errors(self.problems)
        if wrong or self.council is None:
            raise CouncilConfigError(wrong)
        return self.council


def parse_council(data: bytes | str) -> ParsedCouncil:
    """Return what JSON says of a council."""
    return council_of(parse_object(data, council_schema()))


def council_of(read: JsonObject) -> ParsedCouncil:
    """Return what a JSON object says of a council."""
    if read.value is None:
        return ParsedCouncil(None, read.problems)
    raw = read.value
    if isinstance(raw.get("rounds"), list):  # a name alone is short for a round
        rounds = [{"name": one} if isinstance(one, str) else one for one in raw["rounds"]]
        raw = {**raw, "rounds": rounds}
    parsed = parse_model(raw, council_schema())
    if isinstance(parsed, Council):
        return ParsedCouncil(parsed, read.problems, read.value)
    wrong = {problem.path: problem.code for problem in parsed}
    rest = parse_model(_without(raw, (), wrong), council_schema())
    council = rest if isinstance(rest, Council) else None
    return ParsedCouncil(council, (*read.problems, *parsed), read.value)


def read_council(definitions: Definitions, slug: str) -> ParsedCouncil:
    """Read the file of a council; what is wrong with its form is in the result."""
    hint = "chapterhouse council new SLUG makes what is missing in a folder."
    return council_of(read_object(definitions, slug, COUNCIL_FILE, hint, council_schema()))


def form_problems(parsed: ParsedCouncil, name: str) -> tuple[Problem, ...]:
    """Return why what was read in the folder ``name`` cannot be the council of that name."""
    slug = parsed.council.slug if parsed.council else ""
    found = (*parsed.problems, *mismatch_problems(slug, name))
    return tuple(in_file(f"{name}/{COUNCIL_FILE}", found))


def check_parsed(parsed: ParsedCouncil, name: str, references: References) -> tuple[Problem, ...]:
    """Return all that is wrong with what was read in the folder ``name``, errors first.

    What follows only from something that could not be read is not named besides.
    """
    found = form_problems(parsed, name)
    if parsed.council is None:
        return found
    council = replace(parsed.council, slug=parsed.council.slug or name)
    followed = (
        problem
        for problem in check_council(council, references, f"{name}/{COUNCIL_FILE}")
        if not any(_overlap(problem.path, wrong.path) for wrong in parsed.problems)
    )
    return errors_first((*found, *followed))


def _overlap(one: Path, other: Path) -> bool:
    """Whether one path lies at or below the other."""
    shared = min(len(one), len(other))
    return one[:shared] == other[:shared]


# What holds now instead of a key that earlier versions had.
_GONE: Final = {
    "anonymous": "Members see whose statements they answer: leave it out.",
    "concession_rule": "A concession is what a member says it is: leave it out.",
    "mcp": "A council's file starts no programs; a package or a Python program brings such tools.",
    "sees_claims": "It is called sees_statements.",
}
_Wrong = Mapping[Path, Code]
_NEEDED: Final = frozenset(("slug", "name"))


def _without(value: Any, path: Path, wrong: _Wrong) -> Any:
    """Return a value without what is wrong in it; entries of lists keep their numbers."""
    if isinstance(value, dict):
        right = {
            key: _without(below, (*path, key), wrong)
            for key, below in value.items()
            if (*path, key) not in wrong
        }
        blank = {key for key in _NEEDED if wrong.get((*path, key), Code.UNKNOWN) != Code.UNKNOWN}
        return right | dict.fromkeys(blank, "")
    if isinstance(value, list):
        blank_entry = {"members": {}, "rounds": {"name": ""}}.get(str(path[-1]), "")
        return [
            blank_entry if (*path, number) in wrong else _without(entry, (*path, number), wrong)
            for number, entry in enumerate(value)
        ]
    return value


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
        TypeAdapter(Council),
        keys,
        "councils.md",
        '{"slug": "berths", "members": [{"persona": "maria"}]}',
        objects={
            "Member": 'It must be an object like {{"persona": "maria"}}',
            "Corpus": 'It must be an object like {{"folder": "papers"}}',
            "Round": (
                'It must be a name like "synthesis", or an object like {{"name": "synthesis"}}'
            ),
        },
        gone=_GONE,
    )
