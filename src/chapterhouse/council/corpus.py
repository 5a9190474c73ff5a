"""A tool that searches the documents of one folder, which are on no shelf.

They are read as any document is, each time a council meets, and searched in memory by BM25.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from chapterhouse.agents.council import Council
from chapterhouse.agents.council_model import MemberKind
from chapterhouse.agents.declared_tools import MOST_PASSAGES, Corpus, DeclaredTool
from chapterhouse.agents.problems import located
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
from chapterhouse.council.tools import Opened
from chapterhouse.errors import RejectedError, UsageError
from chapterhouse.retrieval.question import parse_question
from chapterhouse.types import Chunk, Document, Tool, ToolPassage

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
    members = (*council.members, *([council.chaired_by] if council.chaired_by else ()))
    own = [member.tools for member in members if member.kind is not MemberKind.COUNCIL]
    for tools in (council.tools, *own):
        yield from (tool for tool in tools if isinstance(tool, DeclaredTool))


def corpus_tool(corpus: Corpus, folder: Path, runtime: Runtime) -> tuple[Tool, tuple[str, ...]]:
    """Return the tool that searches a folder, and what could not be read of it, in sentences.

    Raises:
        NotFoundError: the folder is not there.
        UsageError: it holds too many files.
    """
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

    tool = Tool(
        name=corpus.tool_name,
        description=corpus.description or _description(folder),
        parameters=query_parameters("top_k", corpus.top_k, MOST_PASSAGES),
        call=_format_with(find),
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


def _format_with(
    find: Callable[[Mapping[str, object]], Sequence[ToolPassage]],
) -> Callable[[Mapping[str, object]], str]:
    """Return what tells of passages where nothing is cited."""

    def call(arguments: Mapping[str, object]) -> str:
        found, query = find(arguments), str(arguments["query"])
        if not found:
            return heading("Nothing was found for", query)
        title = heading("Results for", query)
        return format_numbered(title, found)

    return call


def _description(folder: Path) -> str:
    return (
        f"Search the documents of the folder “{escape_line(folder.name)}”. Call this whenever the "
        "question touches what they are about. Returns the passages that share most words with "
        "the query."
    )


def _fingerprint(documents: Iterator[Document]) -> str:
    lines = "\n".join(f"{document.source} {document.sha256}" for document in documents)
    return hashlib.sha256(lines.encode()).hexdigest()
