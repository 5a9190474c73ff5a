"""Questions to libraries of 10,000 and 100,000 chunks, beside SQLite FTS5 and LanceDB.

    python benchmarks/query.py [--sizes 10000 100000]

Builds each library through the real store and indexes, asks 400 real questions warm and in
process, then starts fresh processes to see what a first question costs. Takes about eight minutes
on two cores, most of it the building and the comparators.
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
from tempfile import TemporaryDirectory

from chapterhouse.chunking.sentence import chunk_by_sentence
from chapterhouse.index.lexical import LexicalIndex
from chapterhouse.index.vectors import VectorIndex
from chapterhouse.library import Library
from chapterhouse.lifecycle.prepare import prepare
from chapterhouse.models.static import StaticEmbedder
from chapterhouse.retrieval.question import understand
from chapterhouse.store.blobs import FolderBlobs
from chapterhouse.store.sqlite import SqliteStore
from chapterhouse.text.tokens import estimate_tokens
from chapterhouse.types import DEFAULT_SHELF
from data_folder import data_folder
from measuring import Bar, Machine, Row, Table, finish, peak_megabytes, percentile
from query_others import Search, chunk_texts, chunk_vectors, fts5, lance
from scale_corpus import SMALL_SHELF, build, documents, put, questions, sentences

SIZES = (10_000, 100_000)
MEDIAN_MS = {10_000: 5.0, 100_000: 20.0}
QUESTIONS = 400
FOR_SLOW = 100  # questions for comparators and ``ask``, which may take a second each
WARM = 20
DEPTH = 100  # hits that the product takes of each part
STARTS = 7
WHOLE = "Library.search"


@dataclass(frozen=True, slots=True)
class Built:
    """What building a library of one size cost."""

    chunks: int
    store_seconds: float
    lexical_seconds: float
    vector_seconds: float
    disk_megabytes: float


def times(search: Search, asked: Sequence[str]) -> list[float]:
    """Return the milliseconds of each question, after a few to get warm."""
    for text in asked[:WARM]:
        search(text)
    taken = []
    for text in asked:
        began = time.perf_counter()
        search(text)
        taken.append((time.perf_counter() - began) * 1e3)
    return taken


def _seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def make_library(home: Path, pool: Sequence[str], size: int, embedder: StaticEmbedder) -> Built:
    """Build store and indexes."""
    chunks = 0

    def fill() -> None:
        nonlocal chunks
        chunks = build(home, pool, size, embedder)

    stored = _seconds(fill)
    with _store(home) as store:
        lexical, vectors = _indexes(home, embedder)
        lexical_seconds = _seconds(partial(lexical.catch_up, store))
        vector_seconds = _seconds(partial(vectors.catch_up, store))
    disk = sum(path.stat().st_size for path in home.rglob("*") if path.is_file()) / 1e6
    return Built(chunks, stored, lexical_seconds, vector_seconds, disk)


def _store(home: Path) -> SqliteStore:
    own = home / "workspaces" / "default"
    return SqliteStore(own / "library.db", blobs=FolderBlobs(own / "blobs"))


def _indexes(home: Path, embedder: StaticEmbedder) -> tuple[LexicalIndex, VectorIndex]:
    folder = home / "workspaces" / "default" / "index"
    return LexicalIndex(folder / "lexical"), VectorIndex(folder / "vectors", embedder)


def ours(home: Path, asked: Sequence[str], embedder: StaticEmbedder) -> dict[str, list[float]]:
    """Time the whole search, its two parts, one small shelf and ``ask``."""
    rows: dict[str, list[float]] = {}
    with Library.open(home, create=False) as library:
        rows[WHOLE] = times(library.search, asked)
        small = partial(library.search, shelves=(SMALL_SHELF,))
        rows["Library.search, a shelf with 1 % of the documents"] = times(small, asked)
        rows["Library.ask"] = times(library.ask, asked[:FOR_SLOW])
    lexical, vectors = _indexes(home, embedder)
    terms = {text: understand(text, {"en": 1}).terms for text in asked}
    rows["our lexical part alone"] = times(
        lambda text: lexical.search(terms[text], (), DEPTH), asked
    )
    rows["our vector part alone"] = times(
        lambda text: vectors.search(embedder.embed_question(text), (), DEPTH), asked
    )
    return rows


def others(
    home: Path, folder: Path, asked: Sequence[str], embedder: StaticEmbedder
) -> dict[str, list[float]]:
    """Time the engines beside us."""
    with _store(home) as store:
        texts = chunk_texts(store)
        vectors = chunk_vectors(store, embedder.fingerprint)
    engines = fts5(texts, folder) | lance(texts, vectors, folder, embedder)
    return {name: times(search, asked[:FOR_SLOW]) for name, search in engines.items()}


def table(size: int, rows: Mapping[str, Sequence[float]]) -> Table:
    """Return latencies, and each median as a multiple of ours over the same questions."""
    cells: list[Row] = []
    for name, taken in rows.items():
        ratio = percentile(taken, 0.5) / percentile(rows[WHOLE][: len(taken)], 0.5)
        shown = [percentile(taken, share) for share in (0.5, 0.95, 0.99)]
        cells.append((name, len(taken), *shown, round(ratio, 2)))
    columns = ("system", "questions", "p50 ms", "p95 ms", "p99 ms", f"p50 ÷ {WHOLE}")
    return Table(f"{size:,} chunks, warm, in process", columns, tuple(cells))


# --- fresh processes ---------------------------------------------------------------------------


def probe(home: Path, question: str) -> dict[str, float]:
    """Return what the first steps cost in this process, which must be a fresh one."""
    opened = _seconds(lambda: Library.open(home, create=False).close())
    with Library.open(home, create=False) as library:
        first = _seconds(partial(library.search, question))
        second = _seconds(partial(library.search, question))
    return {
        "open, ms": opened * 1e3,
        "first search, ms": first * 1e3,
        "second search, ms": second * 1e3,
        "peak memory, MB": peak_megabytes(),
    }


def cold(home: Path, question: str) -> dict[str, float]:
    """Return the medians over fresh processes: the command line's, and those of its steps."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-m", "chapterhouse", "search", question, "--home", str(home)]
    own = [sys.executable, __file__, "--probe", str(home), question]
    walls, steps = [], []
    for _ in range(STARTS):
        began = time.perf_counter()
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
        walls.append((time.perf_counter() - began) * 1e3)
        shown = subprocess.run(own, check=True, env=environment, capture_output=True).stdout
        steps.append(json.loads(shown))
    names = {name: percentile([step[name] for step in steps], 0.5) for name in steps[0]}
    return {"chapterhouse search, whole process, ms": percentile(walls, 0.5), **names}


def catching_up(home: Path, pool: Sequence[str], embedder: StaticEmbedder) -> dict[str, float]:
    """Return what one new document costs the indexes, and its store."""
    make = partial(
        prepare, chunker=chunk_by_sentence, embedder=embedder, count_tokens=estimate_tokens
    )
    lexical, vectors = _indexes(home, embedder)
    taken: dict[str, list[float]] = {"store": [], "lexical index": [], "vector index": []}
    with _store(home) as store:
        texts = documents(pool, seed=7)
        for number in range(STARTS):
            shelves = (DEFAULT_SHELF,)
            text = next(texts)
            step = partial(put, store, text, 900_000 + number, shelves, make)
            taken["store"].append(_seconds(step))
            taken["lexical index"].append(_seconds(partial(lexical.catch_up, store)))
            taken["vector index"].append(_seconds(partial(vectors.catch_up, store)))
    return {f"one more document: {n}, ms": percentile(t, 0.5) * 1e3 for n, t in taken.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--probe", nargs=2, metavar=("HOME", "QUESTION"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.probe:
        print(json.dumps(probe(Path(chosen.probe[0]), chosen.probe[1])))
        return 0
    machine = Machine()
    pool, asked = sentences(data_folder()), questions(data_folder(), QUESTIONS)
    tables, bars, fresh = [], [], {}
    built: dict[int, Built] = {}
    for size in chosen.sizes:
        with TemporaryDirectory() as name:
            home, embedder = Path(name) / "home", StaticEmbedder()
            embedder.embed_question("load the table")
            built[size] = make_library(home, pool, size, embedder)
            rows = ours(home, asked, embedder)
            fresh[size] = cold(home, asked[0]) | catching_up(home, pool, embedder)
            rows |= others(home, Path(name), asked, embedder)
        tables.append(table(size, rows))
        median = percentile(rows[WHOLE], 0.5)
        bars.append(Bar(f"{WHOLE}, p50 ms at {size:,} chunks", median, most=MEDIAN_MS.get(size)))
        print(tables[-1].title, {n: round(percentile(t, 0.5), 2) for n, t in rows.items()})
    tables += [_building(built), _fresh(fresh)]
    if tuple(chosen.sizes) != SIZES:
        print(*tables, sep="\n")
        return 0
    setting = machine.setting("lancedb")
    return finish("query", "Questions", bars, tables, setting)


def _building(built: Mapping[int, Built]) -> Table:
    rows = tuple(
        (f"{size:,}", b.store_seconds, b.lexical_seconds, b.vector_seconds, b.disk_megabytes)
        for size, b in built.items()
    )
    columns = ("chunks", "prepare and store, s", "lexical index, s", "vector index, s", "disk, MB")
    return Table("Building", columns, rows)


def _fresh(fresh: Mapping[int, Mapping[str, float]]) -> Table:
    names = list(next(iter(fresh.values())))
    rows: list[Row] = [(name, *(figures[name] for figures in fresh.values())) for name in names]
    note = f"Medians of {STARTS}. Files are in the system's cache, bytecode is cached."
    columns = ("what", *(f"{size:,} chunks" for size in fresh))
    return Table("A fresh process, and one more document", columns, tuple(rows), note)


if __name__ == "__main__":
    sys.exit(main())
