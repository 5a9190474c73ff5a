"""Read documents again, after a better reader, chunker or embedder came."""

from collections.abc import Generator, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from chapterhouse.connectors.content import Content, open_source
from chapterhouse.connectors.folder import SourceFile
from chapterhouse.errors import NotFoundError, RejectedError
from chapterhouse.ingest.ingest import apply_plan
from chapterhouse.ingest.look import ReadingContext
from chapterhouse.ingest.plan import plan_known
from chapterhouse.store.sqlite import Store
from chapterhouse.types import AddReport, Document, FileRecord, Scope, Status


def reprocess(document_ids: Iterable[str], work: ReadingContext) -> AddReport:
    """Read and store documents again, all of them where none is named.

    The bytes are those of the file where it still is, and those kept in the library where it is
    gone. Shelves and ids stay.

    Raises:
        NotFoundError: an id names no document; nothing was done.
    """
    documents = {one.location: one for one in _chosen(document_ids, work.store)}
    plan = plan_known(documents, work.store)
    parked = {one.location for one in plan.known.values() if one.status is Status.QUARANTINED}
    there = {one.location: one for one in plan.files if not one.problem}
    files = tuple(
        there.get(place) or _stored_file(document, plan.known.get(place))
        for place, document in documents.items()
    )

    def contents(files: Sequence[SourceFile], maximum: int) -> Generator[Content | RejectedError]:
        for file in files:
            content = None
            if file.location in there:
                with suppress(RejectedError):  # not readable now, but the bytes we kept are
                    content = open_source(file, maximum_bytes=maximum)
            yield content or _stored_content(documents[file.location], file, work.store)

    return apply_plan(replace(plan, files=files, again=documents.keys() - parked), contents, work)


def _chosen(document_ids: Iterable[str], store: Store) -> list[Document]:
    everything = Scope.everything()
    documents = {name: store.document(name, everything) for name in document_ids}
    for name, document in documents.items():
        if document is None:
            raise NotFoundError(
                f"There is no document '{name}'.", hint="See: chapterhouse docs list"
            )
    found = filter(None, documents.values()) if documents else store.documents(everything)
    return sorted(found, key=lambda document: (document.source, document.id))


def _stored_file(document: Document, known: FileRecord | None) -> SourceFile:
    """Return the file as it was when its bytes were kept."""
    path = Path(document.location)
    file = SourceFile(path.parent, (path.name,), document.location, document.source)
    if known is None:
        return file
    return replace(file, size=known.size, mtime_ns=known.mtime_ns, ctime_ns=known.ctime_ns)


def _stored_content(document: Document, file: SourceFile, store: Store) -> Content | RejectedError:
    data = store.content(document.sha256, Scope.everything())
    if data is None:
        # "vanished" leaves the document as it is: its text is still good.
        return RejectedError(
            "vanished",
            f"The bytes of {document.source} are neither in its folder nor in the library.",
            hint="Run: chapterhouse doctor",
        )
    return Content(data, document.sha256, len(data), file.mtime_ns, document.modified)
