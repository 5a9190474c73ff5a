"""Which document, or which file that gave none, a name means."""

from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.ingest.look import UNPACKED
from chapterhouse.store.sqlite import Store
from chapterhouse.types import Document, FileRecord, Scope

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
    files = [entry for entry in store.files() if not entry.document_id and _fits(entry, name)]
    if not files:
        hint = "See them with: chapterhouse docs list"
        return NotFoundError(f"No document is called '{name}'.", hint=hint)
    first = files[0]
    state = first.code if first.code == UNPACKED else f"{first.status.value}, {first.code}"
    hint = "See every file with: chapterhouse docs list --files"
    if len(files) > 1:
        hint = f"{len(files):,} files have that name. {hint}"
    return NotFoundError(
        f"{first.source} gave no document ({state}). {first.sentence}".strip(), hint=hint
    )
