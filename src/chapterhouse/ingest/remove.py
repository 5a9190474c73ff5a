"""Take documents out of the library for good."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from chapterhouse.connectors.folder import above
from chapterhouse.errors import NotFoundError
from chapterhouse.ingest.look import CONTAINERS
from chapterhouse.ingest.traces import take_receipt
from chapterhouse.ports.store import Store
from chapterhouse.types import Document, Progress, Removal, Scope

# A blob is written before its document is committed: it may be needed by one on its way.
GRACE_SECONDS = 3_600.0


def remove(
    document_ids: Iterable[str],
    *,
    store: Store,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> tuple[Document, ...]:
    """Remove documents with their text, vectors and bytes; return what they were.

    A file that is still in its folder, or in its archive, comes back with the next ``add`` of it.

    Args:
        document_ids: Ids; repeats count once.
        store: Where they are.
        on_progress: Called after each removal, when it is safe on disk.

    Raises:
        NotFoundError: an id names no document; nothing was removed.
    """
    documents = [_require(identifier, store) for identifier in dict.fromkeys(document_ids)]
    for done, document in enumerate(documents, start=1):
        store.remove(document.id)
        _look_again(document, store)
        on_progress(Progress(done, len(documents), document.source))
    store.collect_garbage(GRACE_SECONDS)
    return tuple(documents)


def remove_for_good(
    document_ids: Sequence[str], *, store: Store, folder: Path, rebuild: Callable[[], object]
) -> Removal:
    """Remove documents and the memories that rest on them, and look whether they are gone.

    Args:
        document_ids: Ids; repeats count once.
        store: Where they are.
        folder: Of the workspace: every file in it is searched for what was removed.
        rebuild: Builds the indexes anew. They only mark what is gone, and keep its words.

    Raises:
        NotFoundError: an id names no document; nothing was removed.
    """
    passages = [
        chunk.text for one in document_ids for chunk in store.chunks_of(one, Scope.everything())
    ]
    documents = remove(document_ids, store=store)
    store.memories().forget_of(document_ids)
    rebuild()
    store.compact()
    return Removal(documents, take_receipt(passages, folder, store))


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
