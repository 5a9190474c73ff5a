from pathlib import Path

import httpx2
import pytest
from tests.served import serving

from chapterhouse.interfaces.api import door
from chapterhouse.interfaces.api.state import ServerOptions
from chapterhouse.library import Library


def test_every_answer_has_the_headers_of_the_door(tmp_path: Path) -> None:
    with Library.open(tmp_path):
        pass
    with serving(tmp_path) as served, served.client(served.owner_key) as client:
        answers = [client.get(path) for path in ("/api/health", "/api/documents/", "/api/nothing")]
        assert [one.status_code for one in answers] == [200, 200, 404]
        for one in answers:
            assert one.headers["cache-control"] == "no-store"
            assert one.headers["x-content-type-options"] == "nosniff"
        assert len({one.headers["x-request-id"] for one in answers}) == 3


def test_who_comes_too_often_is_told_when_to_come_again(tmp_path: Path) -> None:
    with Library.open(tmp_path):
        pass
    options = ServerOptions(starts_workers=False, per_second=0.1, burst=2)
    with serving(tmp_path, options) as served, served.client() as client:
        answers = [client.get("/api/health") for _ in range(3)]
        assert [one.status_code for one in answers] == [200, 200, 429]
        assert 1 <= int(answers[-1].headers["retry-after"]) <= 10


def test_a_body_over_the_limit_is_refused_and_recorded_requests_are_those_refused(
    tmp_path: Path,
) -> None:
    with Library.open(tmp_path):
        pass
    with serving(tmp_path) as served:
        key = served.key("read")
        with served.client(key) as client:
            big = client.post("/api/ask", content=b"[" + b" " * (4 * 2**20))
            assert big.status_code == 413
            assert client.get("/api/keys").status_code == 403
        (entry,) = served.access.entries(actor=f"key {key[:11]}")
        assert (entry.action, entry.outcome.value) == ("GET /api/keys", "refused")


def test_a_stream_ends_when_its_key_is_revoked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door, "_CHECK_SECONDS", 0.0)
    with Library.open(tmp_path) as library, serving(tmp_path) as served:
        job = library.documents.reprocess_later()
        key = served.key("read")
        with (
            served.client(key) as client,
            client.stream("GET", f"/api/jobs/{job.id}/events") as got,
        ):
            lines = got.iter_lines()
            assert next(lines).startswith("event:")
            (known,) = served.access.keys()
            served.access.revoke_key(known.id, by="test")
            library.jobs.cancel(job.id)
            with pytest.raises(httpx2.RemoteProtocolError):
                list(lines)
