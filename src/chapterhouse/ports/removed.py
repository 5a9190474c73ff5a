"""Documents that were removed and may come back."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from chapterhouse.types import RemovedDocument


class RemovedDocuments(Protocol):
    """The bytes of removed documents, as long as they are retained. No search looks into them."""

    def add(self, entries: Iterable[RemovedDocument]) -> None:
        """Retain the bytes of documents that are about to be removed, one of each place."""
        ...

    def entries(self) -> Sequence[RemovedDocument]:
        """Return what is retained, the latest removal first, each in order of source."""
        ...

    def expired(self, now: int) -> Sequence[RemovedDocument]:
        """Return what is retained no longer than ``now``, in seconds."""
        ...

    def drop(self, locations: Iterable[str]) -> int:
        """Drop what is retained of these places, with bytes that nothing else needs; count it."""
        ...

    def naming(self, document_ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Return in which tables documents are still named, by those ids that are."""
        ...

    def forget_names(self, names: Iterable[str]) -> None:
        """Take the names of removed files out of the records of jobs that have ended."""
        ...

    def forget_removals(self, sequence: int) -> None:
        """Drop the ids of documents removed up to a change that every index has applied."""
        ...
