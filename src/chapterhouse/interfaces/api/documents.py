"""Documents over HTTP: received, listed, read, searched, removed."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Annotated, Any, Final, Literal
from urllib.parse import quote

from fastapi import Header, Query, Response
from fastapi.responses import RedirectResponse

from chapterhouse.chunking.build import formats_of
from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.interfaces.api.problems import Refusal, problem_responses
from chapterhouse.interfaces.api.routing import Caller, needs, router
from chapterhouse.interfaces.api.schemas import (
    ContentResult,
    ContextBody,
    ContextResult,
    DocumentPage,
    ExcerptResult,
    RemovalResult,
    SearchBody,
    ShelvesBody,
    TextBody,
)
from chapterhouse.interfaces.api.state import Exchange, Exchanged
from chapterhouse.interfaces.service import public_lines, without_paths
from chapterhouse.interfaces.values import (
    PublicDocument,
    PublicSearch,
    public_document,
    public_file_search,
    public_search,
)
from chapterhouse.library import Library
from chapterhouse.retrieval.rerank import tags_of
from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.types import (
    DEFAULT_SHELF,
    Document,
    Excerpt,
    Job,
    Listing,
    Status,
)
from chapterhouse.types.access import AccessLevel

READ: Final = needs(AccessLevel.READ)
WRITE: Final = needs(AccessLevel.WRITE)
_MOST: Final = 500
_COMPLETED: Final = "completed"  # how others call it that a document is there
_WITH_DOCUMENT: Final = frozenset({Status.READY, Status.PARTIAL})
_NAMED: Final = 20  # documents, in the audit log
documents: Final = router("/api/documents", "documents")


@documents.post("/text", status_code=201, openapi_extra=WRITE)
async def add_text(exchange: Exchanged, body: TextBody) -> PublicDocument:
    """Store a text that is in no file; the same again changes nothing."""
    shelf = shelf_for(exchange.caller, body.shelf)

    def add(library: Library) -> PublicDocument:
        report = library.documents.add_text(body.text, title=body.title, shelf=shelf)
        record = report.outcomes[0].record
        if not record.document_id:
            raise UsageError(f"The text was not read: {record.sentence}")
        return shown_to(library.documents.by_id(record.document_id), exchange)

    return await exchange.change("document.text", shelf, add)


@documents.get("", openapi_extra=READ)
async def list_documents(
    exchange: Exchanged,
    status: Annotated[
        Literal["ready", "partial", "skipped", "rejected", "failed", "quarantined", "completed"]
        | None,
        Query(description="completed: ready or partial. Of all others, files are listed."),
    ] = None,
    format_: Annotated[str, Query(alias="format", max_length=40)] = "",
    file_type: Annotated[
        str, Query(max_length=40, description="An extension, as md, or a format.")
    ] = "",
    shelf: Annotated[str, Query(max_length=100)] = "",
    tag: Annotated[str, Query(max_length=100)] = "",
    since: Annotated[int, Query(ge=0, description="Modified then or later, in seconds.")] = 0,
    before: Annotated[int, Query(ge=0, description="Modified before, in seconds.")] = 2**53,
    text: Annotated[str, Query(max_length=200, description="In title, source or author.")] = "",
    cursor: Annotated[str, Query(max_length=500)] = "",
    limit: Annotated[int, Query(ge=1, le=_MOST)] = 100,
) -> DocumentPage:
    """List documents in order of id, page by page; `files` are those that gave none.

    Files are listed with a `status` that only they have, as `rejected`, to who sees everything.
    """
    kind = file_type.removeprefix(".").lower()

    def fits(document: Document) -> bool:
        return (
            status in (None, _COMPLETED, document.status)
            and format_ in ("", document.format)
            and (not kind or kind in formats_of(document.source, document.format))
            and (not tag or tag in tags_of(document))
            and since <= document.modified < before
        )

    def page(library: Library) -> DocumentPage:
        if status and status != _COMPLETED and status not in _WITH_DOCUMENT:
            return _page_of_files(
                library, Listing(text, "", shelf, format_ or kind, Status(status)), cursor, limit
            )
        found = library.documents.list([shelf] if shelf else None, after=cursor, text=text)
        fitting = tuple(islice(filter(fits, found), limit + 1))
        following = fitting[limit - 1].id if len(fitting) > limit else ""
        shown = tuple(shown_to(one, exchange) for one in fitting[:limit])
        return DocumentPage(documents=shown, next=following)

    return await exchange.look(page)


def _page_of_files(library: Library, listing: Listing, cursor: str, limit: int) -> DocumentPage:
    if cursor and not (cursor.isascii() and cursor.isdigit()):
        raise UsageError("The cursor is not one that a list with this status gave.")
    begin = int(cursor or 0)
    files, total = library.documents.listed(replace(listing, limit=limit, offset=begin))
    shown = tuple(replace(one, sentence=without_paths(one.sentence)) for one in files)
    following = str(begin + limit) if begin + limit < total else ""
    return DocumentPage(documents=(), files=shown, next=following)


@documents.post("/search", openapi_extra=READ)
async def search(exchange: Exchanged, body: SearchBody) -> PublicSearch:
    """Find passages, best first."""
    found = await exchange.look(
        lambda library: library.search.hits(
            body.query,
            shelves=body.shelves or None,
            limit=body.limit,
            per_document=body.per_document,
            tags=body.tags,
            documents=body.documents,
        )
    )
    return public_search(found, _known_shelves(exchange))


@documents.post("/context", openapi_extra=READ)
async def context(exchange: Exchanged, body: ContextBody) -> ContextResult:
    """Pack what the documents say on a question into a number of tokens."""
    found = await exchange.look(
        lambda library: library.search.context(
            body.question,
            maximum=body.max_tokens,
            purpose=body.purpose,
            shelves=body.shelves or None,
            tags=body.tags,
            documents=body.documents,
        )
    )
    return ContextResult(
        question=found.question,
        tokens=found.tokens,
        maximum=found.maximum,
        markdown=found.markdown,
        diversity=found.diversity,
        information_gain=found.information_gain,
        excerpts=tuple(map(_excerpt, found.excerpts)),
        sources=found.sources,
        candidates=len(found.candidates),
        warnings=public_lines(found.warnings),
    )


def _excerpt(one: Excerpt) -> ExcerptResult:
    document = one.hit.document
    return ExcerptResult(
        document_id=document.id,
        source=sanitise_line(document.source),
        chunk_id=one.hit.chunk.id,
        rank=one.hit.rank,
        start=one.start,
        end=one.end,
        text=one.text,
        tokens=one.tokens,
        relevance=one.relevance,
    )


@documents.get("/{document_id}", openapi_extra=READ, responses=problem_responses(304))
async def show(
    exchange: Exchanged,
    document_id: str,
    response: Response,
    if_none_match: Annotated[str, Header()] = "",
) -> PublicDocument:
    """Show a document without its text."""
    shown = await exchange.look(
        lambda library: shown_to(library.documents.by_id(document_id), exchange)
    )
    tag = _tag(shown)
    if tag in _tags(if_none_match):
        raise Refusal(304, "It has not changed.", headers={"ETag": tag})
    response.headers["ETag"] = tag
    return shown


@documents.get(
    "/{document_id}/content",
    openapi_extra=READ,
    response_model=ContentResult,
    responses={
        200: {"content": {"application/octet-stream": {}}},
        307: {"description": "Where the file is for five minutes."},
    },
)
async def content(
    exchange: Exchanged,
    document_id: str,
    original: Annotated[bool, Query(description="The file itself, as it was read.")] = False,
    redirect: Annotated[
        bool, Query(description="Answer with the file's address where it is in object storage.")
    ] = False,
) -> ContentResult | Response:
    """Return the text of a document, or the file that it was read from."""
    document = await exchange.look(lambda library: library.documents.by_id(document_id))
    if original and redirect:
        link = await exchange.look(lambda library: library.documents.original_link(document_id))
        if link:
            return RedirectResponse(link)
    # As text it is there twice for a moment.
    exchange.caller.expect(document.size if original else 2 * document.characters)
    if original:
        data = await exchange.look(lambda library: library.documents.original(document_id))
        return _download(document.source.rpartition("/")[2], data)
    body = await exchange.look(lambda library: library.documents.body(document_id))
    return ContentResult(
        id=document.id, text=body.text, text_sha256=document.text_sha256, sections=body.sections
    )


@documents.put("/{document_id}/shelves", openapi_extra=WRITE)
async def set_shelves(exchange: Exchanged, document_id: str, body: ShelvesBody) -> PublicDocument:
    """Say on which shelves a document is, and so who may see it."""
    for shelf in body.shelves:
        require_shelf(exchange.caller, shelf)

    def change(library: Library) -> PublicDocument:
        document = _require_own(library, document_id, exchange.caller)
        own = exchange.caller.grant.shelves or ()
        hidden = () if exchange.caller.grant.is_whole else set(document.shelves).difference(own)
        shelves = (*body.shelves, *hidden)
        return shown_to(library.documents.set_shelves(document_id, shelves), exchange)

    return await exchange.change("document.shelves", _unnamed(document_id), change)


@documents.delete("/{document_id}", openapi_extra=WRITE, responses=problem_responses(412))
async def remove(
    exchange: Exchanged,
    document_id: str,
    if_match: Annotated[str, Header()] = "",
    prove: Annotated[
        bool, Query(description="Take its words out of all files at once, and search for them.")
    ] = True,
) -> RemovalResult:
    """Remove a document for good, and search every file of the library for it."""

    def work(library: Library) -> RemovalResult:
        document = _require_own(library, document_id, exchange.caller)
        if if_match and _tag(shown_to(document, exchange)) not in _tags(if_match):
            raise Refusal(412, "The document has changed since.")
        grant = exchange.caller.grant
        shelves = document.shelves if grant.is_whole else grant.shelves or ()
        removal = library.documents.take_off(document.id, shelves, prove=prove)
        return RemovalResult(
            state=removal.state,
            documents=tuple(shown_to(one, exchange) for one in removal.documents),
            in_place=tuple(one.source for one in library.documents.in_place(removal.documents)),
            search=public_file_search(removal.search, is_whole=grant.is_whole),
        )

    return await exchange.change("document.remove", _unnamed(document_id), work)


@documents.post("/{document_id}/reprocess", status_code=202, openapi_extra=WRITE)
async def reprocess(exchange: Exchanged, document_id: str) -> Job:
    """Leave reading a document again to a job."""
    return await reprocess_all(exchange, (document_id,))


async def reprocess_all(exchange: Exchange, document_ids: Sequence[str]) -> Job:
    """Leave reading documents again to one job."""

    def order(library: Library) -> Job:
        for document_id in document_ids:
            _require_own(library, document_id, exchange.caller)
        return library.documents.reprocess_later(*document_ids)

    target = " ".join(map(_unnamed, document_ids[:_NAMED]))
    return await exchange.order("document.reprocess", target, order)


# --- who may, and what they see -------------------------------------------------------------------


def shelf_for(caller: Caller, shelf: str) -> str:
    """Return the shelf that a document is to be put on; empty for where it is, or the usual one.

    Who is limited to shelves always puts it on one: nobody else may let them see it. Where they
    have but one, it need not be named.
    """
    own = caller.grant.shelves or ()
    if not shelf and len(own) > 1:
        raise Refusal(422, f"The key is for several shelves. Name one of them: {', '.join(own)}.")
    if not shelf and not caller.grant.is_whole:
        shelf = own[0] if own else DEFAULT_SHELF
    if shelf:
        require_shelf(caller, shelf)
    return shelf


def require_shelf(caller: Caller, shelf: str) -> None:
    """See that a caller may put documents on a shelf."""
    shelves = caller.grant.shelves
    if not caller.grant.is_whole and shelf not in (shelves or ()):
        raise NotFoundError(f"There is no shelf '{shelf[:100]}'.")


def _require_own(library: Library, document_id: str, caller: Caller) -> Document:
    """Return a document that is on a shelf of the caller."""
    document = library.documents.by_id(document_id)
    if caller.grant.is_whole:
        return document
    if set(caller.grant.shelves or ()).isdisjoint(document.shelves):
        raise NotFoundError(f"There is no document '{document_id}'.")
    return document


def shown_to(document: Document, exchange: Exchange) -> PublicDocument:
    """Return a document as a caller may see it."""
    return public_document(document, _known_shelves(exchange))


def _known_shelves(exchange: Exchange) -> tuple[str, ...] | None:
    grant = exchange.caller.grant
    return None if grant.is_whole else grant.shelves or ()


# --- results --------------------------------------------------------------------------------------


def _download(name: str, data: bytes) -> Response:
    """Return a file as something that a browser saves and never shows or runs."""
    return Response(
        data,
        media_type="application/octet-stream",
        headers={
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}",
            "Content-Security-Policy": "default-src 'none'; sandbox",
        },
    )


def _unnamed(document_id: str) -> str:
    """Return the end of an id for the audit log: its beginning is made of the file's name."""
    return document_id[-8:]


def _tag(document: PublicDocument) -> str:
    """Return a document's entity tag: another one when anything that is shown of it changes."""
    return f'"{document.text_sha256[:16]}-{document.ingested:x}-{"+".join(document.shelves)}"'


def _tags(header: str) -> Iterator[Any]:
    return (one.strip().removeprefix("W/") for one in header.split(","))
