"""Retrieval quality on open judged collections: each stage of ours, bm25s and SQLite's FTS5.

    python benchmarks/quality.py [COLLECTION ...]

Ours goes the whole way of the product but for the file reader: cleaning, chunks, the store, the
indexes, fusion, and a reranker that was fitted without the collection at hand; a document counts
by its best chunk. Beside it the same without vectors, the same without reranking, and BM25 alone
(no vectors, reranking, other names or hop). The others see each document whole, with
its title in front. Every question with a judgement counts; a question without results scores zero.
The encoder saw texts of these collections in training, and no answers (``encoder/CARD.md``).

The result is kept when all collections are measured. Beside LlamaIndex, Haystack, LanceDB and
Tantivy it was measured last at commit 604e6751; ``natural/peers.py`` compares with some of them.
"""

import argparse
import json
import re
import sqlite3
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import bm25s
import Stemmer

from chapterhouse.evaluation.measures import estimate, measure_named
from chapterhouse.retrieval.candidates import Method
from chapterhouse.retrieval.fuse import lexical_scores
from chapterhouse.retrieval.pipeline import Sources, retrieve
from chapterhouse.retrieval.rerank import Rerank, by_features, feature_model
from chapterhouse.types import Query, Scope
from collection import Collection, open_collection
from judged_sets import Dataset, load_dataset
from measuring import RESULTS, Bar, Machine, Row, Table, data_folder, finish
from vector_cache import vectors_cached

COLLECTIONS = ("cranfield", "cacm", "xquad-en", "xquad-de", "xquad-zh", "pubmedqa",
               "cisi", "npl", "time", "anthropic-docs")  # fmt: skip
CHINESE = "xquad-zh"  # which most others cannot search at all: not in the means
OURS, UNEMBEDDED = "chapterhouse", "without vectors"
PLAIN, WORDS = "without reranking", "BM25 alone"
OTHERS = ("bm25s", "FTS5 porter")
MEASURES = tuple(map(measure_named, ("nDCG@10", "R@5", "R@10", "R@100", "RR@10", "MAP")))
DEPTH = 100
LEFT_OUT = RESULTS / "reranker_left_out.json"

Search = Callable[[str], Sequence[str]]
Found = Mapping[str, Sequence[float]]  # of each question, in one order, by measure and "ms"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("collections", nargs="*", default=COLLECTIONS)
    names, machine = parser.parse_args().collections, Machine()
    found: dict[str, dict[str, Found]] = {}
    for name in names:
        dataset = load_dataset(data_folder() / "retrieval" / name)
        found[name] = dict(measure(dataset))
        print(name, *(f"{one} {ndcg(own):.4f}" for one, own in found[name].items()), flush=True)
    return finish(
        "quality",
        "Retrieval quality",
        bars(found),
        [collections_table(found), measures_table(found)],
        machine.setting("onnxruntime", "bm25s"),
        write=set(names) == set(COLLECTIONS),
    )


def measure(dataset: Dataset) -> Iterator[tuple[str, Found]]:
    """Yield every system with its figures on one collection."""
    with vectors_cached(), open_collection(dataset.documents) as collection:
        product = collection.library.search.method
        method = replace(product, rerank=_reranker(dataset.name) or product.rerank)
        sources = collection.sources()
        unembedded = replace(sources, vectors=None)
        words = replace(method, fuse=lexical_scores, rerank=None, expand=(), hop=None)
        for system, used, own in (
            (OURS, sources, method),
            (UNEMBEDDED, unembedded, method),
            (PLAIN, sources, replace(method, rerank=None)),
            (WORDS, unembedded, words),
        ):
            yield system, figures(dataset, partial(ours, collection, used, own))
    for system, made in zip(OTHERS, (bm25s_search, fts5_search), strict=True):
        yield system, figures(dataset, made(dataset))


def _reranker(name: str) -> Rerank | None:
    """Return the reranker fitted without a set; None where the product's own never saw it."""
    models = json.loads(LEFT_OUT.read_text("utf-8"))
    return by_features(feature_model(json.dumps(models[name]))) if name in models else None


def figures(dataset: Dataset, search: Search) -> Found:
    """Return every measure and the milliseconds of every judged question."""
    found: dict[str, list[float]] = {name: [] for name in (*(m.name for m in MEASURES), "ms")}
    for identifier, text in dataset.questions.items():
        began = time.perf_counter()
        ranking = search(text)
        found["ms"].append((time.perf_counter() - began) * 1e3)
        for one in MEASURES:
            found[one.name].append(one.of(ranking, dataset.relevant[identifier]))
    return found


def ours(collection: Collection, sources: Sources, method: Method, text: str) -> Sequence[str]:
    """Rank with Chapterhouse, a document by its best chunk."""
    query = Query(text, Scope.everything(), limit=DEPTH, per_document=1)
    return [collection.names[hit.document.id] for hit in retrieve(query, sources, method).hits]


def bm25s_search(dataset: Dataset) -> Search:
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


def fts5_search(dataset: Dataset) -> Search:
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


# --- the page ------------------------------------------------------------------------------------


def ndcg(found: Found) -> float:
    """Return the mean nDCG@10."""
    return statistics.fmean(found[MEASURES[0].name])


def _against(systems: Mapping[str, Found]) -> float:
    return ndcg(systems[OURS]) - max(ndcg(systems[other]) for other in OTHERS)


def _means(found: Mapping[str, Mapping[str, Found]]) -> dict[str, float]:
    """Return the mean of each system over the collections, of which all have the same."""
    names = [name for name in found if name != CHINESE] or list(found)
    return {
        system: statistics.fmean(ndcg(found[name][system]) for name in names)
        for system in found[names[0]]
    }


def bars(found: Mapping[str, Mapping[str, Found]]) -> list[Bar]:
    """Return what the product must be above the others, and the encoder above none."""
    means = _means(found)
    above = means[OURS] - max(means[other] for other in OTHERS)
    gains = [ndcg(systems[OURS]) - ndcg(systems[UNEMBEDDED]) for systems in found.values()]
    return [
        Bar(f"mean above the best of the others, {CHINESE} apart", above, least=0.025),
        Bar("against the best of the others, worst collection", min(map(_against, found.values())),
            least=-0.003),
        Bar("mean gain of the encoder", statistics.fmean(gains), least=0.01),
        Bar("gain of the encoder, worst collection", min(gains), least=-0.005),
    ]  # fmt: skip


def collections_table(found: Mapping[str, Mapping[str, Found]]) -> Table:
    """Return nDCG@10 of every system on every collection."""
    systems = list(next(iter(found.values())))
    rows: list[Row] = []
    for name, own in found.items():
        pairs = zip(own[OURS][MEASURES[0].name], own[UNEMBEDDED][MEASURES[0].name], strict=True)
        gain = estimate([encoder - none for encoder, none in pairs])
        interval = f"{gain.mean:+.3f} ({gain.low:+.3f} to {gain.high:+.3f})"
        cells = (round(ndcg(own[system]), 4) for system in systems)
        rows.append((name, len(own[OURS]["ms"]), *cells, f"{_against(own):+.4f}", interval))
    means = _means(found)
    rows.append(
        (f"mean, {CHINESE} apart", "", *(round(mean, 4) for mean in means.values()), "", "")
    )
    columns = ("collection", "questions", *systems, "against the best of the others",
               "encoder less none, 95 %")  # fmt: skip
    return Table("nDCG@10", columns, tuple(rows))


def measures_table(found: Mapping[str, Mapping[str, Found]]) -> Table:
    """Return all measures of ours, and the median time of a question."""
    rows: list[Row] = [
        (
            name,
            *(round(statistics.fmean(systems[OURS][one.name]), 4) for one in MEASURES),
            round(statistics.median(systems[OURS]["ms"]), 2),
        )
        for name, systems in found.items()
    ]
    columns = ("collection", *(one.name for one in MEASURES), "median ms")
    return Table(f"All measures of {OURS}", columns, tuple(rows))


if __name__ == "__main__":
    raise SystemExit(main())
