"""Retrieval quality on open collections, beside other retrievers in the same run.

    python benchmarks/quality.py [collection …]

Ours goes the whole way of the product but for the file reader: cleaning, chunks, the store, the
indexes, fusion, and a reranker that was fitted without the collection at hand; a document counts
by its best chunk. The others see each document whole, with its title in front. Every question
with a judgement counts; a question without results scores zero.
"""

import argparse
import json
import platform
import re
import sqlite3
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import bm25s
import ir_measures
import Stemmer
from ir_measures import AP, RR, R, nDCG

import chapterhouse
from chapterhouse.retrieval.fuse import RankedList, lexical_scores, reciprocal_ranks
from chapterhouse.retrieval.method import Method
from chapterhouse.retrieval.pipeline import retrieve
from chapterhouse.retrieval.rerank import FeatureModel, by_features, feature_model
from chapterhouse.types import Query, Scope
from collection import Collection, open_collection
from data_folder import data_folder
from judged_sets import Dataset, load_dataset
from vector_cache import vectors_cached

COLLECTIONS = ("cranfield", "cacm", "xquad-en", "xquad-de", "xquad-zh", "pubmedqa",
               "cisi", "npl", "time", "anthropic-docs")  # fmt: skip
_WESTERN = tuple(name for name in COLLECTIONS if name != "xquad-zh")
OURS = "chapterhouse"
OWN = (OURS, "without reranking", "lexical", "rank fusion 1:1")
PEERS = Path(__file__).parents[1] / ".venv-peers/bin/python"
MEASURES = (nDCG @ 10, R @ 5, R @ 10, R @ 100, RR @ 10, AP)
DEPTH = 100
RESULTS = Path(__file__).parent / "results"
LEFT_OUT = RESULTS / "reranker_left_out.json"

EARLIER = (
    "Columns behind FTS5 porter are those of an earlier run: their systems were not installed."
)

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
    with vectors_cached(), open_collection(dataset.documents) as collection:
        product = collection.library.search.method
        left_out = replace(product, rerank=by_features(_left_out(dataset.name)))
        plain = replace(product, rerank=None)
        for system, method in (
            (OURS, left_out),
            ("without reranking", plain),
            ("lexical", replace(plain, fuse=lexical_scores)),
            ("rank fusion 1:1", replace(plain, fuse=_rank_fusion)),
        ):
            rows[system] = _timed(dataset, partial(ours, collection, method=method))
    rows["bm25s"] = _timed(dataset, bm25s_search(dataset))
    rows["FTS5 porter"] = _timed(dataset, fts5_search(dataset))
    if not PEERS.exists():
        return rows | earlier(dataset.name, frozenset(rows))
    for system, ranking in peers(data_folder() / "retrieval" / dataset.name).items():
        rows[system] = measured(dataset, ranking)
    return rows


def earlier(name: str, measured_now: frozenset[str]) -> dict[str, dict[str, float]]:
    """Return what the systems of ``.venv-peers`` had in the last result: ours is not in it."""
    print(f"{PEERS} is not there (make peers-setup): figures of an earlier run", flush=True)
    figures = json.loads((RESULTS / "quality.json").read_text("utf-8"))["figures"]
    rows: dict[str, dict[str, float]] = figures.get(name, {})
    return {system: row for system, row in rows.items() if system not in measured_now}


def _left_out(name: str) -> FeatureModel:
    """Return the reranker that was fitted on every collection but this one and its translations."""
    return feature_model(json.dumps(json.loads(LEFT_OUT.read_text("utf-8"))[name]))


def peers(folder: Path) -> dict[str, Ranking]:
    """Rank with the systems of ``.venv-peers``."""
    with TemporaryDirectory() as name:
        out = Path(name) / "rankings.json"
        script = Path(__file__).parent / "peers_lexical.py"
        asked = folder / "corpus.jsonl", folder / "queries.jsonl", out
        subprocess.run([PEERS, script, *asked], check=True, capture_output=True)
        found = json.loads(out.read_text("utf-8"))
    return {system: ranked["rankings"] for system, ranked in found.items()}


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


def _rank_fusion(lists: Sequence[RankedList]) -> dict[int, float]:
    return reciprocal_ranks([each.hits[:DEPTH] for each in lists])


def ours(collection: Collection, text: str, *, method: Method) -> Sequence[str]:
    """Rank with Chapterhouse, a document by its best chunk."""
    result = retrieve(
        Query(text, Scope.everything(), limit=DEPTH, per_document=1), collection.sources(), method
    )
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
        "Made by `make eval`; all measures are in `quality.json`. The reranker of each row was",
        "fitted on the other collections.",
        *([] if PEERS.exists() else ["", EARLIER]),
        "",
        "| collection | " + " | ".join(systems) + " | against the best of the others |",
        "| --- |" + " ---: |" * (len(systems) + 1),
    ]
    for name, rows in table.items():
        cells = " | ".join(f"{rows[system]['nDCG@10']:.4f}" for system in systems)
        lines.append(f"| {name} | {cells} | {_against(rows):+.4f} |")
    for label, names in (("mean", tuple(table)), ("mean without xquad-zh", _WESTERN)):
        means = {system: _mean(table, names, system) for system in systems}
        cells = " | ".join(f"**{mean:.4f}**" for mean in means.values())
        best = max(mean for system, mean in means.items() if system not in OWN)
        lines.append(f"| **{label}** | {cells} | **{means[OURS] - best:+.4f}** |")
    worst = min(table, key=lambda name: _against(table[name]))
    lines += [
        "",
        "Bars: the mean at least .025 above the best of the others, on no collection more than",
        f".003 below any of them (here at worst {_against(table[worst]):+.4f}, on {worst}).",
        "Without xquad-zh, because most others cannot search Chinese at all.",
        "",
    ]
    (RESULTS / "quality.md").write_text("\n".join(lines))
    print("\n".join(lines))


def _mean(
    table: Mapping[str, Mapping[str, Mapping[str, float]]], names: Sequence[str], system: str
) -> float:
    return statistics.fmean(table[name][system]["nDCG@10"] for name in names)


def _against(rows: Mapping[str, Mapping[str, float]]) -> float:
    best = max(row["nDCG@10"] for system, row in rows.items() if system not in OWN)
    return rows[OURS]["nDCG@10"] - best


if __name__ == "__main__":
    main()
