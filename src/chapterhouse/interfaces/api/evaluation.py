"""Evaluation over HTTP: the library's own questions asked and measured, and verdicts on answers."""

from typing import Annotated, Final

from pydantic import ConfigDict, Field, StrictBool

from chapterhouse.answering.request import AskOptions
from chapterhouse.errors import UsageError
from chapterhouse.evaluation.collection import fixture_file, limited, question_task
from chapterhouse.evaluation.comparing import Evaluation, evaluate
from chapterhouse.evaluation.datasets import Question as JudgedQuestion
from chapterhouse.evaluation.datasets import read_questions
from chapterhouse.evaluation.feedback import (
    FeedbackChange,
    JudgedAnswer,
    Verdict,
    Wrong,
    as_question,
    save_feedback,
    to_judged_answer,
)
from chapterhouse.evaluation.measures import Estimate
from chapterhouse.evaluation.measuring import Scored
from chapterhouse.evaluation.synthetic import own_questions
from chapterhouse.interfaces.api.routing import needs, router
from chapterhouse.interfaces.api.schemas import STRICT, Body, Names, Question
from chapterhouse.interfaces.api.state import Exchange, Exchanged
from chapterhouse.interfaces.schemas import Result
from chapterhouse.interfaces.service import public_lines, without_paths
from chapterhouse.library import Library
from chapterhouse.types.access import AccessLevel

READ: Final = needs(AccessLevel.READ, whole=True)
WRITE: Final = needs(AccessLevel.WRITE, whole=True)
_MOST: Final = 50  # questions that a request may wait for
_LONGEST_TEXT: Final = 20_000

evaluation: Final = router("/api/evaluation", "evaluation")
feedback: Final = router("/api/feedback", "evaluation")
Text = Annotated[str, Field(max_length=_LONGEST_TEXT)]
Texts = Annotated[tuple[Text, ...], Field(max_length=200)]


class QuestionResult(Result):
    """A question and what must come of it."""

    id: str
    text: str
    required: tuple[str, ...] = Field(description="Documents that must be found, by name.")
    forbidden: tuple[str, ...] = Field(description="Documents on which the answer must not rest.")
    answers: tuple[str, ...] = Field(description="Texts of which the answer must hold one.")
    wrong: tuple[str, ...] = Field(description="Texts that the answer must not show.")
    answerable: bool
    shelves: tuple[str, ...] | None
    note: str


class QuestionsResult(Result):
    """The questions of a workspace."""

    questions: tuple[QuestionResult, ...]


class EvaluationBody(Body):
    """How many questions are asked."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"limit": 20}]})

    limit: Annotated[int, Field(ge=1, le=_MOST), STRICT] | None = Field(
        default=None, description=f"At most so many; all when null, up to {_MOST}."
    )


class ScoredResult(Result):
    """A question and what came of it."""

    id: str
    text: str
    scores: dict[str, float]
    failures: tuple[str, ...] = Field(description="What it did not get, in sentences.")
    instead: tuple[str, ...] = Field(description="The first documents found.")


class EvaluationResult(Result):
    """What came of the questions."""

    name: str
    kind: str = Field(description="questions: the workspace's own; synthetic: made from documents.")
    documents: int
    chunks: int
    measures: dict[str, Estimate] = Field(description="Means with 95 % intervals.")
    questions: tuple[ScoredResult, ...]
    note: str = Field(description="What the figures cannot show.")
    warnings: tuple[str, ...]


class ShownCitation(Body):
    """A citation of an answer, as ``/api/ask`` returned it."""

    file: Text
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
                        "citations": [{"file": "papers/old.md", "quote": "leaves at ten"}],
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
    question: QuestionResult


@evaluation.get("/questions", openapi_extra=READ)
async def list_questions(exchange: Exchanged) -> QuestionsResult:
    """List the workspace's own questions, which feedback writes."""

    def read(library: Library) -> tuple[JudgedQuestion, ...]:
        path = fixture_file(library)
        return read_questions(path) if path.exists() else ()

    found = await exchange.look(read)
    return QuestionsResult(questions=tuple(map(_question_result, found)))


@evaluation.post("", openapi_extra=WRITE)
async def run_evaluation(exchange: Exchanged, body: EvaluationBody) -> EvaluationResult:
    """Ask the workspace's own questions and measure what comes back.

    Where it has none, questions are made from the documents.
    """

    def measure(library: Library) -> EvaluationResult:
        own = own_questions(library, body.limit or _MOST)
        if body.limit is None and len(own.questions) > _MOST:
            raise UsageError(
                f"The workspace has {len(own.questions):,} questions; a request may ask {_MOST}.",
                hint="Send a limit, or ask all of them with: chapterhouse eval",
            )
        task = question_task(own.questions, library, own.name, own.kind)
        return _evaluation_result(evaluate(limited(task, body.limit)))

    return await exchange.look_long(measure)


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
    return FeedbackResult(change=found.change, question=_question_result(found.question))


async def _judged(exchange: Exchange, body: FeedbackBody) -> JudgedAnswer:
    """Return what was shown, or what the question is answered with now."""
    if body.answer is not None:
        cited = tuple((one.file, one.quote) for one in body.answer.citations)
        return JudgedAnswer(body.question, body.answer.found, cited, body.answer.sentences)
    options = AskOptions(shelves=body.shelves or None, remember=False, drafts=False)
    answer = await exchange.ask(
        lambda library: library.answers.ask_async(body.question, options=options)
    )
    return to_judged_answer(answer)


def _question_result(question: JudgedQuestion) -> QuestionResult:
    return QuestionResult(
        id=question.id,
        text=question.text,
        required=question.required,
        forbidden=question.forbidden,
        answers=question.answers,
        wrong=question.wrong,
        answerable=question.answerable,
        shelves=question.shelves,
        note=question.note,
    )


def _evaluation_result(found: Evaluation) -> EvaluationResult:
    return EvaluationResult(
        name=without_paths(found.name),
        kind=found.kind,
        documents=found.documents,
        chunks=found.chunks,
        measures=dict(found.measures),
        questions=tuple(map(_scored_result, found.scored)),
        note=found.note,
        warnings=public_lines(found.warnings),
    )


def _scored_result(scored: Scored) -> ScoredResult:
    question = scored.case.question
    return ScoredResult(
        id=question.id,
        text=question.text,
        scores=dict(scored.scores),
        failures=scored.failures,
        instead=scored.instead,
    )
