"""What is read of the store: documents and their parts, counts, files, the order of changes."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from chapterhouse.errors import CorruptLibraryError
from chapterhouse.store import rows
from chapterhouse.store.blobs import BlobStore
from chapterhouse.store.rows import Connection, Database, Row, Value, first, repeatable, run
from chapterhouse.store.sources import read_trust
from chapterhouse.types import (
    Body,
    Change,
    Chunk,
    CorpusCounts,
    Document,
    FileRecord,
    ListedFile,
    Listing,
    Scope,
)

_BATCH = 500
_NAMED_CHUNKS = 50
_CACHED_CENSUSES = 64
_CACHED_DOCUMENTS = 5_000  # some ten megabytes


@repeatable
class StoreReader:
    """Reads the store of one workspace; every read of documents within a scope."""

    def __init__(self, connections: Database, blobs: BlobStore) -> None:
        self._connections = connections
        self._rows = connections.rows
        self._blobs = blobs
        self._censuses: dict[Scope, tuple[int, CorpusCounts]] = {}
        self._known_documents: tuple[int, dict[str, Document]] = (-1, {})

    def document(self, document_id: str, scope: Scope) -> Document | None:
        """Return one document."""
        with self._connections.read() as connection:
            row = first(connection, "document", document_id)
            found = [rows.document_from(row)] if row else []
            return next(_visible(found, scope, connection), None)

    def documents(self, scope: Scope, after: str = "", text: str = "") -> Iterator[Document]:
        """Yield documents in order of id, those behind ``after`` with ``text`` in their names.

        What is written meanwhile may or may not be among them.
        """
        last, folded = after, text.casefold()
        while True:
            if scope.shelves is None:
                batch = self._rows("documents", last, _BATCH, folded)
            else:
                batch = self._rows("documents_on_shelves", last, _BATCH, folded, scope.key)
            documents = [rows.document_from(row) for row in batch]
            with self._connections.read() as connection:
                visible = list(_visible(documents, scope, connection))
            yield from visible
            if len(documents) < _BATCH:
                return
            last = documents[-1].id

    def documents_among(self, document_ids: Iterable[str], scope: Scope) -> dict[str, Document]:
        """Return the documents that still exist among ``document_ids``, by id.

        Documents are remembered until something changes: every question looks at some dozens.
        """
        wanted = sorted(document_ids)
        with self._connections.read() as connection:
            sequence = sequence_in(run(connection, "sequence"))
            known_at, known = self._known_documents
            if known_at != sequence or len(known) > _CACHED_DOCUMENTS:
                known = {}
                self._known_documents = (sequence, known)
            unknown = [name for name in wanted if name not in known]
            if unknown:
                found = run(connection, "documents_among", rows.to_json(unknown))
                known |= {document.id: document for document in map(rows.document_from, found)}
            among = [known[name] for name in wanted if name in known]
            return {one.id: one for one in _visible(among, scope, connection)}

    def census(self, scope: Scope) -> CorpusCounts:
        """Count documents and chunks, and the documents of each language.

        A census is remembered until something changes: every question asks for one.
        """
        with self._connections.read() as connection:
            sequence = sequence_in(run(connection, "sequence"))
            counted_at, census = self._censuses.get(scope, (-1, CorpusCounts(0, 0, {})))
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
        self._censuses[scope] = (sequence, census)
        return census

    def document_ids(self, scope: Scope) -> frozenset[str]:
        """Return the ids of all documents."""
        return frozenset(str(name) for (name,) in self._rows("document_ids", scope.key))

    def leaves_text_out(self, scope: Scope) -> bool:
        """Whether a document may have text that is not in the library: read in part, or a page."""
        ((found,),) = self._rows("leaves_text_out", scope.key)
        return bool(found)

    def partly_read(self, scope: Scope) -> tuple[str, ...]:
        """Return the files of which some text is missing, sorted."""
        return tuple(str(source) for (source,) in self._rows("partly_read", scope.key))

    def cuttings(self, scope: Scope) -> tuple[tuple[str, str, str, int], ...]:
        """Count documents by what they were cut by, format, and what follows the last dot."""
        found = self._rows("cuttings", scope.key)
        return tuple((str(by), str(kind), str(end), int(count)) for by, kind, end, count in found)

    def counts(self, scope: Scope) -> dict[str, dict[str, int]]:
        """Count documents by ``format`` and ``shelf`` and files by ``status``.

        A file that gave no document is on no shelf and counts in the scope of everything only.
        """
        everything = scope.shelves is None
        found = self._rows("counts") if everything else self._rows("counts_of_shelves", scope.key)
        result: dict[str, dict[str, int]] = {"format": {}, "status": {}, "shelf": {}}
        for kind, name, number in sorted(map(tuple, found)):
            result[kind][name] = number
        return result

    def unknown_shelves(self, scope: Scope) -> tuple[str, ...]:
        """Return those shelves of the scope that no document is on, sorted."""
        if scope.shelves is None:
            return ()
        found = self._rows("unknown_shelves", scope.key)
        return tuple(str(shelf) for (shelf,) in found)

    def chunks_named(self, name: str, scope: Scope) -> tuple[int, ...]:
        """Return the keys of the first chunks of the documents whose file has this name."""
        found = self._rows("chunks_named", name, _NAMED_CHUNKS, scope.key)
        return tuple(int(key) for (key,) in found)

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
            ((visible,),) = self._rows("content_visible", sha256, scope.key)
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

    def link(self, sha256: str, scope: Scope) -> str:
        """Return an address by which anyone can read a file for a while; empty: there is none."""
        if scope.shelves is not None:
            ((visible,),) = self._rows("content_visible", sha256, scope.key)
            if not visible:
                return ""
        return self._blobs.link(sha256)

    def chunks_of(self, document_id: str, scope: Scope) -> tuple[Chunk, ...]:
        """Return the chunks of one document in order."""
        return tuple(map(rows.chunk_from, self._rows("chunks_of", document_id, scope.key)))

    def chunks(self, keys: Iterable[int], scope: Scope) -> dict[int, Chunk]:
        """Return the chunks that still exist among ``keys``, in their order."""
        wanted = [int(key) for key in keys]
        found = {row[-1]: row for row in self._rows("chunks", rows.to_json(wanted), scope.key)}
        return {key: rows.chunk_from(found[key]) for key in wanted if key in found}

    def documents_of(self, keys: Iterable[int], scope: Scope) -> dict[int, str]:
        """Return the ids of the documents to which the chunks that still exist belong."""
        wanted = rows.to_json([int(key) for key in keys])
        found = self._rows("documents_of", wanted, scope.key)
        return {int(key): str(identifier) for key, identifier in found}

    def fingerprints(self) -> dict[str, int]:
        """Count the documents that have vectors of each fingerprint, in order of fingerprint."""
        return {str(name): int(number) for name, number in self._rows("fingerprints")}

    def fingerprints_of(self, document_id: str) -> tuple[str, ...]:
        """Return the fingerprints under which this document has vectors, sorted."""
        return tuple(str(name) for (name,) in self._rows("fingerprints_of", document_id))

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
        if dimensions < 1 or len(halves) % (2 * dimensions):
            raise CorruptLibraryError(
                f"The vectors of {document_id} are damaged: {len(halves)} bytes, not rows of"
                f" {dimensions} numbers.",
                hint="Run: chapterhouse doctor",
            )
        vectors = np.frombuffer(halves, dtype="<f2").reshape(-1, dimensions)
        return keys, vectors.astype(np.float32)

    def file(self, location: str) -> FileRecord | None:
        """Return what became of a file the last time."""
        row = self._first("file", location)
        return rows.file_from(row) if row else None

    def files(self, under: str = "") -> Iterator[FileRecord]:
        """Yield the records of files at or below an absolute path, in order of source."""
        if not under:
            return map(rows.file_from, self._rows("files"))
        if under.endswith(":"):  # all of a remote; ";" is the character after ":"
            found = self._rows("files_under", under, under, f"{under[:-1]};")
            return map(rows.file_from, found)
        folder = under.rstrip("/")
        # "0" is the character after "/": the range holds exactly what begins with folder + "/".
        found = self._rows("files_under", folder, f"{folder}/", f"{folder}0")
        return map(rows.file_from, found)

    def listed_files(
        self, listing: Listing, scope: Scope, among: Collection[str] | None = None
    ) -> tuple[tuple[ListedFile, ...], int]:
        """Return a part of what a listing lists, and how much that is in all.

        Args:
            among: Only the documents with these ids; any when None.
        """
        found = self._rows(
            "listed_files",
            scope.key,
            rows.to_json(sorted(among) if among is not None else None),
            listing.text.casefold(),
            listing.folder,
            listing.format,
            listing.status or "",
            listing.order,
            listing.limit,
            listing.offset,
        )
        return tuple(map(rows.listed_from, found)), int(found[0][-1]) if found else 0

    def folders(self, scope: Scope) -> dict[str, int]:
        """Count what is listed of each folder by itself, in order of folder."""
        found = self._rows("folders", scope.key)
        return {str(folder).rstrip("/"): int(number) for folder, number in found}

    def files_sent_as(self, name: str) -> tuple[FileRecord, ...]:
        """Return the records of files that were sent under a name, not those of files in them."""
        return tuple(map(rows.file_from, self._rows("files_sent_as", name)))

    def file_places(self, outside: Sequence[str]) -> tuple[str, ...]:
        """Return where the files on disk are that lie below none of some folders, sorted."""
        folders = rows.to_json([folder.rstrip("/") for folder in outside])
        return tuple(str(location) for (location,) in self._rows("file_places", folders))

    def roots(self) -> tuple[tuple[str, str], ...]:
        """Return label and absolute path of every added folder, in order of label."""
        return tuple((str(label), str(location)) for label, location in self._rows("roots"))

    def sequence(self) -> int:
        """Return the number of the latest change; 0 for an empty library."""
        return sequence_in(self._rows("sequence"))

    def changes(self, after: int, limit: int) -> tuple[Change, ...]:
        """Return the latest change of each document changed after ``after``, oldest first."""
        with self._connections.read() as connection:
            changed = run(connection, "documents_changed", after, limit)
            removed = run(connection, "documents_removed", after, limit)
        order = [(rows.sequence_of(row), row) for row in changed]
        order += [(sequence, (identifier,)) for sequence, identifier in removed]
        order.sort(key=lambda pair: pair[0])
        return tuple(_change(sequence, row) for sequence, row in islice(order, limit))

    def document_with_chunks(self, document_id: str) -> tuple[Document, tuple[Chunk, ...]] | None:
        """Return a document and its chunks as they are at one moment; None if it is gone."""
        everything = Scope.everything()
        with self._connections.read() as connection:
            row = first(connection, "document", document_id)
            if row is None:
                return None
            (document,) = _visible([rows.document_from(row)], everything, connection)
            found = run(connection, "chunks_of", document_id, everything.key)
        return document, tuple(map(rows.chunk_from, found))

    def _first(self, name: str, *bindings: Value) -> Row | None:
        found = self._rows(name, *bindings)
        return found[0] if found else None


def sequence_in(found: Sequence[Row]) -> int:
    """Return the number of the latest change."""
    if not found:
        raise CorruptLibraryError(
            "The library's count of changes is gone.",
            hint="Restore it from an export, or add the folders again.",
        )
    return int(found[0][0])


def _visible(
    documents: Iterable[Document], scope: Scope, connection: Connection
) -> Iterator[Document]:
    """Yield those of some documents that are inside a scope, with how far they are trusted."""
    for document in read_trust(connection).applied(documents):
        if scope.sees(document.shelves):
            yield document


def _change(sequence: int, row: Row) -> Change:
    if len(row) == 1:
        return Change(sequence, row[0], None)
    document = rows.document_from(row)
    return Change(sequence, document.id, document)
