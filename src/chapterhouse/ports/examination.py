"""What looking for damage in the truth needs of a store."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol


class Examination(Protocol):
    """Looks at the rows of a store as they are."""

    def faults(self, *, thorough: bool) -> Iterator[str]:
        """Yield what the store can see of itself: its file, its references, its numbers.

        Raises:
            CorruptLibraryError: its file is damaged.
        """
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
