"""What the encoder in the box brings on the open judged collections, beside the table and BM25.

    python benchmarks/encoder/open_sets.py [SET ...] [--write]

nDCG@10 of the first 300 judged questions of every set in BEIR layout. Each set is indexed once, as
the product does it; BM25 is our own alone, without reranking, expansion and the hop. The reranker
of a row was fitted on the other collections. The encoder saw texts of these sets in training, and
no questions' answers (``CARD.md``), so the test folders of the natural collection say more.
"""

import argparse
import json
import statistics
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))  # for the modules that all benchmarks share

import ir_measures
from ir_measures import nDCG

from chapterhouse.evaluation.measures import Estimate, estimate
from chapterhouse.retrieval.fuse import lexical_scores
from chapterhouse.retrieval.method import Method
from chapterhouse.retrieval.pipeline import Sources, retrieve
from chapterhouse.retrieval.rerank import Rerank, by_features, feature_model
from chapterhouse.types import Query, Scope
from collection import Collection, open_collection
from data_folder import data_folder
from judged_sets import Dataset, load_dataset
from measuring import RESULTS, Bar, Machine, Row, Table, finish

QUESTIONS = 300
TOP = 10
BM25, TABLE, ENCODER = "BM25", "table", "encoder"
_LEFT_OUT = RESULTS / "reranker_left_out.json"


@dataclass(frozen=True, slots=True)
class Measured:
    """nDCG@10 of each question of a set, by system, the questions in one order."""

    name: str
    scores: Mapping[str, Sequence[float]]

    def mean(self, system: str) -> float:
        """Return the mean over the questions."""
        return statistics.fmean(self.scores[system])

    def gain(self, system: str, other: str) -> Estimate:
        """Return what one system is better than another, with its 95 % interval."""
        pairs = zip(self.scores[system], self.scores[other], strict=True)
        return estimate([own - theirs for own, theirs in pairs])


def names() -> list[str]:
    """Return the sets in BEIR layout."""
    return sorted(path.parent.name for path in (data_folder() / "retrieval").glob("*/qrels.tsv"))


def measure(dataset: Dataset) -> Measured:
    """Index a set once and ask its questions three ways."""
    with open_collection(dataset.documents) as collection:
        method = replace(
            collection.library.search.method,
            rerank=_reranker(dataset.name) or collection.library.search.method.rerank,
        )
        plain = replace(method, fuse=lexical_scores, rerank=None, expand=(), hop=None)
        encoder = collection.sources()
        table = encoder.table or encoder
        ways = {BM25: (table, plain), TABLE: (table, method), ENCODER: (encoder, method)}
        return Measured(
            dataset.name,
            {name: scores(dataset, collection, *way) for name, way in ways.items()},
        )


def _reranker(name: str) -> Rerank | None:
    """Return the reranker fitted without a set; None where the product's own never saw it."""
    left_out = json.loads(_LEFT_OUT.read_text("utf-8"))
    return by_features(feature_model(json.dumps(left_out[name]))) if name in left_out else None


def scores(
    dataset: Dataset, collection: Collection, sources: Sources, method: Method
) -> list[float]:
    """Return nDCG@10 of each question; a document counts by its best chunk."""
    chosen = dict(islice(dataset.questions.items(), QUESTIONS))
    run = [
        ir_measures.ScoredDoc(key, collection.names[hit.document.id], -float(hit.rank))
        for key, text in chosen.items()
        for hit in retrieve(
            Query(text, Scope.everything(), limit=TOP, per_document=1), sources, method
        ).hits
    ]
    judged = [
        ir_measures.Qrel(key, document, grade)
        for key in chosen
        for document, grade in dataset.relevant[key].items()
    ]
    found = {each.query_id: each.value for each in ir_measures.iter_calc([nDCG @ TOP], judged, run)}
    return [float(found.get(key, 0.0)) for key in chosen]


def table_of(measured: Sequence[Measured]) -> Table:
    """Return the figures of every set and their means."""
    rows: list[Row] = []
    for each in measured:
        gain = each.gain(ENCODER, TABLE)
        rows.append(
            (
                each.name,
                len(each.scores[BM25]),
                *(f"{each.mean(system):.3f}" for system in (BM25, TABLE, ENCODER)),
                f"{gain.mean:+.3f} ({gain.low:+.3f} to {gain.high:+.3f})",
            )
        )
    means = [
        statistics.fmean(each.mean(name) for each in measured) for name in (BM25, TABLE, ENCODER)
    ]
    total = sum(len(each.scores[BM25]) for each in measured)
    rows.append(("mean", total, *(f"{mean:.3f}" for mean in means), f"{means[2] - means[1]:+.3f}"))
    columns = ("set", "questions", BM25, TABLE, ENCODER, "encoder less table, 95 %")
    return Table("nDCG@10", columns, tuple(rows))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", help="all when none is named")
    parser.add_argument("--write", action="store_true", help="keep the result")
    chosen = parser.parse_args()
    if chosen.write and chosen.sets:
        parser.error("--write keeps the result of all sets: name none")
    warnings.simplefilter("ignore")
    machine = Machine()
    measured = []
    for name in chosen.sets or names():
        began = time.perf_counter()
        measured.append(measure(load_dataset(data_folder() / "retrieval" / name)))
        figures = " ".join(f"{own} {measured[-1].mean(own):.3f}" for own in (BM25, TABLE, ENCODER))
        print(f"{name}: {figures}, {time.perf_counter() - began:.0f} s", flush=True)
    gains = [each.mean(ENCODER) - each.mean(TABLE) for each in measured]
    bars = [
        Bar("mean gain of the encoder over the table", statistics.fmean(gains), least=0.01),
        Bar("the least gain on a set", min(gains), least=-0.005),
    ]
    note = __doc__.strip().split("\n\n", 2)[2].replace("\n", " ")
    return finish(
        "open_sets",
        "The encoder in the box on open collections",
        bars,
        [table_of(measured)],
        machine.setting("onnxruntime"),
        (note,),
        write=chosen.write,
    )


if __name__ == "__main__":
    sys.exit(main())
