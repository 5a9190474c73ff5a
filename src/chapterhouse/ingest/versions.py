"""Files that are sent again under the same name to the same shelf: the last one counts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from chapterhouse.store.sqlite import Store
from chapterhouse.types import DEFAULT_SHELF, Document, FileRecord, Job, Scope


@dataclass(frozen=True, slots=True)
class SentVersions:
    """What a file that was sent replaces on its shelf, or what replaces it.

    Attributes:
        newer: What was sent later and read earlier, if anything; then the file's own ones leave.
    """

    shelf: str
    leaving: tuple[Document, ...] = ()
    newer: tuple[Document, ...] = ()

    def result(self) -> Mapping[str, object]:
        """Return what the result of the job says of it."""
        if self.newer:
            return {"documents": [], "replaced_by": self.newer[0].id}
        return {"replaced": [{"id": one.id, "source": one.source} for one in self.leaving]}


def find_versions(record: FileRecord, job: Job, store: Store) -> SentVersions:
    """Return the other versions of a file that a job has stored, those of an archive in it too.

    Jobs may end in another order than that in which their files came.
    """
    shelf = str(job.arguments["shelf"] or DEFAULT_SHELF)
    own = tuple(_documents(record.location, shelf, store))
    if not own or job.arguments.get("keep") == "both":
        return SentVersions(shelf)
    others = [
        tuple(_documents(one.location, shelf, store))
        for one in store.files_sent_as(str(job.arguments["name"]))
        if one.location != record.location
    ]
    newer = next((found for found in others if found and _is_newer(found[0], job, store)), ())
    leaving = own if newer else tuple(document for found in others for document in found)
    return SentVersions(shelf, leaving, newer)


def take_off(versions: SentVersions, store: Store) -> None:
    """Take the documents that leave a shelf off it; one that is on no other is removed.

    It belongs into the transaction that stores what replaces them.
    """
    removed = [one for one in versions.leaving if set(one.shelves) <= {versions.shelf}]
    for document in versions.leaving:
        if document in removed:
            store.remove(document.id)
        else:
            others = sorted(set(document.shelves) - {versions.shelf})
            store.set_shelves(document.id, others)
    store.memories().forget_of([document.id for document in removed])


def _documents(location: str, shelf: str, store: Store) -> Iterator[Document]:
    """Yield the documents on a shelf that came from a file, or from the files in it."""
    ids = [record.document_id for record in store.files(location) if record.document_id]
    found = store.documents_among(ids, Scope.of([shelf]))
    return (found[name] for name in ids if name in found)


def _is_newer(document: Document, job: Job, store: Store) -> bool:
    """Whether a document came later than the file of a job; in the same second its job says it."""
    if document.modified != job.created:
        return document.modified > job.created
    later = (one for one in store.jobs().jobs() if int(one.id[1:]) > int(job.id[1:]))
    return any(document.id in _named(one) for one in later)


def _named(job: Job) -> tuple[object, ...]:
    found = job.result.get("documents")
    return tuple(found) if isinstance(found, list) else ()
