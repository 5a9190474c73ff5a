"""Long work on the page: how far it is, what was not read and why, stopped, tried again."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from textwrap import shorten
from typing import Annotated, Any, Final
from urllib.parse import urlencode

from fastapi import Query, Response

from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.interfaces.api import jobs as api
from chapterhouse.interfaces.values import public_job
from chapterhouse.interfaces.web.frame import Visited, page_hint, pages
from chapterhouse.library import Library
from chapterhouse.text.counting import counted
from chapterhouse.text.naming import given_name
from chapterhouse.types import OPEN, UPLOAD, Job, JobState, Status

MOST_JOBS: Final = 100  # of one list
_READ: Final = (Status.READY.value, Status.PARTIAL.value)
_NAMED: Final = 60  # characters of names
_TITLES: Final = {
    "add": "Add files", "embed": "Make vectors", "reprocess": "Read documents again"
}  # fmt: skip

JobIds = Annotated[tuple[Annotated[str, Query(max_length=20)], ...], Query()]


def view_of(job: Job) -> dict[str, Any]:
    """Return what is shown of a job: what it does, how far it is, what was not read and why."""
    parts = _parts(job)
    done = ", ".join(_done(job, parts))
    own = str(job.arguments.get("name") or given_name(job.current)) * (job.kind == UPLOAD)
    sources: Any = job.arguments.get("sources") or ()
    named = shorten(", ".join(sources), _NAMED, placeholder=" …") or "all sources"
    of_kind = {UPLOAD: f"Read {own or 'a file'}", "sync": f"Sync {named}", **_TITLES}
    running = f"{job.done:,} of {job.total:,}" if job.total else "looking for what there is to do"
    is_partial_upload = job.kind == UPLOAD and job.state is JobState.PARTIAL
    return {
        "job": job,
        "title": of_kind.get(job.kind, job.kind.capitalize()),
        "sources": sources,
        "is_open": job.state in OPEN,
        "retries": not (job.state in {*OPEN, JobState.DONE} or is_partial_upload),
        "is_idle": job.kind == "sync" and job.state is JobState.DONE and not done,
        "reasons": list(_reasons(job, parts, own)),
        "outcome": {
            JobState.PENDING: "waits: it is tried again soon" if job.error else "waits",
            JobState.RUNNING: "stopping" if job.cancelling else running,
            JobState.FAILED: "not read" if job.kind == UPLOAD else "failed",
            JobState.CANCELLED: f"stopped, {done}" if done else "stopped",
        }.get(job.state, done or "nothing had changed"),
    }


def _parts(job: Job) -> list[Mapping[str, Any]]:
    """Return what came of each source of a sync, or of the whole of another job."""
    found: Any = job.result.get("sources")
    return list(found or ([job.result] if "counts" in job.result else []))


def _done(job: Job, parts: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what came of a job, as counts that are not zero."""
    read = sum(part.get("counts", {}).get(name, 0) for part in parts for name in _READ)
    removed = sum(part.get("removed", 0) for part in parts)
    made: Any = job.result.get("documents", 0) if job.kind == "embed" else 0
    for number, one, what in ((read, "file", "read"), (removed, "document", "removed")):
        if number:
            yield f"{counted(number, one)} {what}"
    if made:
        yield counted(made, "document")


def _reasons(job: Job, parts: Sequence[Mapping[str, Any]], own: str) -> Iterator[tuple[str, str]]:
    """Yield of what was not read, or not wholly, its name, and why."""
    if job.error:
        yield own, " ".join(filter(None, (job.error, page_hint(job.hint))))
    for part in parts:
        if part.get("problem"):
            yield part["source"], part["problem"]
        for one in part.get("problems", ()):
            yield given_name(one["source"]), one["sentence"]


def open_syncs(library: Library) -> frozenset[str]:
    """Return the names of the sources that are being read, or wait to be."""
    syncs = (one for one in library.jobs.list(OPEN) if one.kind == "sync")
    named: Iterator[Any] = (one.arguments.get("sources", ()) for one in syncs)
    return frozenset(name for names in named for name in names)


@pages.get("/jobs", openapi_extra=api.READ_OWN)
async def show_jobs(visit: Visited, job: JobIds = ()) -> Response:
    """Show some jobs, or the latest that did something: of who is limited their uploads alone."""

    def look(library: Library) -> list[Job]:
        found = [] if job else list(library.jobs.list())
        for one in job[:MOST_JOBS]:
            with suppress(NotFoundError, UsageError):  # forgotten by now, or none can be called so
                found.append(library.jobs.get(one))
        own = (public_job(one) for one in found if api.may_see(one, visit.caller.grant))
        return list(islice((one for one in own if job or not view_of(one)["is_idle"]), MOST_JOBS))

    return await visit.show("jobs.html", list_values(await visit.look_at_whole(look)))


def list_values(found: Sequence[Job], refused: Sequence[tuple[str, str]] = ()) -> dict[str, Any]:
    """Return what a list of jobs shows, and files that were refused before there was one."""
    values = {"title": "Jobs", "jobs": list(map(view_of, found)), "again": list_address(found)}
    return values | {"refused": refused, "has_read": False}


def list_address(found: Sequence[Job]) -> str:
    """Return where some jobs are shown."""
    return "/jobs?" + urlencode([("job", one.id) for one in found[:MOST_JOBS]])


@pages.get("/jobs/{job_id}", openapi_extra=api.READ_OWN)
async def show_job(visit: Visited, job_id: api.JobId) -> Response:
    """Show a job until it has ended; then also where what it read is asked."""
    job = await api.show(visit, job_id)
    has_read = job.state in {JobState.DONE, JobState.PARTIAL}
    values = {"title": f"Job {job.id}", "again": f"/jobs/{job.id}", "has_read": has_read}
    return await visit.show("jobs.html", list_values([job]) | values)


@pages.post("/jobs/{job_id}/cancel", openapi_extra=api.WRITE)
async def cancel(visit: Visited, job_id: api.JobId) -> Response:
    """Stop a job; what it has done stays."""
    await api.cancel(visit, job_id)
    return visit.redirect(f"/jobs/{job_id}")


@pages.post("/jobs/{job_id}/retry", openapi_extra=api.WRITE)
async def retry(visit: Visited, job_id: api.JobId) -> Response:
    """Leave the work of a job that has ended to a new one."""
    job = await api.retry(visit, job_id)
    return visit.redirect(f"/jobs/{job.id}")
