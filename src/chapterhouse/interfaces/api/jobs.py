"""Long work over HTTP: looked at, followed, stopped, tried again."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Annotated, Final

from fastapi import Depends, Query
from fastapi.sse import EventSourceResponse, ServerSentEvent

from chapterhouse.errors import NotFoundError, RefusedError, UsageError
from chapterhouse.interfaces.api.asking import event_stream
from chapterhouse.interfaces.api.routing import needs, router
from chapterhouse.interfaces.api.schemas import JobsResult
from chapterhouse.interfaces.api.state import Exchange, Exchanged
from chapterhouse.interfaces.values import as_json, public_job
from chapterhouse.types import FINISHED, Job, JobState
from chapterhouse.types.access import AccessLevel, Grant

READ: Final = needs(AccessLevel.READ, whole=True)
READ_OWN: Final = needs(AccessLevel.READ)
WRITE: Final = needs(AccessLevel.WRITE, whole=True)
_BETWEEN_SECONDS: Final = 0.5
_MOST: Final = 1_000

jobs: Final = router("/api/jobs", "jobs")


async def existing(exchange: Exchanged, job_id: str) -> str:
    """Return the id of a job that is there; whatever cannot be one is not there either."""
    try:
        job = await exchange.look_at_whole(lambda library: library.jobs.get(job_id))
    except (NotFoundError, UsageError):
        job = None
    if job is None or not may_see(job, exchange.caller.grant):
        raise NotFoundError(f"There is no job '{job_id[:100]}'.")
    return job.id


def may_see(job: Job, grant: Grant) -> bool:
    """Whether a caller may see a job: who is limited to shelves sees what reads a file for one."""
    is_theirs = job.kind == "upload" and job.arguments.get("shelf") in (grant.shelves or ())
    return grant.is_whole or is_theirs


JobId = Annotated[str, Depends(existing)]


@jobs.get("", openapi_extra=READ)
async def list_jobs(
    exchange: Exchanged,
    state: Annotated[tuple[JobState, ...], Query()] = (),
    limit: Annotated[int, Query(ge=1, le=_MOST)] = 100,
) -> JobsResult:
    """List the jobs, newest first."""
    found = await exchange.look(lambda library: library.jobs.list(state)[:limit])
    return JobsResult(jobs=tuple(map(public_job, found)))


@jobs.get("/{job_id}", openapi_extra=READ_OWN)
async def show(exchange: Exchanged, job_id: JobId) -> Job:
    """Show a job: how far it is, or how it ended."""
    return await exchange.look_at_whole(lambda library: public_job(library.jobs.get(job_id)))


@jobs.get("/{job_id}/events", openapi_extra=READ_OWN, response_class=EventSourceResponse)
async def follow(exchange: Exchanged, job_id: JobId) -> AsyncIterator[ServerSentEvent]:
    """Follow a job until it has ended: ``progress`` again and again, at last ``ended``."""
    async for event in event_stream(_changes(exchange, job_id), _event, exchange.server.stopping):
        yield event


@jobs.post("/{job_id}/cancel", openapi_extra=WRITE)
async def cancel(exchange: Exchanged, job_id: JobId) -> Job:
    """Stop a job; what it has done stays."""
    return await exchange.change(
        "job.cancel", job_id, lambda library: public_job(_changed(library.jobs.cancel, job_id))
    )


@jobs.post("/{job_id}/retry", status_code=202, openapi_extra=WRITE)
async def retry(exchange: Exchanged, job_id: JobId) -> Job:
    """Leave the work of a job that has ended to a new one."""
    return await exchange.order(
        "job.retry", job_id, lambda library: _changed(library.jobs.retry, job_id)
    )


def _changed(change: Callable[[str], Job], job_id: str) -> Job:
    """Return a job after a change."""
    try:
        return change(job_id)
    except UsageError as error:
        raise RefusedError(error.message, hint=error.hint) from None


async def _changes(exchange: Exchange, job_id: str) -> AsyncGenerator[Job]:
    """Yield a job whenever it has changed, until it has ended."""
    latest: Job | None = None
    while latest is None or latest.state not in FINISHED:
        if latest is not None:
            await asyncio.sleep(_BETWEEN_SECONDS)
        job = await exchange.look_at_whole(lambda library: public_job(library.jobs.get(job_id)))
        if job != latest:
            latest = job
            yield job


def _event(job: Job) -> ServerSentEvent:
    name = "ended" if job.state in FINISHED else "progress"
    return ServerSentEvent(event=name, raw_data=as_json(job))
