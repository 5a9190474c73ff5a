import asyncio
import threading
import time
from contextvars import ContextVar

import pytest

from chapterhouse.replying.threads import beside, settle


def test_what_blocks_gives_its_value_or_its_error() -> None:
    def fail() -> int:
        raise ValueError("no")

    assert asyncio.run(beside(lambda: 7)) == 7
    with pytest.raises(ValueError, match="no"):
        asyncio.run(beside(fail))


def test_nobody_waits_for_what_hangs() -> None:
    release = threading.Event()

    async def cancelled() -> None:
        waiting = asyncio.ensure_future(beside(lambda: release.wait(60)))
        await asyncio.sleep(0.01)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(cancelled())  # returns although the work still hangs
    release.set()


def test_the_loop_goes_on_meanwhile() -> None:
    async def both() -> list[str]:
        told: list[str] = []
        waiting = asyncio.ensure_future(beside(lambda: time.sleep(0.2)))
        await asyncio.sleep(0)
        told.append("meanwhile")
        await waiting
        return [*told, "then"]

    assert asyncio.run(both()) == ["meanwhile", "then"]


def test_it_runs_in_the_context_of_its_caller() -> None:
    who = ContextVar("who", default="nobody")

    async def ask() -> str:
        who.set("maria")
        return await beside(who.get)

    assert asyncio.run(ask()) == "maria"


def test_what_was_left_to_itself_is_waited_for_before_anything_is_closed() -> None:
    begun, may_end, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        may_end.wait(10)
        ended.set()

    async def leave() -> None:
        task = asyncio.create_task(beside(work))
        await asyncio.to_thread(begun.wait, 10)
        task.cancel()

    asyncio.run(leave())
    assert not settle(0.01)
    assert not ended.is_set()
    may_end.set()
    assert settle(10)
    assert ended.is_set()
