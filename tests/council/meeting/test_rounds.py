import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.council.conftest import QUESTION, Hall, council, honest, phase, turn

from chapterhouse.agents.council_model import Member
from chapterhouse.concurrency import run_sync
from chapterhouse.council.meeting.record import Allowance, OnText, Record, TurnTask, add_outcome
from chapterhouse.council.meeting.rounds import hold_round
from chapterhouse.council.meeting.session import Participant, Session, fit_session
from chapterhouse.council.meeting.transcript import Transcript
from chapterhouse.errors import UsageError
from chapterhouse.models.scripted import Scripted, Step
from chapterhouse.types import (
    Absence,
    MeetingEvent,
    MeetingEventKind,
    MemberTurn,
    ModelLimits,
    Statement,
    Usage,
)

LONG = 60.0  # seconds that no test waits for
Saying = Callable[[str, OnText | None], Awaitable[str]]


@dataclass
class Round:
    """A round of some members, and what happened in it."""

    session: Session
    events: list[MeetingEvent]
    kept: Transcript

    async def hold_round(
        self, say: Saying, *, parallel: int = 8, seconds: float = LONG, **timeouts: float
    ) -> tuple[MemberTurn | Absence, ...]:
        async def speak(
            participant: Participant, task: TurnTask, on_text: OnText | None
        ) -> MemberTurn:
            text = await say(participant.key, on_text)
            made = Statement("", participant.key, task.round.name, text)
            return MemberTurn(participant.key, task.round.name, (made,), method="scripted")

        council = self.session.council
        task = TurnTask(council, QUESTION, (), council.rounds[0], 1, Record(), {})
        speakers = [
            replace(one, timeout_seconds=timeouts.get(one.key), model=None)
            for one in self.session.participants
        ]
        tasks = [(participant, task) for participant in speakers]
        return await hold_round(
            tasks, speak, self.kept, self.events.append, parallel=parallel, seconds=seconds
        )

    def told(self) -> list[tuple[str, str]]:
        return [(event.kind.value, event.member) for event in self.events]


def roles(*names: str) -> tuple[Member, ...]:
    return tuple(Member(name=name, instructions="Speak.") for name in names)


@pytest.fixture
def a_round(hall: Hall) -> Iterator[Callable[..., Round]]:
    opened: list[Transcript] = []

    def made(*names: str, path: Path | None = None) -> Round:
        board = replace(council(), members=roles(*(names or ("ann", "ben", "cleo"))))
        hall.says([])  # without a model, who reads the same as another is not seated
        opened.append(Transcript.open(path, "key", {"council": "board", "question": QUESTION}))
        return Round(hall.open_session(board), [], opened[-1])

    yield made
    for transcript in opened:
        transcript.close()


def keys(outcomes: Sequence[MemberTurn | Absence]) -> list[str]:
    return [one.member for one in outcomes]


def absences(outcomes: Sequence[MemberTurn | Absence]) -> dict[str, str]:
    return {one.member: one.reason for one in outcomes if isinstance(one, Absence)}


def test_no_more_speak_at_a_time_than_the_council_lets(a_round: Callable[..., Round]) -> None:
    async def meeting() -> tuple[int, tuple[MemberTurn | Absence, ...]]:
        pairs, inside, most = asyncio.Barrier(2), 0, 0

        async def say(key: str, _: OnText | None) -> str:
            nonlocal inside, most
            inside += 1
            most = max(most, inside)
            await pairs.wait()  # passes by twos only: fewer than two at a time would hang here
            inside -= 1
            return key

        outcomes = await a_round("a1", "a2", "a3", "a4", "a5", "a6").hold_round(say, parallel=2)
        return most, outcomes

    most, outcomes = asyncio.run(meeting())
    assert most == 2
    assert not absences(outcomes)


@given(st.permutations(["a1", "a2", "a3", "a4"]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_record_has_the_members_order(a_round: Callable[..., Round], order: list[str]) -> None:
    async def meeting() -> Record:
        may = {key: asyncio.Event() for key in order}
        may[order[0]].set()

        async def say(key: str, _: OnText | None) -> str:
            await may[key].wait()
            place = order.index(key)
            if place + 1 < len(order):
                may[order[place + 1]].set()
            return key

        outcomes = await a_round("a1", "a2", "a3", "a4").hold_round(say)
        return reduce(add_outcome, outcomes, Record())

    record = asyncio.run(meeting())
    assert [turn.member for turn in record.turns] == ["a1", "a2", "a3", "a4"]
    assert [(one.id, one.position) for one in record.statements] == [
        ("s1", "a1"),
        ("s2", "a2"),
        ("s3", "a3"),
        ("s4", "a4"),
    ]


async def hang(key: str, _: OnText | None) -> str:
    """Never come back where it is Ben's turn."""
    if key == "ben":
        await asyncio.Event().wait()
    return key


@pytest.mark.parametrize(
    ("bounds", "late", "reason"),
    [
        ({"ben": 0.02}, ["ben"], "They took longer than 0.02 seconds."),
        ({"seconds": 0.05}, ["ben"], "The round ended after 0.05 seconds."),
        ({"seconds": 0.05, "parallel": 1}, ["ben", "cleo"], "The round ended after 0.05 seconds."),
    ],
)
def test_who_hangs_or_still_waits_is_absent_and_the_others_are_whole(
    a_round: Callable[..., Round], bounds: dict[str, Any], late: list[str], reason: str
) -> None:
    made = a_round()
    outcomes = asyncio.run(made.hold_round(hang, **bounds))
    assert keys(outcomes) == ["ann", "ben", "cleo"]
    assert list(absences(outcomes)) == late
    assert absences(outcomes)["ben"] == reason
    assert ("absent", "ben") in made.told()
    assert (("member-began", "cleo") in made.told()) is ("cleo" not in late)
    assert made.kept.turn(1, "ann") is not None
    assert made.kept.turn(1, "ben") is None


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (RuntimeError("secret words"), "Something went wrong with them (RuntimeError)."),
        (UsageError("No such shelf."), "No such shelf."),
        (TimeoutError("secret words"), "They took too long."),
    ],
)
def test_who_fails_is_absent_and_sinks_nobody(
    a_round: Callable[..., Round], error: Exception, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def say(key: str, _: OnText | None) -> str:
        if key == "ben":
            raise error
        return key

    made = a_round()
    outcomes = asyncio.run(made.hold_round(say))
    assert absences(outcomes) == {"ben": reason}
    assert isinstance(outcomes[0], MemberTurn)
    assert isinstance(outcomes[2], MemberTurn)
    assert (len(caplog.records) == 1) is isinstance(error, RuntimeError)


def test_who_spoke_before_is_not_asked_again(a_round: Callable[..., Round], tmp_path: Path) -> None:
    first = a_round(path=tmp_path / "kept.ndjson")
    before = asyncio.run(first.hold_round(hang, seconds=0.05))
    first.kept.close()
    asked: list[str] = []

    async def say(key: str, _: OnText | None) -> str:
        asked.append(key)
        return f"{key} again"

    second = a_round(path=tmp_path / "kept.ndjson")
    after = asyncio.run(second.hold_round(say))
    assert asked == ["ben"]
    assert (after[0], after[2]) == (before[0], before[2])
    assert second.told()[0] == ("resumed", "ann")
    assert ("spoke", "ann") not in second.told()


def test_a_meeting_that_is_broken_off_takes_everyone_with_it(a_round: Callable[..., Round]) -> None:
    ended: list[str] = []

    async def say(key: str, _: OnText | None) -> str:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(key)
        return key

    async def meeting() -> None:
        task = asyncio.create_task(a_round().hold_round(say))
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0)
        assert sorted(ended) == ["ann", "ben", "cleo"]

    asyncio.run(meeting())


def test_who_does_not_stop_at_the_end_has_not_spoken(a_round: Callable[..., Round]) -> None:
    async def say(key: str, _: OnText | None) -> str:
        if key == "ben":
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                return "Late."
        return key

    async def meeting() -> Round:
        made = a_round()
        await made.hold_round(say, seconds=0.05)
        await asyncio.sleep(0)
        return made

    made = asyncio.run(meeting())
    assert made.kept.turn(1, "ben") is None
    assert ("spoke", "ben") not in made.told()


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


def test_who_comes_when_the_tokens_are_used_is_not_asked(hall: Hall) -> None:
    model = hall.says(lambda told, prompt: Step(honest(told, prompt), usage=Usage(1, 40, 10)))
    minutes = hall.convene(council().limits(parallel=1), tokens=60)
    assert len(model.asked) == 2
    assert any("members were not asked any more" in one for one in minutes.warnings)


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
