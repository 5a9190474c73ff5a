"""A server under load: latency, errors, memory; ten times too much; stopped in the middle.

    python benchmarks/service/load.py [--part steady] [--seconds 600] [--rate 10]

The library is that of ``scale_corpus`` with 100,000 chunks, copied and served by
``chapterhouse serve`` in a process of its own. Requests are sent open-loop: at their time, whatever
became of those before, and each is timed from when it was due, so that a stall is counted for all
that it delays. 70 % search, 15 % ask without a model, 10 % send a file, 5 %
list or delete: without the proof, which writes the whole library anew and takes seconds here.
"""

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

sys.path.append(str(Path(__file__).parents[1]))

import httpx2

from chapterhouse.interfaces.owner_key import read_owner_key
from chapterhouse.library import Library
from chapterhouse.models.static import static_embedder
from data_folder import data_folder
from measuring import RESULTS, Bar, Machine, bar_cells, markdown_table, percentile
from scale_corpus import kept_library, questions, sentences

CHUNKS: Final = 100_000
CONNECTIONS: Final = 32
CONNECTIONS_OF_OVERLOAD: Final = 256  # with fewer the clients themselves would wait for each other
MIX: Final = (("search", 70), ("ask", 15), ("add", 10), ("list", 3), ("delete", 2))
STOPS: Final = 20
_READY: Final = re.compile(r"Serving (http://\S+)/api")


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


_KEYS: Final[dict[str, str]] = {}  # the owner's, by the address of each server


@contextmanager
def server(home: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Serve a home in a process; give it and its address.

    It writes to a file beside the home: a pipe that nobody reads is full after some hundred lines
    of the log, and then it waits for ever.
    """
    log = home.parent / "serve.log"
    command = [sys.executable, "-m", "chapterhouse", "serve", "--port", "0", "--home", str(home)]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stderr=output)
    try:
        url = _address(process, log)
        _KEYS[url] = read_owner_key(home)
        yield process, url
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.wait(30)


def _address(process: "subprocess.Popen[bytes]", log: Path) -> str:
    until = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < until:
        if found := _READY.search(log.read_text("utf-8")):
            return found[1]
        time.sleep(0.05)
    raise SystemExit(f"The server did not start: {log.read_text('utf-8')}")


async def drive(
    url: str,
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
    key = {"Authorization": f"Bearer {_KEYS[url]}"}
    async with httpx2.AsyncClient(
        base_url=url, headers=key, limits=limits, timeout=120.0
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
        times = [at / 60 for at, _ in later]
        values = [value for _, value in later]
        middle, mean = sum(times) / len(times), sum(values) / len(values)
        spread = sum((at - middle) ** 2 for at in times)
        together = sum((a - middle) * (v - mean) for a, v in zip(times, values, strict=True))
        return together / spread if spread else 0.0


def resident(process: int) -> float:
    """Return the resident megabytes of a process and all below it, shared pages once each."""
    total = 0.0
    for name in (process, *_below(process)):
        try:
            lines = Path(f"/proc/{name}/smaps_rollup").read_text("ascii").splitlines()
        except OSError:  # it has just ended
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1e3
    return total


def _below(process: int) -> list[int]:
    children: list[int] = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text("ascii", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == process:
            children += [int(path.parent.name), *_below(int(path.parent.name))]
    return children


# --- the parts ---


def steady(home: Path, rate: float, seconds: float, asked: Sequence[str]) -> dict[str, Any]:
    """Serve at a rate that two cores bear."""
    load = Load()
    with server(home) as (process, url):
        memory = Memory(process.pid)

        async def run() -> None:
            await drive(url, 2.0, 10.0, Load(), asked, seed=2)  # warm
            watching = asyncio.create_task(memory.watch())
            await drive(url, rate, seconds, load, asked)
            watching.cancel()

        asyncio.run(run())
    times: dict[str, Any] = {}
    for kind, _ in MIX:
        taken = [1_000 * one.seconds for one in load.outcomes if one.kind == kind]
        times[kind] = [len(taken), *(percentile(taken, share) for share in (0.5, 0.95, 0.99))]
    bad = [one for one in load.outcomes if not 200 <= one.status < 300 and one.status != 404]
    return {
        "rate": rate,
        "seconds": seconds,
        "requests": len(load.outcomes),
        "errors": len(bad),
        "statuses": dict(Counter(one.status or one.error for one in bad)),
        "times": times,
        "memory": max(value for _, value in memory.samples),
        "slope": memory.slope(),
    }


def overload(home: Path, rate: float, asked: Sequence[str]) -> dict[str, Any]:
    """Ask for ten times as much, and see how soon it is as before."""
    before, during, after = Load(), Load(), Load()
    with server(home) as (_, url):

        async def run() -> None:
            await drive(url, rate, 20.0, before, asked)
            await drive(url, 10 * rate, 30.0, during, asked, connections=CONNECTIONS_OF_OVERLOAD)
            await asyncio.sleep(5.0)
            await drive(url, rate, 20.0, after, asked)

        asyncio.run(run())
    refused = [one for one in during.outcomes if one.status in (429, 503)]
    others = [one for one in during.outcomes if one.status >= 500 and one.status != 503]

    def median(load: Load) -> float:
        return percentile([one.seconds for one in load.outcomes if one.kind == "search"], 0.5)

    return {
        "requests": len(during.outcomes),
        "refused": len(refused),
        "without_retry": sum(not one.retry_after for one in refused),
        "errors": len(others) + sum(not one.status for one in during.outcomes),
        "kinds": dict(Counter(one.error for one in during.outcomes if one.error)),
        "times_as_long_after": median(after) / median(before),
        "errors_after": sum(one.status >= 500 or not one.status for one in after.outcomes),
    }


def stops(home: Path, rate: float, asked: Sequence[str], times: int = STOPS) -> dict[str, Any]:
    """Stop the server in the middle, again and again; nothing accepted may be lost."""
    lost: Counter[str] = Counter()
    sent: dict[str, str] = {}
    deleted: list[str] = []
    longest = 0.0
    for number in range(times):
        load = Load()
        with server(home) as (process, url):
            taken = asyncio.run(_stopped(process, url, rate, load, asked, number))
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
    return {
        "stops": times,
        "unanswered": sum(lost.values()),
        "how": dict(lost),
        "files": len(sent),
        "files_lost": len(missing),
        "longest_seconds": longest,
    }


async def _stopped(
    process: "subprocess.Popen[bytes]",
    url: str,
    rate: float,
    load: Load,
    asked: Sequence[str],
    seed: int,
) -> float:
    """Stop a server while requests come; return how long it took to end, in seconds."""
    driving = asyncio.create_task(drive(url, rate, 4.0, load, asked, seed=seed))
    await asyncio.sleep(2.0 + random.Random(seed).random())
    began = time.perf_counter()
    process.send_signal(signal.SIGTERM)
    await asyncio.to_thread(process.wait, 30)
    ended = time.perf_counter() - began
    await driving
    return ended


def bars(found: dict[str, Any]) -> list[Bar]:
    """Return the figures beside what they must reach."""
    made: list[Bar] = []
    if one := found.get("steady"):
        search = one["times"]["search"]
        made += [
            Bar("steady: requests", one["requests"], least=1),
            Bar("steady: median of a search, ms", search[1], most=25),
            Bar("steady: p99 of a search while files are added, ms", search[3], most=300),
            Bar("steady: errors", one["errors"], most=0),
            Bar("steady: most memory with workers, MB", one["memory"], most=700),
            Bar("steady: growth of memory, MB a minute", one["slope"], most=1.0),
        ]
    if one := found.get("overload"):
        made += [
            Bar("overload: refused", one["refused"], least=0),
            Bar("overload: refused without Retry-After", one["without_retry"], most=0),
            Bar("overload: other errors", one["errors"], most=0),
            Bar("overload: a search 5 s later, × before", one["times_as_long_after"], most=1.5),
            Bar("overload: errors 5 s later", one["errors_after"], most=0),
        ]
    if one := found.get("stops"):
        made += [
            Bar("stops", one["stops"], least=STOPS),
            Bar("stops: requests without an answer", one["unanswered"], most=0),
            Bar("stops: files accepted and lost", one["files_lost"], most=0),
            Bar("stops: longest, s", one["longest_seconds"], most=10),
        ]
    return made


def write(found: dict[str, Any]) -> None:
    """Write the result for programs and for people."""
    (RESULTS / "service_load.json").write_text(json.dumps(found, indent=1) + "\n")
    lines = ["# A server under load", "", "Measured by `benchmarks/service/load.py`.", ""]
    lines += markdown_table(
        ("bar", "measured", "bound", ""), [bar_cells(one) for one in bars(found)]
    )
    if one := found.get("steady"):
        rows = [(kind, *cells) for kind, cells in one["times"].items()]
        columns = ("request", "number", "median ms", "p95 ms", "p99 ms")
        lines += ["", f"At {one['rate']} requests a second for {one['seconds']} seconds.", ""]
        lines += markdown_table(columns, rows)
    (RESULTS / "service_load.md").write_text("\n".join(map(str, lines)) + "\n")


def main() -> None:
    """Measure the parts that are named, all of them without."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=("steady", "overload", "stops"), action="append")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--rate", type=float, default=5.0)
    given = parser.parse_args()
    os.environ["CHAPTERHOUSE_BACKGROUND"] = "0"  # vectors of an encoder are not measured here
    data = data_folder()
    pool, asked = sentences(data), questions(data, 400)
    machine = Machine()
    path = RESULTS / "service_load.json"
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    parts: dict[str, Callable[[Path], dict[str, Any]]] = {
        "steady": lambda home: steady(home, given.rate, given.seconds, asked),
        "overload": lambda home: overload(home, given.rate, asked),
        "stops": lambda home: stops(home, given.rate, asked),
    }
    for name in given.part or parts:
        with TemporaryDirectory(prefix="chapterhouse-load-") as folder:
            home = Path(folder) / "home"
            shutil.copytree(kept_library(pool, CHUNKS, static_embedder()), home)
            with Library.open(home) as library:  # who adds documents indexes them, not a server
                library.search.hits(asked[0])
            found[name] = parts[name](home)
        print(name, json.dumps(found[name], indent=1), flush=True)
    found["setting"] = str(machine.setting())
    write(found)


if __name__ == "__main__":
    main()
