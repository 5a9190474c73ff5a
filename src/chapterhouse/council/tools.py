"""Which tools everyone in a council may call.

References are names, or the tools themselves where a council is built in Python. The council's come
before a member's own. One tool under two names counts once, and two tools under one name cannot be
told apart by a model.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from chapterhouse.agents.council import Council
from chapterhouse.agents.council_model import (
    CHAIR,
    GROUP,
    MOST_PASSAGES,
    SEARCH_TOOLS,
    Corpus,
    DeclaredTool,
    MemberKind,
    ToolRef,
)
from chapterhouse.agents.problems import Code, CouncilConfigError, KeyPath, Problem, located, meant
from chapterhouse.answering.runtime import Runtime
from chapterhouse.connectors.content import open_source
from chapterhouse.connectors.folder import SourceFile, walk
from chapterhouse.council.knowledge import (
    escape_line,
    format_numbered,
    heading,
    place_of,
    query_parameters,
)
from chapterhouse.errors import RejectedError, UsageError
from chapterhouse.models.tools import check_tools
from chapterhouse.retrieval.question import parse_question
from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.types import Chunk, Document, Tool, ToolPassage

Registry = Mapping[str, Tool]  # tools by the names that council files use
Opened = Mapping[DeclaredTool, Tool]  # what declarations came to; none is open else
_Placed = tuple[KeyPath, str | Tool]  # a reference, and where it stands

_COUNCIL: Final[KeyPath] = ("tools",)
_NOTHING: Final[Mapping[Any, Any]] = MappingProxyType({})


def installed_tools(council: Council) -> Registry:
    """Return the tools of installed packages that a council names, by the names it uses.

    An entry point of the group ``chapterhouse.tools`` is a tool, or gives one when it is called.
    """
    tools = (council.tools, *(one.tools for one in council.everyone))
    used = {tool for of_one in tools for tool in of_one if isinstance(tool, str)}
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
    own: Mapping[str, Registry] = _NOTHING,
    opened: Opened = _NOTHING,
) -> Mapping[str, tuple[Tool, ...]]:
    """Return what everyone may call, by the keys of the members; the chair's is ``chair``.

    A council that is a member inherits nothing: within it, its own tools count.

    Args:
        own: By the same keys, tools that one has beside these or instead of them, such as those
            that search only what this member may read.
        opened: What declarations came to; one that is not among them is left out.

    Raises:
        CouncilConfigError: with all names that are not registered, that two tools have, or that
            could be offered to no model.
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
        key = CHAIR if path == (CHAIR,) else member.key
        found[key], wrong = _resolve(placed, {**registry, **own.get(key, {})})
        problems += wrong
    if not inherits:
        problems += _resolve(of_all, registry)[1]
    if problems:
        distinct = {(one.path, one.code): replace(one, file=council.slug) for one in problems}
        raise CouncilConfigError(sorted(distinct.values(), key=lambda one: one.path[0] != "tools"))
    return found


def _place(path: KeyPath, tools: Sequence[ToolRef], opened: Opened) -> Iterator[_Placed]:
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


MOST_FILES: Final = 1_000


def open_declared(council: Council, runtime: Runtime, warn: Callable[[str], None]) -> Opened:
    """Return the tool of every declaration of a council, each opened once."""
    folder = runtime.definitions["council"].folder(council.slug)
    opened: dict[DeclaredTool, Tool] = {}
    for declared in _declared(council):
        if declared.corpus and declared not in opened:
            place = located(folder, declared.corpus.folder)
            opened[declared], problems = corpus_tool(declared.corpus, place, runtime)
            for problem in problems:
                warn(problem)
    return opened


def _declared(council: Council) -> Iterator[DeclaredTool]:
    own = [one.tools for one in council.everyone if one.kind is not MemberKind.COUNCIL]
    for tools in (council.tools, *own):
        yield from (tool for tool in tools if isinstance(tool, DeclaredTool))


def corpus_tool(corpus: Corpus, folder: Path, runtime: Runtime) -> tuple[Tool, tuple[str, ...]]:
    """Return the tool that searches a folder, and what could not be read of it, in sentences."""
    files = list(walk(folder))
    if len(files) > MOST_FILES:
        raise UsageError(
            f"The corpus {corpus.tool_name} has {len(files):,} files, at most {MOST_FILES:,} fit.",
            hint="Add the folder to the library and let the members search that.",
        )
    problems: list[str] = []
    read = list(_documents(files, runtime, problems))
    passages = [
        ToolPassage(place_of(document, one, one.ordinal + 1), one.header + one.text)
        for document, chunks in read
        for one in chunks
    ]
    rank = runtime.rank_in_memory(read)
    languages = Counter(document.language for document, _ in read)

    def find(arguments: Mapping[str, object]) -> Sequence[ToolPassage]:
        question = parse_question(str(arguments["query"]), languages)
        wanted = arguments.get("top_k", corpus.top_k)
        limit = int(wanted) if isinstance(wanted, int | float) else corpus.top_k
        return [passages[hit.key] for hit in rank(question.terms, limit)]

    def call(arguments: Mapping[str, object]) -> str:
        found = find(arguments)
        words = "Results for" if found else "Nothing was found for"
        return format_numbered(heading(words, str(arguments["query"])), found)

    tool = Tool(
        name=corpus.tool_name,
        description=corpus.description or _description(folder),
        parameters=query_parameters("top_k", corpus.top_k, MOST_PASSAGES),
        call=call,
        parallel=True,
        find=find,
        fingerprint=_fingerprint(document for document, _ in read),
    )
    return tool, tuple(problems)


def _documents(
    files: Sequence[SourceFile], runtime: Runtime, problems: list[str]
) -> Iterator[tuple[Document, Sequence[Chunk]]]:
    """Yield what files become, in their order; note those that become nothing."""
    prepare = runtime.preparer()
    for file in files:
        try:
            if file.problem:
                problems.append(f"{file.source} is not searched: {file.problem.sentence}")
                continue
            content = open_source(file, maximum_bytes=runtime.maximum_bytes)
            made = prepare(runtime.read(content.data, file.name).result(), file, content)
        except RejectedError as error:
            problems.append(f"{file.source} is not searched: {error.message}")
        else:
            yield made.document, made.chunks


def _description(folder: Path) -> str:
    return (
        f"Search the documents of the folder “{escape_line(folder.name)}”. Call this whenever the "
        "question touches what they are about. Returns the passages that share most words with "
        "the query."
    )


def _fingerprint(documents: Iterator[Document]) -> str:
    lines = "\n".join(f"{document.source} {document.sha256}" for document in documents)
    return hashlib.sha256(lines.encode()).hexdigest()
