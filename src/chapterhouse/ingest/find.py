"""Which document, or which file that gave none, a name means; and how its file is now."""

import hashlib
import sys
from collections.abc import Collection, Iterable
from dataclasses import replace

from chapterhouse.connectors.content import open_source
from chapterhouse.errors import NotFoundError, RefusedError, RejectedError, UsageError
from chapterhouse.ingest.look import UNPACKED, ReadingContext
from chapterhouse.ingest.plan import find_file
from chapterhouse.store.sqlite import Store
from chapterhouse.types import Body, Document, FileRecord, Listing, Scope

_NAMED = 5


def find_document(name: str, store: Store) -> Document:
    """Return the document that ``name`` means: an id, its beginning, a source, a file name.

    Raises:
        NotFoundError: it fits nothing; of a file that gave no document it says why.
        UsageError: it fits several, or is empty.
    """
    if not name.strip():
        raise UsageError("The name of a document is empty.", hint="Is a variable not set?")
    found = store.document(name, Scope.everything())
    if found:
        return found
    fitting = [
        document
        for document in store.documents(Scope.everything())
        if document.id.startswith(name) or _fits(document, name)
    ]
    if not fitting:
        raise _without_document(name, store)
    if len(fitting) > 1:
        fitting.sort(key=lambda document: (document.source, document.id))
        shown = [f"  {document.id}  {document.source}" for document in fitting[:_NAMED]]
        more = len(fitting) - len(shown)
        further = [f"  and {more:,} more: chapterhouse docs list"] if more else []
        raise UsageError(
            f"'{name}' fits {len(fitting):,} documents.",
            hint="\n".join(("Use an id:", *shown, *further)),
        )
    return fitting[0]


def find_documents(names: Iterable[str], store: Store) -> frozenset[str]:
    """Return the ids of what is meant by names of documents, and of folders: paths, or their ends.

    A folder means the documents in it and in those below it.

    Raises:
        NotFoundError: a name fits neither; of a file that gave no document it says why.
        UsageError: it fits several documents or folders, or is empty.
    """
    found: set[str] = set()
    folders = _folders_and_above(store)
    for name in names:
        if folder := _folder_named(name.strip().rstrip("/"), folders):
            inside = Listing(folder=folder, limit=sys.maxsize)
            files, _ = store.listed_files(inside, Scope.everything())
            found.update(file.document_id for file in files if file.document_id)
        else:
            found.add(find_document(name, store).id)
    return frozenset(found)


def _folders_and_above(store: Store) -> frozenset[str]:
    """Return every folder in which documents are, or other folders that have some."""
    found: set[str] = set()
    for folder in store.folders(Scope.everything()):
        path = folder
        while path and path not in found:
            found.add(path)
            path = path.rpartition("/")[0]
    return frozenset(found)


def _folder_named(name: str, folders: Collection[str]) -> str:
    """Return the folder of this path, or the one whose path ends so; empty where there is none."""
    if not name or name in folders:
        return name
    fitting = sorted(each for each in folders if each.endswith(f"/{name}"))
    if len(fitting) > 1:
        shown = "\n".join(f"  {each}" for each in fitting[:_NAMED])
        raise UsageError(f"'{name}' fits {len(fitting):,} folders.", hint=f"Name one:\n{shown}")
    return fitting[0] if fitting else ""


def find_archive(name: str, store: Store) -> FileRecord | None:
    """Return the one unpacked archive that ``name`` means: a source, a location, a file name."""
    fitting = [
        record for record in store.files() if record.code == UNPACKED and _fits(record, name)
    ]
    return fitting[0] if len(fitting) == 1 else None


def _fits(entry: Document | FileRecord, name: str) -> bool:
    return (
        name in (entry.source, entry.location)
        or entry.source.rpartition("/")[2].casefold() == name.casefold()
    )


def _without_document(name: str, store: Store) -> NotFoundError:
    """Say that nothing has a name, or what became of the files that have it."""
    try:
        files = [entry for entry in store.files() if not entry.document_id and _fits(entry, name)]
    except RefusedError:  # who sees a part of the library is told of no other file
        files = []
    if not files:
        hint = "See them with: chapterhouse docs list"
        for folder in _folders_and_above(store):  # a path on the disk that leads to it
            if f"/{name.rstrip('/')}".endswith(f"/{folder}"):
                hint = f"If you mean the folder, the library calls it '{folder}'."
        return NotFoundError(f"No document is called '{name}'.", hint=hint)
    first = files[0]
    state = first.code if first.code == UNPACKED else f"{first.status.value}, {first.code}"
    hint = "See every file with: chapterhouse docs list --files"
    if len(files) > 1:
        hint = f"{len(files):,} files have that name. {hint}"
    return NotFoundError(
        f"{first.source} gave no document ({state}). {first.sentence}".strip(), hint=hint
    )


def read_current(document: Document, work: ReadingContext) -> tuple[Document, Body] | None:
    """Return a document and its text out of its file, where that has other bytes now.

    The text is empty where the file cannot be read any more.

    Returns:
        None where the file is as it was read, or not on this machine.
    """
    file = find_file(document, work.store)
    if file is None or file.problem is not None:
        return None
    try:
        content = open_source(file, maximum_bytes=work.maximum_bytes)
    except RejectedError:
        return None
    if content.sha256 == document.sha256:
        return None
    try:
        prepared = work.prepare(work.read(content.data, file.name).result(), file, content)
    except RejectedError:
        empty = hashlib.sha256(b"").hexdigest()
        return replace(document, sha256=content.sha256, text_sha256=empty), Body("")
    text = prepared.document.text_sha256
    return replace(document, sha256=content.sha256, text_sha256=text), prepared.body
