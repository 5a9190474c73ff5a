"""How a participant speaks: by a model, while the meeting has time and tokens left."""

import asyncio

import pytest
from tests.council.conftest import Hall, council, honest

from chapterhouse.council.meeting.limits import Allowance
from chapterhouse.council.meeting.record import Record, TurnTask
from chapterhouse.council.meeting.speaking import speak
from chapterhouse.errors import EngineError
from chapterhouse.types import MemberTurn, Usage


def said(hall: Hall, allowance: Allowance, *, number: int = 0) -> MemberTurn:
    session = hall.open_session(council())
    entry = session.council.rounds[number]
    task = TurnTask(session.council, session.question, (), entry, 1, Record(), {})
    maria = session.participants[0]
    return asyncio.run(speak(maria, task, None, runtime=hall.runtime, allowance=allowance))


def test_a_model_speaks_until_the_tokens_are_used(hall: Hall) -> None:
    hall.says(honest)
    allowance = Allowance(tokens=1)
    assert said(hall, allowance).method == "scripted"
    assert not allowance.warnings
    allowance.add(Usage(1, 1))
    assert said(hall, allowance) == MemberTurn("maria", "independent_analysis")
    assert "members were not asked any more" in allowance.warnings[0]


def test_a_model_that_fails_says_why(hall: Hall) -> None:
    hall.says(lambda *_: EngineError("gone", hint="Start it."))
    with pytest.raises(EngineError, match="gone"):
        said(hall, Allowance())


def test_where_nothing_is_open_nothing_is_said(hall: Hall) -> None:
    model = hall.says(honest)
    assert said(hall, Allowance(), number=1) == MemberTurn("maria", "cross_examination")
    assert said(hall, Allowance(), number=2) == MemberTurn("maria", "rebuttal")
    assert not model.asked
