"""Over HTTP: sources, which the library is to be the image of, and cloud drives, which are browsed.

Names of sources may have slashes, as ``persona/maria``. Where a source is on the server's machine
is only for who may add one. The drives are the server's, and no workspace's: a key for some
workspaces alone syncs the sources that were made of them, and sees nothing else of a drive.
"""

from pathlib import Path
from typing import Annotated, Final

from fastapi import Query
from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field
from starlette.convertors import PathConvertor, register_url_convertor

from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.interfaces.api.routing import needs, router
from chapterhouse.interfaces.api.schemas import LARGEST, STRICT, Body, JobsResult, MaybeShelf, Names
from chapterhouse.interfaces.api.state import Exchange, Exchanged
from chapterhouse.interfaces.schemas import Result
from chapterhouse.interfaces.service import hide_source, without_paths
from chapterhouse.interfaces.values import PublicSource, public_job, public_source
from chapterhouse.library import Library
from chapterhouse.types import Job, Source
from chapterhouse.types.access import AccessLevel

READ: Final = needs(AccessLevel.READ, whole=True)
WRITE: Final = needs(AccessLevel.WRITE, whole=True)
ADMIN: Final = needs(AccessLevel.ADMIN, whole=True)
MACHINE: Final = needs(AccessLevel.ADMIN, whole=True, everywhere=True)
sources: Final = router("/api/sources", "sources")
CONFIRMED: Final = "The files were deleted: remove also many documents."
Confirmed = Annotated[bool, Query(description=CONFIRMED)]


class _NameConvertor(PathConvertor):
    """The name of a source in an address, of which ``/sync`` at the end is no part.

    A persona or council may be called so.
    """

    regex = r"(?:persona|council)/sync|(?!(?:.*/)?sync$).*"


register_url_convertor("source", _NameConvertor())


class SourceBody(Body):
    """A folder of the server's machine, a folder of a cloud drive, or a list of web pages."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"location": "/srv/papers", "shelf": "papers", "exclude": ["drafts/"]}]
        }
    )

    location: str = Field(
        min_length=1,
        max_length=4_000,
        description=(
            "An absolute path of a folder, or of a list that ends in .links, .urls or .txt; or a"
            " folder of a cloud drive as REMOTE:PATH."
        ),
    )
    name: str = Field(default="", max_length=100, description="Like its folder when empty.")
    shelf: MaybeShelf = ""
    include: Names = Field(default=(), description="Patterns as in .gitignore; all when empty.")
    exclude: Names = ()
    maximum_bytes: Annotated[int, Field(ge=0, le=LARGEST), STRICT] = Field(
        default=0, description="0: as the settings say."
    )


class SourcesResult(Result):
    """Sources in order of name."""

    sources: tuple[PublicSource, ...]


@sources.get("", openapi_extra=READ)
async def list_sources(exchange: Exchanged) -> SourcesResult:
    """List the sources, those of personas and councils among them."""
    found = await exchange.look(
        lambda library: tuple(_shown(one, library, exchange) for one in library.sources.list())
    )
    return SourcesResult(sources=found)


@sources.get("/{name:source}", openapi_extra=READ)
async def show_source(exchange: Exchanged, name: str) -> PublicSource:
    """Show a source."""
    return await exchange.look(lambda library: _shown(_named(library, name), library, exchange))


@sources.post("", status_code=201, openapi_extra=MACHINE)
async def add_source(exchange: Exchanged, body: SourceBody) -> PublicSource:
    """Remember a source. Nothing is read yet; adding it again changes its patterns and its limit.

    It names a folder of the server's machine, in which other workspaces may lie: so it needs the
    level admin in all of them.
    """
    if ":" not in body.location and not Path(body.location).is_absolute():
        raise UsageError(
            "The location of a source is an absolute path, or REMOTE:PATH.",
            hint="The path is one of the machine on which the server runs.",
        )

    def add(library: Library) -> PublicSource:
        if body.shelf:
            library.documents.require_own_shelf(body.shelf)
        source = library.sources.add(
            body.location,
            name=body.name,
            shelf=body.shelf,
            include=body.include,
            exclude=body.exclude,
            maximum_bytes=body.maximum_bytes,
        )
        return _shown(source, library, exchange)

    return await exchange.change("source.add", body.name, add)


@sources.delete("/{name:source}", openapi_extra=ADMIN)
async def remove_source(exchange: Exchanged, name: str) -> PublicSource:
    """Forget a source; its documents stay."""

    def remove(library: Library) -> PublicSource:
        shown = _shown(_named(library, name), library, exchange)
        library.sources.remove(name)
        return shown

    return await exchange.change("source.remove", name, remove)


@sources.post("/sync", status_code=202, openapi_extra=WRITE)
async def sync_all(exchange: Exchanged, confirmed: Confirmed = False) -> Job:
    """Leave bringing the library to the state of all its sources to a job."""
    return await exchange.order(
        "source.sync", "", lambda library: library.sources.sync_later(confirmed=confirmed)
    )


@sources.post("/{name:path}/sync", status_code=202, openapi_extra=WRITE)
async def sync_one(exchange: Exchanged, name: str, confirmed: Confirmed = False) -> Job:
    """Leave bringing the library to the state of a source to a job."""

    def order(library: Library) -> Job:
        source = _named(library, name)
        return library.sources.sync_later(source.name, confirmed=confirmed)

    return await exchange.order("source.sync", name, order)


def _named(library: Library, name: str) -> Source:
    """Return the source of exactly this name: a path or the beginning of a name is none here."""
    found = next((one for one in library.sources.list() if one.name == name), None)
    if found is None:
        raise NotFoundError(f"There is no source '{name[:100]}'.")
    return found


def _shown(source: Source, library: Library, exchange: Exchange) -> PublicSource:
    hide_source(source)  # it may have been added since the library was opened
    is_admin = exchange.caller.grant.level.includes(AccessLevel.ADMIN)
    return public_source(source, library, is_admin=is_admin)


BROWSE: Final = needs(AccessLevel.READ, whole=True, everywhere=True)
SYNC: Final = needs(AccessLevel.WRITE, whole=True, everywhere=True)
_LONGEST: Final = 4_000
_MOST: Final = 1_000

cloud: Final = router("/api/cloud-sync", "cloud drives")
Refresh = Annotated[
    bool, Query(description="Ask the service, even where it was listed a moment ago.")
]


class FoldersResult(Result):
    """Folders in a folder of a drive; the drives themselves where none was named."""

    place: str
    folders: tuple[str, ...]


class CloudFileResult(Result):
    """A file of a drive, and what the library has of it."""

    path: str = Field(description="Below the folder that was listed.")
    size: int = Field(description="In bytes; -1 where nobody knows before it is fetched.")
    modified: Annotated[int, BeforeValidator(lambda nanoseconds: nanoseconds // 10**9)] = Field(
        validation_alias="mtime_ns", description="In seconds since 1970."
    )
    status: str = Field(
        description="not-synced, current, changed, partial, skipped, failed or rejected."
    )
    code: str
    sentence: Annotated[str, AfterValidator(without_paths)] = Field(
        description="Why it is not, or not wholly, in the library."
    )
    document_id: str


class CloudFilesResult(Result):
    """Files in a folder of a drive."""

    place: str
    files: tuple[CloudFileResult, ...]


class CloudSyncBody(Body):
    """A folder of a drive that the library is to follow."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"place": "gdrive:Papers/2026", "shelf": "papers"}]}
    )

    place: str = Field(min_length=1, max_length=_LONGEST, description="As REMOTE:PATH.")
    shelf: MaybeShelf = ""
    confirmed: bool = Field(default=False, description=CONFIRMED)


@cloud.get("/folders", openapi_extra=BROWSE)
async def list_folders(
    exchange: Exchanged,
    place: Annotated[
        str, Query(max_length=_LONGEST, description="As REMOTE:PATH; empty: the drives.")
    ] = "",
    refresh: Refresh = False,
) -> FoldersResult:
    """List the folders in a folder of a drive, or the drives that the server's rclone knows."""

    def find(library: Library) -> tuple[str, ...]:
        if not place:
            return tuple(f"{one.name}:" for one in library.cloud.remotes())
        return library.cloud.folders(place, refresh=refresh)

    return FoldersResult(place=place, folders=await exchange.look_long(find))


@cloud.get("/files", openapi_extra=BROWSE)
async def list_files(
    exchange: Exchanged,
    place: Annotated[str, Query(min_length=1, max_length=_LONGEST, description="As REMOTE:PATH.")],
    recursive: Annotated[bool, Query(description="Also in the folders below it.")] = False,
    refresh: Refresh = False,
) -> CloudFilesResult:
    """List the files in a folder of a drive, and whether the library has them as they are."""
    found = await exchange.look_long(
        lambda library: library.cloud.files(place, recursive=recursive, refresh=refresh)
    )
    return CloudFilesResult(place=place, files=tuple(map(CloudFileResult.model_validate, found)))


@cloud.post("/sync", status_code=202, openapi_extra=SYNC)
async def sync_folder(exchange: Exchanged, body: CloudSyncBody) -> Job:
    """Follow a folder of a drive, and leave reading what is in it now to a job."""
    return await exchange.order(
        "source.sync",
        body.place,
        lambda library: library.cloud.sync_later(
            body.place, shelf=body.shelf, confirmed=body.confirmed
        ),
    )


@cloud.get("/jobs", openapi_extra=READ)
async def list_cloud_jobs(
    exchange: Exchanged, limit: Annotated[int, Query(ge=1, le=_MOST)] = 100
) -> JobsResult:
    """List the jobs that read cloud drives, newest first."""
    found = await exchange.look(lambda library: library.cloud.jobs()[:limit])
    return JobsResult(jobs=tuple(map(public_job, found)))
