"""Retrieval quality on open collections, with bm25s and SQLite FTS5 in the same run.

    python benchmarks/quality.py [collection …]

Ours goes the whole way of the product but for the file reader: cleaning, chunks of at most 1,000
characters, the store, both indexes, fusion; a document counts by its best chunk. The others see
each document whole, with its title in front. Every question with a judgement counts; a question
without results scores zero.
"""

import argparse
import json
import platform
import re
import sqlite3
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import bm25s
import ir_measures
import Stemmer
from ir_measures import AP, RR, R, nDCG

import chapterhouse
from chapterhouse.evaluation.datasets import Dataset, load_dataset
from chapterhouse.models.static import StaticEmbedder
from chapterhouse.retrieval import pipeline
from chapterhouse.retrieval.fuse import combine_scores, reciprocal_ranks
from chapterhouse.types import Query, Scored
from collection import EMBEDDER, Collection, NoVectors, indexed, whole
from data_folder import data_folder

COLLECTIONS = ("cranfield", "cacm", "xquad-en", "xquad-de", "xquad-zh", "pubmedqa",
               "cisi", "npl", "time", "anthropic-docs")  # fmt: skip
BARRED = COLLECTIONS[:6]  # those for which figures were asked
MEASURES = (nDCG @ 10, R @ 5, R @ 10, R @ 100, RR @ 10, AP)
DEPTH = 100
RESULTS = Path(__file__).parent / "results"

Ranking = Mapping[str, Sequence[str]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("collections", nargs="*", default=COLLECTIONS)
    chosen = parser.parse_args().collections
    table: dict[str, dict[str, dict[str, float]]] = {}
    for name in chosen:
        dataset = load_dataset(data_folder() / "retrieval" / name)
        table[name] = measure_all(dataset)
        shown = "  ".join(f"{system} {row['nDCG@10']:.4f}" for system, row in table[name].items())
        print(f"{name:15} {shown}", flush=True)
    if set(chosen) == set(COLLECTIONS):
        write(table)


def measure_all(dataset: Dataset) -> dict[str, dict[str, float]]:
    """Measure every system on one collection."""
    rows: dict[str, dict[str, float]] = {}
    with indexed(dataset.documents) as collection:
        for system, embedder, fuse in (
            ("hybrid", EMBEDDER, combine_scores),
            ("lexical", NoVectors(), combine_scores),
            ("rank fusion 1:1", EMBEDDER, _rank_fusion),
        ):
            rows[system] = _timed(dataset, partial(ours, collection, embedder=embedder, fuse=fuse))
    with indexed(dataset.documents, whole) as collection:
        search = partial(ours, collection, embedder=NoVectors(), fuse=combine_scores)
        rows["lexical, whole documents"] = _timed(dataset, search)
    rows["bm25s"] = _timed(dataset, bm25s_search(dataset))
    rows["FTS5 porter"] = _timed(dataset, fts5_search(dataset))
    return rows


def _timed(dataset: Dataset, search: Callable[[str], Sequence[str]]) -> dict[str, float]:
    ranking: dict[str, Sequence[str]] = {}
    seconds = []
    for identifier, text in dataset.questions.items():
        began = time.perf_counter()
        ranking[identifier] = search(text)
        seconds.append(time.perf_counter() - began)
    return measured(dataset, ranking) | {"median ms": round(statistics.median(seconds) * 1000, 2)}


def measured(dataset: Dataset, ranking: Ranking) -> dict[str, float]:
    """Return the measures, averaged over every judged question."""
    run = [
        ir_measures.ScoredDoc(question, document, float(-rank))
        for question, documents in ranking.items()
        for rank, document in enumerate(documents)
    ]
    qrels = [
        ir_measures.Qrel(question, document, grade)
        for question, grades in dataset.relevant.items()
        for document, grade in grades.items()
    ]
    found = ir_measures.calc_aggregate(MEASURES, qrels, run)
    return {str(measure): round(float(found[measure]), 4) for measure in MEASURES}


def _rank_fusion(lexical: Sequence[Scored], vector: Sequence[Scored]) -> dict[int, float]:
    return reciprocal_ranks([lexical, vector[:DEPTH]])


def ours(
    collection: Collection, text: str, *, embedder: StaticEmbedder, fuse: pipeline.Fuse
) -> Sequence[str]:
    """Rank with Chapterhouse, a document by its best chunk."""
    query = Query(text, limit=DEPTH, per_document=1)
    result = pipeline.retrieve(query, collection.sources(embedder), fuse)
    return [collection.names[hit.document.id] for hit in result.hits]


def bm25s_search(dataset: Dataset) -> Callable[[str], Sequence[str]]:
    """BM25 by bm25s: its English stop words, Snowball stems, k1 1.2, b .75."""
    options = {"stopwords": "en", "stemmer": Stemmer.Stemmer("english"), "show_progress": False}
    texts = [f"{document.title} {document.text}" for document in dataset.documents]
    engine = bm25s.BM25(k1=1.2, b=0.75)
    engine.index(bm25s.tokenize(texts, **options), show_progress=False)
    depth = min(DEPTH, len(texts))

    def search(text: str) -> Sequence[str]:
        tokens = bm25s.tokenize([text], **options)
        found, scores = engine.retrieve(tokens, k=depth, show_progress=False, n_threads=1)
        return [dataset.documents[i].id for i, s in zip(found[0], scores[0], strict=True) if s > 0]

    return search


def fts5_search(dataset: Dataset) -> Callable[[str], Sequence[str]]:
    """BM25 by SQLite FTS5: porter stems, any of the words."""
    base = sqlite3.connect(":memory:")
    base.execute("CREATE VIRTUAL TABLE found USING fts5(text, tokenize = 'porter unicode61')")
    rows = ((f"{document.title} {document.text}",) for document in dataset.documents)
    base.executemany("INSERT INTO found (text) VALUES (?)", rows)

    def search(text: str) -> Sequence[str]:
        words = re.findall(r"\w+", text)
        query = " OR ".join(f'"{word}"' for word in words)
        statement = "SELECT rowid FROM found WHERE found MATCH ? ORDER BY rank LIMIT ?"
        rows = base.execute(statement, (query, DEPTH)).fetchall() if words else []
        return [dataset.documents[row - 1].id for (row,) in rows]

    return search


def write(table: Mapping[str, Mapping[str, Mapping[str, float]]]) -> None:
    """Write the figures as JSON and as a page."""
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    date = datetime.now(UTC).date().isoformat()
    head = {"version": chapterhouse.__version__, "machine": machine, "date": date}
    (RESULTS / "quality.json").write_text(json.dumps(head | {"figures": table}, indent=1) + "\n")
    systems = list(next(iter(table.values())))
    lines = [
        "# Retrieval quality",
        "",
        f"nDCG@10, every judged question. Version {chapterhouse.__version__}, {machine}, {date}.",
        "Made by `make eval`; all measures are in `quality.json`.",
        "",
        "| collection | " + " | ".join(systems) + " | bar |",
        "| --- |" + " ---: |" * len(systems) + " --- |",
    ]
    for name, rows in table.items():
        cells = " | ".join(f"{rows[system]['nDCG@10']:.4f}" for system in systems)
        lines.append(f"| {name} | {cells} | {_verdict(name, rows)} |")
    means = [
        statistics.fmean(rows[system]["nDCG@10"] for rows in table.values()) for system in systems
    ]
    lines.append("| **mean** | " + " | ".join(f"**{mean:.4f}**" for mean in means) + " | |")
    lines += [
        "",
        "Bar, for the first six: lexical at least equal to bm25s and FTS5, xquad-zh at least .95;",
        "hybrid at most .003 below lexical.",
        "",
    ]
    (RESULTS / "quality.md").write_text("\n".join(lines))


def _verdict(name: str, rows: Mapping[str, Mapping[str, float]]) -> str:
    if name not in BARRED:
        return ""
    score = {system: row["nDCG@10"] for system, row in rows.items()}
    held = (
        score["lexical"] >= max(score["bm25s"], score["FTS5 porter"])
        and score["hybrid"] >= score["lexical"] - 0.003
        and (name != "xquad-zh" or score["lexical"] >= 0.95)
    )
    return "held" if held else "**missed**"


if __name__ == "__main__":
    main()
