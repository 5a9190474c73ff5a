import socket
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.served import serving

from chapterhouse.interfaces import serving as serving_module
from chapterhouse.library import Library


@pytest.fixture
def home(tmp_path: Path) -> Path:
    page = tmp_path / "gulls.html"  # of which the text is short, and the file is not
    page.write_text(f"<p>Gulls nest on the pier.</p><!-- {'x' * 4_000_000} -->")
    with Library.open(tmp_path) as library:
        library.documents.add(page)
    return tmp_path


def test_who_says_nothing_takes_no_place_from_others(home: Path) -> None:
    with serving(home) as served, ExitStack() as opened:
        silent = [opened.enter_context(served.connected()) for _ in range(80)]
        for connection in silent:
            connection.sendall(b"GET /api/health HTTP/1.1\r\n")  # and no more
        with served.client() as client:
            assert client.get("/api/health").status_code == 200
        closed = [one for one in silent if _is_closed(one)]
        assert closed == silent[:17]  # those that waited longest; 64 of an address stay


def test_an_address_has_some_requests_at_a_time(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(home) as served, served.client(served.key("read")) as client:
        with Library.open(home) as library:
            path = f"/api/jobs/{library.documents.reprocess_later().id}/events"
        monkeypatch.setattr(serving_module._Protocol, "most_of_an_address", 2)
        with client.stream("GET", path), client.stream("GET", path):
            refused = client.get("/api/me")
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        until = time.monotonic() + 30
        while client.get("/api/me").status_code == 503:
            assert time.monotonic() < until


def test_who_does_not_read_an_answer_is_not_waited_for(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving_module, "_UNREAD_SECONDS", 0.2)
    with serving(home) as served, served.connected() as connection:
        with served.client(served.key("read")) as client:
            (document,) = client.get("/api/documents/").json()["documents"]
        key = served.key("read")
        connection.sendall(
            f"GET /api/documents/{document['id']}/content?original=1 HTTP/1.1\r\n"
            f"Host: {served.host}\r\n"
            f"Authorization: Bearer {key}\r\n\r\n".encode()
        )
        assert connection.recv(1)  # and no more
        until = time.monotonic() + 30
        while "in_progress 0\n" not in served.state.metrics.text():
            assert time.monotonic() < until
            time.sleep(0.01)


def _is_closed(connection: socket.socket) -> bool:
    connection.settimeout(0)
    try:
        return not connection.recv(1)
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True
