"""Removed documents whose bytes are retained: read them again, or drop them for good."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from chapterhouse.connectors.content import Content
from chapterhouse.connectors.folder import SourceFile
from chapterhouse.errors import EngineError, NotFoundError, RejectedError, UsageError
from chapterhouse.ingest.look import Container, Look, UnpackBudget, Work, without_text
from chapterhouse.ingest.outcomes import record_of, worst_notice
from chapterhouse.ingest.pipeline import extraction_of, prepared_of, submit
from chapterhouse.ingest.probes import merged, probes_of_document
from chapterhouse.ingest.receipts import Searches, take_receipt
from chapterhouse.ingest.traces import bytes_of, probes_of
from chapterhouse.ports.store import Store
from chapterhouse.types import (
    Document,
    FileOutcome,
    Probes,
    Purge,
    RemovedDocument,
    Restored,
    Scope,
)

if TYPE_CHECKING:
    from chapterhouse.ingest.prepare import Prepared

_ALL = Scope.everything()
_NAMED = 5


def find_removed(names: Sequence[str], store: Store) -> tuple[RemovedDocument, ...]:
    """Return the removed documents that names mean: ids, their beginnings, sources, file names.

    Raises:
        NotFoundError: a name fits none of those that are retained.
        UsageError: a name fits several.
    """
    entries = store.removed().entries()
    found = {entry.location: entry for entry in (_named(name, entries) for name in names)}
    return tuple(found.values())


def last_removal(store: Store) -> tuple[RemovedDocument, ...]:
    """Return what was removed together the last time, and is retained still."""
    entries = store.removed().entries()
    return tuple(entry for entry in entries if entry.number == entries[0].number)


def restore(entries: Iterable[RemovedDocument], work: Work) -> Restored:
    """Read the bytes of removed documents again and store them as they were.

    Ids, sources, places and shelves are those of before. Files that were in a message do not come
    with it: they are documents with entries of their own.

    Args:
        entries: Those that shall be back.
        work: What reading needs.

    Raises:
        ChapterhouseError: the store cannot be written; what was restored before is safe.
    """
    documents: list[Document] = []
    refused: list[tuple[RemovedDocument, str]] = []
    for entry, look in _reading(entries, work):
        if reason := _obstacle(entry, work.store):
            refused.append((entry, reason))
            continue
        try:
            documents.append(_restored(entry, look, work))
        except RejectedError as error:
            refused.append((entry, f"{error.message} {error.hint}".strip()))
    return Restored(tuple(documents), tuple(refused))


def purge(entries: Sequence[RemovedDocument], work: Work, searches: Searches) -> Purge:
    """Drop what is retained of removed documents, and search for them by every path.

    Their bytes are read once more, to know what to search for.

    Args:
        entries: Whose bytes go.
        work: What reading needs.
        searches: Where to search.
    """
    store = work.store
    probes = merged([_probes_again(entry, look, work) for entry, look in _reading(entries, work)])
    there = store.documents_among({entry.id for entry in entries}, _ALL)  # added again meanwhile
    probes = replace(
        probes, sources={id_: name for id_, name in probes.sources.items() if id_ not in there}
    )
    store.removed().drop([entry.location for entry in entries])
    store.compact()
    return Purge(tuple(entries), take_receipt(probes, searches))


def _named(name: str, entries: Sequence[RemovedDocument]) -> RemovedDocument:
    if not name.strip():
        raise UsageError("The name of a document is empty.", hint="Is a variable not set?")
    fitting = [entry for entry in entries if entry.id == name] or [
        entry
        for entry in entries
        if entry.id.startswith(name)
        or name in (entry.source, entry.location)
        or entry.source.rpartition("/")[2].casefold() == name.casefold()
    ]
    if not fitting:
        raise NotFoundError(
            f"No removed document called '{name}' is retained.",
            hint="See those that can come back: chapterhouse docs removed",
        )
    if len(fitting) > 1:
        shown = [f"  {entry.id}  {entry.location}" for entry in fitting[:_NAMED]]
        raise UsageError(
            f"'{name}' fits {len(fitting):,} removed documents.",
            hint="\n".join(("Use an id or a path:", *shown)),
        )
    return fitting[0]


def _reading(
    entries: Iterable[RemovedDocument], work: Work
) -> Iterator[tuple[RemovedDocument, Look]]:
    """Yield each entry with its bytes being read, some of those behind it meanwhile."""
    left = iter(entries)
    waiting: list[tuple[RemovedDocument, Look]] = []
    for entry in left:
        waiting.append((entry, _look(entry, work)))
        if len(waiting) >= work.ahead:
            yield waiting.pop(0)
    yield from waiting


def _look(entry: RemovedDocument, work: Work) -> Look:
    path = Path(entry.location)
    file = SourceFile(path.parent, (path.name,), entry.location, entry.source, entry.size)
    limits = work.limits
    budget = UnpackBudget(limits.archive_files, limits.archive_bytes)
    within = Container(entry.container, 0, budget) if entry.container else None
    look = Look(file, None, started=time.monotonic(), within=within)
    data = work.store.content(entry.sha256, _ALL)
    if data is None:
        error = RejectedError("vanished", f"The bytes of {entry.source} are not there any more.")
        return replace(look, error=error)
    content = Content(data, entry.sha256, len(data), entry.mtime_ns, entry.modified)
    return submit(replace(look, content=content), work)


def _prepared(look: Look, work: Work) -> "Prepared":
    if look.error is not None:
        raise look.error
    return prepared_of(look, extraction_of(look, work), work)


def _obstacle(entry: RemovedDocument, store: Store) -> str:
    """Say what is in the way of a removed document, or nothing."""
    record = store.file(entry.location)
    if record is not None and record.document_id:
        return f"Its place has a document again, '{record.document_id}', read from the file there."
    if store.document(entry.id, _ALL) is not None:
        return f"Another document has its id '{entry.id}' now: remove that one first."
    return ""


def _restored(entry: RemovedDocument, look: Look, work: Work) -> Document:
    """Store a removed document as it was, and drop what was retained of it."""
    store, prepared = work.store, _prepared(look, work)
    assert look.content is not None
    inside = [
        FileOutcome(record, changed=False)
        for record in store.files(entry.location)
        if record.location != entry.location
    ]
    notices = (*prepared.document.notices, *without_text(entry.source, inside))
    document = replace(
        prepared.document,
        id=entry.id,
        shelves=entry.shelves,
        notices=notices,
        ingested=int(time.time()),
    )
    record = record_of(look, document.status, worst_notice(document), entry.id, document.format)
    with store.together():
        store.put(
            document,
            prepared.body,
            prepared.chunks,
            prepared.vectors,
            prepared.fingerprint,
            record,
            look.content.data,
        )
        store.removed().drop([entry.location])
    return document


def _probes_again(entry: RemovedDocument, look: Look, work: Work) -> Probes:
    """Return what a removed document is known by; its bytes alone where it cannot be read."""
    data = look.content.data if look.content else b""
    stated = (entry.title, entry.source.rpartition("/")[2])
    pieces = filter(None, (bytes_of(data), *map(probes_of, stated)))
    bare = Probes(pieces=tuple(pieces), sources={entry.id: entry.source})
    try:
        prepared = _prepared(look, work)
    except (RejectedError, EngineError):
        return bare
    vectors = {} if prepared.vectors is None else {prepared.fingerprint: prepared.vectors}
    document = replace(prepared.document, id=entry.id)
    return merged([bare, probes_of_document(document, prepared.chunks, vectors)])
