"""Our whole retrieval beside other retrievers, over 10,000 and 100,000 of the same chunks.

    python benchmarks/query_peers.py [--sizes 10000 100000] [--seconds 20]

The others run one after the other in processes of ``.venv-peers`` (``make bench-peers``), see
``peers_speed.py``; SQLite FTS5 runs here. Takes about twenty minutes on two cores, nearly all of
it the building of the others' indexes.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from chapterhouse.answering.search import sources_of
from chapterhouse.library import Library
from chapterhouse.models.static import StaticEmbedder
from data_folder import data_folder
from measuring import Bar, Cell, Machine, Row, Table, finish, percentile
from query import (
    FOR_SLOW,
    MEDIAN_MS,
    QUESTIONS,
    SIZES,
    WHOLE,
    make_indexes,
    open_store,
    times,
    whole,
)
from query_others import chunk_texts, chunk_vectors, fts5
from scale_corpus import kept_library, questions, sentences

HERE = Path(__file__).parent
PYTHON = HERE.parent / ".venv-peers" / "bin" / "python"
PATIENCE = 1_800  # seconds for one of them to build and be asked
SYSTEMS = (
    *("LlamaIndex, BM25Retriever", "LlamaIndex, SimpleVectorStore"),
    *("Haystack, in-memory BM25", "Haystack, in-memory vectors"),
    *("txtai, hybrid", "Chroma, vectors (HNSW)"),
    *("LanceDB, hybrid", "LanceDB, full text", "LanceDB, vectors"),
)


def write_corpus(folder: Path, home: Path, asked: Sequence[str], embedder: StaticEmbedder) -> None:
    """Write what ``peers_speed.py`` reads."""
    with open_store(home) as store:
        texts = chunk_texts(store)
        vectors = np.concatenate(chunk_vectors(store, embedder.fingerprint))
    np.save(folder / "vectors.npy", vectors)
    np.save(folder / "questions.npy", np.stack([embedder.embed_question(text) for text in asked]))
    for name, lines in (("texts", texts), ("questions", asked)):
        with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as stream:
            stream.writelines(f"{json.dumps(line)}\n" for line in lines)


def peer(name: str, folder: Path, seconds: float) -> Row:
    """Return one row; where a system fails or takes too long, why."""
    out = folder / "out.json"
    files = (PYTHON, HERE / "peers_speed.py", folder)
    command = [*map(str, files), name, str(out), "--seconds", str(seconds)]
    try:
        subprocess.run(command, check=True, timeout=PATIENCE, capture_output=True)
    except subprocess.TimeoutExpired:
        return (f"{name}: not done within {PATIENCE} s", 0, *(5 * ("",)))
    except subprocess.CalledProcessError as error:
        why = error.stderr.decode(errors="replace").strip().splitlines()[-1:]
        return (f"{name}: failed, {' '.join(why)[:120]}", 0, *(5 * ("",)))
    found = json.loads(out.read_text("utf-8"))
    title = f"{name} {found['version']}"
    return row(title, found["milliseconds"], found["build_seconds"], found["megabytes"])


def row(name: str, taken: Sequence[float], built: Cell = "", megabytes: Cell = "") -> Row:
    """Return one row of the table; what was not measured stays empty."""
    shown = (percentile(taken, share) for share in (0.5, 0.95, 0.99))
    return (name, len(taken), *shown, built, megabytes)


def measure(size: int, pool: Sequence[str], asked: Sequence[str], seconds: float) -> list[Row]:
    """Return the rows of one size, ours first."""
    embedder = StaticEmbedder()
    home = kept_library(pool, size, embedder)
    built = make_indexes(home, size, embedder)
    with Library.open(home, create=False) as library:
        sources = sources_of(library._runtime)  # noqa: SLF001 - what it searches with
        search = whole(sources, library.search.method)
        taken = times(search, asked)
    seconds_built = built.lexical_seconds + built.vector_seconds
    rows = [row(f"Chapterhouse, {WHOLE}", taken.wall, seconds_built)]
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_corpus(folder, home, asked, embedder)
        rows += [peer(system, folder, seconds) for system in SYSTEMS]
        with open_store(home) as store:
            texts = chunk_texts(store)
        for title, ask in fts5(texts, folder).items():
            rows.append(row(title, times(ask, asked[:FOR_SLOW]).wall))
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--seconds", type=float, default=20.0, help="of asking each, at most")
    chosen = parser.parse_args()
    if not PYTHON.exists():
        parser.error(f"{PYTHON} is not there: make bench-peers")
    machine = Machine()
    pool, asked = sentences(data_folder()), questions(data_folder(), QUESTIONS)
    columns = ("system", "questions", "p50 ms", "p95 ms", "p99 ms", "indexing, s", "peak MB")
    tables, bars = [], []
    for size in chosen.sizes:
        rows = measure(size, pool, asked, chosen.seconds)
        tables.append(Table(f"{size:,} chunks, warm, in process", columns, tuple(rows)))
        bars.append(
            Bar(f"{WHOLE}, {size:,} chunks: p50, ms", float(rows[0][2]), most=MEDIAN_MS.get(size))
        )
        print(tables[-1])
    note = (
        "Everyone gets the same texts and questions, and those who take vectors ours, ready made: "
        "their times hold no embedding of the question, ours do. Ours hold all of retrieval: both "
        "indexes, fusion, reranking, texts and documents from the database. Ten hits each. "
        "Memory is the peak of each system's own process; ours is in `query.md`."
    )
    write = tuple(chosen.sizes) == SIZES
    return finish(
        "query_peers",
        "Questions, beside other retrievers",
        bars,
        tables,
        machine.setting(),
        [note],
        write=write,
    )


if __name__ == "__main__":
    sys.exit(main())
