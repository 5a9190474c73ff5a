"""Models by fastembed's names: with fastembed where it is installed, and the hint where not."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chapterhouse.errors import EngineError, MissingExtraError
from chapterhouse.models import fastembed_engines
from chapterhouse.models.opening import open_embedder, open_reranker
from chapterhouse.ports.models import Embedder, Reranker
from chapterhouse.settings import EmbeddingSettings, RerankSettings

EMBEDDER = "sentence-transformers/all-MiniLM-L6-v2"
RERANKER = "Xenova/ms-marco-MiniLM-L-6-v2"
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def nothing(_: object) -> None:
    """Need no closing."""


@pytest.mark.parametrize("folder", ["", "/somewhere"])
def test_without_its_extra_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, folder: str
) -> None:
    monkeypatch.setattr(fastembed_engines, "find_spec", lambda _: None)
    embedding = EmbeddingSettings(engine="fastembed", model=EMBEDDER, folder=folder)
    rerank = RerankSettings(engine="fastembed", model=RERANKER, folder=folder)
    with pytest.raises(MissingExtraError, match="'fastembed'") as caught:
        open_embedder(embedding, tmp_path, lambda close: close())
    assert "pip install 'fastembed" in caught.value.hint
    with pytest.raises(MissingExtraError, match="'fastembed'"):
        open_reranker(rerank, tmp_path, nothing)


@pytest.fixture
def model_folder(tmp_path: Path, write_tokenizer: Callable[[Path], None]) -> Path:
    pytest.importorskip("fastembed")
    folder = tmp_path / "model"
    write_tokenizer(folder)
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    (folder / "special_tokens_map.json").write_text(json.dumps({"pad_token": "[PAD]"}))
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"model_max_length": 64, "pad_token": "[PAD]"})
    )
    return folder


@pytest.fixture
def embedder(
    model_folder: Path, tmp_path: Path, write_onnx: Callable[..., None], closing: Any
) -> Embedder:
    shape = ["batch", "tokens", 8]
    write_onnx(model_folder / "model.onnx", "last_hidden_state", shape, INPUTS)
    settings = EmbeddingSettings(
        engine="fastembed", model=EMBEDDER, folder=str(model_folder), dimensions=8
    )
    return open_embedder(settings, tmp_path / "cache", closing.callback)


@pytest.fixture
def reranker(
    model_folder: Path, tmp_path: Path, write_onnx: Callable[..., None], closing: Any
) -> Reranker:
    write_onnx(model_folder / "onnx" / "model.onnx", "logits", ["batch", 1], INPUTS)
    settings = RerankSettings(engine="fastembed", model=RERANKER, folder=str(model_folder))
    opened = open_reranker(settings, tmp_path / "cache", closing.callback)
    assert opened is not None
    return opened


def test_it_embeds_from_a_folder_without_a_network(embedder: Embedder) -> None:
    texts = ["the wind", "", "The ferry leaves the harbour"]
    vectors = embedder.embed_passages(texts)
    assert np.linalg.norm(vectors, axis=1).round(5).tolist() == [1, 0, 1]
    assert np.allclose(embedder.embed_question("the wind"), vectors[0], atol=1e-6)
    assert np.array_equal(embedder.embed_passages(texts[2:]), vectors[2:])
    assert embedder.fingerprint.startswith(f"fastembed/{EMBEDDER}@")
    assert embedder.fingerprint.endswith("/8")


def test_it_reranks_from_a_folder_without_a_network(reranker: Reranker) -> None:
    scores = reranker.score("the ferry", ["wind", "the harbour leaves", "wind"])
    assert scores[0] == scores[2] != scores[1]
    assert all(0 < score < 1 for score in scores)
    assert reranker.fingerprint.startswith(f"fastembed/{RERANKER}@")


def test_a_name_it_does_not_know_is_told(tmp_path: Path) -> None:
    pytest.importorskip("fastembed")
    embedding = EmbeddingSettings(engine="fastembed", model="no/such", cache_megabytes=0)
    with pytest.raises(EngineError, match="no embedding model 'no/such'") as caught:
        _ = open_embedder(embedding, tmp_path, nothing).dimensions
    assert EMBEDDER in caught.value.hint
    opened = open_reranker(RerankSettings(engine="fastembed", model="no/such"), tmp_path, nothing)
    assert opened is not None
    with pytest.raises(EngineError, match="no reranking model 'no/such'"):
        opened.score("a", ["b"])


def test_opening_fetches_nothing(tmp_path: Path) -> None:
    pytest.importorskip("fastembed")
    embedding = EmbeddingSettings(engine="fastembed", model=EMBEDDER, cache_megabytes=0)
    assert open_embedder(embedding, tmp_path, nothing).dimensions == 384
    open_reranker(RerankSettings(engine="fastembed", model=RERANKER), tmp_path, nothing)
    assert not list(tmp_path.iterdir())
