"""Which document a name means."""

from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.protocols import Store
from chapterhouse.types import Document

_NAMED = 5


def find_document(name: str, store: Store) -> Document:
    """Return the document that ``name`` means: an id, its beginning, a source, a file name.

    Raises:
        NotFoundError: it fits nothing.
        UsageError: it fits several, or is empty.
    """
    if not name.strip():
        raise UsageError("The name of a document is empty.", hint="Is a variable not set?")
    found = store.document(name)
    if found:
        return found
    fitting = [document for document in store.documents(()) if _fits(document, name)]
    if not fitting:
        raise NotFoundError(
            f"No document is called '{name}'.", hint="See them with: chapterhouse docs list"
        )
    if len(fitting) > 1:
        ids = ", ".join(document.id for document in fitting[:_NAMED])
        raise UsageError(f"'{name}' fits {len(fitting)} documents.", hint=f"Use an id: {ids}")
    return fitting[0]


def _fits(document: Document, name: str) -> bool:
    return (
        document.id.startswith(name)
        or name in (document.source, document.location)
        or document.source.rpartition("/")[2].casefold() == name.casefold()
    )
