"""Take documents out of the library, retain their bytes for a while, and prove that they are gone.

Text, chunks, vectors and index entries go at once. With a grace period the bytes of the file stay,
so that the document can be read again (``ingest/retained.py``).
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from chapterhouse.connectors.folder import above
from chapterhouse.errors import NotFoundError
from chapterhouse.ingest.look import CONTAINERS
from chapterhouse.ingest.probes import choose_probes
from chapterhouse.ingest.receipts import Searches, take_receipt
from chapterhouse.ports.store import Store
from chapterhouse.types import Document, Progress, Receipt, Removal, RemovedDocument, Scope

AT_ONCE: Final = 0  # seconds of grace: nothing is retained
BY_HAND: Final = None  # the bytes are retained until they are dropped by hand
# A blob is written before its document is committed: it may be needed by one on its way.
GRACE_SECONDS: Final = 3_600.0
LAST_QUESTION: Final = "last.json"  # of the workspace: for open and --continue
_TOGETHER: Final = 50  # documents of one transaction


def remove_documents(
    document_ids: Iterable[str],
    *,
    store: Store,
    grace_seconds: int | None,
    now: int,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> Removal:
    """Remove documents with their text and vectors, and the memories that rest on them.

    No search finds them from then on. Words of them stay in the files of the indexes until
    ``prove``, which follows once, after everything that a run removes.

    A file that is still in its folder, or in its archive, comes back with the next ``add`` of it.

    Args:
        document_ids: Ids; repeats count once.
        store: Where they are.
        grace_seconds: How long their bytes are retained: ``AT_ONCE``, ``BY_HAND``, or seconds.
        now: Seconds since 1970.
        on_progress: Called after each removal, when it is safe on disk.

    Raises:
        NotFoundError: an id names no document; nothing was removed.
    """
    documents = [_require(identifier, store) for identifier in dict.fromkeys(document_ids)]
    probes = choose_probes(documents, store)
    retained: tuple[RemovedDocument, ...] = ()
    if grace_seconds is BY_HAND or grace_seconds > AT_ONCE:
        until = now + grace_seconds if grace_seconds else 0
        retained = tuple(_entries(documents, store, now, until))
    for start in range(0, len(documents), _TOGETHER):
        some = documents[start : start + _TOGETHER]
        with store.together():
            store.removed().drop(document.location for document in some)
            store.removed().add(retained[start : start + _TOGETHER])
            for document in some:
                store.remove(document.id)
                _look_again(document, store)
            store.memories().forget_of([document.id for document in some])
        for done, document in enumerate(some, start + 1):
            on_progress(Progress(done, len(documents), document.source))
    names = (name for one in documents for name in (one.id, one.location, one.source))
    store.removed().forget_names(names)
    store.collect_garbage(GRACE_SECONDS)
    return Removal(tuple(documents), None, retained, probes)


def take_off(
    document: Document,
    shelves: Collection[str],
    *,
    store: Store,
    grace_seconds: int,
    now: int,
) -> Removal:
    """Take a document off some of its shelves; return what ``remove_documents`` would return.

    Who sees only those shelves learns nothing of the others.
    """
    probes = choose_probes([document], store)
    until = now + grace_seconds
    retained = tuple(_entries([document], store, now, until)) if grace_seconds else ()
    store.set_shelves(document.id, sorted(set(document.shelves) - set(shelves)))
    return Removal((document,), None, retained, probes)


def prove(removal: Removal, searches: Searches) -> Receipt:
    """Take what was removed out of all files, and search for it by every path.

    The indexes only mark what is gone, so their files are written anew, and so is the database.

    Args:
        removal: Of one or several runs of ``remove_documents``.
        searches: Where to search.
    """
    for cache in searches.caches:
        cache.forget(removal.probes.cached)
    (searches.folder / LAST_QUESTION).unlink(missing_ok=True)  # it quotes what was found
    searches.store.removed().forget_removals(searches.purge())
    searches.store.compact()
    return take_receipt(removal.probes, searches)


def drop_expired(store: Store, now: int) -> int:
    """Drop the bytes of removed documents whose grace period is over; return of how many."""
    expired = store.removed().expired(now)
    return store.removed().drop([entry.location for entry in expired]) if expired else 0


def _entries(
    documents: Sequence[Document], store: Store, now: int, until: int
) -> Iterator[RemovedDocument]:
    """Yield what it takes to read documents again."""
    numbers = [entry.number for entry in store.removed().entries()]
    for document in documents:
        record = store.file(document.location)
        yield RemovedDocument(
            id=document.id,
            source=document.source,
            location=document.location,
            title=document.title,
            format=document.format,
            shelves=document.shelves,
            container=document.metadata.get("container", ""),
            sha256=document.sha256,
            size=document.size,
            modified=document.modified,
            mtime_ns=record.mtime_ns if record else 0,
            number=max(numbers, default=0) + 1,
            removed=now,
            until=until,
        )


def _require(identifier: str, store: Store) -> Document:
    document = store.document(identifier, Scope.everything())
    if document is None:
        raise NotFoundError(
            f"There is no document '{identifier}'.", hint="See: chapterhouse docs list"
        )
    return document


def _look_again(document: Document, store: Store) -> None:
    """Let the next ``add`` open the archives and messages that a document was in."""
    for location in above(document.location):
        record = store.file(location)
        if record is not None and record.format in CONTAINERS:
            store.record_file(replace(record, size=0, mtime_ns=0, ctime_ns=0, sha256=""))
