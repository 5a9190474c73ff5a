"""Search for removed documents by every path, and make a receipt of it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from chapterhouse.ingest.traces import search_files
from chapterhouse.ports.index import LexicalSearch, NameSearch, VectorSearch
from chapterhouse.ports.models import PassageCache
from chapterhouse.ports.store import Store
from chapterhouse.text.analyse import SNOWBALL, analyse
from chapterhouse.text.spelling import words_of
from chapterhouse.types import Probes, Receipt, Scope, SearchCount, WeightedTerm

Probe = TypeVar("Probe")
_ALL: Final = Scope.everything()
_HITS: Final = 100  # of one search
_ANY: Final = 2**31  # documents that may share a name


@dataclass(frozen=True, slots=True)
class Searches:
    """Everything in which a removed document might still be found.

    Attributes:
        store: The truth.
        folder: Of the workspace: every file in it is looked into.
        lexical: The lexical index.
        names: The index of names.
        vectors: The vector indexes, by the fingerprint of their embedder.
        caches: Of vectors.
        purge: Takes what is gone out of the files of all indexes; returns the change up to which
            each of them has come.
    """

    store: Store
    folder: Path
    lexical: LexicalSearch
    names: NameSearch
    vectors: Mapping[str, VectorSearch]
    caches: Sequence[PassageCache]
    purge: Callable[[], int]


def take_receipt(probes: Probes, searches: Searches) -> Receipt:
    """Search for removed documents by every path.

    What is in another document, too, does not count as found.

    Args:
        probes: What they are known by.
        searches: Where to search; indexes are searched as they are.
    """
    files = search_files(probes.pieces, probes.sources.keys(), searches.folder, searches.store)
    return Receipt(
        phrases=_search_phrases(probes, searches),
        terms=_search_terms(probes, searches),
        vectors=_search_vectors(probes, searches),
        names=_search_names(probes, searches),
        ids=_search_ids(probes, searches),
        passages=files.passages,
        files=files.files,
        bytes=files.bytes,
        retained=files.retained,
    )


def _search_phrases(probes: Probes, searches: Searches) -> SearchCount:
    lexical = searches.lexical
    hits = {
        phrase: [hit.key for hit in lexical.search_phrase(phrase, _ALL, _HITS)]
        for phrase in probes.phrases
    }
    return _counted(hits, probes, searches.store, "lexical index")


def _search_terms(probes: Probes, searches: Searches) -> SearchCount:
    lexical = searches.lexical
    hits = {
        term: [hit.key for hit in lexical.search([WeightedTerm(term)], _ALL, _HITS)]
        for term in probes.terms
    }
    return _counted(hits, probes, searches.store, "lexical index")


def _search_vectors(probes: Probes, searches: Searches) -> SearchCount:
    """Search with the documents' own vectors; their chunks are asked for by key as well."""
    keys, searched, found, places = sorted(probes.keys), 0, 0, set[str]()
    for fingerprint, rows in probes.vectors.items():
        index = searches.vectors.get(fingerprint)
        if index is None:  # of an encoder that no question uses: its index was deleted
            continue
        hits = {
            number: [hit.key for hit in index.search(row, _ALL, _HITS, () if number else keys)]
            for number, row in enumerate(rows)
        }
        count = _counted(hits, probes, searches.store, f"vectors of {fingerprint}")
        searched, found = searched + count.searched, found + count.found
        places.update(count.places)
    for cache in searches.caches:
        cached = cache.count(probes.cached)
        searched, found = searched + len(probes.cached), found + cached
        places |= {"cache of embeddings"} if cached else set()
    return SearchCount(searched, found, tuple(sorted(places)))


def _search_names(probes: Probes, searches: Searches) -> SearchCount:
    """Search for the documents' names, and for words that no document has any more."""
    titled = searches.names.find_titled(probes.names, _ALL, _ANY)
    found = sum(not probes.sources.keys().isdisjoint(documents) for documents in titled.values())
    left = {word for word in probes.words if _is_left_over(word, searches)}
    for document in searches.store.documents(_ALL) if left else ():
        body = searches.store.body(document.id, _ALL)
        left -= words_of(f"{document.title}\n{body.text if body else ''}")
    found += len(left)
    searched = len(probes.names) + len(probes.words)
    return SearchCount(searched, found, ("index of names",) if found else ())


def _is_left_over(word: str, searches: Searches) -> bool:
    """Whether a word is known for the correction of misspelled ones, and in no chunk."""
    if word not in searches.names.near_words(word[:-1], _ALL):
        return False
    terms = {term for language in ("", *SNOWBALL) for term in analyse(word, language)}
    return not any(searches.lexical.document_frequencies(sorted(terms), _ALL))


def _search_ids(probes: Probes, searches: Searches) -> SearchCount:
    """Search for the ids of documents and the keys of their chunks."""
    store, lexical, ids = searches.store, searches.lexical, sorted(probes.sources)
    places: dict[str, set[str]] = {}

    def note(found: Iterable[str], where: str) -> None:
        for one in found:
            places.setdefault(one, set()).add(where)

    for one, tables in store.removed().naming(ids).items():
        for table in tables:
            note([one], table)
    keys = sorted(probes.keys)
    note((probes.keys[key] for key in store.documents_of(keys, _ALL)), "chunks")
    rows = lexical.terms_of(keys, _ALL)
    lengths = (rows.starts[1:] - rows.starts[:-1]).tolist()
    note(
        (probes.keys[key] for key, length in zip(keys, lengths, strict=True) if length),
        "terms of chunks",
    )
    if ids:
        hits = lexical.search((), _ALL, len(keys) + _HITS, ids)
        gone = _gone([hit.key for hit in hits], probes, store)
        note((probes.keys.get(key, ids[0]) for key in gone), "lexical index")
    where = sorted({place for some in places.values() for place in some})
    return SearchCount(len(ids), len(places), tuple(where))


def _counted(
    hits: Mapping[Probe, Sequence[int]], probes: Probes, store: Store, where: str
) -> SearchCount:
    """Count the probes with a hit that is no chunk of a document that is there."""
    gone = _gone([key for keys in hits.values() for key in keys], probes, store)
    found = sum(not gone.isdisjoint(keys) for keys in hits.values())
    return SearchCount(len(hits), found, (where,) if found else ())


def _gone(keys: Sequence[int], probes: Probes, store: Store) -> set[int]:
    """Return those of ``keys`` that were removed, now or earlier."""
    there = store.documents_of(set(keys), _ALL)
    return {key for key in keys if key in probes.keys or key not in there}
