"""Which tools a member of a council may call: registered by name or given as they are.

A council's tools come before a member's own. References are resolved first and compared then: one
tool under two names counts once, and two tools under one name cannot be told apart by a model.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Final

from chapterhouse.agents.council import Council
from chapterhouse.agents.council_model import CHAIR, SEARCH_TOOLS, Member, MemberKind
from chapterhouse.agents.declared_tools import GROUP, DeclaredTool, ToolRef
from chapterhouse.agents.problems import (
    Code,
    CouncilConfigError,
    Path,
    Problem,
    meant,
)
from chapterhouse.errors import UsageError
from chapterhouse.models.tools import check_tools
from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.types import Tool

Registry = Mapping[str, Tool]  # tools by the names that council files use
Opened = Mapping[DeclaredTool, Tool]  # what declarations came to; none is open else
Placed = tuple[Path, str | Tool]  # a reference, and where it stands

OwnTools = Callable[[Member], Registry]  # what only this member has

_COUNCIL: Final[Path] = ("tools",)
_NOTHING: Final[Registry] = MappingProxyType({})
_CLOSED: Final[Opened] = MappingProxyType({})


def _nothing_more(_: Member) -> Registry:
    return _NOTHING


def register(*tools: Tool, also: Mapping[str, Tool] = _NOTHING) -> Registry:
    """Return tools by their names, so that council files can name them.

    Args:
        tools: Each is registered under its own name; the same tool may come twice.
        also: Tools by further names. A model sees a tool's own name, whatever it is called here.

    Raises:
        UsageError: two tools have one name, or a tool could not be offered to any model.
    """
    known: dict[str, Tool] = {}
    for name, tool in [*((tool.name, tool) for tool in tools), *also.items()]:
        if known.setdefault(name, tool) is not tool:
            raise UsageError(
                f"Two tools are called '{name}'.",
                hint="Give one of them another name; a model knows tools by name only.",
            )
        check_tools([tool])
    return MappingProxyType(known)


def installed_tools(council: Council) -> Registry:
    """Return the tools of installed packages that a council names, by the names it uses.

    An entry point of the group ``chapterhouse.tools`` is a tool, or gives one when it is called.

    Raises:
        UsageError: two packages bring one name, or what one brings is no tool.
    """
    members = (*council.members, *([council.chaired_by] if council.chaired_by else ()))
    used = {
        tool for member in (council, *members) for tool in member.tools if isinstance(tool, str)
    }
    found: dict[str, Tool] = {}
    for entry in entry_points(group=GROUP):
        if entry.name in used - SEARCH_TOOLS:
            brought = _load(entry)
            if found.setdefault(entry.name, brought) is not brought:
                raise UsageError(
                    f"Two installed packages bring a tool '{entry.name}'.",
                    hint="Remove one of them, or give the tool itself from Python.",
                )
    return register(also=found)


def _load(entry: EntryPoint) -> Tool:
    try:
        found = entry.load()
        tool = found if isinstance(found, Tool) else found()
    except Exception as error:
        reason = f"{type(error).__name__}: {sanitise_line(str(error))}"
        hint = f"It is the entry point {entry.value} of the group {GROUP}."
        raise UsageError(
            f"The tool '{entry.name}' cannot be loaded: {reason}.", hint=hint
        ) from error
    if not isinstance(tool, Tool):
        hint = "It must be a chapterhouse.types.Tool, or a function that returns one."
        raise UsageError(f"The entry point {entry.value} gives no tool.", hint=hint)
    return tool


def merge_tools(
    council_tools: Sequence[ToolRef],
    member_tools: Sequence[ToolRef],
    registry: Registry = _NOTHING,
    *,
    opened: Opened = _CLOSED,
    path: Path = ("member", "tools"),
) -> tuple[Tool, ...]:
    """Return what a member may call: the council's tools, then their own, each once.

    Args:
        path: Where the member's tools stand, for what is wrong with them.

    Raises:
        CouncilConfigError: a name is not registered, two different tools have one name, or a tool
            could not be offered to any model; it holds all such problems.
    """
    placed = [*_place(_COUNCIL, council_tools, opened), *_place(path, member_tools, opened)]
    problems = tuple(_problems(placed, registry))
    if problems:
        raise CouncilConfigError(problems)
    return _distinct(placed, registry)


def tools_of(
    council_tools: Sequence[ToolRef],
    member: Member,
    registry: Registry = _NOTHING,
    *,
    opened: Opened = _CLOSED,
    path: Path = ("member", "tools"),
) -> tuple[Tool, ...]:
    """Return what a member or the chair may call.

    A council that is a member inherits nothing: within it, its own tools count.
    """
    inherited = () if member.kind is MemberKind.COUNCIL else council_tools
    return merge_tools(inherited, member.tools, registry, opened=opened, path=path)


def participant_tools(
    council: Council,
    registry: Registry = _NOTHING,
    own: OwnTools = _nothing_more,
    opened: Opened = _CLOSED,
) -> Mapping[str, tuple[Tool, ...]]:
    """Return what everyone may call, by the keys of the members; the chair's is ``chair``.

    Args:
        own: Tools by name that a member has beside these or instead of them, such as those that
            search only what this member may read. Asked once for everyone.

    Raises:
        CouncilConfigError: it holds everything that is wrong with any tool, each once.
    """
    users = _tool_users(council, registry, own)
    problems = tuple(_all_problems(council, users, registry, opened))
    if problems:
        raise CouncilConfigError(problems)
    return {
        CHAIR if user.path[0] == CHAIR else user.member.key: tools_of(
            council.tools, user.member, user.registry, opened=opened, path=user.path
        )
        for user in users
    }


def tool_problems(
    council: Council, registry: Registry = _NOTHING, own: OwnTools = _nothing_more
) -> tuple[Problem, ...]:
    """Return everything that is wrong with the tools of a council, each once, before it meets."""
    return tuple(_all_problems(council, _tool_users(council, registry, own), registry, _CLOSED))


@dataclass(frozen=True, slots=True)
class _ToolUser:
    """Someone in a council, where their tools stand, and what names stand for to them."""

    path: Path
    member: Member
    registry: Registry

    @property
    def inherits(self) -> bool:
        return self.member.kind is not MemberKind.COUNCIL


def _tool_users(council: Council, registry: Registry, own: OwnTools) -> tuple[_ToolUser, ...]:
    members: list[tuple[Path, Member]] = [
        (("members", number, "tools"), member) for number, member in enumerate(council.members)
    ]
    if council.chaired_by is not None:
        members.append(((CHAIR, "tools"), council.chaired_by))
    return tuple(_ToolUser(path, member, {**registry, **own(member)}) for path, member in members)


def _all_problems(
    council: Council, users: Sequence[_ToolUser], registry: Registry, opened: Opened
) -> Iterator[Problem]:
    """Yield the problems of the council's tools, then those of everyone's, each once."""
    of_all = [*_place(_COUNCIL, council.tools, opened)]
    found: list[Problem] = []
    for user in users:
        inherited = of_all if user.inherits else []
        own = _place(user.path, user.member.tools, opened)
        found += _problems([*inherited, *own], user.registry)
    if not any(user.inherits for user in users):
        found += _problems(of_all, registry)
    unique = {(problem.path, problem.code): problem for problem in found}
    for problem in sorted(unique.values(), key=lambda problem: problem.path[0] != _COUNCIL[0]):
        yield replace(problem, file=council.slug)


def _place(path: Path, tools: Sequence[ToolRef], opened: Opened) -> Iterator[Placed]:
    """Yield references with their places; what is declared and not open is left out."""
    for number, tool in enumerate(tools):
        if not isinstance(tool, DeclaredTool):
            yield (*path, number), tool
        elif tool in opened:
            yield (*path, number), opened[tool]


def _resolve(reference: str | Tool, registry: Registry) -> Tool | None:
    return registry.get(reference) if isinstance(reference, str) else reference


def _distinct(placed: Sequence[Placed], registry: Registry) -> tuple[Tool, ...]:
    """Return the tools in their order, each object once."""
    tools = (_resolve(reference, registry) for _, reference in placed)
    return tuple({id(tool): tool for tool in tools if tool is not None}.values())


def _problems(placed: Sequence[Placed], registry: Registry) -> Iterator[Problem]:
    """Yield what is wrong with references, at the place of each."""
    seen: dict[str, Tool] = {}
    for path, reference in placed:
        tool = _resolve(reference, registry)
        if tool is None:
            name = str(reference)
            hint = meant(name, registry, "Register it, or give the tool itself.")
            yield Problem(path, Code.UNKNOWN, f"There is no tool '{name}'.", hint)
        elif tool.name not in seen:
            seen[tool.name] = tool
            yield from _unusable(path, tool)
        elif seen[tool.name] is not tool:
            sentence = f"There is another tool called '{tool.name}'."
            hint = "Give one of them another name; a model knows tools by name only."
            yield Problem(path, Code.DUPLICATE, sentence, hint)


def _unusable(path: Path, tool: Tool) -> Iterator[Problem]:
    try:
        check_tools([tool])
    except UsageError as error:
        hint = "Change its name, its schema or its limits."
        yield Problem(path, Code.TYPE, error.message, hint)
