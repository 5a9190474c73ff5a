"""BM25 by Tantivy: the clauses of a question, and the best chunks in a total order."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import tantivy

from chapterhouse.index.forward import Fields
from chapterhouse.text.analyse import analyse
from chapterhouse.text.canonical import other_names, stated_date
from chapterhouse.text.terms import terms_in, text_of_section
from chapterhouse.types import Chunk, Document, Scored, WeightedTerm

# The weight of a field in the sum of BM25 scores; chosen by ``make eval``.
FIELD_WEIGHTS: Final = {"body": 1.0, "title": 0.3, "section": 0.15}


@dataclass(frozen=True, slots=True)
class NameTerms:
    """The terms of what a document goes by."""

    title: list[str]
    others: list[str]


def name_terms(document: Document) -> NameTerms:
    """Return the terms of a title; of folders, file, aliases, tags and the day that is stated."""
    others = f"{other_names(document)} {stated_date(document)}"
    title = terms_in(document.title, document.language)
    return NameTerms(title, terms_in(others.strip(), document.language))


def fields_of(chunk: Chunk, names: NameTerms, language: str) -> Fields:
    """Return the terms of a chunk: of its text, of what it is below, and of its title."""
    text = terms_in(chunk.header + chunk.text, language)
    section = analyse(text_of_section(chunk.section_path), language)
    return text, [*section, *names.others], names.title


def make_schema() -> tantivy.Schema:
    """Return the fields of an entry; the body holds section path and title, too."""
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("key", fast=True)
    builder.add_text_field("document", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("shelf", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("title", tokenizer_name="terms", index_option="freq")
    builder.add_text_field("section", tokenizer_name="terms", index_option="freq")
    builder.add_text_field("body", tokenizer_name="terms", index_option="position")
    return builder.build()


def entry_of(document: Document, key: int, fields: Fields) -> tantivy.Document:
    """Return the entry of a chunk."""
    text, section, title = map(" ".join, fields)
    entry = tantivy.Document()
    entry.add_unsigned("key", key)
    entry.add_text("document", document.id)
    for shelf in document.shelves:
        entry.add_text("shelf", shelf)
    entry.add_text("title", title)
    entry.add_text("section", section)
    entry.add_text("body", f"{text} {section} {title}")
    return entry


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
        names = name_terms(document)
        for chunk in chunks:
            fields = fields_of(chunk, names, document.language)
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
