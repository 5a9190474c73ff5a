"""A document on the page: its text at a passage, its pages, its chunks, its versions."""

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal
from urllib.parse import quote

from fastapi import Query, Request, Response

from chapterhouse.interfaces.api import documents as operations
from chapterhouse.interfaces.api.routing import needs
from chapterhouse.interfaces.api.state import Exchange, Exchanged
from chapterhouse.interfaces.values import PublicDocument
from chapterhouse.interfaces.web.frame import is_partial, page_router, show
from chapterhouse.library import Library
from chapterhouse.presenting.document_view import view_document
from chapterhouse.types import Body, Chunk, Range
from chapterhouse.types.access import AccessLevel

READ: Final = needs(AccessLevel.READ)
_CHUNKS: Final = 50  # that are shown at once
_VERSIONS: Final = 50
_WORDS: Final = 200  # characters that a list is searched for, at most
Offset = Annotated[int, Query(ge=0, le=2**40)]
View = Literal["text", "pages", "chunks", "versions"]

documents: Final = page_router("/documents")


@documents.get("/{document_id}", openapi_extra=READ)
async def show_document(
    request: Request,
    exchange: Exchanged,
    document_id: str,
    start: Annotated[int, Query(alias="from", ge=0, le=2**40)] = 0,
    end: Annotated[int, Query(alias="to", ge=0, le=2**40)] = 0,
    begin: Offset | None = None,
    view: View | None = None,
    page: Annotated[int, Query(ge=1, le=10**6)] | None = None,
) -> Response:
    """Show a document at a passage, which is marked; beside what is read where a script asks."""
    document = await operations.show(exchange, document_id, Response())
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
        **(
            await _versions(exchange, document)
            if chosen == "versions"
            else await exchange.look(look)
        ),
        "document": document,
        "chosen": chosen,
        "span": span,
        "base": f"/documents/{quote(document.id, safe='')}",
        "has_pages": document.format == "pdf",
    }
    name = "source.html" if is_partial(request) else "document.html"
    return await show(request, exchange, name, values)


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


async def _versions(exchange: Exchange, document: PublicDocument) -> dict[str, Any]:
    """Return the documents of the same title or file name, the newest first."""
    file = document.source.rpartition("/")[2]
    found: dict[str, PublicDocument] = {}
    for text in filter(None, {document.title, file}):
        listed = await operations.list_documents(exchange, text=text[:_WORDS], limit=_VERSIONS)
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
    """Return a page, with rectangles over what of a passage was found whole on it."""
    places = library.documents.locate(document_id, *span) if span[0] < span[1] else ()
    number = page or next((one.page for one in places), 1)
    place = next((one for one in places if one.page == number), None)
    label = next((one.label for one in body.pages if one.number == number), "")
    rectangles = [
        {"x": left, "y": top, "width": right - left, "height": bottom - top}
        for left, top, right, bottom in (place.rectangles if place else ())
    ]
    return {
        "page": {"number": number, "label": label, "count": len(body.pages)},
        "rectangles": rectangles,
        "reason": place.reason if place else "",
        "passage": body.text[span[0] : span[1]] if place else "",
        "others": [one.page for one in places if one.page != number],
    }


@documents.get("/{document_id}/pages/{number}.png", openapi_extra=READ)
async def show_page(exchange: Exchanged, document_id: str, number: int) -> Response:
    """Return a page of a PDF as an image; another content has another document or text."""
    image = await exchange.look_long(
        lambda library: library.documents.page_image(document_id, number)
    )
    return Response(image, media_type="image/png", headers={"Cache-Control": "private, no-cache"})


@documents.get("/{document_id}/original", openapi_extra=READ)
async def download(exchange: Exchanged, document_id: str) -> Response:
    """Return the file that a document was read from, to be saved and never shown."""
    answer = await operations.content(exchange, document_id, original=True)
    assert isinstance(answer, Response)
    return answer
