import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest

from chapterhouse.errors import BusyError, NotFoundError
from chapterhouse.interfaces.api.meetings import Happening, Meeting, Meetings, MeetingState
from chapterhouse.interfaces.api.routing import Caller
from chapterhouse.store.shared import SharedDatabase
from chapterhouse.types.access import AccessLevel, Grant

ADA = Caller(Grant("key ada", AccessLevel.READ, None), "default", "", "")


async def happening(*events: Happening) -> AsyncGenerator[Happening]:
    for one in events:
        await asyncio.sleep(0)
        yield one


async def endless() -> AsyncGenerator[Happening]:
    yield "spoke", "{}"
    await asyncio.Event().wait()


def begin(meetings: Meetings, events: AsyncGenerator[Happening], caller: Caller = ADA) -> Meeting:
    return meetings.open(caller, "board", "Why?", events)


async def read(meetings: Meetings, meeting: Meeting, after: int = 0) -> list[tuple[int, str]]:
    return [(number, name) async for number, name, _ in meetings.follow(meeting, after)]


def test_what_goes_on_is_cancelled_when_the_server_stops() -> None:
    async def work() -> None:
        meetings = Meetings(SharedDatabase())
        begun = begin(meetings, endless())
        assert (await anext(meetings.follow(begun)))[0] == 1
        begin(meetings, endless())  # its task has not begun
        await meetings.stop()
        assert {one.state for one in meetings.list(ADA)} == {MeetingState.CANCELLED}

    asyncio.run(work())


def test_another_process_follows_and_cancels(tmp_path: Path) -> None:
    async def work() -> None:
        here, there = (Meetings(SharedDatabase(str(tmp_path / "shared.db"))) for _ in range(2))
        begun = begin(here, endless())
        following = asyncio.create_task(read(there, begun))
        await asyncio.sleep(0.3)
        await there.cancel(begun.id)
        assert await following == [(1, "spoke"), (0, "error")]
        async with asyncio.timeout(10):  # it stops what the models are asked
            await asyncio.gather(*here._tasks.values(), return_exceptions=True)

    asyncio.run(work())


def test_what_a_process_held_that_died_has_failed(tmp_path: Path) -> None:
    async def work() -> None:
        shared = SharedDatabase()
        meetings = Meetings(shared)
        begun = begin(meetings, endless())
        shared.rows("UPDATE meeting SET process = 4194305")  # above all ids of Linux
        assert [name for _, name in await read(meetings, begun)][-1] == "error"
        assert meetings.get(ADA, begun.id).state is MeetingState.FAILED
        await meetings.stop()

    asyncio.run(work())


def test_too_many_at_once_are_refused() -> None:
    async def work() -> None:
        meetings = Meetings(SharedDatabase())
        for _ in range(8):
            begin(meetings, endless())
        with pytest.raises(BusyError):
            begin(meetings, endless())
        for number in range(25):
            other = replace(ADA, grant=Grant(f"key {number}", AccessLevel.READ, None))
            if number == 24:
                with pytest.raises(BusyError):
                    begin(meetings, endless(), other)
            else:
                begin(meetings, endless(), other)
        await meetings.stop()
        begin(meetings, happening())

    asyncio.run(work())


def test_what_ended_is_remembered_for_an_hour_and_only_so_many() -> None:
    async def work() -> None:
        now = [1_000.0]
        meetings = Meetings(SharedDatabase(), lambda: now[0])
        ids = []
        for _ in range(110):
            meeting = begin(meetings, happening())
            await read(meetings, meeting)
            ids.append(meeting.id)
        assert [one.id for one in meetings.list(ADA)] == ids[:-101:-1]
        now[0] += 3_600
        assert meetings.get(ADA, ids[-1])
        now[0] += 1
        with pytest.raises(NotFoundError):
            meetings.get(ADA, ids[-1])
        assert meetings.list(ADA) == ()

    asyncio.run(work())
