"""What ``add`` would do."""

from collections.abc import Generator, Mapping, Sequence
from pathlib import Path

from chapterhouse.connectors.content import Content, open_all
from chapterhouse.connectors.folder import SourceFile, above
from chapterhouse.errors import RejectedError
from chapterhouse.ingest.look import has_stamp, status_of, worth_another_try
from chapterhouse.ingest.plan import Plan, make_plan
from chapterhouse.ingest.renames import Contents, find_renames
from chapterhouse.store.sqlite import Store
from chapterhouse.types import AddReport, FileOutcome, FileRecord, Status


def preview(paths: Sequence[Path], *, store: Store, maximum_bytes: int) -> AddReport:
    """Return how each file below ``paths`` would be met; read no document, store none.

    A file ends as ``skipped`` with the code ``unchanged`` or ``would-be-read``, or as
    ``rejected`` where already its bytes cannot be had.
    """
    return preview_plan(make_plan(paths, store), open_all, maximum_bytes)


def preview_plan(plan: Plan, contents: Contents, maximum_bytes: int) -> AddReport:
    """Return how each file of a plan would be met; read no document, store none."""
    renames = find_renames(plan, contents, maximum_bytes)
    moved = {file.location: record for record, file, _ in renames.moves}
    origins = {record.location for record in moved.values()}
    known = {place: one for place, one in plan.known.items() if place not in origins}
    rest = [file for file in plan.files if _has_to_be_opened(file, known.get(file.location))]
    rest = [file for file in rest if file.location not in moved]
    opened = dict(zip((f.location for f in rest), contents(rest, maximum_bytes), strict=True))
    outcomes = [
        _outcome(file, known.get(file.location), opened.get(file.location), moved)
        for file in plan.files
    ]
    gone = (one for one in plan.missing if origins.isdisjoint((one.location, *above(one.location))))
    missing = tuple(one.source for one in gone)
    return AddReport(tuple(outcomes), missing, ignored=plan.ignored)


def unopened(
    files: Sequence[SourceFile],
    maximum_bytes: int,  # noqa: ARG001 - fills a seam
) -> Generator[Content | RejectedError]:
    """Yield for each file what is known of it unopened: where opening means to fetch it first."""
    for file in files:
        yield Content(b"", "", file.size, file.mtime_ns, 0)


def _has_to_be_opened(file: SourceFile, known: FileRecord | None) -> bool:
    if file.problem:
        return False
    if known is None or worth_another_try(known):
        return True
    return not has_stamp(known, file)


def _outcome(
    file: SourceFile,
    known: FileRecord | None,
    opened: Content | RejectedError | None,
    moved: Mapping[str, FileRecord],
) -> FileOutcome:
    if file.location in moved:
        sentence = f"It would take the place of {moved[file.location].source}."
        record = _record(file, known, Status.SKIPPED, "would-be-renamed", sentence)
    else:
        record = _foreseen(file, known, opened)
    earlier = (known,) if known and record.code == "unchanged" else ()
    return FileOutcome(record, changed=False, earlier=earlier)


def _foreseen(
    file: SourceFile, known: FileRecord | None, opened: Content | RejectedError | None
) -> FileRecord:
    if file.problem:
        status = status_of(file.problem.code)
        return _record(file, known, status, file.problem.code, file.problem.sentence)
    if isinstance(opened, RejectedError):
        return _record(file, known, Status.REJECTED, opened.code, opened.message)
    if opened is None or (known and not worth_another_try(known) and known.sha256 == opened.sha256):
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
