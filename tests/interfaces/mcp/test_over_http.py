"""Who may call over HTTP: raw requests to the real server, and the rules by themselves."""

import asyncio
import http.client
import json
from collections.abc import Mapping, MutableMapping
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.errors import RefusedError, UsageError
from chapterhouse.interfaces.mcp import over_http

from .conftest import Built, http_server

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    },
}


def status(
    address: str, headers: Mapping[str, str], path: str = "/mcp", method: str = "POST"
) -> int:
    """Send a request with just these headers beside those of its content."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=10)
    body = json.dumps(INITIALIZE).encode()
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        content = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Content-Length": str(len(body)),
        }
        for name, value in {**content, **headers}.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        return connection.getresponse().status
    finally:
        connection.close()


def test_loopback_names_with_the_port_may_call(served: str) -> None:
    port = urlsplit(served).port
    for host in ("127.0.0.1", "localhost", "LOCALHOST", "[::1]"):
        assert status(served, {"Host": f"{host}:{port}"}) == 200
        origin = f"http://{host}:{port}"
        assert status(served, {"Host": f"{host}:{port}", "Origin": origin}) == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "localhost",
        "127.0.0.1:1",
        "localhost.evil.example:{port}",
        "127.0.0.1:{port}.evil.example",
        "127.0.0.1:{port}@evil.example",
        "0.0.0.0:{port}",
        "",
    ],
)
@pytest.mark.parametrize("path", ["/mcp", "/", "/elsewhere"])
def test_a_foreign_host_is_refused_everywhere(served: str, host: str, path: str) -> None:
    named = host.format(port=urlsplit(served).port)
    assert status(served, {"Host": named}, path) == 421


def test_a_request_without_a_host_is_refused(served: str) -> None:
    assert status(served, {}) in {400, 421}


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "https://127.0.0.1:{port}",
        "http://127.0.0.1",
        "http://127.0.0.1:1",
        "http://localhost:{port}.evil.example",
        "null",
        "",
    ],
)
@pytest.mark.parametrize("method", ["POST", "GET", "DELETE", "OPTIONS"])
def test_a_foreign_origin_is_refused_by_every_method(served: str, origin: str, method: str) -> None:
    port = urlsplit(served).port
    headers = {"Host": f"127.0.0.1:{port}", "Origin": origin.format(port=port)}
    assert status(served, headers, method=method) == 403


def test_a_refused_request_reaches_nothing() -> None:
    reached = []
    sent: list[MutableMapping[str, Any]] = []

    async def application(scope: object, _receive: object, _send: object) -> None:
        reached.append(scope)

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async def receive() -> MutableMapping[str, Any]:
        raise AssertionError("the body was read")

    async def asked(headers: list[tuple[bytes, bytes]]) -> None:
        scope = {"type": "http", "headers": headers}
        await over_http.guard(application, over_http.admission(8431, (), ()))(scope, receive, send)

    asyncio.run(asked([(b"host", b"evil.example"), (b"host", b"localhost:8431")]))
    assert reached == []
    assert sent[0]["status"] == 421
    asyncio.run(asked([(b"host", b"LocalHost:8431")]))
    assert len(reached) == 1


def test_names_that_were_allowed_may_call(built: Built) -> None:
    options = ["--allow-host", "library.example.org", "--allow-origin", "http://app.example:6274/"]
    with http_server(built, *options) as address:
        port = urlsplit(address).port
        assert status(address, {"Host": "library.example.org"}) == 200
        assert status(address, {"Host": f"library.example.org:{port}"}) == 200
        assert status(address, {"Host": "example.org"}) == 421
        host = f"127.0.0.1:{port}"
        assert status(address, {"Host": host, "Origin": "http://app.example:6274"}) == 200
        assert status(address, {"Host": host, "Origin": "http://app.example"}) == 403
        asked = {
            "Host": host,
            "Origin": "http://app.example:6274",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "content-type",
        }
        assert status(address, asked, method="OPTIONS") == 200


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.7", "::", "library.example.org", ""])
def test_other_machines_are_only_let_in_by_name(host: str) -> None:
    with pytest.raises(RefusedError, match="no login yet") as raised:
        over_http.require_safe(host, (), ())
    assert "--allow-host" in raised.value.hint
    over_http.require_safe(host, ("library.example.org",), ())


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "[::1]", "127.9.9.9"])
def test_this_machine_needs_no_name(host: str) -> None:
    over_http.require_safe(host, (), ())


@pytest.mark.parametrize("name", ["*", "a/b", "http://x", "", "x y", "me@x"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="no host"):
        over_http.require_safe("127.0.0.1", (name,), ())


@pytest.mark.parametrize("origin", ["*", "localhost:1", "null", "http://", "ftp://x"])
def test_an_origin_that_is_none_is_refused(origin: str) -> None:
    with pytest.raises(UsageError, match="no origin"):
        over_http.require_safe("127.0.0.1", (), (origin,))


@given(st.text(), st.text())
def test_only_what_is_listed_is_admitted(host: str, origin: str) -> None:
    admitted = over_http.admission(8431, (), ())
    refused = over_http.refusal([host], [origin], admitted)
    known = host.strip().lower() in admitted.hosts and origin.strip().lower() in admitted.origins
    assert (refused is None) == known
