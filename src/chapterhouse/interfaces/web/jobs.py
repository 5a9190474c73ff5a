"""Long work on the page: how far it is, what was not read and why, stopped, tried again."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any, Final
from urllib.parse import urlencode

from fastapi import Query, Request, Response

from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.interfaces.api import jobs as api
from chapterhouse.interfaces.api.state import Exchanged
from chapterhouse.interfaces.values import public_job
from chapterhouse.interfaces.web.asking import suggest_questions
from chapterhouse.interfaces.web.frame import BARE, count, page_router, redirect, show
from chapterhouse.library import Library
from chapterhouse.types import FINISHED, UPLOAD, Job, JobState, Status
from chapterhouse.types.access import Grant

MOST_JOBS: Final = 100  # of one list
_READ: Final = (Status.READY.value, Status.PARTIAL.value)
_NAMED: Final = 3
_MARK: Final = re.compile(r"^upload/[0-9a-f]{8}/")  # of what was sent

jobs: Final = page_router("/jobs")


@dataclass(frozen=True, slots=True)
class JobView:
    """A job as the page shows it.

    Attributes:
        title: What it does, with what.
        outcome: How far it is, or what came of it, in a few words.
        reasons: Of what was not read, or not wholly: its name, and why.
        retries: Whether it can be tried again.
    """

    job: Job
    title: str
    outcome: str
    reasons: tuple[tuple[str, str], ...]
    retries: bool

    @property
    def is_open(self) -> bool:
        """Whether it has not ended."""
        return self.job.state not in FINISHED


def job_view(job: Job) -> JobView:
    """Return a job as the page shows it; it is one that clients may get."""
    ended = job.state in FINISHED and job.state is not JobState.DONE
    retries = ended and (job.kind != UPLOAD or job.state is not JobState.PARTIAL)
    return JobView(job, _title(job), _outcome(job), tuple(_reasons(job)), retries)


def _title(job: Job) -> str:
    sources = job.arguments.get("sources")
    match job.kind:
        case "upload":
            return f"Read {_subject(job) or 'a file'}"
        case "sync":
            listed = [str(one) for one in sources] if isinstance(sources, list) else []
            more = f" and {len(listed) - _NAMED} more" if len(listed) > _NAMED else ""
            return f"Sync {', '.join(listed[:_NAMED]) or 'all sources'}{more}"
        case "reprocess":
            return "Read documents again"
        case "embed":
            return "Make vectors"
        case "add":
            return "Add files"
        case other:
            return other.capitalize()


def _subject(job: Job) -> str:
    """Return the name of the file that was sent; a job that is done has but what it read last."""
    if job.kind != UPLOAD:
        return ""
    return str(job.arguments.get("name") or _MARK.sub("", job.current))


def _outcome(job: Job) -> str:
    match job.state:
        case JobState.PENDING:
            return "waits" if not job.error else "waits: it is tried again soon"
        case JobState.RUNNING if job.cancelling:
            return "stopping"
        case JobState.RUNNING:
            return f"{job.done:,} of {job.total:,}" if job.total else "looking for files"
        case JobState.FAILED:
            return "not read" if job.kind == UPLOAD else "failed"
    counts = [part.get("counts", {}) for part in _parts(job)]
    read = sum(part.get(name, 0) for part in counts for name in _READ)
    removed = sum(part.get("removed", 0) for part in _parts(job))
    words = [count(read, "file") + " read"] if counts or job.kind != "sync" else []
    words += [count(removed, "document") + " removed"] if removed else []
    if job.state is JobState.CANCELLED:
        return ", ".join(["stopped", *words])
    return ", ".join(words) if read or removed else "nothing had changed"


def _parts(job: Job) -> list[Mapping[str, Any]]:
    """Return what came of each source of a sync, or of the whole of another job."""
    found: Any = job.result.get("sources")
    return list(found) if found is not None else [job.result] if "counts" in job.result else []


def _reasons(job: Job) -> Iterator[tuple[str, str]]:
    if job.error:
        yield _subject(job), " ".join(filter(None, (job.error, job.hint)))
    for part in _parts(job):
        if part.get("problem"):
            yield part["source"], part["problem"]
        for one in part.get("problems", ()):
            yield _MARK.sub("", one["source"]), one["sentence"]


@jobs.get("", openapi_extra=api.READ_OWN)
async def show_jobs(
    request: Request,
    exchange: Exchanged,
    job: Annotated[tuple[Annotated[str, Query(max_length=20)], ...], Query()] = (),
) -> Response:
    """Show some jobs, or the latest: to who is limited to shelves, what reads files for them."""
    found = await exchange.look_at_whole(lambda library: _jobs(library, job, exchange.caller.grant))
    return await show(request, exchange, "jobs.html", list_values(found))


def _jobs(library: Library, ids: tuple[str, ...], grant: Grant) -> list[Job]:
    """Return some jobs, or the latest, of those that there are for a caller."""
    found = [] if ids else list(library.jobs.list())
    for one in ids[:MOST_JOBS]:
        with suppress(
            NotFoundError, UsageError
        ):  # it is forgotten by now, or none can be called so
            found.append(library.jobs.get(one))
    own = (one for one in found if api.may_see(one, grant))
    return list(map(public_job, islice(own, MOST_JOBS)))


def list_values(found: Sequence[Job], refused: Sequence[tuple[str, str]] = ()) -> dict[str, Any]:
    """Return what a list of jobs shows, and files that were refused before there was one."""
    views = tuple(map(job_view, found))
    values = {"title": "Jobs", "jobs": views, "refused": refused, "suggested": ()}
    return {**values, "again": list_address(found)}


def list_address(found: Sequence[Job]) -> str:
    """Return where some jobs are shown."""
    return "/jobs?" + urlencode([("job", one.id) for one in found[:MOST_JOBS]])


@jobs.get("/{job_id}", openapi_extra=api.READ_OWN)
async def show_job(request: Request, exchange: Exchanged, job_id: api.JobId) -> Response:
    """Show a job until it has ended; then also what can be asked of what it read."""
    job = await api.show(exchange, job_id)
    has_read = job.state in {JobState.DONE, JobState.PARTIAL}
    suggested = await exchange.look(suggest_questions) if has_read else ()
    values = {"title": f"Job {job.id}", "again": f"/jobs/{job.id}", "suggested": suggested}
    return await show(request, exchange, "jobs.html", list_values([job]) | values)


@jobs.post("/{job_id}/cancel", openapi_extra=api.WRITE, dependencies=[BARE])
async def cancel(request: Request, exchange: Exchanged, job_id: api.JobId) -> Response:
    """Stop a job; what it has done stays."""
    await api.cancel(exchange, job_id)
    return redirect(request, f"/jobs/{job_id}")


@jobs.post("/{job_id}/retry", openapi_extra=api.WRITE, dependencies=[BARE])
async def retry(request: Request, exchange: Exchanged, job_id: api.JobId) -> Response:
    """Leave the work of a job that has ended to a new one."""
    job = await api.retry(exchange, job_id)
    return redirect(request, f"/jobs/{job.id}")
