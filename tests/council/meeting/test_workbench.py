"""A few members work at a time, and who is not waited for keeps no place."""

import asyncio
import threading

import pytest

from chapterhouse.council.meeting.workbench import at_bench

PLACES = 3


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
        return await asyncio.gather(*(at_bench(work) for _ in range(3 * PLACES)))

    assert sum(asyncio.run(all_of_them())) == 3 * PLACES
    assert most == PLACES
    assert inside == 0


def test_who_hangs_and_is_not_waited_for_keeps_no_place() -> None:
    stuck = threading.Event()

    async def others_get_on() -> str:
        hung = [asyncio.create_task(at_bench(stuck.wait)) for _ in range(PLACES)]
        await asyncio.sleep(0.01)
        for task in hung:
            task.cancel()
        return await at_bench(lambda: "done")

    assert asyncio.run(others_get_on()) == "done"
    stuck.set()


def test_what_goes_wrong_is_raised_and_every_loop_has_places_of_its_own() -> None:
    def wrong() -> None:
        raise ValueError("wrong")

    for _ in range(2 * PLACES):
        with pytest.raises(ValueError, match="wrong"):
            asyncio.run(at_bench(wrong))
