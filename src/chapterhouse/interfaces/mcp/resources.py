"""Documents, personas and councils as resources: listed page by page, and as templates."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from mcp import MCPError
from mcp_types import (
    INVALID_PARAMS,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from chapterhouse.agents.council_folder import CouncilFolder
from chapterhouse.agents.persona import PersonaFolder
from chapterhouse.interfaces.mcp.searching import DOCUMENTS, document_of, title_of
from chapterhouse.library import Library
from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.types import Document

PERSONAS: Final = "chapterhouse://personas/"
COUNCILS: Final = "chapterhouse://councils/"
LISTED: Final = 100  # resources of one page
LONGEST: Final = 2_000_000  # characters of a document that are read at once
_MARKDOWN: Final = "text/markdown"
_TEMPLATES: Final = (
    ResourceTemplate(
        uri_template=f"{DOCUMENTS}{{id}}",
        name="document",
        title="A document",
        description="The canonical text of a document, as Markdown. Citations count in it.",
        mime_type=_MARKDOWN,
    ),
    ResourceTemplate(
        uri_template=f"{PERSONAS}{{slug}}",
        name="persona",
        title="A persona",
        description="Who a persona is, what they know about and what they read.",
        mime_type=_MARKDOWN,
    ),
    ResourceTemplate(
        uri_template=f"{COUNCILS}{{slug}}",
        name="council",
        title="A council",
        description="What a council is for, who sits in it, and its rounds.",
        mime_type=_MARKDOWN,
    ),
)


@dataclass(frozen=True, slots=True)
class _Text:
    """What is read of a resource, and what is known about it."""

    text: str
    known: dict[str, object]


def templates() -> ListResourceTemplatesResult:
    """Return the kinds of resources there are."""
    return ListResourceTemplatesResult(resource_templates=list(_TEMPLATES))


def page(library: Library, cursor: str | None) -> ListResourcesResult:
    """Return the resources behind ``cursor``: councils, then documents, then personas.

    Within each they come in order of name, so that what is added or removed meanwhile moves no
    other from page to page.

    Raises:
        MCPError: the cursor is none of ours.
    """
    if cursor is not None and not cursor.startswith((COUNCILS, DOCUMENTS, PERSONAS)):
        raise MCPError(INVALID_PARAMS, "The cursor is not one that a list of resources gave.")
    found = list(islice(_behind(library, cursor or ""), LISTED + 1))
    more = found[LISTED - 1].uri if len(found) > LISTED else None
    return ListResourcesResult(resources=found[:LISTED], next_cursor=more)


def read(library: Library, uri: str) -> ReadResourceResult:
    """Return what a resource holds.

    Raises:
        MCPError: the address is none of ours.
        NotFoundError: there is no such document, persona or council.
        UsageError: the name fits several, or their configuration cannot be used.
    """
    address = uri.partition("#")[0]  # a place in it, as search gives
    if address.startswith(DOCUMENTS):
        found = _document(library, address.removeprefix(DOCUMENTS))
    elif address.startswith(PERSONAS):
        found = _persona(library, library.personas.load(address.removeprefix(PERSONAS)))
    elif address.startswith(COUNCILS):
        found = _council(library, library.councils.load(address.removeprefix(COUNCILS)))
    else:
        raise MCPError(
            INVALID_PARAMS, f"There is no resource '{sanitise_line(uri)[:200]}'.", {"uri": uri}
        )
    contents = TextResourceContents(
        uri=uri, mime_type=_MARKDOWN, text=found.text, _meta=found.known or None
    )
    return ReadResourceResult(contents=[contents])


def _behind(library: Library, last: str) -> Iterator[Resource]:
    if last < COUNCILS or last.startswith(COUNCILS):
        for slug in library.councils.names():
            if f"{COUNCILS}{slug}" > last:
                yield _named(f"{COUNCILS}{slug}", slug, "A council.")
    if not last.startswith(PERSONAS):
        for document in library.documents.list():
            if f"{DOCUMENTS}{document.id}" > last:
                yield _listed(document)
    for slug in library.personas.names():
        if f"{PERSONAS}{slug}" > last:
            yield _named(f"{PERSONAS}{slug}", slug, "A persona.")


def _named(uri: str, slug: str, description: str) -> Resource:
    return Resource(uri=uri, name=slug, description=description, mime_type=_MARKDOWN)


def _listed(document: Document) -> Resource:
    characters = f"{document.characters:,} characters"
    return Resource(
        uri=f"{DOCUMENTS}{document.id}",
        name=document.id,
        title=title_of(document),
        description=f"A document of the format {document.format}, {characters}.",
        mime_type=_MARKDOWN,
    )


def _document(library: Library, name: str) -> _Text:
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
    return _Text(text[:LONGEST], known)


def _persona(library: Library, folder: PersonaFolder) -> _Text:
    persona = folder.persona
    lines = [f"# {persona.display_name}", ""]
    lines += [persona.expertise, ""] if persona.expertise else []
    lines += [f"- Ask them as `{folder.slug}`."]
    lines += [f"- They know about: {', '.join(persona.tags)}."] if persona.tags else []
    lines += [f"- They read the shelves: {', '.join(persona.reads)}."]
    lines += [f"- Documents of their own: {library.personas.census(folder.slug).documents}."]
    lines += ["", persona.prose.strip()] if persona.prose.strip() else []
    return _Text("\n".join(lines) + "\n", {})


def _council(library: Library, folder: CouncilFolder) -> _Text:
    council = folder.council
    lines = [f"# {council.title}", ""]
    lines += [council.purpose, ""] if council.purpose else []
    lines += [f"- Convene it as `{folder.slug}`."]
    lines += [f"- Members: {', '.join(member.key for member in council.members)}."]
    lines += [f"- Rounds: {', '.join(held.name for held in council.rounds)}."]
    lines += [f"- Presides: {council.chaired_by.key}."] if council.chaired_by else []
    lines += [f"- To decide between: {', '.join(council.options)}."] if council.options else []
    lines += [f"- Documents that all share: {library.councils.census(folder.slug).documents}."]
    return _Text("\n".join(lines) + "\n", {})
