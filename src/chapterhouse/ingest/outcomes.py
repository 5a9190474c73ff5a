"""How a file ended: stored, unchanged or refused, and what is remembered of it."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from chapterhouse.errors import RejectedError
from chapterhouse.ingest.look import (
    CRASH_CODES,
    MOST_ATTEMPTS,
    PROCESS_DIED,
    UNREAD_CODES,
    FileTask,
    ReadingContext,
    may_hold_files,
    status_of,
    without_text,
)
from chapterhouse.store.sqlite import Store
from chapterhouse.types import (
    BENIGN_NOTICES,
    Document,
    FileInFlight,
    FileOutcome,
    FileRecord,
    Scope,
    Status,
    Step,
    shelf_names,
)

if TYPE_CHECKING:
    from chapterhouse.ingest.prepare import PreparedDocument

_REMOVED = " What was read earlier was removed from the library."


def drop_members(look: FileTask, held: Collection[str], work: ReadingContext) -> None:
    """Forget the files that were in a file and are no longer, with their documents."""
    if look.known is None:
        return
    gone: list[str] = []
    for record in work.store.files(look.file.location):
        if record.location not in held and record.location != look.file.location:
            if record.document_id:
                work.store.remove(record.document_id)
                gone.append(record.document_id)
            work.store.forget_file(record.location)
    if gone:
        work.store.memories().forget_of(gone)


def store_document(
    look: FileTask,
    prepared: "PreparedDocument",
    held: Mapping[str, FileOutcome],
    work: ReadingContext,
) -> FileOutcome:
    """Write a document with its record, and forget what was in an earlier version of its file."""
    assert look.content is not None
    known_id = look.known.document_id if look.known else ""
    earlier = work.store.document(known_id, Scope.everything()) if known_id else None
    shelves = shelf_names((*(earlier.shelves if earlier else ()), *_shelf(work)))
    notices = (*prepared.document.notices, *without_text(look.file.source, held.values()))
    document = replace(
        prepared.document, shelves=shelves, notices=notices, ingested=int(time.time())
    )
    record = record_of(look, document.status, worst_notice(document), document.id, document.format)
    identifier = work.store.put(document, prepared.body, prepared.chunks, record, look.content.data)
    drop_members(look, held, work)
    record = replace(record, document_id=identifier)
    return FileOutcome(record, changed=True, notices=document.notices, chunks=document.chunks)


def _shelf(work: ReadingContext) -> tuple[str, ...]:
    return (work.shelf,) if work.shelf else ()


def worst_notice(document: Document) -> tuple[str, str]:
    """Return code and sentence of the first notice of something missing, or nothing."""
    for notice in document.notices:
        if notice.code not in BENIGN_NOTICES:
            return notice.code, notice.sentence
    return "", ""


def unchanged_outcome(known: FileRecord) -> FileOutcome:
    """Return how a file ended of which nothing had to be looked at."""
    # Written out: ``replace`` takes four times as long, and there may be a hundred thousand.
    record = FileRecord(
        known.location,
        known.source,
        known.size,
        known.mtime_ns,
        known.sha256,
        Status.SKIPPED,
        "unchanged",
        known.sentence,
        known.document_id,
        known.format,
        known.ctime_ns,
        known.attempts,
        known.volume,
    )
    return FileOutcome(record, changed=False, earlier=(known,))


def rename_outcome(record: FileRecord, before: FileRecord, work: ReadingContext) -> FileOutcome:
    """Put a renamed file's document on the shelf, and return how the file ended."""
    _is_new_on_shelf(record, work)
    sentence = f"Its name was {before.source}; it was not read again."
    ended = replace(record, status=Status.SKIPPED, code="renamed", sentence=sentence)
    return FileOutcome(ended, changed=True)


def skip_unchanged(look: FileTask, work: ReadingContext) -> FileOutcome:
    """Leave the document as it is, but put it on the shelf and remember the file's new time."""
    assert look.known is not None
    known = look.known
    if look.content is not None:
        stamp = look.content
        stamped = replace(
            known,
            size=stamp.size,
            mtime_ns=stamp.mtime_ns,
            ctime_ns=stamp.ctime_ns,
            volume=look.file.volume or known.volume,
        )
        if stamped != known:
            work.store.record_file(stamped)
    holding = may_hold_files(known, work)
    inside = tuple(work.store.files(known.location)) if holding else (known,)
    changed = sum(_is_new_on_shelf(record, work) for record in inside) > 0
    sentence = f"Put on the shelf '{work.shelf}'." if changed else known.sentence
    record = replace(known, status=Status.SKIPPED, code="unchanged", sentence=sentence)
    return FileOutcome(record, changed=changed, earlier=inside)


def _is_new_on_shelf(known: FileRecord, work: ReadingContext) -> bool:
    document = (
        work.store.document(known.document_id, Scope.everything()) if known.document_id else None
    )
    if document is None or not work.shelf or work.shelf in document.shelves:
        return False
    work.store.set_shelves(document.id, (*document.shelves, work.shelf))
    return True


def reject(look: FileTask, error: RejectedError, work: ReadingContext) -> FileOutcome:
    """Record that a file gave no document.

    One that it gave before goes, for the folder rules, unless this says nothing of the file's
    bytes or they are those that once gave the document.
    """
    status, attempts = status_of(error.code), 0
    if error.code in CRASH_CODES:
        attempts = 1 + (look.known.attempts if look.known and _same_bytes(look, look.known) else 0)
        status = Status.QUARANTINED if attempts >= MOST_ATTEMPTS else Status.FAILED
    sentence = " ".join(filter(None, (error.message, error.hint)))
    if look.known and look.known.document_id:
        if error.code in UNREAD_CODES or _same_bytes(look, look.known):
            sentence += " What was read earlier stays in the library."
            record = record_of(look, status, (error.code, sentence), attempts=attempts)
            return FileOutcome(record, changed=False)
        sentence += _REMOVED
        record = record_of(look, status, (error.code, sentence), attempts=attempts)
        work.store.record_file(record)
        work.store.memories().forget_of([look.known.document_id])
        drop_members(look, {}, work)
        return FileOutcome(record, changed=True)
    if look.known and error.code not in UNREAD_CODES and not _same_bytes(look, look.known):
        drop_members(look, {}, work)
    if look.known and look.known.sentence == sentence + _REMOVED:  # the next look says no less
        sentence = look.known.sentence
    record = record_of(look, status, (error.code, sentence), attempts=attempts)
    if record != look.known and error.code != "vanished":
        work.store.record_file(record)
    return FileOutcome(record, changed=False)


def _same_bytes(look: FileTask, known: FileRecord) -> bool:
    return look.content is not None and look.content.sha256 == known.sha256


def record_of(
    look: FileTask,
    status: Status,
    reason: tuple[str, str],
    document_id: str = "",
    format_: str = "",
    attempts: int = 0,
) -> FileRecord:
    """Return what is remembered of a file; ``reason`` is a code and a sentence."""
    stamp = look.content or look.file
    return FileRecord(
        location=look.file.location,
        source=look.file.source,
        size=stamp.size,
        mtime_ns=stamp.mtime_ns,
        ctime_ns=stamp.ctime_ns,
        sha256=look.content.sha256 if look.content else "",
        status=status,
        code=reason[0],
        sentence=reason[1],
        document_id=document_id,
        format=format_,
        attempts=attempts,
        volume=look.file.volume or (look.known.volume if look.known else ""),
    )


# --- files that end their reader or their process again and again --------------------------------

_SENTENCE: Final = "The process that worked on it died {times}."
_TIMES: Final = {1: "once", 2: "twice", 3: "three times"}


def blame(in_flight: Sequence[FileInFlight], store: Store) -> tuple[FileRecord, ...]:
    """Count an attempt for the files that may have ended a process; return those parked for it.

    A file that the process itself had in hand is it; where there was none, each that was being
    read may be. The next run reads these last and one at a time, so it sees which it is. An
    encoder's death is no file's fault: it embeds many at a time, all of them read before.
    """
    own = [file for file in in_flight if file.step is Step.CHUNKING]
    read = [file for file in in_flight if file.step is Step.READING]
    parked = []
    for file in own[-1:] or read:
        record = _blamed(file, store.file(file.location))
        store.record_file(record)
        if record.status is Status.QUARANTINED:
            parked.append(record)
    return tuple(parked)


def _blamed(file: FileInFlight, known: FileRecord | None) -> FileRecord:
    has_document = known is not None and known.document_id != ""
    same = known is not None and (has_document or known.sha256 == file.sha256)
    attempts = 1 + (known.attempts if known and same else 0)
    parked = attempts >= MOST_ATTEMPTS
    times = _TIMES.get(attempts, f"{attempts} times")
    sentence = _SENTENCE.format(times=times)
    status = Status.QUARANTINED if parked else Status.FAILED
    if known and has_document and not parked:
        return replace(known, attempts=attempts)
    if known and has_document and known.sha256 == file.sha256:
        sentence += " What was read earlier stays in the library."
        return replace(
            known, attempts=attempts, status=status, code=PROCESS_DIED, sentence=sentence
        )
    if has_document:
        sentence += " What was read earlier was removed from the library."
    return FileRecord(
        location=file.location,
        source=file.source,
        size=file.size,
        mtime_ns=file.mtime_ns,
        sha256=file.sha256,
        status=status,
        code=PROCESS_DIED,
        sentence=sentence,
        attempts=attempts,
    )


def parked_files(names: Sequence[str], store: Store) -> tuple[FileRecord, ...]:
    """Return the parked files that are named by source, location or file name; all if none is."""
    parked = (record for record in store.files() if record.status is Status.QUARANTINED)
    return tuple(one for one in parked if not names or any(fits(one, name) for name in names))


def fits(record: FileRecord, name: str) -> bool:
    """Whether a file is called so: by its source, its location or its file name."""
    return name in {record.source, record.location, record.source.rpartition("/")[2]}


def release(records: Sequence[FileRecord], store: Store) -> None:
    """Let the next run read parked files again, as if for the first time."""
    with store.together():
        for record in records:
            document = store.document(record.document_id, Scope.everything())
            status = document.status if document else Status.FAILED
            store.record_file(replace(record, status=status, attempts=0))
