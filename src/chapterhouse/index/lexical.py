"""BM25 over the analyser's own terms, in Tantivy.

Tantivy sees terms that are already analysed, separated by spaces; its part is postings, BM25
(k1 1.2, b .75) and fast top-k. One writer at a time, with one thread: with several, documents are
spread over segments differently each time. Its statistics count deleted chunks until their
segments merge, so after many changes scores may differ a little from those of a fresh build;
``rebuild`` makes them equal. That holds for the scope of everything; inside any other,
``index/scoped.py`` counts and scores.

Beside it lies the forward file (``index/forward.py``) with the terms of each chunk, written in the
same catch-up from the same analysis.
"""

import os
import shutil
import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np
import tantivy
from numpy.typing import NDArray

from chapterhouse.errors import CorruptLibraryError
from chapterhouse.index import forward
from chapterhouse.index.comparing import (
    differing_documents,
    require_whole_segments,
)
from chapterhouse.index.forward import Extent, Forward
from chapterhouse.index.ranking import (
    best_of,
    clauses_of,
    entry_of,
    fields_of,
    make_schema,
    name_terms,
    open_index,
)
from chapterhouse.index.scoped import ScopedIndex
from chapterhouse.index.state import (
    IndexState,
    drop_generations,
    explain_damage,
    load_current,
    read_state,
    write_state,
    writer_lock,
)
from chapterhouse.store.sqlite import Store
from chapterhouse.text.analyse import ANALYSER_VERSION
from chapterhouse.types import Change, Scope, Scored, TermRows, WeightedTerm

# Tantivy refuses an index of a format it cannot read; this says what is in ours.
_FINGERPRINT: Final = f"schema 3 analyser {ANALYSER_VERSION}"
_HEAP_BYTES: Final = 64_000_000
_BATCH_CHANGES: Final = 512
_COMPACT_FROM: Final = 10_000  # rows of the forward file; below it gone ones cost nothing
_MOST_SCOPES: Final = 64
_LEFT_BEHIND: Final = "FileAlreadyExists"  # how Tantivy names it; it has no type for it


class LexicalIndex:
    """The lexical index in one folder. Safe to share between threads and processes."""

    def __init__(self, folder: Path, *, wait_seconds: float = 10.0) -> None:
        self._folder = folder
        self._wait_seconds = wait_seconds
        self._lock = threading.Lock()
        self._schema = make_schema()
        self._index: tantivy.Index | None = None
        self._links: TemporaryDirectory[str] | None = None  # goes with this object
        self._loaded = IndexState()
        self._forward = forward.NOTHING
        self._seen_whole = IndexState()
        self._scopes: tuple[IndexState, dict[str, ScopedIndex]] = (IndexState(), {})

    def sequence(self) -> int:
        """Return the number of the last change that is in the index on disk."""
        return self._state().sequence

    def catch_up(self, store: Store) -> int:
        """Apply the changes it has missed; wait a while for another process that is at it.

        Returns:
            The sequence reached, lower than the store's if the other process was slow.
        """
        if self.sequence() < store.sequence():
            with writer_lock(self._folder, self._wait_seconds) as held:
                if held:
                    self._apply_or_rebuild(store)
        return self.sequence()

    def rebuild(self, store: Store) -> int:
        """Build it anew from the whole store; of what it was nothing stays on the disk.

        Until it is complete the last one is searched. Who reads that one then finds its files
        gone and the state changed, and reads again.
        """
        with writer_lock(self._folder, self._wait_seconds * 6) as held:
            if held:
                last = read_state(self._folder)
                fresh = self._begun(last)
                state = self._write(store, fresh, forward.NOTHING, lambda _: None)
                write_state(self._folder, state)
                self._drop_others(state.generation)
                drop_generations(self._folder, forward.LOGS, _extent(state).edition)
        return self.sequence()

    def search(
        self,
        terms: Sequence[WeightedTerm],
        scope: Scope,
        limit: int,
        documents: Sequence[str] = (),
    ) -> Sequence[Scored]:
        """Return at most ``limit`` chunks by BM25, best first; ties in order of key.

        With ``documents``, only chunks of these, also those in which none of the terms occurs.
        """
        if scope.shelves is not None:
            with explain_damage():
                return self._scoped(scope).search(terms, limit, documents)
        clauses = list(clauses_of(self._schema, terms))
        if documents:
            of_these = tantivy.Query.term_set_query(self._schema, "document", list(documents))
            clauses.append((tantivy.Occur.Must, tantivy.Query.const_score_query(of_these, 0.0)))
        if not clauses:
            return ()
        return self._top(tantivy.Query.boolean_query(clauses), limit)

    def search_phrase(self, words: Sequence[str], scope: Scope, limit: int) -> Sequence[Scored]:
        """Return chunks in whose body the terms ``words`` stand one after the other."""
        if not words:
            return ()
        if scope.shelves is not None:
            with explain_damage():
                return self._scoped(scope).search_phrase(words, limit)
        query = (
            tantivy.Query.phrase_query(self._schema, "body", list(words))
            if len(words) > 1
            else tantivy.Query.term_query(self._schema, "body", words[0])
        )
        return self._top(query, limit)

    def document_frequencies(self, terms: Sequence[str], scope: Scope) -> Sequence[int]:
        """Count the chunks in which each term occurs, all at one state of the index."""
        with explain_damage():
            if scope.shelves is not None:
                return list(map(self._scoped(scope).frequency, terms))
            searcher = self._searcher()
            return [int(searcher.doc_freq("body", term)) for term in terms]

    def terms_of(self, keys: Sequence[int], scope: Scope) -> TermRows:
        """Return the terms of chunks, one row for each of ``keys`` in their order.

        The row of a chunk that is not in the index or outside the scope is empty; in the scope of
        everything, that of one which was in the index and is gone may still be there.
        """
        if scope.shelves is not None:
            return self._scoped(scope).terms_of(keys)
        return self._load_forward().terms_of(keys)

    def size(self, scope: Scope) -> int:
        """Count the chunks in the index."""
        if scope.shelves is not None:
            return self._scoped(scope).size()
        return int(self._searcher().num_docs)

    def _scoped(self, scope: Scope) -> ScopedIndex:
        """Return the present state as a scope shows it; some are remembered until it changes."""
        with self._lock:
            searcher = load_current(self._state, self._searcher_at)
            state = self._loaded
            rows = load_current(self._state, self._forward_at)  # behind it: it lacks no row of it
            known_at, known = self._scopes
            if known_at != state or len(known) >= _MOST_SCOPES:
                known = {}
                self._scopes = (state, known)
            found = known.get(scope.key)
        if found is None:
            found = known[scope.key] = ScopedIndex(searcher, self._schema, rows, scope)
        return found

    def differing(self, store: Store, *, thorough: bool) -> Collection[str]:
        """Return the documents of which it has other chunks, shelves or terms; see ``Index``."""
        with explain_damage():
            state = self._state()
            if thorough and state.sequence:  # first: on a damaged file a search may end in a panic
                require_whole_segments(self._files(state.generation))
            every, rows = self._keys().tolist(), self._load_forward()
            return differing_documents(
                every, self._schema, self._searcher(), rows, store, thorough=thorough
            )

    def _top(self, query: tantivy.Query, limit: int) -> Sequence[Scored]:
        with explain_damage():
            return best_of(self._searcher(), query, limit)

    def _state(self) -> IndexState:
        """Return the state on disk; one without its files, or of another make, counts as empty."""
        state = read_state(self._folder)
        if state.fingerprint == _FINGERPRINT:
            if not state.sequence or state == self._seen_whole:
                return state
            there = (self._files(state.generation) / "meta.json").exists()
            if there and forward.is_there(self._folder, _extent(state)):
                self._seen_whole = state
                return state
        return IndexState(generation=state.generation, counts=_edition_only(state))

    def _files(self, generation: int) -> Path:
        return self._folder / f"tantivy.{generation}"

    def _searcher(self) -> tantivy.Searcher:
        with self._lock:
            return load_current(self._state, self._searcher_at)

    def _searcher_at(self, state: IndexState) -> tantivy.Searcher:
        with explain_damage():
            if self._index is None or state.generation != self._loaded.generation:
                self._index = self._open(state.generation)
            elif state != self._loaded:
                self._index.reload()
            self._loaded = state
            return self._index.searcher()

    def _load_forward(self) -> Forward:
        with self._lock:  # the state too: an older one would be loaded over a newer
            return load_current(self._state, self._forward_at)

    def _forward_at(self, state: IndexState) -> Forward:
        with explain_damage():
            self._forward = forward.load(self._folder, _extent(state), self._forward)
            return self._forward

    def _open(self, generation: int) -> tantivy.Index:
        folder = self._files(generation)
        with suppress(OSError):  # where it can only be read it is there, or cannot be opened
            folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            folder = self._linked(folder)
        return open_index(self._schema, str(folder))

    def _linked(self, folder: Path) -> Path:
        """Return a folder of links to the files of one in which Tantivy cannot make its lock."""
        self._links = TemporaryDirectory(prefix="chapterhouse-", ignore_cleanup_errors=True)
        place = Path(self._links.name)
        for path in folder.iterdir() if folder.is_dir() else ():
            if not path.name.endswith(".lock"):
                (place / path.name).symlink_to(path.resolve())
        return place

    def _reset(self) -> IndexState:
        """Begin the next generation; the last one stays for those who are reading it."""
        fresh = self._begun(read_state(self._folder))
        write_state(self._folder, fresh)
        drop_generations(self._folder, forward.LOGS, _extent(fresh).edition - 1)
        self._drop_others(fresh.generation, fresh.generation - 1)
        return fresh

    def _begun(self, last: IndexState) -> IndexState:
        """Return the state of an empty index of the generation after ``last``."""
        shutil.rmtree(self._files(last.generation + 1), ignore_errors=True)  # left by one that died
        extent = Extent(_extent(last).edition + 1)
        return IndexState(0, _FINGERPRINT, last.generation + 1, _counts(extent))

    def _drop_others(self, *generations: int) -> None:
        for folder in self._folder.glob("tantivy.*"):
            if folder not in map(self._files, generations):
                shutil.rmtree(folder, ignore_errors=True)

    def _apply_or_rebuild(self, store: Store) -> None:
        """Apply what was missed, from the beginning if a killed commit stands in the way.

        It can leave a file whose name the next commit needs, and Tantivy then refuses every one.
        After any other failure, such as a full disk, the index stays as far as it has come.
        """
        try:
            self._apply_all(store)
        except CorruptLibraryError as error:
            if _LEFT_BEHIND not in error.message:
                raise
            self._reset()
            self._apply_all(store)

    def _apply_all(self, store: Store) -> None:
        state = self._state()
        if not state.sequence:
            state = self._reset()
        publish = partial(write_state, self._folder)
        self._compact(self._write(store, state, self._load_forward(), publish))

    def _write(
        self,
        store: Store,
        state: IndexState,
        rows_before: Forward,
        publish: Callable[[IndexState], None],
    ) -> IndexState:
        """Apply what follows ``state``; return the state that counts it, told batch by batch."""
        changes = store.changes(state.sequence, _BATCH_CHANGES)
        if not changes:
            return state
        with explain_damage():
            writer = self._open(state.generation).writer(_HEAP_BYTES, num_threads=1)
            loaded = rows_before
            while changes:
                loaded = forward.load(self._folder, _extent(state), loaded)
                rows = forward.Rows(loaded)
                for change in changes:
                    _apply(change, writer, store, rows)
                extent = rows.write(self._folder)
                writer.commit()
                state = replace(state, sequence=changes[-1].sequence, counts=_counts(extent))
                publish(state)
                changes = store.changes(state.sequence, _BATCH_CHANGES)
            writer.wait_merging_threads()
        return state

    def _compact(self, state: IndexState) -> None:
        """Write the forward file anew where most of its rows are of chunks that are gone."""
        extent = _extent(state)
        live = self.size(Scope.everything())
        if extent.rows < _COMPACT_FROM or live * 2 > extent.rows:
            return
        keys = self._keys()
        fresh = forward.rewrite(self._folder, self._load_forward(), keys)
        write_state(self._folder, replace(state, counts=_counts(fresh)))
        drop_generations(
            self._folder, forward.LOGS, fresh.edition - 1
        )  # a reader may still map the last one

    def _keys(self) -> NDArray[np.int64]:
        """Return the keys of all chunks in the index, sorted."""
        searcher = self._searcher()
        everything = tantivy.Query.all_query()
        with explain_damage():
            hits = searcher.search(everything, limit=max(searcher.num_docs, 1), count=False).hits
            keys = searcher.fast_field_values("key", [address for _, address in hits])
        return np.sort(np.asarray(keys, dtype=np.int64))


def _extent(state: IndexState) -> Extent:
    counts = state.counts
    return Extent(counts.get("edition", 0), counts.get("rows", 0), counts.get("terms", 0))


def _counts(extent: Extent) -> dict[str, int]:
    return {"edition": extent.edition, "rows": extent.rows, "terms": extent.terms}


def _edition_only(state: IndexState) -> dict[str, int]:
    return _counts(Extent(_extent(state).edition))


def _apply(change: Change, writer: tantivy.IndexWriter, store: Store, rows: forward.Rows) -> None:
    writer.delete_documents_by_term("document", change.document_id)
    # Read anew and together: it may have changed since the change was read, and rows of a key
    # are written once.
    found = store.document_with_chunks(change.document_id) if change.document else None
    if found is None:
        return
    document, chunks = found
    unknown = rows.unknown([chunk.key for chunk in chunks])
    names = name_terms(document)
    for chunk in chunks:
        fields = fields_of(chunk, names, document.language)
        writer.add_document(entry_of(document, chunk.key, fields))
        if chunk.key in unknown:
            rows.add(chunk.key, fields)
