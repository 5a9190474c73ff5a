"""Questions to libraries of 10,000 and 100,000 chunks, or of a million.

    python benchmarks/query.py [--million]

Each library is built through the real store and indexes and kept for later runs
(``scale_corpus.kept_library``). 400 real questions are asked warm and in process, stage by stage,
then fresh processes show what a first question costs and what memory is held. Takes some five
minutes on two cores, and half an hour the first time that a million chunks are built. Other
retrievers stand beside it in ``query_peers.py``.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from chapterhouse.answering.search import sources_of
from chapterhouse.index.lexical import LexicalIndex
from chapterhouse.index.vectors import VectorIndex
from chapterhouse.ingest.encoders import index_name
from chapterhouse.library import Library
from chapterhouse.models.built_in import built_in_encoder
from chapterhouse.retrieval.candidates import Method
from chapterhouse.retrieval.pipeline import Sources, retrieve
from chapterhouse.store.blobs import Blobs
from chapterhouse.store.sqlite import Store
from chapterhouse.types import Query, Scope
from measuring import Bar, Machine, Row, Table, data_folder, finish, peak_megabytes, percentile
from query_stages import Stages, resident
from scale_corpus import SMALL_SHELF, kept_library, questions, sentences

EVERYTHING = Scope.everything()

SIZES = (10_000, 100_000)
MILLION = 1_000_000
MEDIAN_MS = {10_000: 8.0, 100_000: 20.0, MILLION: 60.0}
TAIL = 4.0  # p99 as a multiple of p50, at most
QUESTIONS = 400
FOR_SLOW = 100  # questions for ``ask`` and for fresh processes
WARM = 40
STARTS = 5
WHOLE = "whole retrieval"

Search = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Taken:
    """Milliseconds of each question by the clock and of the processor."""

    wall: list[float]
    cpu: list[float]


@dataclass(frozen=True, slots=True)
class Built:
    """What the indexes of one size cost, and what lies on disk, in megabytes."""

    lexical_seconds: float
    vector_seconds: float
    database: float
    lexical: float
    vectors: float


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything about one size."""

    built: Built
    times: Mapping[str, Taken]
    stages: Mapping[str, Sequence[float]]
    fresh: Mapping[str, float]


def times(search: Search, asked: Sequence[str]) -> Taken:
    """Return what each question takes, after a few to get warm."""
    for text in asked[:WARM]:
        search(text)
    taken = Taken([], [])
    for text in asked:
        began, worked = time.perf_counter(), time.process_time()
        search(text)
        taken.wall.append((time.perf_counter() - began) * 1e3)
        taken.cpu.append((time.process_time() - worked) * 1e3)
    return taken


def _seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def open_store(home: Path) -> Store:
    """Open the store of a home."""
    own = home / "workspaces" / "default"
    return Store(own / "library.db", blobs=Blobs(own / "blobs"))


def open_indexes(home: Path) -> tuple[LexicalIndex, VectorIndex]:
    """Open the indexes of a home."""
    folder = home / "workspaces" / "default" / "index"
    encoder = built_in_encoder()
    vectors = VectorIndex(folder / index_name(encoder.fingerprint), encoder)
    return LexicalIndex(folder / "lexical"), vectors


def make_indexes(home: Path, size: int) -> Built:
    """Build the indexes anew; a million chunks are only brought up to date."""
    lexical, vectors = open_indexes(home)
    with open_store(home) as store:
        anew = size < MILLION
        seconds = [
            _seconds(partial(index.rebuild if anew else index.catch_up, store))
            for index in (lexical, vectors)
        ]
    own = home / "workspaces" / "default"
    encoded = own / "index" / index_name(built_in_encoder().fingerprint)
    return Built(*seconds, *map(_megabytes, (own, own / "index/lexical", encoded)))


def _megabytes(folder: Path) -> float:
    """Return the size of a folder; of a library's own, the files beside its folders."""
    found = folder.glob("library.db*") if (folder / "library.db").exists() else folder.rglob("*")
    return sum(path.stat().st_size for path in found if path.is_file()) / 1e6


def whole(sources: Sources, method: Method) -> Search:
    """Return the retrieval that is measured."""
    return lambda text: retrieve(Query(text, EVERYTHING), sources, method)


def ours(home: Path, asked: Sequence[str]) -> tuple[dict[str, Taken], dict[str, list[float]]]:
    """Time whole retrievals, and where the time goes."""
    rows: dict[str, Taken] = {}
    with Library.open(home, create=False) as library:
        sources = sources_of(library._runtime)  # noqa: SLF001 - what the library searches with
        rows[WHOLE] = times(whole(sources, library.search.method), asked)
        rows["Library.search"] = times(library.search.hits, asked)
        small = partial(library.search.hits, shelves=(SMALL_SHELF,))
        rows["Library.search, a shelf with 1 % of the documents"] = times(small, asked)
        rows["Library.ask"] = times(library.answers.ask, asked[:FOR_SLOW])
        stages = Stages(sources)
        times(stages.around(whole(stages.sources, library.search.method)), asked)
        return rows, stages.times()


# --- fresh processes ---------------------------------------------------------------------------


def probe(home: Path, asked: Sequence[str]) -> dict[str, float]:
    """Return what the first steps cost in this process, which must be a fresh one."""
    opened = _seconds(lambda: Library.open(home, create=False).close())
    with Library.open(home, create=False) as library:
        first = _seconds(partial(library.search.hits, asked[0]))
        second = _seconds(partial(library.search.hits, asked[0]))
        for text in asked[:FOR_SLOW]:
            library.search.hits(text)
        own, mapped = resident()
    return {
        "open, ms": opened * 1e3,
        "first search, ms": first * 1e3,
        "second search, ms": second * 1e3,
        f"memory of its own after {FOR_SLOW} questions, MB": own,
        "mapped files in memory then, MB": mapped,
        "peak memory, MB": peak_megabytes(),
    }


def cold(home: Path, question: str) -> dict[str, float]:
    """Return the medians over fresh processes: the command line's, and those of its steps."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-m", "chapterhouse", "search", question, "--home", str(home)]
    own = [sys.executable, __file__, "--probe", str(home)]
    walls, steps = [], []
    for _ in range(STARTS):
        began = time.perf_counter()
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
        walls.append((time.perf_counter() - began) * 1e3)
        shown = subprocess.run(own, check=True, env=environment, capture_output=True).stdout
        steps.append(json.loads(shown))
    names = {name: percentile([step[name] for step in steps], 0.5) for name in steps[0]}
    return {"chapterhouse search, whole process, ms": percentile(walls, 0.5), **names}


# --- the result --------------------------------------------------------------------------------


def bars(measured: Mapping[int, Measured]) -> list[Bar]:
    """Return what must hold."""
    result: list[Bar] = []
    for size, found in measured.items():
        middle = percentile(found.times[WHOLE].wall, 0.5)
        tail = percentile(found.times[WHOLE].wall, 0.99) / middle
        name = f"{WHOLE}, {size:,} chunks"
        result.append(Bar(f"{name}: p50, ms", middle, most=MEDIAN_MS.get(size)))
        result.append(Bar(f"{name}: p99 ÷ p50", tail, most=TAIL))
    return result


def latencies(size: int, rows: Mapping[str, Taken]) -> Table:
    """Return the percentiles of each row."""
    cells: list[Row] = [
        (
            name,
            len(taken.wall),
            *(percentile(taken.wall, share) for share in (0.5, 0.95, 0.99)),
            *(percentile(taken.cpu, share) for share in (0.5, 0.99)),
        )
        for name, taken in rows.items()
    ]
    columns = ("what", "questions", "p50 ms", "p95 ms", "p99 ms", "processor p50", "p99")
    note = "By the clock, and the time of the processor, which other work beside it moves less."
    return Table(f"{size:,} chunks, warm, in process", columns, tuple(cells), note)


def stage_table(measured: Mapping[int, Measured]) -> Table:
    """Return the median of each stage."""
    names = list(next(iter(measured.values())).stages)
    rows: list[Row] = [
        (name, *(percentile(found.stages[name], 0.5) for found in measured.values()))
        for name in names
    ]
    note = "Medians in milliseconds; the stages of one question, so they need not add up."
    columns = ("stage", *(f"{size:,} chunks" for size in measured))
    return Table(f"Where the time of a {WHOLE} goes", columns, tuple(rows), note)


def building(measured: Mapping[int, Measured]) -> Table:
    """Return what the indexes cost."""
    rows = tuple(
        (
            f"{size:,}",
            found.built.lexical_seconds,
            found.built.vector_seconds,
            found.built.database,
            found.built.lexical,
            found.built.vectors,
        )
        for size, found in measured.items()
    )
    columns = (
        *("chunks", "lexical index, s", "vector index, s"),
        *("database, MB", "lexical index, MB", "vector index, MB"),
    )
    return Table("The indexes", columns, rows, "Those of a million chunks are not timed.")


def fresh(measured: Mapping[int, Measured]) -> Table:
    """Return what fresh processes cost."""
    names = list(next(iter(measured.values())).fresh)
    rows: list[Row] = [
        (name, *(found.fresh[name] for found in measured.values())) for name in names
    ]
    note = f"Medians of {STARTS}. Files are in the system's cache, bytecode is cached."
    columns = ("what", *(f"{size:,} chunks" for size in measured))
    return Table("A fresh process", columns, tuple(rows), note)


def measure(size: int, pool: Sequence[str], asked: Sequence[str]) -> Measured:
    """Measure one size."""
    home = kept_library(pool, size)
    built = make_indexes(home, size)
    rows, stages = ours(home, asked)
    return Measured(built, rows, stages, cold(home, asked[0]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--million", action="store_true", help="a million chunks, nothing else")
    parser.add_argument("--probe", metavar="HOME", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    asked = questions(data_folder(), QUESTIONS)
    if chosen.probe:
        print(json.dumps(probe(Path(chosen.probe), asked)))
        return 0
    machine = Machine()
    pool = sentences(data_folder())
    sizes = (MILLION,) if chosen.million else SIZES
    measured = {size: measure(size, pool, asked) for size in sizes}
    tables = [
        *(latencies(size, found.times) for size, found in measured.items()),
        *(stage_table(measured), building(measured), fresh(measured)),
    ]
    name = "query_million" if chosen.million else "query"
    return finish(name, "Questions", bars(measured), tables, machine.setting())


if __name__ == "__main__":
    sys.exit(main())
