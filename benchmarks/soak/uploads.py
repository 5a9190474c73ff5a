"""``kill -9`` of who receives, reads and removes an upload, at each step.

What was received is there once, and what was removed stays away. Servers and their workers are
killed by chance in ``chaos.py``.
"""

import os
import signal
from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Final

import killed
from chapterhouse.errors import ChapterhouseError
from chapterhouse.ingest.uploads import FOLDER
from chapterhouse.library import Library
from chapterhouse.types import JobState
from measuring import Bar, Table

EACH = 12  # kills at each step
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


def measure(folder: Path, share: float) -> tuple[list[Bar], list[Table]]:
    """Kill at every step."""
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
    bars = [
        Bar("uploads: kills", seen.kills.total(), least=200 if share >= 1 else 1),
        Bar("uploads lost, doubled, back or called failed", len(seen.faults), most=0),
    ]
    rows = tuple(sorted(seen.kills.items()))
    return bars, [Table("Kills", ("step", "kills"), rows, "; ".join(seen.faults[:20]))]
