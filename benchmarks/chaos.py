"""Servers, workers, commands and a changing folder, with ``kill -9`` and ``SIGSTOP`` among them.

    python benchmarks/chaos.py [--rounds 100] [--seed 1] [--write]

After each round nothing that was acknowledged is lost, nothing is there twice, nothing that was
removed is back, the library is the image of its folder, and ``Library.faults`` finds nothing. A
round takes half a minute on two cores.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

sys.path.append(str(Path(__file__).parent / "soak"))

import httpx2

from chapterhouse.library import Library
from chapterhouse.types import OPEN, JobState
from measuring import Bar, Machine, Table, finish
from server import Server, signalled, workers_of

SERVERS, KILLS = 2, 4  # kills of a round, at least
SECONDS, MOST_SECONDS = 10.0, 60.0  # that a round goes wild for
COMMANDS: Final = ("add", "add", "sync", "remove", "reindex", "export", "worker", "doctor")
_QUEUE_SECONDS: Final = 240.0  # after which a queue counts as standing still


@dataclass
class Known:
    """What was acknowledged, by the word that a document has in its name."""

    stored: set[str] = field(default_factory=set)
    removing: set[str] = field(default_factory=set)  # asked for, and perhaps done
    removed: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    delays: list[float] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def word(self) -> str:
        """Return a word that no document has."""
        with self.lock:
            self.counts["words"] += 1
            return f"zx{self.counts['words']:06}"

    def victim(self, chance: random.Random) -> str:
        """Return a document that is to be removed from now on; empty where there is none."""
        with self.lock:
            some = sorted(self.stored - self.removing)
            word = chance.choice(some) if some else ""
            if word:
                self.removing.add(word)
            return word


class Chaos:
    """One home, and everybody who works on it."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.home, self.papers, self.loose = folder / "home", folder / "papers", folder / "loose"
        self.known, self.chance, self.over = Known(), chance, threading.Event()
        self.commands: dict[int, subprocess.Popen[bytes]] = {}
        self.servers: list[Server] = []
        self._made = 0
        self._retried: set[str] = set()
        for one in (self.papers, self.loose):
            one.mkdir()
        for number in range(12):
            self._write(self.papers / f"paper {number}.md", number)
        with Library.open(self.home) as library:
            library.sources.add(str(self.papers))

    def _write(self, path: Path, number: int) -> None:
        more = "The lighthouse was lit again. " * (3_000 if number % 5 == 0 else 20)
        path.write_text(f"# {path.stem}\n\nThe keeper wrote number {number}. {more}\n")

    # --- who works, each in a thread -----------------------------------------------------------

    def clients(self) -> None:
        """Send, remove and search over HTTP."""
        chance = random.Random(self.chance.random())
        while not self.over.wait(chance.random() * 0.2):
            server = chance.choice(self.servers)
            kind = chance.choice(["upload", "upload", "text", "remove", "search"])
            with suppress(httpx2.HTTPError, RuntimeError):  # it was killed: who knows what it did
                getattr(self, f"_{kind}")(server, chance)
                self.known.counts[kind] += 1

    def _upload(self, server: Server, chance: random.Random) -> None:
        word = self.known.word()
        more = "The lighthouse was lit. " * (4_000 if chance.random() < 0.2 else 3)
        if server.send(word, f"# {word}\n\nThe keeper wrote {word}. {more}\n"):
            self.known.stored.add(word)

    def _text(self, server: Server, _: random.Random) -> None:
        word = self.known.word()
        body = {"title": word, "text": f"The keeper wrote {word} at night."}
        if server.client.post("/api/documents/text", json=body).status_code == 201:
            self.known.stored.add(word)

    def _remove(self, server: Server, chance: random.Random) -> None:
        if not (word := self.known.victim(chance)):
            return
        found = server.documents(word)
        if found and server.client.delete(f"/api/documents/{found[0]}").status_code == 200:
            self.known.removed.add(word)
        elif not found:  # it waits to be read: removed another time
            self.known.removing.discard(word)

    def _search(self, server: Server, _: random.Random) -> None:
        answer = server.client.post("/api/documents/search", json={"query": "lighthouse keeper"})
        if answer.status_code not in (200, 429, 503):
            self.known.faults.append(f"a search was answered with {answer.status_code}")

    def terminal(self) -> None:
        """Run one command after the other."""
        chance = random.Random(self.chance.random())
        while not self.over.is_set():
            kind = chance.choice(COMMANDS)
            word = self.known.victim(chance) if kind == "remove" else self.known.word()
            if not word:
                continue
            path = self.loose / f"{word}.md"
            if kind == "add":
                path.write_text(f"# {word}\n\nThe keeper wrote {word} by the sea.\n")
            arguments = {
                "add": ["add", str(path)],
                "remove": ["docs", "remove", f"{word}.md", "--yes"],
                "export": ["export", str(self.home.parent / "out.chapterhouse")],
                "worker": ["worker", "--idle-seconds", "1"],
            }.get(kind, [kind])
            code = self._command(arguments)
            self.known.counts[kind] += 1
            if kind == "add" and code == 0:
                self.known.stored.add(word)
            if kind == "remove" and code in (0, 4):
                self.known.removed.add(word)
            elif kind == "remove" and code == 3:  # not read yet, or of another name
                self.known.removing.discard(word)

    def _command(self, arguments: list[str], seconds: float | None = None) -> int:
        command = [sys.executable, "-m", "chapterhouse", *arguments, "--home", str(self.home)]
        process = subprocess.Popen(
            [*command, "--quiet"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "CHAPTERHOUSE_BACKGROUND": "0"},
        )
        self.commands[process.pid] = process
        code = process.wait(seconds)
        self.commands.pop(process.pid)
        return code

    def changes(self) -> None:
        """Change, rename, delete and add files of the folder that is followed."""
        chance = random.Random(self.chance.random())
        while not self.over.wait(chance.random()):
            some = sorted(self.papers.iterdir())
            one = chance.choice(some)
            self._made += 1
            match chance.randrange(4):
                case 0 if len(some) > 8:
                    one.unlink()
                case 1:
                    one.rename(self.papers / f"moved {self._made}.md")
                case 2:
                    self._write(one, self._made)
                case _:
                    self._write(self.papers / f"new {self._made}.md", self._made)

    def killer(self) -> None:
        """Kill and stop whoever is at work."""
        chance = random.Random(self.chance.random())
        while not self.over.wait(0.3 + chance.random()):
            what = chance.choice(["server", "worker", "worker", "command", "stop"])
            if what == "server":
                number = chance.randrange(len(self.servers))
                self.servers[number].kill()
                self.known.counts["kill -9 of server"] += 1
                try:
                    self.servers[number] = Server(self.home, number)
                except SystemExit as error:  # which a thread would swallow
                    self.known.faults.append(str(error))
                    self.servers.pop(number)
                    if not self.servers:
                        raise
                continue
            processes = workers_of(self.home)
            if what != "worker":
                processes += list(self.commands)
            if not processes:
                continue
            chosen = [chance.choice(processes)]
            if what == "stop":
                self.known.counts["SIGSTOP"] += signalled(chosen, signal.SIGSTOP)
                self.over.wait(chance.random() * 2)
                signalled(chosen, signal.SIGCONT)
            else:
                self.known.counts[f"kill -9 of {what}"] += signalled(chosen, signal.SIGKILL)

    # --- a round -------------------------------------------------------------------------------

    def round(self) -> None:
        """Go wild, then look."""
        self.over.clear()
        while len(self.servers) < SERVERS:
            self.servers.append(Server(self.home, len(self.servers)))
        work = [self.clients, self.clients, self.terminal, self.terminal]
        threads = [threading.Thread(target=one) for one in (*work, self.changes, self.killer)]
        for thread in threads:
            thread.start()
        began, before = time.monotonic(), self.kills()
        while time.monotonic() - began < SECONDS or (
            self.kills() - before < KILLS and time.monotonic() - began < MOST_SECONDS
        ):
            time.sleep(0.1)
        self.over.set()
        for thread in threads:
            thread.join()
        self._kill_workers()
        for server in self.servers:
            server.stop()
        self.servers.clear()
        # Some may be postponed, or be done by the worker of a server that was killed.
        until = time.monotonic() + _QUEUE_SECONDS
        while self._work_off() and time.monotonic() < until:
            time.sleep(0.5)
        if (code := self._command(["sync"], 600)) not in (0, 4):
            self.known.faults.append(f"sync ended with {code}")
        self._look()

    def _work_off(self) -> int:
        """Do what waits; return how many jobs are open then."""
        if (code := self._command(["worker", "--idle-seconds", "0"], 600)) not in (0, 4):
            self.known.faults.append(f"worker ended with {code}")
        with Library.open(self.home) as library:
            # Three kills at one file look like a file that crashes: a person tries it again.
            self.known.counts["parked"] += len(library.documents.release_quarantined())
            for job in library.jobs.list((JobState.FAILED,)):
                if "died three times" in job.error and job.id not in self._retried:
                    library.jobs.retry(job.id)
                    self._retried.add(job.id)
            return len(library.jobs.list(OPEN))

    def kills(self) -> int:
        """Return how often something was killed."""
        return sum(n for what, n in self.known.counts.items() if what.startswith("kill"))

    def _kill_workers(self) -> None:
        """Send files, kill the workers once more, and see how soon the queue moves."""
        for _ in range(6):
            self._upload(self.servers[0], self.chance)
        began, waiting = time.monotonic(), self._uploads()
        signalled(workers_of(self.home), signal.SIGKILL)
        while (left := self._uploads()) and time.monotonic() - began < _QUEUE_SECONDS:
            if len(left) < len(waiting):  # it moves
                break
            time.sleep(0.1)
        if waiting:
            self.known.delays.append(time.monotonic() - began)

    def _uploads(self) -> list[Any]:
        params = (*(("state", one.value) for one in OPEN), ("limit", 1_000))
        for server in self.servers:
            with suppress(httpx2.HTTPError):
                found = server.client.get("/api/jobs", params=params).json()["jobs"]
                return [job for job in found if job["kind"] == "upload"]
        return []

    def _look(self) -> None:
        known = self.known
        with Library.open(self.home) as library:
            every = list(library.documents.list())
            sources = Counter(
                word for one in every if (word := _word_of(one.source)).startswith("zx")
            )
            for word in known.stored:
                wanted = {0} if word in known.removed else {1}
                wanted |= {0} if word in known.removing else set()
                if sources[word] not in wanted:
                    known.faults.append(f"{word} is there {sources[word]} times, not {wanted}")
            known.faults += [f"{word} is doubled" for word, n in sources.items() if n > 1]
            inside = {
                one.location: one.sha256
                for one in every
                if one.location.startswith(f"{self.papers}/")
            }
            disk = {str(one): sha256(one.read_bytes()).hexdigest() for one in self.papers.iterdir()}
            known.faults += [f"{place} differs" for place, _ in inside.items() ^ disk.items()]
            known.faults += library.faults()
            known.faults += [
                f"{job.kind} {job.id} is {job.state.value}: {job.error}"
                for job in library.jobs.list((*OPEN, JobState.FAILED))
                if job.state in OPEN or (job.kind == "upload" and job.id not in self._retried)
            ]


def _word_of(source: str) -> str:
    return source.rpartition("/")[2].partition(".")[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="write the result")
    options, machine = parser.parse_args(), Machine()
    with TemporaryDirectory(prefix="chaos-", ignore_cleanup_errors=True) as name:
        chaos = Chaos(Path(name), random.Random(options.seed))
        known = chaos.known
        for number in range(options.rounds):
            chaos.round()
            print(
                number + 1, dict(known.counts), f"{max(known.delays, default=0):.1f} s", flush=True
            )
            print(*known.faults[-5:], sep="\n", flush=True)
    stored, removed = len(known.stored), len(known.removed)
    bars = [
        Bar("chaos: rounds", options.rounds, least=100 if options.write else 1),
        Bar("chaos: kills", chaos.kills(), least=1),
        Bar("chaos: lost, doubled, back, or faults of the library", len(known.faults), most=0),
        Bar("chaos: most seconds until the queue moves", max(known.delays, default=0.0), most=10),
    ]
    rows = (*sorted(known.counts.items()), ("acknowledged", stored), ("removed", removed))
    table = Table("What was done", ("what", "times"), rows, "; ".join(known.faults[:20]))
    if options.write:
        return finish("chaos", "Chaos", bars, [table], machine.setting())
    for bar in bars:
        print(bar)
    return 0 if all(bar.passed for bar in bars) else 1


if __name__ == "__main__":
    sys.exit(main())
