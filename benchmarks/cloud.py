"""A cloud drive of 500 small files, over WebDAV and S3, behind a proxy that breaks transfers.

    python benchmarks/cloud.py

The servers are rclone's own, on this machine. The drive is synced, synced again, changed, and
changed while one transfer in four is dropped, cut, shortened, altered, refused or stalls. After
every pass each document must be, byte for byte, a file that was in the drive, and after the last
the library must be the drive. The proxy counts requests, and transfers at a time. Takes about two
minutes.
"""

import hashlib
import os
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from measuring import Bar, Machine, Row, Table, finish

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the servers and the proxy of the tests

from tests.clouds import OLD, Drive, connected

from chapterhouse import Library
from chapterhouse.facets import drives

FILES = 500
TRANSFERS = 3
MOST_PASSES = 4
FAULTS = ("drop", "cut", "short", "alter", "429", "503", "cut", "short")
SHARE = 0.25  # of transfers that go wrong
STALLS = 4
SETTINGS = "[embedding]\nbackground = false\n"
drives.PATIENCE = replace(drives.PATIENCE, stall_seconds=2.0)


@dataclass
class Counts:
    """What went wrong over all passes."""

    foreign: int = 0  # documents whose bytes were never in the drive
    different: int = 0  # files and documents that differ after the last pass
    most_at_once: int = 0
    rows: list[Row] = field(default_factory=list)


def text(number: int, version: int) -> str:
    """Return a small document; no two are the same."""
    supply = random.Random(f"{number}/{version}")
    words = " ".join(supply.choice(("tide", "berth", "fog", "quay", "mast")) for _ in range(300))
    return f"# Paper {number}\n\nVersion {version} of paper {number}: {words}.\n"


def write(drive: Drive, numbers: range, version: int, known: set[str]) -> None:
    """Write files of a version, and note their hashes."""
    for number in numbers:
        content = text(number, version)
        drive.write(f"Papers/{number % 10}/{number:03}.md", content, OLD + version)
        known.add(hashlib.sha256(content.encode()).hexdigest())


def differences(drive: Drive, library: Library) -> int:
    """Count files that are no document, documents that are no file, and those that differ."""
    here = {
        str(path.relative_to(drive.folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in drive.folder.rglob("*.md")
    }
    prefix = drive.place.location() + ("/" if drive.place.path else "")
    stored = {
        document.location.removeprefix(prefix): document.sha256
        for document in library.documents.list()
    }
    return len(set(here.items()) ^ set(stored.items()))


def wrong(seed: int) -> Iterator[str]:
    """Yield what happens to each transfer in turn."""
    supply, stalls = random.Random(seed), 0
    while True:
        if supply.random() > SHARE:
            yield ""
        elif stalls < STALLS and supply.random() < 0.1:
            stalls += 1
            yield "stall"
        else:
            yield supply.choice(FAULTS)


def sync(what: str, drive: Drive, library: Library, known: set[str], counts: Counts) -> int:
    """Sync until nothing changes any more; note what it took, and return the passes."""
    drive.proxy.forget()
    place = f"{drive.place}/Papers" if drive.place.path else f"{drive.place}Papers"
    began = time.perf_counter()
    number, left = 0, 1
    while left and number < MOST_PASSES:
        number += 1
        report = library.cloud.sync(place).files
        counts.foreign += sum(document.sha256 not in known for document in library.documents.list())
        left = differences(drive, library)
    proxy = drive.proxy
    counts.different += left
    counts.most_at_once = max(counts.most_at_once, proxy.most_at_once)
    seconds = time.perf_counter() - began
    counts.rows.append(
        (drive.kind, what, number, seconds, len(proxy.transfers), proxy.calls, proxy.most_at_once,
         left)
    )  # fmt: skip
    print(counts.rows[-1], f"changed in the last pass: {report.changed}", flush=True)
    return number


def browse(drive: Drive, library: Library) -> tuple[int, int]:
    """Return the calls of looking at every folder, and of doing so again."""
    counts = []
    for _ in range(2):
        drive.proxy.forget()
        root = f"{drive.place}/Papers" if drive.place.path else f"{drive.place}Papers"
        for name in library.cloud.folders(root):
            library.cloud.files(f"{root}/{name}")
        counts.append(drive.proxy.calls)
    return counts[0], counts[1]


def measure(kind: str, counts: Counts) -> list[Bar]:
    """Put one kind of drive through all of it."""
    known: set[str] = set()
    with TemporaryDirectory() as name, connected(kind, Path(name).resolve()) as drive:
        os.environ["RCLONE_CONFIG"] = str(drive.config)
        home = Path(name) / "home"
        home.mkdir()
        (home / "chapterhouse.toml").write_text(SETTINGS)
        with Library.open(home) as library:
            write(drive, range(FILES), 0, known)
            sync("500 new files", drive, library, known, counts)
            sequence = library.status().sequence
            sync("nothing changed", drive, library, known, counts)
            again = len(drive.proxy.transfers) + library.status().sequence - sequence
            write(drive, range(50), 1, known)
            for number in range(50, 80):
                (drive.folder / f"Papers/{number % 10}/{number:03}.md").unlink()
            write(drive, range(FILES, FILES + 20), 0, known)
            sync("50 changed, 30 deleted, 20 new", drive, library, known, counts)
            write(drive, range(100, 300), 2, known)
            for number in range(300, 320):
                (drive.folder / f"Papers/{number % 10}/{number:03}.md").unlink()
            drive.proxy.faults[""] = wrong(7)
            drive.proxy.listing_faults = iter(["503", "429"])
            passes = sync("200 changed, 20 deleted, faults", drive, library, known, counts)
            drive.proxy.faults.clear()
            first, second = browse(drive, library)
    return [
        Bar(f"{kind}: transfers and writes of a sync of what has not changed", again, most=0),
        Bar(
            f"{kind}: passes until the library is the drive, with faults", passes, most=MOST_PASSES
        ),
        Bar(f"{kind}: calls of browsing again, share of the first time", second / first, most=0.5),
    ]


def main() -> int:
    machine, counts = Machine(), Counts()
    bars = [bar for kind in ("webdav", "s3") for bar in measure(kind, counts)]
    bars += [
        Bar("files and documents that differ after the last pass", counts.different, most=0),
        Bar("documents stored short or altered, over all passes", counts.foreign, most=0),
        Bar("transfers at once", counts.most_at_once, most=TRANSFERS),
    ]
    columns = ("drive", "what", "passes", "seconds", "transfers", "requests", "at once", "differ")
    table = Table("Syncs", columns, tuple(counts.rows))
    return finish("cloud", "A cloud drive that fails", bars, [table], machine.setting())


if __name__ == "__main__":
    sys.exit(main())
