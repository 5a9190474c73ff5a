"""One question under two settings side by side, and the evaluation of a workspace's questions."""

import json
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Final

from fastapi import Form, Query, Response
from pydantic import Field

from chapterhouse.errors import ChapterhouseError, UsageError
from chapterhouse.evaluation.measuring import evaluate
from chapterhouse.evaluation.questions import Verdict
from chapterhouse.interfaces.api import memory
from chapterhouse.interfaces.api.problems import refusal_of
from chapterhouse.interfaces.api.schemas import Body
from chapterhouse.interfaces.api.schemas import Question as QuestionText
from chapterhouse.interfaces.service import public_lines, without_paths
from chapterhouse.interfaces.web import words
from chapterhouse.interfaces.web.frame import Visit, Visited, pages
from chapterhouse.library import Library
from chapterhouse.settings_stored import value_of
from chapterhouse.types import SearchResult

WRITE_WHOLE: Final = memory.WRITE
_MOST_QUESTIONS: Final = 100  # that are asked at once
# The settings that are varied, and the values that are offered.
_VARIED: Final[Mapping[str, Sequence[object]]] = {
    "search.fusion": ("scores", "ranks"),
    "rerank.engine": ("features", "none"),
    "rerank.depth": (20, 60, 120, 240),
    "expansion.names": (True, False),
    "expansion.parts": (True, False),
    "expansion.neighbours": (True, False),
    "expansion.rewrite": ("never", "always"),
    "search.per_document": (0, 1, 2, 3),
    "search.limit": (5, 10, 20, 50),
    "search.duplicates": (0, 0.8, 0.9, 1),
    "search.recency": (0, 0.25, 0.5, 1),
    "search.min_similarity": (0, 0.1, 0.2, 0.4),
}
_CHOICES: Final = {
    f"{name}={json.dumps(value)}": (name, value)
    for name, values in _VARIED.items()
    for value in values
}
Chosen = Annotated[tuple[str, ...], Query(max_length=50)]


@pages.get("/lab", openapi_extra=WRITE_WHOLE)
async def show_lab(
    visit: Visited,
    question: Annotated[str, Query(max_length=10_000)] = "",
    a: Chosen = (),
    b: Chosen = (),
    saved: bool = False,
) -> Response:
    """Show what a question finds under two settings."""
    sides = [tuple(filter(None, one)) for one in (a, b)]
    values: dict[str, Any] = {"question": question, "sides": sides, "saved": saved}
    if question.strip():
        try:
            values |= _compared(await visit.look_long(partial(_search_both, question, sides)))
        except ChapterhouseError as error:
            values["problem"] = without_paths(refusal_of(error).detail)
    return await _show(visit, **values)


async def _show(visit: Visit, **values: Any) -> Response:
    """Show the lab: both settings, what was found or measured, and how many questions there are."""
    current = await visit.look(
        lambda library: {name: value_of(library.settings, name) for name in _VARIED}
    )
    shown = {"tab": "lab", "problem": "", "question": "", "sides": ((), ()), "saved": False}
    shown |= {"varied": _VARIED, "current": current, "words": words}
    shown |= {"asked": len((await memory.list_questions(visit)).questions), "public": public_lines}
    return await visit.show("lab.html", {**shown, "found": (), "measured": None, **values})


def _search_both(
    question: str, sides: Sequence[Sequence[str]], library: Library
) -> list[tuple[SearchResult, float]]:
    """Return what is found on each side, and how many seconds that took."""
    found = []
    for chosen in sides:
        values = dict(map(_choice, chosen))
        began = time.perf_counter()
        method = library.search.method_with(values)
        limit, cap = (values.get(f"search.{name}") for name in ("limit", "per_document"))
        result = library.search.hits(question, method=method, limit=limit, per_document=cap)
        found.append((result, time.perf_counter() - began))
    return found


def _choice(text: str) -> tuple[str, Any]:
    if text not in _CHOICES:
        raise UsageError(f"'{text[:100]}' is not varied here.")
    return _CHOICES[text]


def _compared(found: Sequence[tuple[SearchResult, float]]) -> dict[str, Any]:
    """Return what both sides found, and in which place each has a passage."""
    places = [{hit.chunk.id: hit.rank for hit in result.hits} for result, _ in found]
    shared = places[0].keys() & places[1].keys()
    return {
        "found": found,
        "places": places,
        "sources": list(dict.fromkeys(h.document.source for one, _ in found for h in one.hits)),
        "shared": len(shared),
        "moved": sum(places[0][one] != places[1][one] for one in shared),
    }


# --- questions to evaluate ----------------------------------------------------------------------


class QuestionForm(Body):
    """A question, and the documents that answer it; without any, that none does."""

    question: QuestionText
    required: list[memory.Text] = Field(default=[], max_length=200)
    unanswerable: bool = False


@pages.post("/lab/questions", openapi_extra=WRITE_WHOLE)
async def save_question(visit: Visited, form: Annotated[QuestionForm, Form()]) -> Response:
    """Save a question with what it has to find."""
    if bool(form.required) == form.unanswerable:
        raise UsageError("Choose the documents that answer the question, or that none does.")
    body = memory.FeedbackBody(
        verdict=Verdict.GOOD,
        question=form.question,
        answer=memory.ShownAnswer(found=not form.unanswerable),
        required=tuple(form.required),
    )
    await memory.give_feedback(visit, body)
    return visit.redirect("/lab", question=form.question, saved="true")


@pages.post("/lab/evaluation", openapi_extra=WRITE_WHOLE)
async def run_evaluation(visit: Visited) -> Response:
    """Ask the workspace's questions, the first hundred at most, and show what came of it."""
    questions = (await memory.list_questions(visit)).questions
    if not questions:
        raise UsageError("There are no questions yet.", hint="Save one in the lab.")
    asked = questions[:_MOST_QUESTIONS]
    began = time.perf_counter()
    found = await visit.look_long(lambda library: evaluate(asked, library, "the workspace"))
    seconds = time.perf_counter() - began
    return await _show(visit, measured=found, total=len(questions), seconds=seconds)
