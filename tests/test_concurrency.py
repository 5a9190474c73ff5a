import asyncio
import os
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from contextvars import ContextVar

import pytest

from chapterhouse.concurrency import (
    compute_in_thread,
    run_in_thread,
    run_sync,
    stream,
    wait_for_threads,
)


def test_what_was_left_to_itself_is_waited_for_before_anything_is_closed() -> None:
    begun, may_end, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        may_end.wait(10)
        ended.set()

    async def leave() -> None:
        task = asyncio.create_task(run_in_thread(work))
        await asyncio.to_thread(begun.wait, 10)
        task.cancel()

    asyncio.run(leave())
    assert not wait_for_threads(0.01)
    assert not ended.is_set()
    may_end.set()
    assert wait_for_threads(10)
    assert ended.is_set()


def test_plain_code_runs_work_of_the_loop_also_beside_a_loop_that_runs_already() -> None:
    who = ContextVar("who", default="nobody")

    async def ask() -> tuple[str, str]:
        return await run_in_thread(who.get), threading.current_thread().name

    async def notebook() -> tuple[str, str]:
        who.set("maria")
        return run_sync(ask())

    here = threading.current_thread().name
    assert run_sync(ask()) == ("nobody", here)
    asked, thread = asyncio.run(notebook())
    assert asked == "maria"
    assert thread != here


@pytest.mark.parametrize("fails", [False, True])
def test_a_stream_yields_what_is_told_from_any_thread_and_then_the_result(fails: bool) -> None:  # noqa: FBT001 - a case
    async def work(emit: Callable[[str], None]) -> str:
        emit("first")
        await run_in_thread(lambda: emit("second"))
        if fails:
            raise ValueError("no")
        return "last"

    async def read(seen: list[str]) -> None:
        async for event in stream(work):
            seen.append(event)  # noqa: PERF401 - what came before the error counts

    seen: list[str] = []
    with pytest.raises(ValueError, match="no") if fails else nullcontext():
        asyncio.run(read(seen))
    assert seen == ["first", "second", *([] if fails else ["last"])]


def test_a_reader_that_goes_away_stops_the_work_in_its_thread() -> None:
    read, stopped = threading.Event(), threading.Event()

    def block(emit: Callable[[str], None]) -> None:
        read.wait(10)
        try:
            emit("nobody reads this")
        except KeyboardInterrupt:
            stopped.set()

    async def work(emit: Callable[[str], None]) -> str:
        emit("first")
        await run_in_thread(lambda: block(emit))
        return "last"

    async def leave() -> str:
        events = stream(work)
        async for event in events:
            await events.aclose()  # it is a generator
            return event
        return ""

    assert asyncio.run(leave()) == "first"
    read.set()
    assert stopped.wait(10)


def test_a_reader_that_goes_away_does_not_end_the_loop_where_tasks_of_the_work_tell_more() -> None:
    async def tell(emit: Callable[[int], None]) -> None:
        while True:
            emit(1)
            await asyncio.sleep(0)

    async def work(emit: Callable[[int], None]) -> int:
        async with asyncio.TaskGroup() as group:  # which cancels them one step later
            for _ in range(9):
                group.create_task(tell(emit))
        return 2

    async def read() -> str:
        for _ in range(20):
            events = stream(work)
            assert await anext(events) == 1
            await events.aclose()
        await asyncio.sleep(0)
        return "still here"

    assert asyncio.run(read()) == "still here"


def test_as_much_is_computed_at_once_as_there_are_processors() -> None:
    begun, most = [0], [0]
    lock = threading.Lock()

    def work() -> None:
        with lock:
            begun[0] += 1
            most[0] = max(most[0], begun[0])
        time.sleep(0.01)
        with lock:
            begun[0] -= 1

    async def many() -> None:
        await asyncio.gather(*(compute_in_thread(work) for _ in range(20)))

    asyncio.run(many())
    assert 1 <= most[0] <= (os.cpu_count() or 2)
