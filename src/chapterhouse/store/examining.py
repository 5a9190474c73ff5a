"""What the store can see of its own rows: damage, orphans, and how both are repaired.

Every document has a checksum of its rows (``store/writing.py``), so that a changed byte shows in
columns that nothing else compares. Names, times and shelves may change without a reading; they are
compared with the ledger of files and with the indexes.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import apsw

from chapterhouse.errors import CorruptLibraryError
from chapterhouse.ports.store import Blobs
from chapterhouse.store import writing
from chapterhouse.store.connections import Connections
from chapterhouse.store.memory import remake_terms, terms_faults
from chapterhouse.store.rows import to_json
from chapterhouse.store.statements import Row, first, run, run_many
from chapterhouse.types import Finding, Remedy, Status

_BACKUP: Final = "Restore the library from a backup."
_INTEGRITY_ROWS: Final = 5  # of what SQLite finds
# Statements that give a sentence and a target, by the part they look at and what helps.
_LOOKS: Final = (
    ("counter_faults", "sequences", Remedy.DROP),
    ("sequence_faults", "sequences", Remedy.DROP),
    ("incomplete_documents", "parts", Remedy.REREAD),
    ("shelf_faults", "shelves", Remedy.DROP),
    ("documents_without_file", "files", Remedy.REREAD),
    ("files_without_document", "files", Remedy.FORGET),
    ("content_orphans", "orphans", Remedy.DROP),
    ("cached_answer_orphans", "orphans", Remedy.DROP),
    ("unreadable_memories", "memories", Remedy.DROP),
    ("unreadable_encoders", "encoders", Remedy.DROP),
)


class StoreExaminer:
    """Looks at the rows of one workspace, and repairs what only the store can."""

    def __init__(self, connections: Connections, blobs: Blobs, inline_maximum: int) -> None:
        self._connections = connections
        self._blobs = blobs
        self._inline_maximum = inline_maximum

    def findings(self) -> Iterator[Finding]:
        """Yield what the store can see of itself; of a damaged file nothing but that."""
        damaged = list(self._integrity())
        yield from damaged
        if damaged:
            return  # what lies on damaged pages would only repeat it
        for row in self._all("foreign_keys"):
            sentence = f"a row of the table {row[0]} belongs to nothing"
            yield Finding("orphans", sentence, Remedy.DROP, str(row[0]))
        for statement, part, remedy in _LOOKS:
            for row in self._all(statement):
                yield _finding(part, row, remedy)
        for row in self._all("file_faults", to_json([status.value for status in Status])):
            remedy = Remedy.REREAD if row[1] else Remedy.FORGET
            yield _finding("files", row, remedy)
        yield from self._root_faults()
        with self._connections.read() as connection:
            for sentence in terms_faults(connection):
                yield Finding("memories", sentence, Remedy.DROP)

    def document_ids(self) -> Sequence[str]:
        """Return the id of every document, also of those whose rows cannot be read."""
        return [str(identifier) for (identifier,) in self._all("every_document_id")]

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
        for identifier, key in self._all("all_chunk_keys"):
            keys.setdefault(identifier, []).append(key)
        return keys

    def hashes(self) -> Mapping[str, bool]:
        """Return the hash of the bytes of every document, and whether the database has them."""
        return {str(sha256): bool(inline) for sha256, inline in self._all("needed_hashes")}

    def restore(self, sha256: str, data: bytes) -> None:
        """Store the bytes of a hash in place of those that are there."""
        if len(data) > self._inline_maximum:
            self._blobs.put(data)
            return
        with self._connections.write() as connection:
            run(connection, "replace_content", sha256, data)

    def reset(self, document_id: str) -> None:
        """Make the row of a document readable, so that the document can be read again."""
        with self._connections.write() as connection:
            run(connection, "reset_document", document_id)

    def drop_orphans(self) -> int:
        """Delete rows that belong to nothing, and correct counts; return how many rows went."""
        with self._connections.write() as connection:
            dropped = 0
            for table, rowid, parent, _ in run(connection, "foreign_keys"):
                dropped += _drop_row(connection, str(table), rowid, str(parent))
            run(connection, "correct_counter")
            run(connection, "raise_counter")
            dropped += len(run(connection, "removals_of_documents"))
            dropped += _renumber(connection)
            run(connection, "correct_locations")
            _restore_shelves(connection)
            for statement in ("content", "cached_answer"):
                dropped += len(run(connection, f"drop_{statement}_orphans"))
            dropped += len(run(connection, "drop_unreadable_encoders"))
            for _, key in run(connection, "unreadable_memories"):
                run(connection, "drop_memory", key)
                dropped += 1
            remake_terms(connection)
            _restore_roots(connection)
        return dropped

    # --- inside --------------------------------------------------------------------------------

    def _integrity(self) -> Iterator[Finding]:
        try:
            with self._connections.read_anew() as connection:
                faults = [" ".join(map(str, row)) for row in run(connection, "integrity")]
        except CorruptLibraryError as error:  # a look at damage may fail on it
            faults = [error.message]
        for fault in faults[:_INTEGRITY_ROWS] if faults != ["ok"] else ():
            sentence = f"SQLite finds damage: {' '.join(fault.split())}"
            yield Finding("database", sentence, Remedy.REBUILD, hint=_BACKUP)

    def _root_faults(self) -> Iterator[Finding]:
        for folder, label in _roots_of(self._all("documents_and_roots")).items():
            sentence = f"the folder {folder}, which gives the name {label}, is not recorded so"
            yield Finding("folders", sentence, Remedy.DROP, folder)

    def _all(self, name: str, *bindings: str) -> Sequence[Row]:
        with self._connections.read() as connection:
            return run(connection, name, *bindings)


def _finding(part: str, row: Row, remedy: Remedy) -> Finding:
    target = str(row[1]) if len(row) > 1 and row[1] is not None else ""
    return Finding(part, str(row[0]), remedy, target)


def _drop_row(connection: apsw.Connection, table: str, rowid: int | None, parent: str) -> int:
    """Delete a row that refers to nothing; where a table has no row ids, all such rows of it.

    The column that refers to another table has its name.
    """
    if rowid is not None:
        statement = f'DELETE FROM "{table}" WHERE rowid = ?'  # noqa: S608 - SQLite named the table
        connection.execute(statement, (rowid,))
    else:
        connection.execute(
            f'DELETE FROM "{table}" WHERE "{parent}" NOT IN (SELECT key FROM "{parent}")'  # noqa: S608 - likewise
        )
    return int(connection.changes())


def _renumber(connection: apsw.Connection) -> int:
    """Give removals whose number a document has another one."""
    found = connection.execute(
        "SELECT document_id FROM removal WHERE sequence IN (SELECT sequence FROM document)"
    ).fetchall()
    for (identifier,) in found:
        ((number,),) = run(connection, "next_sequence")
        run(connection, "put_removal", identifier, number)
    return len(found)


def _restore_shelves(connection: apsw.Connection) -> None:
    """Put documents on the shelves of their checksum, where it holds with these."""
    for key, identifier, shelves in run(connection, "shelves_to_restore"):
        ((_, wanted, _, current),) = run(connection, "checksum", identifier)
        if writing.checksum_now(connection, key, shelves) == wanted:
            run(connection, "clear_memberships", key)
            memberships = ((key, shelf) for shelf in json.loads(shelves))
            run_many(connection, "put_membership", memberships)
            run(connection, "touch_document", writing.next_sequence(connection), key)
        elif writing.checksum_now(connection, key, current) == wanted:
            run(connection, "put_checksum", key, current, wanted)


def _roots_of(found: Sequence[Row]) -> Mapping[str, str]:
    """Return the folders that documents lie in and that are not recorded under their label.

    A source is the label of its folder and the names below it, as many as the location has.
    """
    wrong: dict[str, str] = {}
    for location, source, label in found:
        own, *names = source.split("/")
        if label != own and names:
            wrong[location.rsplit("/", len(names))[0] or "/"] = own
    return wrong


def _restore_roots(connection: apsw.Connection) -> None:
    for folder, label in _roots_of(run(connection, "documents_and_roots")).items():
        run(connection, "drop_root_at", folder, label)
        run(connection, "put_root", folder, label)
