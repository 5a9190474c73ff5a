"""From what a caller asks to a query, and from the parts of a library to what asking looks up."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib.resources import files
from typing import Final

from chapterhouse.answering.cite import Holdings
from chapterhouse.answering.confidence import ConfidenceModel, confidence_model
from chapterhouse.answering.extractive import Reference
from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.models.static import StaticEmbedder
from chapterhouse.ports.store import Store
from chapterhouse.retrieval.candidates import Sources
from chapterhouse.retrieval.context import ContextSources
from chapterhouse.retrieval.sentence_model import SentenceModel, SentenceScorer, sentence_model
from chapterhouse.settings import SearchSettings, TokenSettings
from chapterhouse.text.counting import estimate_tokens
from chapterhouse.types import Query, Scope
from chapterhouse.wiring import Engines

_LONGEST_QUESTION: Final = 10_000  # characters
_MOST_HITS: Final = 1_000


def checked_query(
    query: Query, store: Store, limit: int | None, per_document: int | None,
    settings: SearchSettings, *, may_be_empty: bool = False,
) -> Query:  # fmt: skip
    """Return a query that can be answered, with the settings where the caller did not say.

    Args:
        query: As the caller gave it.
        store: What is searched.
        limit: Number of hits; the setting when None.
        per_document: At most so many of one document; the setting when None.
        settings: Where the caller did not say.
        may_be_empty: Whether a shelf may have no document yet, as a new persona's has none.

    Raises:
        UsageError: the question is empty or too long, or a number is out of range.
        NotFoundError: there is no such shelf.
    """
    text = query.text.encode("utf-8", "replace").decode("utf-8").strip()
    checked = Query(
        text=text,
        scope=query.scope,
        limit=settings.limit if limit is None else limit,
        per_document=settings.per_document if per_document is None else per_document,
        tags=tuple(query.tags),
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


def sources_of(engines: Engines) -> Sources:
    """Return what retrieval may look into."""
    store, layer = engines.store, engines.encoders.current()
    own = Sources(
        lexical=engines.lexical,
        vector=engines.vectors,
        embedder=engines.embedder,
        census=store.census,
        chunks=store.chunks,
        documents=store.documents_among,
        chunks_named=store.chunks_named,
        documents_of=store.documents_of,
        near_words=partial(_near_words, engines),
        titled=engines.aliases.find_titled,
    )
    if layer.embedder is engines.embedder:
        return own
    return replace(own, vector=layer.index, embedder=layer.embedder, fusion=layer.fusion, table=own)


def _near_words(engines: Engines, word: str, scope: Scope) -> Mapping[str, float]:
    """Return what a word that no document has may be meant for.

    Nothing for a common word, which is one token of the built-in table: it is spelled right, the
    documents only use others.
    """
    if any(engines.table.count_tokens(form) == 1 for form in (word, word.lower(), word.title())):
        return {}
    return engines.aliases.near_words(word.casefold(), scope)


def reference_of(engines: Engines, scope: Scope) -> Reference:
    """Return what answering looks up inside a scope."""
    return Reference(
        scorer=_scorer(engines, scope),
        confidence=_fitted_confidence(),
        document=partial(engines.store.document, scope=scope),
        body=partial(engines.store.body, scope=scope),
        partly_read=partial(engines.store.partly_read, scope),
    )


def context_sources_of(engines: Engines, tokens: TokenSettings, scope: Scope) -> ContextSources:
    """Return what building a context looks up.

    Sentences are judged by words alone: contexts hold as much of the answers as by meaning
    (``benchmarks/packing.py``), and no passage has to be encoded before a model is asked.
    """
    return ContextSources(
        body=partial(engines.store.body, scope=scope),
        count_tokens=token_counter(tokens, engines.table),
        scorer=replace(_scorer(engines, scope), encoder=None),
    )


def _scorer(engines: Engines, scope: Scope) -> SentenceScorer:
    """Return what judges sentences: always by the encoder in the box, by which it was fitted."""
    return SentenceScorer(
        model=_fitted_sentences(),
        encoder=engines.token_encoder,
        document_frequency=lambda term: engines.lexical.document_frequencies([term], scope)[0],
    )


def holdings_of(store: Store, scope: Scope) -> Holdings:
    """Return what checking citations looks up inside a scope."""
    return Holdings(
        partial(store.document, scope=scope),
        partial(store.documents, scope),
        partial(store.body, scope=scope),
    )


@cache
def _fitted_sentences() -> SentenceModel:
    path = files("chapterhouse.retrieval").joinpath("sentence_model.json")
    return sentence_model(path.read_text("utf-8"))


@cache
def _fitted_confidence() -> ConfidenceModel:
    path = files("chapterhouse.answering").joinpath("confidence.json")
    return confidence_model(path.read_text("utf-8"))


def token_counter(tokens: TokenSettings, table: StaticEmbedder) -> Callable[[str], int]:
    """Return what counts tokens, as the settings have it."""
    return table.count_tokens if tokens.tokenizer == "llama-2" else estimate_tokens


def _require_shelves(scope: Scope, store: Store) -> None:
    unknown = store.unknown_shelves(scope)
    if unknown:
        known = store.counts(Scope.everything())["shelf"]  # who names shelves may see all
        raise NotFoundError(
            f"There is no shelf '{unknown[0]}'.",
            hint=f"There are: {', '.join(known) or 'none yet'}.",
        )
