"""A document on the page: its text at a passage, pages, chunks, versions; and who is named."""

import math
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final, Literal
from urllib.parse import quote

from fastapi import Query, Response

from chapterhouse.interfaces.api import documents as operations
from chapterhouse.interfaces.api import graph
from chapterhouse.interfaces.api.routing import needs
from chapterhouse.interfaces.values import PublicDocument
from chapterhouse.interfaces.web.frame import Visit, Visited, is_partial, pages
from chapterhouse.library import Library
from chapterhouse.presenting.document_view import quotation_view, view_document
from chapterhouse.types import Body, Chunk, Range
from chapterhouse.types.access import AccessLevel
from chapterhouse.types.graph import EntityKind, EntityPage, RelatedEntity

READ: Final = needs(AccessLevel.READ)
_CHUNKS: Final = 50  # that are shown at once
_VERSIONS: Final = 50
_WORDS: Final = 200  # characters that a list is searched for, at most
_ENTITIES: Final = 200
_SENTENCES: Final = 50
_NAMING: Final = 5  # documents that name an entity most, as they are listed
_AROUND: Final = 16  # entities that are drawn about one
_WIDTH, _HEIGHT, _REACH = 640, 360, 140  # of the drawing
_FAR: Final = 1.6  # as many times as high as it is wide
Offset = Annotated[int, Query(ge=0, le=2**40)]
View = Literal["text", "pages", "chunks", "versions"]


@pages.get("/documents/{document_id}", openapi_extra=READ)
async def show_document(
    visit: Visited,
    document_id: str,
    start: Annotated[int, Query(alias="from", ge=0, le=2**40)] = 0,
    end: Annotated[int, Query(alias="to", ge=0, le=2**40)] = 0,
    begin: Offset | None = None,
    view: View | None = None,
    page: Annotated[int, Query(ge=1, le=10**6)] | None = None,
) -> Response:
    """Show a document at a passage, which is marked; beside what is read where a script asks."""
    document = await operations.show(visit, document_id, Response())
    chosen = view or ("pages" if document.format == "pdf" and end else "text")
    span = (start, end)

    def look(library: Library) -> dict[str, Any]:
        body = library.documents.body(document_id)
        match chosen:
            case "text":
                return {"view": view_document(body, document.format, span, begin=begin)}
            case "chunks":
                return _chunks(library.documents.chunks(document_id), begin or 0)
            case _:
                return _pages(library, document_id, body, span, page)

    values = {
        **(await _versions(visit, document) if chosen == "versions" else await visit.look(look)),
        "document": document,
        "chosen": chosen,
        "span": span,
        "base": f"/documents/{quote(document.id, safe='')}",
        "has_pages": document.format == "pdf",
    }
    name = "source.html" if is_partial(visit.request) else "document.html"
    return await visit.show(name, values)


def _chunks(chunks: Sequence[Chunk], first: int) -> dict[str, Any]:
    """Return chunks with the part that each shares with the one before."""
    shown = chunks[first : first + _CHUNKS]
    before = chunks[first - 1].end if first else 0
    rows = []
    for one in shown:
        shared = max(0, min(before, one.end) - one.start)
        rows.append((one, one.text[:shared], one.text[shared:]))
        before = max(before, one.end)
    following = first + _CHUNKS
    return {
        "chunks": rows,
        "earlier": max(0, first - _CHUNKS) if first else None,
        "later": following if following < len(chunks) else None,
    }


async def _versions(visit: Visit, document: PublicDocument) -> dict[str, Any]:
    """Return the documents of the same title or file name, the newest first."""
    file = document.source.rpartition("/")[2]
    found: dict[str, PublicDocument] = {}
    for text in filter(None, {document.title, file}):
        listed = await operations.list_documents(visit, text=text[:_WORDS], limit=_VERSIONS)
        found |= {one.id: one for one in listed.documents}
    alike = [
        one
        for one in found.values()
        if one.id != document.id
        and (one.title == document.title or one.source.rpartition("/")[2] == file)
    ]
    return {"versions": sorted(alike, key=lambda one: (-one.modified, one.id))}


def _pages(
    library: Library, document_id: str, body: Body, span: Range, page: int | None
) -> dict[str, Any]:
    """Return a page, and on which ones a passage is: with rectangles where it was found whole."""
    places = library.documents.locate(document_id, *span) if span[0] < span[1] else ()
    number = page or next((one.page for one in places), 1)
    return {
        "number": number,
        "label": next((one.label for one in body.pages if one.number == number), ""),
        "total": len(body.pages),
        "places": places,
        "passage": quotation_view(body.text[slice(*span)], "pdf"),
    }


@pages.get("/documents/{document_id}/pages/{number}.png", openapi_extra=READ)
async def show_page(
    visit: Visited, document_id: str, number: int, of: Annotated[str, Query(max_length=64)] = ""
) -> Response:
    """Return a page of a PDF as an image, which lasts where its address says of which content."""

    def look(library: Library) -> tuple[bytes, bool]:
        image = library.documents.page_image(document_id, number)
        return image, bool(of) and library.documents.by_id(document_id).sha256.startswith(of)

    image, lasts = await visit.look_long(look)
    headers = {"Cache-Control": "private, max-age=86400" if lasts else "private, no-cache"}
    return Response(image, media_type="image/png", headers=headers)


@pages.get("/documents/{document_id}/original", openapi_extra=READ)
async def download(visit: Visited, document_id: str) -> Response:
    """Return the file that a document was read from, to be saved and never shown."""
    answer = await operations.content(visit, document_id, original=True)
    assert isinstance(answer, Response)
    return answer


# --- who and what they speak of ------------------------------------------------------------------


@pages.get("/graph", openapi_extra=graph.READ)
async def show_entities(
    visit: Visited,
    text: Annotated[str, Query(max_length=200)] = "",
    kind: Annotated[str, Query(max_length=20)] = "",
) -> Response:
    """Show people, organizations, places and things, those that most documents name first."""
    chosen = EntityKind(kind) if kind in set(EntityKind) else None
    found = await graph.list_entities(visit, text, chosen, _ENTITIES, 0)
    values = {"found": found, "text": text, "kind": kind, "kinds": list(EntityKind)}
    return await visit.show("graph.html", values)


@pages.get("/graph/entity", openapi_extra=graph.READ)
async def show_entity(visit: Visited, name: graph.Name) -> Response:
    """Show the sentences that name somebody or something, and whom it stands with."""
    found = await graph.show_entity(visit, name, _SENTENCES, _AROUND, _NAMING)
    return await visit.show("entity.html", {"found": found, "drawn": list(_drawn(found))})


def _drawn(found: EntityPage) -> Iterator[tuple[RelatedEntity, float, float, float]]:
    """Yield the related entities around the one in the middle: x and y in pixels, line width."""
    for number, one in enumerate(found.related):
        angle = 2 * math.pi * number / len(found.related) - math.pi / 2
        x = round(_WIDTH / 2 + _FAR * _REACH * math.cos(angle), 1)
        y = round(_HEIGHT / 2 + _REACH * math.sin(angle), 1)
        yield one, x, y, round(1 + math.log(one.together), 1)
