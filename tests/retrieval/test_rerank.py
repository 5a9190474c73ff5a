"""Rerankers, and the model that comes with Chapterhouse."""

import json
import math
from collections.abc import Sequence
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text.rows import term_rows

from chapterhouse.errors import EngineError
from chapterhouse.retrieval.features import FEATURES
from chapterhouse.retrieval.question import parse_question
from chapterhouse.retrieval.rerank import (
    FeatureModel,
    by_features,
    by_model,
    feature_model,
    table_of,
)
from chapterhouse.retrieval.shortlist import Shortlist, passage_text
from chapterhouse.types import Chunk

from .scripted import document

EVEN = dict.fromkeys(FEATURES, 1.0)
TEXTS = ("harbour gate of the night", "the gate", "a storm took the harbour")


def shortlist(question: str = "harbour gate", texts: Sequence[str] = TEXTS) -> Shortlist:
    chunks = tuple(Chunk(f"d{n}", 0, 0, len(t), t, key=n + 1) for n, t in enumerate(texts))
    return Shortlist(
        question=parse_question(question, {"en": 1}),
        chunks=chunks,
        scores=tuple(1.0 / (1 + n) for n in range(len(texts))),
        documents={chunk.document_id: document(chunk.document_id) for chunk in chunks},
        rows=term_rows((text, "", "", "en") for text in texts),
        frequencies=lambda terms: [1] * len(terms),
        size=10,
    )


class Scripted:
    fingerprint = "scripted"

    def __init__(self, scores: Sequence[float]) -> None:
        self.scores = scores
        self.asked: tuple[str, tuple[str, ...]] = ("", ())

    def score(self, question: str, passages: Sequence[str]) -> Sequence[float]:
        self.asked = question, tuple(passages)
        return self.scores


def test_the_model_that_comes_along_loads_and_names_every_feature() -> None:
    text = files("chapterhouse.retrieval").joinpath("reranker.json").read_text("utf-8")
    assert set(json.loads(text)["weights"]) == set(FEATURES)
    model = feature_model(text)
    assert all(map(math.isfinite, (model.intercept, *model.weights)))
    assert model.weights[FEATURES.index("first_stage")] > 0  # what is found better stays better


def test_the_order_of_the_file_does_not_matter() -> None:
    weights = {name: float(number) for number, name in enumerate(FEATURES)}
    turned = dict(reversed(weights.items()))
    model = feature_model(json.dumps({"intercept": 1, "weights": turned}))
    assert model == FeatureModel(1.0, tuple(float(n) for n in range(len(FEATURES))))


@pytest.mark.parametrize(
    "fields",
    [
        {"intercept": 0, "weights": {**EVEN, "moon_phase": 1.0}},
        {"intercept": 0, "weights": dict.fromkeys(FEATURES[1:], 1.0)},
        {"intercept": math.nan, "weights": EVEN},
        {"intercept": 0, "weights": {**EVEN, FEATURES[0]: math.inf}},
        {"intercept": "many", "weights": EVEN},
        {"intercept": 0, "weights": {**EVEN, FEATURES[0]: None}},
        {"intercept": 0, "weights": {**EVEN, FEATURES[0]: [1.0]}},
        {"weights": EVEN},
        {"intercept": 0},
        {"intercept": 0, "weights": [1.0] * len(FEATURES)},
        [],
        "text",
    ],
)
def test_what_is_no_model_is_refused(fields: object) -> None:
    with pytest.raises(ValueError, match=r"weight"):
        feature_model(json.dumps(fields))


def test_what_is_not_json_is_refused() -> None:
    with pytest.raises(json.JSONDecodeError):
        feature_model("{")
    with pytest.raises(ValueError, match="as many weights"):
        FeatureModel(0.0, (1.0,))


@given(
    st.lists(st.floats(-50, 50), min_size=len(FEATURES), max_size=len(FEATURES)), st.floats(-50, 50)
)
def test_scores_are_between_zero_and_one_in_the_order_of_the_sums(
    weights: list[float], intercept: float
) -> None:
    model = FeatureModel(intercept, tuple(weights))
    table = np.linspace(0, 1, 4 * len(FEATURES)).reshape(4, -1) ** 2
    scores = model.scores(table)
    assert ((scores >= 0) & (scores <= 1)).all()
    sums = intercept + table @ np.asarray(weights)
    assert (np.diff(scores[np.argsort(sums)]) >= 0).all()


def test_an_extreme_model_is_no_overflow() -> None:
    model = FeatureModel(-5_000.0, (0.0,) * len(FEATURES))
    assert model.scores(np.zeros((1, len(FEATURES)))).tolist() == [pytest.approx(0.0, abs=1e-10)]


def test_features_are_taken_of_the_shortlist() -> None:
    table = table_of(shortlist())
    columns = dict(zip(FEATURES, table.T, strict=True))
    assert columns["first_stage"].tolist() == [1.0, 0.5, pytest.approx(1 / 3)]
    assert columns["adjacent"].tolist() == [1.0, 0.0, 0.0]
    assert columns["neighbours"].tolist() == [0.0, 0.0, 0.0]


def test_reranking_by_features_prefers_words_that_stand_together() -> None:
    model = FeatureModel(0.0, tuple(float(name == "adjacent") for name in FEATURES))
    scores = by_features(model)(shortlist())
    assert scores[0] > scores[1] == scores[2]


def test_a_shortlist_without_documents_or_chunks_is_scored() -> None:
    model = FeatureModel(0.0, (1.0,) * len(FEATURES))
    assert by_features(model)(shortlist(texts=())) == []
    full = shortlist()
    alone = Shortlist(
        full.question, full.chunks, full.scores, {}, full.rows, full.frequencies, full.size
    )
    assert len(by_features(model)(alone)) == 3


def test_a_model_reads_question_and_passages_with_their_titles() -> None:
    model = Scripted([0.1, 0.9, 0.5])
    assert by_model(model)(shortlist("What of the gate?")) == [0.1, 0.9, 0.5]
    assert model.asked == ("What of the gate?", tuple(f"d{n}\n{t}" for n, t in enumerate(TEXTS)))


@given(st.lists(st.floats(-24, 24), min_size=3, max_size=3))
def test_scores_of_any_scale_keep_their_order(given_scores: list[float]) -> None:
    scores = by_model(Scripted(given_scores))(shortlist())
    assert all(0 <= score <= 1 for score in scores)
    places = range(3)
    for one in places:
        for other in places:
            if given_scores[one] > given_scores[other] + 1e-3:
                assert scores[one] > scores[other]


@pytest.mark.parametrize("scores", [[math.nan, 1.0, 2.0], [0.5], [math.inf, 0.0, 0.0]])
def test_unusable_scores_are_an_engine_error(scores: list[float]) -> None:
    with pytest.raises(EngineError):
        by_model(Scripted(scores))(shortlist())


def test_a_passage_says_where_it_stands() -> None:
    chunk = Chunk("d", 0, 0, 1, "text", header="| a |\n", section_path=("One", "Two"))
    assert passage_text(chunk, document("d", title="Title")) == "Title / One / Two\n| a |\ntext"
    assert passage_text(chunk, None) == "One / Two\n| a |\ntext"
    assert passage_text(Chunk("d", 0, 0, 1, "text"), None) == "text"
