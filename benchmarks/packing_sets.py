"""Question sets with gold spans, asked of real libraries, and the fit of the share model."""

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from chapterhouse.evaluation.datasets import CorpusDocument, load_dataset
from chapterhouse.evaluation.spans import load_gold
from chapterhouse.retrieval import relevance
from chapterhouse.retrieval.context import question_of
from chapterhouse.retrieval.relevance import FEATURES, LEXICAL_FEATURES, ShareModel
from chapterhouse.retrieval.widen import merged
from chapterhouse.text.tokens import estimate_tokens
from chapterhouse.types import SearchResult, Stretch
from collection import Collection, indexed
from data_folder import data_folder

XQUAD = ("xquad-en", "xquad-de", "xquad-zh")
QUESTIONS = 400  # of each XQuAD; all of the others
CANDIDATES = 30
RIDGE = 1e-3
SEED = 1

Gold = Mapping[str, Sequence[Stretch]]  # by our document id


@dataclass(frozen=True, slots=True)
class Case:
    """A question of a set: where its answer stands, and what was found."""

    gold: Gold
    result: SearchResult
    frequency: Mapping[str, int]
    features: NDArray[np.float64]
    asked: NDArray[np.float64]  # features of the question
    held: NDArray[np.float64]  # share of the gold characters in each sentence


# --- the sets ------------------------------------------------------------------------------------


@contextmanager
def opened(quick: bool) -> Iterator[dict[str, list[Case]]]:  # noqa: FBT001 - the script's option
    """Ask every question of every set."""
    sets: dict[str, list[Case]] = {}
    gold = load_gold(data_folder() / "chunking")
    documents = [CorpusDocument(name, name, text) for name, text in gold.texts.items()]
    with indexed(documents, markdown=True) as collection:
        ours = {theirs: mine for mine, theirs in collection.names.items()}
        for question in gold.questions[:: 4 if quick else 1]:
            name = ours[question.corpus]
            body = collection.store.body(name)
            assert body is not None
            texts = [gold.texts[question.corpus][start:end] for start, end in question.stretches]
            places = [
                _find(body.text, text, near)
                for text, near in zip(texts, question.stretches, strict=True)
            ]
            case = _case(collection, question.text, {name: places})
            sets.setdefault(question.corpus, []).append(case)
    for name in XQUAD:
        sets[name] = list(_xquad(name, QUESTIONS // 4 if quick else QUESTIONS))
    yield sets


def _find(text: str, wanted: str, near: Stretch) -> Stretch:
    """Return where a gold text stands in the canonical text, which may have moved a little."""
    start = text.find(wanted, max(near[0] - 2_000, 0))
    assert start >= 0, wanted
    return start, start + len(wanted)


def _xquad(name: str, number: int) -> Iterator[Case]:
    dataset = load_dataset(data_folder() / "retrieval" / name)
    identifiers = sorted(dataset.questions)
    random.Random(SEED).shuffle(identifiers)
    with indexed(dataset.documents) as collection:
        ours = {theirs: mine for mine, theirs in collection.names.items()}
        for identifier in identifiers[:number]:
            gold: dict[str, list[Stretch]] = {}
            for document in dataset.relevant[identifier]:
                body = collection.store.body(ours[document])
                assert body is not None
                for answer in dataset.answers[identifier]:
                    start = body.text.find(answer)
                    if start >= 0:
                        gold[ours[document]] = [(start, start + len(answer))]
            assert gold, identifier
            yield _case(collection, dataset.questions[identifier], gold)


def _case(collection: Collection, text: str, gold: Gold) -> Case:
    result = collection.library.search(text, limit=CANDIDATES, per_document=0)
    question = question_of(result)
    frequency = {
        term: collection.lexical.document_frequency(term)
        for _, terms in question.words
        for term in terms
    }
    weights = relevance.word_weights(question, lambda term: frequency[term], result.chunks)
    sentences = relevance.split(result.hits, estimate_tokens)
    found = relevance.features(
        question, result.hits, sentences, weights, collection.engines.embedder
    )
    held = [recall({result.hits[s.rank].document.id: [(s.start, s.end)]}, gold) for s in sentences]
    asked = relevance.question_features(question, result.hits, found)
    return Case(gold, result, frequency, found, asked, np.asarray(held))


def recall(held: Mapping[str, Sequence[Stretch]], gold: Gold) -> float:
    """Return the share of the gold characters that lie in one of the stretches held."""
    wanted = found = 0
    for name, stretches in gold.items():
        for start, end in merged(stretches):
            wanted += end - start
            for low, high in merged(held.get(name, ())):
                found += max(min(end, high) - max(start, low), 0)
    return found / wanted


# --- fitting -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Choice:
    """What a model chooses from in one question."""

    values: NDArray[np.float64]  # (alternatives, features)
    gold: NDArray[np.float64]  # (alternatives,)
    weight: float


def fit(choices: Sequence[Choice]) -> NDArray[np.float64]:
    """Return the weights under which the gold is likeliest, with a ridge."""
    sizes = [len(choice.gold) for choice in choices]
    values = np.concatenate([choice.values for choice in choices])
    deviation = np.maximum(values.std(axis=0), 1e-9)
    values = values / deviation
    targets = np.concatenate([choice.gold / choice.gold.sum() for choice in choices])
    starts = np.cumsum([0, *sizes[:-1]])
    owner = np.repeat(np.arange(len(sizes)), sizes)
    weight = np.asarray([choice.weight for choice in choices])[owner]

    def loss(model: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        logits = values @ model
        logits -= np.maximum.reduceat(logits, starts)[owner]
        powers = np.exp(logits)
        sums = np.add.reduceat(powers, starts)[owner]
        likelihood = (weight * targets * (logits - np.log(sums))).sum()
        slope = values.T @ (weight * (powers / sums - targets))
        return float(RIDGE * model @ model - likelihood), slope + 2 * RIDGE * model

    found = minimize(loss, np.zeros(values.shape[1]), jac=True, method="L-BFGS-B")
    model: NDArray[np.float64] = found.x / deviation
    return model


def fitted(sets: Sequence[Sequence[Case]], width: int) -> ShareModel:
    """Fit the features, then the sharpness; sets weigh the same, and questions within a set."""
    usable = [[case for case in cases if case.held.sum() > 0] for cases in sets]
    weighed = [(case, 1 / len(cases) / len(sets)) for cases in usable for case in cases]
    weights = fit([Choice(case.features[:, :width], case.held, w) for case, w in weighed])
    products = []
    for case, w in weighed:
        logits = case.features[:, :width] @ weights
        products.append(Choice(np.outer(logits - logits.max(), case.asked), case.held, w))
    return ShareModel(_rounded(weights), _rounded(fit(products)))


def _rounded(weights: NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(round(float(weight), 2) for weight in weights)


def models_without(
    sets: Mapping[str, Sequence[Case]], left_out: str = ""
) -> tuple[ShareModel, ...]:
    """Return the models fitted on all sets but one."""
    kept = [cases for name, cases in sets.items() if name != left_out]
    return fitted(kept, len(FEATURES)), fitted(kept, LEXICAL_FEATURES)
