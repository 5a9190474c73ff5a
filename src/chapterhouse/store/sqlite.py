"""The truth in one SQLite file.

The bytes of files up to ``INLINE_MAXIMUM`` stand in the database, in the document's own
transaction, which spares each the two synchronisations of a blob. Larger ones are blobs, written
before the transaction, so that a document never lacks its bytes.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Self

import apsw
import numpy as np
from numpy.typing import NDArray

from chapterhouse.errors import CorruptLibraryError
from chapterhouse.ports.store import Blobs
from chapterhouse.store import rows, writing
from chapterhouse.store.connections import Connections
from chapterhouse.store.embeddings import EmbeddingStore
from chapterhouse.store.memory import MemoryStore
from chapterhouse.store.statements import Row, Value, first, run
from chapterhouse.types import Body, Change, Check, Chunk, CorpusCounts, Document, FileRecord, Scope

INLINE_MAXIMUM = 64 * 2**10
_BATCH = 500
_SHOWN_FAULTS = 3
_NAMED_CHUNKS = 50
_CACHED_CENSUSES = 64
_CACHED_DOCUMENTS = 5_000  # some ten megabytes


class SqliteStore:
    """The store of one workspace, for several threads and processes at once.

    Args:
        path: The database; created, with its folder, if it is not there.
        blobs: Where the bytes of larger files are kept.

    Raises:
        CorruptLibraryError: ``path`` is something else, or damaged.
        NewerLibraryError: ``path`` was written by a newer Chapterhouse.
    """

    def __init__(self, path: Path, *, blobs: Blobs) -> None:
        self._connections = Connections(path)
        self._blobs = blobs
        self._censuses: dict[str, tuple[int, CorpusCounts]] = {}
        self._known_documents: tuple[int, dict[str, Document]] = (-1, {})
        self._perhaps_unneeded: list[str] = []  # blobs, to be looked at after the transaction

    def close(self) -> None:
        """Close the file. The store cannot be used afterwards."""
        self._connections.close()

    def memories(self) -> MemoryStore:
        """Return the memories that are kept beside the documents."""
        return MemoryStore(self._connections)

    def embeddings(self) -> EmbeddingStore:
        """Return the vectors that come after their documents, and the encoders' roles."""
        return EmbeddingStore(self._connections)

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

        Raises:
            ChapterhouseError: the disk is full, or another process wrote for half a minute.
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
        while self._perhaps_unneeded:
            self._drop_blob(self._perhaps_unneeded.pop())

    def put(
        self,
        document: Document,
        body: Body,
        chunks: Sequence[Chunk],
        vectors: NDArray[np.float32] | None,
        fingerprint: str,
        record: FileRecord,
        content: bytes,
    ) -> str:
        """Add or replace a document with everything that belongs to it; return its id.

        A document that stands at the same location is replaced and keeps its id. An id that
        another location has is made free by ``-2``, ``-3`` and so on; the file's record names
        the id that was given.

        Args:
            document: The document; its ``sha256`` must be that of ``content``.
            body: Its canonical text.
            chunks: Its chunks, numbered from 0.
            vectors: One finite row a chunk, or None where the language is not served.
            fingerprint: The embedder of ``vectors``.
            record: The file's record; stored with the document's id.
            content: The bytes of the file.

        Raises:
            ValueError: parts of the document contradict each other.
            UsageError: a text holds a lone surrogate.
        """
        writing.require_agreement(document, chunks, vectors, record, content)
        if len(content) > INLINE_MAXIMUM:
            self._blobs.put(content)  # before the lock: it may take long
        with self._connections.write() as connection:
            if len(content) <= INLINE_MAXIMUM:
                run(connection, "put_content", document.sha256, content)
            elif not self._blobs.has(document.sha256):  # garbage collection came between
                self._blobs.put(content)
            earlier = first(connection, "document_at", document.location)
            identifier = earlier[1] if earlier else writing.free_id(connection, document)
            sequence = writing.next_sequence(connection)
            values = rows.document_row(document, identifier, sequence)
            ((key,),) = run(connection, "put_document", *values)
            if earlier:
                writing.clear_parts(connection, key, earlier[2])
            else:
                run(connection, "drop_removal", identifier)
            writing.write_parts(connection, key, body, chunks)
            writing.write_shelves(connection, key, document.shelves)
            if vectors is not None:
                halves = np.ascontiguousarray(vectors, dtype="<f2").tobytes()
                run(connection, "put_embedding", key, fingerprint, vectors.shape[1], halves, 0)
            writing.write_file(connection, record, identifier)
        if earlier:
            self._drop_blob(earlier[2])
        return str(identifier)

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

    def collect_garbage(self, grace: float) -> int:
        """Delete blobs that no document needs and that are ``grace`` seconds old; count them.

        The lock is taken for each one, and ``put`` looks again once it has it: a blob cannot go
        between a document's look and its commit.
        """
        unneeded = (one for one in list(self._blobs.hashes(grace)) if not self._referenced(one))
        return sum(map(self._drop_blob, unneeded))

    # --- reading -------------------------------------------------------------------------------

    def document(self, document_id: str, scope: Scope) -> Document | None:
        """Return one document."""
        row = self._first("document", document_id)
        document = rows.document_from(row) if row else None
        return document if document and scope.sees(document.shelves) else None

    def documents(self, scope: Scope) -> Iterator[Document]:
        """Yield documents in order of id.

        What is written meanwhile may or may not be among them.
        """
        last = ""
        while True:
            if scope.shelves is None:
                batch = self._all("documents", last, _BATCH)
            else:
                batch = self._all("documents_on_shelves", last, scope.key, _BATCH)
            documents = [rows.document_from(row) for row in batch]
            yield from documents
            if len(documents) < _BATCH:
                return
            last = documents[-1].id

    def documents_among(self, document_ids: Iterable[str], scope: Scope) -> dict[str, Document]:
        """Return the documents that still exist among ``document_ids``, by id.

        Documents are remembered until something changes: every question looks at some dozens.
        """
        wanted = sorted(document_ids)
        with self._connections.read() as connection:
            ((sequence,),) = run(connection, "sequence")
            known_at, known = self._known_documents
            if known_at != sequence or len(known) > _CACHED_DOCUMENTS:
                known = {}
                self._known_documents = (sequence, known)
            unknown = [name for name in wanted if name not in known]
            if unknown:
                found = run(connection, "documents_among", rows.to_json(unknown))
                known |= {document.id: document for document in map(rows.document_from, found)}
        among = ((name, known[name]) for name in wanted if name in known)
        return {name: one for name, one in among if scope.sees(one.shelves)}

    def census(self, scope: Scope) -> CorpusCounts:
        """Count documents and chunks, and the documents of each language.

        A census is remembered until something changes: every question asks for one.
        """
        with self._connections.read() as connection:
            ((sequence,),) = run(connection, "sequence")
            counted_at, census = self._censuses.get(scope.key, (-1, CorpusCounts(0, 0, {})))
            if counted_at == sequence:
                return census
            if scope.shelves is None:
                found = run(connection, "census")
            else:
                found = run(connection, "census_of_shelves", scope.key)
        census = CorpusCounts(
            documents=sum(number for _, number, _ in found),
            chunks=sum(chunks for _, _, chunks in found),
            languages={language: number for language, number, _ in found},
        )
        if len(self._censuses) >= _CACHED_CENSUSES:
            self._censuses.clear()
        self._censuses[scope.key] = (sequence, census)
        return census

    def partly_read(self, scope: Scope) -> tuple[str, ...]:
        """Return the files of which some text is missing, sorted."""
        found = self._all("partly_read", scope.key)
        return tuple(str(source) for (source,) in found)

    def counts(self, scope: Scope) -> dict[str, dict[str, int]]:
        """Count documents by ``format`` and ``shelf`` and files by ``status``.

        A file that gave no document is on no shelf and counts in the scope of everything only.
        """
        everything = scope.shelves is None
        found = self._all("counts") if everything else self._all("counts_of_shelves", scope.key)
        result: dict[str, dict[str, int]] = {"format": {}, "status": {}, "shelf": {}}
        for kind, name, number in sorted(map(tuple, found)):
            result[kind][name] = number
        return result

    def unknown_shelves(self, scope: Scope) -> tuple[str, ...]:
        """Return those shelves of the scope that no document is on, sorted."""
        if scope.shelves is None:
            return ()
        found = self._all("unknown_shelves", scope.key)
        return tuple(str(shelf) for (shelf,) in found)

    def chunks_named(self, name: str, scope: Scope) -> tuple[int, ...]:
        """Return the keys of the first chunks of the documents whose file has this name."""
        bindings = (name, _NAMED_CHUNKS, scope.key)
        return tuple(int(key) for (key,) in self._all("chunks_named", *bindings))

    def body(self, document_id: str, scope: Scope) -> Body | None:
        """Return the canonical text and its shape."""
        with self._connections.read() as connection:
            found = first(connection, "body", document_id, scope.key)
            if not found:
                return None
            sections = run(connection, "sections", found[0])
            pages = run(connection, "pages", found[0])
        return rows.body_from(found[1], sections, pages)

    def content(self, sha256: str, scope: Scope) -> bytes | None:
        """Return the bytes of a file as they were read.

        Raises:
            CorruptLibraryError: they no longer have this hash.
        """
        if scope.shelves is not None:
            ((visible,),) = self._all("content_visible", sha256, scope.key)
            if not visible:
                return None
        row = self._first("content", sha256)
        if not row:
            return self._blobs.get(sha256)
        data = bytes(row[0])
        if hashlib.sha256(data).hexdigest() != sha256:
            raise CorruptLibraryError(
                f"The bytes kept as {sha256} are no longer those that were put there.",
                hint="Restore the database from a backup, or add the folder again.",
            )
        return data

    def chunks_of(self, document_id: str, scope: Scope) -> tuple[Chunk, ...]:
        """Return the chunks of one document in order."""
        return tuple(map(rows.chunk_from, self._all("chunks_of", document_id, scope.key)))

    def chunks(self, keys: Iterable[int], scope: Scope) -> dict[int, Chunk]:
        """Return the chunks that still exist among ``keys``, in their order."""
        found = self._all("chunks", rows.to_json([int(key) for key in keys]), scope.key)
        return {row[-1]: rows.chunk_from(row) for row in found}

    def documents_of(self, keys: Iterable[int], scope: Scope) -> dict[int, str]:
        """Return the ids of the documents to which the chunks that still exist belong."""
        found = self._all("documents_of", rows.to_json([int(key) for key in keys]), scope.key)
        return {int(key): str(identifier) for key, identifier in found}

    def fingerprints(self) -> dict[str, int]:
        """Count the documents that have vectors of each fingerprint, in order of fingerprint."""
        return {str(name): int(number) for name, number in self._all("fingerprints")}

    def fingerprints_of(self, document_id: str) -> tuple[str, ...]:
        """Return the fingerprints under which this document has vectors, sorted."""
        return tuple(str(name) for (name,) in self._all("fingerprints_of", document_id))

    def vectors_of(
        self, document_id: str, fingerprint: str
    ) -> tuple[list[int], NDArray[np.float32]]:
        """Return chunk keys and their vectors of this fingerprint, shape (n, dimensions)."""
        with self._connections.read() as connection:
            found = first(connection, "embedding", document_id, fingerprint)
            if not found:
                return [], np.zeros((0, 0), dtype=np.float32)
            keys = [int(key) for (key,) in run(connection, "chunk_keys", document_id)]
        dimensions, halves = found
        vectors = np.frombuffer(halves, dtype="<f2").reshape(-1, dimensions)
        return keys, vectors.astype(np.float32)

    def file(self, location: str) -> FileRecord | None:
        """Return what became of a file the last time."""
        row = self._first("file", location)
        return rows.file_from(row) if row else None

    def files(self, under: str = "") -> Iterator[FileRecord]:
        """Yield the records of files at or below an absolute path, in order of source."""
        if not under:
            return map(rows.file_from, self._all("files"))
        folder = under.rstrip("/")
        # "0" is the character after "/": the range holds exactly what begins with folder + "/".
        found = self._all("files_under", folder, f"{folder}/", f"{folder}0")
        return map(rows.file_from, found)

    def roots(self) -> tuple[tuple[str, str], ...]:
        """Return label and absolute path of every added folder, in order of label."""
        return tuple((str(label), str(location)) for label, location in self._all("roots"))

    def sequence(self) -> int:
        """Return the number of the latest change; 0 for an empty library."""
        ((number,),) = self._all("sequence")
        return int(number)

    def changes(self, after: int, limit: int) -> tuple[Change, ...]:
        """Return the latest change of each document changed after ``after``, oldest first."""
        with self._connections.read() as connection:
            changed = run(connection, "documents_changed", after, limit)
            removed = run(connection, "documents_removed", after, limit)
        order = [(rows.sequence_of(row), row) for row in changed]
        order += [(sequence, (identifier,)) for sequence, identifier in removed]
        order.sort(key=lambda pair: pair[0])
        return tuple(_change(sequence, row) for sequence, row in islice(order, limit))

    def examine(self) -> tuple[Check, ...]:
        """Check what only the store can see of itself: its file, its references, its numbers."""
        return (
            _sqlite_check(),
            self._check("database", "integrity", "Restore the database from a backup."),
            self._check("references", "foreign_keys", "Restore the database from a backup."),
            self._check("parts", "part_faults", "Run: chapterhouse docs reprocess"),
            self._check("sequences", "sequence_faults", "Rebuild: chapterhouse reindex"),
            self._check("files", "ledger_faults", "Add the folder again: chapterhouse add"),
        )

    # --- inside --------------------------------------------------------------------------------

    def _all(self, name: str, *bindings: Value) -> Sequence[Row]:
        with self._connections.read() as connection:
            return run(connection, name, *bindings)

    def _first(self, name: str, *bindings: Value) -> Row | None:
        found = self._all(name, *bindings)
        return found[0] if found else None

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
        ((needed,),) = self._all("referenced", sha256)
        return bool(needed)

    def _check(self, name: str, statement: str, hint: str) -> Check:
        try:
            faults = [" ".join(map(str, row)) for row in self._all(statement)]
        except CorruptLibraryError as error:  # a look at damage may fail on it
            faults = [error.message]
        if faults in ([], ["ok"]):
            return Check(name, passed=True, sentence="Nothing is wrong.")
        shown = "; ".join(faults[:_SHOWN_FAULTS])
        return Check(name, passed=False, sentence=f"{len(faults)} faults: {shown}.", hint=hint)


def _change(sequence: int, row: Row) -> Change:
    if len(row) == 1:
        return Change(sequence, row[0], None)
    document = rows.document_from(row)
    return Change(sequence, document.id, document)


def _sqlite_check() -> Check:
    """Say which SQLite runs; opening has already refused one that is too old."""
    version = apsw.sqlite_lib_version()
    return Check("sqlite", passed=True, sentence=f"SQLite {version}, apsw {apsw.apsw_version()}.")
