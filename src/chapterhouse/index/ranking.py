"""BM25 by Tantivy: the clauses of a question, and the best chunks in a total order."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import tantivy

from chapterhouse.index.schema import FIELD_WEIGHTS, entry_of, fields_of, make_schema
from chapterhouse.text.analyse import analyse
from chapterhouse.types import Chunk, Document, Scored, WeightedTerm

_TIES: Final = 16
_HEAP_BYTES: Final = 16_000_000

Clause = tuple[tantivy.Occur, tantivy.Query]
# Gives at most so many chunks for some terms, best first, each by its place among them all.
Rank = Callable[[Sequence[WeightedTerm], int], Sequence[Scored]]


def open_index(schema: tantivy.Schema, path: str | None = None) -> tantivy.Index:
    """Return an index that takes terms as they are, in a folder or in memory."""
    index = tantivy.Index(schema, path=path, reuse=True) if path else tantivy.Index(schema)
    analyser = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    index.register_tokenizer("terms", analyser)
    return index


def clauses_of(schema: tantivy.Schema, terms: Sequence[WeightedTerm]) -> Iterator[Clause]:
    """Yield for each term what scores it in each field."""
    for term in terms:
        for field, weight in FIELD_WEIGHTS.items():
            query = tantivy.Query.term_query(schema, field, term.term, index_option="freq")
            if weight * term.weight != 1.0:
                query = tantivy.Query.boost_query(query, weight * term.weight)
            yield tantivy.Occur.Should, query


def best_of(searcher: tantivy.Searcher, query: tantivy.Query, limit: int) -> Sequence[Scored]:
    """Return the best by score, then key; fetch on while a tie spans the cut."""
    wanted = limit + _TIES
    while True:
        hits = searcher.search(query, limit=wanted, count=False).hits
        complete = len(hits) < wanted
        if complete or hits[limit - 1][0] > hits[-1][0]:
            break
        wanted *= 4
    keys = searcher.fast_field_values("key", [address for _, address in hits])
    order = sorted((-score, int(key or 0)) for (score, _), key in zip(hits, keys, strict=True))
    return [Scored(key, -score) for score, key in order[:limit]]


def rank_in_memory(entries: Sequence[tuple[Document, Sequence[Chunk]]]) -> Rank:
    """Return what ranks chunks by BM25; nothing of them is written to the disk.

    A chunk's key is its place among all of them.
    """
    schema = make_schema()
    index = open_index(schema)
    writer = index.writer(_HEAP_BYTES, num_threads=1)
    key = 0
    for document, chunks in entries:
        title = analyse(document.title, document.language)
        for chunk in chunks:
            fields = fields_of(chunk, title, document.language)
            writer.add_document(entry_of(document, key, fields))
            key += 1
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def rank(terms: Sequence[WeightedTerm], limit: int) -> Sequence[Scored]:
        clauses = list(clauses_of(schema, terms))
        return best_of(searcher, tantivy.Query.boolean_query(clauses), limit) if clauses else ()

    return rank
