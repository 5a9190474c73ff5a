import asyncio
from collections.abc import AsyncGenerator

import pytest

from chapterhouse.errors import BusyError, NotFoundError
from chapterhouse.interfaces.api.caller import Caller
from chapterhouse.interfaces.api.meetings import Meeting, Meetings, MeetingState, Opening
from chapterhouse.types import CouncilEvent, MeetingEvent, MeetingEventKind
from chapterhouse.types.access import AccessLevel, Grant

ADA = Caller(Grant("key ada", AccessLevel.READ, None), "default", "", "")
OPENING = Opening("default", "key ada", "board", "Why?")


def event(kind: MeetingEventKind, text: str = "") -> MeetingEvent:
    return MeetingEvent(kind, "analysis", 1, "maria", text)


SPOKE = event(MeetingEventKind.SPOKE)


async def happening(*events: CouncilEvent) -> AsyncGenerator[CouncilEvent]:
    for one in events:
        await asyncio.sleep(0)
        yield one


async def endless() -> AsyncGenerator[CouncilEvent]:
    yield SPOKE
    await asyncio.Event().wait()


async def read(meeting: Meeting, after: int = 0) -> list[int]:
    return [number async for number, _ in meeting.follow(after)]


def test_what_goes_on_is_cancelled_when_the_server_stops() -> None:
    async def work() -> None:
        meetings = Meetings()
        begun = meetings.open(OPENING, endless())
        assert (await anext(begun.follow()))[0] == 1
        fresh = meetings.open(OPENING, endless())  # its task has not begun
        await meetings.stop()
        assert {one.state for one in (begun, fresh)} == {MeetingState.CANCELLED}

    asyncio.run(work())


def test_too_many_at_once_are_refused() -> None:
    async def work() -> None:
        meetings = Meetings()
        for _ in range(8):
            meetings.open(OPENING, endless())
        with pytest.raises(BusyError):
            meetings.open(OPENING, endless())
        for number in range(24):
            meetings.open(Opening("default", f"key {number}", "board", "Why?"), endless())
        with pytest.raises(BusyError):
            meetings.open(Opening("default", "key x", "board", "Why?"), endless())
        await meetings.stop()
        meetings.open(OPENING, happening())

    asyncio.run(work())


def test_what_ended_is_remembered_for_an_hour_and_only_so_many() -> None:
    async def work() -> None:
        now = [1_000.0]
        meetings = Meetings(lambda: now[0])
        ids = []
        for _ in range(110):
            meeting = meetings.open(OPENING, happening())
            await read(meeting)
            ids.append(meeting.id)
        assert [one.id for one in meetings.list(ADA)] == ids[:-101:-1]
        now[0] += 3_600
        assert meetings.get(ADA, ids[-1])
        now[0] += 1
        with pytest.raises(NotFoundError):
            meetings.get(ADA, ids[-1])
        assert meetings.list(ADA) == ()

    asyncio.run(work())
