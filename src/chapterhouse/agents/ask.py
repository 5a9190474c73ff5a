"""A question to the library or to a persona, who may hand it off to a colleague."""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel

from chapterhouse import lazy
from chapterhouse.answering.choosing import Form
from chapterhouse.answering.memory import answer_record, record_question
from chapterhouse.answering.request import AskOptions, OnDraft, Request, library_request
from chapterhouse.answering.respond import offline, respond
from chapterhouse.answering.route import deferral
from chapterhouse.answering.runtime import Runtime
from chapterhouse.answering.thread import resolve_follow_up
from chapterhouse.concurrency import run_in_thread, stream
from chapterhouse.errors import ChapterhouseError, UsageError
from chapterhouse.ingest.sources import is_rewritten, stale_folders
from chapterhouse.settings import Settings
from chapterhouse.store.embeddings import PREVIOUS
from chapterhouse.telemetry import agent_span, record_answer, sharing_content
from chapterhouse.types import (
    Answer,
    AnswerEvent,
    AnswerOutcome,
    AskEvent,
    DraftEvent,
    FollowUp,
    Persona,
    Progress,
    ReadingEvent,
    Route,
    Scope,
    Turn,
)
from chapterhouse.types.analytics import day_of

if TYPE_CHECKING:
    from chapterhouse.agents import personas
    from chapterhouse.agents.persona import PersonaConfig
    from chapterhouse.agents.registry import Refresh
else:
    personas = lazy("chapterhouse.agents.personas")

OnProgress = Callable[[Progress], None]
Emit = Callable[[AskEvent], None]
_LIBRARY: Final = "library"  # who answers where nobody is named


def ask_events(
    question: str, persona: str, options: AskOptions, runtime: Runtime
) -> AsyncIterator[AskEvent]:
    """Yield what happens while a question is answered, the answer last; as for ``ask``."""

    async def work(emit: Emit) -> AskEvent:
        return AnswerEvent(await ask(question, persona, options, runtime, emit))

    return stream(work)


async def ask(
    question: str,
    persona: str,
    options: AskOptions,
    runtime: Runtime,
    emit: Emit | None = None,
) -> Answer:
    """Answer a question; ``persona`` is who is asked, empty for the library itself.

    ``emit`` is called with what happens before the answer, from any thread; drafts of what a model
    writes are only made for it.
    """
    if options.words is not None and options.words < 1:
        raise UsageError(f"An answer needs at least 1 word, not {options.words}.")
    if persona and (options.shelves is not None or options.documents):
        raise UsageError(
            "A persona reads their own shelves.",
            hint="Name a persona, or shelves and documents, not both.",
        )
    slug = await run_in_thread(lambda: _slug_of(persona, runtime))
    allowed = runtime.settings.telemetry.content
    with sharing_content(allowed=allowed), agent_span(slug or _LIBRARY, question) as recorder:
        if slug:
            answer = await _ask_persona(slug, question, options, runtime, emit)
        else:
            await run_in_thread(runtime.catch_up)
            request = library_request(question, runtime.settings, options)
            answer = await respond(request, runtime, _on_draft(emit, options))
            stale = await run_in_thread(lambda: _stale(options, runtime))
            is_whole = options.shelves is None and not options.documents
            if is_whole and answer.outcome is not AnswerOutcome.ANSWER:
                stale += await run_in_thread(lambda: tuple(_without_vectors(runtime)))
            answer = replace(answer, warnings=(*answer.warnings, *stale))
        rewritten = await run_in_thread(lambda: tuple(_rewritten(answer, runtime)))
        answer = replace(answer, warnings=(*answer.warnings, *rewritten))
        record_answer(recorder, answer)
    if options.is_counted:
        record = partial(record_question, answer_record(answer), options.interface)
        await run_in_thread(partial(record, runtime, with_text=options.remember))
    return answer


def _stale(options: AskOptions, runtime: Runtime) -> tuple[str, ...]:
    """Return which folders have changed since they were read, as far as that shows from outside.

    Who sees a part of the library is not shown the names of its folders.
    """
    if runtime.whole is not None:
        return ()
    found = stale_folders(runtime.store.sources().sources(), options.shelves)
    return tuple(
        f"The folder {source.name} has changed since it was read ({day_of(source.synced)})."
        f" Read it: chapterhouse sync {source.name}"
        for source in found
    )


def _without_vectors(runtime: Runtime) -> Iterator[str]:
    """Yield that documents lack vectors: what was not found may be in one of them.

    How many there are is nothing for who sees a part of the library.
    """
    if runtime.whole is not None:
        return
    for one in runtime.encoders.statuses() if runtime.encoders.is_pending() else ():
        if one.role != PREVIOUS and one.done < one.total:
            yield (
                f"{one.total - one.done:,} of {one.total:,} documents have no vectors yet, so only"
                " the words of a question find them: chapterhouse status"
            )


def _rewritten(answer: Answer, runtime: Runtime) -> Iterator[str]:
    """Yield which of the cited files have changed since they were read."""
    store = (runtime.whole or runtime).store
    for name, source in {one.document_id: one.source for one in answer.citations}.items():
        document = store.document(name, Scope.everything())
        record = store.file(document.location) if document else None
        if record and is_rewritten(record):
            yield f"{source} has changed since it was read. Read it: chapterhouse sync"


async def follow_up(
    question: str,
    before: Sequence[Turn],
    persona: str,
    options: AskOptions,
    runtime: Runtime,
    *,
    certain: bool,
) -> FollowUp:
    """Return a question of a conversation as it can be understood by itself.

    ``before`` are its turns, oldest first; ``certain``: it is known to go on from the last of them.
    """

    def request_of() -> Request:
        runtime.catch_up()
        if persona:
            return _request(_slug_of(persona, runtime), question, options, runtime)
        return library_request(question, runtime.settings, options)

    request = await run_in_thread(request_of)
    return await resolve_follow_up(request, before, runtime, certain=certain)


async def _ask_persona(
    slug: str,
    question: str,
    options: AskOptions,
    runtime: Runtime,
    emit: Emit | None,
) -> Answer:
    """Answer as a persona, or as the colleague whom the question is handed to."""
    on_progress, on_draft = _on_progress(emit), _on_draft(emit, options)

    def refresh() -> "tuple[Refresh, Request]":
        done = personas.Personas(runtime.whole or runtime).prepare(slug, on_progress=on_progress)
        runtime.catch_up()
        return done, _request(slug, question, options, runtime)

    refreshed, request = await run_in_thread(refresh)
    answer = await respond(request, runtime, on_draft)
    if answer.route is Route.OUT_OF_SCOPE and request.out_of_scope == "persona":
        work = partial(_colleagues, request, options, runtime, on_progress)
        others = await run_in_thread(work)
        answer = await handoff(request, answer, others, runtime, on_draft)
    return replace(
        answer,
        refreshed=refreshed.sentence if refreshed.changed else "",
        warnings=(*answer.warnings, *refreshed.warnings),
    )


def _slug_of(persona: str, runtime: Runtime) -> str:
    return personas.Personas(runtime).load(persona).config.slug if persona else ""


def _on_progress(emit: Emit | None) -> OnProgress | None:
    return None if emit is None else lambda progress: emit(ReadingEvent(progress))


def _on_draft(emit: Emit | None, options: AskOptions) -> OnDraft | None:
    if emit is None or not options.drafts:
        return None
    return lambda draft: emit(DraftEvent(draft))


def _request(slug: str, question: str, options: AskOptions, runtime: Runtime) -> Request:
    folder = personas.Personas(runtime).load(slug)
    return persona_request(question, folder.persona, folder.config, runtime.settings, options)


def _colleagues(
    request: Request, options: AskOptions, runtime: Runtime, on_progress: OnProgress | None
) -> tuple[Request, ...]:
    """Return the same question as put to each other persona, whose documents were read.

    One whose configuration or folders cannot be used now is ignored.
    """
    found = []
    for slug in personas.Personas(runtime).names():
        if slug == _slug(request):
            continue
        try:
            personas.Personas(runtime).prepare(slug, on_progress=on_progress)
            other = _request(slug, request.question, options, runtime)
        except ChapterhouseError:  # it is told of by ``persona validate``, not by this answer
            continue
        found.append(replace(other, out_of_scope="defer"))
    runtime.catch_up()
    return tuple(found)


async def handoff(
    request: Request,
    given: Answer,
    colleagues: Sequence[Request],
    runtime: Runtime,
    on_draft: OnDraft | None = None,
) -> Answer:
    """Return the answer of the colleague whose documents answer best, or ``given``.

    The evidence decides, found by quotation from each colleague's own shelf; of equals the first
    by slug. Nothing of a shelf is shown but by the colleague who answers.
    """
    best: Request | None = None
    strongest = 0.0
    for colleague in sorted(colleagues, key=_slug):
        try:
            answer = await run_in_thread(partial(offline, colleague, runtime))
        except ChapterhouseError:  # such as a shelf that is not there yet: nothing to find
            continue
        if answer.found and answer.confidence > strongest:
            best, strongest = colleague, answer.confidence
    if best is None or best.persona is None or request.persona is None:
        return given
    with agent_span(best.persona.slug, best.question) as recorder:
        answer = await respond(best, runtime, on_draft)
        record_answer(recorder, answer)
    return replace(
        answer,
        notice=deferral(request.persona, best.persona.display_name),
        handed_to=best.persona.slug,
    )


def _slug(request: Request) -> str:
    return request.persona.slug if request.persona else ""


def persona_request(
    question: str,
    persona: Persona,
    config: "PersonaConfig",
    settings: Settings,
    options: AskOptions,
) -> Request:
    """Return the request of a question to a persona, who reads their own shelves only."""
    own = persona_settings(settings, config)
    remember = options.may_remember and own.memory.enabled
    return Request(
        question=question,
        settings=own,
        persona=persona,
        scope=Scope.of(persona.reads),
        tags=tuple(dict.fromkeys((*persona.tags, *options.tags))),
        form=Form(options.words or own.answer.words),
        max_chunks=config.retrieval.max_chunks,
        max_tokens=own.packing.maximum,
        grounding=config.grounding,
        model=config.model if options.model is None else options.model,
        out_of_scope=config.out_of_scope,
        search_text=options.search_text,
        in_conversation=options.in_conversation,
        remember=remember,
        use_cache=options.use_cache and remember and own.answer.cache,
        may_be_empty=True,
        tools=options.tools,
        tool_texts=options.tool_texts,
        images=options.images,
    )


def persona_settings(settings: Settings, config: "PersonaConfig") -> Settings:
    """Return the library's settings with what a persona has otherwise."""
    chosen = config.retrieval
    packing = {} if chosen.max_tokens is None else {"maximum": chosen.max_tokens}
    return settings.model_copy(
        update={
            "search": _override(settings.search, chosen),
            "packing": settings.packing.model_copy(update=packing),
            "memory": _override(settings.memory, config.memory),
            "answer": _override(settings.answer, config.answer),
        }
    )


def _override(part: BaseModel, chosen: BaseModel) -> BaseModel:
    """Return a section of the settings with what is chosen by the same names and is not None."""
    names = type(part).model_fields.keys()
    values = {name: value for name, value in chosen if name in names and value is not None}
    return part.model_copy(update=values)
