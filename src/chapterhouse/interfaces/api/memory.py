"""What was asked over HTTP: memories, verdicts on answers as questions to evaluate, and numbers."""

import time
from typing import Annotated, Final

from fastapi import Query
from pydantic import ConfigDict, Field, StrictBool

from chapterhouse.answering.request import AskOptions
from chapterhouse.evaluation.questions import (
    FeedbackChange,
    JudgedAnswer,
    Verdict,
    Wrong,
    as_question,
    question_file,
    read_questions,
    save_feedback,
    to_judged_answer,
)
from chapterhouse.evaluation.questions import Question as JudgedQuestion
from chapterhouse.interfaces.api.routing import needs, router
from chapterhouse.interfaces.api.schemas import Body, Names, Question
from chapterhouse.interfaces.api.state import Exchange, Exchanged
from chapterhouse.interfaces.memory_owners import memory_owners
from chapterhouse.interfaces.schemas import Result
from chapterhouse.library import Library
from chapterhouse.library.answers import answer_of
from chapterhouse.types import Analytics, DocumentFigures, Memory
from chapterhouse.types.access import AccessLevel

READ: Final = needs(AccessLevel.READ, whole=True)
WRITE: Final = needs(AccessLevel.WRITE, whole=True)
_MOST: Final = 1_000

memory: Final = router("/api/memory", "memory")
Persona = Annotated[
    str,
    Query(max_length=100, description="A persona's alone; “library” for no persona's; else all."),
]
Council = Annotated[str, Query(max_length=100, description="A council's and its members'.")]
Member = Annotated[str, Query(max_length=100, description="Of the council, this member's alone.")]


class MemoriesResult(Result):
    """Memories: the newest first, or those that fit best."""

    memories: tuple[Memory, ...]


class ForgottenResult(Result):
    """How many memories were forgotten."""

    forgotten: int


@memory.get("", openapi_extra=READ)
async def list_memories(
    exchange: Exchanged,
    text: Annotated[str, Query(max_length=1_000, description="Words to search for.")] = "",
    persona: Persona = "",
    council: Council = "",
    member: Member = "",
    limit: Annotated[int, Query(ge=1, le=_MOST)] = 50,
) -> MemoriesResult:
    """List what is remembered, newest first; with ``text`` what fits it, best first."""

    def find(library: Library) -> tuple[Memory, ...]:
        owners, now = memory_owners(library, persona, council, member), int(time.time())
        if not text.strip():
            return tuple(library.memory.memories(owners, limit, now))
        return tuple(hit.memory for hit in library.memory.search(text, owners, limit, now))

    return MemoriesResult(memories=await exchange.look(find))


@memory.delete("/{memory_id}", openapi_extra=WRITE)
async def forget(exchange: Exchanged, memory_id: str) -> ForgottenResult:
    """Forget a memory for good."""
    count = await exchange.change(
        "memory.forget", memory_id, lambda library: library.memory.forget((memory_id,))
    )
    return ForgottenResult(forgotten=count)


@memory.delete("", openapi_extra=WRITE)
async def forget_all(
    exchange: Exchanged,
    before: Annotated[
        int, Query(ge=0, le=2**53, description="Only what was asked before, in seconds since 1970.")
    ],
    persona: Persona = "",
    council: Council = "",
    member: Member = "",
) -> ForgottenResult:
    """Forget all that was asked before a time, of everybody or of those who are named, for good."""

    def work(library: Library) -> int:
        owners = memory_owners(library, persona, council, member)
        return library.memory.forget_all(owners, before)

    count = await exchange.change("memory.forget", persona or council, work)
    return ForgottenResult(forgotten=count)


_LONGEST_TEXT: Final = 20_000

feedback: Final = router("/api/feedback", "feedback")
Text = Annotated[str, Field(max_length=_LONGEST_TEXT)]
Texts = Annotated[tuple[Text, ...], Field(max_length=200)]


class QuestionsResult(Result):
    """The questions of a workspace."""

    questions: tuple[JudgedQuestion, ...]


class ShownCitation(Body):
    """A citation of an answer, as ``/api/ask`` returned it."""

    source: Text
    quote: Text


class ShownAnswer(Body):
    """What somebody was shown, of an answer as ``/api/ask`` returned it."""

    found: StrictBool = Field(default=True, description="Whether its outcome was an answer.")
    sentences: Texts = ()
    citations: Annotated[tuple[ShownCitation, ...], Field(max_length=200)] = ()


class FeedbackBody(Body):
    """A verdict on an answer."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"verdict": "good", "question": "When does the ferry leave?"},
                {
                    "verdict": "bad",
                    "question": "When does the ferry leave?",
                    "answer": {
                        "sentences": ["The ferry leaves at ten."],
                        "citations": [{"source": "papers/old.md", "quote": "leaves at ten"}],
                    },
                    "documents": ["papers/old.md"],
                },
            ]
        }
    )

    verdict: Verdict
    question: Question
    answer: ShownAnswer | None = Field(
        default=None, description="What was shown; the question is asked now when null."
    )
    shelves: Names = ()
    required: Texts = Field(
        default=(), description="The documents that are right, instead of those cited."
    )
    sentences: Texts = Field(
        default=(), description="Sentences that are wrong, by number or words."
    )
    passages: Texts = Field(
        default=(), description="Quoted passages that are wrong, by number or words."
    )
    documents: Texts = Field(
        default=(), description="Documents on which the answer must not rest at all."
    )


class FeedbackResult(Result):
    """What became of a verdict."""

    change: FeedbackChange
    question: JudgedQuestion


@feedback.get("", openapi_extra=READ)
async def list_questions(exchange: Exchanged) -> QuestionsResult:
    """List the workspace's own questions, which feedback writes and ``chapterhouse eval`` asks."""

    def read(library: Library) -> tuple[JudgedQuestion, ...]:
        path = question_file(library)
        return read_questions(path) if path.exists() else ()

    found = await exchange.look(read)
    return QuestionsResult(questions=found)


@feedback.post("", status_code=201, openapi_extra=WRITE)
async def give_feedback(exchange: Exchanged, body: FeedbackBody) -> FeedbackResult:
    """Store a good or bad answer as a question to evaluate.

    What is wrong with a bad answer is named by sentences, passages or documents; all that it shows,
    where nothing is named. A later verdict on the same question replaces the earlier one.
    """
    judged = await _judged(exchange, body)
    wrong = Wrong(body.sentences, body.passages, body.documents)
    question = as_question(body.verdict, judged, body.required, body.shelves or None, wrong)
    found = await exchange.change(
        "feedback", question.id, lambda library: save_feedback(library, question)
    )
    return FeedbackResult(change=found.change, question=found.question)


async def _judged(exchange: Exchange, body: FeedbackBody) -> JudgedAnswer:
    """Return what was shown, or what the question is answered with now."""
    if body.answer is not None:
        cited = tuple((one.source, one.quote) for one in body.answer.citations)
        return JudgedAnswer(body.question, body.answer.found, cited, body.answer.sentences)
    options = AskOptions(shelves=body.shelves or None, remember=False, drafts=False)
    answer = await exchange.ask(
        lambda library: answer_of(library.answers.events(body.question, options=options))
    )
    return to_judged_answer(answer)


analytics: Final = router("/api/analytics", "analytics")
document_analytics: Final = router("/api/documents/analytics", "documents")
Days = Annotated[int, Query(ge=0, le=36_500, description="Today included; 0: all.")]
Limit = Annotated[int, Query(ge=1, le=_MOST, description="Rows of each list.")]


@document_analytics.get("", openapi_extra=READ)
async def count_documents(exchange: Exchanged, days: Days = 30) -> DocumentFigures:
    """Count documents by status, format, shelf and age, and those that answers cite."""
    report = await exchange.look(lambda library: library.analytics.report(days, limit=1))
    return report.documents


@analytics.get("", openapi_extra=READ)
async def show_analytics(exchange: Exchanged, days: Days = 30, limit: Limit = 20) -> Analytics:
    """Say what was asked, how well it was answered, and what the documents lack."""
    return await exchange.look(lambda library: library.analytics.report(days, limit=limit))
