"""Bring a library to the state of a folder that is not on this machine."""

import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Final

from chapterhouse.connectors.connector import Connector
from chapterhouse.connectors.content import Content
from chapterhouse.connectors.folder import SourceFile, above
from chapterhouse.errors import RefusedError, RejectedError
from chapterhouse.ingest.look import Look, Work, worth_another_try
from chapterhouse.ingest.pipeline import run, submit
from chapterhouse.ingest.remove import remove
from chapterhouse.types import AddReport, FileOutcome, FileRecord, Status

UNCHANGED: Final = "unchanged"


@dataclass(frozen=True, slots=True)
class RemoteSync:
    """What one pass did, or would do.

    Attributes:
        report: How each file ended.
        removed: Sources of documents whose files are gone, sorted.
    """

    report: AddReport
    removed: tuple[str, ...] = ()


def sync_remote(
    remote: Connector, prefix: str, work: Work, *, delete: bool = True, dry_run: bool = False
) -> RemoteSync:
    """Fetch and store what is new or changed, and remove what is gone.

    Args:
        remote: The files.
        prefix: What the locations of all of them begin with.
        work: What reading needs.
        delete: Whether documents of files that are gone leave the library.
        dry_run: Only say what would be done.

    Raises:
        RefusedError: nothing is there any more, and documents would be deleted; nothing was done.
        ChapterhouseError: the files cannot be listed, or the store cannot be written.
    """
    known = {
        record.location: record
        for record in work.store.files()
        if record.location.startswith(prefix)
    }
    files = tuple(remote.files())
    listed = {file.location for file in files}
    gone = [record for place, record in known.items() if not {place, *above(place)} & listed]
    documents = {record.document_id: record.source for record in gone if record.document_id}
    if delete and documents and not files:
        raise RefusedError(
            "The folder is empty now: nothing was removed from the library.",
            hint="If that is right, remove the documents: chapterhouse docs remove NAME",
        )
    removed = tuple(sorted(documents.values())) if delete else ()
    if dry_run:
        return RemoteSync(_preview(files, known), removed)
    report = _store(remote, files, known, work)
    if report.interrupted or not delete:
        return RemoteSync(report)
    remove(documents, store=work.store)
    for record in gone:
        if not record.document_id:
            work.store.forget_file(record.location)
    return RemoteSync(report, removed)


def is_settled(file: SourceFile, known: FileRecord | None) -> bool:
    """Whether a file is as it was when it was stored, by its size and time in the listing."""
    return (
        known is not None
        and known.mtime_ns == file.mtime_ns
        and file.size in {known.size, -1}  # nobody knows the size of what is exported
    )


def _store(
    remote: Connector, files: tuple[SourceFile, ...], known: Mapping[str, FileRecord], work: Work
) -> AddReport:
    again = {  # archives and messages in which something is worth another try
        place
        for record in known.values()
        if worth_another_try(record, retry=work.retry)
        for place in (record.location, *above(record.location))
    }
    settled = {
        file.location
        for file in files
        if file.location not in again and is_settled(file, known.get(file.location))
    }
    wanted = [file for file in files if not file.problem and file.location not in settled]

    def looks(contents: Iterator[Content | RejectedError]) -> Iterator[Look]:
        for file in files:
            look = Look(file, known.get(file.location), started=time.monotonic())
            if file.problem:
                error = RejectedError(file.problem.code, file.problem.sentence)
                yield replace(look, error=error)
            elif file.location in settled:
                yield look
            else:
                yield _opened(look, next(contents), work, again=file.location in again)

    with closing(_generator(remote.contents(wanted, work.maximum_bytes))) as contents:
        return run(looks(contents), len(files), work)


def _generator(
    contents: Iterator[Content | RejectedError],
) -> Generator[Content | RejectedError]:
    yield from contents


def _opened(look: Look, got: Content | RejectedError, work: Work, *, again: bool) -> Look:
    if isinstance(got, RejectedError):
        return replace(look, error=got)
    if look.known and look.known.sha256 == got.sha256 and not again:
        return replace(look, content=replace(got, data=b""))  # only its stamp is of use
    return submit(replace(look, content=got), work)


def _preview(files: tuple[SourceFile, ...], known: Mapping[str, FileRecord]) -> AddReport:
    return AddReport(tuple(_foreseen(file, known.get(file.location)) for file in files))


def _foreseen(file: SourceFile, known: FileRecord | None) -> FileOutcome:
    status, code, sentence = Status.SKIPPED, "would-be-read", "It would be fetched and read."
    if file.problem:
        code, sentence = file.problem.code, file.problem.sentence
        status = Status.SKIPPED if code == "unsupported-format" else Status.REJECTED
    elif known and is_settled(file, known) and not worth_another_try(known):
        code, sentence = UNCHANGED, "Unchanged."
    record = FileRecord(
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
    earlier = (known,) if known and code == UNCHANGED else ()
    return FileOutcome(record, changed=False, earlier=earlier)
