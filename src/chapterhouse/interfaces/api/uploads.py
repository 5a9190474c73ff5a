"""Files received over HTTP, each left to a job."""

import asyncio
import time
from typing import Annotated, Final

from fastapi import Query, Request, Response

from chapterhouse.errors import UsageError
from chapterhouse.ingest.uploads import Upload
from chapterhouse.interfaces.api.documents import WRITE, shelf_for, shown_to
from chapterhouse.interfaces.api.limits import ReceivedForm, UploadForm
from chapterhouse.interfaces.api.problems import Refusal
from chapterhouse.interfaces.api.routing import router
from chapterhouse.interfaces.api.schemas import SHELF_SAYS, UploadJob
from chapterhouse.interfaces.api.state import Exchange, Exchanged
from chapterhouse.interfaces.values import PublicDocument, extended, public_job
from chapterhouse.library import Library
from chapterhouse.text.naming import NAME_PATTERN, valid_name
from chapterhouse.types import FINISHED, Job, JobState

_WAIT_SECONDS: Final = 30.0  # for the document of an upload
_BETWEEN_SECONDS: Final = 0.1
_FORM: Final = {
    "type": "object",
    "required": ["file"],
    "additionalProperties": False,
    "properties": {
        "file": {"type": "string", "format": "binary", "description": "The file, with its name."},
        "shelf": {"type": "string", "pattern": f"^$|{NAME_PATTERN}", "description": SHELF_SAYS},
        "keep": {
            "type": "string",
            "enum": ["", "both"],
            "description": "Whether what the shelf has under this name stays, too.",
        },
    },
}
_UPLOAD: Final = {
    **WRITE,
    "requestBody": {"required": True, "content": {"multipart/form-data": {"schema": _FORM}}},
}

uploads: Final = router("/api/documents/upload", "documents")


@uploads.post("", status_code=202, openapi_extra=_UPLOAD)
async def upload(
    exchange: Exchanged,
    request: Request,
    response: Response,
    wait: Annotated[
        bool, Query(description="Answer when it was read, after 30 seconds at most.")
    ] = False,
) -> UploadJob:
    """Receive a file and leave reading it to a job.

    It replaces what was sent to the shelf under the same name before, which `replaced` in the
    job's result names; with `keep=both` both stay. With `wait` the answer is 201 and has the
    document, 422 where the file is refused, or 202 where it takes longer.
    """
    async with exchange.receiving() as begin:
        form = await UploadForm(request, begin).read()
        ((name, received),) = form.files
        job = await receive(exchange, form, name, received)
    document = await _read_document(exchange, job.id) if wait else None
    if document:
        response.status_code = 201
        job = await exchange.look_at_whole(lambda library: public_job(library.jobs.get(job.id)))
    return extended(UploadJob, job, document=document)


async def receive(exchange: Exchange, form: ReceivedForm, name: str, received: Upload) -> Job:
    """Leave reading a file of a form to a job."""
    if form.both not in {"", "both"}:
        raise UsageError(f"'keep' is 'both' or empty, not '{form.both[:100]}'.")
    if form.shelf and not valid_name(form.shelf):
        wrong = f"'{form.shelf[:100]}' cannot name a shelf."
        raise UsageError(wrong, hint=f"It is {NAME_PATTERN}.")
    shelf = shelf_for(exchange.caller, form.shelf)

    def enqueue(library: Library) -> Job:
        if shelf:
            library.documents.require_own_shelf(shelf)
        stored, order = received.finish(), library.documents.upload_later
        return order(stored, name, shelf=shelf, retain_both=form.both == "both")

    return await exchange.order("document.upload", shelf, enqueue)


async def _read_document(exchange: Exchange, job_id: str) -> PublicDocument | None:
    """Return the document that a file became; None where that takes longer than is waited."""
    until = time.monotonic() + _WAIT_SECONDS
    while True:
        job = await exchange.look_at_whole(lambda library: public_job(library.jobs.get(job_id)))
        is_over = time.monotonic() >= until or exchange.server.stopping.is_set()
        if job.state in FINISHED or is_over:
            break
        await asyncio.sleep(_BETWEEN_SECONDS)
    if job.state in {JobState.FAILED, JobState.CANCELLED}:
        raise Refusal(422, job.error or "The job was cancelled.")
    named = job.result.get("documents") if job.state in FINISHED else None
    if not isinstance(named, list) or not named:
        return None
    document = await exchange.look(lambda library: library.documents.by_id(named[-1]))
    return shown_to(document, exchange)
