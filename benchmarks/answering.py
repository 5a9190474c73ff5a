"""Quality of offline answers: which sentences are quoted, and when it refuses.

    python benchmarks/answering.py [--fit]

Selection: on XQuAD, whose questions come with the words of their answer, how often the first
quoted sentence, or any of them, holds it, when the library holds all paragraphs.

Refusal: paragraphs are taken out of the library. XQuAD has five of each article, and one of each
article is missing at a time, so that the others of the same subject stay: the questions about it
are "hard", those about the next paragraph of the same article are answerable in the same library.
Of the other collections half of the answering documents are out at a time. "Foreign" questions
come from another collection.

Every figure is of models that had not seen what they judge: neither that collection (language)
nor, in any language, that quarter of the articles. ``--fit`` prints the models fitted on all of it,
which are in the code.
"""

import argparse
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

from answering_models import (
    Choice,
    Logistic,
    Matrix,
    area,
    balance,
    fit_evidence,
    fit_sentences,
)
from answering_results import FALSE_REFUSALS, SENTENCES, Refused, Selected, write
from chapterhouse.answering import evidence, sentence_features
from chapterhouse.answering.extractive import CHUNKS_READ, worth_saying
from chapterhouse.answering.passages import Passage, passages, word_weights
from chapterhouse.evaluation.datasets import Dataset, load_dataset
from chapterhouse.retrieval.pipeline import retrieve
from chapterhouse.retrieval.question import Question, understand
from chapterhouse.types import Hit, Query
from collection import EMBEDDER, Collection, indexed
from data_folder import data_folder

SELECTION: Final = ("xquad-en", "xquad-de", "xquad-zh")
COLLECTIONS: Final = (*SELECTION, "pubmedqa", "anthropic-docs")
FOREIGN: Final = {"xquad-en": "pubmedqa", "pubmedqa": "xquad-en", "anthropic-docs": "xquad-en"}
FOLDS: Final = 4  # of articles
PARAGRAPHS: Final = 5  # of each article; one is missing at a time
QUESTIONS: Final = 500  # of the collections without the words of the answer
FOREIGN_QUESTIONS: Final = 400
BAR: Final = 0.05
# What may only speak against an answer, or either way; all else only for it.
SIGNS: Final = {
    "rarest missing": -1,
    "number missing": -1,
    "name missing": -1,
    "news": 0,
    "open": 0,
    "english": 0,
}
SEED: Final = 7
FULL, KEPT, HARD, STRANGE = "full", "kept", "hard", "foreign"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question put to a library.

    Attributes:
        case: ``FULL`` (all documents are there), ``KEPT``, ``HARD`` or ``STRANGE``.
        fold: Of its article; the same in all languages.
        sources: The collection's name of each hit's document, by rank.
    """

    case: str
    fold: int
    question: Question
    hits: tuple[Hit, ...]
    weights: Mapping[str, float]
    sources: Mapping[int, str]
    answers: tuple[str, ...]
    relevant: frozenset[str]

    def judged(self, judge: Callable[[Matrix], Matrix]) -> tuple[Passage, ...]:
        """Return the sentences, best first."""
        return passages(self.question, self.hits, self.weights, EMBEDDER, judge)

    def holds(self, passage: Passage) -> bool:
        """Whether the words of the answer stand in a sentence."""
        return any(text in passage.text for text in self.answers)


@dataclass(frozen=True, slots=True)
class Refusals:
    """What a collection's questions got for evidence.

    Attributes:
        case: Of each question.
        features: Shape (questions, features); not a number where nothing was found.
    """

    name: str
    case: NDArray[np.str_]
    fold: NDArray[np.intp]
    features: Matrix


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--fit", action="store_true", help="print the models fitted on everything")
    fitting = parser.parse_args().fit
    sets = {name: load_dataset(data_folder() / "retrieval" / name) for name in COLLECTIONS}
    asked = {name: list(ask_all(name, sets)) for name in COLLECTIONS}
    choices = {
        name: [(one.fold, choice_of(one)) for one in asked[name] if one.case == FULL and one.hits]
        for name in SELECTION
    }
    judges = {(name, fold): judge_without(name, fold, choices) for name, fold in _parts()}
    refusals = {name: evidence_of(name, asked[name], judges) for name in COLLECTIONS}
    if fitting:
        print_models(choices, refusals)
    logits = {name: left_out(name, refusals) for name in COLLECTIONS}
    cut = common_cut(refusals, logits)
    selected = [selection(name, asked[name], judges, logits[name] >= cut) for name in SELECTION]
    refused = [refusal(refusals[name], logits[name], cut) for name in COLLECTIONS]
    write(selected, refused)


def _parts() -> Iterator[tuple[str, int]]:
    for name in COLLECTIONS:
        for fold in range(FOLDS):
            yield name, fold


# --- asking -----------------------------------------------------------------------------------


def ask_all(name: str, sets: Mapping[str, Dataset]) -> Iterator[Asked]:
    """Ask a collection's questions of a library of all of it, and of some that lack a part."""
    dataset = sets[name]
    parts, count = parts_of(dataset), PARAGRAPHS if name in SELECTION else 2
    folds = folds_of(sets["xquad-en"])
    with indexed(dataset.documents) as library:
        for identifier in sample(dataset, QUESTIONS):
            yield ask(library, dataset, identifier, FULL, folds.get(identifier, 0))
        foreign = sets.get(FOREIGN.get(name, ""))
        for identifier in sample(foreign, FOREIGN_QUESTIONS) if foreign else ():
            assert foreign
            # Those of XQuAD are of its fold, so that no model has seen them here either.
            yield ask(library, foreign, identifier, STRANGE, folds.get(identifier, 0))
    for part in range(count):
        there = [document for document in dataset.documents if parts.get(document.id) != part]
        with indexed(there) as library:
            for identifier in sample(dataset, QUESTIONS):
                relevant = dataset.relevant[identifier]
                fold = folds.get(identifier, 0)
                if all(parts.get(document) == part for document in relevant):
                    yield ask(library, dataset, identifier, HARD, fold)
                elif all(parts.get(document) == (part + 1) % count for document in relevant):
                    yield ask(library, dataset, identifier, KEPT, fold)


def sample(dataset: Dataset, size: int) -> list[str]:
    """Return all questions of XQuAD, else at most ``size``."""
    identifiers = sorted(dataset.questions)
    if dataset.name in SELECTION and size == QUESTIONS:
        return identifiers
    return sorted(random.Random(SEED).sample(identifiers, min(size, len(identifiers))))


def ask(library: Collection, dataset: Dataset, identifier: str, case: str, fold: int) -> Asked:
    """Retrieve for one question."""
    text = dataset.questions[identifier]
    result = retrieve(Query(text, limit=CHUNKS_READ), library.sources(), library.library.method)
    census = library.store.census()
    question = understand(text, census.languages)
    frequency = library.reference().document_frequency
    return Asked(
        case,
        fold,
        question,
        result.hits,
        word_weights(question, frequency, max(census.chunks, 1)),
        {hit.rank: library.names[hit.document.id] for hit in result.hits},
        dataset.answers[identifier],
        frozenset(dataset.relevant[identifier]),
    )


def parts_of(dataset: Dataset) -> Mapping[str, int]:
    """Return with which part of the collection each answering document goes missing."""
    chooser = random.Random(SEED)
    if dataset.name not in SELECTION:
        gold = sorted({document for grades in dataset.relevant.values() for document in grades})
        chooser.shuffle(gold)
        return {document: place % 2 for place, document in enumerate(gold)}
    articles: dict[str, list[str]] = {}
    for document in dataset.documents:
        articles.setdefault(document.title, []).append(document.id)
    for members in articles.values():
        chooser.shuffle(members)
    return {
        document: place % PARAGRAPHS
        for members in articles.values()
        for place, document in enumerate(members)
    }


def folds_of(english: Dataset) -> Mapping[str, int]:
    """Return the fold of each question of XQuAD; its ids are the same in every language."""
    title = {document.id: document.title for document in english.documents}
    articles = sorted(set(title.values()))
    random.Random(SEED).shuffle(articles)
    return {
        identifier: articles.index(title[min(relevant)]) % FOLDS
        for identifier, relevant in english.relevant.items()
    }


# --- which sentence ---------------------------------------------------------------------------


def signs(names: Sequence[str]) -> list[int]:
    """Return which way each feature may speak."""
    return [SIGNS.get(name, 1) for name in names]


def choice_of(one: Asked) -> Choice:
    """Return the features of all sentences of a question, and which hold its answer."""
    rows: list[Matrix] = []

    def note(found: Matrix) -> Matrix:
        rows.append(found)
        return np.arange(len(found), 0, -1, dtype=np.float64)  # keeps their order

    found = one.judged(note)
    holds = [one.holds(p) and one.sources[p.hit.rank] in one.relevant for p in found]
    return Choice(rows[0], np.asarray(holds))


def judge_without(
    name: str, fold: int, choices: Mapping[str, Sequence[tuple[int, Choice]]]
) -> Callable[[Matrix], Matrix]:
    """Return the sentence model fitted without a collection and without a fold of articles."""
    seen = [
        choice
        for other, several in choices.items()
        for its_fold, choice in several
        if other != name and its_fold != fold
    ]
    weights = fit_sentences(seen, signs(sentence_features.WITH_VECTORS))

    def judge(found: Matrix) -> Matrix:
        result: Matrix = (found @ weights).round(6)
        return result

    return judge


def selection(
    name: str,
    asked: Sequence[Asked],
    judges: Mapping[tuple[str, int], Callable[[Matrix], Matrix]],
    answered: NDArray[np.bool_],
) -> Selected:
    """Measure what is quoted when everything is in the library."""
    rows: list[tuple[float, ...]] = []
    for one, told in zip(asked, answered, strict=True):
        if one.case != FULL:
            continue
        found = one.judged(judges[name, one.fold])
        said = list(islice(worth_saying(found), SENTENCES))
        holds = [one.holds(passage) for passage in said] or [False]
        right = [
            held and one.sources[passage.hit.rank] in one.relevant
            for held, passage in zip(holds, said, strict=False)
        ] or [False]
        padded = any(one.holds(passage) for passage in found[:SENTENCES])
        rows.append(
            (
                *(holds[0], any(holds), padded, right[0], any(right), len(said)),
                *(holds[0] and told, any(holds) and told, told),
            )
        )
    return Selected(name, len(rows), *(round(float(value), 4) for value in np.mean(rows, axis=0)))


# --- whether at all ---------------------------------------------------------------------------


def evidence_of(
    name: str,
    asked: Sequence[Asked],
    judges: Mapping[tuple[str, int], Callable[[Matrix], Matrix]],
) -> Refusals:
    """Return the evidence features of every question."""
    rows: list[Sequence[float]] = []
    for one in asked:
        found = one.judged(judges[name, one.fold])
        rows.append(
            evidence.features(one.question, found, one.hits, one.weights)
            if found
            else [np.nan] * len(evidence.WITH_VECTORS)
        )
    return Refusals(
        name,
        np.asarray([one.case for one in asked]),
        np.asarray([one.fold for one in asked]),
        np.asarray(rows),
    )


def fit(parts: Sequence[tuple[Refusals, NDArray[np.bool_]]], width: int) -> Logistic:
    """Fit on the chosen questions of each collection; those of the full libraries stay out."""
    values, labels, weights = [], [], []
    for one, chosen in parts:
        use = chosen & (one.case != FULL) & ~np.isnan(one.features).any(axis=1)
        values.append(one.features[use, :width])
        labels.append(one.case[use] == KEPT)
        weights.append(balance(one.name, one.case[use] == KEPT, one.case[use] == STRANGE))
    return fit_evidence(
        np.concatenate(values),
        np.concatenate(labels).astype(float),
        np.concatenate(weights),
        signs(evidence.WITH_VECTORS[:width]),
    )


def left_out(name: str, refusals: Mapping[str, Refusals]) -> Matrix:
    """Return the logit of each question by the model that has not seen its like."""
    own = refusals[name]
    result = np.full(len(own.case), -np.inf)
    for fold in range(FOLDS):
        parts = [
            (one, (one.fold != fold) | (one.name not in SELECTION))
            for one in refusals.values()
            if one.name != name
        ]
        model = fit(parts, len(evidence.WITH_VECTORS))
        mine = (own.fold == fold) & ~np.isnan(own.features).any(axis=1)
        result[mine] = model.logits(own.features[mine])
    return result


def common_cut(refusals: Mapping[str, Refusals], logits: Mapping[str, Matrix]) -> float:
    """Return the logit below which 5 % of all answerable questions are refused."""
    scores = [logits[name][one.case == KEPT] for name, one in refusals.items()]
    return float(np.quantile(np.concatenate(scores), BAR, method="lower"))


def refusal(one: Refusals, logits: Matrix, cut: float) -> Refused:
    """Measure one collection at the common threshold and along its own curve."""
    by_case = {case: logits[one.case == case] for case in (FULL, KEPT, HARD, STRANGE)}

    def at(threshold: float) -> tuple[float, float]:
        return _below(by_case[HARD], threshold), _below(by_case[STRANGE], threshold)

    curve = [
        (share, *at(float(np.quantile(by_case[KEPT], share, method="lower"))))
        for share in FALSE_REFUSALS
    ]
    hard, foreign = at(cut)
    hard_at_bar, foreign_at_bar = at(float(np.quantile(by_case[KEPT], BAR, method="lower")))
    both = np.concatenate([by_case[KEPT], by_case[HARD]])
    labels = np.concatenate([np.ones(len(by_case[KEPT])), np.zeros(len(by_case[HARD]))])
    return Refused(
        one.name,
        _below(by_case[FULL], cut),
        _below(by_case[KEPT], cut),
        hard,
        foreign,
        hard_at_bar,
        foreign_at_bar,
        round(area(both, labels.astype(bool)), 4),
        curve,
    )


def _below(values: Matrix, threshold: float) -> float:
    return round(float((values < threshold).mean()), 4) if len(values) else float("nan")


# --- the models in the code -------------------------------------------------------------------


def print_models(
    choices: Mapping[str, Sequence[tuple[int, Choice]]], refusals: Mapping[str, Refusals]
) -> None:
    """Print the models fitted on everything, as they stand in the code."""
    everything = [choice for several in choices.values() for _, choice in several]
    kinds: tuple[Sequence[str], ...] = (sentence_features.WITH_VECTORS, sentence_features.LEXICAL)
    for names in kinds:
        _print("sentence", names, fit_sentences(everything, signs(names)))
    parts = [(one, np.ones(len(one.case), dtype=bool)) for one in refusals.values()]
    kinds = (evidence.WITH_VECTORS, evidence.LEXICAL)
    for names in kinds:
        model = fit(parts, len(names))
        logits = {name: model.logits(one.features) for name, one in refusals.items()}
        logits = {name: np.nan_to_num(own, nan=-np.inf) for name, own in logits.items()}
        print("intercept", round(model.intercept - common_cut(refusals, logits), 2))
        _print("evidence", names, model.weights)


def _print(what: str, names: Sequence[str], weights: Matrix) -> None:
    print(f"{what}, {len(names)} features")
    for name, weight in zip(names, weights, strict=True):
        print(f'    "{name}": {weight:.2f},')


if __name__ == "__main__":
    main()
