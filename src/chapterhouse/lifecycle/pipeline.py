"""Read, prepare and store files one after another, with the reading ahead of the storing.

An outcome is told only after it is safe on disk, and in order of source, so that the same folder
gives the same library and the same report every time.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, replace
from threading import Event

from chapterhouse.connectors.content import Content
from chapterhouse.connectors.folder import SourceFile
from chapterhouse.errors import EngineError, MissingExtraError, RejectedError
from chapterhouse.lifecycle.prepare import Prepared
from chapterhouse.protocols import Store
from chapterhouse.types import (
    BENIGN_NOTICES,
    AddReport,
    Document,
    Extraction,
    FileOutcome,
    FileRecord,
    Progress,
    Status,
    shelf_names,
)

Read = Callable[[bytes, str], Future[Extraction]]
Prepare = Callable[[Extraction, SourceFile, Content], Prepared]

# The bytes could not be had this time: says nothing about the file, so a document of it stays.
UNREAD_CODES = frozenset({"changed-while-reading", "cannot-list", "cannot-open", "vanished"})
# Not a document rather than a bad one.
SKIPPED_CODES = frozenset({"unsupported-format", "symbolic-link"})

# What may wait behind a file that takes long to read.
_BYTES_WAITING = 256 * 2**20
_LOOKS_WAITING = 256


@dataclass(frozen=True, slots=True)
class Look:
    """What opening a file gave: bytes being read, nothing new, or an error.

    Attributes:
        known: What became of the file the last time.
        content: Its bytes, where it was opened.
        extraction: Its text to be, where it has to be read.
        error: Why it will not be.
        started: When it was opened, by the monotonic clock.
    """

    file: SourceFile
    known: FileRecord | None
    content: Content | None = None
    extraction: Future[Extraction] | None = None
    error: RejectedError | None = None
    started: float = 0.0

    @property
    def size(self) -> int:
        """Bytes held in memory until it is settled."""
        return len(self.content.data) if self.content else 0


@dataclass(frozen=True, slots=True)
class Work:
    """What a run needs. ``shelf`` is added to the shelves that a document is on already."""

    store: Store
    read: Read
    prepare: Prepare
    shelf: str
    ahead: int
    on_progress: Callable[[Progress], None]
    stop: Event


def status_of(code: str) -> Status:
    """Say how a file ends that is not read for the reason ``code``."""
    return Status.SKIPPED if code in SKIPPED_CODES else Status.REJECTED


def submit(look: Look, work: Work) -> Look:
    """Hand the bytes of a look to the reader."""
    assert look.content is not None
    try:
        return replace(look, extraction=work.read(look.content.data, look.file.name))
    except RejectedError as error:
        return replace(look, error=error)


def run(looks: Iterable[Look], total: int, work: Work) -> AddReport:
    """Settle each look in turn, with at most ``work.ahead`` files being read meanwhile.

    A stop or an interrupt ends the run after the last commit; what was committed is kept, and
    the next run does the rest.
    """
    outcomes: list[FileOutcome] = []
    waiting: deque[Look] = deque()
    try:
        for look in _in_turn(looks, waiting, work):
            outcomes.append(_settle(look, work))
            work.on_progress(Progress(len(outcomes), total, look.file.source, outcomes[-1]))
        interrupted = len(outcomes) < total
    except (KeyboardInterrupt, CancelledError):  # the latter: the reader was closed
        interrupted = True
    finally:
        for look in waiting:
            if look.extraction:
                look.extraction.cancel()
    return AddReport(tuple(outcomes), interrupted=interrupted)


def _in_turn(looks: Iterable[Look], waiting: deque[Look], work: Work) -> Iterator[Look]:
    """Yield looks in their order, each as late as the reading ahead allows, until the stop."""
    for look in looks:
        waiting.append(look)
        while waiting and (_is_full(waiting, work) or _is_settled(waiting[0])):
            if work.stop.is_set():
                return
            yield waiting.popleft()
        if work.stop.is_set():
            return
    while waiting and not work.stop.is_set():
        yield waiting.popleft()


def _is_full(waiting: deque[Look], work: Work) -> bool:
    return (
        sum(look.extraction is not None for look in waiting) >= work.ahead
        or sum(look.size for look in waiting) > _BYTES_WAITING
        or len(waiting) >= _LOOKS_WAITING
    )


def _is_settled(look: Look) -> bool:
    return look.extraction is None or look.extraction.done()


def _settle(look: Look, work: Work) -> FileOutcome:
    """Write what became of a file and say so."""
    if look.error is None and look.extraction is None:
        outcome = _unchanged(look, work)
    elif look.error is not None:
        outcome = _rejected(look, look.error, work)
    else:
        try:
            prepared = _prepared(look, work)
        except RejectedError as error:
            outcome = _rejected(look, error, work)
        else:
            outcome = _stored(look, prepared, work)
    return replace(outcome, seconds=time.monotonic() - look.started)


def _prepared(look: Look, work: Work) -> Prepared:
    assert look.extraction is not None
    assert look.content is not None
    try:
        return work.prepare(look.extraction.result(), look.file, look.content)
    except (RejectedError, CancelledError, EngineError):
        raise  # the last: a model that fails says nothing about the file, and would fail the next
    except MissingExtraError as error:
        raise RejectedError("missing-extra", error.message, hint=error.hint) from error
    # The boundary of the reading process and of one hostile file: its failure must not end the
    # run for all the others, and its kind is kept in the record.
    except Exception as error:
        raise RejectedError(
            "internal-error",
            f"{look.file.source} could not be read: {type(error).__name__}: {error}",
            hint="Please report this file's kind and this message.",
        ) from error


def _stored(look: Look, prepared: Prepared, work: Work) -> FileOutcome:
    assert look.content is not None
    known_id = look.known.document_id if look.known else ""
    earlier = work.store.document(known_id) if known_id else None
    shelves = shelf_names((*(earlier.shelves if earlier else ()), *_shelf(work)))
    document = replace(prepared.document, shelves=shelves)
    record = _record(look, document.status, _worst_notice(document), document.id, document.format)
    work.store.put(
        document,
        prepared.body,
        prepared.chunks,
        prepared.vectors,
        prepared.fingerprint,
        record,
        look.content.data,
    )
    # The store may have given the document another id.
    record = work.store.file(look.file.location) or record
    return FileOutcome(record, changed=True, notices=document.notices)


def _shelf(work: Work) -> tuple[str, ...]:
    return (work.shelf,) if work.shelf else ()


def _worst_notice(document: Document) -> tuple[str, str]:
    for notice in document.notices:
        if notice.code not in BENIGN_NOTICES:
            return notice.code, notice.sentence
    return "", ""


def _unchanged(look: Look, work: Work) -> FileOutcome:
    """Leave the document as it is, but put it on the shelf and remember the file's new time."""
    assert look.known is not None
    known = look.known
    if look.content is not None:
        stamped = replace(known, size=look.content.size, mtime_ns=look.content.mtime_ns)
        if stamped != known:
            work.store.record_file(stamped)
    changed = _is_new_on_shelf(known, work)
    sentence = f"Put on the shelf '{work.shelf}'." if changed else known.sentence
    record = replace(known, status=Status.SKIPPED, code="unchanged", sentence=sentence)
    return FileOutcome(record, changed=changed)


def _is_new_on_shelf(known: FileRecord, work: Work) -> bool:
    document = work.store.document(known.document_id) if known.document_id else None
    if document is None or not work.shelf or work.shelf in document.shelves:
        return False
    work.store.set_shelves(document.id, (*document.shelves, work.shelf))
    return True


def _rejected(look: Look, error: RejectedError, work: Work) -> FileOutcome:
    """Record that a file gave no document.

    One that it gave before goes, for the folder rules, unless this says nothing of the file's
    bytes or they are those that once gave the document.
    """
    status = status_of(error.code)
    sentence = " ".join(filter(None, (error.message, error.hint)))
    if look.known and look.known.document_id:
        if error.code in UNREAD_CODES or _same_bytes(look, look.known):
            sentence += " What was read earlier stays in the library."
            return FileOutcome(_record(look, status, (error.code, sentence)), changed=False)
        sentence += " What was read earlier was removed from the library."
        record = _record(look, status, (error.code, sentence))
        work.store.record_file(record)
        return FileOutcome(record, changed=True)
    record = _record(look, status, (error.code, sentence))
    if record != look.known and error.code != "vanished":
        work.store.record_file(record)
    return FileOutcome(record, changed=False)


def _same_bytes(look: Look, known: FileRecord) -> bool:
    return look.content is not None and look.content.sha256 == known.sha256


def _record(
    look: Look,
    status: Status,
    reason: tuple[str, str],
    document_id: str = "",
    format_: str = "",
) -> FileRecord:
    stamp = look.content or look.file
    return FileRecord(
        location=look.file.location,
        source=look.file.source,
        size=stamp.size,
        mtime_ns=stamp.mtime_ns,
        sha256=look.content.sha256 if look.content else "",
        status=status,
        code=reason[0],
        sentence=reason[1],
        document_id=document_id,
        format=format_,
    )
