import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.interfaces.api.limits import InProgress, RateLimit, bounded
from chapterhouse.interfaces.api.problems import Refusal


@given(
    st.integers(1, 20),
    st.integers(1, 20),
    st.lists(st.floats(0, 5), min_size=1, max_size=60),
)
def test_nobody_gets_more_than_a_burst_and_what_the_time_brings(
    per_second: int, burst: int, pauses: list[float]
) -> None:
    now = 0.0
    limit = RateLimit(per_second, burst, lambda: now)
    for granted, pause in enumerate(pauses, 1):
        now += pause
        try:
            limit.take("ada")
        except Refusal as refusal:
            now += int(refusal.headers["Retry-After"])
            limit.take("ada")  # it was promised
        assert granted <= burst + per_second * now + 1e-6


def test_one_callers_haste_is_not_anothers() -> None:
    limit = RateLimit(1, 1, lambda: 0.0)
    limit.take("ada")
    limit.take("bo")
    with pytest.raises(Refusal):
        limit.take("ada")


def _received(pieces: Sequence[bytes], maximum: int) -> bytes:
    messages = iter(pieces)

    async def receive() -> dict[str, Any]:
        body = next(messages)
        return {"type": "http.request", "body": body, "more_body": body is not pieces[-1]}

    async def read() -> bytes:
        receive_bounded, found = bounded(receive, maximum, 5), b""
        while True:
            message = await receive_bounded()
            found += bytes(message["body"])
            if not message["more_body"]:
                return found

    return asyncio.run(read())


def test_a_body_of_the_limit_is_read_and_one_byte_more_is_not() -> None:
    assert _received([b"ab", b"cd"], 4) == b"abcd"
    with pytest.raises(Refusal) as caught:
        _received([b"ab", b"cde"], 4)
    assert caught.value.status == 413


def test_a_body_that_drips_is_not_waited_for_longer_than_its_size_explains() -> None:
    received = 0

    async def drip() -> dict[str, Any]:
        nonlocal received
        await asyncio.sleep(0.01)  # each piece is in time
        received += 1
        return {"type": "http.request", "body": b"x", "more_body": True}

    async def read() -> None:
        receive = bounded(drip, 10**6, 0.05)
        while True:
            await receive()

    with pytest.raises(Refusal) as caught:
        asyncio.run(read())
    assert caught.value.status == 408
    assert received <= 10


def test_what_is_under_way_is_counted_by_caller_and_one_large_thing_has_its_turn() -> None:
    progress = InProgress(10, "Wait.")
    progress.add("ada", 30)
    progress.add("bo", 6)
    progress.add("bo", 4)
    for name, amount in (("ada", 1), ("bo", 1)):
        with pytest.raises(Refusal) as caught:
            progress.add(name, amount)
        assert (caught.value.status, "Retry-After" in caught.value.headers) == (503, True)
    progress.end("ada", 30)
    progress.end("bo", 4)
    progress.add("ada", 10)
    progress.add("bo", 3)


def test_a_body_that_does_not_come_is_not_waited_for() -> None:
    async def receive() -> dict[str, Any]:
        await asyncio.sleep(60)
        return {}

    with pytest.raises(Refusal) as caught:
        asyncio.run(bounded(receive, 4, 0.01)())  # type: ignore[arg-type]
    assert caught.value.status == 408
