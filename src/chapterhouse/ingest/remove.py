"""Take documents out of the library and out of every file of the workspace."""

import shutil
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final

from chapterhouse.connectors.folder import above
from chapterhouse.errors import NotFoundError
from chapterhouse.ingest import uploads
from chapterhouse.ingest.look import CONTAINERS
from chapterhouse.ingest.traces import search_files, traces_of
from chapterhouse.store.sqlite import Store
from chapterhouse.types import Document, FileSearch, Progress, Removal, Scope, Traces

# A blob is written before its document is committed: it may be needed by one on its way.
GRACE_SECONDS: Final = 3_600.0
LAST_QUESTION: Final = "last.json"  # of the workspace: for open and --continue
LISTINGS: Final = "cache/listings.json"  # of the workspace: what folders of drives had in them
_TOGETHER: Final = 50  # documents of one transaction
# Folders of a workspace in which earlier versions had other libraries of the same documents.
_FORMER: Final = ("rebuild", "previous")


def remove_documents(
    document_ids: Iterable[str],
    *,
    store: Store,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> Removal:
    """Remove documents with their text, vectors and bytes, and the memories that rest on them.

    Open jobs that would store the same bytes again end with them.

    No search finds them from then on. Words of them stay in the files of the indexes until
    ``erase``, which follows once, after everything that a run removes.

    A file that is still in its folder, or in its archive, comes back with the next ``add`` of it.

    Args:
        on_progress: Called after each removal, when it is safe on disk.

    Raises:
        NotFoundError: an id names no document; nothing was removed.
    """
    documents = [_require(identifier, store) for identifier in dict.fromkeys(document_ids)]
    traces = traces_of(documents, store)
    received: list[str] = []
    for start in range(0, len(documents), _TOGETHER):
        some = documents[start : start + _TOGETHER]
        with store.together():
            received += store.jobs().forget_uploads(some)
            for document in some:
                store.remove(document.id)
                _look_again(document, store)
            store.memories().forget_of([document.id for document in some])
        for done, document in enumerate(some, start + 1):
            on_progress(Progress(done, len(documents), document.source))
    store.jobs().forget_documents(documents)
    store.collect_garbage(GRACE_SECONDS)
    return Removal(tuple(documents), None, replace(traces, uploads=tuple(received)))


def take_off(document: Document, shelves: Collection[str], store: Store) -> Removal:
    """Take a document off some of its shelves; return what ``remove_documents`` would return.

    Who sees only those shelves learns nothing of the others.
    """
    traces = traces_of([document], store)
    store.set_shelves(document.id, sorted(set(document.shelves) - set(shelves)))
    return Removal((document,), None, traces)


def erase(
    traces: Traces,
    store: Store,
    folder: Path,
    rewrite_indexes: Callable[[], int],
) -> FileSearch:
    """Take removed documents out of all files of a workspace, and search the files for them.

    The indexes only mark what is gone, so their files are written anew, and so is the database.

    Args:
        traces: Of one or several runs of ``remove_documents``.
        rewrite_indexes: Writes all indexes anew; returns the change up to which each has come.
    """
    for name in traces.uploads:
        uploads.drop(folder, name)
    drop_former_libraries(folder)
    (folder / LAST_QUESTION).unlink(missing_ok=True)  # it quotes what was found
    (folder / LISTINGS).unlink(missing_ok=True)  # it names files
    store.forget_removals(rewrite_indexes())
    store.compact()
    return search_files(traces, folder, store)


def drop_former_libraries(folder: Path) -> None:
    """Delete what earlier versions left in a workspace: other libraries, a cache of vectors."""
    for path in (folder / "cache").glob("embeddings.db*"):
        path.unlink(missing_ok=True)
    for name in _FORMER:
        shutil.rmtree(folder / name, ignore_errors=True)  # the search of all files finds what stays


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
