"""What is wrong with the tools of a council, at the place of each."""

from collections.abc import Iterator, Sequence
from typing import Final

from chapterhouse.agents.council_model import SEARCH_TOOLS
from chapterhouse.agents.declared_tools import Corpus, DeclaredTool, ToolRef, tool_name
from chapterhouse.agents.problems import (
    Code,
    Path,
    Problem,
    References,
    folder_problem,
    meant,
    text_problems,
    warning,
)
from chapterhouse.text.naming import is_tool_name

MOST_PASSAGES: Final = 20


def tool_problems(
    path: Path, tools: Sequence[ToolRef], references: References
) -> Iterator[Problem]:
    """Name tools that nobody registered, wrong declarations, and what is there twice.

    Whether two names stand for one tool, or one name for two, is seen when they are resolved.
    """
    seen: list[ToolRef] = []
    for number, tool in enumerate(tools):
        at = (*path, number)
        known = references.tools
        if isinstance(tool, DeclaredTool):
            yield from _declaration_problems(at, tool, references)
        elif not tool_name(tool):
            yield Problem(at, Code.EMPTY, "It is empty.", "Name a tool.")
        elif isinstance(tool, str) and known is not None and tool not in known:
            sentence = f"There is no tool '{tool}'."
            yield Problem(at, Code.UNKNOWN, sentence, meant(tool, known))
        if tool_name(tool) and any(tool is earlier or tool == earlier for earlier in seen):
            sentence = f"The tool '{tool_name(tool)}' is there already."
            yield warning(at, Code.DUPLICATE, sentence, "Leave one of them out.")
        seen.append(tool)


def _declaration_problems(
    path: Path, tool: DeclaredTool, references: References
) -> Iterator[Problem]:
    if tool.corpus:
        yield from _corpus_problems((*path, "corpus"), tool.corpus, references)
    else:
        hint = 'Declare one like {"corpus": {"folder": "papers"}}.'
        yield Problem(path, Code.MISSING, "Nothing says what tool it is.", hint)


def _corpus_problems(path: Path, corpus: Corpus, references: References) -> Iterator[Problem]:
    yield from folder_problem((*path, "folder"), corpus.folder, references.folder)
    name = corpus.tool_name
    if not is_tool_name(name):
        hint = "Use letters, digits and underscores, at most 64: search_policies"
        yield Problem((*path, "name"), Code.NAME, f"'{name}' cannot be a tool's name.", hint)
    elif name in SEARCH_TOOLS:
        sentence = f"'{name}' is how the library itself is searched."
        yield Problem((*path, "name"), Code.RESERVED, sentence, "Give it another 'name'.")
    yield from text_problems((*path, "description"), corpus.description)
    if not 1 <= corpus.top_k <= MOST_PASSAGES:
        sentence = f"It must be 1 to {MOST_PASSAGES}, not {corpus.top_k}."
        yield Problem((*path, "top_k"), Code.RANGE, sentence, "Most want 4.")
