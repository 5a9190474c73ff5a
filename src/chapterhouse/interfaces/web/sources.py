"""Sources on the page: folders of the server, cloud drives and lists of web pages."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Annotated, Literal

from fastapi import Form, Query, Response
from pydantic import Field

from chapterhouse.interfaces.api import sources as api
from chapterhouse.interfaces.api.schemas import Body, MaybeShelf
from chapterhouse.interfaces.api.sources import CloudSyncBody, SourceBody
from chapterhouse.interfaces.web.frame import Visited, pages
from chapterhouse.library import Library
from chapterhouse.library.sources import ServerFolder
from chapterhouse.text.counting import counted
from chapterhouse.types import SourceKind
from chapterhouse.types.access import AccessLevel

Place = Annotated[str, Query(max_length=4_000)]


@pages.get("/sources", openapi_extra=api.READ)
async def show_sources(visit: Visited) -> Response:
    """Show the sources: their state, when they were synced, what is wrong with them."""
    return await visit.show("sources.html", {"sources": (await api.list_sources(visit)).sources})


class SourceForm(Body):
    """A folder, a list of web pages or a folder of a drive that is to be followed."""

    location: str = Field(min_length=1, max_length=4_000)
    shelf: MaybeShelf = ""
    exclude: str = Field(default="", max_length=5_000)  # a pattern a line


@pages.post("/sources", openapi_extra=api.MACHINE)
async def add(visit: Visited, form: Annotated[SourceForm, Form()]) -> Response:
    """Follow a source, and leave reading what is in it to a job."""
    patterns = tuple(filter(None, map(str.strip, form.exclude.splitlines())))
    body = SourceBody(location=form.location, shelf=form.shelf, exclude=patterns)
    job = await api.sync_one(visit, (await api.add_source(visit, body)).name)
    return visit.redirect(f"/jobs/{job.id}")


class SyncForm(Body):
    """Which source, all where none is named; and whether many documents may leave at once."""

    name: str = Field(default="", max_length=200)
    confirmed: Literal["", "yes"] = ""


@pages.post("/sources/sync", openapi_extra=api.WRITE)
async def sync(visit: Visited, form: Annotated[SyncForm, Form()]) -> Response:
    """Leave bringing the library to the state of a source, or of all, to a job."""
    confirmed = bool(form.confirmed)
    if form.name:
        job = await api.sync_one(visit, form.name, confirmed=confirmed)
    else:
        job = await api.sync_all(visit, confirmed=confirmed)
    return visit.redirect(f"/jobs/{job.id}")


@pages.post("/sources/remove", openapi_extra=api.ADMIN)
async def remove(visit: Visited, form: Annotated[SyncForm, Form()]) -> Response:
    """Forget a source; its documents stay."""
    await api.remove_source(visit, form.name)
    return visit.redirect("/sources")


@pages.get("/folders", openapi_extra=api.MACHINE)
async def show_folders(visit: Visited, path: Place = "") -> Response:
    """Show the folders in a folder of the server, and how many files would be read of each."""

    def look(library: Library) -> Sequence[ServerFolder]:
        followed = [one.location for one in library.sources.list() if one.kind is SourceKind.FOLDER]
        above = Path(followed[-1] if followed else library.home).parent
        return library.sources.folders(path or str(above))

    here, *inside = await visit.look_long(look)
    here = replace(here, files=max(here.files, sum(one.files for one in inside)))
    values = {
        "title": "Follow a folder of the server",
        "address": "/folders",
        "place": here.location,
        "above": [(str(one), one.name or "/") for one in reversed(PurePath(here.location).parents)],
        "folders": [(one.location, one.name, _counted(one)) for one in inside],
        "counted": f"{_counted(here)}, in the folders below too",
        "may_follow": here.files or here.is_more,
        "files": (),
    }
    return await visit.show("places.html", values)


def _counted(folder: ServerFolder) -> str:
    """Return how many files a folder has and those below it, as far as that was counted."""
    if folder.is_more and not folder.files:
        return "not counted"
    return f"{'over ' * folder.is_more}{counted(folder.files, 'file')}"


@pages.get("/drives", openapi_extra=api.BROWSE)
async def show_drives(visit: Visited, path: Place = "") -> Response:
    """Show the folders and files in a folder of a cloud drive; the drives where none is named."""
    found = await api.list_folders(visit, path)
    drive, _, below = path.partition(":")
    above = [(f"{drive}:{one}", one.name) for one in reversed(PurePath(below).parents[:-1])]
    between = "" if not path or path.endswith(":") else "/"
    values = {
        "title": "Follow a cloud drive",
        "address": "/drives",
        "place": path,
        "above": [("", "Drives"), (f"{drive}:", f"{drive}:"), *above] if below else (),
        "folders": [(f"{path}{between}{one}", one, "") for one in found.folders],
        "counted": "",
        "may_follow": path and visit.caller.grant.level.includes(AccessLevel.WRITE),
        "files": (await api.list_files(visit, path)).files if path else (),
    }
    return await visit.show("places.html", values)


@pages.post("/drives", openapi_extra=api.SYNC)
async def follow_drive(visit: Visited, form: Annotated[SourceForm, Form()]) -> Response:
    """Follow a folder of a drive, and leave reading what is in it now to a job."""
    job = await api.sync_folder(visit, CloudSyncBody(place=form.location, shelf=form.shelf))
    return visit.redirect(f"/jobs/{job.id}")
