"""What `--json` prints, HTTP and MCP send the same values, by the same keys."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from tests.served import QUESTION, Served

from chapterhouse.interfaces.cli import main

# What only the owner of this machine sees, and what HTTP adds to a document.
OWN = {"path", "shelf", "config", "prose", "chair", "folders", "census", "current"}
ADDED = {"tags", "ingested", "reservations"}


def keys(value: object, path: str = "") -> set[str]:
    if isinstance(value, Mapping):
        inside = (keys(one, f"{path}.{name}") for name, one in value.items())
        return {f"{path}.{name}" for name in value if name not in ADDED}.union(*inside)
    if isinstance(value, list):
        return set[str]().union(*(keys(one, path) for one in value))
    return set()


def test_search_answers_personas_and_councils_have_the_same_keys(
    served_board: Served, capfd: pytest.CaptureFixture[str]
) -> None:
    def printed(*arguments: str) -> Any:
        main([*arguments, "--json", "--home", str(served_board.home)])
        return json.loads(capfd.readouterr().out)["data"]

    with served_board.client(served_board.key("read")) as client:
        for route, body, command in (
            ("/api/documents/search", {"query": QUESTION}, ("search", QUESTION)),
            ("/api/ask", {"question": QUESTION}, ("ask", QUESTION)),
        ):
            sent = client.post(route, json=body).json()
            assert keys(sent) == keys(printed(*command)), route
        for kind, slug in (("persona", "maria"), ("council", "storm-board")):
            listed = client.get(f"/api/{kind}s").json()[f"{kind}s"]
            assert keys(listed) == keys(printed(kind, "list"))
            shown, mine = client.get(f"/api/{kind}s/{slug}").json(), printed(kind, "show", slug)
            assert shown == {name: one for name, one in mine.items() if name not in OWN}
