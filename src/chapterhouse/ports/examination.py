"""What looking for damage in the truth, and repairing it, needs of a store."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from chapterhouse.types import Finding


class Examination(Protocol):
    """Looks at the rows of a store as they are, and repairs what only the store can."""

    def findings(self) -> Iterator[Finding]:
        """Yield what the store can see of itself: its file, its references, its numbers."""
        ...

    def document_ids(self) -> Sequence[str]:
        """Return the id of every document, also of those whose rows cannot be read."""
        ...

    def row_fault(self, document_id: str) -> str:
        """Say how the rows of a document differ from what was written, or nothing."""
        ...

    def chunk_keys(self) -> Mapping[str, Sequence[int]]:
        """Return the chunk keys of every document that has some, in order, by its id."""
        ...

    def hashes(self) -> Mapping[str, bool]:
        """Return the hash of the bytes of every document, and whether the database has them."""
        ...

    def restore(self, sha256: str, data: bytes) -> None:
        """Store the bytes of a hash in place of those that are there."""
        ...

    def reset(self, document_id: str) -> None:
        """Make the row of a document readable, so that the document can be read again."""
        ...

    def drop_orphans(self) -> int:
        """Delete rows that belong to nothing, and correct counts; return how many rows went."""
        ...
