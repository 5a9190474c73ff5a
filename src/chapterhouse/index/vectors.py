"""The vector index: embeddings of all chunks, searched exactly.

Vectors are appended to a file of 32-bit floats that readers map into memory, beside it their 8-bit
codes (``index/vector_files.py``). Up to some thousand rows, as on a small shelf, are measured one
by one; more are first looked through by their codes, which changes nothing in the answer
(``index/nearest.py``). When half of the rows are gone the files are written anew.
"""

import threading
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse.index import vector_files
from chapterhouse.index.nearest import best_rows, cosines, is_small
from chapterhouse.index.state import (
    IndexState,
    drop_generations,
    explain_damage,
    load_current,
    read_state,
    write_state,
    writer_lock,
)
from chapterhouse.index.vector_files import LOGS, Batch, Extent, LoadedVectors, Names, Rows
from chapterhouse.store.sqlite import Store
from chapterhouse.types import Change, Document, Scope, Scored
from chapterhouse.types.engines import Embedder

_BATCH_CHANGES: Final = 512
_COMPACT_FROM: Final = 1_000  # rows; below it gone rows cost nothing worth a rewrite
_MOST_SCOPES: Final = 64  # whose rows are remembered
_REBUILD_SECONDS: Final = 60.0  # a rebuild that was asked for waits for others
_LAYOUT: Final = "layout 2"
_ADDED: Final = "embeddings"  # the name under which a state counts the added vectors


class VectorIndex:
    """The vectors of one embedder in one folder. Safe to share between threads and processes."""

    def __init__(self, folder: Path, embedder: Embedder, *, wait_seconds: float = 10.0) -> None:
        self._folder = folder
        self._embedder = embedder
        self._wait_seconds = wait_seconds
        self._lock = threading.Lock()
        self._loaded = vector_files.nothing(embedder.dimensions)
        self._names = Names()
        self._seen_whole = IndexState()

    def sequence(self) -> int:
        """Return the number of the last change that is in the files."""
        return self._state().sequence

    def catch_up(self, store: Store) -> int:
        """Apply the changes it has missed; wait a while for another process that is at it."""
        state = self._state()
        if state.sequence >= store.sequence() and _added(state) >= self._last_added(store):
            return state.sequence
        with writer_lock(self._folder, self._wait_seconds) as held:
            if held:
                self._apply_all(store)
        return self.sequence()

    def rebuild(self, store: Store) -> int:
        """Build the files anew from the whole store; of the last ones nothing stays on the disk."""
        with writer_lock(self._folder, max(self._wait_seconds * 6, _REBUILD_SECONDS)) as held:
            if held:
                self._reset()
                self._apply_all(store)
                drop_generations(self._folder, LOGS, read_state(self._folder).generation)
        return self.sequence()

    def search(
        self,
        vector: NDArray[np.float32],
        scope: Scope,
        limit: int,
        also: Sequence[int] = (),
    ) -> Sequence[Scored]:
        """Return the ``limit`` chunks of highest cosine, and those of the chunks ``also`` asked.

        Best first, ties in order of key. Chunks without a vector or outside the scope are left
        out.
        """
        loaded = self._load()
        rows = vector_files.rows_of(loaded, scope, _MOST_SCOPES)
        if not rows.number:
            return ()
        vector = np.ascontiguousarray(vector, dtype=np.float32)
        keys, scores = _top(loaded, rows, vector, limit)
        best = set(keys.tolist())
        extra = [key for key in dict.fromkeys(also) if key not in best]
        if extra:
            more, theirs = _scores_of(loaded, rows, np.asarray(extra, dtype=np.int64), vector)
            keys, scores = np.concatenate([keys, more]), np.concatenate([scores, theirs])
        order = np.lexsort((keys, -scores))
        return list(map(Scored, keys[order].tolist(), scores[order].tolist()))

    def size(self, scope: Scope) -> int:
        """Count the chunks that have a vector."""
        return vector_files.rows_of(self._load(), scope, _MOST_SCOPES).number

    def differing(self, store: Store, *, thorough: bool) -> Collection[str]:
        """Return the documents of which it has other chunks, vectors or shelves; see ``Index``."""
        with explain_damage("vector"):
            loaded = self._load()
            if thorough and vector_files.row_faults(loaded).any():
                raise ValueError("its codes are not those of its vectors")
            slots = Names().slots(self._folder, loaded.extent)
            documents = {one.id: one for one in store.documents(Scope.everything())}
            own = self._embedder.fingerprint
            differing = {
                name
                for name in documents.keys() | slots.keys()
                if not _is_same(loaded, slots.get(name, -1), documents.get(name), store, own)
            }
        return differing - self._waiting(store, _added(self._state()))

    def _waiting(self, store: Store, after: int) -> frozenset[str]:
        """Return the documents whose vectors came after those that were added last."""
        names: set[str] = set()
        while found := store.embeddings().added(self._embedder.fingerprint, after, _BATCH_CHANGES):
            names.update(one.document_id for one in found)
            after = found[-1].sequence
        return frozenset(names)

    def _last_added(self, store: Store) -> int:
        return store.embeddings().last(self._embedder.fingerprint)

    def _fingerprint(self) -> str:
        return f"{self._embedder.fingerprint} {_LAYOUT}"

    def _state(self) -> IndexState:
        """Return the state on disk; one without its files, or of another make, counts as empty."""
        state = read_state(self._folder)
        if state.fingerprint == self._fingerprint() and self._is_whole(state):
            return state
        return IndexState(generation=state.generation)

    def _is_whole(self, state: IndexState) -> bool:
        if state != self._seen_whole:
            extent, dimensions = Extent.of(state), self._embedder.dimensions
            if not vector_files.are_whole(self._folder, extent, dimensions):
                return False
            self._seen_whole = state
        return True

    def _load(self) -> LoadedVectors:
        with self._lock:  # the state too: an older one would be loaded over a newer
            return load_current(self._state, self._loaded_at)

    def _loaded_at(self, state: IndexState) -> LoadedVectors:
        with explain_damage("vector"):
            self._loaded = vector_files.load(self._folder, Extent.of(state), self._loaded)
            return self._loaded

    def _reset(self) -> IndexState:
        generation = read_state(self._folder).generation + 1
        fresh = IndexState(0, self._fingerprint(), generation)
        # First the state, and the last files stay: someone may be about to read them.
        write_state(self._folder, fresh)
        drop_generations(self._folder, LOGS, generation - 1)
        return fresh

    def _apply_all(self, store: Store) -> None:
        """Apply the documents' changes, then the vectors that came after their documents."""
        state, own = self._state(), self._embedder.fingerprint
        if not state.sequence:
            # What is there already is read with its document.
            state = _with_added(self._reset(), self._last_added(store))
        with explain_damage("vector"):
            while changes := store.changes(state.sequence, _BATCH_CHANGES):
                state = replace(state, sequence=changes[-1].sequence)
                state = self._apply(changes, store, state)
            while changes := store.embeddings().added(own, _added(state), _BATCH_CHANGES):
                state = _with_added(state, changes[-1].sequence)
                state = self._apply(changes, store, state)
            self._compact(state)

    def _apply(self, changes: Sequence[Change], store: Store, state: IndexState) -> IndexState:
        """Append what changed and write ``state``, counting it; return that state."""
        loaded = self._load()
        batch = Batch(loaded, self._names.slots(self._folder, loaded.extent))
        for change in changes:
            shelves = change.document.shelves if change.document else None
            _apply(batch, store, change.document_id, shelves, self._embedder.fingerprint)
        extent = batch.write(self._folder)
        state = replace(state, counts={**state.counts, **extent.counts()})
        write_state(self._folder, state)
        self._names.counted(extent)
        return state

    def _compact(self, state: IndexState) -> None:
        """Write the live rows into the next generation where most rows are gone."""
        loaded = self._load()
        if (
            loaded.extent.rows <= _COMPACT_FROM
            or self.size(Scope.everything()) * 2 >= loaded.extent.rows
        ):
            return
        slots = self._names.slots(self._folder, loaded.extent)
        extent = vector_files.rewrite(self._folder, loaded, slots)
        counts = {**state.counts, **extent.counts()}
        write_state(self._folder, replace(state, generation=extent.generation, counts=counts))
        # a reader may still map the last one
        drop_generations(self._folder, LOGS, extent.generation - 1)


def _is_same(
    loaded: LoadedVectors, slot: int, document: Document | None, store: Store, fingerprint: str
) -> bool:
    """Whether the rows of a document are its vectors in the store, on its shelves."""
    first, number = loaded.runs[slot].tolist() if 0 <= slot < len(loaded.runs) else (0, 0)
    rows = slice(first, first + number)
    keys, vectors = store.vectors_of(document.id, fingerprint) if document else ([], ())
    if document is None or not number:
        return not number and not keys
    return (
        loaded.keys[rows].tolist() == list(keys)
        and np.array_equal(loaded.vectors[rows], vectors)
        and loaded.shelves[int(loaded.sets[first])] == frozenset(document.shelves)
    )


def _added(state: IndexState) -> int:
    """Return the sequence of the added vectors that were applied last."""
    return state.counts.get(_ADDED, 0)


def _with_added(state: IndexState, sequence: int) -> IndexState:
    return replace(state, counts={**state.counts, _ADDED: sequence})


def _apply(
    batch: Batch,
    store: Store,
    document_id: str,
    shelves: Sequence[str] | None,
    fingerprint: str,
) -> None:
    """Bring the rows of a document to what the store has; ``shelves`` is None if it is gone."""
    if shelves is not None:
        keys, vectors = store.vectors_of(document_id, fingerprint)
        if keys:
            rows = np.asarray(vectors, dtype=np.float32)
            batch.replace(document_id, shelves, np.asarray(keys, dtype=np.int64), rows)
            return
    batch.drop(document_id)


def _top(
    loaded: LoadedVectors, scope: Rows, vector: NDArray[np.float32], limit: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return keys and scores of the best ``limit``, all ties at the cut considered."""
    if limit <= 0:
        return np.zeros(0, np.int64), np.zeros(0, np.float64)
    few = scope.mask is not None and is_small(scope.number)
    rows = np.flatnonzero(scope.mask) if few and scope.mask is not None else None
    found, scores = best_rows(loaded.vectors, loaded.codes, vector, limit, scope.mask, rows)
    keys = loaded.keys[found]
    order = np.lexsort((keys, -scores))[:limit]
    return keys[order], scores[order]


def _scores_of(
    loaded: LoadedVectors, scope: Rows, keys: NDArray[np.int64], vector: NDArray[np.float32]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return those of ``keys`` that have a vector inside the scope, and their scores."""
    rows = loaded.table.find(keys)
    rows = rows[rows >= 0]
    if scope.mask is not None:
        rows = rows[scope.mask[rows]]
    return loaded.keys[rows], cosines(loaded.vectors[rows], vector)
