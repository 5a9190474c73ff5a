"""Documents by folder: listed, received, read again, removed."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlencode

from fastapi import Depends, Form, Query, Response
from pydantic import Field

from chapterhouse.council.meeting.memory import is_council_owner
from chapterhouse.errors import RejectedError
from chapterhouse.interfaces.api import documents, uploads
from chapterhouse.interfaces.api.documents import READ, WRITE
from chapterhouse.interfaces.api.limits import UploadForm
from chapterhouse.interfaces.api.routing import needs
from chapterhouse.interfaces.api.schemas import Body
from chapterhouse.interfaces.service import without_paths
from chapterhouse.interfaces.web.agents import free_slug
from chapterhouse.interfaces.web.frame import (
    SENT,
    Note,
    Visited,
    folder_name,
    is_partial,
    pages,
)
from chapterhouse.interfaces.web.jobs import list_address, list_values
from chapterhouse.library import Library
from chapterhouse.retrieval.rerank import tags_of
from chapterhouse.text.counting import counted
from chapterhouse.text.naming import given_name, natural_key
from chapterhouse.types import ListedFile, Listing, ListOrder, Status
from chapterhouse.types.access import AccessLevel

_MOST_FOLDERS: Final = 300  # that are shown in one
_MOST_CHOSEN: Final = 1_000
_ROWS: Final = 50  # more are loaded when the last is seen


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


@pages.get("/documents", openapi_extra=READ)
async def show_documents(visit: Visited, listing: Listed) -> Response:
    """Show the documents of a folder, and files that gave none, with what is filtered by."""
    is_part = is_partial(visit.request)

    def look(found: Library) -> dict[str, Any]:
        files, total = found.documents.listed(listing)
        values: dict[str, Any] = {"files": tuple(map(_shown, files)), "total": total}
        known = found.documents.by_ids(one.document_id for one in files if one.document_id)
        values["about"] = {name: [one.author, *sorted(tags_of(one))] for name, one in known.items()}
        if is_part:
            return values
        counts = found.documents.counts()
        every = found.documents.folders()
        folders = folders_in(listing.folder, every)
        if not listing.folder:  # a folder that was sent is found by its name at once
            folders = {**folders, **folders_in(SENT, every)}
        shelves = {name: n for name, n in counts["shelf"].items() if not is_council_owner(name)}
        return values | {"folders": folders, "counts": counts, "shelves": shelves}

    values = await visit.look(look)
    above = [str(one) for one in reversed(PurePath(listing.folder).parents[:-1])]
    values |= {"folder_name": folder_name, "above": above, "most_folders": _MOST_FOLDERS}
    values |= {"listing": listing, "listed_at": lambda **changes: address(listing, **changes)}
    part = "listed.html" if listing.offset else "results.html"
    return await visit.show(part if is_part else "library.html", values)


def _shown(file: ListedFile) -> ListedFile:
    return replace(file, sentence=without_paths(file.sentence))


def address(listing: Listing, **changes: Any) -> str:
    """Return where a listing is shown, changed so; from its beginning, unless that is changed."""
    changed = replace(replace(listing, offset=0), **changes)
    names = ("text", "folder", "shelf", "format", "status", "tag", "order", "offset")
    named = {name: getattr(changed, name) for name in names}
    query = {name: str(value) for name, value in named.items() if value and value != ListOrder.NAME}
    return f"/documents?{urlencode(query)}" if query else "/documents"


def folders_in(folder: str, counts: Mapping[str, int]) -> Mapping[str, int]:
    """Return the paths of the folders in one, with how many documents are in each and below."""
    start = f"{folder}/" if folder else ""
    found: Counter[str] = Counter()
    for path, number in counts.items():
        if path.startswith(start) and path:
            found[start + path.removeprefix(start).partition("/")[0]] += number
    return {path: found[path] for path in sorted(found, key=natural_key)}


# --- received -------------------------------------------------------------------------------------


@pages.post("/documents/upload", openapi_extra=WRITE)
async def upload(visit: Visited) -> Response:
    """Receive files and leave reading them to a job each."""
    jobs, refused = [], []
    async with visit.receiving() as begin:
        form = await UploadForm(visit.request, begin, is_page=True).read()
        for name, received in form.files:
            try:
                jobs.append(await uploads.receive(visit, form, name, received))
            except RejectedError as error:
                refused.append((name, error.message))
    if refused and not jobs:
        raise RejectedError("rejected", " ".join(sentence for _, sentence in refused))
    if refused or is_partial(visit.request):
        return await visit.show("jobs.html", list_values(jobs, refused))
    return visit.redirect(list_address(jobs))


# --- changed --------------------------------------------------------------------------------------


class ChosenForm(Body):
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


@pages.post("/documents/ask", openapi_extra=READ)
async def ask_chosen(visit: Visited, form: Annotated[ChosenForm, Form()]) -> Response:
    """Lead to where the chosen documents alone are asked."""
    if not form.document:
        return visit.redirect(form.list_address)
    return visit.redirect(f"/?{urlencode({'document': form.document}, doseq=True)}")


@pages.post("/documents/remove", openapi_extra=WRITE)
async def remove(visit: Visited, form: Annotated[ChosenForm, Form()]) -> Response:
    """Remove documents for good, once that is confirmed on a page of its own."""
    if not form.document:
        return visit.redirect(form.list_address)
    number, back = counted(len(form.document), "document"), form.list_address
    if not form.confirmed:
        found = [await documents.show(visit, one, Response()) for one in form.document]
        titles = [one.title or given_name(one.source) for one in found]
        fields = [("folder", form.folder), *(("document", one.id) for one in found)]
        meaning = (
            "Their text leaves the library, and so do the remembered answers that rest on it. Files"
            " in folders stay where they are."
        )
        title, does = f"Remove {number} for good?", "Remove for good"
        return await visit.show_note(Note(title, meaning, back, titles, does, fields))
    in_place: list[str] = []
    for place, one in enumerate(form.document, start=1):
        # The words of all of them leave the files at once, with the last.
        removal = await documents.remove(visit, one, prove=place == len(form.document))
        in_place += removal.in_place
    if not in_place:
        return visit.redirect(back)
    meaning = (
        "These files are where they were. If the library follows their folder, its next sync reads"
        " them."
    )
    return await visit.show_note(Note(f"{number} removed", meaning, back, in_place))


@pages.post("/documents/council", openapi_extra=needs(AccessLevel.ADMIN, whole=True))
async def make_council(visit: Visited, form: Annotated[ChosenForm, Form()]) -> Response:
    """Make a council with a member for each document, and lead to where it is asked."""
    if not form.document:
        return visit.redirect(form.list_address)

    def work(found: Library) -> str:
        wanted = [found.documents.by_id(one) for one in dict.fromkeys(form.document)]
        slug = free_slug(counted(len(wanted), "document"), found.councils.names(), "council")
        return found.councils.create_of(slug, wanted, display_name=slug.replace("-", " ")).slug

    made = await visit.change("councils.make", "of documents", work)
    return visit.redirect("/", who=f"council/{made}")


@pages.post("/documents/reprocess", openapi_extra=WRITE)
async def reprocess(visit: Visited, form: Annotated[ChosenForm, Form()]) -> Response:
    """Leave reading documents again to a job."""
    if not form.document:
        return visit.redirect(form.list_address)
    job = await documents.reprocess_all(visit, form.document)
    return visit.redirect(f"/jobs/{job.id}")
