"""Cloud drives over HTTP: browsed, compared with the library, and read into it by jobs.

The drives are the server's, and no workspace's: a key for some workspaces alone syncs the sources
that were made of them (``sources.py``), and sees nothing else of a drive.
"""

from typing import Annotated, Final

from fastapi import Query
from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from chapterhouse.interfaces.api.routing import needs, router
from chapterhouse.interfaces.api.schemas import (
    Body,
    JobsResult,
    MaybeShelf,
)
from chapterhouse.interfaces.api.sources import CONFIRMED, leave_sync
from chapterhouse.interfaces.api.state import Exchanged
from chapterhouse.interfaces.schemas import Result
from chapterhouse.interfaces.service import without_paths
from chapterhouse.interfaces.values import public_job
from chapterhouse.library import Library
from chapterhouse.types import Job
from chapterhouse.types.access import AccessLevel

READ: Final = needs(AccessLevel.READ, whole=True)
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
    return await leave_sync(
        exchange,
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
