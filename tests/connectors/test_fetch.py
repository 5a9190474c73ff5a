"""Fetching pages: what must never be connected to, and servers that do what servers do."""

import gzip
import ipaddress
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
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from chapterhouse.connectors import network
from chapterhouse.connectors.addresses import is_public
from chapterhouse.connectors.fetch import CODES, Fetched, Fetcher, FetchLimits
from chapterhouse.connectors.media_types import EXTENSIONS
from chapterhouse.errors import RejectedError

Reply = bytes | Callable[[socket.socket], None]
LIMIT = 1_000_000
PAGE = b"<html><title>Ferry</title></html>"
attempted: list[tuple[Any, ...]] = []


def _record(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.connect":
        attempted.append(arguments[1])
    elif event in {"socket.sendto", "socket.sendmsg"}:
        attempted.append(("sent without a connection", arguments[1]))


sys.addaudithook(_record)


@dataclass(frozen=True)
class Request:
    path: str
    headers: dict[str, str]


class Site:
    """A server on loopback that answers each path with the bytes it is told."""

    def __init__(self, address: str, context: ssl.SSLContext | None = None) -> None:
        self.routes: dict[str, Reply] = {}
        self.asked: list[Request] = []
        self.connections = 0
        self.context = context
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
                if not part:
                    return
                head += part
                if not head.startswith(b"GET "):
                    plug.sendall(answer(b"", status="400 Bad Request"))
                    return
            first, *lines = head.decode().split("\r\n")
            path = first.split(" ")[1]
            pairs = (line.split(": ", 1) for line in lines if line)
            self.asked.append(Request(path, {name.lower(): value for name, value in pairs}))
            reply = self.routes.get(path, answer(b"no", status="404 Not Found"))
            if isinstance(reply, bytes):
                plug.sendall(reply)
            else:
                reply(plug)

    def forget(self) -> None:
        self.routes.clear()
        self.asked.clear()
        self.connections = 0

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


def redirect(location: str, status: int = 302) -> bytes:
    return answer(b"", f"Location: {location}", status=f"{status} Moved")


def second_loopback() -> str:
    """Return an address of this machine that is not 127.0.0.1."""
    for address, family in (("127.0.0.2", socket.AF_INET), ("::1", socket.AF_INET6)):
        with suppress(OSError), socket.socket(family) as plug:
            plug.bind((address, 0))
            return address
    pytest.skip("this machine has one loopback address only")


@pytest.fixture(scope="module")
def sites() -> Iterator[tuple[Site, Site]]:
    door, sink = Site(second_loopback()), Site("127.0.0.1")
    yield door, sink
    door.close()
    sink.close()


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
        values: dict[str, Any] = {
            "resolve": self.resolve,
            "permits": self.permits,
            "limits": limits,
        }
        return Fetcher(**(values | changes))

    def url(self, path: str = "/page") -> str:
        return f"http://door.example:{self.door.port}{path}"

    def fetch(self, reply: Reply, *, etag: str = "", **changes: Any) -> Fetched:
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
def world(sites: tuple[Site, Site]) -> World:
    for site in sites:
        site.forget()
    sites[1].routes["/"] = answer(b"secret")
    attempted.clear()
    return World(*sites)


def refusal(of: Callable[[], object], code: str) -> RejectedError:
    with pytest.raises(RejectedError) as caught:
        of()
    assert caught.value.code == code
    assert caught.value.message.endswith(".")
    return caught.value


# The guard --------------------------------------------------------------------------------------

FORBIDDEN = ["0.0.0.0", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.1.2.3"]
FORBIDDEN += ["168.63.129.16", "169.254.169.254", "169.254.170.2", "172.16.0.1", "172.31.255.254"]
FORBIDDEN += ["192.0.0.8", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1"]
FORBIDDEN += ["198.51.100.7", "203.0.113.9", "224.0.0.1", "240.0.0.1", "255.255.255.255"]
FORBIDDEN += ["::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:a9fe:a9fe"]
FORBIDDEN += ["::ffff:0:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::169.254.169.254", "64:ff9b::a00:1"]
FORBIDDEN += ["64:ff9b:1::7f00:1", "64:ff9b:1:7f00:0:100::", "100::1", "2001::1", "2001:db8::1"]
FORBIDDEN += ["2001:0:7f00:1::", "2001:0:808:808::80ff:fffe", "2001:10::1", "2002:7f00:1::"]
FORBIDDEN += ["2002:a9fe:a9fe::1", "2002:c0a8:101::", "2002:808:808::5efe:10.0.0.1"]
FORBIDDEN += ["2606:4700::5efe:10.0.0.1", "2606:4700::200:5efe:7f00:1", "3fff::1", "5f00::1"]
FORBIDDEN += ["fc00::1", "fd00:ec2::254", "fd20:ce::254", "fe80::1", "fec0::1", "ff02::1"]

NUMBERS = ["2130706433", "0x7f000001", "0x7f.1", "0x7F.0x0.0x0.0x1", "0177.0.0.1", "017700000001"]
NUMBERS += ["127.1", "127.0.1", "127.0.0.01", "127.0.0.0x1", "0", "0.0", "0x", "0x0", "127.0.0.1."]
NUMBERS += ["00000000177.0.0.1", "127.0.0.257", "4294967297", "3232235777", "0xa9fea9fe", "a.127"]
NUMBERS += ["127.0.0.1.0x7f", "1.2.3.4.5", "127..1", ".127.0.0.1", "0251.0376.0251.0376"]

DISGUISED = [
    "１２７.0.0.1",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
    "127．0．0．1",
    "127｡0｡0｡1",
    "ⓛocalhost.example",
]
DISGUISED += [
    "ｌocal.example",
    "trap。example",
    "tr\u200bap.example",
    "trap\u00ad.example",
    "\u212a.example",
]
DISGUISED += ["ℌost.example", "Ünter.example", "xn--zzzz.example", "xn--.example", "xn--a.example"]
DISGUISED += ["\u202eelpmaxe.part", "trap%2eexample", "%31%32%37.0.0.1", "trap.example%00.org"]
DISGUISED += [
    "a" * 64 + ".example",
    "a." * 127 + "example",
    "-a.example",
    "a-.example",
    "tr*p.example",
]

LOCAL = ["localhost", "LOCALHOST", "intranet", "localhost.", "metadata", "_", "ip6-localhost"]

ZONES = ["[fe80::1%25eth0]", "[fe80::1%eth0]", "[::1%25lo]", "[2606:4700::1%251]", "[::1%]"]
ZONES += ["[::1", "::1", "[]", "[127.0.0.1]", "[::1]x", "x[::1]", "[v1.fe80]", "[::1]]"]

USERS = ["http://8.8.8.8@127.0.0.1:{sink}/", "http://trap.example:x@127.0.0.1:{sink}/"]
USERS += ["http://@127.0.0.1:{sink}/", "http://a:b@c@127.0.0.1:{sink}/", "http://:@trap.example/"]
USERS += ["http://door.example%40127.0.0.1:{sink}/", "http://127.0.0.1:{sink}@door.example:{door}/"]

SPACES = ["http://127.0.0.1:{sink}\\@door.example:{door}/", "http:\\\\127.0.0.1:{sink}/"]
SPACES += [
    "http://door.example:{door}\\@127.0.0.1:{sink}/",
    "http:/\\127.0.0.1:{sink}/",
    "\\\\trap.example\\x",
]
SPACES += ["http://127.0.0.1:{sink}/\t", "ht\ntp://127.0.0.1:{sink}/", "http://trap.ex\tample/"]
SPACES += [
    " http://127.0.0.1:{sink}/",
    "http://127.0.0.1:{sink} /",
    "http://trap.example/\r\nHost: x",
]
SPACES += [
    "http://trap.example/ HTTP/1.1",
    "http://trap.example\x00.org/",
    "http://trap.example/\x7f",
]
SPACES += ["http://trap.example\u3000/", "http://trap.example/\ud800", "http://trap.example/\u2028"]
SPACES += ["\ufeffhttp://trap.example/", "http://trap.example/\u202e", "http:// trap.example/"]

SCHEMES = ["file:///etc/passwd", "file://127.0.0.1/etc/passwd", "gopher://127.0.0.1:{sink}/_GET"]
SCHEMES += ["ftp://127.0.0.1:{sink}/", "data:text/html,x", "jar:http://127.0.0.1:{sink}/a!/b"]
SCHEMES += [
    "dict://127.0.0.1:{sink}/",
    "ldap://127.0.0.1:{sink}/",
    "tftp://127.0.0.1/x",
    "unix:/run/x",
]
SCHEMES += [
    "javascript:fetch('http://127.0.0.1:{sink}/')",
    "ws://127.0.0.1:{sink}/",
    "netdoc:/etc/passwd",
]
SCHEMES += ["http+unix://%2Frun%2Fx/", "view-source:http://127.0.0.1:{sink}/", "sftp://127.0.0.1/"]
SCHEMES += [
    "//127.0.0.1:{sink}/",
    "/127.0.0.1",
    "127.0.0.1:{sink}",
    "http:127.0.0.1:{sink}",
    "",
    "http",
]
SCHEMES += [
    "http:/127.0.0.1:{sink}/",
    "http:///127.0.0.1:{sink}/",
    "http://",
    "http://:{sink}/",
    "http://?x",
]
SCHEMES += ["http://#@127.0.0.1:{sink}/", "url:http://127.0.0.1:{sink}/", "httpx://127.0.0.1/"]

PORTS = [
    "0",
    "1",
    "22",
    "23",
    "25",
    "53",
    "110",
    "143",
    "445",
    "587",
    "993",
    "1023",
    "2375",
    "3306",
]
PORTS += [
    "5432",
    "6000",
    "6379",
    "6667",
    "9200",
    "11211",
    "27017",
    "65536",
    "99999",
    "",
    "-1",
    "+80",
]
PORTS += ["8o", "８０", "0x50", "80:80", "000080"]

MIXED: list[tuple[str, ...]] = [
    ("93.184.216.34", "127.0.0.1"),
    ("127.0.0.1", "93.184.216.34"),
    ("93.184.216.34", "::1"),
]
MIXED += [
    ("2606:4700::1111", "10.0.0.1"),
    ("2606:4700::1111", "fd00::1"),
    ("8.8.8.8", "fe80::1%eth0"),
]
MIXED += [("8.8.8.8", "64:ff9b::7f00:1"), ("8.8.8.8", "nonsense"), ("8.8.8.8", "2130706433")]
MIXED += [("8.8.8.8", "1.1.1.1", "9.9.9.9", "169.254.169.254"), ("8.8.8.8", "")]

TARGETS = [
    "http://127.0.0.1:{sink}/",
    "http://[::ffff:127.0.0.1]:{sink}/",
    "http://trap.example:{sink}/",
]
TARGETS += ["//127.0.0.1:{sink}/", "http://2130706433:{sink}/", "http://u@127.0.0.1:{sink}/"]
TARGETS += [
    "http://169.254.169.254/latest/meta-data/",
    "http://[64:ff9b::7f00:1]:{sink}/",
    "file:///etc/passwd",
]
TARGETS += ["/\\127.0.0.1:{sink}/", "gopher://127.0.0.1:{sink}/_x", "http://door.example:22/"]
CODES_OF_REDIRECTS = (301, 302, 303, 307, 308)


def host(address: str) -> str:
    return f"[{address}]" if ":" in address else address


# (kind, address, what trap.example resolves to, status of a redirect that leads there or 0)
VECTORS: list[tuple[str, str, tuple[str, ...], int]] = [
    *(("literal", f"http://{host(a)}:{{sink}}/", (), 0) for a in FORBIDDEN),
    *(("literal, https", f"https://{host(a)}/", (), 0) for a in FORBIDDEN[::6]),
    *(("answer", "http://trap.example:{sink}/", (a,), 0) for a in FORBIDDEN),
    *(("mixed answers", "http://trap.example:{sink}/", answers, 0) for answers in MIXED),
    *(("number", f"http://{number}:{{sink}}/", (), 0) for number in NUMBERS),
    *(("disguised", f"http://{name}:{{sink}}/", (), 0) for name in DISGUISED),
    *(("local", f"http://{name}:{{sink}}/", (), 0) for name in LOCAL),
    *(("zone", f"http://{name}:{{sink}}/", (), 0) for name in ZONES),
    *(("user", url, (), 0) for url in USERS),
    *(("space", url, (), 0) for url in SPACES),
    *(("scheme", url, (), 0) for url in SCHEMES),
    *(("port", f"http://trap.example:{port}/", ("93.184.216.34",), 0) for port in PORTS),
    *(("redirect", url, (), code) for url in TARGETS for code in CODES_OF_REDIRECTS),
]


@pytest.mark.parametrize("kind", dict.fromkeys(kind for kind, *_ in VECTORS))
def test_nothing_forbidden_is_connected_to(world: World, kind: str) -> None:
    for _, written, answers, status in (vector for vector in VECTORS if vector[0] == kind):
        attempted.clear()
        world.looked_up.clear()
        world.names["trap.example"] = [answers or ("127.0.0.1",)]
        address = world.written(written)
        if status:
            world.door.routes["/go"] = redirect(address, status)
            address = world.url("/go")
        refusal(partial(world.fetcher().fetch, address), "url-refused")
        world.require_untouched()
        assert len(attempted) == bool(status), address
        # The rest is refused as it is written, even where a resolver would have made sense of it.
        assert bool(world.looked_up) == (kind in {"answer", "mixed answers", "redirect"}), address


def test_there_are_vectors_enough() -> None:
    assert len(set(VECTORS)) == len(VECTORS) >= 150


def test_a_name_is_looked_up_once_and_the_answer_is_what_is_connected_to(world: World) -> None:
    world.names["rebind.example"] = [(world.door.address,), ("127.0.0.1",)]
    world.door.routes["/"] = answer()
    assert world.fetcher().fetch(f"http://rebind.example:{world.door.port}/").content == PAGE
    assert world.looked_up == ["rebind.example"]
    world.require_untouched()


def test_a_redirect_to_the_same_name_is_checked_anew(world: World) -> None:
    world.names["rebind.example"] = [(world.door.address,), ("127.0.0.1",)]
    world.door.routes["/"] = redirect("/")
    refusal(
        lambda: world.fetcher().fetch(f"http://rebind.example:{world.door.port}/"), "url-refused"
    )
    world.require_untouched()


@pytest.mark.parametrize(
    ("body", "header"),
    [
        (b"", "Refresh: 0; url=http://127.0.0.1:{sink}/"),
        (b'<meta http-equiv="refresh" content="0; url=http://127.0.0.1:{sink}/">', "X-A: b"),
        (b'<base href="http://127.0.0.1:{sink}/"><img src="x"><script src=x>', "X-A: b"),
        (b"", "Link: <http://127.0.0.1:{sink}/>; rel=preload"),
        (b"", "Content-Location: http://127.0.0.1:{sink}/"),
        (b"", "Location: http://127.0.0.1:{sink}/"),  # of a 200
        (b"", "Alt-Svc: h2='127.0.0.1:{sink}'"),
    ],
)
def test_nothing_else_in_an_answer_is_followed(world: World, body: bytes, header: str) -> None:
    page = world.fetch(answer(body, world.written(header)))
    assert page.content == body
    assert len(attempted) == 1
    world.require_untouched()


# The guard's guard: with the guard broken, the same assertions go red --------------------------


@pytest.mark.parametrize("way", ["literal", "answer", "redirect"])
def test_with_the_guard_off_the_assertion_fails(world: World, way: str) -> None:
    sink = f"http://127.0.0.1:{world.sink.port}/"
    world.door.routes["/go"] = redirect(sink)
    named = f"http://trap.example:{world.sink.port}/"
    url = {"literal": sink, "answer": named, "redirect": world.url("/go")}[way]
    assert world.fetcher(permits=lambda _: True).fetch(url).content == b"secret"
    with pytest.raises(AssertionError):
        world.require_untouched()


def test_the_standard_librarys_opinion_would_let_nat64_through(world: World) -> None:
    fetcher = world.fetcher(permits=lambda address: ipaddress.ip_address(address).is_global)
    with pytest.raises(pytest.fail.Exception, match="tried to connect"):
        fetcher.fetch(f"http://[64:ff9b::7f00:1]:{world.sink.port}/")


def test_a_second_look_up_would_be_noticed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    connect = network.PinnedNetwork._connect

    def connects_to_the_name(self: network.PinnedNetwork, _: object, port: int) -> object:
        address = ipaddress.ip_address(self._resolve("rebind.example", port)[0])
        return connect(self, address, world.sink.port)

    monkeypatch.setattr(network.PinnedNetwork, "_connect", connects_to_the_name)
    world.names["rebind.example"] = [(world.door.address,), ("127.0.0.1",)]
    with suppress(RejectedError):  # the check of the peer notices, but the connection was made
        world.fetcher().fetch(f"http://rebind.example:{world.door.port}/")
    give_up = time.monotonic() + 5
    while not world.sink.connections and time.monotonic() < give_up:
        time.sleep(0.01)  # the sink counts in a thread of its own
    with pytest.raises(AssertionError):
        world.require_untouched()


# What is sent ----------------------------------------------------------------------------------


def test_a_request_says_what_it_must_and_no_more(world: World) -> None:
    world.fetch(answer())
    (request,) = world.door.asked
    assert request.headers.keys() == {
        "host",
        "user-agent",
        "accept",
        "accept-encoding",
        "connection",
    }
    assert request.headers["host"] == f"door.example:{world.door.port}"
    assert request.headers["user-agent"] == "chapterhouse"
    assert request.headers["accept-encoding"] == "identity"


def test_no_cookie_comes_back(world: World) -> None:
    world.door.routes["/again"] = answer()
    fetcher = world.fetcher()
    world.door.routes["/page"] = answer(
        b"", "Set-Cookie: a=b", "Location: /again", status="302 Found"
    )
    fetcher.fetch(world.url())
    fetcher.fetch(world.url("/again"))
    assert len(world.door.asked) == 3
    assert not any("cookie" in request.headers for request in world.door.asked)


def test_neither_proxies_nor_passwords_of_the_environment_are_used(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{world.sink.port}")
    (tmp_path / ".netrc").write_text("machine door.example login a password b\n")
    (tmp_path / ".netrc").chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    assert world.fetch(answer()).content == PAGE
    assert "authorization" not in world.door.asked[0].headers
    world.require_untouched()


def test_what_has_not_changed_is_not_sent_again(world: World) -> None:
    date = "Tue, 06 Jan 2026 10:00:00 GMT"
    first = world.fetch(answer(PAGE, 'ETag: W/"a1"', f"Last-Modified: {date}"))
    assert (first.etag, first.last_modified, first.not_modified) == ('W/"a1"', date, False)
    world.door.routes["/page"] = answer(b"", 'ETag: W/"a2"', status="304 Not Modified")
    again = world.fetcher().fetch(world.url(), etag=first.etag, last_modified=date)
    assert again == Fetched(first.url, first.url, etag='W/"a2"', not_modified=True)
    assert world.door.asked[1].headers["if-none-match"] == 'W/"a1"'
    assert world.door.asked[1].headers["if-modified-since"] == date


@pytest.mark.parametrize(
    "etag", ["a", '"a', '"a"\r\nX: y', '"a"\n', '"\x00"', '"é"', '"' + "a" * 300 + '"', '"a" "b"']
)
def test_marks_that_are_not_well_formed_are_neither_kept_nor_sent(world: World, etag: str) -> None:
    world.fetch(answer(), etag=etag)
    world.fetcher().fetch(world.url(), last_modified=etag)
    assert not any("if-" in " ".join(request.headers) for request in world.door.asked)
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
        world.door.routes[f"/{number}"] = redirect(f"/{number + 1}", CODES_OF_REDIRECTS[number])
    world.door.routes["/4"] = answer()
    assert world.fetcher().fetch(world.url("/1")).content == PAGE
    world.door.asked.clear()
    refusal(lambda: world.fetcher().fetch(world.url("/0")), "url-redirects")
    assert len(world.door.asked) == 4


@pytest.mark.parametrize(
    "headers", [["Location: /a", "Location: /b"], ["Location: \xff"], ["Location: a b"]]
)
def test_a_location_that_is_no_address_is_refused(world: World, headers: list[str]) -> None:
    reply = answer(b"", *headers, status="302 Found")
    found = refusal(lambda: world.fetch(reply), "url-refused") if "\xff" not in headers[0] else None
    if found is None:  # a letter like any other: the page it leads to is not there
        refusal(lambda: world.fetch(reply), "url-status")
    else:
        assert "redirects to" in found.message


@pytest.mark.parametrize(
    "status",
    [
        "201 Created",
        "204 No Content",
        "206 Partial Content",
        "300 Multiple Choices",
        "302 Found",
        "304 Not Modified",
        "400 Bad",
        "401 Unauthorized",
        "403 Forbidden",
        "404 Not Found",
        "410 Gone",
        "418 Teapot",
        "429 Too Many Requests",
        "500 Oops",
        "503 Busy",
        "999 What",
    ],
)
def test_other_answers_are_told_by_their_number(world: World, status: str) -> None:
    body = b"" if status[:3] in {"204", "304"} else PAGE
    error = refusal(lambda: world.fetch(answer(body, status=status)), "url-status")
    assert status[:3] in error.message
    assert error.hint


def test_an_upgrade_that_nobody_asked_for_is_no_answer(world: World) -> None:
    reply = answer(b"", "Upgrade: websocket", status="101 Switching Protocols", kind="")
    refusal(lambda: world.fetch(reply), "url-unreachable")


@pytest.mark.parametrize(("kind", "extension"), EXTENSIONS.items())
def test_types_that_are_read(world: World, kind: str, extension: str) -> None:
    assert world.fetch(answer(b"x", kind=f"{kind}; x=y")).name.endswith(f".{extension}")


@pytest.mark.parametrize(
    "kind",
    [
        "image/png",
        "video/mp4",
        "application/zip",
        "application/octet-stream",
        "",
        "text/css",
        "a",
        "application/javascript",
        "text/html, text/plain",
        "text/html\x01",
        "x" * 300 + "/y",
        "é/ü",
    ],
)
def test_types_that_are_not_read_are_refused_before_the_bytes_come(world: World, kind: str) -> None:
    sent = threading.Event()

    def reply(plug: socket.socket) -> None:
        plug.sendall(answer(b"", "Content-Length: 100", kind=kind))
        sent.wait(5)

    refusal(lambda: world.fetch(reply), "url-type")
    sent.set()


def test_two_types_are_none(world: World) -> None:
    refusal(lambda: world.fetch(answer(PAGE, "Content-Type: text/plain")), "url-type")


@pytest.mark.parametrize(
    ("kind", "path", "extension"),
    [
        ("application/octet-stream", "/a/rules.PDF", "pdf"),
        ("", "/a/rules.md", "md"),
        ("text/plain", "/a/rules.md", "md"),
        ("text/plain", "/a/rules.tex", "tex"),
        ("text/plain", "/a/rules.html", "txt"),
        ("text/plain", "/a/rules.pdf", "txt"),
        ("text/html", "/a/rules.pdf", "html"),
    ],
)
def test_the_path_decides_where_the_type_does_not(
    world: World, kind: str, path: str, extension: str
) -> None:
    world.door.routes[path] = answer(b"x", kind=kind)
    assert world.fetcher().fetch(world.url(path)).name.endswith(f".{extension}")


def test_a_hostile_path_makes_a_harmless_name(world: World) -> None:
    path = "/..%2f..%2f%00etc/passwd;rm%20-rf%0a"
    world.door.routes[path] = answer()
    name = world.fetcher().fetch(world.url(path)).name
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.")
    assert name.count(".") == 1


# Size ------------------------------------------------------------------------------------------


def chunked(parts: Sequence[bytes]) -> bytes:
    body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
    return answer(body, "Transfer-Encoding: chunked")


def test_a_page_may_be_as_large_as_the_limit(world: World) -> None:
    assert len(world.fetch(answer(b"x" * LIMIT)).content) == LIMIT
    assert len(world.fetch(chunked([b"x" * 1_000] * 1_000)).content) == LIMIT
    assert (
        len(world.fetch(answer(gzip.compress(b"x" * LIMIT), "Content-Encoding: gzip")).content)
        == LIMIT
    )


@pytest.mark.parametrize(
    "reply",
    [
        answer(b"x" * (LIMIT + 1)),
        answer(b"", f"Content-Length: {LIMIT + 1}"),
        answer(b"", "Content-Length: 99999999999999999"),
        chunked([b"x" * 1_000] * 1_001),
        answer(gzip.compress(b"x" * (LIMIT + 1)), "Content-Encoding: gzip"),
        answer(zlib.compress(b"x" * (LIMIT + 1)), "Content-Encoding: deflate"),
        answer(gzip.compress(b"") + b"x" * LIMIT, "Content-Encoding: gzip"),
    ],
    ids=["length", "said", "said enormous", "chunks", "gzip", "deflate", "behind gzip"],
)
def test_a_page_above_the_limit_is_refused(world: World, reply: bytes) -> None:
    error = refusal(lambda: world.fetch(reply), "url-too-large")
    assert "1,000,000 bytes" in error.message


def endless(head: bytes, part: bytes, pause: float = 0.0) -> Callable[[socket.socket], None]:
    def reply(plug: socket.socket) -> None:
        plug.sendall(head)
        for _ in range(100_000):
            plug.sendall(part)
            if pause:
                time.sleep(pause)

    return reply


@pytest.mark.parametrize(
    ("head", "part"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", b"x" * 65_536),
        (answer(b"", "Transfer-Encoding: chunked"), b"10000\r\n" + b"x" * 65_536 + b"\r\n"),
    ],
    ids=["until it closes", "chunks"],
)
def test_an_endless_page_is_cut_off(world: World, head: bytes, part: bytes) -> None:
    refusal(lambda: world.fetch(endless(head, part)), "url-too-large")


def test_a_bomb_is_not_unpacked(world: World) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(packer.compress(bytes(2**20)) for _ in range(200)) + packer.flush()
    assert len(bomb) < LIMIT
    tracemalloc.start()
    try:
        refusal(lambda: world.fetch(answer(bomb, "Content-Encoding: gzip")), "url-too-large")
        assert tracemalloc.get_traced_memory()[1] < 8 * LIMIT
    finally:
        tracemalloc.stop()


def test_a_page_that_comes_compressed_is_unpacked(world: World) -> None:
    assert world.fetch(answer(gzip.compress(PAGE), "Content-Encoding: x-gzip")).content == PAGE
    assert world.fetch(answer(zlib.compress(PAGE), "Content-Encoding: Deflate")).content == PAGE
    assert world.fetch(answer(PAGE, "Content-Encoding: identity")).content == PAGE


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "x"])
def test_other_compressions_are_refused(world: World, encoding: str) -> None:
    refusal(lambda: world.fetch(answer(PAGE, f"Content-Encoding: {encoding}")), "url-type")


@pytest.mark.parametrize(
    "reply",
    [
        answer(PAGE, f"Content-Length: {len(PAGE) + 1}"),
        chunked([PAGE])[:-3],
        answer(gzip.compress(PAGE)[:-9], "Content-Encoding: gzip"),
        answer(PAGE, "Content-Encoding: gzip"),
        answer(PAGE, "Content-Length: 3", "Content-Length: 4"),
        answer(PAGE, "Content-Length: -1"),
        answer(b"zz\r\n", "Transfer-Encoding: chunked"),
        b"",
        b"hello\r\n\r\n",
        b"HTTP/1.1 200",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 300_000,
        b"<html>",
    ],
)
def test_an_answer_that_is_cut_off_or_damaged_is_not_kept(world: World, reply: bytes) -> None:
    refusal(lambda: world.fetch(reply), "url-unreachable")


def test_no_more_is_read_than_the_length_that_was_said(world: World) -> None:
    assert world.fetch(answer(PAGE + b"more", f"Content-Length: {len(PAGE)}")).content == PAGE


# Time ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "part"),
    [
        (answer(b"", "Content-Length: 100000"), b"x"),
        (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (answer(b"", "Transfer-Encoding: chunked"), b"1\r\nx\r\n"),
    ],
    ids=["body", "headers", "continue", "chunks"],
)
def test_a_page_that_drips_is_given_up(world: World, head: bytes, part: bytes) -> None:
    reply = endless(head, part, pause=0.02)
    refusal(lambda: world.fetch(reply, limits=FetchLimits(seconds=0.4)), "url-timeout")


def test_redirects_share_one_deadline(world: World) -> None:
    def late(plug: socket.socket) -> None:
        time.sleep(0.3)
        plug.sendall(redirect("/page"))

    refusal(lambda: world.fetch(late, limits=FetchLimits(seconds=0.5)), "url-timeout")


def test_the_systems_resolver_is_the_default(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(pytest.fail.Exception, match=r"look up 'door\.example'"):
        world.fetch(answer(), resolve=None)


def test_one_fetcher_serves_many_threads(world: World) -> None:
    world.door.routes |= {f"/{number}": answer(b"%d" % number) for number in range(16)}
    fetcher, found = world.fetcher(), dict[int, bytes]()

    def work(number: int) -> None:
        found[number] = fetcher.fetch(world.url(f"/{number}")).content

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: b"%d" % number for number in range(16)}


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
    site.names = []  # type: ignore[attr-defined]  # what hosts its clients asked for
    context.sni_callback = lambda _, name, __: site.names.append(name)  # type: ignore[attr-defined]
    site.routes["/page"] = answer()
    yield site
    site.close()


def test_the_certificate_is_of_the_name_though_the_address_is_pinned(
    world: World, secure: Site, certificate: Path
) -> None:
    world.names["other.example"] = [(world.door.address,)]
    tls = ssl.create_default_context(cafile=certificate / "own.pem")
    url = f"https://door.example:{secure.port}/page"
    assert world.fetcher(tls=tls).fetch(url).content == PAGE
    assert secure.names == ["door.example"]  # type: ignore[attr-defined]
    for name in (
        "other.example",
        world.door.address.join("[]") if ":" in world.door.address else world.door.address,
    ):
        other = f"https://{name}:{secure.port}/page"
        error = refusal(lambda other=other: world.fetcher(tls=tls).fetch(other), "url-unreachable")  # type: ignore[misc]
        assert "certificate is not trusted" in error.message
    assert len(secure.asked) == 1


def test_a_certificate_that_nobody_vouches_for_is_refused(
    world: World, secure: Site, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "own.pem"))
    url = f"https://door.example:{secure.port}/page"
    error = refusal(lambda: world.fetcher().fetch(url), "url-unreachable")
    assert "certificate is not trusted" in error.message
    assert secure.asked == []


def test_a_redirect_from_https_to_http_is_refused(
    world: World, secure: Site, certificate: Path
) -> None:
    tls = ssl.create_default_context(cafile=certificate / "own.pem")
    world.door.routes["/page"] = redirect(f"https://door.example:{secure.port}/page")
    assert world.fetcher(tls=tls).fetch(world.url()).content == PAGE
    world.door.asked.clear()
    secure.routes["/page"] = redirect(world.url())
    error = refusal(
        lambda: world.fetcher(tls=tls).fetch(f"https://door.example:{secure.port}/page"),
        "url-refused",
    )
    assert "https to http" in error.message
    assert world.door.asked == []


def test_a_handshake_that_does_not_end_is_given_up(world: World, certificate: Path) -> None:
    with socket.create_server(
        (world.door.address, 0),
        family=socket.AF_INET6 if ":" in world.door.address else socket.AF_INET,
    ) as silent:
        url = f"https://door.example:{silent.getsockname()[1]}/"
        late = FetchLimits(seconds=0.3)
        refusal(lambda: world.fetcher(limits=late).fetch(url), "url-timeout")


def test_plain_http_on_a_secure_port_is_unreachable(world: World) -> None:
    url = f"https://door.example:{world.door.port}/"
    refusal(lambda: world.fetcher().fetch(url), "url-unreachable")


# The page about it -----------------------------------------------------------------------------


def test_every_code_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "fetching.md").read_text("utf-8")
    for code, meaning in CODES.items():
        assert f"| `{code}` | {meaning} |" in page
