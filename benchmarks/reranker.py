"""Fit the feature reranker, and measure it on collections that it was not fitted on.

    python benchmarks/reranker.py            measure, leaving one collection out
    python benchmarks/reranker.py --write    also fit on all and write the weights

The candidates are those that the product reranks, with the features that it computes
(``reranker_sets.py``). A linear model is fitted by a listwise softmax: of every question's
candidates the relevant ones shall have the mass. Every collection weighs the same however many
questions it has. Collections that ask the same, or about the same documents, are left out together.

Afterwards a logistic function of two numbers makes probabilities of the scores.
"""

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from chapterhouse.retrieval.rerank import FEATURES
from measuring import Bar, Machine, Table, finish
from reranker_sets import DATASETS, Example, Floats, family, read_sets
from vector_cache import vectors_cached

PENALTY = 0.01  # of the squared standardised weights
WEIGHTS = Path(__file__).parents[1] / "src/chapterhouse/retrieval/reranker.json"
# For each collection the model that was fitted without it; ``quality.py`` measures with it.
LEFT_OUT = Path(__file__).parent / "results/reranker_left_out.json"

Sets = Mapping[str, Sequence[Example]]


@dataclass(frozen=True, slots=True)
class Linear:
    """Weights of the features as they are."""

    weights: Floats

    def scores(self, example: Example) -> Floats:
        """Return one score a candidate."""
        scores: Floats = example.table @ self.weights
        return scores


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the weights fitted on all")
    write = parser.parse_args().write
    warnings.simplefilter("ignore")  # of files that cannot be read: the same each time
    machine = Machine()
    with vectors_cached():
        sets = read_sets()
    models = without_each(sets)
    words = {name: mean(examples, lambda each: each.lexical) for name, examples in sets.items()}
    before = {name: mean_ndcg(examples, None) for name, examples in sets.items()}
    after = {name: mean_ndcg(examples, models[name]) for name, examples in sets.items()}
    fitted = described(sets, fit(sets))
    if write:
        WEIGHTS.write_text(json.dumps(fitted, indent=2) + "\n", "utf-8")
        without = {name: described(others(sets, name), models[name]) for name in sets}
        LEFT_OUT.write_text(json.dumps(without, indent=1) + "\n", "utf-8")
    return finish(
        "reranker",
        "The feature reranker",
        bars(words, before, after),
        [Table("nDCG@10 of the shortlist",
               ("collection", "questions", "BM25 alone", "before", "after, left out", "gain",
                "over BM25 alone"),
               tuple((name, len(sets[name]), *map(rounded, (words[name], before[name], after[name],
                      after[name] - before[name], after[name] - words[name]))) for name in sets)),
         Table("Weights", ("feature", "weight"), tuple(fitted["weights"].items()))],
        machine.setting("scipy"),
    )  # fmt: skip


def bars(
    words: Mapping[str, float], before: Mapping[str, float], after: Mapping[str, float]
) -> list[Bar]:
    """Return what the second stage as a whole and the reranker in it must gain."""
    over_words = {name: after[name] - words[name] for name in after}
    gain = average(after) - average(before)
    return [
        Bar("mean over BM25 alone, left out", average(over_words), least=0.015),
        Bar("worst collection against BM25 alone", min(over_words.values()), least=-0.003),
        Bar("mean gain of the reranker, left out", gain, least=0.003),
    ]


def average(figures: Mapping[str, float]) -> float:
    """Return the mean over all collections."""
    return float(np.mean(list(figures.values())))


def rounded(value: float) -> float:
    """Return four decimals of a figure."""
    return round(value, 4)


def without_each(sets: Sets) -> dict[str, Linear]:
    """Return for every collection the model that was fitted without it and its family."""
    models = {each: fit(others(sets, each)) for each in dict.fromkeys(map(family, sets))}
    return {name: models[family(name)] for name in sets}


def others(sets: Sets, name: str) -> dict[str, Sequence[Example]]:
    """Leave out a collection and its family."""
    return {other: found for other, found in sets.items() if family(other) != family(name)}


def described(sets: Sets, model: Linear) -> dict[str, Any]:
    """Return a model as the product reads it, its scores made probabilities."""
    intercept, slope = calibrate(sets, model)
    weights = (slope * model.weights).round(4).tolist()
    return {"intercept": round(intercept, 4), "weights": dict(zip(FEATURES, weights, strict=True))}


def mean_ndcg(examples: Sequence[Example], model: Linear | None) -> float:
    """Return the mean nDCG@10 by a model, or by the first stage without one."""
    return mean(examples, lambda example: _ranked(example, model))


def mean(examples: Sequence[Example], grades: Callable[[Example], Sequence[float]]) -> float:
    """Return the mean nDCG@10 of the grades in the order of a ranking."""
    found = [_ndcg(grades(example), example.ideal) for example in examples]
    return float(np.mean(found))


def _ranked(example: Example, model: Linear | None) -> Sequence[float]:
    """Return the grades in order, each name where it is first seen."""
    scores = example.table[:, 0] if model is None else model.scores(example)
    order = np.argsort(-scores, kind="stable")
    places = {example.names[place]: place for place in order[::-1]}
    return [float(example.grades[places[name]]) for name in
            dict.fromkeys(example.names[place] for place in order)]  # fmt: skip


def _ndcg(grades: Sequence[float], ideal: Sequence[float]) -> float:
    best = _discounted(ideal[:10])
    return _discounted(grades[:10]) / best if best else 0.0


def _discounted(gains: Sequence[float]) -> float:
    return float(sum(gain / np.log2(rank + 1) for rank, gain in enumerate(gains, start=1)))


def fit(sets: Sets) -> Linear:
    """Fit weights of the features on every question that has a relevant candidate."""
    centre, deviation = _standard(sets)
    tables, targets, weights = [], [], []
    for examples in sets.values():
        usable = [example for example in examples if example.grades.any()]
        for example in usable:
            first = np.asarray(sorted({n: i for i, n in reversed(list(enumerate(example.names)))}
                                      .values()))  # fmt: skip
            tables.append((example.table[first] - centre) / deviation)
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
        cost = -(weight * target * (logits - np.log(mass))).sum() + PENALTY * w @ w
        return float(cost), table.T @ (weight * (np.exp(logits) / mass - target)) + 2 * PENALTY * w

    found = minimize(loss, np.zeros(len(FEATURES)), jac=True, method="L-BFGS-B")
    return Linear(found.x / deviation)


def _standard(sets: Sets) -> tuple[Floats, Floats]:
    """Return mean and deviation of every feature, each collection weighing the same."""
    tables = [np.concatenate([example.table for example in examples]) for examples in sets.values()]
    centre = np.mean([table.mean(axis=0) for table in tables], axis=0)
    square = np.mean([(table**2).mean(axis=0) for table in tables], axis=0)
    return centre, np.sqrt(np.maximum(square - centre**2, 1e-8))


def calibrate(sets: Sets, model: Linear) -> tuple[float, float]:
    """Return intercept and slope that make the scores probabilities of being relevant.

    Over the first ten, which are looked at, of the collections that judge documents: elsewhere one
    passage is marked where others answer, too.
    """
    scores, hits = [], []
    for examples in (sets[name] for name in sets if name in DATASETS):
        found = [(model.scores(example), example.grades > 0) for example in examples]
        first = [np.argsort(-own, kind="stable")[:10] for own, _ in found]
        scores.append(np.concatenate([own[f] for (own, _), f in zip(found, first, strict=True)]))
        hits.append(np.concatenate([hit[f] for (_, hit), f in zip(found, first, strict=True)]))
    weights = np.concatenate([np.full(len(own), 1.0 / len(own)) for own in scores])
    x, y = np.concatenate(scores), np.concatenate(hits).astype(float)

    def loss(parameters: Floats) -> float:
        logits = parameters[0] + parameters[1] * x
        return float((weights * (np.logaddexp(0, logits) - y * logits)).sum())

    found = minimize(loss, np.asarray([-1.0, 1.0]), method="Nelder-Mead",
                     options={"maxiter": 2_000, "xatol": 1e-6, "fatol": 1e-10})  # fmt: skip
    return float(found.x[0]), float(found.x[1])


if __name__ == "__main__":
    sys.exit(main())
