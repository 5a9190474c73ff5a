"""Tools, in which no word of a document ever stands, and resources, as clients see them."""

from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Final

from mcp import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
    ToolAnnotations,
)
from mcp_types import Tool as ToolEntry

from chapterhouse.agents.council import CouncilFolder
from chapterhouse.agents.persona import PersonaFolder
from chapterhouse.council.knowledge import file_place
from chapterhouse.interfaces import schemas
from chapterhouse.interfaces.mcp import calls
from chapterhouse.interfaces.mcp.calls import DOCUMENTS, document_of, title_of
from chapterhouse.interfaces.service import Report, Service
from chapterhouse.interfaces.values import (
    CouncilList,
    PersonaList,
    PublicAnswer,
    adapter_of,
    as_object,
)
from chapterhouse.library import Library
from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.types import Minutes
from chapterhouse.types.graph import EntityPage


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
        partial(calls.passages, place=file_place),
    ),
    ServedTool(
        "search_graph",
        "See what is said of a name",
        "List the sentences that name a person, organization, place or thing, what they say that "
        "it is to others (part of, uses, created by, depends on …), and whom it stands with. Call "
        "this when you want to know who is involved in something, or what belongs to it, over all "
        "documents. Each sentence has its document and place.",
        schemas.GraphArguments,
        EntityPage,
        calls.search_graph,
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


PERSONAS: Final = "chapterhouse://personas/"
COUNCILS: Final = "chapterhouse://councils/"
LISTED: Final = 100  # resources of one page
LONGEST: Final = 2_000_000  # characters of a document that are read at once
_MARKDOWN: Final = "text/markdown"
_KINDS: Final = (
    (f"{DOCUMENTS}{{id}}", "The canonical text of a document, as Markdown. Citations count in it."),
    (f"{PERSONAS}{{slug}}", "Who a persona is, what they know about and what they read."),
    (f"{COUNCILS}{{slug}}", "What a council is for, who sits in it, and its rounds."),
)
TEMPLATES: Final = ListResourceTemplatesResult(
    resource_templates=[
        ResourceTemplate(
            uri_template=uri, name=name, title=f"A {name}", description=about, mime_type=_MARKDOWN
        )
        for name, (uri, about) in zip(("document", "persona", "council"), _KINDS, strict=True)
    ]
)


def list_resources(library: Library, cursor: str | None) -> ListResourcesResult:
    """Return the resources behind ``cursor``: councils, then documents, then personas.

    Within each they come in order of name, so that what is added or removed meanwhile moves no
    other from page to page.
    """
    if cursor is not None and not cursor.startswith((COUNCILS, DOCUMENTS, PERSONAS)):
        raise MCPError(INVALID_PARAMS, "The cursor is not one that a list of resources gave.")
    found = list(islice(_behind(library, cursor or ""), LISTED + 1))
    more = found[LISTED - 1].uri if len(found) > LISTED else None
    return ListResourcesResult(resources=found[:LISTED], next_cursor=more)


def read_resource(library: Library, uri: str) -> ReadResourceResult:
    """Return what a resource holds."""
    address = uri.partition("#")[0]  # a place in it, as search gives
    known: dict[str, object] = {}
    if address.startswith(DOCUMENTS):
        text, known = _document(library, address.removeprefix(DOCUMENTS))
    elif address.startswith(PERSONAS):
        text = _persona(library, library.personas.load(address.removeprefix(PERSONAS)))
    elif address.startswith(COUNCILS):
        text = _council(library, library.councils.load(address.removeprefix(COUNCILS)))
    else:
        raise MCPError(
            INVALID_PARAMS, f"There is no resource '{sanitise_line(uri)[:200]}'.", {"uri": uri}
        )
    contents = TextResourceContents(uri=uri, mime_type=_MARKDOWN, text=text, _meta=known or None)
    return ReadResourceResult(contents=[contents])


def _behind(library: Library, last: str) -> Iterator[Resource]:
    yield from _named(COUNCILS, library.councils.names(), "A council.", last)
    for document in library.documents.list() if last < PERSONAS else ():
        uri = f"{DOCUMENTS}{document.id}"
        if uri > last:
            yield Resource(
                uri=uri,
                name=document.id,
                title=title_of(document),
                description=f"A document of the format {document.format},"
                f" {document.characters:,} characters.",
                mime_type=_MARKDOWN,
            )
    yield from _named(PERSONAS, library.personas.names(), "A persona.", last)


def _named(start: str, slugs: Iterable[str], description: str, last: str) -> Iterator[Resource]:
    for slug in slugs:
        if (uri := f"{start}{slug}") > last:
            yield Resource(uri=uri, name=slug, description=description, mime_type=_MARKDOWN)


def _document(library: Library, name: str) -> tuple[str, dict[str, object]]:
    document = document_of(library, name)
    text = library.documents.body(document.id).text
    known: dict[str, object] = {
        "chapterhouse/source": sanitise_line(document.source),
        "chapterhouse/text_sha256": document.text_sha256,
        "chapterhouse/characters": len(text),
    }
    if len(text) > LONGEST:
        known["chapterhouse/note"] = (
            f"The first {LONGEST:,} characters. Read on with the tool fetch and offset={LONGEST}."
        )
    return text[:LONGEST], known


def _persona(library: Library, folder: PersonaFolder) -> str:
    persona = folder.persona
    facts = (
        f"Ask them as `{folder.slug}`.",
        f"They know about: {', '.join(persona.tags)}." if persona.tags else "",
        f"They read the shelves: {', '.join(persona.reads)}.",
        f"Documents of their own: {library.personas.census(folder.slug).documents}.",
    )
    return _card(persona.display_name, persona.expertise, facts, persona.prose.strip())


def _council(library: Library, folder: CouncilFolder) -> str:
    council = folder.council
    facts = (
        f"Convene it as `{folder.slug}`.",
        f"Members: {', '.join(member.key for member in council.members)}.",
        f"Rounds: {', '.join(held.name for held in council.rounds)}.",
        f"Presides: {council.chaired_by.key}." if council.chaired_by else "",
        f"To decide between: {', '.join(council.options)}." if council.options else "",
        f"Documents that all share: {library.councils.census(folder.slug).documents}.",
    )
    return _card(council.title, council.purpose, facts)


def _card(title: str, about: str, facts: Iterable[str], prose: str = "") -> str:
    listed = "\n".join(f"- {fact}" for fact in facts if fact)
    return "\n\n".join(filter(None, (f"# {title}", about, listed, prose))) + "\n"
