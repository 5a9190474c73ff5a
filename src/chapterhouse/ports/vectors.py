"""Vectors of stored documents, and the encoders that they come from."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from chapterhouse.types import (
    Change,
    Document,
    EmbeddingProgress,
    EncoderRecord,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# The roles of encoders: what questions use, what they used before, and what is being built.
ACTIVE: Final = "active"
PREVIOUS: Final = "previous"
BUILDING: Final = "building"


class DocumentVectors(Protocol):
    """The vectors that stored documents have."""

    def fingerprints(self) -> dict[str, int]:
        """Count the documents that have vectors of each fingerprint, in order of fingerprint."""

    def fingerprints_of(self, document_id: str) -> Sequence[str]:
        """Return the fingerprints under which this document has vectors, sorted."""

    def vectors_of(
        self, document_id: str, fingerprint: str
    ) -> "tuple[list[int], NDArray[np.float32]]":
        """Return chunk keys and their vectors of this fingerprint, shape (n, dimensions)."""


class Embeddings(Protocol):
    """Vectors that come after their documents, and the role of the encoder of each.

    What is added is durable, as with ``Store``.
    """

    def encoders(self) -> Mapping[str, EncoderRecord]:
        """Return the encoder of each role: ``active``, ``previous``, ``building``."""

    def build(self, record: EncoderRecord) -> None:
        """Make ``record`` the encoder that is being built, instead of any other."""

    def activate(
        self, record: EncoderRecord, earlier: EncoderRecord, languages: Sequence[str] | None
    ) -> bool:
        """Make an encoder the active one, and the active one the previous, in one step.

        ``languages`` are those of which it must have every vector, or None for a return to what
        was complete before. Returns False, with nothing changed, where vectors are missing.
        """

    def forget(self, role: str) -> None:
        """Take the encoder out of a role; ``drop_others`` deletes its vectors."""

    def drop_others(self, fingerprints: Sequence[str]) -> int:
        """Delete the vectors of every embedder but these; count the documents that had them."""

    def put(
        self,
        document_id: str,
        keys: Sequence[int],
        fingerprint: str,
        vectors: "NDArray[np.float32]",
    ) -> bool:
        """Add the vectors of the chunks ``keys``; False if the document has others by now."""

    def pending(
        self, fingerprint: str, languages: Sequence[str], after: str, limit: int
    ) -> Sequence[Document]:
        """Return documents in ``languages`` that lack these vectors, in order of id."""

    def progress(self, fingerprint: str, languages: Sequence[str]) -> EmbeddingProgress:
        """Count the documents that have, and that need, these vectors."""

    def languages(self) -> Sequence[str]:
        """Return the languages of all documents, sorted."""

    def last(self, fingerprint: str) -> int:
        """Return the sequence of the vectors that were added last, or 0."""

    def added(self, fingerprint: str, after: int, limit: int) -> Sequence[Change]:
        """Return the documents that got vectors after the sequence ``after``, oldest first."""

    def record_problem(self, fingerprint: str, problem: str) -> None:
        """Record why the vectors of an encoder could not be made; empty when they could."""
