"""What is indexed of a council's shared documents, and why something is not."""

from collections.abc import Iterator
from dataclasses import replace

from chapterhouse.agents.council_folder import CouncilFolder
from chapterhouse.agents.listing import IndexState, Listed
from chapterhouse.connectors.folder import SourceFile, walk
from chapterhouse.ports.store import Store
from chapterhouse.types import BENIGN_NOTICES, Document, Scope, Status

_NOT_READ = "It was not read yet: that happens when the council next meets, or with docs link."


def listing(folder: CouncilFolder, store: Store) -> tuple[Listed, ...]:
    """Return every file of ``docs/`` and of the linked folders, in order of source."""
    entries = {entry.path: entry for entry in _entries(folder, store)}
    return tuple(sorted(entries.values(), key=lambda entry: (entry.source, entry.path)))


def _entries(folder: CouncilFolder, store: Store) -> Iterator[Listed]:
    for root in (folder.docs, *folder.folders):
        if root.is_dir():
            label = folder.council.shelf if root == folder.docs else ""
            for file in walk(root, label):
                yield _listed(file, folder.council.shelf, store)


def _listed(file: SourceFile, shelf: str, store: Store) -> Listed:
    record = store.file(file.location)
    entry = Listed(record.source if record else file.source, file.location)
    document = (
        store.document(record.document_id, Scope.everything())
        if record and record.document_id
        else None
    )
    if document is not None and shelf in document.shelves:
        return _indexed(entry, document, shelf)
    if record is not None and document is None and record.code:
        kind = IndexState.IGNORED if record.status is Status.SKIPPED else IndexState.REJECTED
        return replace(entry, status=kind, reason=record.sentence, code=record.code)
    if file.problem is not None:
        code, reason = file.problem.code, file.problem.sentence
        return replace(entry, status=IndexState.REJECTED, reason=reason, code=code)
    return replace(entry, reason=_NOT_READ, code="not-read-yet")


def _indexed(entry: Listed, document: Document, shelf: str) -> Listed:
    partial = document.status is Status.PARTIAL
    warnings = [notice for notice in document.notices if notice.code not in BENIGN_NOTICES]
    return replace(
        entry,
        document_id=document.id,
        title=document.title,
        status=IndexState.PARTIAL if partial else IndexState.INDEXED,
        reason=warnings[0].sentence if partial and warnings else "",
        code=warnings[0].code if partial and warnings else "",
        chunks=document.chunks,
        shared_with=tuple(name for name in document.shelves if name != shelf),
    )
