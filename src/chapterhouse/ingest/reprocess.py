"""Read documents again, after a better reader, chunker or embedder came."""

import time
from collections.abc import Iterable
from pathlib import Path

from chapterhouse.connectors.content import Content, open_source
from chapterhouse.connectors.folder import SourceFile
from chapterhouse.errors import NotFoundError, RejectedError
from chapterhouse.ingest.look import Look, Work, is_suspect
from chapterhouse.ingest.pipeline import run_suspects_last, submit
from chapterhouse.ingest.plan import find_file
from chapterhouse.store.sqlite import Store
from chapterhouse.types import AddReport, Document, FileRecord, Scope, Status


def reprocess(document_ids: Iterable[str], work: Work) -> AddReport:
    """Read and store documents again, all of them where none is named.

    The bytes are those of the file where it still is, and those kept in the library where it is
    gone. Shelves and ids stay.

    Raises:
        NotFoundError: an id names no document; nothing was done.
    """
    documents = _chosen(tuple(dict.fromkeys(document_ids)), work.store)
    known = {document.id: work.store.file(document.location) for document in documents}
    return run_suspects_last(
        documents,
        lambda document: (record := known[document.id]) is not None and is_suspect(record),
        lambda chosen: (_look(document, known[document.id], work) for document in chosen),
        work,
    )


def _chosen(document_ids: tuple[str, ...], store: Store) -> list[Document]:
    if not document_ids:
        return sorted(
            store.documents(Scope.everything()), key=lambda document: (document.source, document.id)
        )
    documents = []
    for identifier in document_ids:
        document = store.document(identifier, Scope.everything())
        if document is None:
            raise NotFoundError(
                f"There is no document '{identifier}'.", hint="See: chapterhouse docs list"
            )
        documents.append(document)
    return sorted(documents, key=lambda document: (document.source, document.id))


def _look(document: Document, known: FileRecord | None, work: Work) -> Look:
    started = time.monotonic()
    if known and known.status is Status.QUARANTINED:
        return Look(_stored_file(document), known, started=started)
    file, content = find_file(document, work.store), None
    if file is not None and file.problem is None:
        try:
            content = open_source(file, maximum_bytes=work.maximum_bytes)
        except RejectedError:
            content = None  # not readable now, but the bytes we kept are
    if file is None or content is None:
        file = _stored_file(document)
    try:
        content = content or _stored_content(document, known, work.store)
    except RejectedError as error:
        return Look(file, known, error=error, started=started)
    return submit(Look(file, known, content, started=started), work)


def _stored_file(document: Document) -> SourceFile:
    """Return the file as it was when its bytes were kept."""
    path = Path(document.location)
    return SourceFile(path.parent, (path.name,), document.location, document.source)


def _stored_content(document: Document, known: FileRecord | None, store: Store) -> Content:
    data = store.content(document.sha256, Scope.everything())
    if data is None:
        # "vanished" leaves the document as it is: its text is still good.
        raise RejectedError(
            "vanished",
            f"The bytes of {document.source} are neither in its folder nor in the library.",
            hint="Run: chapterhouse doctor",
        )
    mtime_ns = known.mtime_ns if known else 0
    return Content(data, document.sha256, len(data), mtime_ns, document.modified)
