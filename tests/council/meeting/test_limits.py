"""A meeting ends in order when its time or its tokens are used; a model gets what it takes."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from tests.council.conftest import Hall, council, honest, phase, turn

from chapterhouse.concurrency import run_sync
from chapterhouse.council.meeting.record import Allowance, Record, TurnTask
from chapterhouse.council.meeting.rounds import Meeting, ignore, speak
from chapterhouse.council.meeting.session import fit_session
from chapterhouse.council.meeting.transcript import Transcript
from chapterhouse.errors import EngineError
from chapterhouse.models.scripted import Scripted, Step
from chapterhouse.types import MeetingEventKind, MemberTurn, ModelLimits, Usage


def test_tokens_and_time_run_out() -> None:
    now = [10.0]
    allowance = Allowance(seconds=5, tokens=100, clock=lambda: now[0])
    allowance.add(Usage(1, 60, 30))
    allowance.add(None)
    assert (allowance.is_used, allowance.seconds_left) == (False, 5.0)
    allowance.add(Usage(1, 10, 0))
    assert allowance.is_used
    allowance.note("the chair was not asked")
    allowance.note("the chair was not asked")
    assert allowance.warnings == ("The limit of 100 tokens was reached: the chair was not asked.",)

    timed = Allowance(seconds=5, clock=lambda: now[0])
    now[0] = 16.0
    assert (timed.is_used, timed.seconds_left) == (True, 0.0)
    timed.note("members were not asked any more")
    assert timed.warnings[0].startswith("The limit of 5 seconds was reached: ")


@pytest.mark.parametrize("limit", ["tokens", "seconds"])
def test_a_meeting_ends_with_minutes_of_what_there_is(hall: Hall, limit: str) -> None:
    def script(told: str, prompt: str) -> Scripted:
        slow = phase(told) == "cross_examination" and limit == "seconds"
        return Step(honest(told, prompt), seconds=60 if slow else 0, usage=Usage(1, 40, 10))

    model = hall.says(script)
    bound = {"tokens": 140} if limit == "tokens" else {"seconds": 3.0}
    minutes = hall.convene(council(), **bound)
    assert {phase(told) for told, _ in model.asked} <= {"independent_analysis", "cross_examination"}
    assert {one.member for one in minutes.statements} == {"maria", "jonas", "nina"}
    assert minutes.method == "extractive"
    assert minutes.agreement
    reached = [one for one in minutes.warnings if one.startswith("The limit of ")]
    assert any("rebuttal was not held" in one for one in reached)
    assert any("the chair was not asked" in one for one in reached)
    if limit == "tokens":
        assert len(model.asked) == 3
    else:
        late = [e for e in hall.events if e.kind is MeetingEventKind.ABSENT]
        assert late
        assert all(one.text.startswith("The round ended after ") for one in late)


def test_evidence_fits_the_context_of_a_model(hall: Hall) -> None:
    def evidence(**limits: int) -> int:
        hall.says(lambda *_: turn(), limits=ModelLimits(**limits))
        session = run_sync(fit_session(hall.open_session(council())))
        assert len({one.capacity for one in session.everyone}) == 1
        return session.participants[0].capacity.evidence

    assert evidence() == 6_000
    assert evidence(context=4_096, answer=300) == 4_096 - 300 - 900
    assert evidence(context=512) == 250
    assert evidence(context=128_000) == 6_000


def test_only_as_many_are_asked_at_once_as_the_server_serves(hall: Hall) -> None:
    inside = most = 0

    def script(told: str, prompt: str) -> Step:
        return Step(honest(told, prompt), seconds=0.02)

    model = hall.says(script, limits=ModelLimits(at_once=1))
    write = model.write

    async def counting(*given: Any, **more: Any) -> Any:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        try:
            return await write(*given, **more)
        finally:
            inside -= 1

    model.write = counting  # type: ignore[method-assign]
    made = replace(council(), round_timeout_seconds=30)
    assert not hall.convene(made).absences
    assert most == 1


def said(hall: Hall, allowance: Allowance, *, number: int = 0) -> MemberTurn:
    session = hall.open_session(council())
    entry = session.council.rounds[number]
    task = TurnTask(session.council, session.question, (), entry, 1, Record(), {})
    maria = session.participants[0]
    meeting = Meeting(hall.runtime, Transcript(), ignore, allowance)
    return asyncio.run(speak(maria, task, None, meeting))


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
