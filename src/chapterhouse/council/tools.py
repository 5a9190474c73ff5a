"""Which tools everyone in a council may call.

References are names, or the tools themselves where a council is built in Python. The council's come
before a member's own. One tool under two names counts once, and two tools under one name cannot be
told apart by a model.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Final

from chapterhouse.agents.council import Council
from chapterhouse.agents.council_model import CHAIR, SEARCH_TOOLS, Member, MemberKind
from chapterhouse.agents.declared_tools import GROUP, DeclaredTool, ToolRef
from chapterhouse.agents.problems import Code, CouncilConfigError, Path, Problem, meant
from chapterhouse.errors import UsageError
from chapterhouse.models.tools import check_tools
from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.types import Tool

Registry = Mapping[str, Tool]  # tools by the names that council files use
Opened = Mapping[DeclaredTool, Tool]  # what declarations came to; none is open else
OwnTools = Callable[[Member], Registry]  # what only this member has
_Placed = tuple[Path, str | Tool]  # a reference, and where it stands

_COUNCIL: Final[Path] = ("tools",)
_NOTHING: Final[Registry] = MappingProxyType({})
_CLOSED: Final[Opened] = MappingProxyType({})


def installed_tools(council: Council) -> Registry:
    """Return the tools of installed packages that a council names, by the names it uses.

    An entry point of the group ``chapterhouse.tools`` is a tool, or gives one when it is called.

    Raises:
        UsageError: two packages bring one name, or what one brings could be offered to no model.
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
            check_tools([brought])
    return found


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


def participant_tools(
    council: Council,
    registry: Registry = _NOTHING,
    own: OwnTools = lambda _: _NOTHING,
    opened: Opened = _CLOSED,
) -> Mapping[str, tuple[Tool, ...]]:
    """Return what everyone may call, by the keys of the members; the chair's is ``chair``.

    A council that is a member inherits nothing: within it, its own tools count.

    Args:
        own: Tools by name that a member has beside these or instead of them, such as those that
            search only what this member may read. Asked once for everyone.
        opened: What declarations came to; one that is not among them is left out.

    Raises:
        CouncilConfigError: a name is not registered, two different tools have one name, or a tool
            could not be offered to any model; it holds all such problems, each once.
    """
    members = [(("members", number), member) for number, member in enumerate(council.members)]
    chair = [((CHAIR,), council.chaired_by)] if council.chaired_by else []
    of_all = list(_place(_COUNCIL, council.tools, opened))
    found: dict[str, tuple[Tool, ...]] = {}
    problems: list[Problem] = []
    inherits = False
    for path, member in (*members, *chair):
        placed = list(_place((*path, "tools"), member.tools, opened))
        if member.kind is not MemberKind.COUNCIL:
            placed, inherits = [*of_all, *placed], True
        tools, wrong = _resolve(placed, {**registry, **own(member)})
        found[CHAIR if path == (CHAIR,) else member.key] = tools
        problems += wrong
    if not inherits:
        problems += _resolve(of_all, registry)[1]
    if problems:
        distinct = {(one.path, one.code): replace(one, file=council.slug) for one in problems}
        raise CouncilConfigError(sorted(distinct.values(), key=lambda one: one.path[0] != "tools"))
    return found


def _place(path: Path, tools: Sequence[ToolRef], opened: Opened) -> Iterator[_Placed]:
    for number, tool in enumerate(tools):
        if not isinstance(tool, DeclaredTool):
            yield (*path, number), tool
        elif tool in opened:
            yield (*path, number), opened[tool]


def _resolve(
    placed: Iterable[_Placed], registry: Registry
) -> tuple[tuple[Tool, ...], list[Problem]]:
    """Return the tools in their order, each object once, and what is wrong with references."""
    seen: dict[str, Tool] = {}
    problems: list[Problem] = []
    for path, reference in placed:
        tool = registry.get(reference) if isinstance(reference, str) else reference
        if tool is None:
            name = str(reference)
            hint = meant(name, registry, "Register it, or give the tool itself.")
            problems.append(Problem(path, Code.UNKNOWN, f"There is no tool '{name}'.", hint))
        elif tool.name not in seen:
            seen[tool.name] = tool
            try:
                check_tools([tool])
            except UsageError as error:
                hint = "Change its name, its schema or its limits."
                problems.append(Problem(path, Code.TYPE, error.message, hint))
        elif seen[tool.name] is not tool:
            sentence = f"There is another tool called '{tool.name}'."
            hint = "Give one of them another name; a model knows tools by name only."
            problems.append(Problem(path, Code.DUPLICATE, sentence, hint))
    return tuple(seen.values()), problems
