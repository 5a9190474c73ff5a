"""Quality of offline answers: which sentences are quoted, and when it refuses.

    python benchmarks/answering.py [--fit]

Selection: on XQuAD, whose questions come with the words of their answer, how often the first
quoted sentence, or any of them, holds it, and which share of the sentences comes from the right
document.

Refusal: half of the answering documents are taken out of each collection. A question is
answerable when its documents were left in. "Hard" questions lost theirs but kept its neighbours
(five paragraphs of an article share their subject), "foreign" ones come from another collection.
The model of each row was fitted on the other four collections; ``--fit`` prints the one fitted on
all five, which is in the code.
"""

import argparse
import platform
import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

import chapterhouse
from chapterhouse.answering.evidence import THRESHOLD, features
from chapterhouse.answering.extractive import CHUNKS_READ, answer
from chapterhouse.answering.passages import passages, word_weights
from chapterhouse.evaluation.datasets import Dataset, load_dataset
from chapterhouse.retrieval.pipeline import retrieve
from chapterhouse.retrieval.question import understand
from chapterhouse.types import Query
from collection import EMBEDDER, Collection, indexed
from data_folder import data_folder

SELECTION = ("xquad-en", "xquad-de", "xquad-zh")
REFUSAL = ("xquad-en", "xquad-de", "xquad-zh", "pubmedqa", "anthropic-docs")
FOREIGN = {"xquad-en": "pubmedqa", "pubmedqa": "xquad-en", "anthropic-docs": "xquad-en"}
QUESTIONS = 500
FOREIGN_QUESTIONS = 200
RIDGE = 5e-4
SEED = 2
RESULTS = Path(__file__).parent / "results" / "answering.md"


@dataclass(frozen=True, slots=True)
class Judged:
    """Questions of one collection: their features, and whether they could be answered."""

    features: NDArray[np.float64]  # (questions, 3)
    answerable: NDArray[np.bool_]
    foreign: NDArray[np.bool_]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fit", action="store_true")
    fitting = parser.parse_args().fit
    sets = {name: load_dataset(data_folder() / "retrieval" / name) for name in REFUSAL}
    judged = {
        name: judge(dataset, sets.get(FOREIGN.get(name, ""))) for name, dataset in sets.items()
    }
    if fitting:
        print("with vectors", np.round(fit(list(judged.values()), 3), 1))
        print("lexical only", np.round(fit(list(judged.values()), 2), 1))
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    lines = [
        "# Quality of offline answers",
        "",
        f"Version {chapterhouse.__version__}, {machine}, {datetime.now(UTC).date()}.",
        "Made by `make eval`.",
        "",
        "| collection | questions | answer in first | in any | sentences | of the right document |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        *(selection_row(sets[name]) for name in SELECTION),
        "",
        f"Refusal, threshold {THRESHOLD}, each row by the model fitted on the other four:",
        "",
        "| collection | answered of answerable | refused of hard | of foreign | area under ROC |",
        "| --- | ---: | ---: | ---: | ---: |",
        *refusal_rows(judged),
        "",
    ]
    RESULTS.write_text("\n".join(lines), "utf-8")
    print("\n".join(lines))


def selection_row(dataset: Dataset) -> str:
    """Measure what is quoted when everything is in the library."""
    first, anywhere, numbers, right = [], [], [], []
    with indexed(dataset.documents) as collection:
        sources, reference = collection.sources(), collection.reference()
        census = collection.store.census()
        for identifier in _sample(dataset):
            query = Query(dataset.questions[identifier], limit=CHUNKS_READ)
            told = answer(retrieve(query, sources, collection.library.method), census, reference)
            quotes = [citation.quote for citation in told.citations]
            wanted = dataset.answers[identifier]
            holds = [any(text in quote for text in wanted) for quote in quotes]
            first.append(bool(holds) and holds[0])
            anywhere.append(any(holds))
            numbers.append(len(quotes))
            relevant = dataset.relevant[identifier]
            right += [collection.names[c.document_id] in relevant for c in told.citations]
    means = [statistics.fmean(values) for values in (first, anywhere, numbers, right)]
    return (
        f"| {dataset.name} | {len(first)} | {means[0]:.1%} | {means[1]:.1%} "
        f"| {means[2]:.1f} | {means[3]:.1%} |"
    )


def _sample(dataset: Dataset) -> list[str]:
    identifiers = sorted(dataset.questions)
    random.Random(SEED).shuffle(identifiers)
    return identifiers[:QUESTIONS]


def judge(dataset: Dataset, foreign: Dataset | None) -> Judged:
    """Ask a library that lacks half of the answering documents."""
    chooser = random.Random(SEED + 1)  # not the order in which questions are drawn
    gold = sorted({document for grades in dataset.relevant.values() for document in grades})
    chooser.shuffle(gold)
    removed = set(gold[: len(gold) // 2])
    kept = [document for document in dataset.documents if document.id not in removed]
    rows, answerable, strange = [], [], []
    with indexed(kept) as collection:
        for identifier in _sample(dataset):
            documents = set(dataset.relevant[identifier])
            if documents & removed and documents - removed:
                continue  # half an answer is neither
            rows.append(_features(collection, dataset.questions[identifier]))
            answerable.append(not documents & removed)
            strange.append(False)
        for identifier in _sample(foreign)[:FOREIGN_QUESTIONS] if foreign else ():
            assert foreign
            rows.append(_features(collection, foreign.questions[identifier]))
            answerable.append(False)
            strange.append(True)
    return Judged(np.asarray(rows), np.asarray(answerable), np.asarray(strange))


def _features(collection: Collection, text: str) -> tuple[float, float, float]:
    result = retrieve(
        Query(text, limit=CHUNKS_READ), collection.sources(), collection.library.method
    )
    census = collection.store.census()
    question = understand(text, census.languages)
    frequency = collection.reference().document_frequency
    weights = word_weights(question, frequency, max(census.chunks, 1))
    found = passages(question, result.hits, weights, EMBEDDER)
    return features(question, found, result.hits, weights) if found else (0.0, 0.0, 0.0)


def fit(collections: Sequence[Judged], width: int) -> NDArray[np.float64]:
    """Fit intercept and weights; collections, and in each both classes, weigh the same."""
    values = np.concatenate([judged.features[:, :width] for judged in collections])
    labels = np.concatenate([judged.answerable for judged in collections]).astype(float)
    weights = np.concatenate([_balance(judged.answerable) for judged in collections])
    weights /= weights.sum() / 2

    def loss(model: NDArray[np.float64]) -> float:
        logits = values @ model[1:] + model[0]
        losses = np.logaddexp(0, logits) - labels * logits
        return float((weights * losses).sum() + RIDGE * (model[1:] ** 2).sum())

    found: NDArray[np.float64] = minimize(loss, np.zeros(width + 1), method="L-BFGS-B").x
    return found


def _balance(answerable: NDArray[np.bool_]) -> NDArray[np.float64]:
    yes = max(int(answerable.sum()), 1)
    no = max(len(answerable) - yes, 1)
    return np.where(answerable, 1 / yes, 1 / no)


def refusal_rows(judged: Mapping[str, Judged]) -> Sequence[str]:
    """Measure each collection with the model fitted on the others."""
    rows, figures = [], []
    for name, one in judged.items():
        model = fit([other for key, other in judged.items() if key != name], 3)
        logits = one.features @ model[1:] + model[0]
        told = 1 / (1 + np.exp(-logits)) >= THRESHOLD
        hard = ~one.answerable & ~one.foreign
        row = (
            told[one.answerable].mean(),
            (~told[hard]).mean(),
            (~told[one.foreign]).mean() if one.foreign.any() else float("nan"),
            _area(logits, one.answerable),
        )
        figures.append(row)
        rows.append(_row(name, row))
    return [*rows, _row("**mean**", np.nanmean(np.asarray(figures), axis=0).tolist())]


def _row(name: str, row: Sequence[float]) -> str:
    shares = " | ".join("" if np.isnan(value) else f"{value:.1%}" for value in row[:3])
    return f"| {name} | {shares} | {row[3]:.3f} |"


def _area(scores: NDArray[np.float64], labels: NDArray[np.bool_]) -> float:
    """Return the area under the ROC curve: the chance that a pair is in order."""
    ranks = np.empty(len(scores))
    ranks[np.argsort(scores, kind="stable")] = np.arange(len(scores))
    yes = int(labels.sum())
    return float((ranks[labels].sum() - yes * (yes - 1) / 2) / (yes * (len(labels) - yes)))


if __name__ == "__main__":
    main()
