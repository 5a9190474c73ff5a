"""What the store can see of its own rows: damage, and rows that belong to nothing.

Every document has a checksum of its rows (``store/writing.py``), so that a changed byte shows in
columns that nothing else compares.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from chapterhouse.errors import CorruptLibraryError
from chapterhouse.store import writing
from chapterhouse.store.rows import Database, first, repeatable, run, to_json
from chapterhouse.types import Status

# Statements of which each row begins with a sentence.
_LOOKS: Final = (
    "counter_faults",
    "sequence_faults",
    "incomplete_documents",
    "shelf_faults",
    "documents_without_file",
    "files_without_document",
    "content_orphans",
    "unreadable_records",
)


@repeatable
class StoreExaminer:
    """Looks at the rows of one workspace; writes nothing."""

    def __init__(self, connections: Database) -> None:
        self._connections = connections
        self._rows = connections.rows

    def faults(self, *, thorough: bool) -> Iterator[str]:
        """Yield what is wrong with the rows as they refer to each other.

        Args:
            thorough: Also compare the database's own indexes with its tables.

        Raises:
            CorruptLibraryError: pages are damaged: what lies on them would only repeat it.
        """
        with self._connections.read_anew() as connection:
            (found, *_), *_ = run(connection, "integrity" if thorough else "quick_integrity")
        if found != "ok":
            raise CorruptLibraryError(f"SQLite finds damage: {' '.join(str(found).split())}")
        for row in self._rows("foreign_keys"):
            yield f"a row of the table {row[0]} belongs to nothing"
        for statement in _LOOKS:
            yield from (str(row[0]) for row in self._rows(statement))
        for row in self._rows("file_faults", to_json([status.value for status in Status])):
            yield str(row[0])

    def document_ids(self) -> Sequence[str]:
        """Return the id of every document, also of those whose rows cannot be read."""
        return [str(identifier) for (identifier,) in self._rows("every_document_id")]

    def row_fault(self, document_id: str) -> str:
        """Say how the rows of a document differ from what was written, or nothing."""
        with self._connections.read() as connection:
            found = first(connection, "checksum", document_id)
            if not found or found[1] is None:
                return ""
            key, wanted, shelves, _ = found
            current = writing.checksum_now(connection, key, shelves)
        return "" if current == wanted else "its rows are not those that were written"

    def chunk_keys(self) -> Mapping[str, Sequence[int]]:
        """Return the chunk keys of every document that has some, in order, by its id."""
        keys: dict[str, list[int]] = {}
        for identifier, key in self._rows("all_chunk_keys"):
            keys.setdefault(identifier, []).append(key)
        return keys

    def hashes(self) -> Mapping[str, bool]:
        """Return the hash of the bytes of every document, and whether the database has them."""
        return {str(sha256): bool(inline) for sha256, inline in self._rows("needed_hashes")}
