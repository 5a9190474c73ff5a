"""A home served over loopback, in a thread of the test."""

import asyncio
import contextlib
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import uvicorn

from chapterhouse.agents.council import Council
from chapterhouse.council.meeting.memory import owner_of
from chapterhouse.interfaces.admission import make_owner_key
from chapterhouse.interfaces.api.routing import COOKIE
from chapterhouse.interfaces.api.state import ServerOptions, ServerState
from chapterhouse.interfaces.serving import Address, Site, configure, listen, url
from chapterhouse.library import Library
from chapterhouse.library.access import Access, owner_session
from chapterhouse.library.opening import open_access
from chapterhouse.types import Memory
from chapterhouse.types.access import AccessLevel

Value = TypeVar("Value")
TEXTS = {
    "ferry.md": "# Ferry\n\nThe ferry leaves the harbour at nine. Dogs need a lead of 1.5 m.\n",
    "tolls.md": "# Tolls\n\nThe toll of the bridge is four crowns for a car.\n",
}


PASSWORD = "four unlikely words"
# What browsers say of requests that are none of a page of the server, or leave out.
FROM_OTHERS: Sequence[Mapping[str, str]] = (
    {},
    {"Origin": "null"},
    {"Origin": "https://evil.example"},
    {"Origin": "http://localhost:1"},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
    {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate"},
    {"Sec-Fetch-Site": "cross-site"},
)
QUESTION = "How much may stranded passengers claim for lodging a night?"
RULES = {
    "maria": "# Storm Rules\n\nStranded passengers may claim lodging up to 40 euros a night.\n",
    "tom": "# Storm Rules\n\nStranded passengers may claim lodging up to 75 euros a night.\n",
}


def make_board(home: Path) -> None:
    """Make a council ``storm-board`` in the default workspace; its two members disagree."""
    with Library.open(home) as library:
        for slug, text in RULES.items():
            folder = home.parent / f"papers-{slug}"
            folder.mkdir()
            (folder / "storm.md").write_text(text)
            library.personas.create(slug, display_name=slug.title(), folders=[str(folder)])
            library.personas.refresh(slug)
        council = Council.new("storm-board", purpose="It settles the rules for storms.")
        for slug in RULES:
            council = council.add_member(slug)
        for name in ("independent_analysis", "cross_examination", "synthesis"):
            council = council.add_round(name)
        library.councils.create(council.chair(name="Chair", instructions="Sum up."))


def remember_board(library: Library) -> None:
    for slug, text in RULES.items():
        owner = owner_of("storm-board", slug)
        held = Memory("", owner, asked=10, expires=0, question=QUESTION, answer=text, found=True,
            method="tiny")  # fmt: skip
        library._runtime.memories.remember(held)


@dataclass
class Served:
    home: Path
    url: str
    access: Access
    state: ServerState
    loop: asyncio.AbstractEventLoop

    def key(self, level: str = "admin", **limits: Any) -> str:
        """Return the secret of a new key; workspaces default to all."""
        made = self.access.create_key(
            label="test", level=AccessLevel(level), by="test", **{"workspaces": None, **limits}
        )
        return made.secret

    @property
    def owner_key(self) -> str:
        return self.state.owner_key

    def client(self, key: str = "", workspace: str = "") -> httpx2.Client:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        headers |= {"X-Workspace": workspace} if workspace else {}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=60.0)

    def browser(self, *, is_owner: bool = True) -> httpx2.Client:
        """Return a client that sends what a browser does: from pages of the server."""
        cookies = {COOKIE: owner_session(self.owner_key)} if is_owner else {}
        headers = {"Accept": "text/html", "Origin": self.url}
        return httpx2.Client(base_url=self.url, headers=headers, cookies=cookies, timeout=60.0)

    @contextlib.contextmanager
    def session(self, name: str, level: str, **limits: Any) -> Iterator[httpx2.Client]:
        """Give a client of a new user who has logged in; workspaces default to all."""
        grant = {"workspaces": None, **limits}
        self.access.create_user(name, PASSWORD, AccessLevel(level), by="test", **grant)
        try:
            with self.client() as client:
                begun = client.post("/api/session", json={"name": name, "password": PASSWORD})
                assert begun.status_code == 200, begun.text
                client.headers["Origin"] = self.url
                yield client
        finally:
            self.access.remove_user(name, by="test")

    @property
    def host(self) -> str:
        return self.url.removeprefix("http://")

    def connected(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", int(self.url.rpartition(":")[2])), 20)

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self.loop).result(30)

    def work(self, workspace: str = "default") -> None:
        with Library.open(self.home, workspace) as library:
            library.jobs.work(idle_seconds=0)


@contextlib.contextmanager
def serving(home: Path, options: ServerOptions | None = None) -> Iterator[Served]:
    """Serve a home over loopback in a thread; no worker is started."""
    started, stop = threading.Event(), threading.Event()
    found: list[Served] = []
    options = options or ServerOptions(starts_workers=False, per_second=1e6, burst=1e6)
    with closing(open_access(home)) as access, listen(Address(port=0)) as listener:
        address = Address(port=listener.getsockname()[1])
        door = Site(home, address, options, make_owner_key(home)).open(lambda _: None)

        async def run() -> None:
            server = uvicorn.Server(configure(lambda: door, address))
            serving_ = asyncio.create_task(server.serve(sockets=[listener]))
            while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
                await asyncio.sleep(0.01)
            loop = asyncio.get_running_loop()
            found.append(Served(home, url(address.host, address.port), access, door.state, loop))
            started.set()
            while not stop.is_set():  # noqa: ASYNC110 - it is set by another thread
                await asyncio.sleep(0.02)
            server.should_exit = True
            await serving_

        thread = threading.Thread(target=asyncio.run, args=(run(),))
        thread.start()
        try:
            assert started.wait(30)
            yield found[0]
        finally:
            stop.set()
            thread.join(30)


@contextlib.contextmanager
def process(home: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the server as users do, on a free port; yield it with the address that it names."""
    command = [sys.executable, "-m", "chapterhouse", "serve", "--port", "0", *options]
    with subprocess.Popen(
        [*command, "--home", str(home)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "CHAPTERHOUSE_BACKGROUND": "0"},
    ) as running:
        try:
            assert running.stderr
            line = running.stderr.readline()
            found = re.search(r"http://[^/]+", line)
            assert found, line
            yield running, found.group()
            running.terminate()  # in order: its workers end, too
            running.communicate(timeout=60)
        finally:
            running.kill()


def children_of(parent: int, word: bytes) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            status, started_by = path.read_text().rpartition(")")[2].split()[:2]
            command = path.with_name("cmdline").read_bytes()
        except OSError:  # it has just ended
            continue
        if int(started_by) == parent and word in command and status != "Z":
            found.append(int(path.parent.name))
    return sorted(found)


def until(look: Callable[[], Value], seconds: float = 120) -> Value:
    end = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < end, "It did not come about."
        time.sleep(0.05)
    return found
