"""How fast a model is, and what of it a meeting takes."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from tests.council.conftest import Hall, council, honest

from chapterhouse.council.meeting import pace as paces
from chapterhouse.council.meeting.budget import parse_budget
from chapterhouse.council.meeting.pace import (
    HOSTED,
    SLOW,
    chair_need,
    estimate,
    fit_session,
    measure_pace,
    round_need,
    smallest_need,
)
from chapterhouse.council.meeting.session import Session
from chapterhouse.errors import EngineError, UsageError
from chapterhouse.models.scripted import ScriptedModel, Step
from chapterhouse.types import MeetingEventKind, ModelLimits

COUNTED = Step("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18", seconds=0.25)


def fitted(hall: Hall, *budget: str, **limits: Any) -> Session:
    hall.says(lambda *_: COUNTED, limits=ModelLimits(**limits))
    session = hall.open_session(council())
    wanted = parse_budget(budget) if budget else None
    return asyncio.run(fit_session(session, hall.runtime, wanted))


def test_a_model_is_measured_by_the_beginning_of_a_response() -> None:
    model = ScriptedModel(lambda *_: COUNTED)
    pace = asyncio.run(measure_pace(model, "abc"))
    assert pace.reads < HOSTED.reads
    assert 0 < pace.writes <= HOSTED.writes
    assert [prompt.partition(" ")[0].strip(":") for _, prompt in model.asked] == ["abc", "abc"]


def test_what_fails_or_does_not_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = ScriptedModel(lambda *_: EngineError("gone"))
    assert asyncio.run(measure_pace(broken, "a")) == HOSTED
    monkeypatch.setattr(paces, "_PATIENCE", 0.02)
    stuck = ScriptedModel(lambda *_: Step("1", seconds=60))
    assert asyncio.run(measure_pace(stuck, "a")) == SLOW


def test_evidence_fits_the_context_and_the_time_of_one_response(hall: Hall) -> None:
    def room(**limits: Any) -> int:
        return fitted(hall, **limits).participants[0].capacity.evidence

    assert room() == 6_000
    assert room(context=4_096, answer=300) == 4_096 - 300 - 900
    assert room(context=1_024) == 250
    assert 250 <= room(local=True, seconds=0.5) < room(local=True, seconds=120)


def test_a_hosted_model_is_not_measured(hall: Hall) -> None:
    model = hall.says(lambda *_: COUNTED, limits=ModelLimits(context=8_000))
    session = hall.open_session(council())
    asyncio.run(fit_session(session, hall.runtime, None))
    assert not model.asked


def test_a_meeting_takes_the_sum_of_its_rounds(hall: Hall) -> None:
    session = fitted(hall)
    rounds = [round_need(entry, session) for entry in session.council.rounds]
    assert [need.calls for need in rounds] == [3, 2, 2, 1]
    assert estimate(session).tokens == sum(need.tokens for need in rounds)
    assert rounds[-1] == chair_need(session)
    one_slot = fitted(hall, at_once=1)
    assert estimate(one_slot).seconds > 2 * estimate(fitted(hall, at_once=3)).seconds
    assert smallest_need(session).calls == 4
    assert smallest_need(session).tokens < estimate(session).tokens


def test_a_meeting_without_a_model_takes_nothing(hall: Hall) -> None:
    session = hall.open_session(council())
    assert estimate(asyncio.run(fit_session(session, hall.runtime, None))).calls == 0


def test_a_smaller_budget_lays_less_before_everybody(hall: Hall) -> None:
    whole, less = fitted(hall), fitted(hall, "12000 tokens")
    assert less.participants[0].capacity.evidence < whole.participants[0].capacity.evidence
    calls = fitted(hall, "4 calls")  # which smaller prompts would not save
    assert calls.participants[0].capacity == whole.participants[0].capacity


def test_a_budget_that_nothing_fits_is_refused_with_what_would(hall: Hall) -> None:
    with pytest.raises(UsageError, match=r"the smallest meeting takes about .* 4 calls"):
        fitted(hall, "2 calls")


def test_a_meeting_keeps_its_budget_and_says_what_it_left_out(hall: Hall) -> None:
    model = hall.says(honest)
    minutes = hall.convene(council(), budget=parse_budget(["5 calls"]))
    assert minutes.usage is not None
    assert minutes.usage.calls == len(model.asked) <= 5
    assert minutes.method == "scripted"  # the chair's call was kept
    assert any("budget of 5 calls" in warning for warning in minutes.warnings)
    (told,) = [e.text for e in hall.events if e.kind is MeetingEventKind.ESTIMATED]
    assert "8 calls" in told


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
