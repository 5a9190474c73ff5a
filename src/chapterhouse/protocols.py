"""Every seam of Chapterhouse in one file.

A seam has one or two methods where it can, a real implementation and one that a test can script.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from chapterhouse.types import (
    Body,
    Census,
    Change,
    Check,
    Chunk,
    Document,
    EmbeddingProgress,
    Evidence,
    Extraction,
    FileRecord,
    Judgement,
    OutputFormat,
    Scored,
    Span,
    TermRows,
    TokenVectors,
    Tool,
    WeightedTerm,
    Writing,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Reader(Protocol):
    """Bytes to Markdown. Runs in a worker process that may be killed."""

    def __call__(self, data: bytes, name: str) -> Extraction:
        """Read ``data``; ``name`` is the file's name and only advisory.

        Raises:
            RejectedError: the bytes cannot be read; its code says why.
        """
        ...


class Chunker(Protocol):
    """A body to spans that follow one another and cover its text."""

    def __call__(self, body: Body) -> Sequence[Span]:
        """Cut ``body``."""
        ...


class Embedder(Protocol):
    """Texts to unit vectors."""

    @property
    def fingerprint(self) -> str:
        """Name of the model and its weights; vectors of different fingerprints never mix."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        ...

    def serves(self, language: str) -> bool:
        """Whether texts in this language (ISO 639-1, empty for unknown) gain by its vectors."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return one unit vector a text, shape (len(texts), dimensions)."""
        ...

    def embed_question(self, text: str) -> "NDArray[np.float32]":
        """Return one unit vector, shape (dimensions,)."""
        ...


class TokenEmbedder(Protocol):
    """Texts to one vector a token."""

    def serves(self, language: str) -> bool:
        """Whether texts in this language (ISO 639-1, empty for unknown) gain by its vectors."""
        ...

    def embed_tokens(self, texts: Sequence[str]) -> "Sequence[TokenVectors]":
        """Return the tokens of each text with their vectors; of a long text all."""
        ...


class Store(Protocol):
    """The truth: documents, their chunks and vectors, and the order in which they changed.

    Every writing method is one durable transaction: once it returns, its effect survives a
    power cut; until then nobody sees any of it. Methods may be called from several threads.
    """

    def together(self) -> AbstractContextManager[None]:
        """Write all that this thread writes in the block in one transaction, or nothing of it."""
        ...

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
        ...

    def record_file(self, record: FileRecord) -> None:
        """Remember what became of a file without writing a document.

        A document that stands at this location is removed unless the record names it.
        """
        ...

    def forget_file(self, location: str) -> None:
        """Drop the record of a file that is gone and gave no document."""
        ...

    def label_root(self, location: str, wanted: str) -> str:
        """Return the label of an added folder, ``wanted`` or ``wanted-2`` and so on if new."""
        ...

    def roots(self) -> Sequence[tuple[str, str]]:
        """Return label and absolute path of every added folder, in order of label."""
        ...

    def remove(self, document_id: str) -> int | None:
        """Remove a document; return the change's sequence, or None if there was none."""
        ...

    def set_shelves(self, document_id: str, shelves: Sequence[str]) -> int | None:
        """Put a document on exactly these shelves; return the change's sequence."""
        ...

    def document(self, document_id: str) -> Document | None:
        """Return one document."""
        ...

    def documents(self, shelves: Sequence[str] = ()) -> Iterator[Document]:
        """Yield documents in order of id; those on any of ``shelves``, or all."""
        ...

    def documents_among(self, document_ids: Iterable[str]) -> dict[str, Document]:
        """Return the documents that still exist among ``document_ids``, by id."""
        ...

    def census(self, shelves: Sequence[str] = ()) -> Census:
        """Count documents and chunks on any of ``shelves``, or all, and their languages."""
        ...

    def counts(self) -> dict[str, dict[str, int]]:
        """Count documents by ``format`` and ``shelf`` and files by ``status``."""
        ...

    def unknown_shelves(self, shelves: Sequence[str]) -> Sequence[str]:
        """Return those of ``shelves`` that no document is on, sorted."""
        ...

    def chunks_named(self, name: str, shelves: Sequence[str] = ()) -> tuple[int, ...]:
        """Return the keys of the first chunks of the documents whose file has this name."""
        ...

    def body(self, document_id: str) -> Body | None:
        """Return the canonical text and its shape."""
        ...

    def content(self, sha256: str) -> bytes | None:
        """Return the bytes of a file as they were read."""
        ...

    def chunks_of(self, document_id: str) -> Sequence[Chunk]:
        """Return the chunks of one document in order."""
        ...

    def chunks(self, keys: Iterable[int]) -> dict[int, Chunk]:
        """Return the chunks that still exist among ``keys``."""
        ...

    def fingerprints(self) -> dict[str, int]:
        """Count the documents that have vectors of each fingerprint, in order of fingerprint."""
        ...

    def documents_of(self, keys: Iterable[int]) -> dict[int, str]:
        """Return the ids of the documents to which the chunks that still exist belong."""
        ...

    def fingerprints_of(self, document_id: str) -> Sequence[str]:
        """Return the fingerprints under which this document has vectors, sorted."""
        ...

    def vectors_of(
        self, document_id: str, fingerprint: str
    ) -> "tuple[list[int], NDArray[np.float32]]":
        """Return chunk keys and their vectors of this fingerprint, shape (n, dimensions)."""
        ...

    def file(self, location: str) -> FileRecord | None:
        """Return what became of a file the last time."""
        ...

    def files(self, under: str = "") -> Iterator[FileRecord]:
        """Yield the records of files at or below an absolute path, in order of source."""
        ...

    def sequence(self) -> int:
        """Return the number of the latest change; 0 for an empty library."""
        ...

    def changes(self, after: int, limit: int) -> Sequence[Change]:
        """Return the latest change of each document changed after ``after``, oldest first."""
        ...

    def embeddings(self) -> "Embeddings":
        """Return the vectors that come after their documents."""
        ...

    def collect_garbage(self, grace: float) -> int:
        """Delete blobs that no document needs and that are ``grace`` seconds old; count them."""
        ...

    def examine(self) -> Sequence[Check]:
        """Check what only the store can see of itself: its file, its references, its numbers."""
        ...


class Embeddings(Protocol):
    """Vectors that come after their documents. What is added is durable, as with ``Store``."""

    def put(
        self,
        document_id: str,
        keys: Sequence[int],
        fingerprint: str,
        vectors: "NDArray[np.float32]",
    ) -> bool:
        """Add the vectors of the chunks ``keys``; False if the document has others by now."""
        ...

    def pending(
        self, fingerprint: str, languages: Sequence[str], after: str, limit: int
    ) -> Sequence[Document]:
        """Return documents in ``languages`` that lack these vectors, in order of id."""
        ...

    def progress(self, fingerprint: str, languages: Sequence[str]) -> EmbeddingProgress:
        """Count the documents that have, and that need, these vectors."""
        ...

    def languages(self) -> Sequence[str]:
        """Return the languages of all documents, sorted."""
        ...

    def last(self, fingerprint: str) -> int:
        """Return the sequence of the vectors that were added last, or 0."""
        ...

    def added(self, fingerprint: str, after: int, limit: int) -> Sequence[Change]:
        """Return the documents that got vectors after the sequence ``after``, oldest first."""
        ...

    def record_problem(self, fingerprint: str, problem: str) -> None:
        """Record why the vectors of an encoder could not be made; empty when they could."""
        ...


class Blobs(Protocol):
    """Bytes kept under their SHA-256."""

    def put(self, data: bytes) -> str:
        """Keep ``data`` so that it survives a power cut; return its hash."""
        ...

    def get(self, sha256: str) -> bytes | None:
        """Return the bytes of this hash, or None if they are not kept.

        Raises:
            CorruptLibraryError: the bytes no longer have this hash.
        """
        ...

    def has(self, sha256: str) -> bool:
        """Say whether bytes of this hash are kept, without reading them."""
        ...

    def delete(self, sha256: str) -> None:
        """Delete the bytes of this hash, if they are there."""
        ...

    def hashes(self, minimum_age: float = 0.0) -> Iterator[str]:
        """Yield, sorted, the hashes of what was last put at least so many seconds ago."""
        ...


class Index(Protocol):
    """Something derived from the store that can be searched, caught up and thrown away."""

    def sequence(self) -> int:
        """Return the number of the last change it has applied."""
        ...

    def catch_up(self, store: Store) -> int:
        """Apply what it has missed; return its sequence afterwards."""
        ...

    def rebuild(self, store: Store) -> int:
        """Throw everything away and apply the whole store; return the sequence."""
        ...

    def size(self) -> int:
        """Count the chunks in it."""
        ...


class LexicalSearch(Protocol):
    """The chunks that share terms with a question."""

    def search(
        self,
        terms: Sequence[WeightedTerm],
        shelves: Sequence[str],
        limit: int,
        documents: Sequence[str] = (),
    ) -> Sequence[Scored]:
        """Return at most ``limit`` chunks by BM25, best first; ties in order of key.

        With ``documents``, only chunks of these, also those in which none of the terms occurs.
        """
        ...

    def search_phrase(
        self, words: Sequence[str], shelves: Sequence[str], limit: int
    ) -> Sequence[Scored]:
        """Return chunks in which the terms ``words`` stand one after the other."""
        ...

    def document_frequency(self, term: str) -> int:
        """Count the chunks in which a term occurs."""
        ...

    def document_frequencies(self, terms: Sequence[str]) -> Sequence[int]:
        """Count the chunks of every term, all at one state of the index."""
        ...

    def terms_of(self, keys: Sequence[int]) -> TermRows:
        """Return the terms of chunks, one row for each of ``keys`` in their order."""
        ...

    def size(self) -> int:
        """Count the chunks."""
        ...


class VectorSearch(Protocol):
    """The chunks nearest to a question's vector."""

    def search(
        self,
        vector: "NDArray[np.float32]",
        shelves: Sequence[str],
        limit: int,
        also: Sequence[int] = (),
    ) -> Sequence[Scored]:
        """Return the ``limit`` chunks of highest cosine, and the cosines of those in ``also``."""
        ...


class Reranker(Protocol):
    """A model that reads a question and passages together."""

    @property
    def fingerprint(self) -> str:
        """Name of the model, as it is shown."""
        ...

    def score(self, question: str, passages: Sequence[str]) -> Sequence[float]:
        """Return one score a passage, higher is better, in the order of ``passages``.

        Raises:
            EngineError: the model cannot be reached or gave something else; the caller goes on
                without it.
        """
        ...


class LanguageModel(Protocol):
    """A model that writes text."""

    @property
    def fingerprint(self) -> str:
        """Name of the model, as it is shown."""
        ...

    def complete(self, instructions: str, prompt: str) -> str:
        """Return what the model writes. Text of documents stands in ``prompt`` only.

        Raises:
            EngineError: the model cannot be reached or gave nothing; the caller goes on
                without it.
        """
        ...

    async def write(
        self,
        instructions: str,
        prompt: str,
        *,
        tools: Sequence[Tool] = (),
        on_text: Callable[[str], None] | None = None,
        output: OutputFormat | None = None,
    ) -> Writing:
        """Return what the model writes, calling tools on the way.

        Args:
            instructions: The system message. Text of documents never stands in it.
            prompt: The user's message.
            tools: What it may call.
            on_text: Is given each piece of text as it comes.
            output: The form of the answer. Not every service can hold a model to it, so the
                instructions describe it too, and the text may be of another form all the same.

        Raises:
            EngineError: the model cannot be reached or gave nothing.
        """
        ...


class Entailment(Protocol):
    """Says whether one text follows from another."""

    @property
    def fingerprint(self) -> str:
        """Name of the model and its weights."""
        ...

    def probability(self, premise: str, statement: str) -> float:
        """Return how likely ``statement`` follows from ``premise``, 0 to 1."""
        ...


class ClaimJudge(Protocol):
    """Says how far evidence carries a sentence."""

    def __call__(
        self, sentence: str, cited: Sequence[Evidence], others: Sequence[Evidence], /
    ) -> Judgement:
        """Judge ``sentence``, which cites ``cited``; ``others`` is what else was retrieved."""
        ...
