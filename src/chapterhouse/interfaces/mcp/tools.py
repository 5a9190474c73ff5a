"""The tools, as clients are told of them. No word of a document ever stands here."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from mcp_types import CallToolResult, TextContent, ToolAnnotations
from mcp_types import Tool as ToolEntry

from chapterhouse.interfaces import schemas
from chapterhouse.interfaces.mcp import calls
from chapterhouse.interfaces.service import Report, Service
from chapterhouse.interfaces.values import (
    CouncilList,
    PersonaList,
    PublicAnswer,
    adapter_of,
    as_object,
)
from chapterhouse.types import Minutes


@dataclass(frozen=True, slots=True)
class ServedTool:
    """Something that a client may call.

    Attributes:
        remembers: Whether it leaves something in the library's memory, where that is on.
    """

    name: str
    title: str
    description: str
    arguments: type[schemas.Parameters]
    result: type[Any]
    call: Callable[[Service, Any, Report], Awaitable[schemas.Outcome]]
    remembers: bool = False


TOOLS: Final = (
    ServedTool(
        "search",
        "Search the documents",
        "Search the documents of the library. Call this first when a question may be answered by "
        "the user's own documents. Returns ids with title, address and the passage that fits; "
        "fetch returns the text around it.",
        schemas.SearchArguments,
        schemas.SearchResults,
        calls.search,
    ),
    ServedTool(
        "fetch",
        "Read a document",
        "Read a document, or a page of a long one. Call this with an id that search returned when "
        "the passage alone is not enough, or to check a quotation in its place.",
        schemas.FetchArguments,
        schemas.FetchResult,
        calls.fetch,
    ),
    ServedTool(
        "search_knowledge",
        "Search for what answers",
        "Search the knowledge base for passages that answer a question. Call this before you state "
        "a fact, figure, name, date or rule that the documents may hold. Returns only passages "
        "that are likely to answer, each with its place: file, page, span and hash.",
        schemas.KnowledgeArguments,
        schemas.PassagesResult,
        calls.passages,
    ),
    ServedTool(
        "semantic_search",
        "Find what speaks of the same",
        "Find documents that speak about the same thing as a statement. Call this when you want to "
        "know which documents agree or disagree with a claim, or whether several sources say so. "
        "Returns the closest passage of each document, and only close ones.",
        schemas.SemanticArguments,
        schemas.PassagesResult,
        partial(calls.passages, per_document=1),
    ),
    ServedTool(
        "search_documents",
        "Find places in documents",
        "Search the documents and see where each passage stands: file, page, chunk and text. Call "
        "this when you need the exact place or wording of something, or when search_knowledge "
        "found nothing. Returns the best passages there are; judge whether they fit.",
        schemas.PassagesArguments,
        schemas.PassagesResult,
        calls.passages,
    ),
    ServedTool(
        "ask",
        "Ask for a cited answer",
        "Answer a question from the documents, every sentence with a citation that was checked to "
        "the character, or say that they do not hold an answer. Call this when the user wants an "
        "answer with its evidence rather than passages; name a persona to hear them alone.",
        schemas.AskArguments,
        PublicAnswer,
        calls.ask,
        remembers=True,
    ),
    ServedTool(
        "convene",
        "Convene a council",
        "Let a council meet on a question and return its minutes: decision, grounds, dissent, open "
        "questions, and a map of who says what on which evidence. Call this when a decision needs "
        "several points of view, or when sources disagree. May take minutes where models speak.",
        schemas.ConveneArguments,
        Minutes,
        calls.convene,
        remembers=True,
    ),
    ServedTool(
        "list_personas",
        "List personas",
        "List the personas, who answer from documents of their own. Call this before you name a "
        "persona to ask.",
        schemas.NoArguments,
        PersonaList,
        calls.list_personas,
    ),
    ServedTool(
        "list_councils",
        "List councils",
        "List the councils, with their members and rounds. Call this before you convene one.",
        schemas.NoArguments,
        CouncilList,
        calls.list_councils,
    ),
)
BY_NAME: Final = {tool.name: tool for tool in TOOLS}


def entry_of(tool: ServedTool, *, remember: bool) -> ToolEntry:
    """Return a tool as the protocol lists it: read-only, unless it adds to a memory."""
    reads = not (tool.remembers and remember)
    result = adapter_of(tool.result).json_schema(mode="serialization")
    return ToolEntry(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.arguments.model_json_schema(),
        output_schema={"type": "object", **result},
        annotations=ToolAnnotations(
            title=tool.title,
            read_only_hint=reads,
            destructive_hint=False,
            idempotent_hint=reads,
            open_world_hint=False,
        ),
    )


async def call(
    tool: ServedTool, given: dict[str, object], service: Service, report: Report
) -> CallToolResult:
    """Call a tool."""
    outcome = await tool.call(service, tool.arguments.model_validate(given), report)
    return CallToolResult(
        content=[TextContent(type="text", text=outcome.text)],
        structured_content=as_object(outcome.data),
    )
