import logging
from pathlib import Path

import pytest
from tests.served import Served, serving

from chapterhouse.errors import RefusedError
from chapterhouse.library import Library
from chapterhouse.types import Scope


def test_a_key_of_a_persona_that_was_removed_does_not_reach_one_with_a_longer_name(
    tmp_path: Path,
) -> None:
    with Library.open(tmp_path / "home") as library:
        made = library.personas.create("ada-two")
        (made.rag / "gulls.md").write_text("# Gulls\n\nGulls nest on the pier.\n")
        library.personas.refresh("ada-two")
    with serving(tmp_path / "home") as served:
        for name, number in (("ada", 0), ("ada-two", 1)):
            with served.client(served.key("read", personas=(name,))) as client:
                assert len(client.get("/api/documents/").json()["documents"]) == number
                ask = {"question": "Where do gulls nest?", "persona": "ada"}
                assert client.post("/api/ask", json=ask).status_code == (200 if number else 404)


def test_what_is_no_id_of_a_job_is_a_job_that_is_not_there(served: Served) -> None:
    with served.client(served.key("read")) as client:
        for job in ("j9999", "%00", "nothing", "j" + "9" * 40):
            assert client.get(f"/api/jobs/{job}").status_code == 404
            assert client.get(f"/api/jobs/{job}/events").status_code == 404


def test_who_has_no_key_gets_nothing_by_other_methods(served: Served) -> None:
    with served.client() as client:
        for method in ("HEAD", "OPTIONS", "TRACE", "PATCH", "ANYTHING"):
            assert client.request(method, "/api/documents/x").status_code == 401
            assert client.request(method, "/api/health").status_code == 401


def test_the_address_of_mcp_opens_no_stream_that_nothing_ends(served: Served) -> None:
    with served.client(served.key("read")) as client:
        for method in ("GET", "DELETE", "PUT"):
            answer = client.request(method, "/mcp", headers={"Accept": "text/event-stream"})
            assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def test_odd_addresses_open_nothing(served: Served) -> None:
    key = f"Authorization: Bearer {served.key('read')}"
    for path in (
        "/api//documents/",
        "//api/documents/",
        "/api/documents/..%2F..%2Fapi%2Fhealth",
        "/api/documents/%2e%2e/health",
        "/api/health//",
        "/api/health%00",
        "/API/health",
        "/api/health%2F..%2Fmetrics",
    ):
        assert _status(served, f"GET {path} HTTP/1.1") == 401, path
        assert _status(served, f"GET {path} HTTP/1.1", key) in {403, 404}, path


def test_requests_whose_end_is_unclear_are_refused(served: Served) -> None:
    for lines in (
        ("Content-Length: 3", "Content-Length: 30"),
        ("Content-Length: +3",),
        ("Transfer-Encoding: chunked, identity",),
        ("Transfer-Encoding : chunked",),
    ):
        assert _status(served, "POST /api/ask HTTP/1.1", *lines) in {400, 501}, lines


def test_a_body_with_two_lengths_is_read_in_one_way_only(served: Served) -> None:
    """What follows the chunks is another request, and needs a key of its own."""
    key = f"Authorization: Bearer {served.key('read')}"
    host = served.host
    with served.connected() as connection:
        connection.sendall(
            f"POST /api/documents/search HTTP/1.1\r\nHost: {host}\r\n{key}\r\n"
            "Content-Length: 40\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
            f"GET /api/metrics HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()
        )
        received = b""
        while piece := connection.recv(65_536):
            received += piece
    assert b"chapterhouse_requests_total" not in received
    assert b"HTTP/1.1 200" not in received


def test_a_file_name_writes_no_header(served: Served) -> None:
    with served.client(served.key("write")) as client:
        name = 'a"; x=\u2028\u00e4.md'
        data = b"# Gulls\n\nA gull flies.\n"
        sent = client.post("/api/documents/upload", files={"file": (name, data)})
        assert sent.status_code == 202
        body = (
            b'--b\r\nContent-Disposition: form-data; name="file"; filename="n\\\r\nX-Evil: 1.md"'
            b"\r\n\r\n# Owls\n\nAn owl.\n\r\n--b--\r\n"
        )
        media = {"Content-Type": "multipart/form-data; boundary=b"}
        client.post("/api/documents/upload", content=body, headers=media)
        served.work()
        for one in client.get("/api/documents/").json()["documents"]:
            answer = client.get(f"/api/documents/{one['id']}/content?original=1")
            assert answer.status_code == 200
            assert answer.headers["content-disposition"].isascii()
            assert answer.headers["content-disposition"].startswith("attachment; filename*=UTF-8''")
            assert "x-evil" not in answer.headers
            assert "sandbox" in answer.headers["content-security-policy"]


def test_an_error_that_nobody_foresaw_is_answered_and_printed_without_its_trace(
    served: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_: str) -> None:
        raise ZeroDivisionError("zqcontent of a document")

    caplog.set_level(logging.INFO)
    monkeypatch.setattr(served.state.workspaces, "borrow", broken)
    with served.client(served.key("read")) as client:
        answer = client.get("/api/documents/")
    assert answer.status_code == 500
    assert "zqcontent" not in answer.text
    assert "Exception in ASGI application" not in caplog.text
    assert "Traceback" not in caplog.text


def test_lone_halves_of_pairs_and_zeros_are_texts_like_others(served: Served) -> None:
    media = {"Content-Type": "application/json"}
    with served.client(served.key("write")) as client:
        for body in (
            b'{"query":"a","\\ud800":1}',
            b'{"query":"\\ud800 ferry"}',
            b'{"query":"\\u0000 ferry","shelves":["\\u0000"],"tags":["\\u0000"]}',
            b'{"query":"ferry","limit":' + b"9" * 5_000 + b"}",
            b'{"query":"ferry","min_similarity":NaN}',
            b"[" * 100_000,
            b'{"query":"ferry","limit":"5"}',
            b'{"query":"ferry","limit":true}',
        ):
            answer = client.post("/api/documents/search", content=body, headers=media)
            assert answer.status_code in {400, 404, 422}, body[:60]
            assert answer.headers["content-type"] == "application/problem+json"
        whole = b'{"query":"ferry","limit":5.0}'
        assert client.post("/api/documents/search", content=whole, headers=media).is_success


def test_a_location_that_no_system_has_is_refused(served: Served) -> None:
    with served.client(served.key()) as client:
        for location, more in (
            ("/tmp/\0", {}),
            ("drive:\0", {}),
            (f"/{'a' * 3_900}", {}),
            ("/tmp", {"maximum_bytes": True}),
            ("/tmp", {"maximum_bytes": 2**64}),
        ):
            answer = client.post("/api/sources", json={"location": location, **more})
            assert answer.status_code in {400, 422}, location


def _status(served: Served, *lines: str) -> int:
    """Send the head of a request as it stands; return the status of the answer."""
    start, *rest = lines
    with served.connected() as connection:
        head = "\r\n".join([start, f"Host: {served.host}", *rest, "Connection: close", "", ""])
        connection.sendall(head.encode())
        return int(connection.recv(100).split()[1])


def test_who_sees_a_part_has_nothing_of_what_is_of_the_whole(home: Path) -> None:
    with Library.open(home) as library:
        for facet in ("configuration", "sources", "cloud", "encoders", "jobs"):
            with pytest.raises(RefusedError):
                getattr(library.within(Scope.of(["tolls"])), facet)


def test_a_document_that_has_not_changed_is_answered_without_a_body(served: Served) -> None:
    with served.client(served.key("read")) as client:
        path = f"/api/documents/{client.get('/api/documents/').json()['documents'][0]['id']}"
        tag = client.get(path).headers["etag"]
        answer = client.get(path, headers={"If-None-Match": tag})
        assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", tag)
        assert client.get(path).status_code == 200  # on the same connection
