import asyncio
import errno
import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.served import Served, serving

from chapterhouse.ingest.uploads import Upload
from chapterhouse.interfaces.api import door
from chapterhouse.interfaces.api.limits import RateLimit, bounded
from chapterhouse.interfaces.api.problems import Refusal
from chapterhouse.interfaces.api.state import ServerOptions
from chapterhouse.library import Library
from chapterhouse.store.shared import SharedDatabase
from chapterhouse.types.access import AuditOutcome

STRANGER = {"Origin": "http://evil.example"}


def test_every_answer_has_the_headers_of_the_door(served: Served) -> None:
    with served.client(served.owner_key) as client:
        answers = [client.get(path) for path in ("/api/health", "/api/documents/", "/api/nothing")]
        assert [one.status_code for one in answers] == [200, 200, 404]
        for one in answers:
            assert one.headers["cache-control"] == "no-store"
            assert one.headers["x-content-type-options"] == "nosniff"
        assert len({one.headers["x-request-id"] for one in answers}) == 3
        empty = client.delete("/api/session")  # without a body there is no type of it
        assert (empty.status_code, "content-type" in empty.headers) == (204, False)


def test_a_body_over_the_limit_is_refused_and_recorded_requests_are_those_refused(
    served: Served,
) -> None:
    key = served.key("read")
    with served.client(key) as client:
        big = client.post("/api/ask", content=b"[" + b" " * (4 * 2**20))
        assert big.status_code == 413
        assert client.get("/api/keys").status_code == 403
    (entry,) = served.access.entries(actor=f"key {key[:11]}")
    assert (entry.action, entry.outcome.value) == ("GET /api/keys", "refused")


def test_headers_are_few(served: Served) -> None:
    with served.client() as client:
        for headers in ({"X-Long": "x" * 16_384}, {f"X-{number}": "x" for number in range(100)}):
            assert client.get("/api/health", headers=headers).status_code in {400, 431}
        assert client.get("/api/health", headers={"X-Long": "x" * 10_000}).status_code == 200


def test_a_stream_on_which_nothing_happens_ends_when_its_key_is_revoked(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door, "_CHECK_SECONDS", 0.05)
    key = served.key("read")
    with Library.open(served.home) as library, served.client(key) as client:
        job = library.documents.reprocess_later()
        with client.stream("GET", f"/api/jobs/{job.id}/events") as got:
            lines = got.iter_lines()
            assert next(lines).startswith("event:")
            served.access.revoke_key(key[:11], by="test")
            with pytest.raises(httpx2.RemoteProtocolError):
                list(lines)


def test_large_answers_come_whole_and_only_some_at_a_time_to_a_caller(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(door, "_UNREAD_BYTES", 5_000_000)  # of servers that start now
    whole = f"<p>Gulls nest on the pier.</p><!-- {'x' * 2_400_000} -->".encode()
    (tmp_path / "gulls.html").write_bytes(whole)
    with Library.open(tmp_path) as library:
        library.documents.add(tmp_path / "gulls.html")
        (document,) = library.documents.list()
    with serving(tmp_path) as served, served.client(served.key("read")) as client:
        path = f"/api/documents/{document.id}/content?original=1"
        for _ in range(3):  # what was read is counted no more
            assert client.get(path).content == whole
        with ExitStack() as opened:
            streams = [
                opened.enter_context(client.stream("GET", path)).status_code for _ in range(8)
            ]
            assert streams.count(503) >= 5
            assert client.get("/api/me").status_code == 200
            with served.client(served.key("read")) as other:
                assert other.get(path).content == whole


def test_a_full_disk_is_no_fault_of_the_server(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Upload, "write", full)
    with served.client(served.key("write")) as client:
        answer = client.post("/api/documents/upload", files={"file": ("a.md", b"# A\n")})
        assert (answer.status_code, "retry-after" in answer.headers) == (503, True)
        assert "space" in answer.json()["detail"]


def test_what_anyone_and_strangers_may_ask_is_bounded_and_costs_no_caller_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door, "_PAUSE_SECONDS", 0.0)
    Library.open(tmp_path).close()
    options = ServerOptions(starts_workers=False, per_second=0.1, burst=50)
    with serving(tmp_path, options) as served:
        key = served.key("write")
        with served.client() as page, served.client(f"ch_00000000_{'x' * 43}") as guess:
            for client, headers, refused in ((page, STRANGER, 403), (guess, {}, 401)):
                got = [client.get("/api/me", headers=headers).status_code for _ in range(9)]
                assert got == [refused] * 5 + [429] * 4
            answers = [page.get("/api/health") for _ in range(60)]
            assert {one.status_code for one in answers[:50]} == {200}
            assert answers[-1].status_code == 429
            assert 1 <= int(answers[-1].headers["retry-after"]) <= 10
        with served.client(key) as client:  # from the same address
            assert client.get("/api/me").status_code == 200
            body = {"text": "Gulls nest."}
            assert client.post("/api/documents/text", json=body).status_code == 201
        recorded = served.access.entries(1_000)
        assert sum(one.outcome is AuditOutcome.REFUSED for one in recorded) == 10
        done = [one for one in recorded if one.action == "document.text"]
        assert [one.at > 1_700_000_000 for one in done] == [True]


@given(st.integers(1, 20), st.integers(1, 20), st.lists(st.floats(0, 5), min_size=1, max_size=60))
def test_nobody_gets_more_than_a_burst_and_what_the_time_brings(
    per_second: int, burst: int, pauses: list[float]
) -> None:
    now = 0.0
    limit = RateLimit(SharedDatabase(), "requests", per_second, burst, lambda: now)
    for granted, pause in enumerate(pauses, 1):
        now += pause
        try:
            limit.take("ada")
        except Refusal as refusal:
            now += int(refusal.headers["Retry-After"])
            limit.take("ada")  # it was promised
        assert granted <= burst + per_second * now + 1e-6


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
