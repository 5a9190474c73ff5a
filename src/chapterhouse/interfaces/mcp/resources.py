"""Documents, personas and councils as resources: listed page by page, and as templates."""

from collections.abc import Iterable, Iterator
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

from chapterhouse.agents.council import CouncilFolder
from chapterhouse.agents.persona import PersonaFolder
from chapterhouse.interfaces.mcp.calls import DOCUMENTS, document_of, title_of
from chapterhouse.library import Library
from chapterhouse.text.sanitise import sanitise_line

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


def page(library: Library, cursor: str | None) -> ListResourcesResult:
    """Return the resources behind ``cursor``: councils, then documents, then personas.

    Within each they come in order of name, so that what is added or removed meanwhile moves no
    other from page to page.
    """
    if cursor is not None and not cursor.startswith((COUNCILS, DOCUMENTS, PERSONAS)):
        raise MCPError(INVALID_PARAMS, "The cursor is not one that a list of resources gave.")
    found = list(islice(_behind(library, cursor or ""), LISTED + 1))
    more = found[LISTED - 1].uri if len(found) > LISTED else None
    return ListResourcesResult(resources=found[:LISTED], next_cursor=more)


def read(library: Library, uri: str) -> ReadResourceResult:
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
