"""Park files that end their reader or their process again and again."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from chapterhouse.ingest.look import MOST_ATTEMPTS, PROCESS_DIED
from chapterhouse.store.sqlite import Store
from chapterhouse.types import FileInFlight, FileRecord, Scope, Status, Step

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
