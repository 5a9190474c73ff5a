"""What is kept of an answer: the memory, and answers that need not be written again.

An answer is kept under the SHA-256 of everything that it depends on, so what is found is never
stale; its quotations are looked up again all the same. Only answers that a model wrote are kept:
quotations are found as fast as a kept answer.
"""

import hashlib
import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from chapterhouse.answering.bundle import ANSWER, file_text, json_fields, read_held
from chapterhouse.answering.cite import verified_now, verify_in
from chapterhouse.answering.request import Request
from chapterhouse.answering.runtime import Runtime
from chapterhouse.answering.search import lookup_in
from chapterhouse.errors import ChapterhouseError, UsageError
from chapterhouse.text.language_data import bare_question
from chapterhouse.types import (
    Answer,
    AnswerOutcome,
    Citation,
    Memory,
    Minutes,
    QuestionOutcome,
    QuestionRecord,
    Route,
    Scope,
)
from chapterhouse.types.analytics import DAY
from chapterhouse.types.engines import LanguageModel

_DAY: Final = 86_400
_IN_CONVERSATION: Final = 3  # earlier answers, where the settings do not say
_LONGEST: Final = 20_000  # characters of an answer that is remembered


def recall(request: Request, runtime: Runtime) -> tuple[Memory, ...]:
    """Return the earlier answers of the same persona that the model is reminded of."""
    stated = request.settings.memory.recall
    wanted = (_IN_CONVERSATION if request.in_conversation else 0) if stated is None else stated
    if not (wanted and request.remember):
        return ()
    hits = runtime.memories.search(request.question, [request.owner], wanted, runtime.now())
    found = tuple(hit.memory for hit in hits if hit.memory.found)
    if not request.in_conversation:
        return found
    # The same question again is no reminder: its answer is kept, or written anew on purpose.
    bare = bare_question(request.question)
    return tuple(memory for memory in found if bare_question(memory.question) != bare)


def cache_key(
    request: Request,
    runtime: Runtime,
    model: LanguageModel | None,
    reminded: Sequence[Memory],
    sequence: int,
) -> str:
    """Return the key of an answer; empty where it must not be stored."""
    if not request.use_cache:
        return ""
    limits = (request.form.words, request.max_chunks, request.max_tokens)
    ways = (request.grounding, request.out_of_scope, request.model)  # two names may have one model
    depends_on = {
        "format": ANSWER.format,
        "day": runtime.today(),  # which the model is told, and by which age counts
        "question": bare_question(request.question),
        "sequence": sequence,
        "persona": repr(request.persona),
        "settings": request.settings.model_dump(mode="json"),
        "request": [request.scope.shelves, list(request.tags), request.search_text, *limits, *ways],
        "documents": request.documents and sorted(request.documents),
        "model": model.fingerprint if model else "",
        "reminded": [memory.id for memory in reminded],
        "versions": dict(runtime.versions),
    }
    line = json.dumps(depends_on, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(line.encode("utf-8", "surrogatepass")).hexdigest()


def cached_answer(key: str, request: Request, runtime: Runtime) -> Answer | None:
    """Return the answer kept under ``key`` if every quotation of it still holds.

    It is an answer to the question as it is asked now, which may be worded more politely.
    """
    found = runtime.memories.cached_answer(key, request.scope) if key else None
    if found is None:
        return None
    try:
        given = read_held(found, ANSWER)
    except UsageError:  # written by another version, or damaged: it is written anew
        return None
    look = lookup_in(runtime.store, request.scope)
    if any(verify_in(look, one) != one for one in given.citations):
        return None
    return replace(given, question=request.question, cached=True)


def cache_answer(
    key: str, request: Request, sequence: int, given: Answer, runtime: Runtime
) -> Answer:
    """Keep an answer; a library that cannot be written to only costs writing it again."""
    try:
        runtime.memories.cache_answer(key, request.scope, sequence, file_text(json_fields(given)))
    except ChapterhouseError as error:
        return _add_warning(given, f"The answer could not be kept: {error.message}")
    return given


def remember(request: Request, given: Answer, sequence: int, runtime: Runtime) -> Answer:
    """Put question and answer into the memory; say so where that is not possible."""
    if not request.remember:
        return given
    days, now = request.settings.memory.days, runtime.now()
    memory = Memory(
        id="",
        persona=request.owner,
        asked=now,
        expires=now + days * _DAY if days else 0,
        question=request.question.strip(),
        answer=(given.text or given.notice)[:_LONGEST],
        found=given.found,
        method=given.method,
        sources=tuple(sorted({citation.document_id for citation in given.citations})),
        sequence=sequence,
    )
    try:
        runtime.memories.remember(memory, file_text(json_fields(_without_uncited(given))))
    except ChapterhouseError as error:
        return _add_warning(given, f"This was not remembered: {error.message}")
    return given


def _without_uncited(given: Answer) -> Answer:
    """Return an answer without the names of documents that it does not cite.

    The memory goes with the documents that it cites, so nothing of others may be in it.
    """
    searched = replace(given.searched, nearest=(), partly_read=0, partly_read_names=())
    return replace(given, searched=searched)


def remembered_answer(
    memory_id: str, personas: Sequence[str], runtime: Runtime
) -> tuple[Memory, Answer | None]:
    """Return a memory, and its answer as it was given; None where only its text is known.

    A citation is verified where its quotation still stands in its place. Headings that came nearest
    and documents that were read in part are not remembered.

    Args:
        personas: Whose memories may be seen.

    Raises:
        UsageError: the id is none.
        NotFoundError: ``personas`` have no such memory.
    """
    memory, text = runtime.memories.get(memory_id, personas, runtime.now())
    try:
        given = read_held(text, ANSWER) if text else None
    except UsageError:  # written by another version
        given = None
    if given is None:
        return memory, None
    look = lookup_in(runtime.store, Scope.everything())
    return memory, replace(given, citations=verified_now(look, given.citations))


def _add_warning(given: Answer, warning: str) -> Answer:
    return replace(given, warnings=(*given.warnings, warning))


_OUTSIDE: Final = frozenset({Route.OUT_OF_SCOPE, Route.GENERAL})


def answer_record(answer: Answer) -> QuestionRecord:
    """Return what is counted of an answer; time and interface are the caller's to add."""
    outside = answer.route in _OUTSIDE
    outcome = QuestionOutcome.OUT_OF_SCOPE if outside else QuestionOutcome(answer.outcome.value)
    return QuestionRecord(
        asked=0,
        outcome=outcome,
        persona=answer.persona,
        text=answer.question.strip(),
        cited=_documents(answer.citations) if answer.outcome is AnswerOutcome.ANSWER else (),
        nearest=() if outside else answer.searched.nearest_documents,
    )


def minutes_record(minutes: Minutes) -> QuestionRecord:
    """Return what is counted of a meeting; time and interface are the caller's to add.

    It has answered where it chose an option, or decided something that its documents support.
    """
    decided = bool(minutes.decided) or any(point.citations for point in minutes.decision)
    documents = _documents(minutes.citations)
    return QuestionRecord(
        asked=0,
        outcome=QuestionOutcome.ANSWER if decided else QuestionOutcome.NOT_FOUND,
        council=minutes.council,
        text=minutes.question.strip(),
        cited=documents if decided else (),
        nearest=() if decided else documents,
    )


def record_question(
    record: QuestionRecord, interface: str, runtime: Runtime, *, with_text: bool
) -> None:
    """Record a question where the settings want that; an answer never fails for it."""
    settings, now = runtime.settings.analytics, runtime.now()
    if not settings.enabled:
        return
    text = record.text if with_text and settings.text else ""
    record = replace(record, asked=now, interface=interface, text=text)
    before = now - settings.days * DAY if settings.days else 0
    try:
        (runtime.whole or runtime).store.questions().record(record, before)
    except ChapterhouseError as error:  # a full disk, or a library that can only be read
        logging.getLogger(__name__).info("A question could not be counted: %s", error)


def _documents(citations: tuple[Citation, ...]) -> tuple[str, ...]:
    """Return the ids of the documents cited, in order; what a tool returned is none."""
    return tuple(dict.fromkeys(one.document_id for one in citations if not one.tool))
