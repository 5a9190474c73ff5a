"""A server under load: latency, errors, memory; ten times too much; stopped in the middle.

    python benchmarks/service/load.py [--part steady] [--seconds 600] [--rate 10] [--write]

The library is that of ``scale_corpus`` with 100,000 chunks, copied and served by
``chapterhouse serve`` in a process of its own. Requests are sent open-loop: at their time, whatever
became of those before, and each is timed from when it was due, so that a stall is counted for all
that it delays. 70 % search, 15 % ask without a model, 10 % send a file, 5 %
list or delete: without the proof, which writes the whole library anew and takes seconds here.

The part ``workers`` asks as fast as eight clients are answered, each question by a connection of
its own, and compares two processes with one, in turns.
"""

import argparse
import asyncio
import random
import shutil
import signal
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

sys.path += [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "soak")]

import httpx2

from chapterhouse.library import Library
from measuring import (
    Bar,
    Machine,
    Row,
    Table,
    data_folder,
    descendants,
    finish_part,
    percentile,
)
from scale_corpus import kept_library, questions, sentences
from server import Server

CHUNKS: Final = 100_000
CONNECTIONS: Final = 32
MANY_CONNECTIONS: Final = 256  # with fewer the clients themselves would wait for each other
MIX: Final = (("search", 70), ("ask", 15), ("add", 10), ("list", 3), ("delete", 2))
STOPS: Final = 20
CLIENTS: Final = 8
ROUNDS: Final = 15
Found = tuple[list[Bar], Table]


@dataclass(slots=True)
class Outcome:
    """One request: what it was, how it ended, and when, in seconds."""

    kind: str
    due: float
    seconds: float
    status: int
    retry_after: bool = False
    error: str = ""


@dataclass(slots=True)
class Load:
    """What was sent, and what came of it."""

    outcomes: list[Outcome] = field(default_factory=list)
    sent_files: dict[str, str] = field(default_factory=dict)  # job by its word
    documents: list[str] = field(default_factory=list)  # that may be deleted
    deleted: list[str] = field(default_factory=list)  # ids, made of the files' names


async def drive(
    server: Server,
    rate: float,
    seconds: float,
    load: Load,
    asked: Sequence[str],
    seed: int = 1,
    connections: int = CONNECTIONS,
) -> None:
    """Send requests at a rate for some time; return when the last has been answered."""
    chance = random.Random(seed)
    limits = httpx2.Limits(max_connections=connections, max_keepalive_connections=connections)
    key = {"X-API-Key": server.key}
    async with httpx2.AsyncClient(
        base_url=server.url, headers=key, limits=limits, timeout=120.0
    ) as client:
        begin = time.perf_counter()
        tasks: set[asyncio.Task[None]] = set()
        for number in range(int(rate * seconds)):
            due = begin + number / rate
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            (kind,) = chance.choices([name for name, _ in MIX], [share for _, share in MIX])
            task = asyncio.create_task(_send(client, kind, due, load, asked, chance))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        await asyncio.gather(*tasks)


async def _send(
    client: httpx2.AsyncClient,
    kind: str,
    due: float,
    load: Load,
    asked: Sequence[str],
    chance: random.Random,
) -> None:
    question = chance.choice(asked)
    try:
        answer = await _request(client, kind, load, question, chance)
    except httpx2.HTTPError as error:
        seconds = time.perf_counter() - due
        load.outcomes.append(Outcome(kind, due, seconds, 0, error=type(error).__name__))
        return
    seconds = time.perf_counter() - due
    load.outcomes.append(
        Outcome(kind, due, seconds, answer.status_code, "retry-after" in answer.headers)
    )


async def _request(
    client: httpx2.AsyncClient, kind: str, load: Load, question: str, chance: random.Random
) -> httpx2.Response:
    match kind:
        case "search":
            body = {"query": question, "limit": 8}
            return await client.post("/api/documents/search", json=body)
        case "ask":
            return await client.post("/api/ask", json={"question": question})
        case "add":
            word = f"loadword{chance.getrandbits(48):x}"
            text = f"# {word}\n\n{question} {word} was written down at noon.\n"
            file = {"file": (f"{word}.md", text.encode())}
            answer = await client.post("/api/documents/upload", files=file)
            if answer.status_code == 202:
                load.sent_files[word] = answer.json()["id"]
            return answer
        case "delete" if load.documents:
            load.deleted.append(load.documents.pop())
            return await client.delete(f"/api/documents/{load.deleted[-1]}?prove=false")
        case _:
            answer = await client.get("/api/documents/?text=loadword&cursor=loadword&limit=20")
            if answer.status_code == 200:
                load.documents = [one["id"] for one in answer.json()["documents"]]
            return answer


# --- what the server takes ---


@dataclass(slots=True)
class Memory:
    """Resident megabytes of a server and its workers, second by second."""

    process: int
    samples: list[tuple[float, float]] = field(default_factory=list)

    async def watch(self) -> None:
        """Look once a second."""
        while True:
            self.samples.append((time.perf_counter(), resident(self.process)))
            await asyncio.sleep(1.0)

    def slope(self) -> float:
        """Return megabytes a minute over the second half, by least squares."""
        later = self.samples[len(self.samples) // 2 :]
        times, values = zip(*((at / 60, value) for at, value in later), strict=True)
        return statistics.linear_regression(times, values).slope


def resident(process: int) -> float:
    """Return the resident megabytes of a process and all below it, shared pages once each."""
    total = 0.0
    for name in (process, *descendants(process)):
        try:
            lines = Path(f"/proc/{name}/smaps_rollup").read_text("ascii").splitlines()
        except OSError:  # it has just ended
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1e3
    return total


# --- the parts ---


def steady(home: Path, rate: float, seconds: float, asked: Sequence[str]) -> Found:
    """Serve at a rate that two cores bear."""
    load = Load()
    with Server(home) as server:
        memory = Memory(server.process.pid)

        async def run() -> None:
            await drive(server, 2.0, 10.0, Load(), asked, seed=2)  # warm
            watching = asyncio.create_task(memory.watch())
            await drive(server, rate, seconds, load, asked)
            watching.cancel()

        asyncio.run(run())
    rows: list[Row] = []
    for kind, _ in MIX:
        taken = [1_000 * one.seconds for one in load.outcomes if one.kind == kind]
        rows.append((kind, len(taken), *(percentile(taken, share) for share in (0.5, 0.95, 0.99))))
    bad = [one for one in load.outcomes if not 200 <= one.status < 300 and one.status != 404]
    bars = [
        Bar("requests", len(load.outcomes), least=1),
        Bar("median of a search, ms", float(rows[0][2]), most=25),
        Bar("p99 of a search while files are added, ms", float(rows[0][4]), most=300),
        Bar("errors", len(bad), most=0),
        Bar("most memory with workers, MB", max(one for _, one in memory.samples), most=700),
        Bar("growth of memory, MB a minute", memory.slope(), most=1.0),
    ]
    columns = ("request", "number", "median ms", "p95 ms", "p99 ms")
    title = f"{rate:g} requests a second for {seconds:g} seconds"
    return bars, Table(title, columns, tuple(rows), _ends(bad))


def overload(home: Path, rate: float, asked: Sequence[str]) -> Found:
    """Ask for ten times as much, and see how soon it is as before."""
    before, during, after = Load(), Load(), Load()
    with Server(home) as server:

        async def run() -> None:
            await drive(server, rate, 20.0, before, asked)
            await drive(server, 10 * rate, 30.0, during, asked, connections=MANY_CONNECTIONS)
            await asyncio.sleep(5.0)
            await drive(server, rate, 20.0, after, asked)

        asyncio.run(run())
    refused = [one for one in during.outcomes if one.status in (429, 503)]
    others = [one for one in during.outcomes if one.status >= 500 and one.status != 503]

    def median(load: Load) -> float:
        return percentile([one.seconds for one in load.outcomes if one.kind == "search"], 0.5)

    unanswered = [one for one in during.outcomes if not one.status]
    worse = [one for one in after.outcomes if one.status >= 500 or not one.status]
    bars = [
        Bar("refused without Retry-After", sum(not one.retry_after for one in refused), most=0),
        Bar("other errors", len(others) + len(unanswered), most=0),
        Bar("a search 5 s later, × before", median(after) / median(before), most=1.5),
        Bar("errors 5 s later", len(worse), most=0),
    ]
    rows = (("requests", len(during.outcomes)), ("refused", len(refused)))
    return bars, Table("Ten times as much", ("what", "number"), rows, _ends(unanswered))


def stops(home: Path, rate: float, asked: Sequence[str]) -> Found:
    """Stop the server in the middle, again and again; nothing accepted may be lost."""
    lost: Counter[str] = Counter()
    sent: dict[str, str] = {}
    deleted: list[str] = []
    longest = 0.0
    for number in range(STOPS):
        load = Load()
        with Server(home) as server:
            taken = asyncio.run(_stopped(server, rate, load, asked, number))
            longest = max(longest, taken)
        # Who cannot connect was not accepted; whoever was must have got an answer.
        lost.update(one.error for one in load.outcomes if one.error not in ("", "ConnectError"))
        sent |= load.sent_files
        deleted += load.deleted
    with Library.open(home) as library:
        library.jobs.work(idle_seconds=0)
        # What the clients have deleted is not lost.
        names = "\n".join((*(one.source for one in library.documents.list()), *deleted))
    missing = [word for word in sent if word not in names]
    bars = [
        Bar("stops", STOPS, least=STOPS),
        Bar("requests without an answer", lost.total(), most=0),
        Bar("files accepted and lost", len(missing), most=0),
        Bar("longest, s", longest, most=10),
    ]
    rows = (("files accepted", len(sent)), *sorted(lost.items()))
    return bars, Table("Stopped in the middle", ("what", "number"), rows)


async def _stopped(
    server: Server,
    rate: float,
    load: Load,
    asked: Sequence[str],
    seed: int,
) -> float:
    """Stop a server while requests come; return how long it took to end, in seconds."""
    driving = asyncio.create_task(drive(server, rate, 4.0, load, asked, seed=seed))
    await asyncio.sleep(2.0 + random.Random(seed).random())
    began = time.perf_counter()
    server.process.send_signal(signal.SIGTERM)
    await asyncio.to_thread(server.process.wait, 30)
    ended = time.perf_counter() - began
    await driving
    return ended


def workers(home: Path, seconds: float, asked: Sequence[str]) -> Found:
    """Ask one process and two in turns, as fast as they answer."""
    rows: list[Row] = []
    gains, errors = [], 0
    with Server(home) as one, Server(home, 1, ("--workers", "2")) as two:
        for number in range(-1, ROUNDS):
            rates = []
            for server in (one, two):
                answered, wrong = asyncio.run(_ask_all(server, seconds, asked))
                rates.append(answered / seconds)
                errors += wrong
            if number >= 0:  # the first is to warm up
                gains.append(rates[1] / rates[0])
                rows.append((number + 1, *rates, gains[-1]))
    bars = [
        Bar("questions a second of two processes, × one, median", statistics.median(gains), 1.6),
        Bar("errors", errors, most=0),
    ]
    columns = ("round", "one process, a second", "two processes, a second", "×")
    return bars, Table(f"Questions of {CLIENTS} clients at once", columns, tuple(rows))


async def _ask_all(server: Server, seconds: float, asked: Sequence[str]) -> tuple[int, int]:
    """Ask with all clients for some time; return how many answers came, and how many errors."""
    ends = time.perf_counter() + seconds
    statuses: Counter[int] = Counter()
    limits = httpx2.Limits(max_connections=CLIENTS, max_keepalive_connections=0)
    async with httpx2.AsyncClient(
        base_url=server.url, headers={"X-API-Key": server.key}, limits=limits, timeout=120.0
    ) as client:

        async def ask(number: int) -> None:
            chance = random.Random(number)
            while time.perf_counter() < ends:
                answer = await client.post("/api/ask", json={"question": chance.choice(asked)})
                if time.perf_counter() < ends:
                    statuses[answer.status_code] += 1

        await asyncio.gather(*map(ask, range(CLIENTS)))
    return statuses[200], statuses.total() - statuses[200]


def _ends(bad: Sequence[Outcome]) -> str:
    """Return how bad requests ended, and how many each way."""
    return ", ".join(
        f"{end}: {n}" for end, n in Counter(o.error or str(o.status) for o in bad).items()
    )


def main() -> int:
    """Measure the parts that are named, all of them without."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--part", choices=("steady", "overload", "stops", "workers"), action="append"
    )
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--rate", type=float, default=5.0)
    parser.add_argument("--chunks", type=int, default=CHUNKS, help="of the library")
    parser.add_argument("--write", action="store_true", help="into the result")
    chosen, code = parser.parse_args(), 0
    data = data_folder()
    pool, asked = sentences(data), questions(data, 400)
    parts: dict[str, Callable[[Path], Found]] = {
        "steady": lambda home: steady(home, chosen.rate, chosen.seconds, asked),
        "overload": lambda home: overload(home, chosen.rate, asked),
        "stops": lambda home: stops(home, chosen.rate, asked),
        "workers": lambda home: workers(home, min(chosen.seconds, 5.0), asked),
    }
    for name in chosen.part or parts:
        machine = Machine()
        with TemporaryDirectory(prefix="chapterhouse-load-") as folder:
            home = Path(folder) / "home"
            shutil.copytree(kept_library(pool, chosen.chunks), home)
            with Library.open(home) as library:  # who adds documents indexes them, not a server
                library.search.hits(asked[0])
            bars, table = parts[name](home)
        result = ("service", "The service", f"load, {name}", bars, [table], machine.setting())
        code |= finish_part(*result, write=chosen.write)
    return code


if __name__ == "__main__":
    sys.exit(main())
