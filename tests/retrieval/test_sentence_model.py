"""The share of the answer that each sentence may be expected to hold."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from tests.retrieval.scripted import WordsAlone, model_of_sentences

from chapterhouse.models.built_in import built_in_encoder
from chapterhouse.models.static import StaticEmbedder
from chapterhouse.retrieval.question import parse_question
from chapterhouse.retrieval.sentences import (
    BY_MEANING,
    BY_WORDS,
    Floats,
    SentenceModel,
    SentenceScorer,
    sentence_model,
    serves,
    shares,
)
from chapterhouse.types import Chunk, Document, Hit
from chapterhouse.types.engines import Embedder

MODEL = model_of_sentences()
QUESTION = parse_question("How many euros do guests pay for a night?", {"en": 1})


def hit(text: str, rank: int = 0, language: str = "en") -> Hit:
    name = f"d{rank}"
    document = Document(name, name, name, "T", "md", "test", "", "", 0, 0, language=language)
    return Hit(rank + 1, 1 / (rank + 1), Chunk(name, 0, 0, len(text), text), document)


def scorer(embedder: Embedder) -> SentenceScorer:
    return SentenceScorer(MODEL, embedder, lambda _: 1)


@given(
    arrays.arrays(
        np.float64, st.tuples(st.integers(1, 9), st.just(3)), elements=st.floats(-1e3, 1e3)
    )
)
def test_shares_add_up_to_one_whatever_the_features(table: Floats) -> None:
    found = shares(table, MODEL.by_words)
    assert found.sum() == pytest.approx(1.0, abs=1e-5)
    assert (found >= 0).all()


@pytest.mark.parametrize("embedder", [WordsAlone(), StaticEmbedder()], ids=["words", "meaning"])
def test_the_sentence_that_answers_has_the_largest_share(embedder: Embedder) -> None:
    hits = [
        hit("The office is white. Dogs bark at night. Guests pay 40 euros a night."),
        hit("Euros are coins.", 1),
    ]
    judged = scorer(embedder).judge(QUESTION, hits, 10)
    assert judged.meaning is not isinstance(embedder, WordsAlone)
    assert judged.table.shape[1] == len(BY_MEANING if judged.meaning else BY_WORDS)
    assert sum(one.share for one in judged.sentences) == pytest.approx(1.0, abs=1e-5)
    best = max(judged.sentences, key=lambda one: one.share)
    assert hits[best.rank].chunk.text[best.begin : best.stop] == "Guests pay 40 euros a night."
    assert judged.weights.sum() == pytest.approx(1.0)


def test_no_hits_have_no_sentences() -> None:
    judged = scorer(WordsAlone()).judge(QUESTION, (), 0)
    assert judged.sentences == ()


def test_meaning_counts_where_the_encoder_serves_passages_and_question() -> None:
    encoder = built_in_encoder()
    assert serves(encoder, QUESTION, [hit("a"), hit("b", 1, "de")])
    assert not serves(encoder, QUESTION, [hit("a"), hit("b", 1, "zh")])
    assert serves(encoder, QUESTION, [hit("a"), hit("b", 1, "zh"), hit("c", 2)])
    assert not serves(encoder, replace(QUESTION, languages=("zh",)), [hit("a")])
    assert serves(encoder, replace(QUESTION, languages=("zh", "de")), [hit("a")])
    assert not serves(WordsAlone(), QUESTION, [hit("a")])


def fields(model: SentenceModel) -> dict[str, Any]:
    return {
        "by meaning": dict(zip(BY_MEANING, model.by_meaning, strict=True)),
        "by words": dict(zip(BY_WORDS, model.by_words, strict=True)),
    }


def weights(names: Sequence[str]) -> st.SearchStrategy[tuple[float, ...]]:
    return st.tuples(*[st.floats(-50, 50)] * len(names))


@given(st.builds(SentenceModel, weights(BY_MEANING), weights(BY_WORDS)))
def test_a_model_is_what_its_json_says(model: SentenceModel) -> None:
    assert sentence_model(json.dumps(fields(model))) == model


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("by meaning", {"unknown": 1.0}),
        ("by words", {"score": None}),
        ("by words", {"score": "1"}),
        ("by words", {"score": float("nan")}),
        ("by meaning", {"score": float("inf")}),
    ],
)
def test_other_weights_are_refused(name: str, changed: dict[str, object]) -> None:
    found = fields(MODEL)
    found[name] = {**found[name], **changed}
    with pytest.raises(ValueError, match="weight"):
        sentence_model(json.dumps(found))


def test_a_feature_without_a_weight_is_refused() -> None:
    found = fields(MODEL)
    del found["by words"]["likeness"]
    with pytest.raises(ValueError, match="likeness"):
        sentence_model(json.dumps(found))
