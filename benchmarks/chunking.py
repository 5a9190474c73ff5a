"""Chunking: gold spans found with each of our chunkers, and their speed.

    python benchmarks/chunking.py [--quick]

* Gold spans: three corpora and 276 questions of the folder ``chunking``; every question searches
  all corpora together with our retriever as a library has it, and the top five chunks are scored
  by tokens. Only the chunker differs between rows.
* Speed: processor seconds of one thread on real text.

``--quick`` takes the two settings that the bars are about and writes nothing. Beside the chunkers
of LangChain, Chonkie and semchunk it was measured last at commit 604e6751: no setting of theirs was
better than either of the two in recall and IoU.
"""

import argparse
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from chapterhouse.chunking.sentence import chunk_by_sentence
from chapterhouse.chunking.strategies import STRATEGIES, strategies
from chapterhouse.chunking.units import Limits
from chapterhouse.evaluation.measures import estimate
from chapterhouse.library.opening import chunker_for
from chapterhouse.models.built_in import built_in_encoder
from chapterhouse.settings import ChunkingSettings
from chapterhouse.text.canonical import compose
from chapterhouse.types import Body, ExtractedPage, Extraction, Scope
from chapterhouse.types.engines import Chunker
from collection import open_collection
from gold_spans import (
    SpanScores,
    count_tokens,
    load_gold,
    score_spans,
    token_places,
)
from judged_sets import CorpusDocument, load_dataset
from measuring import Bar, Cell, Machine, Table, data_folder, finish

TOP = 5
TARGETS = (400, 500, 700)
SENTENCE = (600, 1_000)
REPEATS = 5
# The two settings that the bars are about: the library's default, and a finer one.
DEFAULT = "the library's default"
FINE = "topic, target 400"

_ENCODER = built_in_encoder()


@dataclass(frozen=True, slots=True)
class Row:
    """One chunker on the gold spans; scores are in order of the questions."""

    setting: str
    chunks: int
    characters: float
    scores: tuple[SpanScores, ...]

    def mean(self, measure: str) -> float:
        """Return a measure's mean in per cent."""
        return 100 * float(np.mean([getattr(score, measure) for score in self.scores]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    machine = Machine()
    wanted = {DEFAULT: (91, 5), FINE: (88, 8)}
    rows = {
        name: measure_spans(name, chunker)
        for name, chunker in our_chunkers()
        if name in wanted or not quick
    }
    bars = [
        Bar(f"{name}: {measure}, %", rows[name].mean(measure), least)
        for name, bounds in wanted.items()
        for measure, least in zip(("recall", "iou"), bounds, strict=True)
    ]
    tables = [span_table(rows.values())]
    if not quick:
        speeds = list(measure_speed())
        slowest = min(speed[-1] for speed in speeds if speed[0] == "adaptive")
        bars.append(Bar("adaptive, slowest text, MB/s", slowest, 1))
        tables.append(speed_table(speeds))
    return finish("chunking", "Chunking", bars, tables, machine.setting(), write=not quick)


def our_chunkers() -> Iterator[tuple[str, Chunker]]:
    """Yield the name and the chunker of every setting of ours."""
    yield DEFAULT, chunker_for(ChunkingSettings())
    for maximum in SENTENCE:
        yield f"sentence, maximum {maximum}", partial(chunk_by_sentence, maximum=maximum)
    for target in TARGETS:
        named = strategies(_ENCODER.embed_passages, Limits(target))
        yield from ((f"{name}, target {target}", named[name]) for name in STRATEGIES)


def token_offsets(text: str) -> Sequence[tuple[int, int]]:
    """Return start and end of each token of the encoder in the box."""
    (tokens,) = _ENCODER.embed_passage_tokens([text])
    return list(zip(tokens.starts.tolist(), tokens.ends.tolist(), strict=True))


# --- gold spans --------------------------------------------------------------------------------


def measure_spans(setting: str, chunker: Chunker) -> Row:
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
            places[name] = token_places(body.text, token_offsets)
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
    row = Row(setting, len(lengths), float(np.mean(lengths)), tuple(scores))
    print(f"{setting}: recall {row.mean('recall'):.1f} IoU {row.mean('iou'):.2f}", flush=True)
    return row


def span_table(found: Iterable[Row]) -> Table:
    """Return every row, best recall first, with its 95 % bootstrap interval."""
    rows: list[tuple[Cell, ...]] = []
    for row in found:
        recall = estimate([100 * score.recall for score in row.scores])
        iou = estimate([100 * score.iou for score in row.scores])
        rows.append(
            (
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
    columns = ("setting", "chunks", "mean characters", "recall", "95 %", "precision",
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
        **strategies(_ENCODER.embed_passages),
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


if __name__ == "__main__":
    raise SystemExit(main())
