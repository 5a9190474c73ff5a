"""Search in an open library: a checked question, the stages that the settings name, hits.

From what a caller asks to a ``Query``, and from the runtime to what retrieval looks up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from chapterhouse import lazy
from chapterhouse.answering.route import value_asked
from chapterhouse.answering.runtime import Runtime
from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.retrieval.among import among
from chapterhouse.retrieval.candidates import (
    Expand,
    Fuse,
    Hop,
    Merge,
    Method,
    Neighbours,
    Sources,
    Thresholds,
)
from chapterhouse.retrieval.context import ContextSources, Packing
from chapterhouse.retrieval.expand import by_names, by_parts, by_rewriting, by_tags
from chapterhouse.retrieval.fuse import best_scores, combine_scores, rank_scores, variant_ranks
from chapterhouse.retrieval.judging import SentenceModel, SentenceScorer, sentence_model
from chapterhouse.retrieval.pack import with_parent, with_surroundings
from chapterhouse.retrieval.pipeline import retrieve
from chapterhouse.retrieval.question import parse_question
from chapterhouse.retrieval.rerank import (
    FeatureModel,
    Recency,
    Rerank,
    by_features,
    by_model,
    feature_model,
)
from chapterhouse.retrieval.spelling import find_absent_words
from chapterhouse.settings import PackingSettings, SearchSettings, Settings
from chapterhouse.store.sqlite import Store
from chapterhouse.telemetry import record_hits, retrieval_span, sharing_content
from chapterhouse.text.counting import counted, estimate_tokens
from chapterhouse.types import Query, Scope, SearchResult, corrected
from chapterhouse.types.analytics import DAY
from chapterhouse.types.engines import LanguageModel, Reranker

if TYPE_CHECKING:
    from chapterhouse.answering import cite, confidence, extractive
    from chapterhouse.ingest import find
    from chapterhouse.models import opening, question_rewriting
else:
    cite = lazy("chapterhouse.answering.cite")
    confidence = lazy("chapterhouse.answering.confidence")
    find = lazy("chapterhouse.ingest.find")
    extractive = lazy("chapterhouse.answering.extractive")
    opening = lazy("chapterhouse.models.opening")
    question_rewriting = lazy("chapterhouse.models.question_rewriting")

_FUSIONS: Final[Mapping[str, tuple[Fuse, Merge]]] = {
    "scores": (combine_scores, best_scores),
    "ranks": (rank_scores, variant_ranks),
}
_WIDEN: Final = {"surroundings": with_surroundings, "parent": with_parent}
_LONGEST_QUESTION: Final = 10_000  # characters
_MOST_HITS: Final = 1_000


def check_query(
    query: Query, store: Store, limit: int | None, per_document: int | None,
    settings: SearchSettings, *, may_be_empty: bool = False,
) -> Query:  # fmt: skip
    """Return a query that can be answered, with the settings where the caller did not say.

    A shelf that ``may_be_empty`` may have no document yet, as a new persona's has none.

    Raises:
        UsageError: the question is empty or too long, or a number is out of range.
        NotFoundError: there is no such shelf, or no such document.
    """
    text = query.text.encode("utf-8", "replace").decode("utf-8").strip()
    checked = Query(
        text=text,
        scope=query.scope,
        limit=settings.limit if limit is None else limit,
        per_document=settings.per_document if per_document is None else per_document,
        tags=tuple(query.tags),
        documents=named_documents(query.documents, store),
    )
    if not text:
        raise UsageError("The question is empty.", hint="Ask in words.")
    if len(text) > _LONGEST_QUESTION:
        raise UsageError(
            f"The question has {len(text):,} characters, over {_LONGEST_QUESTION:,}.",
            hint="Add long texts as documents and ask about them.",
        )
    if not may_be_empty:
        _require_shelves(checked.scope, store)
    if not 1 <= checked.limit <= _MOST_HITS:
        raise UsageError(f"The limit must be 1 to {_MOST_HITS:,}, not {checked.limit}.")
    if checked.per_document < 0:
        raise UsageError(f"The cap per document must not be negative: {checked.per_document}.")
    return checked


def named_scope(shelves: Sequence[str] | None) -> Scope:
    """Return the scope that a user wants: the shelves that they named, else everything.

    Here alone saying nothing means everything; what is below has to say so.
    """
    return Scope.everything() if shelves is None else Scope.of(shelves)


def named_documents(names: frozenset[str] | None, store: Store) -> frozenset[str] | None:
    """Return the ids of documents and of those in folders; errors as ``find_documents``."""
    return names and find.find_documents(sorted(names), store)


def search(query: Query, runtime: Runtime, method: Method, search_text: str = "") -> SearchResult:
    """Return the hits of a checked query; warnings tell of vectors and changes that are missing.

    Args:
        search_text: What is searched for instead, in a conversation; hits are then judged by the
            question alone.
    """
    allowed = runtime.settings.telemetry.content
    wanted = replace(query, text=search_text) if search_text else query
    opened = retrieval_span(wanted.text, query.scope.shelves or (), query.limit)
    with sharing_content(allowed=allowed), opened as recorder:
        warnings = (runtime.encoders.warning(), _behind(runtime))
        found = retrieve(wanted, sources_of(runtime, query.documents), method)
        record_hits(recorder, found)
    if search_text:
        text = corrected(query.text, found.corrections)
        question = parse_question(text, runtime.store.census(query.scope).languages)
        found = replace(found, query=query, question=question)
    return replace(found, warnings=(*found.warnings, *filter(None, warnings)))


def _behind(runtime: Runtime) -> str:
    """Say so where the index could not catch up, as on a disk that takes nothing.

    Who sees a part of the library does not learn how much others have changed.
    """
    missing = runtime.store.sequence() - runtime.indexes()["lexical"].sequence()
    if missing > 0 and runtime.whole is not None:
        return "Changes of the library are not searched yet."
    changes = counted(missing, "change of the library is", "changes of the library are")
    return f"{changes} not searched yet." if missing > 0 else ""


def method_for(runtime: Runtime, settings: Settings, model: LanguageModel | None) -> Method:
    """Return the stages of retrieval under some settings, with the model that answers or None."""
    chosen = settings.search
    fuse, merge = _FUSIONS[chosen.fusion]
    return Method(
        fuse=fuse,
        merge=merge,
        expand=_expansions(settings, runtime, model),
        rerank=_rerank(settings, runtime.reranker),
        # By the day, so that the same question has the same answer all day.
        recency=Recency(runtime.now() // DAY * DAY, chosen.recency) if chosen.recency else None,
        thresholds=Thresholds(
            chosen.bm25_min_score, chosen.vector_threshold, chosen.min_similarity
        ),
        value_asked=value_asked,
        hop=Hop() if settings.expansion.names else None,
        neighbours=Neighbours() if settings.expansion.neighbours else None,
        duplicates=chosen.duplicates or 2.0,
        shortlist=settings.rerank.depth,
    )


def packing_for(settings: PackingSettings) -> Packing:
    """Return how a budget of tokens is filled."""
    widen = _WIDEN.get(settings.widen)
    return Packing(widen=partial(widen, count_tokens=estimate_tokens) if widen else None)


@cache
def fitted_model() -> FeatureModel:
    """Return the feature reranker that comes with Chapterhouse."""
    return feature_model(_weights("retrieval", "reranker.json"))


def _rerank(settings: Settings, reranker: Reranker | None) -> Rerank | None:
    if settings.rerank.engine == "features":
        return by_features(fitted_model())
    return by_model(reranker) if reranker is not None else None


def _expansions(
    settings: Settings, runtime: Runtime, model: LanguageModel | None
) -> tuple[Expand, ...]:
    expansion = settings.expansion
    chosen: list[Expand] = []
    if expansion.names:
        chosen += [by_names(runtime.aliases.find), by_tags]
    if expansion.parts:
        chosen.append(by_parts)
    if model is not None and expansion.rewrite == "always":
        chosen.append(
            by_rewriting(partial(question_rewriting.rewrite, _rewriter(settings, runtime, model)))
        )
    return tuple(chosen)


def _rewriter(settings: Settings, runtime: Runtime, model: LanguageModel) -> LanguageModel:
    """Return what rewrites questions: the smaller model that the settings name, or ``model``."""
    name = settings.expansion.model
    smaller = runtime.language_model(name) if name else None
    payer = model if isinstance(model, opening.MeteredModel) else None
    return opening.MeteredModel(smaller, payer) if smaller else model


def sources_of(runtime: Runtime, documents: frozenset[str] | None = None) -> Sources:
    """Return what retrieval may look into: all, or these documents alone."""
    store = runtime.store
    sources = Sources(
        lexical=runtime.lexical,
        vectors=runtime.encoders.current(),
        census=store.census,
        chunks=store.chunks,
        documents=store.documents_among,
        chunks_named=store.chunks_named,
        documents_of=store.documents_of,
        near_words=partial(_near_words, runtime),
        titled=runtime.aliases.find_titled,
        mentions=runtime.graph,
    )
    return sources if documents is None else among(sources, documents)


def _near_words(runtime: Runtime, word: str, scope: Scope) -> Mapping[str, float]:
    """Return what a word that no document has may be meant for; nothing for a common word."""
    # It is one piece for the encoder in the box: spelled right, and the documents only use others.
    count = runtime.token_encoder.count_tokens
    if any(count(form) == 1 for form in (word, word.lower(), word.title())):
        return {}
    return runtime.aliases.near_words(word.casefold(), scope)


def reference_of(runtime: Runtime, scope: Scope) -> "extractive.Reference":
    """Return what answering looks up inside a scope."""
    return extractive.Reference(
        scorer=_scorer(runtime, scope),
        encoder=runtime.token_encoder,
        confidence=_load_confidence_model(),
        document=partial(runtime.store.document, scope=scope),
        body=partial(runtime.store.body, scope=scope),
        absent_words=lambda question: (
            ()
            if runtime.store.leaves_text_out(scope)
            else find_absent_words(question, scope, runtime.lexical, runtime.aliases.may_mention)
        ),
        partly_read=partial(runtime.store.partly_read, scope),
    )


def context_sources_of(runtime: Runtime, scope: Scope) -> ContextSources:
    """Return what building a context looks up; by words alone, see ``benchmarks/packing.py``."""
    return ContextSources(
        body=partial(runtime.store.body, scope=scope),
        count_tokens=estimate_tokens,
        scorer=replace(_scorer(runtime, scope), encoder=None),
    )


def _scorer(runtime: Runtime, scope: Scope) -> SentenceScorer:
    """Return what judges sentences: always by the encoder in the box, by which it was fitted."""
    return SentenceScorer(
        model=_load_sentence_model(),
        encoder=runtime.token_encoder,
        document_frequency=lambda term: runtime.lexical.document_frequencies([term], scope)[0],
    )


def lookup_on_disk(runtime: Runtime) -> "cite.Lookup":
    """Return what checking looks up in a library, whose documents are as their files are now."""
    work, store, whole = runtime.work(lambda _: None), runtime.store, Scope.everything()
    return replace(
        lookup_in(store, whole),
        documents=partial(store.documents, whole),
        current=lambda document: find.read_current(document, work),
    )


def lookup_in(store: Store, scope: Scope) -> "cite.Lookup":
    """Return what checking citations looks up inside a scope."""
    return cite.Lookup(partial(store.document, scope=scope), partial(store.body, scope=scope))


def _weights(package: str, name: str) -> str:
    return files(f"chapterhouse.{package}").joinpath(name).read_text("utf-8")


@cache
def _load_sentence_model() -> SentenceModel:
    return sentence_model(_weights("retrieval", "sentence_model.json"))


@cache
def _load_confidence_model() -> "confidence.ConfidenceModel":
    return confidence.confidence_model(_weights("answering", "confidence.json"))


def _require_shelves(scope: Scope, store: Store) -> None:
    unknown = store.unknown_shelves(scope)
    if unknown:
        known = store.counts(Scope.everything())["shelf"]  # who names shelves may see all
        raise NotFoundError(
            f"There is no shelf '{unknown[0]}'.",
            hint=f"There are: {', '.join(known) or 'none yet'}.",
        )
