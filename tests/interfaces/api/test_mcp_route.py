import asyncio
from typing import Any, Literal

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from tests.served import Served

QUESTION = {"query": "when does the ferry leave the harbour, and what is the toll of the bridge"}
Mode = Literal["legacy", "auto"]


async def passages(
    served: Served, key: str, *, workspace: str = "", mode: Mode = "auto"
) -> list[dict[str, Any]]:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    headers |= {"X-Workspace": workspace} if workspace else {}
    async with httpx2.AsyncClient(headers=headers, timeout=60.0) as http:
        transport = streamable_http_client(f"{served.url}/mcp", http_client=http)
        async with Client(transport, mode=mode) as client:
            result = await client.call_tool("search_documents", QUESTION)
            assert not result.is_error, result.content
            found: list[dict[str, Any]] = (result.structured_content or {})["passages"]
            return found


def files(found: list[dict[str, Any]]) -> set[str]:
    return {one["source"].rpartition("/")[2] for one in found}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_client_of_either_protocol_finds_what_its_key_may_see(served: Served, mode: Mode) -> None:
    found = asyncio.run(passages(served, served.key("read"), mode=mode))
    assert files(found) >= {"ferry.md", "tolls.md"}
    key = served.key("read", workspaces=("default",), shelves=("tolls",))
    assert files(asyncio.run(passages(served, key, mode=mode))) == {"tolls.md"}


def test_clients_at_the_same_time_get_what_each_may_see(served: Served) -> None:
    one = served.key("read", workspaces=("default",), shelves=("tolls",))
    every = served.key("read")

    async def together() -> list[list[dict[str, Any]]]:
        return await asyncio.gather(*(passages(served, key) for key in (one, every) * 4))

    found = asyncio.run(together())
    limited, others = found[::2], found[1::2]
    assert [files(one) for one in limited] == [{"tolls.md"}] * 4
    assert all(files(one) >= {"ferry.md", "tolls.md"} for one in others)
