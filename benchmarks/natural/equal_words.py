"""Chunking compared by what a reader gets: facts and gold spans in as many words, and in hits.

    python benchmarks/natural/equal_words.py [--quick] [--write]

Longer chunks find more in three hits because they show more. So what is found is counted in the
first 2,400 and 6,400 characters shown (what 3 and 8 chunks of 800 characters show), titles and
section paths included, and beside it in the first 3 and 8 hits. Only the chunker differs between
rows: the default one at several targets, and a plain recursive cut at 200 tokens. Sets: the open
natural folders by their facts (``site-policies``, with dated versions, and ``contracts`` repeat
themselves), ``contracts-gold``, ``covid-qa-open`` and the corpora of ``chunking`` by the share of a
gold span's characters, and ``pubmedqa``, abstracts, by the document.

Vectors are the built-in encoder's, kept between runs (``$CHAPTERHOUSE_BENCH_CACHE``). ``--quick``
takes 40 questions of each set.
"""

import argparse
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from unittest.mock import patch

sys.path.append(str(Path(__file__).parents[1]))  # for the modules that all benchmarks share

from chapterhouse import wiring
from chapterhouse.evaluation.measures import estimate
from chapterhouse.library import Library
from chapterhouse.models.built_in import BuiltInEncoder
from chapterhouse.models.embedding_cache import CachedEmbedder, VectorCache
from chapterhouse.ports.models import Chunker, Embedder
from chapterhouse.settings import LONGEST, ChunkingSettings
from chapterhouse.types import Hit, Range
from chunking_others import recursive_by_tokens
from collection import Collection, open_collection
from data_folder import data_folder
from folders import PARTS
from gold_sets import Spans, drawn, locate, rows
from gold_spans import load_gold
from judged_sets import CorpusDocument, load_dataset
from libraries import complete_vectors, opened, shown
from marking import HITS, has_facts
from measuring import Cell, Machine, Row, Table, finish
from questions import read_questions
from vector_cache import cache_folder

TARGETS = (600, 700, 800, 1_100, 1_500)
CHARACTERS = (2_400, 6_400)
DEPTH = 30  # hits read: enough for 6,400 characters of the shortest chunks
SAMPLE = 300  # questions of a set
DEFAULT = "default, target 700"
_CACHE_BYTES = 2**30

# What a hit shows of what is sought, of so many hits or characters: 0 to 1.
Found = Callable[[Sequence[Hit]], float]


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: what is found of it in the first 2,400 / 6,400 characters and 3 / 8 hits."""

    in_characters: tuple[float, float]
    in_hits: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Result:
    """One chunker on one set; ``lengths`` are those of the first 8 hits, in characters."""

    asked: tuple[Asked, ...]
    lengths: tuple[int, ...]

    def mean(self, measure: str, place: int) -> float:
        """Return the mean of a measure in per cent."""
        return 100 * statistics.fmean(getattr(each, measure)[place] for each in self.asked)


def chunkers() -> Mapping[str, Chunker]:
    """Return the chunkers to compare; only the longest target needs a longer maximum."""
    found: dict[str, Chunker] = {}
    for target in TARGETS:
        longest = 0 if target < LONGEST else 2 * target
        settings = ChunkingSettings(target=target, maximum=longest)
        found[f"default, target {target}"] = wiring.chunker_for(settings)
    return {**found, "recursive, 200 tokens": recursive_by_tokens(200)}


@contextmanager
def using(chunker: Chunker, embedder: Embedder) -> Iterator[None]:
    """Let libraries that are opened meanwhile cut with ``chunker`` and embed with ``embedder``."""
    with (
        patch.object(wiring, "chunker_for", lambda _settings: chunker),
        patch.object(wiring, "open_embedder", lambda *_: embedder),
    ):
        yield


# --- what is found -----------------------------------------------------------------------------


def ask(library: Library, text: str, found: Found) -> tuple[Asked, list[int]]:
    """Search a question and count what is found of it."""
    hits = library.search.hits(text, limit=DEPTH, per_document=0).hits
    few, many = (found(hits[:count]) for count in HITS)
    short, long = (found(cut(hits, count)) for count in CHARACTERS)
    return Asked((short, long), (few, many)), [len(shown(hit)) for hit in hits[: HITS[1]]]


def cut(hits: Sequence[Hit], characters: int) -> list[Hit]:
    """Return the hits of which something is within the first characters, the last one cut."""
    kept: list[Hit] = []
    for hit in hits:
        text = hit.chunk.text
        left = characters - (len(shown(hit)) - len(text))
        if left > 0:
            end = min(hit.chunk.end, hit.chunk.start + left)
            kept.append(replace(hit, chunk=replace(hit.chunk, text=text[:left], end=end)))
        characters = left - len(text)
        if characters <= 0:
            break
    return kept


def facts_shown(facts: Sequence[Sequence[str]], hits: Sequence[Hit]) -> float:
    """Return 1 where all facts are in the hits."""
    return float(has_facts("\n".join(map(shown, hits)), facts))


def span_shown(spans: Spans, hits: Sequence[Hit]) -> float:
    """Return the share of the gold spans' characters that the hits show."""
    wanted = {(name, at) for name, own in spans.items() for span in own for at in range(*span)}
    seen = {
        (hit.document.id, at)
        for hit in hits
        for start, end in spans.get(hit.document.id, ())
        for at in range(max(start, hit.chunk.start), min(end, hit.chunk.end))
    }
    return len(wanted & seen) / len(wanted) if wanted else 0.0


def document_shown(wanted: frozenset[str], hits: Sequence[Hit]) -> float:
    """Return the share of the wanted documents that are among the hits."""
    return len(wanted & {hit.document.id for hit in hits}) / len(wanted)


# --- the sets ----------------------------------------------------------------------------------


def measure(chunker: Chunker, embedder: Embedder, sample: int) -> Iterator[tuple[str, Result]]:
    """Yield the name of each set and what one chunker finds on it."""
    with using(chunker, embedder):
        for folder in (name for name, part in PARTS.items() if part == "open"):
            with opened(folder, "built-in") as library:
                questions = [each for each in read_questions(folder) if each.answerable]
                facts = ((each.question, partial(facts_shown, each.facts)) for each in questions)
                yield folder, result(library, list(facts)[:sample])
                if folder == "contracts":
                    gold = drawn(list(contract_spans(library)), sample)
                    yield "contracts-gold", result(library, gold)
    with using(chunker, embedder), open_collection(papers(), chunker) as collection:
        complete_vectors(collection.library)
        asked = drawn(list(paper_spans(collection)), sample)
        yield "covid-qa-open", result(collection.library, asked)
    gold_texts = load_gold(data_folder() / "chunking").texts
    texts = [CorpusDocument(name, "", text) for name, text in gold_texts.items()]
    with using(chunker, embedder), open_collection(texts, chunker) as collection:
        complete_vectors(collection.library)
        asked = drawn(list(corpus_spans(collection)), sample)
        yield "chunking", result(collection.library, asked)
    abstracts = load_dataset(data_folder() / "retrieval" / "pubmedqa")
    with using(chunker, embedder), open_collection(abstracts.documents, chunker) as collection:
        complete_vectors(collection.library)
        ours = {theirs: own for own, theirs in collection.names.items()}
        wanted = [
            (text, partial(document_shown, frozenset(map(ours.__getitem__, abstracts.relevant[q]))))
            for q, text in abstracts.questions.items()
        ]
        yield "pubmedqa", result(collection.library, drawn(wanted, sample))


def result(library: Library, questions: Sequence[tuple[str, Found]]) -> Result:
    """Ask every question of a set."""
    found = [ask(library, text, wanted) for text, wanted in questions]
    return Result(
        tuple(asked for asked, _ in found),
        tuple(length for _, lengths in found for length in lengths),
    )


def contract_spans(library: Library) -> Iterator[tuple[str, Found]]:
    """Yield the questions of ``contracts-gold`` with their spans in our reading."""
    folder = data_folder() / "folders"
    ids = {document.source.partition("/")[2]: document.id for document in library.documents.list()}
    bodies = {name: library.documents.body(own).text for name, own in ids.items()}
    for row in rows(folder / "contracts-gold.jsonl"):
        spans: dict[str, list[Range]] = {}
        for each in row["spans"]:
            # newline="" keeps the file's own line ends, which the offsets count
            with (folder / "contracts" / each["document"]).open(
                encoding="utf-8", newline=""
            ) as file:
                wanted = file.read()[each["start"] : each["end"]]
            if place := locate(bodies[each["document"]], wanted, each["start"]):
                spans.setdefault(ids[each["document"]], []).append(place)
        yield row["question"], partial(span_shown, spans)


def papers() -> list[CorpusDocument]:
    """Return the papers of ``covid-qa-open``."""
    path = data_folder() / "retrieval" / "covid-qa-open" / "documents.jsonl"
    return [CorpusDocument(row["_id"], "", row["text"]) for row in rows(path)]


def paper_spans(collection: Collection) -> Iterator[tuple[str, Found]]:
    """Yield the questions of ``covid-qa-open`` with their spans in our reading."""
    ids = {theirs: own for own, theirs in collection.names.items()}
    texts = {paper.id: paper.text for paper in papers()}
    bodies = {name: collection.library.documents.body(own).text for name, own in ids.items()}
    for row in rows(data_folder() / "retrieval" / "covid-qa-open" / "questions.jsonl"):
        name = row["document"]
        place = locate(bodies[name], texts[name][row["start"] : row["end"]], row["start"])
        spans = {ids[name]: [place]} if place else {}
        yield row["text"], partial(span_shown, spans)


def corpus_spans(collection: Collection) -> Iterator[tuple[str, Found]]:
    """Yield the questions of ``chunking`` with their spans: our reading keeps its offsets."""
    ids = {theirs: own for own, theirs in collection.names.items()}
    for question in load_gold(data_folder() / "chunking").questions:
        yield question.text, partial(span_shown, {ids[question.corpus]: question.ranges})


# --- the result --------------------------------------------------------------------------------


def found_table(
    title: str, measure: str, results: Mapping[str, Mapping[str, Result]], note: str
) -> Table:
    """Return what each chunker finds on each set, by one measure."""
    sets = list(next(iter(results.values())))
    table_rows: list[Row] = []
    for name, own in results.items():
        pairs = [[own[each].mean(measure, place) for place in (0, 1)] for each in sets]
        means = [statistics.fmean(column) for column in zip(*pairs, strict=True)]
        shown_pairs = [f"{few:.1f} / {many:.1f}" for few, many in (*pairs, means)]
        table_rows.append((name, *shown_pairs))
    return Table(title, ("chunker", *sets, "mean of the sets"), tuple(table_rows), note)


def difference_table(results: Mapping[str, Mapping[str, Result]]) -> Table:
    """Return what each chunker finds more than the default at equal words, question by question."""
    table_rows: list[Row] = []
    for name, own in results.items():
        cells: list[Cell] = [name, f"{statistics.fmean(_lengths(own)):,.0f}"]
        for place in (0, 1):
            changes = [
                100 * (each.in_characters[place] - before.in_characters[place])
                for key, one in own.items()
                for each, before in zip(one.asked, results[DEFAULT][key].asked, strict=True)
            ]
            change = estimate(changes)
            cells.append(f"{change.mean:+.1f} ({change.low:+.1f} to {change.high:+.1f})")
        gains = [
            one.mean("in_characters", place) - results[DEFAULT][key].mean("in_characters", place)
            for key, one in own.items()
            for place in (0, 1)
        ]
        cells += [sum(gain > 1 for gain in gains), sum(gain < -1 for gain in gains)]
        table_rows.append(tuple(cells))
    columns = (
        *("chunker", "mean characters shown a hit"),
        *(f"in {count:,} characters" for count in CHARACTERS),
        *("better by a point or more", "worse by a point or more"),
    )
    note = (
        "Points beside the default, all questions together, with 95 % intervals by resampling "
        "them; then of how many of the figures of the sets (two each) that are more than a point "
        "apart."
    )
    return Table("At equal words, beside the default", columns, tuple(table_rows), note)


def _lengths(own: Mapping[str, Result]) -> list[int]:
    return [length for each in own.values() for length in each.lengths]


NOTES = (
    (
        "Natural folders: share of answerable questions with all facts shown. contracts-gold, "
        "covid-qa-open and chunking: mean share of the gold spans' characters shown. pubmedqa: "
        "share of questions whose abstract is among the hits. In per cent."
    ),
    (
        "The recursive cut is LangChain's RecursiveCharacterTextSplitter over blank lines, lines, "
        "ends of sentences and spaces, its length counted in tokens of Llama 2. The maximum of a "
        "chunk is the library's 1,500 characters, but 3,000 at target 1,500."
    ),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="40 questions of each set")
    parser.add_argument("--write", action="store_true", help="keep the result")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    machine = Machine()
    sample = 40 if chosen.quick else SAMPLE
    cache = VectorCache(cache_folder() / "chunking.db", _CACHE_BYTES)
    embedder = CachedEmbedder(BuiltInEncoder(), cache)
    results: dict[str, dict[str, Result]] = {}
    for name, chunker in chunkers().items():
        began = time.perf_counter()
        results[name] = dict(measure(chunker, embedder, sample))
        print(f"{name}: {time.perf_counter() - began:.0f} s", flush=True)
    cache.close()
    count = sum(len(each.asked) for each in results[DEFAULT].values())
    return finish(
        "natural_chunking",
        "Chunking at equal words",
        (),
        [
            difference_table(results),
            found_table(
                "In the first 2,400 / 6,400 characters",
                "in_characters",
                results,
                f"{count:,} questions.",
            ),
            found_table("In the first 3 / 8 hits", "in_hits", results, ""),
        ],
        machine.setting("langchain-text-splitters"),
        NOTES,
        write=chosen.write and not chosen.quick,
    )


if __name__ == "__main__":
    sys.exit(main())
