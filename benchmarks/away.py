"""Disks come and go: nothing that is away is lost, nothing that was deleted stays.

    python benchmarks/away.py [--histories N] [--first SEED]

Random histories with disks (bind mounts), a memory file system whose folder is bound in the place
of a network folder, two disks that take turns at one place, a mount inside a mount, and mounts over
files that were read before. Files are written, edited, renamed and deleted, also while their disk
is away; a folder is emptied. The library follows by the command line, by ``sync --watch`` or by a
server. Each history runs in a mount namespace of its own (``unshare -Urm``); where that is not
permitted the harness says so and measures nothing.

The files on the disks themselves say what has to be there: each has words of its own. What the
library once had of a file that is still on its disk must be there after each sync, and the memories
that rest on it. Now and then all is mounted again and the deletions are confirmed: then the library
is exactly what the files are.
"""

import argparse
import json
import random
import re
import socket
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from chapterhouse import Library
from chapterhouse.types import OPEN
from measuring import Bar, Machine, Table, finish

HISTORIES = 50
STEPS = 14
DRIVERS = ("cli", "watch", "server")
MANY = 24  # files of a folder that is emptied
_SECONDS = 120.0  # for a sync that follows by itself
NAMESPACE = ("unshare", "-Urm")
COLOURS = ("blue", "red", "green", "grey")
WORD = re.compile(r"w\d+x\d+")

# Where each disk is mounted, in the order in which all are mounted again.
HOMES = {
    "disk": "docs/share",
    "inner": "docs/share/inner",  # a mount inside a mount
    "network": "docs/net",
    "over": "docs/letters",  # over files of the folder
    "first": "docs/slot",
    "second": "docs/slot",  # takes turns
    "stick": "loose",  # files that were added one by one
    "shelf": "persona",  # the folder of a persona
}


def main() -> int:
    """Run the histories and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=HISTORIES)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--one", nargs=2, metavar=("SEED", "FOLDER"))
    options = parser.parse_args()
    if options.one:
        seed, folder = options.one
        print(json.dumps(History(int(seed), Path(folder)).run()))
        return 0
    if subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False).returncode:
        print("Mounting is not permitted here: nothing was measured.", file=sys.stderr)
        return 0
    machine, counts = Machine(), Counter[str]()
    for seed in range(options.first, options.first + options.histories):
        with TemporaryDirectory(prefix="away-", ignore_cleanup_errors=True) as folder:
            command = [*NAMESPACE, sys.executable, __file__, "--one", str(seed), folder]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(done.stderr, file=sys.stderr)
            counts["failed"] += 1
            continue
        counts += Counter(json.loads(done.stdout.splitlines()[-1]))
        print(f"{seed}: {dict(counts)}", done.stderr, file=sys.stderr)
    return _finish(counts, options.histories, machine)


def _finish(counts: Counter[str], histories: int, machine: Machine) -> int:
    bars = [
        Bar("histories", histories - counts["failed"], least=histories),
        Bar("documents lost", counts["lost"], most=0),
        Bar("memories lost", counts["memories lost"], most=0),
        Bar("documents of deleted files after confirmation", counts["wrongly kept"], most=0),
        Bar("files that are there and were not read", counts["unread"], most=0),
    ]
    rows = tuple((name, f"{counts[name]:,}") for name in sorted(counts))
    return finish(
        "away",
        "Disks that come and go",
        bars,
        [Table("What was done", ("what", "how often"), rows)],
        machine.setting(),
        write=histories >= HISTORIES,
    )


def call(*command: str | Path) -> bool:
    """Run a command; say whether it went well."""
    return not subprocess.run(command, capture_output=True, check=False).returncode


@dataclass
class History:
    """One history: disks, the library that follows them, and what it once had."""

    seed: int
    folder: Path
    counts: Counter[str] = field(default_factory=Counter)
    once: set[str] = field(default_factory=set)  # words of files that the library had
    memories: dict[str, frozenset[str]] = field(default_factory=dict)  # id, words of what it cites
    number: int = 0
    follower: subprocess.Popen[bytes] | None = None
    library: Library = field(init=False)

    def run(self) -> Counter[str]:
        """Do it all, and return what was done and found."""
        self.chance = random.Random(self.seed)
        self.driver = DRIVERS[self.seed % len(DRIVERS)]
        self._prepare()
        with Library.open(self.folder / "home") as self.library:
            self._go_through()
        self.counts["histories"] += 1
        return self.counts

    def _go_through(self) -> None:
        self._follow()
        self._check()
        try:
            for _ in range(STEPS):
                self._step()
                if self.chance.random() < 0.6:
                    self._sync()
                    self._check()
                    self.counts["unread"] += len(self._seen() - self._words())
            self._settle()
        finally:
            if self.follower:
                self.follower.terminate()
                self.follower.wait(30)

    # --- the disks -----------------------------------------------------------------------------

    def _prepare(self) -> None:
        for name in ("docs/letters", "docs/mass", "docs/slot", "docs/net", "docs/share", "loose"):
            (self.folder / name).mkdir(parents=True)
        for name in (*HOMES, "under"):
            (self.folder / "disks" / name).mkdir(parents=True)
        (self.folder / "persona").mkdir()
        call("mount", "-t", "tmpfs", "server", self.folder / "disks/network")
        call("mount", "-t", "tmpfs", "second", self.folder / "disks/second")
        # The files of the folder itself, whatever is mounted over them.
        call("mount", "--bind", self.folder, self.folder / "disks/under")
        (self.folder / "disks/disk/inner").mkdir()
        for name in HOMES:
            self._write(self.folder / "disks" / name, 3)
        for name in ("docs", "docs/letters"):
            self._write(self.folder / name, 3)
        self._write(self.folder / "docs/mass", MANY)
        for name in HOMES:
            if name != "second":
                self._mount(name)
        with Library.open(self.folder / "home") as library:
            library.documents.add(self.folder / "docs")
            library.documents.add(*sorted((self.folder / "loose").glob("*.md")))
            library.personas.create("maria", folders=[str(self.folder / "persona")])
            library.sources.sync()

    def _store(self, name: str) -> Path:
        return self.folder / "disks" / name

    def _files(self) -> dict[str, Path]:
        """Return the words of all files on all disks, mounted or not, and where each is."""
        places = [self._store(name) for name in HOMES]
        places += [self._store("under") / name for name in ("docs", "loose", "persona")]
        return {
            path.read_text().split()[1]: path
            for place in places
            for path in place.rglob("*.md")
            if path.name != "tick.md"
        }

    def _seen(self) -> set[str]:
        """Return the words of the files that can be seen below the source."""
        paths = (path for path in (self.folder / "docs").rglob("*.md") if path.name != "tick.md")
        return {path.read_text().split()[1] for path in paths}

    def _write(self, folder: Path, count: int) -> None:
        for _ in range(count):
            self._write_file(folder / f"n{self.number}.md")

    def _write_file(self, path: Path) -> None:
        self.number += 1
        word = f"w{self.seed}x{self.number}"
        colour = self.chance.choice(COLOURS)
        path.write_text(f"# {word} of the harbour\n\nThe lamp {word} of the harbour is {colour}.\n")

    def _mount(self, name: str) -> None:
        point = self.folder / HOMES[name]
        if point.is_dir():
            self.counts["mounts"] += call("mount", "--bind", self._store(name), point)

    def _unmount(self, name: str) -> bool:
        point = self.folder / HOMES[name]
        if call("umount", point) or (_is_mount(point) and call("umount", "-l", point)):
            self.counts["disks that went"] += 1
            return True
        return False

    # --- what happens --------------------------------------------------------------------------

    def _step(self) -> None:
        name = self.chance.choice(sorted(HOMES))
        steps = [self._come, self._go, self._go, self._change, self._change, self._remember]
        step = self.chance.choice([*steps, self._empty, self._settle_sometimes, self._without_all])
        step(name)

    def _come(self, name: str) -> None:
        if not _is_mount(self.folder / HOMES[name]):
            self._mount(name)

    def _go(self, name: str) -> None:
        self._unmount(name)

    def _change(self, name: str) -> None:
        """Write, edit, rename or delete on a disk, whether it is mounted or not."""
        place = self.chance.choice([self._store(name), self._store("under") / "docs/letters"])
        self._write(place, self.chance.randint(0, 2))
        files = sorted(place.glob("*.md"))
        for path in self.chance.sample(files, min(len(files), 2)):
            kind = self.chance.choice(["edit", "rename", "delete"])
            if name == "stick":  # files that were added one by one are not looked for elsewhere
                kind = "delete"
            self.counts[f"files: {kind}"] += 1
            if kind == "edit":
                self._write_file(path)
            elif kind == "rename":
                self.number += 1
                path.rename(path.with_name(f"r{self.number}.md"))
            else:
                path.unlink()

    def _empty(self, _: str) -> None:
        """Empty a folder by mistake."""
        mass = self.folder / "docs/mass"
        files = {path.name: path.read_text() for path in mass.glob("*.md")}
        if len(files) < MANY or {text.split()[1] for text in files.values()} - self.once:
            return
        for name in files:
            (mass / name).unlink()
        self._sync()
        self.counts["folders emptied"] += 1
        self.counts["lost"] += len({text.split()[1] for text in files.values()} - self._words())
        if self.chance.random() < 0.5:
            for name, text in files.items():
                (mass / name).write_text(text)
        else:
            self._settle()
            self._write(mass, MANY)

    def _remember(self, _: str) -> None:
        """Ask for something that a document says, so that it is remembered."""
        word = self.chance.choice(sorted(self._words()))
        answer = self.library.answers.ask(f"Which colour has the lamp {word} of the harbour?")
        cited = frozenset(WORD.findall(repr(answer.citations)))
        known = self._remembered()
        for identifier in known - self.memories.keys():
            self.counts["memories"] += 1
            self.memories[identifier] = cited

    def _without_all(self, _: str) -> None:
        """Confirm a sync while no disk is there at all: still nothing of them is gone."""
        for name in reversed(HOMES):
            while self._unmount(name):
                pass
        self._confirm()
        self.counts["confirmed without a disk"] += 1
        self._check()

    def _settle_sometimes(self, _: str) -> None:
        if self.chance.random() < 0.5:
            self._settle()

    def _settle(self) -> None:
        """Mount all again, confirm what was deleted, and compare."""
        for name in reversed(HOMES):
            while self._unmount(name):
                pass
        self._confirm()  # what is below the mount points can be seen now
        self._check()
        for name in HOMES:
            if name != "second":
                self._mount(name)
        self._confirm()
        # With the first disk there, the files of the second were said to be deleted: they are read
        # anew, and what rested on them is forgotten.
        second = {
            word for word, path in self._files().items() if self._store("second") in path.parents
        }
        self.memories = {one: cited for one, cited in self.memories.items() if not cited & second}
        self._unmount("first")
        self._mount("second")
        self._confirm()
        files, words = self._files(), self._words()
        self.counts["confirmed"] += 1
        self.counts["wrongly kept"] += len(words - files.keys())
        # What is not on the disks that are there was said to be deleted, though it is not.
        hidden = (self._store("first"), self._store("under") / "docs/letters")
        self.once -= {word for word, path in files.items() if path.parent in hidden}
        self._check()

    # --- the library ---------------------------------------------------------------------------

    def _cli(self, *arguments: str) -> int:
        command = [sys.executable, "-m", "chapterhouse", *arguments]
        home = ("--home", str(self.folder / "home"))
        done = subprocess.run([*command, *home], capture_output=True, text=True, check=False)
        if done.returncode not in {0, 4}:
            raise RuntimeError(f"{arguments} ended with {done.returncode}: {done.stderr}")
        return done.returncode

    def _confirm(self) -> None:
        if self.driver == "cli":
            self._cli("sync", "--yes")
        else:
            self.library.sources.sync(confirmed=True)

    def _follow(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        commands = {"watch": ("sync", "--watch"), "server": ("serve", "--port", port)}
        if self.driver in commands:
            command = [sys.executable, "-m", "chapterhouse", *commands[self.driver]]
            home = ("--home", str(self.folder / "home"))
            self.follower = subprocess.Popen(
                [*command, *home], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )

    def _sync(self) -> None:
        """Let the library follow what happened."""
        self.counts[f"syncs by {self.driver}"] += 1
        if self.driver == "cli" or self.chance.random() < 0.2:
            self._cli("sync")
            return
        self.number += 1
        word = f"tick{self.number}"
        (self.folder / "docs/tick.md").write_text(f"# {word} of the clock\n\nIt struck {word}.\n")
        end = time.monotonic() + _SECONDS
        while time.monotonic() < end:
            found = self.library.documents.list(text=word)
            if tuple(found) and not tuple(self.library.jobs.list(OPEN)):
                return
            time.sleep(0.1)
        raise RuntimeError(f"The library did not follow in {_SECONDS} seconds.")

    def _words(self) -> set[str]:
        """Return the words of the documents that the library has."""
        titles = {one.title for one in self.library.documents.list()}
        return {title.split()[0] for title in titles if not title.startswith("tick")}

    def _remembered(self) -> set[str]:
        found = self.library.memory.memories([""], 1_000, int(time.time()))
        return {one.id for one in found}

    def _check(self) -> None:
        files, words = self._files(), self._words()
        self.once &= files.keys()
        self.counts["checks"] += 1
        lost = self.once - words
        if lost:
            print(f"{self.driver} lost {[str(files[word]) for word in lost]}", file=sys.stderr)
        self.counts["lost"] += len(lost)
        self.once |= words & files.keys()
        known = self._remembered()
        self.memories = {one: cited for one, cited in self.memories.items() if cited <= self.once}
        self.counts["memories lost"] += len(self.memories.keys() - known)


def _is_mount(path: Path) -> bool:
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    return any(line.split()[4] == str(path) for line in mounts)


if __name__ == "__main__":
    sys.exit(main())
