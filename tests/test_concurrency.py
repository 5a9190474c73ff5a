import asyncio
import os
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar

import pytest

from chapterhouse.concurrency import (
    PLACES,
    compute_in_thread,
    run_in_thread,
    run_limited,
    run_sync,
    stream,
    wait_for_threads,
)


def test_what_blocks_gives_its_value_or_its_error() -> None:
    def fail() -> int:
        raise ValueError("no")

    assert asyncio.run(run_in_thread(lambda: 7)) == 7
    with pytest.raises(ValueError, match="no"):
        asyncio.run(run_in_thread(fail))


def test_nobody_waits_for_what_hangs() -> None:
    release = threading.Event()

    async def cancelled() -> None:
        waiting = asyncio.ensure_future(run_in_thread(lambda: release.wait(60)))
        await asyncio.sleep(0.01)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(cancelled())  # returns although the work still hangs
    release.set()


def test_the_loop_goes_on_meanwhile() -> None:
    async def both() -> list[str]:
        told: list[str] = []
        waiting = asyncio.ensure_future(run_in_thread(lambda: time.sleep(0.2)))
        await asyncio.sleep(0)
        told.append("meanwhile")
        await waiting
        return [*told, "then"]

    assert asyncio.run(both()) == ["meanwhile", "then"]


def test_it_runs_in_the_context_of_its_caller() -> None:
    who = ContextVar("who", default="nobody")

    async def ask() -> str:
        who.set("maria")
        return await run_in_thread(who.get)

    assert asyncio.run(ask()) == "maria"


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


async def _named() -> str:
    await asyncio.sleep(0)
    return threading.current_thread().name


def test_it_runs_in_this_thread_where_no_loop_does() -> None:
    assert run_sync(_named()) == threading.current_thread().name


def test_it_runs_beside_a_loop_that_runs_already() -> None:
    async def notebook() -> str:
        return run_sync(_named())

    assert asyncio.run(notebook()) != threading.current_thread().name


def test_a_plain_caller_s_context_is_seen() -> None:
    who = ContextVar("who", default="nobody")

    async def ask() -> str:
        return who.get()

    async def notebook() -> str:
        who.set("maria")
        return run_sync(ask())

    assert asyncio.run(notebook()) == "maria"


def test_what_fails_there_fails_here() -> None:
    async def failing() -> None:
        await asyncio.sleep(0)
        raise LookupError("gone")

    async def notebook() -> None:
        run_sync(failing())

    with pytest.raises(LookupError, match="gone"):
        run_sync(failing())
    with pytest.raises(LookupError, match="gone"):
        asyncio.run(notebook())


def test_a_stream_yields_what_is_told_from_any_thread_and_then_the_result() -> None:
    async def work(emit: Callable[[str], None]) -> str:
        emit("first")
        await run_in_thread(lambda: emit("second"))
        return "last"

    async def read() -> list[str]:
        return [event async for event in stream(work)]

    assert asyncio.run(read()) == ["first", "second", "last"]


def test_what_work_raises_comes_after_its_events() -> None:
    async def work(emit: Callable[[str], None]) -> str:
        emit("first")
        raise ValueError("no")

    async def read(seen: list[str]) -> None:
        async for event in stream(work):
            seen.append(event)  # noqa: PERF401 - what came before the error counts

    seen: list[str] = []
    with pytest.raises(ValueError, match="no"):
        asyncio.run(read(seen))
    assert seen == ["first"]


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


def test_threads_are_used_again() -> None:
    async def twice() -> tuple[int, int]:
        first = await run_in_thread(threading.get_ident)
        assert wait_for_threads(10)
        return first, await run_in_thread(threading.get_ident)

    first, second = asyncio.run(twice())
    assert first == second


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


def test_a_few_work_at_a_time() -> None:
    lock, threes = threading.Lock(), threading.Barrier(PLACES, timeout=60)
    inside = most = 0

    def work() -> int:
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        threes.wait()  # fewer than three at a time would never get past it
        with lock:
            inside -= 1
        return 1

    async def all_of_them() -> list[int]:
        return await asyncio.gather(*(run_limited(work) for _ in range(3 * PLACES)))

    assert sum(asyncio.run(all_of_them())) == 3 * PLACES
    assert most == PLACES
    assert inside == 0


def test_who_hangs_and_is_not_waited_for_keeps_no_place() -> None:
    stuck = threading.Event()

    async def others_get_on() -> str:
        hung = [asyncio.create_task(run_limited(stuck.wait)) for _ in range(PLACES)]
        await asyncio.sleep(0.01)
        for task in hung:
            task.cancel()
        return await run_limited(lambda: "done")

    assert asyncio.run(others_get_on()) == "done"
    stuck.set()


def test_what_goes_wrong_is_raised_and_every_loop_has_places_of_its_own() -> None:
    def wrong() -> None:
        raise ValueError("wrong")

    for _ in range(2 * PLACES):
        with pytest.raises(ValueError, match="wrong"):
            asyncio.run(run_limited(wrong))
