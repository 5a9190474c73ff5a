"""Two machines with one PostgreSQL, while backends, the server, workers and machines are killed.

    python benchmarks/machines.py [--backends 50] [--postmaster 20] [--workers 20] [--servers 20]
        [--seed 1] [--write]

Clients send files to two servers with a home each, which start their workers themselves, and search
on both. After the last kill every file that was acknowledged has to be there once, each job has to
have been done once in effect, both machines have to find the same, and ``Library.faults`` nothing.
"""

import argparse
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

sys.path.append(str(Path(__file__).parent / "soak"))
sys.path.append(str(Path(__file__).parent.parent))

import httpx2
import psycopg
from tests.databases import Postgres, own_server

from chapterhouse.library import Library
from chapterhouse.types import OPEN, JobState
from measuring import Bar, Machine, Table, finish, percentile
from server import Server, signalled, workers_of

KINDS: Final = ("backend", "postmaster", "worker", "server")
_CLIENTS: Final = 3
_AWAY_SECONDS: Final = 1.0  # that PostgreSQL is away for
_QUEUE_SECONDS: Final = 240.0
_BACKENDS: Final = (
    "SELECT pid FROM pg_stat_activity WHERE application_name = 'chapterhouse'"
    " AND pid <> pg_backend_pid() ORDER BY pid"
)


class Machines:
    """Two homes with one database, and everybody who works on them."""

    def __init__(self, folder: Path, postgres: Postgres, chance: random.Random) -> None:
        self._postgres, self._chance, self._over = postgres, chance, threading.Event()
        self.homes = [folder / name / "home" for name in ("one", "two")]
        for home in self.homes:
            home.parent.mkdir()
            Library.open(home).close()
        self.servers = [Server(home) for home in self.homes]
        self.acknowledged: dict[str, str] = {}  # words of files, and their jobs
        self.counts: Counter[str] = Counter()
        self.delays: list[float] = []  # seconds from a kill until a file is accepted again
        self.faults: list[str] = []
        self._lock = threading.Lock()

    def client(self, number: int) -> None:
        """Send files and search, on either machine."""
        chance = random.Random(number)
        while not self._over.wait(chance.random() * 0.2):
            with self._lock:
                self.counts["files sent"] += 1
                word = f"zx{self.counts['files sent']:06}"
            server = chance.choice(self.servers)
            with suppress(httpx2.HTTPError, RuntimeError):  # it was killed: who knows what it did
                text = f"# {word}\n\nThe keeper wrote {word} at night.\n"
                if job := server.send(word, text):
                    self.acknowledged[word] = job
                answer = server.client.post("/api/documents/search", json={"query": "keeper"})
                self.counts[f"searches answered with {answer.status_code}"] += 1

    def kill(self, kind: str) -> bool:
        """Kill one of a kind; say whether there was one."""
        match kind:
            case "backend":
                with psycopg.connect(self._postgres.address, autocommit=True) as admin:
                    found = admin.execute(_BACKENDS).fetchall()
                    if not found:
                        return False
                    (process,) = self._chance.choice(found)
                    admin.execute("SELECT pg_terminate_backend(%s)", [process])
            case "postmaster":
                self._postgres.kill()
                time.sleep(_AWAY_SECONDS)
                self._postgres.start()
            case "worker":
                processes = [one for home in self.homes for one in workers_of(home)]
                return bool(processes) and bool(
                    signalled([self._chance.choice(processes)], signal.SIGKILL)
                )
            case _:
                number = self._chance.randrange(2)
                self.servers[number].kill()
                self.servers[number] = Server(self.homes[number])
        return True

    def run(self, wanted: Counter[str]) -> None:
        """Kill so many of each kind in random order, while clients work."""
        threads = [threading.Thread(target=self.client, args=(one,)) for one in range(_CLIENTS)]
        for thread in threads:
            thread.start()
        left = list(wanted.elements())
        self._chance.shuffle(left)
        try:
            while left:
                time.sleep(0.2 + self._chance.random())
                kind = left.pop()
                if not self.kill(kind):  # another one first: there will be some
                    left.insert(0, kind)
                    continue
                self.counts[f"kills of a {kind}"] += 1
                self.delays.append(self._seconds_until_accepted())
                print(dict(self.counts), f"{self.delays[-1]:.1f} s", flush=True)
        finally:
            self._over.set()
            for thread in threads:
                thread.join()

    def _seconds_until_accepted(self) -> float:
        began, before = time.monotonic(), len(self.acknowledged)
        while len(self.acknowledged) == before:
            if time.monotonic() - began > _QUEUE_SECONDS:
                self.faults.append("no file was accepted any more")
                break
            time.sleep(0.05)
        return time.monotonic() - began

    def look(self) -> None:
        """Wait until nothing is left to do, and compare with what was acknowledged."""
        with Library.open(self.homes[0]) as one, Library.open(self.homes[1]) as two:
            until = time.monotonic() + _QUEUE_SECONDS
            while one.jobs.list(OPEN) and time.monotonic() < until:
                time.sleep(0.5)
            for server in self.servers:
                server.stop()
            there = Counter(Path(each.source).stem for each in one.documents.list())
            for word, job in self.acknowledged.items():
                state = _state_of(one, job)
                if there[word] != 1 or state not in (None, JobState.DONE):
                    self.faults.append(f"{word} is there {there[word]} times; {job} is {state}")
            self.faults += [f"{word} is there twice" for word, times in there.items() if times > 1]
            self.faults += [f"{each.id} is open" for each in one.jobs.list(OPEN)]
            found = [_found(library) for library in (one, two)]
            if found[0] != found[1] or not found[0]:
                self.faults.append(f"the machines find different passages: {found}")
            left = one._runtime.store.shared_files()  # noqa: SLF001
            self.faults += [f"{each} was left" for each in (left.uploads(0) if left else ())]
            self.faults += [*one.faults(), *two.faults()]
            self.counts["documents at the end"] = sum(there.values())


def _state_of(library: Library, job: str) -> JobState | None:
    """Return the state of a job; None of one so old that it is not remembered."""
    found = {one.id: one.state for one in library.jobs.list()}
    return found.get(job)


def _found(library: Library) -> list[tuple[Any, ...]]:
    hits = library.search.hits("the keeper wrote at night").hits
    return [(hit.document.id, hit.chunk.ordinal, hit.score) for hit in hits]


def run(seed: int, wanted: Counter[str]) -> Machines:
    """Run it in a folder and on a server of its own; return what came of it."""
    with own_server() as postgres, TemporaryDirectory(ignore_cleanup_errors=True) as name:
        before = os.environ.get("CHAPTERHOUSE_STORE")
        os.environ["CHAPTERHOUSE_STORE"] = postgres.address
        machines = Machines(Path(name), postgres, random.Random(seed))
        try:
            machines.run(wanted)
            machines.look()
        finally:
            for server in machines.servers:
                server.stop()
            os.environ["CHAPTERHOUSE_STORE"] = before or ""
    return machines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    for kind, number in zip(KINDS, (50, 20, 20, 20), strict=True):
        parser.add_argument(f"--{kind}s".replace("masters", "master"), type=int, default=number)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="write the result")
    options, machine = parser.parse_args(), Machine()
    numbers = (options.backends, options.postmaster, options.workers, options.servers)
    found = run(options.seed, Counter(dict(zip(KINDS, numbers, strict=True))))
    print(*found.faults, sep="\n")
    kills = sum(number for what, number in found.counts.items() if what.startswith("kills"))
    bars = (
        Bar("kills", kills, least=sum(numbers)),
        Bar("faults", len(found.faults), most=0),
        Bar("files acknowledged", len(found.acknowledged), least=1),
    )
    rows = (
        *((what, number) for what, number in sorted(found.counts.items())),
        ("seconds until a file is accepted again, median", percentile(found.delays, 0.5)),
        ("seconds until a file is accepted again, longest", max(found.delays)),
    )
    table = Table("Two machines, one PostgreSQL", ("what", "number"), rows)
    title = "Kills of two machines and their PostgreSQL"
    return finish(
        "machines", title, bars, (table,), machine.setting("psycopg"), write=options.write
    )


if __name__ == "__main__":
    raise SystemExit(main())
