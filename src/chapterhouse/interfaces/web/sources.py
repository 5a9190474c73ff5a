"""Sources on the page: folders of the server, cloud drives and lists of web pages."""

from pathlib import PurePath
from typing import Annotated, Any, Final, Literal

from fastapi import Form, Query, Request, Response
from pydantic import Field

from chapterhouse.interfaces.api import sources as api
from chapterhouse.interfaces.api.schemas import MaybeShelf, Names
from chapterhouse.interfaces.api.sources import CloudSyncBody, SourceBody
from chapterhouse.interfaces.api.state import Exchanged
from chapterhouse.interfaces.web.frame import PageForm, page_router, redirect, show

Place = Annotated[str, Query(max_length=4_000)]

sources: Final = page_router()


@sources.get("/sources", openapi_extra=api.READ)
async def show_sources(request: Request, exchange: Exchanged) -> Response:
    """Show the sources: their state, when they were synced, what is wrong with them."""
    found = await api.list_sources(exchange)
    return await show(request, exchange, "sources.html", {"sources": found.sources})


class SourceForm(PageForm):
    """A folder, a list of web pages or a folder of a drive that is to be followed."""

    location: str = Field(min_length=1, max_length=4_000)
    shelf: MaybeShelf = ""
    exclude: str = Field(default="", max_length=5_000)

    @property
    def patterns(self) -> Names:
        """What is not to be read, a pattern a line."""
        return tuple(filter(None, map(str.strip, self.exclude.splitlines())))


@sources.post("/sources", openapi_extra=api.MACHINE)
async def add(
    request: Request, exchange: Exchanged, form: Annotated[SourceForm, Form()]
) -> Response:
    """Follow a source, and leave reading what is in it to a job."""
    body = SourceBody(location=form.location, shelf=form.shelf, exclude=form.patterns)
    source = await api.add_source(exchange, body)
    job = await api.sync_one(exchange, source.name)
    return redirect(request, f"/jobs/{job.id}")


class SyncForm(PageForm):
    """Which source, all where none is named; and whether many documents may leave at once."""

    name: str = Field(default="", max_length=200)
    confirmed: Literal["", "yes"] = ""


@sources.post("/sources/sync", openapi_extra=api.WRITE)
async def sync(
    request: Request, exchange: Exchanged, form: Annotated[SyncForm, Form()]
) -> Response:
    """Leave bringing the library to the state of a source, or of all, to a job."""
    confirmed = bool(form.confirmed)
    if form.name:
        job = await api.sync_one(exchange, form.name, confirmed=confirmed)
    else:
        job = await api.sync_all(exchange, confirmed=confirmed)
    return redirect(request, f"/jobs/{job.id}")


@sources.post("/sources/remove", openapi_extra=api.ADMIN)
async def remove(
    request: Request, exchange: Exchanged, form: Annotated[SyncForm, Form()]
) -> Response:
    """Forget a source; its documents stay."""
    await api.remove_source(exchange, form.name)
    return redirect(request, "/sources")


@sources.get("/folders", openapi_extra=api.MACHINE)
async def show_folders(request: Request, exchange: Exchanged, path: Place = "") -> Response:
    """Show the folders in a folder of the server, and how many files would be read of each."""
    here, *inside = await exchange.look_long(lambda library: library.sources.folders(path))
    above = [(str(one), one.name or "/") for one in reversed(PurePath(here.location).parents)]
    values = {"here": here, "folders": inside, "above": above}
    return await show(request, exchange, "folders.html", values)


@sources.get("/drives", openapi_extra=api.BROWSE)
async def show_drives(
    request: Request,
    exchange: Exchanged,
    place: Place = "",
    refresh: api.Refresh = False,
) -> Response:
    """Show the folders and files in a folder of a cloud drive; the drives where none is named."""
    found = await api.list_folders(exchange, place, refresh=refresh)
    between = "" if not place or place.endswith(":") else "/"
    values: dict[str, Any] = {
        "place": place,
        "folders": [(f"{place}{between}{one}", one) for one in found.folders],
        "files": (await api.list_files(exchange, place)).files if place else (),
    }
    return await show(request, exchange, "drives.html", values)


class DriveForm(PageForm):
    """A folder of a drive that is to be followed."""

    place: str = Field(min_length=1, max_length=4_000)
    shelf: MaybeShelf = ""


@sources.post("/drives/sync", openapi_extra=api.SYNC)
async def sync_drive(
    request: Request, exchange: Exchanged, form: Annotated[DriveForm, Form()]
) -> Response:
    """Follow a folder of a drive, and leave reading what is in it now to a job."""
    job = await api.sync_folder(exchange, CloudSyncBody(place=form.place, shelf=form.shelf))
    return redirect(request, f"/jobs/{job.id}")
