"""MCP in the server, called by the SDK's own client: each caller has what is theirs."""

import asyncio
from typing import Any, Literal

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from tests.served import Served

from chapterhouse.library import Library

QUESTION = {"query": "when does the ferry leave the harbour, and what is the toll of the bridge"}
Mode = Literal["legacy", "auto"]


async def passages(
    served: Served, key: str, *, workspace: str = "", mode: Mode = "auto"
) -> list[dict[str, Any]]:
    """Return what a client finds."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    headers |= {"X-Workspace": workspace} if workspace else {}
    async with httpx2.AsyncClient(headers=headers) as http:
        transport = streamable_http_client(f"{served.url}/mcp", http_client=http)
        async with Client(transport, mode=mode) as client:
            result = await client.call_tool("search_documents", QUESTION)
            assert not result.is_error, result.content
            found: list[dict[str, Any]] = (result.structured_content or {})["passages"]
            return found


def files(found: list[dict[str, Any]]) -> set[str]:
    return {one["source"].rpartition("/")[2] for one in found}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_client_of_either_protocol_searches_with_its_key(served: Served, mode: Mode) -> None:
    found = asyncio.run(passages(served, served.key("read"), mode=mode))
    assert files(found) == {"ferry.md", "tolls.md"}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_key_that_is_limited_to_a_shelf_finds_nothing_else(served: Served, mode: Mode) -> None:
    key = served.key("read", workspaces=("default",), shelves=("tolls",))
    assert files(asyncio.run(passages(served, key, mode=mode))) == {"tolls.md"}


def test_each_workspace_has_its_own(served: Served) -> None:
    with Library.open(served.home, "second") as library:
        library.documents.add_text("The ferry leaves the harbour at four.", title="Late ferry")
    key = served.key("read")
    first = asyncio.run(passages(served, key, workspace="default"))
    second = asyncio.run(passages(served, key, workspace="second"))
    assert files(first) == {"ferry.md", "tolls.md"}
    assert len(second) == 1
    assert "at four" in second[0]["text"]


def test_clients_at_the_same_time_get_what_each_may_see(served: Served) -> None:
    one = served.key("read", workspaces=("default",), shelves=("tolls",))
    every = served.key("read")

    async def together() -> list[list[dict[str, Any]]]:
        return await asyncio.gather(*(passages(served, key) for key in (one, every) * 4))

    found = [files(one) for one in asyncio.run(together())]
    assert found == [{"tolls.md"}, {"ferry.md", "tolls.md"}] * 4
