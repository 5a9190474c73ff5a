"""Vectors that are made after their documents were stored, and which encoder questions use.

A document has at most one row of vectors for each fingerprint. What is pending is no table: it is
every document without a row of the wanted fingerprint.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse.store import rows
from chapterhouse.store.rows import Connection, Database, Row, first, repeatable, run, run_many
from chapterhouse.types import Change, Document, EmbeddingProgress, EncoderRecord

_DROPPED_AT_ONCE: Final = 200  # rows of a transaction: others wait for it

# The roles of encoders: what questions use, what they used before, and what is being built.
ACTIVE: Final = "active"
PREVIOUS: Final = "previous"
BUILDING: Final = "building"


@repeatable
class EmbeddingStore:
    """The vectors of one workspace, for several threads and processes at once."""

    def __init__(self, connections: Database) -> None:
        self._connections = connections
        self._rows = connections.rows

    # --- vectors -------------------------------------------------------------------------------

    def put(
        self,
        document_id: str,
        keys: Sequence[int],
        fingerprint: str,
        vectors: NDArray[np.float32],
    ) -> bool:
        """Add vectors to a stored document; durable once it returns.

        Args:
            keys: The keys of the chunks that were embedded, in order. A chunk key is never used
                again, so they say whether the document is still the one that was read.
            vectors: One finite row a chunk, shape (len(keys), dimensions).

        Returns:
            False if the document was changed or removed meanwhile; nothing was written.

        Raises:
            ValueError: the vectors do not fit the keys, or one is not finite.
        """
        if vectors.ndim != 2 or len(vectors) != len(keys):  # noqa: PLR2004 - rows and columns
            raise ValueError(f"{len(keys)} chunks need as many vectors, got {vectors.shape}.")
        if not np.isfinite(vectors).all():
            raise ValueError(f"A vector of {document_id} is not finite.")
        halves = np.ascontiguousarray(vectors, dtype="<f2").tobytes()
        with self._connections.write() as connection:
            found = first(connection, "document_named", document_id)
            current = [int(key) for (key,) in run(connection, "chunk_keys", document_id)]
            if not found or current != list(keys):
                return False
            ((sequence,),) = run(connection, "next_embedding")
            values = (found[0], fingerprint, vectors.shape[1], halves, sequence)
            run(connection, "put_embedding", *values)
        return True

    def pending(
        self, fingerprint: str, languages: Sequence[str], after: str, limit: int
    ) -> tuple[Document, ...]:
        """Return documents that lack vectors of ``fingerprint``, in order of id.

        Args:
            languages: Those that it serves; documents in others are never pending.
            after: Only documents whose id follows this one.
        """
        bindings = (fingerprint, rows.to_json(list(languages)), after, limit)
        return tuple(map(rows.document_from, self._rows("documents_to_embed", *bindings)))

    def progress(self, fingerprint: str, languages: Sequence[str]) -> EmbeddingProgress:
        """Count the documents that have, and that need, vectors of ``fingerprint``."""
        with self._connections.read() as connection:
            return _progress(connection, fingerprint, languages)

    def languages(self) -> tuple[str, ...]:
        """Return the languages of all documents, sorted; empty is the unknown one."""
        return tuple(sorted(str(language) for (language,) in self._rows("languages")))

    def last(self, fingerprint: str) -> int:
        """Return the sequence of the vectors of ``fingerprint`` that were added last, or 0."""
        ((number,),) = self._rows("last_embedding", fingerprint)
        return int(number)

    def added(self, fingerprint: str, after: int, limit: int) -> tuple[Change, ...]:
        """Return the documents that got vectors after the sequence ``after``, oldest first."""
        found = self._rows("embeddings_added", fingerprint, after, limit)
        return tuple(_change(row) for row in found)

    def drop_others(self, fingerprints: Sequence[str]) -> int:
        """Delete the vectors of every embedder but these; count the rows.

        Deleted in small transactions; a stopped call is continued by the next.
        """
        wanted, deleted = rows.to_json(list(fingerprints)), 0
        while self._rows("other_embeddings", wanted, 1):
            with self._connections.write() as connection:
                found = run(connection, "other_embeddings", wanted, _DROPPED_AT_ONCE)
                run_many(connection, "drop_embedding", found)
            deleted += len(found)
        return deleted

    # --- encoders ------------------------------------------------------------------------------

    def encoders(self) -> Mapping[str, EncoderRecord]:
        """Return the encoder of each role: ``active``, ``previous``, ``building``."""
        found = self._rows("encoders")
        return {str(role): EncoderRecord(*map(str, values)) for role, *values in found}

    def build(self, record: EncoderRecord) -> None:
        """Make ``record`` the encoder that is being built, instead of any other."""
        with self._connections.write() as connection:
            run(connection, "put_encoder", BUILDING, record.fingerprint, record.settings)

    def activate(self, record: EncoderRecord, languages: Sequence[str] | None) -> bool:
        """Make an encoder the active one, and the active one the previous, in one step.

        Args:
            languages: Those it serves: it must have the vectors of every document in them, and
                of one at least. None for a return to what was complete before.

        Returns:
            False if vectors are missing; nothing was changed.
        """
        with self._connections.write() as connection:
            if languages is not None:
                progress = _progress(connection, record.fingerprint, languages)
                if progress.pending or not progress.done:
                    return False
            known = {row[0]: EncoderRecord(*row[1:]) for row in run(connection, "encoders")}
            active, previous = known.get(ACTIVE), known.get(PREVIOUS)
            if not active and previous and previous.fingerprint == record.fingerprint:
                run(connection, "drop_encoder", PREVIOUS)
            elif active and active.fingerprint != record.fingerprint:
                run(connection, "put_encoder", PREVIOUS, active.fingerprint, active.settings)
            run(connection, "put_encoder", ACTIVE, record.fingerprint, record.settings)
            run(connection, "drop_encoder", BUILDING)
        return True

    def forget(self, role: str) -> None:
        """Take the encoder out of a role; ``drop_others`` deletes its vectors."""
        with self._connections.write() as connection:
            run(connection, "drop_encoder", role)

    def record_problem(self, fingerprint: str, problem: str) -> None:
        """Record why the vectors of an encoder could not be made; empty when they could."""
        known = self.encoders().values()
        if any(one.fingerprint == fingerprint and one.problem != problem for one in known):
            with self._connections.write() as connection:
                run(connection, "put_encoder_problem", problem, fingerprint)


def _progress(
    connection: Connection, fingerprint: str, languages: Sequence[str]
) -> EmbeddingProgress:
    found = run(connection, "embedding_progress", fingerprint, rows.to_json(list(languages)))
    ((done, total, chunks),) = found
    return EmbeddingProgress(int(done), int(total), int(chunks))


def _change(row: Row) -> Change:
    document = rows.document_from(row[1:])
    return Change(int(row[0]), document.id, document)
