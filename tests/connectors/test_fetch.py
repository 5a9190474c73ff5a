"""Fetching pages: what must never be connected to, and servers that do what servers do."""

import gzip
import ipaddress
import json
import re
import shutil
import socket
import socketserver
import ssl
import subprocess
import sys
import threading
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from chapterhouse.connectors.fetch import CODES, Fetcher, FetchLimits, FetchResult
from chapterhouse.connectors.urls import is_public
from chapterhouse.errors import RejectedError

Reply = bytes | Callable[[socket.socket], None]
LIMIT = 1_000_000
PAGE = b"<html><title>Ferry</title></html>"
# By kind: addresses that must not be asked for, and under "answer" what a name resolves to.
HOSTILE = json.loads(Path(__file__).with_name("hostile_addresses.json").read_text())
attempted: list[tuple[Any, ...]] = []


def _record(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.connect":
        attempted.append(arguments[1])
    elif event in {"socket.sendto", "socket.sendmsg"}:
        attempted.append(("sent without a connection", arguments[1]))


sys.addaudithook(_record)


class Site:
    """A server on loopback that answers each path with the bytes it is told."""

    def __init__(self, address: str, context: ssl.SSLContext | None = None) -> None:
        self.routes: dict[str, Reply] = {}
        self.asked: list[dict[str, str]] = []  # headers of each request
        self.connections = 0
        self.context = context
        self.names: list[str | None] = []  # for which hosts TLS was begun
        site = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                site.connections += 1
                with suppress(OSError):  # whoever asked may leave at any time
                    site.answer(self.request)

        class Server(socketserver.ThreadingTCPServer):
            address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
            daemon_threads = True
            block_on_close = False
            request_queue_size = 64

        self.server = Server((address, 0), Handler)
        self.address = address
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def answer(self, plug: socket.socket) -> None:
        if self.context is not None:
            plug = self.context.wrap_socket(plug, server_side=True)
        with plug:
            head = b""
            while b"\r\n\r\n" not in head:
                part = plug.recv(65_536)
                head += part
                if not part or not head.startswith(b"GET "):
                    return
            first, *lines = head.decode().split("\r\n")
            pairs = (line.split(": ", 1) for line in lines if line)
            self.asked.append({name.lower(): value for name, value in pairs})
            reply = self.routes.get(first.split(" ")[1], answer(b"no", status="404 Not Found"))
            reply(plug) if callable(reply) else plug.sendall(reply)

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def answer(
    body: bytes = PAGE, *headers: str, status: str = "200 OK", kind: str = "text/html"
) -> bytes:
    lines = [f"HTTP/1.1 {status}", *headers]
    if kind:
        lines.append(f"Content-Type: {kind}")
    if not any(header.startswith(("Content-Length", "Transfer")) for header in headers):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def packed(body: bytes, encoding: str = "gzip") -> bytes:
    return answer(body, f"Content-Encoding: {encoding}")


def chunked(parts: Sequence[bytes]) -> bytes:
    body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
    return answer(body, "Transfer-Encoding: chunked")


def redirect(location: str, status: int = 302) -> bytes:
    return answer(b"", f"Location: {location}", status=f"{status} Moved")


def endless(head: bytes, part: bytes, pause: float = 0.0) -> Callable[[socket.socket], None]:
    def reply(plug: socket.socket) -> None:
        plug.sendall(head)
        for _ in range(100_000):
            plug.sendall(part)
            time.sleep(pause)

    return reply


class World:
    """An internet with one public server, the door, and one that must not be reached, the sink.

    Every name that is not told otherwise leads to the sink.
    """

    def __init__(self, door: Site, sink: Site) -> None:
        self.door, self.sink = door, sink
        self.names: dict[str, list[Sequence[str]]] = {"door.example": [(door.address,)]}
        self.looked_up: list[str] = []

    def resolve(self, host: str, _port: int) -> Sequence[str]:
        self.looked_up.append(host)
        answers = self.names.get(host, [("127.0.0.1",)])
        return answers.pop(0) if len(answers) > 1 else answers[0]

    def permits(self, address: str) -> bool:
        return address == self.door.address or is_public(address)

    def fetcher(self, **changes: Any) -> Fetcher:
        limits = FetchLimits(bytes=LIMIT, seconds=10.0, connect_seconds=2.0)
        values: dict[str, Any] = {"resolve": self.resolve, "permits": self.permits}
        return Fetcher(**{**values, "limits": limits, **changes})

    def url(self, path: str = "/page", name: str = "door.example") -> str:
        return f"http://{name}:{self.door.port}{path}"

    def fetch(self, reply: Reply, *, etag: str = "", **changes: Any) -> FetchResult:
        self.door.routes["/page"] = reply
        return self.fetcher(**changes).fetch(self.url(), etag=etag)

    def written(self, text: str) -> str:
        return text.replace("{sink}", str(self.sink.port)).replace("{door}", str(self.door.port))

    def require_untouched(self) -> None:
        """Nothing but the door was connected to: says the interpreter, and says the sink."""
        door = (self.door.address, self.door.port)
        assert [address for address in attempted if tuple(address[:2]) != door] == []
        assert self.sink.connections == 0


@pytest.fixture
def world() -> Iterator[World]:
    with socket.socket() as plug:
        try:
            plug.bind(("127.0.0.2", 0))
            second = "127.0.0.2"
        except OSError:  # macOS has one address of the older kind
            second = "::1"
    door, sink = Site(second), Site("127.0.0.1")
    sink.routes["/"] = answer(b"secret")
    attempted.clear()
    yield World(door, sink)
    door.close()
    sink.close()


def refusal(of: Callable[[], object], code: str) -> RejectedError:
    with pytest.raises(RejectedError) as caught:
        of()
    assert caught.value.code == code
    assert caught.value.message.endswith(".")
    return caught.value


# The guard --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", HOSTILE)
def test_nothing_forbidden_is_connected_to(world: World, kind: str) -> None:
    codes = (301, 302, 303, 307, 308) if kind == "redirect" else (0,)
    for written, code in ((written, code) for written in HOSTILE[kind] for code in codes):
        attempted.clear()
        world.looked_up.clear()
        address = "http://trap.example:{sink}/" if kind == "answer" else written
        world.names["trap.example"] = [written if kind == "answer" else ("127.0.0.1",)]
        address = world.written(address)
        if code:
            world.door.routes["/go"] = redirect(address, code)
            address = world.url("/go")
        refusal(partial(world.fetcher().fetch, address), "url-refused")
        world.require_untouched()
        assert len(attempted) == bool(code), address
        # The rest is refused as it is written, even where a resolver would have made sense of it.
        assert bool(world.looked_up) == (kind in {"answer", "redirect"}), address


def test_a_name_is_looked_up_once_and_the_answer_is_what_is_connected_to(world: World) -> None:
    url = world.url("/", "rebind.example")
    world.door.routes["/"] = answer()
    world.names["rebind.example"] = [(world.door.address,), ("127.0.0.1",)]
    assert world.fetcher().fetch(url).content == PAGE
    assert world.looked_up == ["rebind.example"]
    world.door.routes["/"] = redirect("/")  # a redirect to the same name is checked anew
    world.names["rebind.example"] = [(world.door.address,), ("127.0.0.1",)]
    refusal(lambda: world.fetcher().fetch(url), "url-refused")
    world.require_untouched()


@pytest.mark.parametrize(
    ("body", "header"),
    [
        (b"", "Refresh: 0; url=http://127.0.0.1:{sink}/"),
        (b'<meta http-equiv="refresh" content="0; url=http://127.0.0.1:{sink}/">', "X-A: b"),
        (b'<base href="http://127.0.0.1:{sink}/"><img src="x"><script src=x>', "X-A: b"),
        (b"", "Link: <http://127.0.0.1:{sink}/>; rel=preload"),
        (b"", "Location: http://127.0.0.1:{sink}/"),  # of a 200
        (b"", "Alt-Svc: h2='127.0.0.1:{sink}'"),
    ],
)
def test_nothing_else_in_an_answer_is_followed(world: World, body: bytes, header: str) -> None:
    assert world.fetch(answer(body, world.written(header))).content == body
    assert len(attempted) == 1
    world.require_untouched()


def test_with_the_guard_off_the_assertion_fails(world: World) -> None:
    world.door.routes["/go"] = redirect(f"http://127.0.0.1:{world.sink.port}/")
    assert world.fetcher(permits=lambda _: True).fetch(world.url("/go")).content == b"secret"
    with pytest.raises(AssertionError):
        world.require_untouched()


def test_the_standard_librarys_opinion_would_let_nat64_through(world: World) -> None:
    fetcher = world.fetcher(permits=lambda address: ipaddress.ip_address(address).is_global)
    with pytest.raises(pytest.fail.Exception, match="tried to connect"):
        fetcher.fetch(f"http://[64:ff9b::7f00:1]:{world.sink.port}/")


# What is sent ----------------------------------------------------------------------------------


def test_a_request_says_what_it_must_and_no_more(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{world.sink.port}")
    (tmp_path / ".netrc").write_text("machine door.example login a password b\n")
    (tmp_path / ".netrc").chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    fetcher = world.fetcher()
    world.door.routes["/page"] = answer(b"", "Set-Cookie: a=b", "Location: /b", status="302 Found")
    world.door.routes["/b"] = answer()
    for path in ("/page", "/b"):
        assert fetcher.fetch(world.url(path)).content == PAGE
    assert len(world.door.asked) == 3
    names = {"host", "user-agent", "accept", "accept-encoding", "connection"}
    for headers in world.door.asked:  # no cookie came back, no password of the environment went
        assert headers.keys() == names
        assert headers["host"] == f"door.example:{world.door.port}"
        assert (headers["user-agent"], headers["accept-encoding"]) == ("chapterhouse", "identity")
    world.require_untouched()


def test_what_has_not_changed_is_not_sent_again(world: World) -> None:
    date = "Tue, 06 Jan 2026 10:00:00 GMT"
    first = world.fetch(answer(PAGE, 'ETag: W/"a1"', f"Last-Modified: {date}"))
    assert (first.etag, first.last_modified, first.not_modified) == ('W/"a1"', date, False)
    world.door.routes["/page"] = answer(b"", 'ETag: W/"a2"', status="304 Not Modified")
    again = world.fetcher().fetch(world.url(), etag=first.etag, last_modified=date)
    assert again == FetchResult(first.url, first.url, etag='W/"a2"', not_modified=True)
    assert world.door.asked[1]["if-none-match"] == 'W/"a1"'
    assert world.door.asked[1]["if-modified-since"] == date


@pytest.mark.parametrize(
    "etag", ["a", '"a', '"a"\r\nX: y', '"a"\n', '"\x00"', '"é"', '"' + "a" * 300 + '"', '"a" "b"']
)
def test_marks_that_are_not_well_formed_are_neither_kept_nor_sent(world: World, etag: str) -> None:
    world.fetch(answer(), etag=etag)
    world.fetcher().fetch(world.url(), last_modified=etag)
    assert not any("if-" in " ".join(headers) for headers in world.door.asked)
    if etag.isascii() and etag.isprintable():
        page = world.fetch(answer(PAGE, f"ETag: {etag}", f"Last-Modified: {etag}"))
        assert (page.etag, page.last_modified) == ("", "")


# What comes back -------------------------------------------------------------------------------


def test_a_page_comes_with_what_is_known_of_it(world: World) -> None:
    world.door.routes["/new"] = answer(PAGE, kind='Text/HTML; Charset="ISO-8859-1"')
    page = world.fetch(redirect("new"))
    assert page.content == PAGE
    assert (page.url, page.final_url) == (world.url(), world.url("/new"))
    assert (page.content_type, page.charset) == ("text/html", "iso-8859-1")
    assert page.name.startswith("door-example-")
    assert page.name.endswith(".html")


def test_three_redirects_are_followed_and_no_fourth(world: World) -> None:
    for number in range(4):
        world.door.routes[f"/{number}"] = redirect(f"/{number + 1}", (301, 302, 303, 307)[number])
    world.door.routes["/4"] = answer()
    assert world.fetcher().fetch(world.url("/1")).content == PAGE
    world.door.asked.clear()
    refusal(lambda: world.fetcher().fetch(world.url("/0")), "url-redirects")
    assert len(world.door.asked) == 4


def test_a_location_that_is_no_address_is_refused(world: World) -> None:
    for headers, code in (
        (["Location: /a", "Location: /b"], "url-refused"),
        (["Location: a b"], "url-refused"),
        (["Location: \xff"], "url-status"),  # a letter like any other: that page is not there
    ):
        refusal(partial(world.fetch, answer(b"", *headers, status="302 Found")), code)


def test_other_answers_are_told_by_their_number(world: World) -> None:
    for status in (201, 204, 206, 300, 302, 304, 400, 401, 403, 404, 410, 429, 500, 503, 999):
        body = b"" if status in {204, 304} else PAGE
        error = refusal(partial(world.fetch, answer(body, status=f"{status} X")), "url-status")
        assert str(status) in error.message
        assert error.hint


@pytest.mark.parametrize(
    "kind",
    ["image/png", "application/octet-stream", "", "a", "text/html, text/plain", "x" * 300 + "/y"],
)
def test_types_that_are_not_read_are_refused_before_the_bytes_come(world: World, kind: str) -> None:
    sent = threading.Event()

    def reply(plug: socket.socket) -> None:
        plug.sendall(answer(b"", "Content-Length: 100", kind=kind))
        sent.wait(5)

    refusal(lambda: world.fetch(reply), "url-type")
    sent.set()


# Size ------------------------------------------------------------------------------------------


def test_a_page_may_be_as_large_as_the_limit(world: World) -> None:
    whole = b"x" * LIMIT
    for reply in (answer(whole), chunked([b"x" * 1_000] * 1_000), packed(gzip.compress(whole))):
        assert world.fetch(reply).content == whole
    for reply in (
        packed(gzip.compress(PAGE), "x-gzip"),
        packed(zlib.compress(PAGE), "Deflate"),
        packed(PAGE, "identity"),
        answer(PAGE + b"more", f"Content-Length: {len(PAGE)}"),
    ):
        assert world.fetch(reply).content == PAGE


_CLOSING = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
_CHUNKS = answer(b"", "Transfer-Encoding: chunked")


@pytest.mark.parametrize(
    "reply",
    [
        answer(b"x" * (LIMIT + 1)),
        answer(b"", "Content-Length: 99999999999999999"),
        chunked([b"x" * 1_000] * 1_001),
        packed(gzip.compress(b"x" * (LIMIT + 1))),
        packed(zlib.compress(b"x" * (LIMIT + 1)), "deflate"),
        packed(gzip.compress(b"") + b"x" * LIMIT),
        endless(_CLOSING, b"x" * 65_536),
        endless(_CHUNKS, b"10000\r\n" + b"x" * 65_536 + b"\r\n"),
    ],
    ids=["length", "said", "chunks", "gzip", "deflate", "behind gzip", "endless", "endless chunks"],
)
def test_a_page_above_the_limit_is_refused(world: World, reply: Reply) -> None:
    assert "1,000,000 bytes" in refusal(lambda: world.fetch(reply), "url-too-large").message


def test_a_bomb_is_not_unpacked(world: World) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(packer.compress(bytes(2**20)) for _ in range(200)) + packer.flush()
    tracemalloc.start()
    try:
        refusal(lambda: world.fetch(packed(bomb)), "url-too-large")
        assert tracemalloc.get_traced_memory()[1] < 8 * LIMIT
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        *((packed(PAGE, encoding), "url-type") for encoding in ("br", "gzip, gzip", "x")),
        (answer(PAGE, "Content-Type: text/plain"), "url-type"),  # two types are none
        (answer(b"", "Upgrade: websocket", status="101 Protocols", kind=""), "url-unreachable"),
        (answer(PAGE, f"Content-Length: {len(PAGE) + 1}"), "url-unreachable"),
        (chunked([PAGE])[:-3], "url-unreachable"),
        (packed(gzip.compress(PAGE)[:-9]), "url-unreachable"),
        (packed(PAGE), "url-unreachable"),
        (answer(PAGE, "Content-Length: 3", "Content-Length: 4"), "url-unreachable"),
        (answer(PAGE, "Content-Length: -1"), "url-unreachable"),
        (answer(b"zz\r\n", "Transfer-Encoding: chunked"), "url-unreachable"),
        (b"", "url-unreachable"),
        (b"hello\r\n\r\n", "url-unreachable"),
        (b"HTTP/1.1 200", "url-unreachable"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 300_000, "url-unreachable"),
    ],
)
def test_an_answer_that_is_cut_off_or_damaged_is_not_kept(
    world: World, reply: bytes, code: str
) -> None:
    refusal(lambda: world.fetch(reply), code)


# Time ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "part"),
    [
        (answer(b"", "Content-Length: 100000"), b"x"),
        (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (_CHUNKS, b"1\r\nx\r\n"),
    ],
    ids=["body", "headers", "continue", "chunks"],
)
def test_a_page_that_drips_is_given_up(world: World, head: bytes, part: bytes) -> None:
    reply = endless(head, part, pause=0.02)
    refusal(lambda: world.fetch(reply, limits=FetchLimits(seconds=0.4)), "url-timeout")


def test_the_systems_resolver_is_the_default(world: World) -> None:
    with pytest.raises(pytest.fail.Exception, match=r"look up 'door\.example'"):
        world.fetch(answer(), resolve=None)


# TLS -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl to make a certificate with")
    folder = tmp_path_factory.mktemp("tls")
    key, own = folder / "key.pem", folder / "own.pem"
    new = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=door.example"
    where = f"-addext subjectAltName=DNS:door.example -keyout {key} -out {own}"
    subprocess.run([openssl, *new.split(), *where.split()], check=True, capture_output=True)
    return folder


@pytest.fixture
def secure(world: World, certificate: Path) -> Iterator[Site]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "own.pem", certificate / "key.pem")
    site = Site(world.door.address, context)
    context.sni_callback = lambda _, name, __: site.names.append(name)
    site.routes["/page"] = answer()
    yield site
    site.close()


def test_the_certificate_is_of_the_name_though_the_address_is_pinned(
    world: World, secure: Site, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.names["other.example"] = [(world.door.address,)]
    tls = ssl.create_default_context(cafile=certificate / "own.pem")
    url = f"https://door.example:{secure.port}/page"
    assert world.fetcher(tls=tls).fetch(url).content == PAGE
    assert secure.names == ["door.example"]
    literal = f"[{world.door.address}]" if ":" in world.door.address else world.door.address
    others = [(tls, url.replace("door.example", name)) for name in ("other.example", literal)]
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "own.pem"))  # nobody vouches for it
    for trusted, other in (*others, (None, url)):
        work = partial(world.fetcher(tls=trusted).fetch, other)
        assert "certificate is not trusted" in refusal(work, "url-unreachable").message
    assert len(secure.asked) == 1
    plain = f"https://door.example:{world.door.port}/"  # no TLS there
    refusal(lambda: world.fetcher().fetch(plain), "url-unreachable")


def test_a_redirect_from_https_to_http_is_refused(
    world: World, secure: Site, certificate: Path
) -> None:
    tls = ssl.create_default_context(cafile=certificate / "own.pem")
    url = f"https://door.example:{secure.port}/page"
    assert world.fetch(redirect(url), tls=tls).content == PAGE
    world.door.asked.clear()
    secure.routes["/page"] = redirect(world.url())
    error = refusal(lambda: world.fetcher(tls=tls).fetch(url), "url-refused")
    assert "https to http" in error.message
    assert world.door.asked == []


def test_a_handshake_that_does_not_end_is_given_up(world: World) -> None:
    family = socket.AF_INET6 if ":" in world.door.address else socket.AF_INET
    with socket.create_server((world.door.address, 0), family=family) as silent:
        url = f"https://door.example:{silent.getsockname()[1]}/"
        late = FetchLimits(seconds=0.3)
        refusal(lambda: world.fetcher(limits=late).fetch(url), "url-timeout")


def test_every_code_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "sources.md").read_text("utf-8")
    assert re.findall(r"^\| `(url-[a-z-]+)` \| [A-Z]", page, re.MULTILINE) == list(CODES)
