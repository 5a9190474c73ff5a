"""Cloud drives over loopback: rclone's own servers, and a proxy that does what services do.

The proxy counts requests, and transfers that go on at the same time. It breaks what it is asked to.
"""

import http.client
import os
import re
import select
import socket
import subprocess
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from chapterhouse.connectors.rclone_listing import Place
from chapterhouse.connectors.rclone_program import Patience, Rclone, find_rclone

OLD: Final = 1_600_000_000
BUCKET: Final = "bucket"
KEY, SECRET = "KEYFORTHETESTS00", "SECRETFORTHETESTS00"
# What the remote of each kind says; {port} is that of the proxy.
REMOTES: Final = {
    "webdav": "[webdav]\ntype = webdav\nurl = http://127.0.0.1:{port}\nvendor = owncloud\n",
    "s3": "[s3]\ntype = s3\nprovider = Rclone\nendpoint = http://127.0.0.1:{port}\n"
    f"access_key_id = {KEY}\nsecret_access_key = {SECRET}\n",
}
_SERVERS: Final = {
    "webdav": ("--etag-hash=MD5",),
    "s3": (f"--auth-key={KEY},{SECRET}", "--force-path-style=true"),
}
_STARTED: Final = re.compile(r"http://127\.0\.0\.1:(\d+)")
_HOP: Final = {"connection", "transfer-encoding", "content-length", "date", "server"}
# Small enough for a test, long enough that two transfers meet.
_TRANSFER_SECONDS: Final = 0.01
_STALL_SECONDS: Final = 20.0
HASTE: Final = Patience(
    stall_seconds=5.0,
    connect_seconds=5.0,
    low_level_tries=1,
    pause_seconds=0.01,
    total_seconds=30.0,
)


@contextmanager
def serving(kind: str, folder: Path) -> Iterator[int]:
    """Serve a folder as a drive of a kind; give the port."""
    command = [
        *(str(find_rclone()), "serve", kind, str(folder), "--addr=127.0.0.1:0"),
        *("--dir-cache-time=0s", "--read-only", *_SERVERS[kind]),
    ]
    log = subprocess.PIPE
    with subprocess.Popen(command, stderr=log, stdout=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stderr is not None
            found = next(filter(None, map(_STARTED.search, server.stderr)))
            threading.Thread(target=server.stderr.read, daemon=True).start()
            yield int(found[1])
        finally:
            server.terminate()
            server.wait(10)


@dataclass
class Proxy:
    """What came through, and what is to go wrong.

    Attributes:
        target: The port of the server behind it.
        port: Where it listens.
        faults: By the end of a file's path, what happens to each transfer of it in turn.
        listing_faults: What happens to each other request in turn.
        requests: Counted by method.
        transfers: Paths of files that were asked for, in order.
        most_at_once: Transfers that went on at the same time.
    """

    target: int
    port: int = 0
    faults: dict[str, Iterator[str]] = field(default_factory=dict)
    listing_faults: Iterator[str] = field(default_factory=lambda: iter(()))
    requests: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    transfers: list[str] = field(default_factory=list)
    most_at_once: int = 0
    on_transfer: Callable[[str], None] = lambda _: None
    closing: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _clients: list[socket.socket] = field(default_factory=list)  # of transfers that go on

    @property
    def calls(self) -> int:
        return sum(self.requests.values())

    def forget(self) -> None:
        self.requests.clear()
        self.transfers.clear()
        self.most_at_once = 0

    @contextmanager
    def counted(
        self, method: str, path: str, client: socket.socket, *, is_transfer: bool
    ) -> Iterator[str]:
        """Count a request while it goes on; give what is to go wrong with it.

        A transfer goes on until its client has gone, even if that is noticed later.
        """
        name = unquote(path)
        with self._lock:
            self.requests[method] += 1
            if not is_transfer:
                fault = next(self.listing_faults, "")
            else:
                self.transfers.append(name)
                self._clients.append(client)
                at_once = sum(not has_gone(one) for one in self._clients)
                self.most_at_once = max(self.most_at_once, at_once)
                plans = (plan for end, plan in self.faults.items() if name.endswith(end))
                fault = next((found for plan in plans if (found := next(plan, ""))), "")
        try:
            if is_transfer:
                self.on_transfer(name)
                time.sleep(_TRANSFER_SECONDS)
            yield fault
        finally:
            with self._lock:
                if is_transfer:
                    self._clients.remove(client)


def has_gone(client: socket.socket) -> bool:
    try:
        readable, _, _ = select.select([client], [], [], 0)
        return bool(readable) and not client.recv(1, socket.MSG_PEEK)
    except OSError:
        return True


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, proxy: Proxy) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.proxy = proxy

    def handle_error(self, *_: object) -> None:
        """A client that gave up is what the tests are about."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def _proxy(self) -> Proxy:
        assert isinstance(self.server, Server)
        return self.server.proxy

    def forward(self) -> None:
        parts = urlsplit(self.path)
        is_transfer = (
            self.command == "GET"
            and "list-type" not in parts.query
            and not parts.path.endswith("/")
        )
        client = self.connection
        counted = self._proxy.counted(self.command, parts.path, client, is_transfer=is_transfer)
        with counted as fault:
            self.answer(fault)

    def answer(self, fault: str) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        if fault in {"429", "503"}:
            self.send(int(fault), [], b"busy", 4)
            return
        if fault == "drop":
            self.close_connection = True
            return
        upstream = http.client.HTTPConnection("127.0.0.1", self._proxy.target, timeout=30)
        try:
            upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                upstream.putheader(name, value)
            upstream.endheaders(body)
            answer = upstream.getresponse()
            data = answer.read()
            headers = [pair for pair in answer.getheaders() if pair[0].lower() not in _HOP]
            stated = answer.getheader("Content-Length")
        finally:
            upstream.close()
        self.broken(fault, answer.status, headers, data, int(stated or len(data)))

    def broken(
        self, fault: str, status: int, headers: list[tuple[str, str]], data: bytes, length: int
    ) -> None:
        half = data[: len(data) // 2]
        match fault:
            case "":
                self.send(status, headers, data, length)
            case "short":  # cleanly, as if the file ended here
                self.send(status, headers, half, len(half))
            case "alter":
                self.send(status, headers, bytes([data[0] ^ 1]) + data[1:], length)
            case "cut" | "stall":
                self.send(status, headers, half, length)
                self.wfile.flush()
                if fault == "stall":
                    self.stall()
                self.close_connection = True

    def stall(self) -> None:
        until = time.monotonic() + _STALL_SECONDS
        while time.monotonic() < until and not self._proxy.closing.wait(0.05):
            if has_gone(self.connection):
                return

    def send(self, status: int, headers: list[tuple[str, str]], data: bytes, length: int) -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_HEAD = do_PUT = do_POST = do_PROPFIND = do_OPTIONS = forward  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def proxying(target: int) -> Iterator[Proxy]:
    proxy = Proxy(target)
    with Server(proxy) as server:
        proxy.port = server.server_port
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield proxy
        finally:
            proxy.closing.set()
            server.shutdown()


@dataclass(frozen=True)
class Drive:
    """A drive that is served: its files as they are, and where they are for rclone."""

    kind: str
    folder: Path
    place: Place
    proxy: Proxy
    config: Path

    @property
    def rclone(self) -> Rclone:
        return Rclone(find_rclone(), HASTE)

    def write(self, name: str, content: str | bytes, moment: float = OLD) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        os.utime(path, (moment, moment))
        return path


@contextmanager
def connected(kind: str, folder: Path) -> Iterator[Drive]:
    served = folder / f"{kind}-served"
    files = served / BUCKET if kind == "s3" else served
    files.mkdir(parents=True)
    config = folder / "rclone.conf"
    with serving(kind, served) as port, proxying(port) as proxy:
        config.write_text(REMOTES[kind].format(port=proxy.port))
        yield Drive(kind, files, Place(kind, BUCKET if kind == "s3" else ""), proxy, config)
