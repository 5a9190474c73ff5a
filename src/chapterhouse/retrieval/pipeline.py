"""The way from a query to its hits.

::

    understand -> lexical + vector -> fuse -> exact matches -> cap per document -> cut

Every step is a function over values; what has to be looked up comes in as ``Sources``.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from chapterhouse.protocols import Embedder, LexicalSearch, VectorSearch
from chapterhouse.retrieval.fuse import combine_scores, ranks
from chapterhouse.retrieval.question import Question, contains_exactly, understand
from chapterhouse.text.analyse import analyse
from chapterhouse.types import Census, Chunk, Document, Hit, Query, Scored, SearchResult

Fuse = Callable[[Sequence[Scored], Sequence[Scored]], Mapping[int, float]]

_DEPTH = 100  # candidates of each side; hits beyond it never changed a top ten in evaluation
_EXACT_DEPTH = 50


@dataclass(frozen=True, slots=True)
class Sources:
    """What retrieval may look into.

    Attributes:
        census: How much there is on the given shelves and in which languages.
        chunks: Chunks by key; those that no longer exist are absent.
        documents: Documents by id.
        chunks_named: First chunks of the documents whose file has the given name.
    """

    lexical: LexicalSearch
    vector: VectorSearch
    embedder: Embedder
    census: Callable[[Sequence[str]], Census]
    chunks: Callable[[Iterable[int]], Mapping[int, Chunk]]
    documents: Callable[[Iterable[str]], Mapping[str, Document]]
    chunks_named: Callable[[str, Sequence[str]], Sequence[int]]


@dataclass(frozen=True, slots=True)
class _Candidates:
    """What both sides found, before any chunk is looked at."""

    lexical: Sequence[Scored]
    vector: Sequence[Scored]
    fused: Mapping[int, float]
    exact: Mapping[str, Sequence[int]]


def retrieve(query: Query, sources: Sources, fuse: Fuse = combine_scores) -> SearchResult:
    """Return the hits of ``query``, best first, in total order (score, then chunk id).

    Args:
        query: What is asked.
        sources: What may be looked into.
        fuse: Makes one score a chunk out of the lexical and the vector list.
    """
    census = sources.census(query.shelves)
    question = understand(query.text, census.languages)
    candidates = _candidates(question, query, sources, fuse)
    chosen, guaranteed = _chosen(question, query, candidates, sources)
    return SearchResult(
        query=query,
        hits=_hits(chosen, candidates, guaranteed, sources),
        terms=tuple(term.term for term in question.terms),
        languages=question.languages,
        exact=question.exact,
        documents=census.documents,
        chunks=census.chunks,
    )


def _candidates(question: Question, query: Query, sources: Sources, fuse: Fuse) -> _Candidates:
    depth = max(_DEPTH, query.limit * 2)
    lexical = sources.lexical.search(question.terms, query.shelves, depth)
    vector: Sequence[Scored] = ()
    if any(sources.embedder.serves(language) for language in question.languages):
        embedded = sources.embedder.embed_question(question.content)
        also = [hit.key for hit in lexical]
        vector = sources.vector.search(embedded, query.shelves, depth, also)
    exact = {wanted: _find_exactly(wanted, question, query, sources) for wanted in question.exact}
    return _Candidates(lexical, vector, fuse(lexical, vector), exact)


def _chosen(
    question: Question, query: Query, candidates: _Candidates, sources: Sources
) -> tuple[list[Chunk], Mapping[int, str]]:
    """Look at no more chunks than the choice needs: they come from the store, text and all."""
    fused = candidates.fused
    keys = sorted(fused, key=lambda key: (-fused[key], key))
    exact = set[int]().union(*candidates.exact.values())
    # A quoted phrase comes before every score, so each candidate has to be read for it.
    size = len(keys) if question.phrases else query.limit * 2
    while True:
        while 0 < size < len(keys) and fused[keys[size]] == fused[keys[size - 1]]:
            size += 1  # a tie is broken by what the chunk says of itself
        ordered = _ordered(sources.chunks(exact.union(keys[:size])), question, fused)
        guaranteed = _guaranteed(ordered, question, candidates.exact)
        chosen = choose(ordered, guaranteed, query.limit, query.per_document)
        if len(chosen) >= query.limit or size >= len(keys):
            return chosen, guaranteed
        size *= 3


def _ordered(
    chunks: Mapping[int, Chunk], question: Question, fused: Mapping[int, float]
) -> list[Chunk]:
    return sorted(
        chunks.values(),
        key=lambda chunk: (
            -_phrases_in(chunk, question.phrases),
            -fused.get(chunk.key, 0.0),
            chunk.document_id,
            chunk.ordinal,
        ),
    )


def _find_exactly(wanted: str, question: Question, query: Query, sources: Sources) -> Sequence[int]:
    if wanted in question.file_names:
        return sources.chunks_named(wanted, query.shelves)
    found: list[int] = []
    for language in question.languages:
        words = analyse(wanted, language)
        if wanted in question.identifiers:  # its whole form is a term of its own, and the first
            words = words[:1]
        hits = sources.lexical.search_phrase(words, query.shelves, _EXACT_DEPTH)
        found.extend(hit.key for hit in hits)
    return tuple(dict.fromkeys(found))


def _phrases_in(chunk: Chunk, phrases: Sequence[str]) -> int:
    return sum(contains_exactly(chunk.header + chunk.text, phrase) for phrase in phrases)


def _guaranteed(
    ordered: Sequence[Chunk], question: Question, exact: Mapping[str, Sequence[int]]
) -> Mapping[int, str]:
    """Return the best chunk of everything looked for to the letter, with what it holds."""
    result: dict[int, str] = {}
    for wanted, keys in exact.items():
        named = wanted in question.file_names
        found = set(keys)
        for chunk in ordered:
            if chunk.key in found and (
                named or contains_exactly(chunk.header + chunk.text, wanted)
            ):
                result.setdefault(chunk.key, wanted)
                break
    return result


def choose(
    ordered: Sequence[Chunk], guaranteed: Mapping[int, str], limit: int, per_document: int
) -> list[Chunk]:
    """Cut to ``limit`` with at most ``per_document`` chunks of a document; keep the guaranteed.

    Guaranteed chunks count for their document first, and stay where their score puts them; those
    below the cut take the last places.
    """
    taken: dict[str, int] = {}
    kept: list[Chunk] = []
    must = [chunk for chunk in ordered if chunk.key in guaranteed][:limit]
    for chunk in must:
        taken[chunk.document_id] = taken.get(chunk.document_id, 0) + 1
    free = limit - len(must)
    for chunk in ordered:
        if chunk.key in guaranteed:
            kept.extend([chunk] if chunk in must else [])
            continue
        count = taken.get(chunk.document_id, 0)
        if free and (not per_document or count < per_document):
            taken[chunk.document_id] = count + 1
            kept.append(chunk)
            free -= 1
    return kept


def _hits(
    chosen: Sequence[Chunk],
    candidates: _Candidates,
    guaranteed: Mapping[int, str],
    sources: Sources,
) -> tuple[Hit, ...]:
    documents = sources.documents({chunk.document_id for chunk in chosen})
    lexical = {hit.key: hit.score for hit in candidates.lexical}
    vector = {hit.key: hit.score for hit in candidates.vector}
    lexical_rank, vector_rank = ranks(candidates.lexical), ranks(candidates.vector)
    hits: list[Hit] = []
    for chunk in chosen:
        if chunk.document_id not in documents:  # removed between two looks
            continue
        stages: dict[str, float] = {}
        if chunk.key in lexical:
            stages |= {"bm25": lexical[chunk.key], "bm25_rank": lexical_rank[chunk.key]}
        if chunk.key in vector:
            stages |= {"cosine": vector[chunk.key], "cosine_rank": vector_rank[chunk.key]}
        fused = candidates.fused.get(chunk.key, 0.0)
        stages |= {"fused": fused, "exact": float(chunk.key in guaranteed)}
        rounded = {name: round(value, 6) for name, value in stages.items()}
        hits.append(
            Hit(len(hits) + 1, round(fused, 6), chunk, documents[chunk.document_id], rounded)
        )
    return tuple(hits)
