"""Long work on the page: how far it is, what was not read and why, stopped, tried again."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any, Final
from urllib.parse import urlencode

from fastapi import Query, Response

from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.interfaces.api import jobs as api
from chapterhouse.interfaces.values import public_job
from chapterhouse.interfaces.web.frame import BARE, Visited, count, page_hint, page_router
from chapterhouse.library import Library
from chapterhouse.text.naming import given_name
from chapterhouse.types import FINISHED, UPLOAD, Job, JobState, Status
from chapterhouse.types.access import Grant

MOST_JOBS: Final = 100  # of one list
_READ: Final = (Status.READY.value, Status.PARTIAL.value)
_NAMED: Final = 3
_TITLES: Final = {
    "add": "Add files", "embed": "Make vectors", "reprocess": "Read documents again"
}  # fmt: skip

JobIds = Annotated[tuple[Annotated[str, Query(max_length=20)], ...], Query()]

jobs: Final = page_router("/jobs")


@dataclass(frozen=True, slots=True)
class JobView:
    """A job that clients may get, as the page shows it."""

    job: Job

    @property
    def is_open(self) -> bool:
        """Whether it has not ended."""
        return self.job.state not in FINISHED

    @property
    def retries(self) -> bool:
        """Whether it can be tried again."""
        is_partial = self.job.kind == UPLOAD and self.job.state is JobState.PARTIAL
        return not (self.is_open or is_partial or self.job.state is JobState.DONE)

    @property
    def sources(self) -> list[str]:
        """The names of the sources that it syncs; none for all of them."""
        named = self.job.arguments.get("sources")
        return list(map(str, named)) if isinstance(named, list) else []

    @property
    def title(self) -> str:
        """What it does, with what."""
        match self.job.kind:
            case "upload":
                return f"Read {self._file or 'a file'}"
            case "sync":
                more = len(self.sources) - _NAMED
                named = ", ".join(self.sources[:_NAMED]) or "all sources"
                return f"Sync {named}" + (f" and {more} more" if more > 0 else "")
            case other:
                return _TITLES.get(other, other.capitalize())

    @property
    def _file(self) -> str:
        """The name of the file that was sent; a job that is done has but what it read last."""
        job = self.job
        return str(job.arguments.get("name") or given_name(job.current)) * (job.kind == UPLOAD)

    @property
    def outcome(self) -> str:
        """How far it is, or what came of it, in a few words."""
        match self.job.state:
            case JobState.PENDING:
                return "waits: it is tried again soon" if self.job.error else "waits"
            case JobState.RUNNING:
                return "stopping" if self.job.cancelling else self._progress
            case JobState.FAILED:
                return "not read" if self.job.kind == UPLOAD else "failed"
            case JobState.CANCELLED:
                return ", ".join(["stopped", *self._done])
        return ", ".join(self._done) or "nothing had changed"

    @property
    def _progress(self) -> str:
        """How far it is; how many vectors there are to make, nobody knows before the end."""
        if self.job.kind == "embed":
            return f"{count(self.job.done, 'document')} so far"
        total = self.job.total
        return f"{self.job.done:,} of {total:,}" if total else "looking for files"

    @property
    def _done(self) -> Iterator[str]:
        """What came of it, as counts that are not zero."""
        read = sum(part.get("counts", {}).get(name, 0) for part in self._parts for name in _READ)
        removed = sum(part.get("removed", 0) for part in self._parts)
        if read:
            yield count(read, "file") + " read"
        if removed:
            yield count(removed, "document") + " removed"
        if self.job.kind == "embed" and self.job.done:
            yield count(self.job.done, "document")

    @property
    def _parts(self) -> list[Mapping[str, Any]]:
        """What came of each source of a sync, or of the whole of another job."""
        found: Any = self.job.result.get("sources")
        return list(found or ([self.job.result] if "counts" in self.job.result else []))

    @property
    def reasons(self) -> Iterator[tuple[str, str]]:
        """Of what was not read, or not wholly: its name, and why."""
        if self.job.error:
            yield self._file, " ".join(filter(None, (self.job.error, page_hint(self.job.hint))))
        for part in self._parts:
            if part.get("problem"):
                yield part["source"], part["problem"]
            for one in part.get("problems", ()):
                yield given_name(one["source"]), one["sentence"]


def open_syncs(library: Library) -> dict[str, JobView]:
    """Return what is being read, or waits to be, by the name of its source."""
    found = library.jobs.list((JobState.PENDING, JobState.RUNNING))
    syncs = [JobView(public_job(one)) for one in found if one.kind == "sync"]
    return {name: one for one in syncs for name in one.sources}


@jobs.get("", openapi_extra=api.READ_OWN)
async def show_jobs(visit: Visited, job: JobIds = ()) -> Response:
    """Show some jobs, or the latest: to who is limited to shelves, what reads files for them."""
    found = await visit.look_at_whole(lambda library: _jobs(library, job, visit.caller.grant))
    return await visit.show("jobs.html", list_values(found))


def _jobs(library: Library, ids: tuple[str, ...], grant: Grant) -> list[Job]:
    """Return some jobs, or the latest, of those that there are for a caller."""
    found = [] if ids else list(library.jobs.list())
    for one in ids[:MOST_JOBS]:
        with suppress(NotFoundError, UsageError):  # forgotten by now, or none can be called so
            found.append(library.jobs.get(one))
    own = (one for one in found if api.may_see(one, grant))
    return list(map(public_job, islice(own, MOST_JOBS)))


def list_values(found: Sequence[Job], refused: Sequence[tuple[str, str]] = ()) -> dict[str, Any]:
    """Return what a list of jobs shows, and files that were refused before there was one."""
    views = tuple(map(JobView, found))
    values = {"title": "Jobs", "jobs": views, "again": list_address(found)}
    return values | {"refused": refused, "has_read": False}


def list_address(found: Sequence[Job]) -> str:
    """Return where some jobs are shown."""
    return "/jobs?" + urlencode([("job", one.id) for one in found[:MOST_JOBS]])


@jobs.get("/{job_id}", openapi_extra=api.READ_OWN)
async def show_job(visit: Visited, job_id: api.JobId) -> Response:
    """Show a job until it has ended; then also where what it read is asked."""
    job = await api.show(visit, job_id)
    values: dict[str, Any] = {"title": f"Job {job.id}", "again": f"/jobs/{job.id}"}
    values |= {"has_read": job.state in {JobState.DONE, JobState.PARTIAL}}
    return await visit.show("jobs.html", list_values([job]) | values)


@jobs.post("/{job_id}/cancel", openapi_extra=api.WRITE, dependencies=[BARE])
async def cancel(visit: Visited, job_id: api.JobId) -> Response:
    """Stop a job; what it has done stays."""
    await api.cancel(visit, job_id)
    return visit.redirect(f"/jobs/{job_id}")


@jobs.post("/{job_id}/retry", openapi_extra=api.WRITE, dependencies=[BARE])
async def retry(visit: Visited, job_id: api.JobId) -> Response:
    """Leave the work of a job that has ended to a new one."""
    job = await api.retry(visit, job_id)
    return visit.redirect(f"/jobs/{job.id}")
