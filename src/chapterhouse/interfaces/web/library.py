"""Documents by folder: listed, received, read again, removed."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlencode

from fastapi import Depends, Form, Query, Request, Response
from pydantic import Field

from chapterhouse.errors import RejectedError
from chapterhouse.interfaces.api import documents
from chapterhouse.interfaces.api.documents import READ, WRITE
from chapterhouse.interfaces.api.door import require_token
from chapterhouse.interfaces.api.limits import UploadForm
from chapterhouse.interfaces.api.routing import CSRF, GuardedRoute
from chapterhouse.interfaces.api.state import Exchanged
from chapterhouse.interfaces.service import without_paths
from chapterhouse.interfaces.web.frame import (
    PageForm,
    is_partial,
    page_router,
    redirect,
    show,
)
from chapterhouse.interfaces.web.jobs import list_address, list_values
from chapterhouse.library import Library
from chapterhouse.types import ListedFile, Listing, ListOrder, Status

_MOST_FOLDERS: Final = 300  # that are shown in one
_MOST_CHOSEN: Final = 1_000
_ROWS: Final = 100

library: Final = page_router()


# --- which there are ------------------------------------------------------------------------------


def _listing(
    text: Annotated[str, Query(max_length=200)] = "",
    folder: Annotated[str, Query(max_length=4_000)] = "",
    shelf: Annotated[str, Query(max_length=100)] = "",
    format_: Annotated[str, Query(alias="format", max_length=40)] = "",
    status: Annotated[Literal[""] | Status, Query()] = "",
    tag: Annotated[str, Query(max_length=100)] = "",
    order: ListOrder = ListOrder.NAME,
    offset: Annotated[int, Query(ge=0, le=10**7)] = 0,
) -> Listing:
    """Return which documents an address asks for."""
    return Listing(
        text=text,
        folder=folder.strip("/"),
        shelf=shelf,
        format=format_,
        status=status or None,
        tag=tag,
        order=order,
        limit=_ROWS,
        offset=offset,
    )


Listed = Annotated[Listing, Depends(_listing)]


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """A folder in the tree: how many documents are in it and below; its own folders where open."""

    path: str
    name: str
    documents: int
    folders: tuple["FolderEntry", ...] = ()
    more: int = 0  # folders in it that are not shown


@library.get("/documents", openapi_extra=READ)
async def show_documents(request: Request, exchange: Exchanged, listing: Listed) -> Response:
    """Show the documents of a folder, and files that gave none, with what is filtered by."""
    is_part = is_partial(request)

    def look(found: Library) -> dict[str, Any]:
        files, total = found.documents.listed(listing)
        values: dict[str, Any] = {"files": tuple(map(_shown, files)), "total": total}
        if is_part:
            return values
        tree = folder_tree(found.documents.folders(), listing.folder)
        return values | {"tree": tree, "counts": found.documents.counts()}

    values = await exchange.look(look)
    values |= {"listing": listing, "listed_at": lambda **changes: address(listing, **changes)}
    part = "listed.html" if listing.offset else "results.html"
    return await show(request, exchange, part if is_part else "library.html", values)


def _shown(file: ListedFile) -> ListedFile:
    return replace(file, sentence=without_paths(file.sentence))


def address(listing: Listing, **changes: Any) -> str:
    """Return where a listing is shown, changed so; from its beginning, unless that is changed."""
    changed = replace(replace(listing, offset=0), **changes)
    names = ("text", "folder", "shelf", "format", "status", "tag", "order", "offset")
    named = {name: getattr(changed, name) for name in names}
    query = {name: str(value) for name, value in named.items() if value and value != ListOrder.NAME}
    return f"/documents?{urlencode(query)}" if query else "/documents"


def folder_tree(counts: Mapping[str, int], chosen: str) -> FolderEntry:
    """Return the folders down to the chosen one, and those in it, of how many each has itself."""
    totals: Counter[str] = Counter()
    inside: dict[str, set[str]] = {}
    for folder, number in counts.items():
        path = folder
        while path:
            totals[path] += number
            above = path.rpartition("/")[0]
            inside.setdefault(above, set()).add(path)
            path = above

    def entry(path: str) -> FolderEntry:
        is_open = not path or f"{chosen}/".startswith(f"{path}/")
        below = sorted(inside.get(path, ())) if is_open else []
        shown = below[:_MOST_FOLDERS]
        shown += [one for one in below[_MOST_FOLDERS:] if f"{chosen}/".startswith(f"{one}/")]
        own = tuple(map(entry, shown))
        return FolderEntry(
            path, path.rpartition("/")[2], totals[path], own, len(below) - len(shown)
        )

    return replace(entry(""), documents=sum(counts.values()))


# --- received -------------------------------------------------------------------------------------


async def upload(request: Request, exchange: Exchanged) -> Response:
    """Receive files and leave reading them to a job each.

    Its token is looked for here: the form is not read before it is known where its files go.
    """
    caller, jobs, refused = exchange.caller, [], []
    async with exchange.receiving() as begin:
        form = await UploadForm(request, begin, is_page=True).read()
        if caller.csrf:
            require_token(request.headers.get(CSRF, "") or form.csrf, caller.csrf)
        for name, received in form.files:
            try:
                jobs.append(await documents.receive(exchange, form, name, received))
            except RejectedError as error:
                refused.append((name, error.message))
    if refused and not jobs:
        raise RejectedError("rejected", " ".join(sentence for _, sentence in refused))
    if refused or is_partial(request):
        return await show(request, exchange, "jobs.html", list_values(jobs, refused))
    return redirect(request, list_address(jobs))


# Not as a route of a page: that would have the whole form read for the token, before the level.
library.add_api_route(
    "/documents/upload",
    upload,
    methods=["POST"],
    openapi_extra=WRITE,
    route_class_override=GuardedRoute,
)


# --- changed --------------------------------------------------------------------------------------


class ChosenForm(PageForm):
    """Documents that were chosen in a list, and where to go back to."""

    document: Annotated[
        tuple[Annotated[str, Field(max_length=500)], ...], Field(max_length=_MOST_CHOSEN)
    ] = ()
    folder: str = Field(default="", max_length=4_000)
    confirmed: Literal["", "yes"] = ""

    @property
    def list_address(self) -> str:
        """Where the list is that they were chosen in."""
        return address(Listing(folder=self.folder))


@library.post("/documents/remove", openapi_extra=WRITE)
async def remove(
    request: Request, exchange: Exchanged, form: Annotated[ChosenForm, Form()]
) -> Response:
    """Remove documents for good, once that is confirmed on a page of its own."""
    if not form.document:
        return redirect(request, form.list_address)
    if not form.confirmed:
        found = [await documents.show(exchange, one, Response()) for one in form.document]
        return await show(request, exchange, "remove.html", {"documents": found, "form": form})
    in_place: list[str] = []
    for number, one in enumerate(form.document, start=1):
        # The words of all of them leave the files at once, with the last.
        removal = await documents.remove(exchange, one, prove=number == len(form.document))
        in_place += removal.in_place
    if not in_place:
        return redirect(request, form.list_address)
    return await show(request, exchange, "remove.html", {"in_place": in_place, "form": form})


@library.post("/documents/reprocess", openapi_extra=WRITE)
async def reprocess(
    request: Request, exchange: Exchanged, form: Annotated[ChosenForm, Form()]
) -> Response:
    """Leave reading documents again to a job."""
    if not form.document:
        return redirect(request, form.list_address)
    job = await documents.reprocess_all(exchange, form.document)
    return redirect(request, f"/jobs/{job.id}")
