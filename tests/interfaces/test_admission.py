import http.client
from collections.abc import Mapping
from itertools import product
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers
from tests.served import Served

from chapterhouse.errors import NotFoundError, RefusedError, UsageError
from chapterhouse.interfaces.admission import admission, refusal, require_safe
from chapterhouse.interfaces.api.problems import Refusal
from chapterhouse.interfaces.api.routing import Credentials, credentials, workspace_of
from chapterhouse.types.access import AccessLevel, Grant


@pytest.fixture
def address(served: Served) -> str:
    return served.url


def status(
    address: str, headers: Mapping[str, str], path: str = "/api/health", method: str = "GET"
) -> int:
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=10)
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        return connection.getresponse().status
    finally:
        connection.close()


def test_loopback_names_with_the_port_may_call(address: str) -> None:
    port = urlsplit(address).port
    for host in ("127.0.0.1", "localhost", "LOCALHOST", "[::1]"):
        assert status(address, {"Host": f"{host}:{port}"}) == 200
        origin = f"http://{host}:{port}"
        assert status(address, {"Host": f"{host}:{port}", "Origin": origin}) == 200


def test_a_foreign_host_is_refused_everywhere(address: str) -> None:
    foreign = ("evil.example:{port}", "127.0.0.1:1", "localhost", "0.0.0.0:{port}", "")
    hidden = ("localhost.evil.example:{port}", "127.0.0.1:{port}.a", "127.0.0.1:{port}@a")
    for host in (*foreign, *hidden):
        named = host.format(port=urlsplit(address).port)
        for path in ["/api/health", "/mcp", "/", "/elsewhere"]:
            assert status(address, {"Host": named}, path) == 421, (named, path)
    assert status(address, {}) in {400, 421}


def test_a_foreign_origin_is_refused_by_every_method(address: str) -> None:
    port = urlsplit(address).port
    for origin, method, path in product(
        ("https://127.0.0.1:{port}", "http://127.0.0.1", "http://localhost:{port}.a", "null", ""),
        ["POST", "GET", "OPTIONS"],
        ["/api/health", "/mcp"],
    ):
        headers = {"Host": f"127.0.0.1:{port}", "Origin": origin.format(port=port)}
        assert status(address, headers, path, method) == 403, (origin, method, path)


def test_what_a_page_of_others_loads_without_an_origin_is_refused(address: str) -> None:
    host = {"Host": f"127.0.0.1:{urlsplit(address).port}"}
    for site, mode, answer in (
        ("cross-site", "no-cors", 403),  # an image of another page
        ("same-site", "no-cors", 403),  # of another port of this machine
        ("cross-site", "navigate", 200),  # somebody follows a link
        ("same-origin", "cors", 200),
        ("none", "navigate", 200),
    ):
        headers = {**host, "Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode}
        assert status(address, headers) == answer, (site, mode)


def test_names_that_were_allowed_may_call() -> None:
    admitted = admission(8431, ["Library.Example.org"], ["http://app.example:6274/"])
    for host in ("library.example.org", "LIBRARY.example.org:8431", "127.0.0.1:8431"):
        assert refusal([host], [], admitted) is None
        assert refusal([host], ["http://app.example:6274"], admitted) is None
        assert refusal([host], ["http://app.example"], admitted) == 403
    for host in ("example.org", "library.example.org:80"):
        assert refusal([host], [], admitted) == 421
    assert refusal(["library.example.org", "127.0.0.1:8431"], [], admitted) == 421


def test_other_machines_are_only_let_in_by_name_and_with_a_key() -> None:
    name = ("library.example.org",)
    for host in ("0.0.0.0", "192.168.1.7", "::", "library.example.org", ""):
        with pytest.raises(RefusedError, match="no key and no user") as raised:
            require_safe(host, name, (), is_configured=False)
        assert "key create" in raised.value.hint
        with pytest.raises(RefusedError, match="no name for them") as raised:
            require_safe(host, (), (), is_configured=True)
        assert "--allow-host" in raised.value.hint
        require_safe(host, name, (), is_configured=True)
    for host in ("127.0.0.1", "localhost", "::1", "[::1]", "127.9.9.9"):
        require_safe(host, (), (), is_configured=False)
    with pytest.raises(RefusedError, match=r"As library\.example\.org"):  # a proxy may lead here
        require_safe("127.0.0.1", name, (), is_configured=False)
    require_safe("127.0.0.1", name, (), is_configured=True)


def test_a_name_or_an_origin_that_is_none_is_refused() -> None:
    for name in ("*", "a/b", "http://x", "", "x y", "me@x"):
        with pytest.raises(UsageError, match="no host"):
            require_safe("127.0.0.1", (name,), (), is_configured=True)
    for origin in ("*", "localhost:1", "null", "http://", "ftp://x"):
        with pytest.raises(UsageError, match="no origin"):
            require_safe("127.0.0.1", (), (origin,), is_configured=False)


@given(st.text(), st.text())
def test_only_what_is_listed_is_admitted(host: str, origin: str) -> None:
    admitted = admission(8431, (), ())
    known = host.strip().lower() in admitted.hosts and origin.strip().lower() in admitted.origins
    assert (refusal([host], [origin], admitted) is None) == known


def test_credentials_come_in_headers_and_never_two_keys() -> None:
    cookie = {"Cookie": "a=b; chapterhouse_session=s"}
    for headers, expected in (
        ({}, Credentials("", "")),
        ({"Authorization": "Bearer  k "}, Credentials("k", "")),
        ({"Authorization": "bearer k", "X-API-Key": "k"}, Credentials("k", "")),
        ({"Authorization": "Basic k"}, Credentials("", "")),
        (cookie, Credentials("", "s")),
    ):
        assert credentials(Headers(headers)) == expected
    with pytest.raises(Refusal) as caught:
        credentials(Headers({"Authorization": "Bearer a", "X-API-Key": "b"}))
    assert caught.value.status == 400


def _grant(*workspaces: str, **limits: tuple[str, ...]) -> Grant:
    return Grant("key", AccessLevel.READ, workspaces or None, **limits)


def test_a_request_is_about_the_workspace_that_it_names_or_the_only_one() -> None:
    for grant, header, workspace in (
        (_grant(), "", "default"),
        (_grant("a"), "", "a"),
        (_grant("a", "default"), "", "default"),
        (_grant("a", "b"), "b", "b"),
        (_grant(), "anything", "anything"),
    ):
        assert workspace_of(Headers({"X-Workspace": header}), grant) == workspace
    for grant, header in ((_grant("a"), "b"), (_grant(), "../b")):
        with pytest.raises(NotFoundError):
            workspace_of(Headers({"X-Workspace": header}), grant)
