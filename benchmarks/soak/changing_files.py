"""Files that are rewritten, or swapped for a link out of their folder, while they are read.

Another process does it without a pause, 500 times and more, while this one adds and syncs. What is
stored under a hash has that hash, and holds one version wholly; nothing from outside comes in.
"""

import os
import random
import shutil
import signal
import time
from collections import Counter
from hashlib import sha256
from pathlib import Path

from chapterhouse.library import Library
from chapterhouse.types import Scope
from measuring import Bar, Table

EVERYTHING = Scope.everything()

CHANGES, READS, FILES = 500, 200, 6
OUTSIDE = "zyqsecret is a word that stands outside of the folder."
_UNREAD = ("unchanged", "symbolic-link", "vanished", "cannot-open")
_LINES = 400


def version(number: int) -> bytes:
    """Return a version of a file, of which every line is the same."""
    line = f"The lighthouse was repainted for the {number:07} time by its keeper.\n"
    return line.encode() * _LINES


def change(folder: Path, outside: Path, ready: Path) -> None:
    """Change files until killed: rewritten in place, replaced, or swapped for a link and back."""
    chance, count, parent = random.Random(3), 0, os.getppid()
    while os.getppid() == parent:
        count += 1
        path = folder / f"{chance.randrange(FILES)}.md"
        kind = chance.choice(["rewrite", "rewrite", "replace", "link", "folder"])
        if kind == "rewrite":
            if path.is_symlink():
                path.unlink()
            path.write_bytes(version(count))
        elif kind == "replace":
            new = folder / ".new"
            new.write_bytes(version(count))
            new.replace(path)
        elif kind == "link":
            link = folder / ".link"
            link.symlink_to(outside / "0.md")
            link.replace(path)
        else:
            _swap_folder(folder, outside)
        ready.write_text(f"{count}")
        time.sleep(0.005)


def _swap_folder(folder: Path, outside: Path) -> None:
    """Swap a folder below for a link to the one outside, and back."""
    inside, aside = folder / "below", folder.with_name("aside")
    inside.rename(aside)
    inside.symlink_to(outside)
    time.sleep(0.002)
    inside.unlink()
    aside.rename(inside)


def _prepare(folder: Path) -> tuple[Path, Path]:
    docs, outside = folder / "docs", folder / "outside"
    (docs / "below").mkdir(parents=True)
    outside.mkdir()
    (outside / "0.md").write_text(OUTSIDE)
    for number in range(FILES):
        (docs / f"{number}.md").write_bytes(version(0))
    (docs / "below" / "0.md").write_bytes(version(0))
    return docs, outside


def faults_of(library: Library) -> list[str]:
    """Return what of the stored documents is no whole version, or not what its hash says."""
    faults = []
    store = library._runtime.store  # noqa: SLF001 - the stored bytes
    for document in library.documents.list():
        data = store.content(document.sha256, EVERYTHING)
        if data is None or sha256(data).hexdigest() != document.sha256:
            faults.append(f"{document.source}: the stored bytes have another hash")
        elif len(set(data.splitlines())) != 1:
            faults.append(f"{document.source}: two versions in one")
        body = library.documents.body(document.id).text
        if data is not None and body.split() != data.decode().split():
            faults.append(f"{document.source}: its text is not that of its bytes")
    if library.search.hits('"zyqsecret"', limit=1).hits:
        faults.append("what is outside of the folder is found")
    return faults


def run(folder: Path, changes: int, reads_wanted: int) -> tuple[int, int, Counter[str], list[str]]:
    """Read files while they change; return changes, reads, how files ended, and faults."""
    docs, outside = _prepare(folder)
    ready, reads = folder / "count", 0
    codes: Counter[str] = Counter()
    faults: list[str] = []
    process = os.fork()
    if not process:
        try:
            change(docs, outside, ready)
        finally:
            os._exit(1)
    with Library.open(folder / "home") as library:
        library.sources.add(str(docs))
        while _count(ready) < changes or reads < reads_wanted:
            report = library.sources.sync(prove=False, confirmed=True)[0]
            for outcome in report.files.outcomes:
                codes[outcome.record.code or outcome.record.status] += 1
                reads += outcome.record.code not in _UNREAD
            faults += faults_of(library)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        _settle(docs)
        library.sources.sync(prove=False, confirmed=True)
        faults += faults_of(library)
        faults += library.faults()
        missing = _unequal(library, docs)
    return _count(ready), reads, codes, [*faults, *missing]


def _settle(docs: Path) -> None:
    """Undo a swap that was not finished."""
    aside, below = docs.with_name("aside"), docs / "below"
    if aside.exists():
        if below.is_symlink():
            below.unlink()
        shutil.rmtree(below, ignore_errors=True)
        aside.rename(below)


def _unequal(library: Library, docs: Path) -> list[str]:
    """Return the files that are not in the library as they are, when all is quiet."""
    found = {one.location: one.sha256 for one in library.documents.list()}
    files = [path for path in docs.glob("**/*.md") if not path.is_symlink()]
    wanted = {str(path): sha256(path.read_bytes()).hexdigest() for path in files}
    return [] if found == wanted else ["at rest the library is not the folder"]


def _count(path: Path) -> int:
    text = path.read_text() if path.exists() else ""
    return int(text) if text else 0


def measure(folder: Path, share: float) -> tuple[list[Bar], list[Table]]:
    """Read files that change."""
    wanted = max(int(CHANGES * share), 5)
    opened = max(int(READS * share), 5)
    changes, reads, codes, faults = run(folder, wanted, opened)
    bars = [
        Bar("times that a file was changed or swapped", changes, least=wanted),
        Bar("times that a file was read meanwhile", reads, least=opened),
        Bar("documents with other bytes than their hash, or from outside", len(faults), most=0),
    ]
    rows = tuple(sorted(codes.items()))
    note = "; ".join(f"{fault} ({n})" for fault, n in Counter(faults).items())
    return bars, [Table("How files ended", ("code or status", "times"), rows, note)]
