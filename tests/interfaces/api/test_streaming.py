import asyncio
from collections.abc import AsyncGenerator

import pytest
from fastapi.sse import ServerSentEvent

from chapterhouse.errors import NotFoundError
from chapterhouse.interfaces.api import streaming
from chapterhouse.interfaces.api.streaming import event_stream, with_pings


class _Events:
    """Numbers that come, after which nothing does, or an error; notes that it was ended."""

    def __init__(self, *numbers: int, error: Exception | None = None, waits: bool = False) -> None:
        self.numbers = numbers
        self.error = error
        self.waits = waits
        self.ended = False

    async def run(self) -> AsyncGenerator[int]:
        try:
            for number in self.numbers:
                yield number
            if self.error is not None:
                raise self.error
            if self.waits:
                await asyncio.sleep(60)
        finally:
            self.ended = True


def _shown(number: int) -> ServerSentEvent:
    return ServerSentEvent(event="number", data=number)


def _names(events: _Events, *, stops: bool = False) -> list[str | None]:
    async def read() -> list[str | None]:
        stopping = asyncio.Event()
        found = []
        async for event in event_stream(events.run(), _shown, stopping):
            found.append(event.event)
            if stops:
                stopping.set()
        return found

    return asyncio.run(read())


def test_a_stream_ends_with_its_work() -> None:
    events = _Events(1, 2)
    assert (_names(events), events.ended) == (["number", "number"], True)


def test_a_stream_says_why_its_work_failed() -> None:
    assert _names(_Events(1, error=NotFoundError("Gone."))) == ["number", "error"]


def test_a_stream_says_that_the_server_stops_and_ends_its_work() -> None:
    events = _Events(1, waits=True)
    assert (_names(events, stops=True), events.ended) == (["number", "stopped"], True)


def test_while_nothing_comes_a_comment_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "_QUIET_SECONDS", 0.01)
    go_on = asyncio.Event()

    async def lines() -> AsyncGenerator[str]:
        yield "a"
        await go_on.wait()
        yield "b"

    async def read() -> list[str]:
        found = []
        async for line in with_pings(lines()):
            found.append(line)
            if line.startswith(":"):
                go_on.set()
        return found

    found = asyncio.run(read())
    assert (found[0], found[-1]) == ("a", "b")
    assert set(found[1:-1]) == {": ping\n\n"}
