"""One more document: from adding it until a search finds it.

    python benchmarks/incremental.py [--million]

Thirty files of about 10 KB, added one by one to a library of 100,000 chunks (or of a million) that
is open and warm; after each, the word that only this file holds is searched. The files are as
young as the watcher of a folder would find them, or old (an hour), in which case ``add`` need not
wait for them to settle (``docs/decisions/0006``); the bar is on the young. Then ten more, each
by a process of its own. All are removed again. Takes a minute once the library is built.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from chapterhouse.library import Library
from measuring import Bar, Machine, Row, Table, data_folder, finish, percentile
from query import MILLION, open_indexes, open_store
from scale_corpus import documents, kept_library, sentences

MOST_MS = {100_000: 150.0, MILLION: 300.0}
FILES = 30
PROCESSES = 10
BYTES = 10_000
HOUR = 3_600
ONE = """
import sys, time
from chapterhouse import Library
with Library.open(sys.argv[1], create=False) as library:
    began = time.perf_counter()
    (outcome,) = library.documents.add(sys.argv[2]).outcomes
    hit = library.search.hits(sys.argv[3]).hits[0]
    assert sys.argv[3] in hit.chunk.text
    print((time.perf_counter() - began) * 1e3, outcome.record.document_id)
"""


def texts(pool: Sequence[str]) -> Iterator[str]:
    """Yield Markdown of about 10 KB without end."""
    supply = documents(pool, seed=7)
    while True:
        text = next(supply)
        while len(text) < BYTES:
            text += f"\n\n{next(supply)}"
        yield text[:BYTES]


def word(number: int, kind: str) -> str:
    """Return a word that stands in one file only."""
    return f"qz{kind}word{number}x"


def write(folder: Path, text: str, mark: str, *, age: int) -> Path:
    """Write one file, as old as is wanted, in seconds."""
    path = folder / f"{mark}.md"
    path.write_text(f"{text}\n\nHere stands {mark} alone.\n", encoding="utf-8")
    moment = time.time() - age
    os.utime(path, (moment, moment))
    return path


def add_each(
    library: Library, folder: Path, supply: Iterator[str], kind: str, age: int
) -> tuple[dict[str, list[float]], list[str]]:
    """Add files one by one; return milliseconds of each step, and the documents' ids."""
    steps: dict[str, list[float]] = {"add": [], "search": [], "together": []}
    names: list[str] = []
    for number in range(FILES):
        mark = word(number, kind)
        path = write(folder, next(supply), mark, age=age)
        began = time.perf_counter()
        (outcome,) = library.documents.add(path).outcomes
        added = time.perf_counter()
        hit = library.search.hits(mark).hits[0]
        seen = time.perf_counter()
        if mark not in hit.chunk.text:
            raise SystemExit(f"{mark} was added but not found")
        names.append(outcome.record.document_id)
        for step, seconds in zip(steps, (added - began, seen - added, seen - began), strict=True):
            steps[step].append(seconds * 1e3)
    return steps, names


def by_processes(home: Path, folder: Path, supply: Iterator[str]) -> tuple[list[float], list[str]]:
    """Add files by a process each; return milliseconds within the open library, and ids."""
    taken, names = [], []
    for number in range(PROCESSES):
        mark = word(number, "p")
        path = write(folder, next(supply), mark, age=0)
        command = [sys.executable, "-c", ONE, str(home), str(path), mark]
        shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        taken.append(float(shown[0]))
        names.append(shown[1])
    return taken, names


def segments(home: Path) -> int:
    """Count the segments of the lexical index."""
    (newest,) = sorted(home.glob("workspaces/default/index/lexical/tantivy.*/meta.json"))[-1:]
    return len(json.loads(newest.read_text("utf-8"))["segments"])


def measure(home: Path, pool: Sequence[str]) -> tuple[dict[str, list[float]], int]:
    """Return milliseconds by what was done, and the segments at the end."""
    supply = texts(pool)
    rows: dict[str, list[float]] = {}
    with TemporaryDirectory() as name:
        folder = Path(name).resolve()
        with Library.open(home, create=False) as library:
            library.search.hits("something to get warm")
            for kind, age in (("young", 0), ("old", HOUR)):
                add_each(library, folder, supply, f"{kind}warm", age)
                steps, _ = add_each(library, folder, supply, kind, age)
                rows |= {f"{kind} file, {step}": taken for step, taken in steps.items()}
        rows["a process each, add and search"], _ = by_processes(home, folder, supply)
        left = segments(home)
        with Library.open(home, create=False) as library:
            made = str(folder)
            own = [
                document.id for document in library.documents.list() if made in document.location
            ]
            library.documents.remove(*own)
    return rows, left


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--million", action="store_true", help="a library of a million chunks")
    size = MILLION if parser.parse_args().million else 100_000
    machine = Machine()
    pool = sentences(data_folder())
    home = kept_library(pool, size)
    with open_store(home) as store:
        for index in open_indexes(home):
            index.catch_up(store)
    rows, left = measure(home, pool)
    together = rows["young file, together"]
    bars = [
        Bar(f"a document more among {size:,} chunks, ms", percentile(together, 0.5),
            most=MOST_MS[size]),
        Bar("segments of the lexical index afterwards", left, most=40),
    ]  # fmt: skip
    cells: list[Row] = [
        (what, len(taken), *(percentile(taken, share) for share in (0.5, 0.95)), max(taken))
        for what, taken in rows.items()
    ]
    columns = ("what", "files", "p50 ms", "p95 ms", "most ms")
    table = Table(f"One document more among {size:,} chunks", columns, tuple(cells))
    name = "incremental_million" if size == MILLION else "incremental"
    return finish(name, "One more document", bars, [table], machine.setting())


if __name__ == "__main__":
    sys.exit(main())
