"""Fit the feature reranker, and measure it on collections that it was not fitted on.

    python benchmarks/reranker.py            measure, leaving one collection out
    python benchmarks/reranker.py --write    also fit on all and write the weights

The candidates are those that the product reranks, with the features that it computes. A linear
model is fitted by a listwise softmax: of every question's candidates the relevant ones shall have
the mass. Every collection weighs the same however many questions it has. The three languages of
XQuAD ask the same questions, so they are left out together.

Afterwards a logistic function of two numbers makes probabilities of the scores.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from chapterhouse.evaluation.collection import Collection, indexed
from chapterhouse.evaluation.datasets import CorpusDocument, Dataset, load_dataset
from chapterhouse.evaluation.spans import GoldQuestion, GoldSpans, load_gold
from chapterhouse.retrieval.candidates import find_candidates
from chapterhouse.retrieval.features import FEATURES
from chapterhouse.retrieval.method import Method
from chapterhouse.retrieval.pipeline import shortlisted
from chapterhouse.retrieval.question import understand
from chapterhouse.retrieval.rerank import table_of
from chapterhouse.types import Chunk, Query
from data_folder import data_folder
from measuring import Bar, Machine, Table, finish

COLLECTIONS = ("cranfield", "cacm", "cisi", "npl", "time", "anthropic-docs", "pubmedqa",
               "xquad-en", "xquad-de", "xquad-zh")  # fmt: skip
SPANS = "chunking"
MOST_QUESTIONS = 400  # of a collection
PENALTY = 0.02  # of the squared standardised weights
WEIGHTS = Path(__file__).parents[1] / "src/chapterhouse/retrieval/reranker.json"
# For each collection the model that was fitted on all others; ``quality.py`` measures with it.
LEFT_OUT = Path(__file__).parent / "results/reranker_left_out.json"
METHOD = Method()

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Example:
    """A question's shortlist.

    Attributes:
        table: Its features, shape (candidates, features).
        names: What each candidate counts for in the judgements: its document, or itself.
        grades: Grade of each candidate.
        ideal: All grades of the question, highest first.
    """

    table: Floats
    names: tuple[str, ...]
    grades: Floats
    ideal: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Linear:
    """Weights of the features as they are."""

    weights: Floats

    def scores(self, example: Example) -> Floats:
        """Return one score a candidate."""
        scores: Floats = example.table @ self.weights
        return scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the weights fitted on all")
    write = parser.parse_args().write
    machine = Machine()
    sets = read_sets()
    before = {name: mean_ndcg(examples, None) for name, examples in sets.items()}
    left_out = {name: fit(others(sets, name)) for name in sets}
    after = {name: mean_ndcg(examples, left_out[name]) for name, examples in sets.items()}
    rows = [(name, round(before[name], 4), round(after[name], 4),
             round(after[name] - before[name], 4)) for name in sets]  # fmt: skip
    gain = float(np.mean(list(after.values())) - np.mean(list(before.values())))
    worst = min(after[name] - before[name] for name in sets)
    for row in (*rows, ("mean", gain, worst)):
        print(*row, sep="\t")
    fitted = described(sets, fit(sets))
    if write:
        WEIGHTS.write_text(json.dumps(fitted, indent=2) + "\n", "utf-8")
        without = {name: described(others(sets, name), left_out[name]) for name in sets}
        LEFT_OUT.write_text(json.dumps(without, indent=1) + "\n", "utf-8")
    finish(
        "reranker",
        "The feature reranker",
        [Bar("mean gain in nDCG@10 on collections it was not fitted on", gain, least=0.0),
         Bar("worst collection", worst, least=-0.003)],
        [Table("nDCG@10 of the shortlist", ("collection", "before", "after, left out", "gain"),
               tuple(rows)),
         Table("Weights", ("feature", "weight"), tuple(fitted["weights"].items()))],
        machine.setting("scipy"),
    )  # fmt: skip


def described(sets: Mapping[str, Sequence[Example]], model: Linear) -> dict[str, Any]:
    """Return a model as the product reads it, its scores made probabilities."""
    intercept, slope = calibrate(sets, model)
    weights = (slope * model.weights).round(4).tolist()
    return {"intercept": round(intercept, 4), "weights": dict(zip(FEATURES, weights, strict=True))}


def others(sets: Mapping[str, Sequence[Example]], name: str) -> dict[str, Sequence[Example]]:
    """Leave out a collection, and its translations."""
    family = name.partition("-")[0] if name.startswith("xquad") else name
    return {other: examples for other, examples in sets.items() if not other.startswith(family)}


def read_sets() -> dict[str, Sequence[Example]]:
    """Index every collection and return its questions' shortlists."""
    sets: dict[str, Sequence[Example]] = {}
    for name in COLLECTIONS:
        dataset = load_dataset(data_folder() / "retrieval" / name)
        with indexed(dataset.documents) as collection:
            sets[name] = of_dataset(dataset, collection)
    gold = load_gold(data_folder() / SPANS)
    documents = [CorpusDocument(name, "", text) for name, text in gold.texts.items()]
    with indexed(documents) as collection:
        sets[SPANS] = of_spans(gold, collection)
    return sets


def of_dataset(dataset: Dataset, collection: Collection) -> Sequence[Example]:
    """Judge chunks by their documents."""
    step = max(1, -(-len(dataset.questions) // MOST_QUESTIONS))
    examples = []
    for identifier in sorted(dataset.questions)[::step]:
        relevant = dataset.relevant[identifier]
        chunks, table = shortlist(dataset.questions[identifier], collection)
        names = [collection.names[chunk.document_id] for chunk in chunks]
        grades = np.asarray([float(relevant.get(name, 0)) for name in names])
        ideal = sorted(map(float, relevant.values()), reverse=True)
        examples.append(Example(table, tuple(names), grades, tuple(ideal)))
    return examples


def of_spans(gold: GoldSpans, collection: Collection) -> Sequence[Example]:
    """Judge chunks by the share of the answer that stands in them."""
    examples = []
    everything = [c for d in collection.store.documents() for c in collection.store.chunks_of(d.id)]
    for question in gold.questions:
        chunks, table = shortlist(question.text, collection)
        grades = np.asarray([_share(chunk, question, collection) for chunk in chunks])
        ideal = sorted((_share(chunk, question, collection) for chunk in everything), reverse=True)
        if ideal[0] > 0:
            names = tuple(chunk.id for chunk in chunks)
            examples.append(Example(table, names, grades, tuple(ideal)))
    return examples


def _share(chunk: Chunk, question: GoldQuestion, collection: Collection) -> float:
    """Return how much of an answer stands in a chunk, 0 to 1."""
    if collection.names[chunk.document_id] != question.corpus:
        return 0.0
    inside = sum(
        max(0, min(chunk.end, end) - max(chunk.start, start)) for start, end in question.stretches
    )
    return inside / sum(end - start for start, end in question.stretches)


def shortlist(text: str, collection: Collection) -> tuple[Sequence[Chunk], Floats]:
    """Return what the product would rerank for a question, and its features."""
    sources = collection.sources()
    query = Query(text)
    census = sources.census(())
    question = understand(text, census.languages)
    found = find_candidates(question, query, census, sources, METHOD)
    keys = sorted(found.scores, key=lambda key: (-found.scores[key], key))[: METHOD.shortlist]
    listed = shortlisted(question, found, keys, sources)
    return listed.chunks, table_of(listed)


def mean_ndcg(examples: Sequence[Example], model: Linear | None) -> float:
    """Return the mean nDCG@10, a document counted where it is first seen."""
    return float(np.mean([_ndcg(example, model) for example in examples]))


def _ndcg(example: Example, model: Linear | None) -> float:
    scores = example.table[:, 0] if model is None else model.scores(example)
    order = np.argsort(-scores, kind="stable")
    grades = list({example.names[i]: example.grades[i] for i in order[::-1]}.items())[::-1]
    first = dict.fromkeys(example.names[i] for i in order)
    by_name = dict(grades)
    gains = [by_name[name] for name in list(first)[:10]]
    ideal = _discounted(example.ideal[:10])
    return _discounted(gains) / ideal if ideal else 0.0


def _discounted(gains: Sequence[float]) -> float:
    return float(sum(gain / np.log2(rank + 1) for rank, gain in enumerate(gains, start=1)))


def fit(sets: Mapping[str, Sequence[Example]], penalty: float = PENALTY) -> Linear:
    """Fit weights on every question that has a relevant candidate."""
    mean, deviation = _standard(sets)
    tables, targets, weights = [], [], []
    for examples in sets.values():
        usable = [example for example in examples if example.grades.any()]
        for example in usable:
            first = np.asarray(sorted({n: i for i, n in reversed(list(enumerate(example.names)))}
                                      .values()))  # fmt: skip
            tables.append((example.table[first] - mean) / deviation)
            grades = example.grades[first]
            targets.append(grades / grades.sum())
            weights.append(1.0 / len(usable) / len(sets))
    table, target = np.concatenate(tables), np.concatenate(targets)
    lengths = [len(each) for each in tables]
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    weight = np.repeat(weights, lengths)

    def loss(w: Floats) -> tuple[float, Floats]:
        logits = table @ w
        logits -= np.repeat(np.maximum.reduceat(logits, starts), lengths)
        mass = np.repeat(np.add.reduceat(np.exp(logits), starts), lengths)
        cost = -(weight * target * (logits - np.log(mass))).sum() + penalty * w @ w
        return float(cost), table.T @ (weight * (np.exp(logits) / mass - target)) + 2 * penalty * w

    found = minimize(loss, np.zeros(len(FEATURES)), jac=True, method="L-BFGS-B")
    return Linear(found.x / deviation)


def _standard(sets: Mapping[str, Sequence[Example]]) -> tuple[Floats, Floats]:
    """Return mean and deviation of every feature, each collection weighing the same."""
    tables = [np.concatenate([example.table for example in examples]) for examples in sets.values()]
    mean = np.mean([table.mean(axis=0) for table in tables], axis=0)
    square = np.mean([(table**2).mean(axis=0) for table in tables], axis=0)
    return mean, np.sqrt(np.maximum(square - mean**2, 1e-8))


def calibrate(sets: Mapping[str, Sequence[Example]], model: Linear) -> tuple[float, float]:
    """Return intercept and slope that make the scores probabilities of being relevant."""
    scores = [np.concatenate([model.scores(e) for e in examples]) for examples in sets.values()]
    hits = [np.concatenate([e.grades > 0 for e in examples]) for examples in sets.values()]
    weights = np.concatenate([np.full(len(s), 1.0 / len(s)) for s in scores])
    x, y = np.concatenate(scores), np.concatenate(hits).astype(float)

    def loss(parameters: Floats) -> float:
        logits = parameters[0] + parameters[1] * x
        return float((weights * (np.logaddexp(0, logits) - y * logits)).sum())

    found = minimize(loss, np.asarray([-1.0, 1.0]), method="Nelder-Mead",
                     options={"maxiter": 2_000, "xatol": 1e-6, "fatol": 1e-10})  # fmt: skip
    return float(found.x[0]), float(found.x[1])


if __name__ == "__main__":
    main()
