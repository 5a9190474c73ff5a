"""Chunking: gold spans found beside other libraries' chunkers, speed, and what it costs.

    python benchmarks/chunking.py [--quick] [--collections]

* Gold spans: three corpora and 276 questions of the folder ``chunking``; every question searches
  all corpora together with our retriever as a library has it, and the top five chunks are scored
  by tokens. Only the chunker differs between rows.
* Judged collections, with ``--collections``: whether a strategy costs nDCG@10, documents counted
  by their best chunk.
* Speed: processor seconds of one thread on real text.

``--quick`` leaves most settings of the others out and writes nothing.
"""

import argparse
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import ir_measures
import numpy as np
from ir_measures import nDCG

from chapterhouse.chunking.sentence import chunk_by_sentence
from chapterhouse.chunking.strategies import STRATEGIES, strategies
from chapterhouse.chunking.units import Limits
from chapterhouse.evaluation.measures import estimate
from chapterhouse.models.static import StaticEmbedder
from chapterhouse.ports.models import Chunker
from chapterhouse.settings import ChunkingSettings
from chapterhouse.text.canonical import compose
from chapterhouse.types import Body, ExtractedPage, Extraction, Scope
from chapterhouse.wiring import chunker_for
from chunking_others import other_chunkers
from collection import open_collection
from data_folder import data_folder
from gold_spans import (
    SpanScores,
    count_tokens,
    load_gold,
    score_spans,
    token_places,
)
from judged_sets import CorpusDocument, load_dataset
from measuring import Bar, Cell, Machine, Table, finish

TOP = 5
COLLECTIONS = ("cranfield", "anthropic-docs", "time")
TARGETS = (400, 500, 700)
SENTENCE = (600, 1_000)
REPEATS = 5
OURS = "Chapterhouse"
# The two settings that the bars are about: the library's default, and a finer one.
DEFAULT = ("", "the library's default")
FINE = ("topic", "target 400")

_TABLE = StaticEmbedder()


@dataclass(frozen=True, slots=True)
class Row:
    """One chunker on the gold spans; scores are in order of the questions."""

    system: str
    setting: str
    chunks: int
    characters: float
    scores: tuple[SpanScores, ...]

    def mean(self, measure: str) -> float:
        """Return a measure's mean in per cent."""
        return 100 * float(np.mean([getattr(score, measure) for score in self.scores]))

    def beats(self, other: "Row") -> bool:
        """Whether it is better in recall and in IoU."""
        return all(self.mean(name) > other.mean(name) for name in ("recall", "iou"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--collections", action="store_true")
    chosen = parser.parse_args()
    quick = chosen.quick
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    machine = Machine()
    ours = [measure_spans(OURS, name, chunker) for name, chunker in our_chunkers()]
    others = [
        measure_spans(system, name, chunker)
        for number, (system, name, chunker) in enumerate(other_chunkers())
        if not quick or number % 7 == 0
    ]
    default = next(row for row in ours if row.setting == DEFAULT[1])
    fine = next(row for row in ours if row.setting == ", ".join(FINE))
    speeds = list(measure_speed())
    bars = [
        *span_bars("default", default, others, 91, 5),
        *span_bars("fine", fine, others, 88, 8),
        Bar("adaptive, slowest text, MB/s", min(s[-1] for s in speeds if s[0] == "adaptive"), 1),
    ]
    tables = [span_table(ours, others), speed_table(speeds)]
    if chosen.collections:
        tables.append(collections_table())
    notes = [f"Fine: {', '.join(FINE)}. Bars on spans compare with every setting of the others."]
    setting = machine.setting("langchain-text-splitters", "chonkie", "semchunk")
    return finish("chunking", "Chunking", bars, tables, setting, notes, write=not quick)


def our_chunkers() -> Iterator[tuple[str, Chunker]]:
    """Yield the name and the chunker of every setting of ours."""
    yield DEFAULT[1], chunker_for(ChunkingSettings())
    for maximum in SENTENCE:
        yield f"sentence, maximum {maximum}", partial(chunk_by_sentence, maximum=maximum)
    for target in TARGETS:
        named = strategies(_TABLE.embed_passages, Limits(target))
        yield from ((f"{name}, target {target}", named[name]) for name in STRATEGIES)


# --- gold spans --------------------------------------------------------------------------------


def measure_spans(system: str, setting: str, chunker: Chunker) -> Row:
    """Score one chunker with our retriever."""
    gold = load_gold(data_folder() / "chunking")
    documents = [CorpusDocument(name, "", text) for name, text in gold.texts.items()]
    scores: list[SpanScores] = []
    with open_collection(documents, chunker) as collection:
        texts = {
            name: collection.store.body(key, Scope.everything())
            for key, name in collection.names.items()
        }
        places, stretches = {}, {}
        for key, name in collection.names.items():
            body = texts[name]
            assert body
            assert gold.texts[name].startswith(body.text), "offsets would have moved"
            places[name] = token_places(body.text, _TABLE.token_offsets)
            stretches[name] = [
                (c.start, c.end) for c in collection.store.chunks_of(key, Scope.everything())
            ]
        for question in gold.questions:
            hits = collection.library.search.hits(question.text, limit=TOP, per_document=0).hits
            found = [
                (collection.names[hit.document.id], (hit.chunk.start, hit.chunk.end))
                for hit in hits
            ]
            own = question.corpus
            elsewhere = sum(count_tokens([at], places[name]) for name, at in found if name != own)
            here = [at for name, at in found if name == own]
            scores.append(
                score_spans(question.ranges, here, stretches[own], places[own], elsewhere)
            )
    lengths = [end - start for chunks in stretches.values() for start, end in chunks]
    row = Row(system, setting, len(lengths), float(np.mean(lengths)), tuple(scores))
    print(
        f"{system}, {setting}: recall {row.mean('recall'):.1f} IoU {row.mean('iou'):.2f}",
        flush=True,
    )
    return row


def span_bars(
    name: str, row: Row, others: Sequence[Row], recall: float, iou: float
) -> Sequence[Bar]:
    """Return what a setting must reach, and how many of the others are better in both."""
    better = sum(other.beats(row) for other in others)
    return (
        Bar(f"{name}: recall, %", row.mean("recall"), recall),
        Bar(f"{name}: IoU, %", row.mean("iou"), iou),
        Bar(f"{name}: settings of others better in both", better, most=0),
    )


def span_table(ours: Sequence[Row], others: Sequence[Row]) -> Table:
    """Return every row, best recall first, with its 95 % bootstrap interval."""
    rows: list[tuple[Cell, ...]] = []
    for row in (*ours, *others):
        recall = estimate([100 * score.recall for score in row.scores])
        iou = estimate([100 * score.iou for score in row.scores])
        rows.append(
            (
                row.system,
                row.setting,
                row.chunks,
                round(row.characters),
                round(recall.mean, 1),
                f"{recall.low:.1f} to {recall.high:.1f}",
                round(row.mean("precision"), 2),
                round(row.mean("precision_omega"), 1),
                round(iou.mean, 2),
                f"{iou.low:.2f} to {iou.high:.2f}",
            )
        )
    columns = ("chunker", "setting", "chunks", "mean characters", "recall", "95 %", "precision",
               "precision Ω", "IoU", "95 % of IoU")  # fmt: skip
    note = "Top five chunks of all corpora together, tokens of Llama 2, per cent."
    return Table("Gold spans", columns, tuple(rows), note)


# --- speed -------------------------------------------------------------------------------------


def real_texts() -> Mapping[str, Body]:
    """Return about a megabyte each of prose, news and documentation."""
    data = data_folder()
    prose = "\n\n".join(load_gold(data / "chunking").texts.values())
    news = "\n\n".join(d.text for d in load_dataset(data / "retrieval" / "time").documents)
    pages = sorted((data / "documents" / "docling-groundtruth").glob("*/groundtruth/*.md"))
    markdown = "\n\n".join(page.read_text("utf-8", errors="replace") for page in pages)
    texts = {"prose": prose * 5, "news": news[:1_000_000], "Markdown": markdown[:1_000_000]}
    return {name: _body(text, markdown=name == "Markdown") for name, text in texts.items()}


def _body(text: str, *, markdown: bool) -> Body:
    return compose(Extraction((ExtractedPage(text),), "md", "benchmark", markdown=markdown))[0]


def _seconds(work: Callable[[], object]) -> float:
    """Return the least processor time of several runs, all threads together."""
    found = []
    for _ in range(REPEATS):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return min(found)


def measure_speed() -> Iterator[tuple[str, str, float]]:
    """Yield strategy, text, and megabytes of UTF-8 a second; each run analyses anew."""
    named: dict[str, Chunker] = {
        "sentence": chunk_by_sentence,
        **strategies(_TABLE.embed_passages),
    }
    for text_name, body in real_texts().items():
        size = len(body.text.encode()) / 1e6
        for name, chunker in named.items():
            yield name, text_name, size / _seconds(partial(chunker, body))


def speed_table(speeds: Sequence[tuple[str, str, float]]) -> Table:
    texts = list(dict.fromkeys(text for _, text, _ in speeds))
    found = {(name, text): speed for name, text, speed in speeds}
    rows: list[tuple[Cell, ...]] = [
        (name, *(round(found[name, text], 2) for text in texts))
        for name in dict.fromkeys(name for name, _, _ in speeds)
    ]
    note = f"Megabytes a second of processor time, best of {REPEATS}, one thread."
    return Table("Speed", ("strategy", *texts), tuple(rows), note)


# --- judged collections ------------------------------------------------------------------------


def collections_table() -> Table:
    fine = strategies(_TABLE.embed_passages, Limits(500))
    wide = strategies(_TABLE.embed_passages, Limits(700))
    chunkers: dict[str, Chunker] = {"sentence, maximum 1000": chunk_by_sentence}
    for name in ("topic", "hierarchical"):
        chunkers |= {f"{name}, target 500": fine[name], f"{name}, target 700": wide[name]}
    rows: list[tuple[Cell, ...]] = []
    for name, chunker in chunkers.items():
        figures = [ndcg(collection, chunker) for collection in COLLECTIONS]
        print(name, figures, flush=True)
        rows.append((name, *figures, round(float(np.mean(figures)), 4)))
    return Table("Judged collections, nDCG@10", ("chunker", *COLLECTIONS, "mean"), tuple(rows))


def ndcg(name: str, chunker: Chunker) -> float:
    """Return nDCG@10 of a collection cut by one chunker."""
    dataset = load_dataset(data_folder() / "retrieval" / name)
    run: list[ir_measures.ScoredDoc] = []
    with open_collection(dataset.documents, chunker) as collection:
        for key, text in dataset.questions.items():
            hits = collection.library.search.hits(text, limit=10, per_document=1).hits
            run += [
                ir_measures.ScoredDoc(key, collection.names[hit.document.id], -float(hit.rank))
                for hit in hits
            ]
    qrels = [
        ir_measures.Qrel(key, document, grade)
        for key, grades in dataset.relevant.items()
        for document, grade in grades.items()
    ]
    return round(float(ir_measures.calc_aggregate([nDCG @ 10], qrels, run)[nDCG @ 10]), 4)


if __name__ == "__main__":
    raise SystemExit(main())
