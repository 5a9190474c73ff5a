import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, Literal, cast

import pytest
from mcp import Client
from mcp.server import Server

from chapterhouse.interfaces.mcp.server import build_server
from chapterhouse.interfaces.service import Service
from chapterhouse.settings import Settings


def server_of(**facets: Any) -> Server[dict[str, Any]]:
    library = cast("Any", SimpleNamespace(settings=Settings(), **facets))
    service = Service(lambda: nullcontext(library))
    return build_server(lambda _: service, remember=False)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_call_that_is_given_up_stops_its_model(mode: Literal["legacy", "auto"]) -> None:
    begun, stopped = threading.Event(), threading.Event()

    async def events(_question: str, **_options: object) -> AsyncIterator[None]:
        begun.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            stopped.set()
            raise
        yield

    async def given_up() -> None:
        server = server_of(answers=SimpleNamespace(events=events))
        async with Client(server, mode=mode) as client:
            call = asyncio.create_task(client.call_tool("ask", {"question": "Why?"}))
            await asyncio.to_thread(begun.wait, 10)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            assert await asyncio.to_thread(stopped.wait, 10)
            assert (await client.list_tools()).tools

    asyncio.run(given_up())


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_failure_that_nobody_foresaw_is_named_and_no_more(
    mode: Literal["legacy", "auto"], caplog: pytest.LogCaptureFixture
) -> None:
    def search(*_arguments: object, **_options: object) -> None:
        raise ZeroDivisionError("secret of /home/ann")

    async def failing() -> str:
        server = server_of(search=SimpleNamespace(hits=search))
        async with Client(server, mode=mode) as client:
            result = await client.call_tool("search", {"query": "x"})
            assert result.is_error
            return str(result.content)

    told = asyncio.run(failing())
    assert "Unexpected ZeroDivisionError" in told
    assert "secret" not in told
    assert "secret" in caplog.text
    assert "Traceback" not in caplog.text
