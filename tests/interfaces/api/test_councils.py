import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.models.chat_server import Reply, chat_server
from tests.served import QUESTION, Served, serving

from chapterhouse.interfaces.api.state import ServerOptions

STEPS = ("round-began", "spoke", "round-ended")


@pytest.fixture(scope="module")
def served_board(board_copy: Path) -> Iterator[Served]:
    with chat_server(lambda _: Reply('{"position": "It may be settled. [1]"}')) as server:
        with (board_copy / "chapterhouse.toml").open("a") as settings:
            settings.write(
                f'[models.tiny]\nengine = "openai"\nmodel = "m"\nbase_url = "{server.url}"\n'
            )
        with serving(board_copy) as found:
            yield found


@pytest.fixture(scope="module")
def key(served_board: Served) -> str:
    return served_board.key("read")


@pytest.fixture
def client(served_board: Served, key: str) -> Iterator[httpx2.Client]:
    with served_board.client(key) as opened:
        yield opened


def events(client: httpx2.Client, meeting: str, last: int = 0) -> list[dict[str, Any]]:
    headers = {"Last-Event-ID": str(last)} if last else {}
    return parse(client.get(f"/api/meetings/{meeting}/events", headers=headers).text)


def parse(stream: str) -> list[dict[str, Any]]:
    found = []
    for block in stream.strip().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
        found.append({**fields, "data": json.loads(fields["data"])})
    return found


def begin(client: httpx2.Client, **more: Any) -> str:
    body = {"question": QUESTION, **more}
    begun = client.post("/api/councils/storm-board/meetings", json=body)
    assert begun.status_code == 202, begun.text
    assert begun.json()["state"] == "open"
    return str(begun.json()["id"])


def test_councils_are_listed_and_shown(client: httpx2.Client) -> None:
    listed = client.get("/api/councils").json()["councils"]
    assert [(one["slug"], one["usable"]) for one in listed] == [
        ("broken", False),
        ("storm-board", True),
    ]
    assert client.get("/api/councils/storm-board").json() == listed[1]
    assert client.get("/api/councils/storm").status_code == 404  # the beginning of a name is none
    refused = client.post("/api/councils/broken/meetings", json={"question": QUESTION})
    assert refused.status_code == 400


def test_a_meeting_is_followed_read_again_and_gone_on_with(client: httpx2.Client) -> None:
    meeting = begin(client, model="tiny")
    first = events(client, meeting)
    assert [one["id"] for one in first] == [str(number) for number in range(1, len(first) + 1)]
    assert {one["event"] for one in first} >= set(STEPS)
    assert first[-1]["event"] == "minutes"
    spoke = [one["data"] for one in first if one["event"] == "spoke"]
    assert {one["member"] for one in spoke} >= {"maria", "tom"}
    assert all(one["turn"] for one in spoke)
    shown = client.get(f"/api/meetings/{meeting}").json()
    assert (shown["state"], shown["problem"]) == ("done", None)
    assert shown["minutes"] == first[-1]["data"]
    assert all(one["verified"] for one in shown["minutes"]["citations"])
    lasting = [one for one in first if one["event"] != "text"]  # which is dropped in the end
    assert events(client, meeting) == lasting
    assert events(client, meeting, last=3) == [one for one in lasting if int(one["id"]) > 3]
    listed = client.get("/api/meetings").json()["meetings"]
    assert listed[0]["id"] == meeting
    assert "minutes" not in listed[0]
    invalid = client.get(f"/api/meetings/{meeting}/events", headers={"Last-Event-ID": "x"})
    assert invalid.status_code == 422


def test_a_meeting_that_fails_says_why(client: httpx2.Client) -> None:
    meeting = begin(client, model="nobody")
    (last,) = events(client, meeting)
    assert last["event"] == "error"
    shown = client.get(f"/api/meetings/{meeting}").json()
    assert (shown["state"], shown["minutes"]) == ("failed", None)
    assert shown["problem"] == last["data"]
    assert shown["problem"]["status"] == 400
    again = client.post(f"/api/meetings/{meeting}/cancel").json()  # which changes nothing
    assert again == shown


def test_a_meeting_is_cancelled(client: httpx2.Client, served_board: Served) -> None:
    places = served_board.state.workload.asking
    for one in range(4):
        served_board.run(places.acquire_on_behalf_of(one))  # so that the meeting waits
    try:
        meeting = begin(client)
        cancelled = client.post(f"/api/meetings/{meeting}/cancel").json()
    finally:
        for one in range(4):
            served_board.loop.call_soon_threadsafe(places.release_on_behalf_of, one)
    assert cancelled["state"] == "cancelled"
    assert cancelled["problem"]["detail"] == "The meeting was cancelled."
    (last,) = events(client, meeting)
    assert (last["event"], last["data"]) == ("error", cancelled["problem"])


def test_nothing_is_remembered_unless_the_server_remembers(
    client: httpx2.Client, board_copy: Path
) -> None:
    events(client, begin(client))
    assert not (board_copy / "councils" / "storm-board" / "meetings").exists()


def test_a_meeting_is_its_callers_alone(
    served_board: Served, client: httpx2.Client, key: str
) -> None:
    meeting = begin(client)
    events(client, meeting)
    for secret, workspace in ((key, "other"), (served_board.key("admin"), "default")):
        with served_board.client(secret, workspace) as other:
            for suffix, method in (("", "GET"), ("/events", "GET"), ("/cancel", "POST")):
                assert other.request(method, f"/api/meetings/{meeting}{suffix}").status_code == 404
            assert other.get("/api/meetings").json() == {"meetings": []}


def test_a_server_with_a_memory_remembers_and_one_that_stops_says_so(
    board: Path, tmp_path: Path
) -> None:
    home = shutil.copytree(board, tmp_path / "home")
    options = ServerOptions(remember=True, starts_workers=False)
    remembered = home / "councils" / "storm-board" / "meetings"
    with ExitStack() as stack:
        with serving(home, options) as served:
            client = stack.enter_context(served.client(served.key("read")))
            events(client, begin(client, remember=False))
            assert not remembered.exists()
            events(client, begin(client))
            assert remembered.exists()
            for one in range(4):
                served.run(served.state.workload.asking.acquire_on_behalf_of(one))
            follow = client.stream("GET", f"/api/meetings/{begin(client)}/events")
            response = stack.enter_context(follow)
        assert [one["event"] for one in parse(response.read().decode())] == ["stopped"]


def test_personas_are_listed_and_shown(served_board: Served) -> None:
    with served_board.client(served_board.key("read")) as client:
        listed = client.get("/api/personas").json()["personas"]
        assert [(one["slug"], one["documents"]) for one in listed] == [("maria", 1), ("tom", 1)]
        assert client.get("/api/personas/tom").json() == listed[1]
        assert client.get("/api/personas/to").status_code == 404  # the beginning of a name
