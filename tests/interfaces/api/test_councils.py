import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.served import QUESTION, Served, make_board

from chapterhouse.library import Library

STEPS = ("round-began", "spoke", "round-ended")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a council that can meet, one that cannot, and another workspace."""
    home = tmp_path_factory.mktemp("board") / "home"
    make_board(home)
    (home / "councils" / "broken").mkdir()
    (home / "councils" / "broken" / "council.json").write_text("{")
    with Library.open(home, "other"):
        return home


@pytest.fixture(scope="module")
def key(served: Served) -> str:
    return served.key("read")


@pytest.fixture
def client(served: Served, key: str) -> Iterator[httpx2.Client]:
    with served.client(key) as opened:
        yield opened


def events(client: httpx2.Client, meeting: str, last: int = 0) -> list[dict[str, Any]]:
    """Return the events of a meeting until its stream ends."""
    headers = {"Last-Event-ID": str(last)} if last else {}
    text = client.get(f"/api/meetings/{meeting}/events", headers=headers).text
    found = []
    for block in text.strip().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
        found.append({**fields, "data": json.loads(fields["data"])})
    return found


def begin(client: httpx2.Client) -> str:
    begun = client.post("/api/councils/storm-board/meetings", json={"question": QUESTION})
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
    meeting = begin(client)
    first = events(client, meeting)
    assert [one["id"] for one in first] == [str(number) for number in range(1, len(first) + 1)]
    assert {one["event"] for one in first} >= set(STEPS)
    assert first[-1]["event"] == "minutes"
    spoke = next(one["data"] for one in first if one["event"] == "spoke")
    assert spoke["member"] == "maria"
    assert spoke["statement"]["claims"]
    shown = client.get(f"/api/meetings/{meeting}").json()
    assert (shown["state"], shown["problem"]) == ("done", None)
    assert shown["minutes"] == first[-1]["data"]
    assert shown["minutes"]["citations"][0]["verified"]
    assert events(client, meeting) == first
    assert events(client, meeting, last=3) == first[3:]
    listed = client.get("/api/meetings").json()["meetings"]
    assert listed[0]["id"] == meeting
    assert "minutes" not in listed[0]
    invalid = client.get(f"/api/meetings/{meeting}/events", headers={"Last-Event-ID": "x"})
    assert invalid.status_code == 422


def test_a_meeting_that_fails_says_why(client: httpx2.Client) -> None:
    body = {"question": QUESTION, "model": "nobody"}
    meeting = client.post("/api/councils/storm-board/meetings", json=body).json()["id"]
    (last,) = events(client, meeting)
    assert last["event"] == "error"
    shown = client.get(f"/api/meetings/{meeting}").json()
    assert (shown["state"], shown["minutes"]) == ("failed", None)
    assert shown["problem"] == last["data"]
    assert shown["problem"]["status"] == 400
    again = client.post(f"/api/meetings/{meeting}/cancel").json()  # which changes nothing
    assert again == shown


def test_a_meeting_is_cancelled(client: httpx2.Client, served: Served) -> None:
    places = served.state.workload.asking
    for _ in range(4):
        served.run(places.take())  # so that the meeting waits
    try:
        meeting = begin(client)
        cancelled = client.post(f"/api/meetings/{meeting}/cancel").json()
    finally:
        for _ in range(4):
            served.loop.call_soon_threadsafe(places.release)
    assert cancelled["state"] == "cancelled"
    assert cancelled["problem"]["detail"] == "The meeting was cancelled."
    (last,) = events(client, meeting)
    assert (last["event"], last["data"]) == ("error", cancelled["problem"])


def test_nothing_is_remembered_unless_the_server_remembers(
    client: httpx2.Client, home: Path
) -> None:
    events(client, begin(client))
    assert not (home / "councils" / "storm-board" / "meetings").exists()


def test_a_meeting_is_its_callers_alone(served: Served, client: httpx2.Client, key: str) -> None:
    meeting = begin(client)
    events(client, meeting)
    for other in (served.client(key, "other"), served.client(served.key("admin"))):
        with other:
            for suffix, method in (("", "GET"), ("/events", "GET"), ("/cancel", "POST")):
                foreign = other.request(method, f"/api/meetings/{meeting}{suffix}")
                missing = other.request(method, f"/api/meetings/{'0' * 32}{suffix}")
                assert foreign.status_code == missing.status_code == 404
                assert foreign.text.replace(meeting, "") == missing.text.replace("0" * 32, "")
            assert other.get("/api/meetings").json() == {"meetings": []}


def test_limited_keys_see_no_council(served: Served) -> None:
    with served.client(served.key("write", personas=("maria",))) as limited:
        for path in ("/api/councils", "/api/councils/storm-board", "/api/meetings"):
            assert limited.get(path).status_code == 403
