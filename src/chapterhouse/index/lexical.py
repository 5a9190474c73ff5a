"""BM25 over the analyser's own terms, in Tantivy.

Tantivy sees terms that are already analysed, separated by spaces; its part is postings, BM25
(k1 1.2, b .75) and fast top-k. One writer at a time, with one thread: with several, documents are
spread over segments differently each time. Its statistics count deleted chunks until their
segments merge, so after many changes scores may differ a little from those of a fresh build;
``rebuild`` makes them equal.
"""

import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import tantivy

from chapterhouse.errors import CorruptLibraryError
from chapterhouse.index.state import IndexState, read_state, write_state, writer_lock
from chapterhouse.protocols import Store
from chapterhouse.text.analyse import ANALYSER_VERSION, analyse
from chapterhouse.types import Change, Chunk, Document, Scored, WeightedTerm

# Tantivy refuses an index of a format it cannot read; this says what is in ours.
_FINGERPRINT: Final = f"schema 1 analyser {ANALYSER_VERSION}"
_HEAP_BYTES: Final = 64_000_000
_BATCH_CHANGES: Final = 512
_TIES: Final = 16
_LEFT_BEHIND: Final = "FileAlreadyExists"  # how Tantivy names it; it has no type for it

# The weight of a field in the sum of BM25 scores; chosen by ``make eval``.
FIELD_WEIGHTS: Final = {"body": 1.0, "title": 0.3, "section": 0.15}


class LexicalIndex:
    """The lexical index in one folder. Safe to share between threads and processes."""

    def __init__(self, folder: Path, *, wait_seconds: float = 10.0) -> None:
        self._folder = folder
        self._wait_seconds = wait_seconds
        self._lock = threading.Lock()
        self._schema = _schema()
        self._index: tantivy.Index | None = None
        self._loaded = IndexState()

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
                    self._mend_and_apply(store)
        return self.sequence()

    def rebuild(self, store: Store) -> int:
        """Build it anew from the whole store."""
        with writer_lock(self._folder, self._wait_seconds * 6) as held:
            if held:
                self._reset(read_state(self._folder).generation + 1)
                self._apply_all(store)
        return self.sequence()

    def search(
        self, terms: Sequence[WeightedTerm], shelves: Sequence[str], limit: int
    ) -> Sequence[Scored]:
        """Return at most ``limit`` chunks by BM25, best first; ties in order of key."""
        clauses = [
            (tantivy.Occur.Should, self._term(field, term.term, weight * term.weight))
            for term in terms
            for field, weight in FIELD_WEIGHTS.items()
        ]
        if not clauses:
            return ()
        return self._top(_on_shelves(self._schema, clauses, shelves), limit)

    def search_phrase(
        self, words: Sequence[str], shelves: Sequence[str], limit: int
    ) -> Sequence[Scored]:
        """Return chunks in whose body the terms ``words`` stand one after the other."""
        if not words:
            return ()
        query = (
            tantivy.Query.phrase_query(self._schema, "body", list(words))
            if len(words) > 1
            else tantivy.Query.term_query(self._schema, "body", words[0])
        )
        clauses = [(tantivy.Occur.Must, query)]
        return self._top(_on_shelves(self._schema, clauses, shelves), limit)

    def document_frequency(self, term: str) -> int:
        """Count the chunks in whose body, title or section path ``term`` occurs."""
        with _telling_damage():
            return int(self._searcher().doc_freq("body", term))

    def size(self) -> int:
        """Count the chunks in the index."""
        return int(self._searcher().num_docs)

    def _term(self, field: str, term: str, weight: float) -> tantivy.Query:
        query = tantivy.Query.term_query(self._schema, field, term, index_option="freq")
        return query if weight == 1.0 else tantivy.Query.boost_query(query, weight)

    def _top(self, query: tantivy.Query, limit: int) -> Sequence[Scored]:
        """Return the best by score, then key; fetch on while a tie spans the cut."""
        searcher = self._searcher()
        wanted = limit + _TIES
        with _telling_damage():
            while True:
                hits = searcher.search(query, limit=wanted, count=False).hits
                complete = len(hits) < wanted
                if complete or hits[limit - 1][0] > hits[-1][0]:
                    break
                wanted *= 4
            keys = searcher.fast_field_values("key", [address for _, address in hits])
        scored = [
            Scored(int(key or 0), float(score)) for (score, _), key in zip(hits, keys, strict=True)
        ]
        return sorted(scored, key=lambda hit: (-hit.score, hit.key))[:limit]

    def _state(self) -> IndexState:
        """Return the state on disk; one without its files, or of another make, counts as empty."""
        state = read_state(self._folder)
        there = (self._files(state.generation) / "meta.json").exists()
        if state.fingerprint == _FINGERPRINT and (there or not state.sequence):
            return state
        return IndexState(generation=state.generation)

    def _files(self, generation: int) -> Path:
        return self._folder / f"tantivy.{generation}"

    def _searcher(self) -> tantivy.Searcher:
        state = self._state()
        with self._lock, _telling_damage():
            if self._index is None or state.generation != self._loaded.generation:
                self._index = self._open(state.generation)
                self._loaded = state
            elif state != self._loaded:
                self._index.reload()
                self._loaded = state
            return self._index.searcher()

    def _open(self, generation: int) -> tantivy.Index:
        folder = self._files(generation)
        folder.mkdir(parents=True, exist_ok=True)
        index = tantivy.Index(self._schema, path=str(folder), reuse=True)
        analyser = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        index.register_tokenizer("terms", analyser)
        return index

    def _reset(self, generation: int) -> None:
        """Begin the next generation; the last one stays for those who are reading it."""
        shutil.rmtree(self._files(generation), ignore_errors=True)  # left by one that died
        write_state(self._folder, IndexState(0, _FINGERPRINT, 0, generation))
        for folder in self._folder.glob("tantivy.*"):
            if folder not in (self._files(generation), self._files(generation - 1)):
                shutil.rmtree(folder, ignore_errors=True)

    def _mend_and_apply(self, store: Store) -> None:
        """Apply what was missed, from the beginning if a killed commit stands in the way.

        It can leave a file whose name the next commit needs, and Tantivy then refuses every one.
        After any other failure, such as a full disk, the index stays as far as it has come.
        """
        try:
            self._apply_all(store)
        except CorruptLibraryError as error:
            if _LEFT_BEHIND not in error.message:
                raise
            self._reset(read_state(self._folder).generation + 1)
            self._apply_all(store)

    def _apply_all(self, store: Store) -> None:
        state = self._state()
        if not state.sequence:
            self._reset(state.generation + 1)
            state = self._state()
        changes = store.changes(state.sequence, _BATCH_CHANGES)
        if not changes:
            return
        with _telling_damage():
            writer = self._open(state.generation).writer(_HEAP_BYTES, num_threads=1)
            while changes:
                for change in changes:
                    _apply(change, writer, store)
                writer.commit()
                state = replace(state, sequence=changes[-1].sequence)
                write_state(self._folder, state)
                changes = store.changes(state.sequence, _BATCH_CHANGES)
            writer.wait_merging_threads()


@contextmanager
def _telling_damage() -> Iterator[None]:
    """Say what to do where Tantivy only says that something failed."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise CorruptLibraryError(
            f"The lexical index cannot be used: {error}",
            hint="If the disk is full, make room. Then run: chapterhouse reindex",
        ) from error


def _apply(change: Change, writer: tantivy.IndexWriter, store: Store) -> None:
    writer.delete_documents_by_term("document", change.document_id)
    if change.document:
        for chunk in store.chunks_of(change.document_id):
            writer.add_document(_entry(change.document, chunk))


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("key", fast=True)
    builder.add_text_field("document", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("shelf", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("title", tokenizer_name="terms", index_option="freq")
    builder.add_text_field("section", tokenizer_name="terms", index_option="freq")
    builder.add_text_field("body", tokenizer_name="terms", index_option="position")
    return builder.build()


def _entry(document: Document, chunk: Chunk) -> tantivy.Document:
    language = document.language
    title = " ".join(analyse(document.title, language))
    section = " ".join(analyse(" / ".join(chunk.section_path), language))
    body = " ".join(analyse(chunk.header + chunk.text, language))
    entry = tantivy.Document()
    entry.add_unsigned("key", chunk.key)
    entry.add_text("document", document.id)
    for shelf in document.shelves:
        entry.add_text("shelf", shelf)
    entry.add_text("title", title)
    entry.add_text("section", section)
    entry.add_text("body", f"{body} {section} {title}")
    return entry


def _on_shelves(
    schema: tantivy.Schema,
    clauses: list[tuple[tantivy.Occur, tantivy.Query]],
    shelves: Sequence[str],
) -> tantivy.Query:
    query = tantivy.Query.boolean_query(clauses)
    if not shelves:
        return query
    within = tantivy.Query.term_set_query(schema, "shelf", list(shelves))
    return tantivy.Query.boolean_query(
        [
            (tantivy.Occur.Must, query),
            (tantivy.Occur.Must, tantivy.Query.const_score_query(within, 0.0)),
        ]
    )
