"""What the indexes find for every variant of a question, and one score out of it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from chapterhouse.errors import EngineError
from chapterhouse.retrieval.fuse import RankedList, best_scores, combine_scores
from chapterhouse.retrieval.rerank import Recency, Rerank, inverse_frequency
from chapterhouse.text.language import foreign_to
from chapterhouse.types import (
    Chunk,
    CorpusCounts,
    Document,
    Query,
    Question,
    Scope,
    Scored,
    Variant,
    VariantKind,
)
from chapterhouse.types.engines import LexicalSearch, MentionSearch, VectorLayer

SIMILARITY: Final = 0.9  # Jaccard similarity of terms from which two chunks say the same

# One score a chunk, 0 to 1, out of the lexical and the vector list of one variant, and the figures
# of the embedder that made the latter.
Fuse = Callable[[Sequence[RankedList]], Mapping[int, float]]
# One score a chunk, 0 to 1, out of those of every variant and the variants' weights.
Merge = Callable[[Sequence[Mapping[int, float]], Sequence[float]], Mapping[int, float]]
# More ways of putting a question, for a library of these languages (with document counts).
Expand = Callable[[Question, Query, Mapping[str, int]], Sequence[Variant]]


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What a chunk must reach to be a hit.

    Attributes:
        bm25: Least BM25 score of a chunk found by its words; scores have no upper end.
        cosine: Least cosine of a chunk found by its vector, -1 to 1.
        score: Least final score, 0 to 1.
    """

    bm25: float = 0.0
    cosine: float = -1.0
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Hop:
    """How mentions count; chosen on ``2wiki-open``, and on the other open sets for harm.

    Attributes:
        hits: First hits whose text is looked through.
        documents: At most so many documents are brought in.
        mentioned: Share of the score of a hit that the documents it mentions have.
        named: Share of the best score that documents named in the question have.
    """

    hits: int = 4
    documents: int = 12
    mentioned: float = 0.6
    named: float = 0.9


@dataclass(frozen=True, slots=True)
class Neighbours:
    """How what the first hits name counts; chosen on the open half of ``benchmarks/bridges``.

    Attributes:
        hits: First hits whose names are followed.
        documents: A name that more documents have is not followed.
        behind: Hits that stay before all neighbours, at least.
        near: So do those, in order, whose score is this share of the best.
        places: At most so many neighbours come behind them.
    """

    hits: int = 4
    documents: int = 40
    behind: int = 5
    near: float = 0.4
    places: int = 3


@dataclass(frozen=True, slots=True)
class Method:
    """The stages of retrieval.

    Attributes:
        fuse: Makes one list out of the lexical and the vector list of a variant.
        expand: Finds more ways of putting the question, those that ask a model last: after the
            first that fails, none is tried.
        merge: Makes one list out of those of several variants.
        rerank: Puts the shortlist in a better order, or None.
        value_asked: Tells of a text and its language whether it states a value that a question asks
            for; None for a question that asks for none.
        duplicates: Similarity from which a chunk repeats a better one; above 1 none does.
        shortlist: Candidates that are read and reranked.
    """

    fuse: Fuse = combine_scores
    expand: tuple[Expand, ...] = ()
    merge: Merge = best_scores
    rerank: Rerank | None = None
    recency: Recency | None = None
    value_asked: Callable[[Question], Callable[[str, str], bool] | None] = lambda _: None
    hop: Hop | None = Hop()
    neighbours: Neighbours | None = Neighbours()
    thresholds: Thresholds = Thresholds()
    duplicates: float = SIMILARITY
    lexical_depth: int = 200
    vector_depth: int = 100
    shortlist: int = 60


# BM25 of a chunk that has all words of a question, over the sum of their inverse frequencies. The
# most possible is 2.2; chosen on nineteen open collections, between .5 and .8 alike.
_FULL: Final = 1.54
AS_WRITTEN_WEIGHT: Final = 0.9  # of a question whose misspelled words are corrected


@dataclass(frozen=True, slots=True)
class Sources:
    """What retrieval may look into, each time within the scope of the query.

    Attributes:
        chunks: By key; those that no longer exist are absent.
        chunks_named: First chunks of the documents whose file has the given name.
        near_words: Words of the documents that a word may be a misspelling of, with its cost.
        titled: Ids of the documents that go by each of some names (``text.mentions``).
        vectors: None where words count alone.
        mentions: What documents speak of; None where that is not to be asked.
    """

    lexical: LexicalSearch
    vectors: VectorLayer | None
    census: Callable[[Scope], CorpusCounts]
    chunks: Callable[[Iterable[int], Scope], Mapping[int, Chunk]]
    documents: Callable[[Iterable[str], Scope], Mapping[str, Document]]
    chunks_named: Callable[[str, Scope], Sequence[int]]
    documents_of: Callable[[Iterable[int], Scope], Mapping[int, str]]
    near_words: Callable[[str, Scope], Mapping[str, float]]
    titled: Callable[[Sequence[str], Scope], Mapping[str, Sequence[str]]]
    mentions: MentionSearch | None = None


@dataclass(frozen=True, slots=True)
class VariantHits:
    """What every retriever found for one variant, and one score a chunk out of it."""

    variant: Variant
    lists: tuple[RankedList, ...]
    fused: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Candidates:
    """Everything that may become a hit; the question itself is the first variant."""

    found: tuple[VariantHits, ...]
    scores: Mapping[int, float]
    warnings: tuple[str, ...]


def variants_of(
    question: Question,
    query: Query,
    languages: Mapping[str, int],
    method: Method,
    written: Question | None = None,
) -> tuple[tuple[Variant, ...], tuple[str, ...]]:
    """Return every way of putting the question, itself first, and what went wrong.

    Where misspelled words were corrected, it is also searched as it was ``written``.
    What is looked for word for word is not rephrased: file names, codes and quotations mean
    themselves.
    """
    asked = Variant(VariantKind.ASKED, question.text, question.terms)
    variants, warnings = [asked], []
    if written is not None and written.text != question.text:
        kind = VariantKind.AS_WRITTEN
        variants.append(Variant(kind, written.text, written.terms, AS_WRITTEN_WEIGHT))
    for expand in () if question.is_literal else method.expand:
        try:
            variants.extend(expand(question, query, languages))
        except EngineError as error:
            warnings.append(f"The question was not rephrased: {error.message}")
            break  # all others ask the same model, and each may wait as long in vain
    return tuple(variants), tuple(warnings)


def find_candidates(
    question: Question,
    query: Query,
    census: CorpusCounts,
    sources: Sources,
    method: Method,
    written: Question | None = None,
) -> Candidates:
    """Search both indexes for every variant and make one score a chunk, 0 to 1."""
    variants, warnings = variants_of(question, query, census.languages, method, written)
    language, layer = question.languages[0], sources.vectors
    if layer and not layer.embedder.serves(language):
        layer = None  # its vectors would put other languages before documents that have the words
    fusion = layer.fusion.in_language(language) if layer else None
    if layer and layer.fusion.across and foreign_to(question.text, census.languages):
        fusion = layer.fusion.across
    found: list[VariantHits] = []
    for variant in variants:
        lexical = _by_words(variant, query, sources, method)
        full = _full_score(question, variant, query.scope, sources.lexical, census.chunks)
        lists = [RankedList("bm25", lexical, full=full)]
        if layer:
            try:
                near = _by_vector(variant, lexical, query, layer, method)
                lists.append(RankedList("cosine", near, fusion))
            except EngineError as error:
                warnings = (*warnings, f"Searched by words alone: {error.message}")
                layer = None
        found.append(VariantHits(variant, tuple(lists), method.fuse(lists)))
    scores = _merge(found, query, method)
    return Candidates(tuple(found), scores, warnings)


def with_other_names(question: Question, candidates: Candidates) -> Question:
    """Return the question with the terms that expansions added, for whoever reads the candidates.

    What was found by another name would otherwise be put behind for not saying the asked one.
    """
    terms = {term.term: term for term in question.terms}
    for found in candidates.found:
        if found.variant.kind is VariantKind.EXPANSION:
            for term in found.variant.terms:
                terms.setdefault(term.term, term)
    return replace(question, terms=tuple(terms.values()))


def _merge(found: Sequence[VariantHits], query: Query, method: Method) -> Mapping[int, float]:
    """Return one score a chunk; what only a search for many hits looked at stands behind the rest.

    A chunk that is found deeper in one list would otherwise be worth more in the other, and the
    first hits would depend on how many are wanted.
    """
    weights = [each.variant.weight for each in found]
    everything = method.merge([each.fused for each in found], weights)
    if query.limit * 2 <= min(method.lexical_depth, method.vector_depth):
        return everything
    usual = method.merge([_usually_fused(each, method) for each in found], weights)
    lowest = min(usual.values(), default=1.0)
    rest = {key: score for key, score in everything.items() if key not in usual}
    highest = max(rest.values(), default=0.0) or 1.0
    return {**usual, **{key: lowest * score / highest for key, score in rest.items()}}


def _usually_fused(found: VariantHits, method: Method) -> Mapping[int, float]:
    """Return the scores that a search for few hits has, which looks less deep."""
    words = {
        hit.key
        for each in found.lists
        if each.similarity is None
        for hit in each.hits[: method.lexical_depth]
    }

    def usual(ranked: RankedList) -> RankedList:
        if ranked.similarity is None:
            return replace(ranked, hits=ranked.hits[: method.lexical_depth])
        near = {hit.key for hit in ranked.hits[: method.vector_depth]}
        return replace(ranked, hits=[hit for hit in ranked.hits if hit.key in near | words])

    return method.fuse([usual(each) for each in found.lists])


def _by_words(variant: Variant, query: Query, sources: Sources, method: Method) -> Sequence[Scored]:
    depth = max(method.lexical_depth, query.limit * 2)
    hits = sources.lexical.search(variant.terms, query.scope, depth)
    least = method.thresholds.bm25
    return [hit for hit in hits if hit.score >= least] if least > 0 else hits


def _full_score(
    question: Question, variant: Variant, scope: Scope, lexical: LexicalSearch, chunks: int
) -> float:
    """Return about what BM25 gives to a chunk that has all words of a variant.

    Of a variant with a part of the words, those of the question: what has "behind a balancer" would
    else be worth as much as what has the whole question.
    """
    names = dict.fromkeys((*chain(*(own for _, own in question.words)), *question.index_terms))
    names |= dict.fromkeys(term.term for term in variant.terms)
    counts = lexical.document_frequencies(list(names), scope)
    weights = dict(zip(names, inverse_frequency(counts, chunks).tolist(), strict=True))
    words = sum(min(map(weights.__getitem__, own)) for _, own in question.words)
    asked, own = (
        sum(term.weight * weights[term.term] for term in terms)
        for terms in (question.terms, variant.terms)
    )
    return _FULL * words * max(own / asked, 1.0) if asked else 0.0


def _by_vector(
    variant: Variant, lexical: Sequence[Scored], query: Query, layer: VectorLayer, method: Method
) -> Sequence[Scored]:
    """Return the nearest chunks, and the cosines of those that were found by their words."""
    if variant.kind is VariantKind.HYPOTHETICAL:  # it is written as a passage would be
        embedded = layer.embedder.embed_passages([variant.text])[0]
    else:
        embedded = layer.embedder.embed_question(variant.text)
    depth = max(method.vector_depth, query.limit * 2)
    words = {hit.key for hit in lexical}
    hits = layer.index.search(embedded, query.scope, depth, sorted(words))
    least = method.thresholds.cosine
    return [hit for hit in hits if hit.score >= least or hit.key in words]
