import asyncio
from typing import Any

import pytest
from tests.rooms import FOREIGN, KNOTS, PRICE, SPEED, asked

from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.library.answers import answer_of
from chapterhouse.types import Answer, Route


def test_a_persona_answers_from_their_folder_by_quotation(harbour: Any) -> None:
    answer = asked(harbour, SPEED)
    assert answer.found
    assert answer.route is Route.ANSWERED
    assert (answer.persona, answer.display_name, answer.method) == (
        "maria",
        "Maria Keller",
        "extractive",
    )
    assert "4 knots" in answer.text
    assert "1 read" in answer.refreshed
    assert all(citation.verified for citation in answer.citations)
    assert asked(harbour, SPEED).refreshed == ""


def test_a_changed_folder_is_read_by_a_sync_and_by_no_question(harbour: Any) -> None:
    assert "4 knots" in asked(harbour, SPEED).text
    rules = harbour.home / "personas" / "maria" / "RAG" / "rules.md"
    rules.write_text(rules.read_text().replace("4 knots", "7 knots, if the tide is high"))

    assert "4 knots" in asked(harbour, SPEED).text
    harbour.library.sources.sync("maria")
    answer = asked(harbour, SPEED)
    assert "7 knots" in answer.text
    assert "4 knots" not in answer.text


def test_what_cannot_be_asked_is_refused(harbour: Any) -> None:
    with pytest.raises(UsageError, match="reads their own shelves"):
        asked(harbour, SPEED, shelves=("jonas",))
    with pytest.raises(NotFoundError, match="no persona 'peter'"):
        asked(harbour, SPEED, "peter")
    assert harbour.library.memory.personas() == ()


def test_who_knows_answers_instead(harbour: Any) -> None:
    harbour.library.personas.change("maria", {"out_of_scope": "persona"})
    answer = asked(harbour, PRICE)
    assert answer.found
    assert answer.handed_to == answer.persona == "jonas"
    assert answer.notice == (
        "This question is outside Maria Keller's expertise; switching to Jonas Brandt."
    )
    assert "80 euros" in answer.text
    assert {
        memory.persona for memory in harbour.library.memory.memories(["maria", "jonas"], 9, 0)
    } == {"maria", "jonas"}


def test_nobody_is_troubled_with_what_nobody_knows(harbour: Any) -> None:
    harbour.library.personas.change("maria", {"out_of_scope": "persona"})
    answer = asked(harbour, FOREIGN)
    assert answer.route is Route.OUT_OF_SCOPE
    assert answer.handed_to == ""
    assert answer.notice == "This question is outside Maria Keller's expertise."


def test_a_colleague_who_cannot_be_used_is_passed_over(harbour: Any) -> None:
    harbour.library.personas.change("maria", {"out_of_scope": "persona"})
    harbour.persona("aaron", {"prices.md": "# Prices\n\nA berth in the marina costs 1 euro.\n"})
    (harbour.home / "personas" / "aaron" / "persona.config.json").write_text("{broken")
    assert asked(harbour, PRICE).handed_to == "jonas"


def test_a_persona_has_a_model_of_their_own(harbour: Any) -> None:
    harbour.library.personas.change("maria", {"model": "small"})
    usual, own, called = (harbour.says(KNOTS, KNOTS, name=name) for name in ("", "small", "large"))
    asked(harbour, SPEED)
    asked(harbour, SPEED, model="large")
    assert [len(model.asked) for model in (usual, own, called)] == [0, 1, 1]


def test_asking_works_where_a_loop_runs_already(harbour: Any) -> None:
    library = harbour.library

    async def notebook() -> tuple[Answer, Answer]:
        events = library.answers.events(SPEED, persona="maria")
        return library.answers.ask(SPEED, persona="maria"), await answer_of(events)

    plain, awaited = asyncio.run(notebook())
    assert plain.sentences == awaited.sentences
    assert plain.found
