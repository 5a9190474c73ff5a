"""One question answered.

::

    retrieve -> evidence -> route -> answered from the documents, by a model or by quotation
                                  -> insufficient: said so
                                  -> out of scope: deferred, or handed to the general model
    -> kept -> remembered

What a model writes is shown in place of the quotations; when it cannot be reached, they stand and
the answer says why.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, cast

from chapterhouse import lazy
from chapterhouse.answering.extractive import CHUNKS_READ, answer
from chapterhouse.answering.memory import cache_answer, cache_key, cached_answer, recall, remember
from chapterhouse.answering.request import NO_MODEL, OnDraft, Request
from chapterhouse.answering.route import deferral, route
from chapterhouse.answering.runtime import Runtime
from chapterhouse.answering.search import check_query, method_for, reference_of, search
from chapterhouse.answering.versions import add_version_differences
from chapterhouse.concurrency import compute_in_thread, run_in_thread
from chapterhouse.errors import EngineError, UsageError
from chapterhouse.models.opening import MeteredModel
from chapterhouse.retrieval.judging import word_weights
from chapterhouse.store.sqlite import Store
from chapterhouse.types import (
    Answer,
    AnswerOutcome,
    Body,
    Hit,
    Memory,
    Persona,
    Query,
    Route,
    Scope,
    SearchResult,
)
from chapterhouse.types.engines import LanguageModel

if TYPE_CHECKING:
    from chapterhouse.answering import writing
else:
    writing = lazy("chapterhouse.answering.writing")

# How far the first hit's score must lie above the fifth's, else nothing stands out: 27 % of the
# open natural questions, and 48 % of those whose facts are not among the first eight passages.
WEAK: Final = 0.1
_COMPARED: Final = 5  # hits


async def respond(request: Request, runtime: Runtime, on_draft: OnDraft | None = None) -> Answer:
    """Answer a question.

    Raises:
        UsageError: the question is empty or too long, or there is no such model.
        NotFoundError: there is no such shelf.
        MissingExtraError: its key is in a keyring, and the library for that is missing.
    """
    runtime = replace(runtime, store=cast("Store", _BodyCache(runtime.store)))
    model = await run_in_thread(partial(model_of, request, runtime))
    query, sequence = await run_in_thread(partial(_prepare, request, runtime))
    request = replace(request, question=query.text)
    if model is None:
        quoted = await compute_in_thread(partial(offline, request, runtime))
        quoted = _without_general(request, quoted)
        return await run_in_thread(partial(remember, request, quoted, sequence, runtime))
    recalled = await run_in_thread(partial(recall, request, runtime))
    key = cache_key(request, runtime, model, recalled, sequence)
    answer = await run_in_thread(partial(cached_answer, key, request, runtime))
    if answer is None:
        answer = await _write(request, query, recalled, runtime, model, on_draft)
        if model.usage.calls:
            answer = replace(answer, usage=model.usage)
        if key and answer.usage is not None and not answer.warnings:
            work = partial(cache_answer, key, request, sequence, answer, runtime)
            answer = await run_in_thread(work)
    return await run_in_thread(partial(remember, request, answer, sequence, runtime))


class _BodyCache:
    """A store that reads each body once, as long as one question is answered."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = Lock()  # a model writes while documents are quoted
        self._bodies: dict[tuple[str, Scope], Body | None] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def body(self, document_id: str, scope: Scope) -> Body | None:
        """Return the whole text of a document; None when it is gone."""
        with self._lock:
            if (document_id, scope) not in self._bodies:
                self._bodies[document_id, scope] = self._store.body(document_id, scope)
            return self._bodies[document_id, scope]


def model_of(request: Request, runtime: Runtime) -> MeteredModel | None:
    """Return the model that is to answer, its uses counted, or None; raises as ``respond``."""
    chosen = None if request.model == NO_MODEL else runtime.language_model(request.model)
    if request.images and chosen is None:
        raise UsageError(
            "An image needs a language model that sees, and none is set.",
            hint="Set one: chapterhouse model use NAME",
        )
    return MeteredModel(chosen) if chosen else None


def _prepare(request: Request, runtime: Runtime) -> tuple[Query, int]:
    """Return the search, checked, and where the library stands before it."""
    return query_of(request, runtime), runtime.store.sequence()


def offline(request: Request, runtime: Runtime) -> Answer:
    """Answer a question by quotation alone; nothing is remembered. Raises as ``respond``."""
    query = query_of(request, runtime)
    method = method_for(runtime, request.settings, None)
    found = search(query, runtime, method, request.search_text)
    return _compare_versions(_quote(request, found, runtime), found, runtime)


async def _write(
    request: Request,
    query: Query,
    recalled: tuple[Memory, ...],
    runtime: Runtime,
    model: LanguageModel,
    on_draft: OnDraft | None,
) -> Answer:
    """Let a model answer, beside the answer by quotation."""
    found = await _find(request, query, runtime, model)

    async def write() -> "writing.WrittenAnswer":
        work = partial(writing.prompt_for, request, found, runtime, recalled)
        prompt = await compute_in_thread(work)
        return await writing.write(request, found, prompt, model, runtime, on_draft)

    quote = partial(_quote, request, replace(found, hits=_cap(found.hits, query)), runtime)
    # A persona's quotations say whether the question is for them; else they come meanwhile.
    quoting = asyncio.create_task(compute_in_thread(quote))
    if not found.hits or request.persona:
        quoted = await quoting
        if not found.hits or quoted.route is Route.OUT_OF_SCOPE:
            return await _unanswered(request, quoted, write, model, on_draft)
    quoted, written = await asyncio.gather(quoting, _attempt(write()))
    compare = partial(_compare_versions, found=found, runtime=runtime)
    if isinstance(written, EngineError):
        return await compute_in_thread(partial(compare, _despite(quoted, written)))
    if request.persona and not request.images and writing.names_no_source(written):
        unsure = replace(quoted, confidence=0.0)
        way = await compute_in_thread(partial(_route, request, found, runtime, unsure))
        if way is Route.OUT_OF_SCOPE:
            quoted = _deferred(quoted, request.persona)
            return await _unanswered(request, quoted, write, model, on_draft)
    combined = writing.combine(quoted, written, saw_images=bool(request.images))
    return await compute_in_thread(partial(compare, combined))


async def _find(
    request: Request, query: Query, runtime: Runtime, model: LanguageModel
) -> SearchResult:
    """Return what a model is given to choose from: more hits of the same search."""
    hits = max(request.settings.packing.hits, query.limit)
    wide = replace(query, limit=hits, per_document=0)
    # A model may be asked to rewrite the question; nobody else waits for that.
    method = method_for(runtime, request.settings, model)
    found = await compute_in_thread(partial(search, wide, runtime, method, request.search_text))
    if request.settings.expansion.rewrite == "when-weak" and _is_weak(found.hits):
        expansion = request.settings.expansion.model_copy(update={"rewrite": "always"})
        settings = request.settings.model_copy(update={"expansion": expansion})
        method = method_for(runtime, settings, model)
        found = await compute_in_thread(partial(search, wide, runtime, method, request.search_text))
    return found


async def _unanswered(
    request: Request,
    quoted: Answer,
    write: Callable[[], Awaitable["writing.WrittenAnswer"]],
    model: LanguageModel,
    on_draft: OnDraft | None,
) -> Answer:
    """Answer where the documents do not: by a model that may search, or one for all the rest."""
    is_outside = quoted.route is Route.OUT_OF_SCOPE
    try:
        if (request.grounding != "inject" and not is_outside) or request.brings_more:
            return writing.combine(quoted, await write(), saw_images=bool(request.images))
        if is_outside and request.out_of_scope == "general":
            return await writing.general(request, quoted, model, on_draft)
    except EngineError as error:
        return _despite(quoted, error)
    return quoted


async def _attempt(
    work: Awaitable["writing.WrittenAnswer"],
) -> "writing.WrittenAnswer | EngineError":
    """Return what a model wrote, or why it did not."""
    try:
        return await work
    except EngineError as error:
        return error


def _is_weak(hits: Sequence[Hit]) -> bool:
    """Whether no hit stands out."""
    scores = [hit.score for hit in hits[:_COMPARED]]
    return not scores or scores[0] - (scores[-1] if len(scores) == _COMPARED else 0.0) < WEAK


def _quote(request: Request, found: SearchResult, runtime: Runtime) -> Answer:
    """Return the answer by quotation, routed."""
    reference = reference_of(runtime, found.query.scope)
    census = runtime.store.census(found.query.scope)
    answer_found = answer(found, census, reference, request.form)
    way = _route(request, found, runtime, answer_found)
    persona = request.persona
    answer_found = replace(answer_found, route=way)
    if persona is None:
        return answer_found
    name = persona.display_name
    answer_found = replace(answer_found, persona=persona.slug, display_name=name)
    if not census.documents:
        notice = f"{name} has no documents yet."
        return replace(answer_found, route=Route.INSUFFICIENT, notice=notice)
    return _deferred(answer_found, persona) if way is Route.OUT_OF_SCOPE else answer_found


def _compare_versions(answer: Answer, found: SearchResult, runtime: Runtime) -> Answer:
    """Add in what other versions of the documents shown differ, among those that were found."""
    scope = found.query.scope
    names = {hit.document.id for hit in found.hits}
    names.update(one.rpartition(":")[0] for hit in found.hits for one in hit.repeats)
    names.update(citation.document_id for citation in answer.citations)
    documents = runtime.store.documents_among(sorted(names), scope)
    body = partial(runtime.store.body, scope=scope)
    return add_version_differences(answer, documents.values(), body) if answer.citations else answer


def _route(request: Request, found: SearchResult, runtime: Runtime, quoted: Answer) -> Route:
    """Return what becomes of a question that quotations answer so far."""
    census = runtime.store.census(found.query.scope)
    frequencies = reference_of(runtime, found.query.scope).scorer.document_frequency
    question = found.question
    weights = word_weights(question, frequencies, max(census.chunks, 1))
    absent = [not any(map(frequencies, terms)) for _, terms in question.words]
    known = weights.tolist(), float(weights @ absent), quoted.confidence
    return route(question, request.persona, *known, found=quoted.found)


def _deferred(quoted: Answer, persona: Persona) -> Answer:
    """Return the answer of a persona to a question that is not for them."""
    return replace(  # without passages on something else, which would only confuse
        quoted,
        outcome=AnswerOutcome.NOT_FOUND,
        sentences=(),
        citations=(),
        route=Route.OUT_OF_SCOPE,
        notice=deferral(persona),
    )


def _cap(hits: Sequence[Hit], query: Query) -> tuple[Hit, ...]:
    """Return the first hits with at most so many of one document, as a narrower search has them."""
    counts: dict[str, int] = {}
    capped = []
    for hit in hits:
        name = hit.document.id
        counts[name] = counts.get(name, 0) + 1
        if not query.per_document or counts[name] <= query.per_document:
            capped.append(hit)
    return tuple(capped[: query.limit])


def _without_general(request: Request, quoted: Answer) -> Answer:
    """Say that the general model, which the persona's configuration wants, is not there."""
    wanted = request.out_of_scope == "general" and quoted.route is Route.OUT_OF_SCOPE
    if not wanted or request.model == NO_MODEL:
        return quoted
    warning = "The general assistant would answer, but no language model is configured."
    return replace(quoted, warnings=(*quoted.warnings, warning))


def _despite(quoted: Answer, error: EngineError) -> Answer:
    warning = f"The model did not answer, so the documents are quoted: {error.message}"
    return replace(quoted, warnings=(*quoted.warnings, f"{warning} {error.hint}".strip()))


def query_of(request: Request, runtime: Runtime) -> Query:
    """Return the search of a request, checked; errors as ``respond``."""
    query = Query(request.question, request.scope, tags=request.tags, documents=request.documents)
    search = request.settings.search
    store = runtime.store
    return check_query(query, store, CHUNKS_READ, None, search, may_be_empty=request.may_be_empty)
