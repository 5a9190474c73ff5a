"""``kill -9`` of who receives, reads and removes an upload, at each step and by chance.

What was answered with 202 is there once, what was removed stays away, and the queue moves on.
"""

import os
import random
import signal
import time
from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Final

import killed
from chapterhouse.errors import ChapterhouseError
from chapterhouse.ingest.uploads import FOLDER
from chapterhouse.library import Library
from chapterhouse.types import OPEN, JobState
from measuring import Bar, Table
from server import Server, signalled, workers_of

_STILL_SECONDS: Final = 120.0  # after which a queue stands still
EACH, SERVED = 8, 80  # kills at each step, and of processes of a server
STEPS: Final = (
    ("receive", "received, no job yet", 1),
    ("receive", "before a commit", 1),
    ("receive", "after a commit", 1),
    *(("work", "before a commit", count) for count in range(1, 6)),
    *(("work", "after a commit", count) for count in range(1, 5)),
    ("work", "after a blob", 1),
    ("work", "stored, not indexed", 1),
    ("work", "lexical rows written, not committed", 1),
    ("work", "done, file still there", 1),
    ("work", "file deleted, job not ended", 1),
    ("remove", "before a commit", 1),
    ("remove", "after a commit", 1),
    ("remove", "after a commit", 3),
    ("remove", "removed, not erased", 1),
)


@dataclass
class Seen:
    """What was seen."""

    kills: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    delays: list[float] = field(default_factory=list)


def _text(number: int) -> str:
    more = "The keeper lit the lighthouse again. " * 4_000 if number % 3 == 0 else ""
    return f"# Note {number}\n\nThe keeper wrote zq{number:05} at night. {more}\n"


def _run(home: Path, kind: str, names: list[str], point: str, count: int) -> tuple[bool, str]:
    """Do a step, perhaps killed at a point; return whether it was, and what it told."""
    process, pipe = killed.start(kind, home, home, names, point, count)
    with os.fdopen(pipe) as lines:
        told = lines.read()
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return status == -signal.SIGKILL, told


def _kill_at(home: Path, number: int, step: tuple[str, str, int], seen: Seen) -> None:
    """Receive, read and remove an upload; kill one of these, and let a worker go on."""
    where, point, count = step
    text = _text(number)
    digest = sha256(text.encode()).hexdigest()
    was_killed = {}
    was_killed["receive"], told = _run(home, "receive", [text], *_at("receive", step))
    received = "received" in told
    was_killed["work"], _ = _run(home, "work", [], *_at("work", step))
    removing = [one for one in _hashes(home, digest) if where == "remove" or number % 2]
    removed = False
    if removing:
        was_killed["remove"], told = _run(home, "remove", removing, *_at("remove", step))
        removed = "removed" in told
    with Library.open(home) as library:
        library.jobs.work(idle_seconds=0)
        found = [one.sha256 for one in library.documents.list()].count(digest)
        if found > 1 or (received and not removing and not found):
            seen.faults.append(f"{where}, {point} {count}: {found} documents")
        if removed and found:
            seen.faults.append(f"{where}, {point} {count}: a removed document is back")
        seen.faults += [
            f"{where}, {point} {count}: {job.error}"
            for job in library.jobs.list((JobState.FAILED,))
        ]
        if number % 5 == 0:
            seen.faults += library.faults()
        names = {path.name for path in (library.folder / FOLDER).glob(f"{digest}*")}
        if names and received:
            seen.faults.append(f"{where}, {point} {count}: its bytes stayed")
    if was_killed.get(where):
        seen.kills[f"{where}, {point} {count}"] += 1


def _at(kind: str, step: tuple[str, str, int]) -> tuple[str, int]:
    return step[1:] if step[0] == kind else ("", 1)


def _hashes(home: Path, digest: str) -> list[str]:
    with Library.open(home) as library:
        return [one.id for one in library.documents.list() if one.sha256 == digest]


def _kill_served(folder: Path, kills: int, seen: Seen) -> None:
    """Kill workers and servers by chance; see how soon what was accepted is there."""
    home, chance, serial = folder / "served", random.Random(6), 0
    with Library.open(home):
        pass
    server = Server(home)
    for turn in range(kills):
        words = [f"zw{turn:04}x{number}" for number in range(3)]
        jobs = [server.send(word, f"# {word}\n\nThe keeper wrote {word}.\n") for word in words]
        time.sleep(chance.random() * 2.5)
        gone: list[str] = []
        waiting = [job for job in jobs if server.state(job) in OPEN]
        if turn % 4 == 3:
            server.kill()
            seen.kills["a server, by chance"] += 1
            if turn % 8 == 7:
                signalled(workers_of(home), signal.SIGKILL)
            serial += 1
            server = Server(home, serial)
            killed_at = time.monotonic()  # what starts a server again is not ours
        else:
            was_there = signalled(workers_of(home), signal.SIGKILL)
            seen.kills["a worker, by chance"] += bool(was_there)
            killed_at = time.monotonic()
        if turn % 2:
            gone = [one for one in server.documents(words[0]) if _removed(server, one)]
        seen.delays += _delays(server, waiting, killed_at)
        for number, word in enumerate(words):
            wanted = 0 if gone and not number else 1
            if len(server.documents(word)) != wanted:
                seen.faults.append(f"{word}: {len(server.documents(word))} documents, not {wanted}")
    server.stop()
    with Library.open(home) as library:
        seen.faults += library.faults()


def _delays(server: Server, waiting: list[str], since: float) -> list[float]:
    """Return how long it took until the first of some jobs had ended, once all have."""
    moved: list[float] = []
    open_ = waiting
    while open_ and time.monotonic() - since < _STILL_SECONDS:
        time.sleep(0.1)
        open_ = [job for job in open_ if server.state(job) in OPEN]
        if len(open_) < len(waiting) and not moved:
            moved.append(time.monotonic() - since)
    return moved or [_STILL_SECONDS] * bool(open_)


def _removed(server: Server, document: str) -> bool:
    return server.client.delete(f"/api/documents/{document}").status_code == 200


def measure(folder: Path, share: float) -> tuple[list[Bar], list[Table]]:
    """Kill at every step, then by chance."""
    seen, number, home = Seen(), 0, folder / "home"
    with Library.open(home):
        pass
    for turn in range(max(int(EACH * share), 1)):
        for step in STEPS:
            number += 1
            try:
                _kill_at(home, number, step, seen)
            except ChapterhouseError as error:
                seen.faults.append(f"{step}: {error.message}")
        print(turn, seen.faults[-3:], flush=True)
    _kill_served(folder, max(int(SERVED * share), 8), seen)
    bars = [
        Bar("uploads: kills", seen.kills.total(), least=200 if share >= 1 else 1),
        Bar("uploads lost, doubled, back or called failed", len(seen.faults), most=0),
        Bar("uploads: most seconds from a kill until the queue moves", max(seen.delays), most=10),
    ]
    rows = tuple(sorted(seen.kills.items()))
    return bars, [Table("Kills", ("step", "kills"), rows, "; ".join(seen.faults[:20]))]
