"""A server that is treated badly: refused over and over, silent connections, answers nobody reads.

    python benchmarks/service/abuse.py [--part refused] [--write]

The server is ``chapterhouse serve`` in a process of its own. Each kind of bad client has an address
of its own below 127.0.0.0/8. ``refused``: wrong keys and foreign pages, as fast as the server lets
them, while another key searches from the same address. ``held``: half a request on 600 connections,
60 clients that ask for a document of 9 MB and do not read it, 8 uploads that stop after 90 MB.
"""

import argparse
import http.client
import os
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack, closing
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final
from urllib.parse import urlsplit

sys.path += [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "soak")]

import httpx2

from chapterhouse.library import Library
from chapterhouse.library.opening import open_access
from chapterhouse.types.access import AccessLevel, AuditOutcome
from measuring import Bar, Machine, Table, finish_part
from server import Server

REFUSED: Final = 10_000
CHANGES: Final = 200
SEARCHES: Final = 200
SILENT, UNREAD, STALLED = 600, 60, 8
_CLIENTS: Final = 60  # that are refused at the same time
_STALLED_BYTES: Final = 90_000_000
_WATCHED_SECONDS: Final = 45.0  # longer than an answer may lie unread
_TEXT: Final = "Gulls nest on the pier, and the ferry leaves the harbour at nine. "


def refused(home: Path, number: int) -> tuple[list[Bar], Table]:
    """Be refused so often; count the entries of changes, and time another key's searches."""
    with closing(open_access(home)) as access:
        key = access.create_key("search", AccessLevel.READ, None, by="abuse").secret
        for count in range(CHANGES):
            access.record("key ch_00000000", "document.text", f"document-{count}")
        with Server(home) as server, _client(server.url, key) as client:
            for _ in range(20):
                _search(client)
            before = median(_search(client) for _ in range(SEARCHES))
            times = []
            # In a process of its own: its threads would hold up the one that is timed.
            with ProcessPoolExecutor(1, get_context("spawn")) as pool:
                knocking = pool.submit(_knock_together, server.url, number)
                while not knocking.done():
                    times.append(_search(client))
                    time.sleep(0.05)
                statuses = knocking.result()
        entries = access.entries(200_000)
    changes = [one for one in entries if one.action == "document.text"]
    others = [one for one in entries if one.outcome is AuditOutcome.REFUSED]
    bars = [
        Bar("refused requests of one address", sum(statuses.values()), least=number),
        Bar("entries of changes that are lost", CHANGES - len(changes), most=0),
        Bar("entries without a time", sum(not one.at for one in entries), most=0),
        Bar("entries of refusals", len(others), least=1, most=1_100),
        Bar("another key's search, × before", median(times) / before, most=2),
    ]
    rows: list[tuple[str, float]] = [
        (f"answers {status}", count) for status, count in sorted(statuses.items())
    ]
    rows += [
        ("median of a search before, ms", 1_000 * before),
        ("median of a search meanwhile, ms", 1_000 * median(times)),
    ]
    return bars, Table("Refused", ("what", "number"), tuple(rows))


def held(home: Path) -> tuple[list[Bar], Table]:
    """Hold connections, answers and uploads; time the answers of others, and watch the memory."""
    with closing(open_access(home)) as access:
        keys = [
            access.create_key("abuse", level, None, by="abuse").secret
            for level in (AccessLevel.READ, AccessLevel.WRITE)
        ]
    with Library.open(home) as library:
        text = _TEXT * (9_000_000 // len(_TEXT))
        library.documents.add_text(text, title="Long")
        document = next(one.id for one in library.documents.list() if one.title == "Long")
    path = f"/api/documents/{document}/content"
    with Server(home) as server, ExitStack() as opened:
        url, process = server.url, server.process
        with _client(url, keys[0]) as client:
            for _ in range(3):
                client.get(path).raise_for_status()
        before = _resident(process.pid)
        head = f"HTTP/1.1\r\nHost: {urlsplit(url).netloc}\r\n"
        asked = f"GET {path} {head}Authorization: Bearer {keys[0]}\r\n\r\n"
        sent = (
            f"POST /api/documents/upload {head}Authorization: Bearer {keys[1]}\r\n"
            f"Content-Length: {_STALLED_BYTES + 1_000}\r\n"
            "Content-Type: multipart/form-data; boundary=b\r\n\r\n--b\r\n"
            'Content-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
        )
        for index in range(SILENT):
            _open(url, 2 + index % 4, f"GET /api/health {head}", opened)
        for _ in range(UNREAD):
            _open(url, 10, asked, opened)
        uploads = [_open(url, 11, sent, opened) for _ in range(STALLED)]
        sending = threading.Thread(target=_fill, args=(uploads,))
        sending.start()
        waits, memory = [], [before]
        until = time.monotonic() + _WATCHED_SECONDS
        while time.monotonic() < until:
            waits.append(_health(url))
            memory.append(_resident(process.pid))
            time.sleep(0.1)
        sending.join()
    bars = [
        Bar("silent connections", SILENT, least=600),
        Bar("clients that do not read", UNREAD, least=60),
        Bar("stalled uploads", STALLED, least=8),
        Bar("longest wait for /api/health, s", max(waits), most=1),
        Bar("more memory than before, MB", (max(memory) - before) / 1e6, most=64),
    ]
    rows = [
        ("looks at /api/health", len(waits)),
        ("memory before, MB", before / 1e6),
        ("most memory, MB", max(memory) / 1e6),
    ]
    return bars, Table("Held", ("what", "number"), tuple(rows))


def _client(url: str, key: str) -> httpx2.Client:
    return httpx2.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=60.0)


def _search(client: httpx2.Client) -> float:
    began = time.perf_counter()
    body = {"query": "when does the ferry leave"}
    client.post("/api/documents/search", json=body).raise_for_status()
    return time.perf_counter() - began


def _knock_together(url: str, number: int) -> Counter[int]:
    """Be refused so often; return how often by status."""
    statuses: Counter[int] = Counter()
    with ThreadPoolExecutor(_CLIENTS) as pool:
        for index in range(_CLIENTS):
            pool.submit(_knock, url, index, number, statuses)
    return statuses


def _knock(url: str, index: int, number: int, statuses: Counter[int]) -> None:
    wrong = (
        {"Authorization": f"Bearer ch_00000000_{'x' * 43}"}
        if index % 2
        else {"Origin": "http://evil.example"}
    )
    with httpx2.Client(base_url=url, headers=wrong, timeout=60.0) as client:
        while sum(statuses.values()) < number:
            statuses[client.get("/api/documents/").status_code] += 1


def _open(url: str, host: int, text: str, opened: ExitStack) -> socket.socket:
    """Send a text from an address of its own, and read nothing."""
    server_ = urlsplit(url)
    address = (server_.hostname or "", server_.port or 0)
    connection = socket.create_connection(address, 60, source_address=(f"127.0.0.{host}", 0))
    opened.enter_context(connection)
    connection.sendall(text.encode())
    return connection


def _fill(uploads: Sequence[socket.socket]) -> None:
    for _ in range(_STALLED_BYTES // 1_000_000):
        for one in uploads:
            one.sendall(b"x" * 1_000_000)


def _health(url: str) -> float:
    began = time.perf_counter()
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    try:
        connection.request("GET", "/api/health")
        if connection.getresponse().status != http.client.OK:
            return 60.0
    finally:
        connection.close()
    return time.perf_counter() - began


def _resident(pid: int) -> float:
    """Return the bytes of memory that a process has."""
    pages = Path(f"/proc/{pid}/statm").read_text("utf-8").split()[1]
    return float(pages) * os.sysconf("SC_PAGE_SIZE")


def main() -> int:
    """Measure the parts that are named, all of them without."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=("refused", "held"), action="append")
    parser.add_argument("--number", type=int, default=REFUSED)
    parser.add_argument("--write", action="store_true", help="into the result")
    options = parser.parse_args()
    os.environ["CHAPTERHOUSE_BACKGROUND"] = "0"
    machine, bars, tables = Machine(), list[Bar](), list[Table]()
    for name in options.part or ("refused", "held"):
        with TemporaryDirectory(prefix="abuse-") as folder:
            home = Path(folder) / "home"
            home.mkdir()
            (home / "chapterhouse.toml").write_text('[embedding]\nengine = "none"\n', "utf-8")
            with Library.open(home) as library:
                library.documents.add_text(_TEXT, title="Ferry")
            found, table = refused(home, options.number) if name == "refused" else held(home)
        bars += found
        tables.append(table)
    result = (
        "service",
        "The service",
        "abuse",
        bars,
        tables,
        machine.setting("fastapi", "uvicorn"),
    )
    return finish_part(*result, write=options.write)


if __name__ == "__main__":
    sys.exit(main())
