"""How a participant speaks: by a model, while the budget has room."""

import asyncio
from decimal import Decimal

import pytest
from tests.council.conftest import Hall, council, honest, phase, turn

from chapterhouse.council.meeting.budget import Budget, Need, Spending
from chapterhouse.council.meeting.speaking import NothingStored, speak
from chapterhouse.council.meeting.turns import Record, Turn
from chapterhouse.errors import EngineError
from chapterhouse.models.scripted import Scripted
from chapterhouse.types import Statement, Usage


def said(hall: Hall, spending: Spending, *, number: int = 0) -> Statement:
    session = hall.open_session(council())
    asked = Turn(session.council, session.question, session.council.rounds[number], 1, Record())
    maria = session.participants[0]
    return asyncio.run(speak(maria, asked, None, runtime=hall.runtime, spending=spending))


def test_a_model_speaks_and_what_it_used_is_counted(hall: Hall) -> None:
    hall.says(honest)
    spending = Spending(Budget(calls=1))
    assert said(hall, spending).method == "scripted"
    assert not spending.warnings
    assert said(hall, spending) == Statement("maria", "independent_analysis")  # it is made
    assert "members were not asked any more" in spending.warnings[0]


def test_a_model_that_fails_is_counted_as_what_was_expected(hall: Hall) -> None:
    hall.says(lambda *_: EngineError("gone", hint="Start it."))
    spending = Spending(Budget(calls=1))
    with pytest.raises(EngineError, match="gone"):
        said(hall, spending)
    assert not spending.reserve(Need(1))


def test_where_nothing_is_open_nothing_is_said(hall: Hall) -> None:
    model = hall.says(honest)
    assert said(hall, Spending(), number=1) == Statement("maria", "cross_examination")
    assert said(hall, Spending(), number=2) == Statement("maria", "rebuttal")
    assert not model.asked


def test_when_the_cost_is_used_rules_sum_up(hall: Hall) -> None:
    def script(told: str, prompt: str) -> Scripted:
        del prompt
        return turn() if phase(told) != "synthesis" else "{}"

    hall.says(script)
    minutes = hall.convene(council(), budget=Budget(dollars=Decimal("0.01")))
    assert minutes.usage == Usage(1)  # of which nobody knows the price
    assert minutes.method == "extractive"
    assert any("not asked any more" in warning for warning in minutes.warnings)


def test_nothing_is_stored_of_plans() -> None:
    store = NothingStored()
    store.add_statement(1, Statement("a", "b"))
    assert store.statement(1, "a") is None
