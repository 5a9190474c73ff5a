"""The truth in one database, and what every transaction of it does.

The bytes of files up to ``inline_maximum`` are in the database, in the document's own transaction,
which spares each the two synchronisations of a blob. Larger ones are blobs, written before the
transaction, so that a document never lacks its bytes.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from chapterhouse.errors import CorruptLibraryError, RefusedError
from chapterhouse.store import rows, writing
from chapterhouse.store.blobs import Blobs, BlobStore
from chapterhouse.store.connections import Connections
from chapterhouse.store.embeddings import EmbeddingStore
from chapterhouse.store.examining import StoreExaminer
from chapterhouse.store.jobs import JobStore
from chapterhouse.store.memory import MemoryStore
from chapterhouse.store.names import NameDecisionStore
from chapterhouse.store.questions import QuestionStore
from chapterhouse.store.reading import StoreReader
from chapterhouse.store.rows import Database, first, repeatable, run
from chapterhouse.store.shared_files import SharedFiles
from chapterhouse.store.snapshot import take_snapshot
from chapterhouse.store.sources import SourceStore
from chapterhouse.types import Body, Chunk, Document, FileMove, FileRecord, Snapshot, StoredSetting


@repeatable
class SettingStore:
    """The settings in the database of one workspace."""

    def __init__(self, connections: Database) -> None:
        self._connections = connections

    def values(self) -> Mapping[str, StoredSetting]:
        """Return what is set, by name, what was changed last first."""
        rows = self._connections.rows("stored_settings")
        return {name: StoredSetting(_parsed(value), at, by) for name, value, at, by in rows}

    def write(self, name: str, value: object, by: str, at: int) -> None:
        """Set a value, as JSON has it."""
        self._add(name, json.dumps(value, ensure_ascii=False, allow_nan=False), by, at)

    def reset(self, name: str, by: str, at: int) -> None:
        """Say nothing of a setting any more."""
        self._add(name, None, by, at)

    def sequence(self) -> int:
        """Return the number of the latest change; 0 where there was none."""
        return int(self._connections.rows("setting_sequence")[0][0])

    def _add(self, name: str, value: str | None, by: str, at: int) -> None:
        with self._connections.write() as connection:
            run(connection, "put_setting_change", name, value, at, by)


def _parsed(text: str | None) -> Any:
    """Return a value; a text that is no JSON, as in a database from elsewhere, as it is."""
    try:
        return None if text is None else json.loads(text)
    except (ValueError, RecursionError):
        return text


# A blob is written before its document is committed: it may be needed by one on its way.
GRACE_SECONDS = 3_600.0


_SHOWN = 3
IDENTITY = "index/store"  # in the folder of a workspace: whose the indexes are, if not the file's
_FOLDERS = ("blobs", "uploads", "index", "background")  # what there is only with a database


def require_not_emptied(path: Path) -> None:
    """Refuse a database that is empty or missing where files beside it say that it was not.

    SQLite would make a new one: a library without documents, whose blobs no document needs.
    """
    if path.exists() and path.stat().st_size:
        return
    if (path.parent / IDENTITY).exists():
        raise RefusedError(
            f"The library of {path.parent} is in PostgreSQL, and no address of it is set.",
            hint="Set CHAPTERHOUSE_STORE, or store.address. To begin a new library in files, move"
            f" {path.parent} away.",
        )
    folders = (path.parent / name for name in _FOLDERS)
    left = [one.name for one in folders if any(file.is_file() for file in one.rglob("*"))]
    if left:
        what = "is empty" if path.exists() else "is missing"
        blobs = sorted(Blobs(path.parent / "blobs").hashes())
        named = f" Blobs, bytes of larger files: {', '.join(blobs[:_SHOWN])}" if blobs else ""
        more = f" and {len(blobs) - _SHOWN} more" if len(blobs) > _SHOWN else ""
        raise CorruptLibraryError(
            f"{path} {what}, but {' and '.join(left)} of its library are there.{named}{more}",
            hint=f"Move {path.parent} away. Then restore it from an export: chapterhouse import"
            " FILE. Or add the files again.",
        )


@repeatable
class Store(StoreReader):
    """The store of one workspace, for several threads and processes at once.

    Every method that writes is one durable transaction: once it returns, its effect survives a
    power cut; until then nobody sees any of it.

    Args:
        place: A database, which is closed with the store; or the path of one of SQLite, created,
            with its folder, if it is not there.
        blobs: Where the bytes of larger files are kept.

    Raises:
        CorruptLibraryError: ``place`` is something else, or damaged.
        NewerLibraryError: ``place`` was written by a newer Chapterhouse.
    """

    def __init__(self, place: Path | Database, *, blobs: BlobStore) -> None:
        if isinstance(place, Path):
            require_not_emptied(place)
            place = Connections(place)
        super().__init__(place, blobs)
        self._perhaps_unneeded: list[str] = []  # blobs, to be looked at after the transaction
        if self._connections.upgraded:
            self.collect_garbage(GRACE_SECONDS)

    def close(self) -> None:
        """Close the file. The store cannot be used afterwards."""
        self._connections.close()

    @property
    def blobs(self) -> BlobStore:
        """Where the bytes of larger files are."""
        return self._blobs

    @property
    def identity(self) -> str:
        """What no other store has; empty for a file."""
        return self._connections.identity

    def shared_files(self) -> SharedFiles | None:
        """Return the files that all machines with this store have; None of a store in a file."""
        return SharedFiles(self._connections) if self.identity else None

    def memories(self) -> MemoryStore:
        """Return the memories that are kept beside the documents."""
        return MemoryStore(self._connections)

    def embeddings(self) -> EmbeddingStore:
        """Return the vectors that come after their documents, and the encoders' roles."""
        return EmbeddingStore(self._connections)

    def sources(self) -> SourceStore:
        """Return what the library is to be the image of."""
        return SourceStore(self._connections)

    def jobs(self) -> JobStore:
        """Return the long work that is done, or waits to be."""
        return JobStore(self._connections)

    def questions(self) -> QuestionStore:
        """Return the questions as they are counted."""
        return QuestionStore(self._connections)

    def settings(self) -> SettingStore:
        """Return the settings that were changed in the database."""
        return SettingStore(self._connections)

    def name_decisions(self) -> NameDecisionStore:
        """Return what people said of names."""
        return NameDecisionStore(self._connections)

    def examination(self) -> StoreExaminer:
        """Return what looks for damage in the rows."""
        return StoreExaminer(self._connections)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # --- writing -------------------------------------------------------------------------------

    @contextmanager
    def together(self) -> Iterator[None]:
        """Write all that this thread writes in the block in one transaction, or nothing of it.

        One synchronisation of the disk is paid instead of one each. Others cannot write meanwhile,
        so nothing that takes long belongs inside.
        """
        try:
            with self._connections.write():
                yield
        except BaseException:
            self._perhaps_unneeded.clear()
            # Read inside, they may hold what never came to be.
            self._censuses.clear()
            self._known_documents = (-1, {})
            raise
        while self._perhaps_unneeded and not self._connections.is_writing():
            self._drop_blob(self._perhaps_unneeded.pop())

    def put(
        self,
        document: Document,
        body: Body,
        chunks: Sequence[Chunk],
        record: FileRecord,
        content: bytes,
    ) -> str:
        """Add or replace a document with everything that belongs to it; return its id.

        A document that stands at the same location is replaced and keeps its id. An id that
        another location has is made free by ``-2``, ``-3`` and so on; the file's record names
        the id that was given. Vectors that were made of the same text stay.

        Raises:
            ValueError: parts of the document contradict each other.
            UsageError: a text holds a lone surrogate.
        """
        writing.require_agreement(document, chunks, record, content)
        is_inline = len(content) <= self._connections.inline_maximum
        if not is_inline:
            self._blobs.put(content)  # before the lock: it may take long
        with self._connections.write() as connection:
            if is_inline:
                run(connection, "put_content", document.sha256, content)
            elif not self._blobs.has(document.sha256):  # garbage collection came between
                self._blobs.put(content)
            earlier = first(connection, "document_at", document.location)
            identifier = earlier[1] if earlier else writing.free_id(connection, document)
            known = writing.vectors_by_content(connection, earlier[0]) if earlier else {}
            sequence = writing.next_sequence(connection)
            values = rows.document_row(document, identifier, sequence)
            ((key,),) = run(connection, "put_document", *values)
            if earlier:
                writing.clear_parts(connection, key, earlier[2])
            else:
                run(connection, "drop_removal", identifier)
            writing.write_parts(connection, key, body, chunks)
            writing.write_shelves(connection, key, document.shelves)
            writing.write_known_vectors(connection, key, known)
            writing.write_file(connection, record, identifier)
        if earlier:
            self._drop_blob(earlier[2])
        return str(identifier)

    def cut_anew(self, document: Document, chunks: Sequence[Chunk]) -> bool:
        """Replace the chunks of a stored document, and nothing else; vectors as in ``put``.

        Returns:
            False if it was replaced or removed meanwhile; nothing was written.
        """
        with self._connections.write() as connection:
            found = first(connection, "document_named", document.id)
            if not found or found[2] != document.sha256:
                return False
            key = found[0]
            known = writing.vectors_by_content(connection, key)
            sequence = writing.next_sequence(connection)
            run(connection, "put_cutting", len(chunks), document.cut_by, sequence, key)
            writing.write_chunks_anew(connection, key, chunks)
            writing.write_known_vectors(connection, key, known)
        return True

    def record_file(self, record: FileRecord) -> None:
        """Remember what became of a file without writing a document.

        A document that stands at this location is removed unless the record names it.
        """
        with self._connections.write() as connection:
            found = first(connection, "document_at", record.location)
            removed = found if found and found[1] != record.document_id else None
            if removed:
                writing.remove_document(connection, removed)
            identifier = record.document_id if found else ""
            writing.write_file(connection, record, identifier)
        if removed:
            self._drop_blob(removed[2])

    def set_volume(self, locations: Sequence[str], volume: str) -> None:
        """Remember on which volume files were seen."""
        with self._connections.write() as connection:
            run(connection, "set_volume", volume, rows.to_json(locations))

    def forget_file(self, location: str) -> None:
        """Drop the record of a file that is gone and gave no document."""
        with self._connections.write() as connection:
            if not first(connection, "document_at", location):
                run(connection, "drop_file", location)

    def remove(self, document_id: str) -> int | None:
        """Remove a document and its file's record; return the sequence, or None if not there."""
        with self._connections.write() as connection:
            found = first(connection, "document_named", document_id)
            if not found:
                return None
            run(connection, "drop_file", found[3])
            sequence = writing.remove_document(connection, found)
        self._drop_blob(found[2])
        return sequence

    def forget_removals(self, sequence: int) -> None:
        """Drop the ids of documents removed up to a change that every index has applied."""
        with self._connections.write() as connection:
            run(connection, "forget_removals", sequence)

    def compact(self) -> None:
        """Write the database anew, so that nothing removed stays in it; see ``Connections``."""
        self._connections.compact()

    def set_shelves(self, document_id: str, shelves: Sequence[str]) -> int | None:
        """Put a document on exactly these shelves; return the sequence, or None if not there."""
        with self._connections.write() as connection:
            found = first(connection, "document_named", document_id)
            if not found:
                return None
            sequence = writing.next_sequence(connection)
            run(connection, "touch_document", sequence, found[0])
            run(connection, "clear_memberships", found[0])
            writing.write_shelves(connection, found[0], shelves)
            return sequence

    def move_files(self, moves: Sequence[FileMove]) -> None:
        """Give files other locations, all at once, so that two may change places.

        Their documents go with them and stay as they are: id, text, chunks, vectors. A document at
        one of the new locations whose own file is not among them is removed.
        """
        with self._connections.write() as connection:
            replaced = writing.move_files(connection, moves)
        for sha256 in replaced:
            self._drop_blob(sha256)

    def label_root(self, location: str, wanted: str) -> str:
        """Return the label of an added folder, ``wanted`` or ``wanted-2`` and so on if new."""
        labels = {place: label for label, place in self.roots()}
        if location in labels:
            return labels[location]
        with self._connections.write() as connection:
            taken = {place: label for label, place in run(connection, "roots")}
            if location not in taken:
                names = set(taken.values())
                label, number = wanted, 1
                while label in names:
                    number += 1
                    label = f"{wanted}-{number}"
                run(connection, "put_root", location, label)
                taken[location] = label
            return str(taken[location])

    def blob_hashes(self) -> tuple[str, ...]:
        """Return the hashes of the files whose bytes are blobs, sorted."""
        return tuple(str(sha256) for (sha256,) in self._rows("blob_hashes"))

    def snapshot(self, path: Path, agree: Callable[[], None], *, memories: bool) -> Snapshot:
        """Write the database as it is at one moment to a new file; see ``take_snapshot``."""
        return take_snapshot(self._connections, path, agree, memories=memories)

    def relocate(self, before: str, after: str) -> None:
        """Let what was read at or below one absolute path be known at or below another.

        What is known there already stays where it was.
        """
        with self._connections.write() as connection:
            for table in ("documents", "files", "roots", "sources"):
                run(connection, f"relocate_{table}", before, after)

    def collect_garbage(self, grace: float) -> int:
        """Delete blobs that no document needs and that are ``grace`` seconds old; count them.

        The lock is taken for each one, and ``put`` looks again once it has it: a blob cannot go
        between a document's look and its commit.
        """
        unneeded = (one for one in list(self._blobs.hashes(grace)) if not self._referenced(one))
        return sum(map(self._drop_blob, unneeded))

    # --- inside --------------------------------------------------------------------------------

    def _drop_blob(self, sha256: str) -> bool:
        """Delete a blob that no document needs; say whether it was deleted.

        Inside a transaction it waits for the end: what needed the blob may yet be there again.
        """
        if self._connections.is_writing():
            self._perhaps_unneeded.append(sha256)
            return False
        if not self._blobs.has(sha256):
            return False
        with self._connections.write() as connection:
            ((needed,),) = run(connection, "referenced", sha256)
            if not needed:
                self._blobs.delete(sha256)
        return not needed

    def _referenced(self, sha256: str) -> bool:
        ((needed,),) = self._rows("referenced", sha256)
        return bool(needed)
