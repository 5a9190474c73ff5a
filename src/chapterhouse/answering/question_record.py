"""Each question and each meeting, counted once for ``library.analytics``.

Whoever asks not to be remembered is not counted, unless the caller says otherwise. Texts are only
recorded where the settings allow it and the question may be remembered.
"""

import logging
from dataclasses import replace
from typing import Final

from chapterhouse.answering.runtime import Runtime
from chapterhouse.errors import ChapterhouseError
from chapterhouse.types import (
    Answer,
    AnswerOutcome,
    Citation,
    Minutes,
    QuestionOutcome,
    QuestionRecord,
    Route,
)
from chapterhouse.types.analytics import DAY

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
