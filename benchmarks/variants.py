"""Whether other ways of putting a question find more, and which merge and weights do it best.

    python benchmarks/variants.py

**Two questions in one.** Two questions of a collection with different relevant documents are
joined ("A and B?"); counted is how often both documents are among the first 5 and 10.

**Other names.** From the abbreviations that documents of a collection define, a question asks with
the long form for a document that only has the short one: four rare words of that document and the
long form in place of the short one. Counted is whether the document is among the first 5.

**Single questions** must lose nothing: nDCG@10 of the collections' own, with and without.

The reranker is the one fitted on all collections, in every row alike.
"""

import argparse
import random
import re
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

import ir_measures
from ir_measures import nDCG

from chapterhouse.retrieval import expand
from chapterhouse.retrieval.expand import by_names, by_parts
from chapterhouse.retrieval.fuse import best_scores, variant_ranks
from chapterhouse.retrieval.method import Expand, Merge, Method
from chapterhouse.retrieval.pipeline import retrieve
from chapterhouse.text.aliases import find_aliases
from chapterhouse.text.analyse import analyse
from chapterhouse.types import AliasKind, Query, Scope
from collection import Collection, open_collection
from data_folder import data_folder
from judged_sets import Dataset, load_dataset
from measuring import Bar, Machine, Row, Table, finish
from vector_cache import vectors_cached

COLLECTIONS = ("xquad-en", "xquad-de", "pubmedqa")
ALIAS_COLLECTIONS = ("pubmedqa", "cisi")
SINGLE_COLLECTIONS = ("anthropic-docs", "cacm")
PAIRS = 200
NAMED = 200
SINGLE = 300
SEED = 7
WEIGHTS = (0.7, 0.8, 0.9, 1.0)
SHARES = (0.3, 0.6, 1.0)
MERGES: Mapping[str, Merge] = {"best score": best_scores, "ranks": variant_ranks}
LEAST_SINGLE = -0.001
_RARE_WORDS = 4

Join = Callable[[str, str], str]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the documents that it needs, by the collection's names."""

    text: str
    needs: frozenset[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the questions; no result")
    quick = parser.parse_args().quick
    machine = Machine()
    share = 10 if quick else 1
    parts: dict[str, dict[str, tuple[float, float]]] = {}
    singles: list[Row] = []
    names: dict[str, dict[str, float]] = {}
    for name in dict.fromkeys((*COLLECTIONS, *ALIAS_COLLECTIONS, *SINGLE_COLLECTIONS)):
        dataset = load_dataset(data_folder() / "retrieval" / name)
        with vectors_cached(), open_collection(dataset.documents) as collection:
            if name in COLLECTIONS:
                parts[name] = measure_parts(collection, pairs(dataset)[::share])
            if name in ALIAS_COLLECTIONS:
                names[name] = measure_names(collection, renamed(dataset, collection)[::share])
            singles.append(measure_singles(collection, dataset, SINGLE // share))
        print(name, parts.get(name), names.get(name), singles[-1], sep="\n", flush=True)
    worst = min(float(row[-1]) for row in singles)
    gain = min(both[_default(parts)][0] - both["without"][0] for both in parts.values())
    finish(
        "variants",
        "Other ways of putting a question",
        [Bar("single questions, worst change in nDCG@10", worst, least=LEAST_SINGLE),
         Bar("two questions in one, least gain in both among the first 5", gain, least=0.0)],
        [Table("Two questions in one: both documents among the first 5 / 10",
               ("way", *parts), tuple(_both_rows(parts))),
         Table("Another name: the document among the first 5",
               ("share of a term", *names), tuple(_name_rows(names))),
         Table("Single questions: nDCG@10", ("collection", "without", "with", "change"),
               tuple(singles))],
        machine.setting(),
        write=not quick,
    )  # fmt: skip


def _default(parts: Mapping[str, Mapping[str, object]]) -> str:
    merge = next(name for name, merge in MERGES.items() if merge is Method().merge)
    way = f"{merge}, weight {expand.PART_WEIGHT:g}"
    return way if way in next(iter(parts.values())) else "without"


def _both_rows(parts: Mapping[str, Mapping[str, tuple[float, float]]]) -> Iterator[Row]:
    for way in next(iter(parts.values())):
        yield way, *("{:.3f} / {:.3f}".format(*found[way]) for found in parts.values())


def _name_rows(names: Mapping[str, Mapping[str, float]]) -> Iterator[Row]:
    for way in next(iter(names.values())):
        yield way, *(round(found[way], 3) for found in names.values())


# --- two questions in one ----------------------------------------------------------------------


def pairs(dataset: Dataset) -> Sequence[Asked]:
    """Join questions that different documents answer, by turns with "and" and as two sentences."""
    source = random.Random(SEED)
    german = dataset.name.endswith("-de")
    joins: tuple[Join, ...] = (partial(_joined, " und " if german else " and "), _two_sentences)
    identifiers = sorted(dataset.questions)
    found: list[Asked] = []
    while len(found) < PAIRS:
        one, other = source.sample(identifiers, 2)
        needs = [frozenset(dataset.relevant[each]) for each in (one, other)]
        if needs[0] & needs[1]:
            continue
        texts = dataset.questions[one].strip(), dataset.questions[other].strip()
        needed = frozenset(min(each) for each in needs)
        found.append(Asked(joins[len(found) % len(joins)](*texts), needed))
    return found


def _joined(conjunction: str, one: str, other: str) -> str:
    return one.rstrip("?. ") + conjunction + other[:1].lower() + other[1:]


def _two_sentences(one: str, other: str) -> str:
    return f"{one.rstrip('?. ')}? {other}"


def measure_parts(
    collection: Collection, questions: Sequence[Asked]
) -> dict[str, tuple[float, float]]:
    """Return for every way how often both documents are among the first 5 and 10."""
    method = collection.library.search.method
    found = {"without": _both(collection, questions, replace(method, expand=()))}
    for name, merge in MERGES.items():
        for weight in WEIGHTS:
            with part_weight(weight):
                changed = replace(method, expand=(by_parts,), merge=merge)
                found[f"{name}, weight {weight:g}"] = _both(collection, questions, changed)
    return found


@contextmanager
def part_weight(weight: float) -> Iterator[None]:
    """Let parts weigh this much for a while."""
    before = expand.PART_WEIGHT
    expand.PART_WEIGHT = weight  # type: ignore[misc]  # what is Final there is tried out here
    try:
        yield
    finally:
        expand.PART_WEIGHT = before  # type: ignore[misc]  # likewise


def _both(
    collection: Collection, questions: Sequence[Asked], method: Method
) -> tuple[float, float]:
    ranked = [(asked, ranking(collection, asked.text, method)) for asked in questions]
    five, ten = (
        statistics.fmean(asked.needs <= set(names[:depth]) for asked, names in ranked)
        for depth in (5, 10)
    )
    return round(five, 3), round(ten, 3)


def ranking(collection: Collection, text: str, method: Method) -> Sequence[str]:
    """Return the documents of the first hits, each once."""
    query = Query(text, Scope.everything(), limit=10, per_document=1)
    result = retrieve(query, collection.sources(), method)
    return [collection.names[hit.document.id] for hit in result.hits]


# --- another name ------------------------------------------------------------------------------


def renamed(dataset: Dataset, collection: Collection) -> Sequence[Asked]:
    """Ask with the long form for documents that only have the short one."""
    known: dict[str, str] = {}
    for document in dataset.documents:
        for alias in find_aliases(document.title, document.text):
            if alias.kind is AliasKind.ABBREVIATION:
                known.setdefault(alias.name, alias.other)
    found: list[Asked] = []
    for document in dataset.documents:
        text = f"{document.title} {document.text}"
        said = set(re.findall(r"[\w\-]+", text))
        for short, long in known.items():
            if short in said and not set(analyse(long, "en")) & set(analyse(text, "en")):
                words = _rare_words(document.text, short, collection)
                found.append(Asked(f"{long} {words}", frozenset({document.id})))
    return random.Random(SEED).sample(found, min(NAMED, len(found)))


def _rare_words(text: str, short: str, collection: Collection) -> str:
    """Return words of the sentence with the short form, so common that they alone do not do."""
    sentence = next(part for part in re.split(r"(?<=[.!?])\s", text + " " + short) if short in part)
    words = [word for word in re.findall(r"[^\W\d_]{4,}", sentence) if word != short]
    frequency = {
        word: collection.lexical.document_frequencies([term], Scope.everything())[0]
        for word in words
        for term in analyse(word, "en")[:1]
    }
    return " ".join(sorted(frequency, key=lambda word: (-frequency[word], word))[:_RARE_WORDS])


def measure_names(collection: Collection, questions: Sequence[Asked]) -> dict[str, float]:
    """Return for every share how often the document is among the first 5."""
    method = collection.library.search.method
    expanded: Expand = by_names(collection.runtime.aliases.find)
    found = {"without": _found(collection, questions, replace(method, expand=()))}
    before = dict(expand._NAME_SHARE)  # noqa: SLF001 - what is private there is tried out here
    for name, merge in MERGES.items():
        for share in SHARES:
            expand._NAME_SHARE.update(dict.fromkeys(before, share))  # noqa: SLF001 - likewise
            changed = replace(method, expand=(expanded,), merge=merge)
            found[f"{name}, share {share:g}"] = _found(collection, questions, changed)
    expand._NAME_SHARE.update(before)  # noqa: SLF001 - likewise
    return found | {"questions": float(len(questions))}


def _found(collection: Collection, questions: Sequence[Asked], method: Method) -> float:
    hits = [
        bool(asked.needs & set(ranking(collection, asked.text, method)[:5])) for asked in questions
    ]
    return statistics.fmean(hits) if hits else 0.0


# --- single questions --------------------------------------------------------------------------


def measure_singles(collection: Collection, dataset: Dataset, number: int) -> Row:
    """Return nDCG@10 without and with the expansions that need no model."""
    method = collection.library.search.method
    chosen = sorted(dataset.questions)
    chosen = random.Random(SEED).sample(chosen, min(number, len(chosen)))
    without, used = (
        _ndcg(collection, dataset, chosen, changed)
        for changed in (replace(method, expand=()), method)
    )
    return dataset.name, round(without, 4), round(used, 4), round(used - without, 4)


def _ndcg(collection: Collection, dataset: Dataset, chosen: Sequence[str], method: Method) -> float:
    run = [
        ir_measures.ScoredDoc(question, document, float(-place))
        for question in chosen
        for place, document in enumerate(ranking(collection, dataset.questions[question], method))
    ]
    qrels = [
        ir_measures.Qrel(question, document, grade)
        for question in chosen
        for document, grade in dataset.relevant[question].items()
    ]
    return float(ir_measures.calc_aggregate([nDCG @ 10], qrels, run)[nDCG @ 10])


if __name__ == "__main__":
    main()
