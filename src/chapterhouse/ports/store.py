"""The truth as others see it: documents, the files they came from, and their order of change."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from chapterhouse.ports.jobs import Jobs
from chapterhouse.ports.memories import Memories
from chapterhouse.ports.vectors import DocumentVectors, Embeddings
from chapterhouse.types import (
    Body,
    Change,
    Chunk,
    CorpusCounts,
    Document,
    FileMove,
    FileRecord,
    QuestionFigures,
    QuestionRecord,
    Scope,
    Snapshot,
    Source,
    StoredSetting,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Documents(Protocol):
    """The documents of a workspace and their parts, as they are read and counted.

    What is outside the scope is not there: it reads as an id that no document has.
    """

    def document(self, document_id: str, scope: Scope) -> Document | None:
        """Return one document."""

    def documents(self, scope: Scope, after: str = "", text: str = "") -> Iterator[Document]:
        """Yield documents in order of id, those behind ``after``.

        With a ``text`` only those that have it in their title or source, whatever its case.
        """

    def documents_among(self, document_ids: Iterable[str], scope: Scope) -> dict[str, Document]:
        """Return the documents that still exist among ``document_ids``, by id."""

    def documents_of(self, keys: Iterable[int], scope: Scope) -> dict[int, str]:
        """Return the ids of the documents to which the chunks that still exist belong."""

    def body(self, document_id: str, scope: Scope) -> Body | None:
        """Return the canonical text and its shape."""

    def content(self, sha256: str, scope: Scope) -> bytes | None:
        """Return the bytes of a file as they were read."""

    def chunks(self, keys: Iterable[int], scope: Scope) -> dict[int, Chunk]:
        """Return the chunks that still exist among ``keys``."""

    def chunks_of(self, document_id: str, scope: Scope) -> tuple[Chunk, ...]:
        """Return the chunks of one document in order."""

    def census(self, scope: Scope) -> CorpusCounts:
        """Count documents and chunks, and the documents of each language."""

    def counts(self, scope: Scope) -> dict[str, dict[str, int]]:
        """Count documents by ``format`` and ``shelf`` and files by ``status``.

        A file that gave no document is on no shelf and counts in the scope of everything only.
        """

    def cuttings(self, scope: Scope) -> Sequence[tuple[str, str, str, int]]:
        """Count documents by what they were cut by, format, and what follows the last dot.

        Where a source has no dot that is all of it.
        """

    def unknown_shelves(self, scope: Scope) -> Sequence[str]:
        """Return those shelves of the scope that no document is on, sorted."""

    def chunks_named(self, name: str, scope: Scope) -> tuple[int, ...]:
        """Return the keys of the first chunks of the documents whose file has this name."""

    def document_ids(self, scope: Scope) -> frozenset[str]:
        """Return the ids of all documents."""

    def leaves_text_out(self, scope: Scope) -> bool:
        """Whether a document may have text that is not in the library: read in part, or a page."""

    def partly_read(self, scope: Scope) -> Sequence[str]:
        """Return the files of which some text is missing, sorted."""


class ChangeLog(Protocol):
    """The order in which documents changed, which every index follows."""

    def sequence(self) -> int:
        """Return the number of the latest change; 0 for an empty library."""

    def changes(self, after: int, limit: int) -> Sequence[Change]:
        """Return the latest change of each document changed after ``after``, oldest first."""

    def document_with_chunks(self, document_id: str) -> tuple[Document, tuple[Chunk, ...]] | None:
        """Return a document and its chunks as they are at one moment; None if it is gone."""


class DocumentWriter(Protocol):
    """Writes documents.

    Every method is one durable transaction: once it returns, its effect survives a power cut;
    until then nobody sees any of it.
    """

    def together(self) -> AbstractContextManager[None]:
        """Write all that this thread writes in the block in one transaction, or nothing of it."""

    def put(
        self,
        document: Document,
        body: Body,
        chunks: Sequence[Chunk],
        vectors: "NDArray[np.float32] | None",
        fingerprint: str,
        record: FileRecord,
        content: bytes,
    ) -> str:
        """Add or replace a document with everything that belongs to it; return its id.

        ``vectors`` has one row a chunk, or is None where the language is not served.
        """

    def remove(self, document_id: str) -> int | None:
        """Remove a document; return the change's sequence, or None if there was none."""

    def cut_anew(
        self,
        document: Document,
        chunks: Sequence[Chunk],
        vectors: "NDArray[np.float32] | None",
        fingerprint: str,
    ) -> bool:
        """Replace the chunks of a stored document, and all its vectors, and nothing else.

        Returns:
            False if it was replaced or removed meanwhile; nothing was written.
        """

    def set_shelves(self, document_id: str, shelves: Sequence[str]) -> int | None:
        """Put a document on exactly these shelves; return the change's sequence."""

    def move_files(self, moves: Sequence[FileMove]) -> None:
        """Give files other locations, all at once, so that two may change places.

        Their documents go with them and stay as they are: id, text, chunks, vectors. A document at
        one of the new locations whose own file is not among them is removed.
        """


class FileLedger(Protocol):
    """What became of every file that was ever looked at, and the folders that were added."""

    def file(self, location: str) -> FileRecord | None:
        """Return what became of a file the last time."""

    def files(self, under: str = "") -> Iterator[FileRecord]:
        """Yield the records of files at or below an absolute path, in order of source."""

    def record_file(self, record: FileRecord) -> None:
        """Remember what became of a file without writing a document.

        A document that stands at this location is removed unless the record names it.
        """

    def set_volume(self, locations: Sequence[str], volume: str) -> None:
        """Remember on which volume files were seen."""

    def forget_file(self, location: str) -> None:
        """Drop the record of a file that is gone and gave no document."""

    def file_places(self, outside: Sequence[str]) -> Sequence[str]:
        """Return where the files on disk are that lie below none of some folders, sorted."""

    def label_root(self, location: str, wanted: str) -> str:
        """Return the label of an added folder, ``wanted`` or ``wanted-2`` and so on if new."""

    def roots(self) -> Sequence[tuple[str, str]]:
        """Return label and absolute path of every added folder, in order of label."""


class Sources(Protocol):
    """What the library is to be the image of."""

    def sources(self) -> Sequence[Source]:
        """Return all sources in order of name."""

    def save(self, source: Source) -> None:
        """Add a source, or replace the one of its name."""

    def drop(self, name: str) -> None:
        """Forget a source, if there is one of this name; its documents stay."""


class Upkeep(Protocol):
    """The store's own health, and a copy of it that can be restored elsewhere."""

    def collect_garbage(self, grace: float) -> int:
        """Delete blobs that nothing needs and that are ``grace`` seconds old; count them."""

    def forget_removals(self, sequence: int) -> None:
        """Drop the ids of documents removed up to a change that every index has applied."""

    def compact(self) -> None:
        """Write the store anew, so that nothing that was removed stays in its file."""

    def blob_hashes(self) -> Sequence[str]:
        """Return the hashes of the files whose bytes are blobs, sorted."""

    def snapshot(self, path: Path, agree: Callable[[], None], *, memories: bool) -> Snapshot:
        """Write the store as it is at one moment to a new file, while others go on writing.

        ``agree`` is called just before that moment, while nobody can write.
        """

    def relocate(self, before: str, after: str) -> None:
        """Let what was read at or below one absolute path be known at or below another."""


class Examination(Protocol):
    """Looks at the rows of a store as they are."""

    def faults(self, *, thorough: bool) -> Iterator[str]:
        """Yield what the store can see of itself: its file, its references, its numbers.

        Raises:
            CorruptLibraryError: its file is damaged.
        """

    def document_ids(self) -> Sequence[str]:
        """Return the id of every document, also of those whose rows cannot be read."""

    def row_fault(self, document_id: str) -> str:
        """Say how the rows of a document differ from what was written, or nothing."""

    def chunk_keys(self) -> Mapping[str, Sequence[int]]:
        """Return the chunk keys of every document that has some, in order, by its id."""

    def hashes(self) -> Mapping[str, bool]:
        """Return the hash of the bytes of every document, and whether the database has them."""


class Questions(Protocol):
    """The questions of one workspace: counts for those who look after all of its documents.

    A document that is removed is no longer named by any, and their texts are gone with it.
    """

    def record(self, record: QuestionRecord, drop_before: int) -> None:
        """Record a question, and drop those asked before a time. It need not survive a power cut.

        Documents that are no longer there are left out, and with them the text.
        """

    def figures(self, since: int, now: int, limit: int) -> QuestionFigures:
        """Return what the questions asked since a time come to, read in one moment.

        Args:
            since: In seconds.
            now: In seconds; ages of documents are counted to it.
            limit: Documents of each list at most; 0 for all.
        """

    def first(self) -> int | None:
        """Return when the first of them was asked, in seconds; None where there is none."""

    def clear(self) -> int:
        """Delete all of them; return how many."""


class StoredSettings(Protocol):
    """The settings in the database of one workspace, and who changed them last."""

    def values(self) -> Mapping[str, StoredSetting]:
        """Return what is set, by name, what was changed last first."""

    def write(self, name: str, value: object, by: str, at: int) -> None:
        """Set a value, as JSON has it."""

    def reset(self, name: str, by: str, at: int) -> None:
        """Say nothing of a setting any more."""

    def sequence(self) -> int:
        """Return the number of the latest change; 0 where there was none."""


class Store(
    Documents,
    ChangeLog,
    DocumentWriter,
    FileLedger,
    DocumentVectors,
    Upkeep,
    Protocol,
):
    """The truth: all that is kept of a workspace. Methods may be called from several threads."""

    def embeddings(self) -> Embeddings:
        """Return the vectors that come after their documents, and the encoders' roles."""

    def examination(self) -> Examination:
        """Return what looks for damage in the rows."""

    def memories(self) -> Memories:
        """Return what was asked and answered."""

    def sources(self) -> Sources:
        """Return what the library is to be the image of."""

    def jobs(self) -> Jobs:
        """Return the long work that is done, or waits to be."""

    def questions(self) -> Questions:
        """Return the questions as they are counted."""

    def settings(self) -> StoredSettings:
        """Return the settings that were changed in the database."""


class Blobs(Protocol):
    """Bytes kept under their SHA-256."""

    def put(self, data: bytes) -> str:
        """Keep ``data`` so that it survives a power cut; return its hash."""

    def get(self, sha256: str) -> bytes | None:
        """Return the bytes of this hash, or None if they are not kept.

        Raises:
            CorruptLibraryError: the bytes no longer have this hash.
        """

    def has(self, sha256: str) -> bool:
        """Say whether bytes of this hash are kept, without reading them."""

    def delete(self, sha256: str) -> None:
        """Delete the bytes of this hash, if they are there."""

    def hashes(self, minimum_age: float = 0.0) -> Iterator[str]:
        """Yield, sorted, the hashes of what was last put at least so many seconds ago."""
