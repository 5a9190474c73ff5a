"""How a participant speaks: by a model, while the meeting has time and tokens left."""

import asyncio

import pytest
from tests.council.conftest import Hall, council, honest

from chapterhouse.council.meeting.limits import Allowance
from chapterhouse.council.meeting.speaking import NothingStored, speak
from chapterhouse.council.meeting.turns import Record, Turn
from chapterhouse.errors import EngineError
from chapterhouse.types import Statement, Usage


def said(hall: Hall, allowance: Allowance, *, number: int = 0) -> Statement:
    session = hall.open_session(council())
    asked = Turn(session.council, session.question, session.council.rounds[number], 1, Record())
    maria = session.participants[0]
    return asyncio.run(speak(maria, asked, None, runtime=hall.runtime, allowance=allowance))


def test_a_model_speaks_until_the_tokens_are_used(hall: Hall) -> None:
    hall.says(honest)
    allowance = Allowance(tokens=1)
    assert said(hall, allowance).method == "scripted"
    assert not allowance.warnings
    allowance.add(Usage(1, 1))
    assert said(hall, allowance) == Statement("maria", "independent_analysis")
    assert "members were not asked any more" in allowance.warnings[0]


def test_a_model_that_fails_says_why(hall: Hall) -> None:
    hall.says(lambda *_: EngineError("gone", hint="Start it."))
    with pytest.raises(EngineError, match="gone"):
        said(hall, Allowance())


def test_where_nothing_is_open_nothing_is_said(hall: Hall) -> None:
    model = hall.says(honest)
    assert said(hall, Allowance(), number=1) == Statement("maria", "cross_examination")
    assert said(hall, Allowance(), number=2) == Statement("maria", "rebuttal")
    assert not model.asked


def test_nothing_is_stored_of_councils_within() -> None:
    store = NothingStored()
    store.add_statement(1, Statement("a", "b"))
    assert store.statement(1, "a") is None
