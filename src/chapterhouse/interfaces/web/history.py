"""What was asked, on the page: answers as they were given, and what found none."""

from contextlib import suppress
from functools import partial
from typing import Annotated, Final

from fastapi import Query, Response

from chapterhouse.errors import NotFoundError
from chapterhouse.interfaces.api import memory
from chapterhouse.interfaces.memory_owners import memory_owners
from chapterhouse.interfaces.values import public_answer
from chapterhouse.interfaces.web.asking import answer_turn, show_turn, text_turn
from chapterhouse.interfaces.web.councils import SaveFormat, minutes_file, minutes_values
from chapterhouse.interfaces.web.frame import Visited, pages
from chapterhouse.library import Library
from chapterhouse.presenting.blocks import Part
from chapterhouse.presenting.quoted import quoted_blocks
from chapterhouse.text.naming import given_name
from chapterhouse.types import Answer, Memory, Minutes, Turn

_ROWS: Final = 50  # of a list


@pages.get("/history", openapi_extra=memory.READ)
async def show_history(
    visit: Visited, text: Annotated[str, Query(max_length=1_000)] = ""
) -> Response:
    """Show what was asked, newest first; with words what fits them best."""
    memories = (await memory.list_memories(visit, text)).memories

    def cited(library: Library) -> dict[str, str]:
        """Return how the documents are called that the answers cite and that are still there."""
        names = {}
        for id_ in {id_ for one in memories for id_ in one.sources}:
            with suppress(NotFoundError):
                found = library.documents.by_id(id_)
                names[id_] = found.title or given_name(found.source)
        return names

    values = {"memories": memories, "text": text, "cited": await visit.look(cited)}
    return await visit.show("history.html", values)


@pages.get("/history/unanswered", openapi_extra=memory.READ)
async def show_unanswered(
    visit: Visited, days: Annotated[int, Query(ge=0, le=36_500)] = 30
) -> Response:
    """Count what was asked, and show what the documents did not answer."""
    found = await memory.show_analytics(visit, days, _ROWS)
    is_recorded = await visit.look(lambda library: library.settings.analytics.text)
    return await visit.show("unanswered.html", {"found": found, "is_recorded": is_recorded})


@pages.get("/history/{memory_id}", openapi_extra=memory.READ)
async def show_remembered(visit: Visited, memory_id: str) -> Response:
    """Show a question with its answer as it was given, to go on from; of a meeting its minutes."""
    found, given = await visit.look(partial(_remembered, memory_id))
    if isinstance(given, Minutes):
        values = {"followed": None, "is_open": False, "problem": "", "is_remembered": True}
        values |= {"path": f"/history/{memory_id}", "question": given.question}
        values |= {"title": given.title, "council": given.council}
        shown = {**minutes_values(given, without=""), "given": found.asked}
        return await visit.show("meeting.html", values | shown)
    who = f"persona/{given.persona}" if given and given.persona else ""
    if given:
        turn = answer_turn(found.question, public_answer(given))
    else:  # of which no more than the text is remembered
        part = Part("answer", "", quoted_blocks(found.answer))
        outcome = "answer" if found.found else "not found"
        turn = text_turn((Turn(found.question, found.answer),), part, outcome)
    return await show_turn(visit, who, turn={**turn, "given": found.asked})


def _remembered(memory_id: str, library: Library) -> tuple[Memory, Answer | Minutes | None]:
    owners = memory_owners(library)
    found, minutes = library.councils.remembered(memory_id, owners)
    return (found, minutes) if minutes else library.answers.remembered(memory_id, owners)


@pages.get("/history/{memory_id}/minutes", openapi_extra=memory.READ)
async def save_remembered(
    visit: Visited,
    memory_id: str,
    format: SaveFormat,  # noqa: A002 - in addresses
) -> Response:
    """Return remembered minutes as a file."""
    _, given = await visit.look(partial(_remembered, memory_id))
    if not isinstance(given, Minutes):
        raise NotFoundError("No minutes are remembered there.")
    return await minutes_file(visit, given, format)


@pages.post("/history/{memory_id}/forget", openapi_extra=memory.WRITE)
async def forget(visit: Visited, memory_id: str) -> Response:
    """Forget a question and its answer for good."""
    await memory.forget(visit, memory_id)
    return visit.redirect("/history")
