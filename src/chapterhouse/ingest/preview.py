"""What ``add`` would do."""

from collections.abc import Sequence
from pathlib import Path

from chapterhouse.connectors.content import open_source
from chapterhouse.connectors.folder import SourceFile
from chapterhouse.errors import RejectedError
from chapterhouse.ingest.look import status_of, worth_another_try
from chapterhouse.ingest.plan import Plan, make_plan
from chapterhouse.ports.store import Store
from chapterhouse.types import AddReport, FileOutcome, FileRecord, Status


def preview(paths: Sequence[Path], *, store: Store, maximum_bytes: int) -> AddReport:
    """Return how each file below ``paths`` would be met; read no document, store none.

    A file ends as ``skipped`` with the code ``unchanged`` or ``would-be-read``, or as
    ``rejected`` where already its bytes cannot be had.

    Raises:
        NotFoundError: one of ``paths`` is not there.
    """
    plan = make_plan(paths, store)
    outcomes = [_outcome(file, plan, maximum_bytes) for file in plan.files]
    missing = tuple(record.source for record in plan.missing)
    return AddReport(tuple(outcomes), missing, hidden=plan.hidden)


def _outcome(file: SourceFile, plan: Plan, maximum_bytes: int) -> FileOutcome:
    known = plan.known.get(file.location)
    record = _foreseen(file, known, maximum_bytes)
    earlier = (known,) if known and record.code == "unchanged" else ()
    return FileOutcome(record, changed=False, earlier=earlier)


def _foreseen(file: SourceFile, known: FileRecord | None, maximum_bytes: int) -> FileRecord:
    if file.problem:
        status = status_of(file.problem.code)
        return _record(file, known, status, file.problem.code, file.problem.sentence)
    if known and worth_another_try(known):
        known = None
    if known and (known.size, known.mtime_ns) == (file.size, file.mtime_ns):
        return _record(file, known, Status.SKIPPED, "unchanged", "Unchanged.")
    try:
        content = open_source(file, maximum_bytes=maximum_bytes)
    except RejectedError as error:
        return _record(file, known, Status.REJECTED, error.code, error.message)
    if known and known.sha256 == content.sha256:
        return _record(file, known, Status.SKIPPED, "unchanged", "Unchanged.")
    return _record(file, known, Status.SKIPPED, "would-be-read", "It would be read.")


def _record(
    file: SourceFile, known: FileRecord | None, status: Status, code: str, sentence: str
) -> FileRecord:
    return FileRecord(
        location=file.location,
        source=file.source,
        size=file.size,
        mtime_ns=file.mtime_ns,
        sha256=known.sha256 if known else "",
        status=status,
        code=code,
        sentence=sentence,
        document_id=known.document_id if known else "",
    )
