"""``kill -9`` at random delays and at named points; what was acknowledged before is there.

A library of small and large documents is added to, synced with changes, renames and deletions,
indexed anew, removed from and migrated. Half of the time the next work meets what a kill has left.
"""

import os
import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import killed
import migrations
from chapterhouse.store.connections import INLINE_MAXIMUM
from measuring import Bar, Table

RANDOM, NAMED = 105, 10  # kills at random delays, and at each named point
FILES: Final = 30
RANDOM_WORK: Final = ("add", "add", "sync", "sync", "sync", "index", "remove")
WORK_OF: Final = {
    "after a blob": ("add", "sync"),
    "before a commit": ("add", "sync", "remove"),
    "after a commit": ("add", "sync", "remove"),
    "lexical rows written, not committed": ("add", "sync"),
    "lexical index committed, not published": ("add", "sync", "index"),
    "vectors written, not published": ("add", "sync", "index"),
    "files moved, nothing read yet": ("sync",),
    "all read, nothing removed yet": ("sync",),
    "removed, not erased": ("remove",),
    "in a migration": ("migrate",),
}
_OFTEN: Final = {"before a commit": 20, "after a commit": 20, "after a blob": 3}
_TELLS_ONCE: Final = ("index", "remove")  # early; the rest of its lines come at its end
_SEARCHED: Final = 12  # documents searched for after each kill


@dataclass
class Docs:
    """A folder of documents, each of other words, and what was done to it."""

    folder: Path
    chance: random.Random
    words: dict[str, str] = field(default_factory=dict)  # one of each version, by hash
    count: int = 0

    def write(self, name: str) -> None:
        """Write a new version of a document; every tenth is too large to lie in the database."""
        self.count += 1
        word = "zyq" + "".join("abcdefghij"[int(digit)] for digit in f"{self.count:05}")
        more = "The lighthouse was lit again. " * (INLINE_MAXIMUM // 20)
        text = f"# Note {self.count}\n\nThe keeper of the lighthouse wrote {word} at night.\n"
        data = (text + (more if self.count % 10 == 0 else "")).encode()
        (self.folder / name).write_bytes(data)
        self.words[sha256(data).hexdigest()] = word

    def change(self) -> None:
        """Change, rename, delete and add some."""
        names = sorted(path.name for path in self.folder.iterdir())
        chosen = self.chance.sample(names, 10)
        for name in chosen[:4]:
            self.write(name)
        for name in chosen[4:7]:
            (self.folder / name).rename(self.folder / f"m{self.count:05}{name[-8:]}")
            self.count += 1
        for name in chosen[7:9]:
            (self.folder / name).unlink()
        for _ in range(max(FILES - len(names) + 2, 1)):
            self.write(f"n{self.count:05}-new.md")

    def now(self) -> dict[str, str]:
        """Return the hash of each file, by location."""
        return {
            str(path): sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.folder.iterdir())
        }


@dataclass
class Counts:
    """What was seen."""

    kills: Counter[str] = field(default_factory=Counter)
    late: int = 0
    faults: list[str] = field(default_factory=list)
    ready: list[float] = field(default_factory=list)
    synced: list[float] = field(default_factory=list)
    parked: int = 0
    died: int = 0


def _kill(kind: str, home: Path, docs: Path, chance: random.Random, **options: Any) -> list[str]:
    """Let work be killed; return the lines that it told before."""
    process, pipe = killed.start(kind, home, docs, **options)
    with os.fdopen(pipe) as lines:
        told: list[str] = []
        if not options.get("point"):
            told += [
                lines.readline()
                for _ in range(1 if kind in _TELLS_ONCE else chance.randrange(1, 8))
            ]
            time.sleep(chance.random() * chance.choice([0.0, 0.02, 0.2, 0.6]))
            os.kill(process, signal.SIGKILL)
        told += lines.readlines()
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return ["ended"] if status == 0 else [line for line in told if line.endswith("\n")]


def faults_of(
    before: dict[str, str], disk: dict[str, str], found: dict[str, str], told: Iterable[str],
    going: Iterable[str],
) -> Iterable[str]:  # fmt: skip
    """Yield what is wrong with the documents that a killed process left.

    Args:
        before: The library before, hash by location.
        disk: The folder.
        found: The library now.
        told: What was acknowledged.
        going: Hashes of the documents that were being removed.
    """
    hashes = Counter(found.values())
    yield from (f"{name[:8]} is there {n} times" for name, n in hashes.items() if n > 1)
    gone = set(going)
    on_disk = set(disk.values())
    yield from (
        f"{name[:8]} is lost"
        for name in before.values()
        if name in on_disk and name not in hashes and name not in gone
    )
    yield from (
        f"{place} is lost" for place in before
        if place in disk and place not in found and before[place] not in gone
    )  # fmt: skip
    for place, name in found.items():
        if name not in (before.get(place), disk.get(place)):
            yield f"{place} holds what it never held"
    for line in told:
        place, _, digest = line.rstrip("\n").partition("\t")
        if place == "removed" and digest in found:
            yield f"{digest} was removed and is there"
        elif place.startswith("/") and digest and found.get(place) != digest:
            yield f"{place} was acknowledged and is not there"
        elif place == "synced" and found != disk:
            yield "a sync had ended and the library is not the folder"


class Trial:
    """A library that is killed at again and again."""

    def __init__(self, folder: Path, chance: random.Random, counts: Counts) -> None:
        self._home, self._chance, self._counts = folder / "home", chance, counts
        (folder / "docs").mkdir(parents=True)
        self._docs = Docs(folder / "docs", chance)
        for number in range(FILES):
            self._docs.write(f"n{number:05}-old.md")
        process, pipe = killed.start("add", self._home, self._docs.folder)
        with os.fdopen(pipe) as lines:
            lines.read()
        os.waitpid(process, 0)
        self._known = self._docs.now()

    def kill(self, kind: str, point: str = "") -> bool:
        """Change the folder and kill work over it; say whether it was killed at all."""
        counts, chance, before = self._counts, self._chance, self._known
        if kind in ("add", "sync"):
            self._docs.change()
        going = chance.sample(sorted(before), min(3, len(before))) if kind == "remove" else []
        options: dict[str, Any] = {"names": going}
        if point:
            options |= {"point": point, "count": chance.randint(1, _OFTEN.get(point, 1))}
        told = _kill(kind, self._home, self._docs.folder, chance, **options)
        words = self._docs.words
        some = chance.sample(sorted(words), min(_SEARCHED, len(words)))
        seen = killed.look(
            self._home, {one: words[one] for one in some}, recover=chance.random() < 0.5
        )
        disk = self._docs.now()
        faults = list(seen["faults"])
        if "documents" in seen:
            hashes = [before[place] for place in going]
            faults += faults_of(before, disk, seen["documents"], told, hashes)
            if seen["synced"]:
                counts.synced.append(seen["synced"])
                if seen["after"] != disk:
                    faults.append("after the next sync the library is not the folder")
            counts.ready.append(seen["ready"])
            counts.parked += seen["parked"]
            counts.died += seen["died"]
            self._known = seen["after"]
        where = point or "at random"
        counts.faults += [f"{kind}, {where}: {fault}" for fault in faults]
        if told == ["ended"]:
            return False
        counts.kills[f"{kind}, {where}"] += 1
        counts.late += bool(told)
        return True


def _kill_migration(old: Path, folder: Path, count: int, counts: Counts) -> None:
    """Kill the upgrade of an old library at one of its statements."""
    shutil.copytree(old, folder)
    _kill("migrate", folder, folder, random.Random(0), point="in a migration", count=count)
    seen = killed.look(folder, {}, recover=False)
    wanted = migrations.documents_of(old)
    faults = list(seen["faults"])
    if "documents" in seen:
        counts.ready.append(seen["ready"])
        if seen["documents"] != wanted:
            faults.append("it lost documents")
    counts.kills["migrate, in a migration"] += 1
    counts.late += 1  # what an old library holds was acknowledged long ago
    counts.faults += [f"migration, statement {count}: {fault}" for fault in faults]


def measure(folder: Path, share: float) -> tuple[list[Bar], list[Table]]:
    """Kill at random delays, then at each named point."""
    chance, counts = random.Random(20), Counts()
    trial = Trial(folder / "trial", chance, counts)
    for number in range(max(int(RANDOM * share), 7)):
        _until(lambda number=number: trial.kill(RANDOM_WORK[number % len(RANDOM_WORK)]))  # type: ignore[misc]
        print(number, counts.faults[-1:], flush=True)
    each = max(int(NAMED * share), 1)
    for point, kinds in WORK_OF.items():
        if point == "in a migration":
            continue
        for number in range(each):
            kind = kinds[number % len(kinds)]
            _until(lambda kind=kind, point=point: trial.kill(kind, point))  # type: ignore[misc]
        print(point, counts.faults[-1:], flush=True)
    old = migrations.make_old(folder / "old", 1)
    for number in range(each):
        _kill_migration(old, folder / f"old-{number}", number * 5 + 1, counts)
    return _result(counts, share)


def _until(kill: Callable[[], bool]) -> None:
    """Repeat what may end before it comes by its point."""
    for _ in range(20):
        if kill():
            return


def _result(counts: Counts, share: float) -> tuple[list[Bar], list[Table]]:
    total = counts.kills.total()
    named = {
        point: sum(n for name, n in counts.kills.items() if name.endswith(f", {point}"))
        for point in WORK_OF
    }
    bars = [
        Bar("kills", total, least=200 if share >= 1 else 1),
        Bar("least kills at a named point", min(named.values()), least=10 if share >= 1 else 1),
        Bar("kills after an acknowledgement of the same run", counts.late / total, least=0.8),
        Bar(
            "documents lost, doubled or half, or faults of the library", len(counts.faults), most=0
        ),
        Bar("most seconds until the library answers again", round(max(counts.ready), 2), most=5),
    ]
    rows = tuple(sorted(counts.kills.items()))
    note = (
        f"The next sync took at most {max(counts.synced, default=0):.2f} s."
        f" {counts.died} times it said first that its job had died three times;"
        f" files parked for that: {counts.parked}."
    )
    faults = tuple((fault, n) for fault, n in Counter(counts.faults).items())
    tables = [Table("Kills", ("work, point", "kills"), rows, note)]
    return bars, [*tables, *([Table("Faults", ("fault", "times"), faults)] if faults else [])]
