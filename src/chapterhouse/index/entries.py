"""The entries of the lexical index beside the chunks that the store has."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import tantivy

from chapterhouse.index.comparing import compare_entries
from chapterhouse.index.forward import Forward
from chapterhouse.index.schema import fields_of
from chapterhouse.ports.store import Store
from chapterhouse.text.analyse import analyse
from chapterhouse.text.counting import counted
from chapterhouse.types import Document, Scope


@dataclass(frozen=True, slots=True)
class Entries:
    """One state of the index, of which entries are looked up by a name in them."""

    schema: tantivy.Schema
    searcher: tantivy.Searcher

    def keys(self, field: str, name: str) -> list[int]:
        """Return the chunk keys of the entries with a name in a field, repeats included."""
        query = tantivy.Query.term_query(self.schema, field, name, index_option="basic")
        most = max(self.searcher.num_docs, 1)
        hits = self.searcher.search(query, limit=most, count=False).hits
        found = self.searcher.fast_field_values("key", [address for _, address in hits])
        return [int(key or 0) for key in found]


def compare(
    every: Sequence[int],
    held: Entries,
    rows: Forward,
    store: Store,
    changed: Collection[str],
    *,
    thorough: bool,
) -> Iterator[str]:
    """Yield how the index differs from the store.

    Args:
        every: The chunk keys of all entries.
        held: The entries.
        rows: The terms of the chunks.
        store: What the index was made from.
        changed: Documents that it need not have yet.
        thorough: Also compare the terms of every chunk with its text.
    """
    expected = store.examination().chunk_keys()
    documents = {one.id: one for one in store.documents(Scope.everything())}
    found = {name: held.keys("document", name) for name in documents}
    yield from compare_entries(expected, found, changed)
    if not changed:
        strange = Counter(every)
        strange.subtract(key for keys in found.values() for key in keys)
        if number := sum(map(abs, strange.values())):
            yield f"has {counted(number, 'chunk')} of documents that are not there"
        yield from _shelf_faults(held, expected, documents)
    if fault := rows.fault():
        yield fault
        return
    for name, document in documents.items():
        if name in changed:
            continue
        if not rows.has(expected.get(name, ())):
            yield f"lacks the terms of document {name}"
        elif thorough and not _has_terms(rows, store, document):
            yield f"has other terms of document {name} than its text"


def _shelf_faults(
    held: Entries, expected: Mapping[str, Sequence[int]], documents: Mapping[str, Document]
) -> Iterator[str]:
    shelves: dict[str, set[int]] = {}
    for name, document in documents.items():
        for shelf in document.shelves:
            shelves.setdefault(shelf, set()).update(expected.get(name, ()))
    for shelf, keys in sorted(shelves.items()):
        if keys != set(held.keys("shelf", shelf)):
            yield f"has other chunks on the shelf {shelf} than the library"


def _has_terms(rows: Forward, store: Store, document: Document) -> bool:
    """Whether the forward file has the terms that the text of a document gives."""
    chunks = store.chunks_of(document.id, Scope.everything())
    title = analyse(document.title, document.language)
    fields = [fields_of(chunk, title, document.language) for chunk in chunks]
    return rows.has_fields([chunk.key for chunk in chunks], fields)
