from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from chapterhouse.models.opening import open_embedder, open_reranker
from chapterhouse.settings import EmbeddingSettings, RerankSettings
from chapterhouse.types.engines import Embedder, Reranker

EMBEDDERS = ("built-in", "openai", "folder")
RERANKERS = ("http", "folder")


@pytest.fixture(params=EMBEDDERS)
def open_one(request: pytest.FixtureRequest) -> Callable[[], Embedder]:
    """Open an embedder of each kind, as often as asked."""

    def make() -> Embedder:
        return open_embedder(_embedding(request))

    return make


def _embedding(request: pytest.FixtureRequest) -> EmbeddingSettings:
    kind = request.param
    if kind == "built-in":
        return EmbeddingSettings()
    if kind == "openai":
        service = request.getfixturevalue("embedding_service")
        return EmbeddingSettings(engine="openai", model="m", base_url=service.url)
    return EmbeddingSettings(engine="folder", folder=str(request.getfixturevalue("model_folder")))


def test_vectors_are_units(open_one: Callable[[], Embedder]) -> None:
    embedder = open_one()
    texts = ["The ferry leaves the harbour.", "wind", "", "unheard-of", "x " * 5_000]
    vectors = embedder.embed_passages(texts)
    assert vectors.shape == (len(texts), embedder.dimensions)
    assert vectors.dtype == np.float32
    lengths = np.linalg.norm(vectors, axis=1)
    assert lengths[2] == 0
    assert lengths[:2] == pytest.approx(1, abs=1e-5)
    assert all(length == 0 or abs(length - 1) < 1e-5 for length in lengths)
    assert embedder.embed_passages([]).shape == (0, embedder.dimensions)


def test_a_vector_does_not_depend_on_its_batch(open_one: Callable[[], Embedder]) -> None:
    embedder, other = open_one(), open_one()
    texts = ["wind", "The ferry leaves the harbour.", "harbour", "", "wind"]
    together = embedder.embed_passages(texts)
    alone = np.concatenate([other.embed_passages([text]) for text in texts])
    assert np.array_equal(together, alone)


def test_a_question_is_a_unit_in_the_same_space(open_one: Callable[[], Embedder]) -> None:
    embedder = open_one()
    vector = embedder.embed_question("the wind")
    assert vector.shape == (embedder.dimensions,)
    assert vector.dtype == np.float32
    passages = embedder.embed_passages(["the ferry leaves the harbour", "the wind"])
    assert (passages @ vector).argmax() == 1
    assert not embedder.embed_question("").any()


def test_the_same_engine_has_the_same_fingerprint(open_one: Callable[[], Embedder]) -> None:
    embedder, other = open_one(), open_one()
    assert embedder.fingerprint == other.fingerprint
    assert embedder.serves("en")
    named = ("chapterhouse-encoder-", str(embedder.dimensions))
    assert any(part in embedder.fingerprint for part in named)


@pytest.fixture(params=RERANKERS)
def reranker(request: pytest.FixtureRequest) -> Reranker:
    kind = request.param
    values: dict[str, Any]
    if kind == "http":
        service = request.getfixturevalue("rerank_service")
        values = {"engine": "http", "model": "m", "base_url": service.url}
    else:
        folder = request.getfixturevalue("cross_encoder_folder")
        values = {"engine": "folder", "folder": str(folder)}
    opened = open_reranker(RerankSettings(**values))
    assert opened is not None
    return opened


def test_each_passage_has_its_score(reranker: Reranker) -> None:
    passages = ["the wind", "the ferry leaves", "harbour", "", "the wind"]
    scores = reranker.score("ferry leaves at", passages)
    assert len(scores) == len(passages)
    assert all(isinstance(score, float) for score in scores)
    assert scores[0] == scores[4]
    assert len(set(scores)) > 1
    assert reranker.score("ferry", []) == []
    assert reranker.fingerprint


def test_a_score_does_not_depend_on_the_others(reranker: Reranker) -> None:
    passages = ["the wind", "the ferry leaves", "harbour at wind"]
    backwards = reranker.score("ferry leaves", passages[::-1])
    assert list(reranker.score("ferry leaves", passages)) == list(backwards)[::-1]


def test_long_passages_are_cut(reranker: Reranker) -> None:
    scores = reranker.score("ferry " * 3_000, ["wind " * 50_000, "ferry"])
    assert len(scores) == 2
