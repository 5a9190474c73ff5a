"""Rerankers of a folder and of a service, and cross-encoders for entailment."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chapterhouse import Library
from chapterhouse.errors import EngineError, UsageError
from chapterhouse.models.cross_encoders import (
    ApiReranker,
    FolderEntailment,
    FolderReranker,
    logistic,
)
from chapterhouse.models.http import Endpoint, JsonClient
from chapterhouse.models.model_folder import open_model_folder

Write = Callable[..., None]


def test_a_model_without_a_classifier_is_no_cross_encoder(
    bert_folder: Path, write_tensors: Write, bert_tensors: Callable[..., dict[str, Any]]
) -> None:
    tensors = bert_tensors()
    del tensors["classifier.weight"]
    write_tensors(bert_folder / "model.safetensors", tensors)
    reranker = FolderReranker(open_model_folder(str(bert_folder), section="rerank"), 1_000)
    with pytest.raises(EngineError, match="no cross-encoder"):
        reranker.score("wind", ["the wind"])


def test_a_model_with_several_labels_gives_no_score(
    bert_folder: Path, write_tensors: Write, bert_tensors: Callable[..., dict[str, Any]]
) -> None:
    tensors = bert_tensors()
    tensors["classifier.weight"] = np.ones((3, 8), dtype=np.float32)
    tensors["classifier.bias"] = np.ones(3, dtype=np.float32)
    write_tensors(bert_folder / "model.safetensors", tensors)
    reranker = FolderReranker(open_model_folder(str(bert_folder), section="rerank"), 1_000)
    with pytest.raises(EngineError, match="3 numbers"):
        reranker.score("wind", ["the wind"])


def test_scores_keep_their_order_to_the_ends() -> None:
    values = [-700.0, -20.0, -1.0, 0.0, 1.0, 20.0]
    scores = [logistic(value) for value in values]
    assert scores == sorted(scores)
    assert scores[3] == 0.5
    assert 0 <= scores[0] < scores[2] < scores[4] <= 1


Open = Callable[..., ApiReranker]


@pytest.fixture
def connect(service: Any) -> Iterator[Open]:
    clients: list[JsonClient] = []

    def make(maximum_characters: int = 4_000) -> ApiReranker:
        endpoint = Endpoint(f"{service.url}/rerank", "rerank", attempts=2)
        client = JsonClient(endpoint, sleep=lambda _: None)
        clients.append(client)
        return ApiReranker(client, "rerank-small", maximum_characters)

    yield make
    for client in clients:
        client.close()


def result(place: Any, score: Any) -> dict[str, Any]:
    return {"index": place, "relevance_score": score}


def test_it_asks_in_the_shape_that_services_share(rerank_service: Any, connect: Open) -> None:
    scores = connect(maximum_characters=9).score("the ferry", ["wind", "the ferry leaves", ""])
    assert scores == [0.0, 0.2, 0.0]
    assert rerank_service.asked[0].body == {
        "model": "rerank-small",
        "query": "the ferry",
        "documents": ["wind", "the ferry", " "],
        "top_n": 3,
    }


@pytest.mark.parametrize(
    "answer",
    [
        {"results": [result(1, 0.9), result(0, -2)]},
        {"results": [result(1, 0.9) | {"document": {"text": "b"}}, result(0, -2)]},
        {"results": [result(1, 0.9) | {"document": "b"}, result(0, -2)], "usage": {}},
        {"data": [result(1, 0.9), result(0, -2)]},
        [{"index": 1, "score": 0.9}, {"index": 0, "score": -2}],
    ],
)
def test_every_shape_is_read(service: Any, connect: Open, answer: Any) -> None:
    service.says(service.reply(answer))
    assert connect().score("q", ["a", "b"]) == [-2.0, 0.9]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ({}, "no list"),
        ({"results": None}, "no list"),
        ("fine", "no list"),
        ({"results": [result(0, 1)]}, "1 of 2"),
        ({"results": [result(0, 1), result(0, 1)]}, "passage 0 twice"),
        ({"results": [result(0, 1), result(2, 1)]}, "passage 2 of 2"),
        ({"results": [result(0, 1), result(-1, 1)]}, "passage -1 of 2"),
        ({"results": [result(0, 1), result("1", 1)]}, "no index"),
        ({"results": [result(0, 1), result(place=True, score=1)]}, "no index"),
        ({"results": [result(0, 1), {"index": 1}]}, "no score"),
        ({"results": [result(0, 1), result(1, "high")]}, "no score"),
        ({"results": [result(0, 1), result(1, score=True)]}, "no score"),
        ({"results": [result(0, 1), 3]}, "not an object"),
        (b'{"results":[{"index":0,"relevance_score":NaN}]}', "not finite"),
        (b'{"results":[{"index":0,"relevance_score":1e999}]}', "not finite"),
        (
            f'{{"results":[{{"index":0,"relevance_score":{10**400}}}]}}'.encode(),
            "not finite",
        ),
    ],
)
def test_a_response_that_cannot_be_used_is_told(
    service: Any, connect: Open, answer: Any, says: str
) -> None:
    service.says(service.reply(answer))
    with pytest.raises(EngineError, match=says) as caught:
        connect().score("q", ["a", "b"])
    assert "rerank.base_url" in caught.value.hint


def test_nothing_is_asked_about_nothing(service: Any, connect: Open) -> None:
    assert connect().score("q", []) == []
    assert not service.asked


def test_too_many_passages_are_refused(service: Any, connect: Open) -> None:
    with pytest.raises(EngineError, match="1,001 passages"):
        connect().score("q", ["a"] * 1_001)
    assert not service.asked


def test_a_service_that_fails_is_told(service: Any, connect: Open) -> None:
    service.says(service.reply({"message": "model is loading"}, status=503))
    with pytest.raises(EngineError, match="503: model is loading"):
        connect().score("q", ["a"])


LABELS = {"0": "contradiction", "1": "Entailment", "2": "neutral"}


@pytest.fixture
def entailment_folder(
    bert_folder: Path, write_tensors: Write, bert_tensors: Callable[..., dict[str, Any]]
) -> Path:
    """A BERT with three labels, of which the second is always the likeliest."""
    tensors = bert_tensors()
    tensors["classifier.weight"] = np.zeros((3, 8), dtype=np.float32)
    tensors["classifier.bias"] = np.log(np.asarray([1, 8, 1], dtype=np.float32))
    write_tensors(bert_folder / "model.safetensors", tensors)
    labelled(bert_folder, LABELS)
    return bert_folder


def labelled(folder: Path, labels: dict[str, str]) -> None:
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, "id2label": labels}), "utf-8")


def opened(folder: Path) -> FolderEntailment:
    return FolderEntailment(open_model_folder(str(folder), section="entailment"))


def test_the_share_of_the_label_is_the_probability(entailment_folder: Path) -> None:
    model = opened(entailment_folder)
    assert model.probability("the wind", "wind") == pytest.approx(0.8)
    assert model.fingerprint.startswith("folder/tiny-bert/")


def test_a_model_with_one_output_gives_its_logistic(bert_folder: Path) -> None:
    model = opened(bert_folder)
    assert 0 < model.probability("the wind", "wind") < 1


def test_a_graph_is_run_alike(onnx_cross_encoder: Path) -> None:
    assert 0 <= opened(onnx_cross_encoder).probability("the wind", "wind") <= 1


@pytest.mark.parametrize(
    "labels", [{"0": "LABEL_0", "1": "LABEL_1"}, {"0": "entailment", "1": "entails"}]
)
def test_a_model_that_does_not_say_what_its_labels_mean_is_refused(
    bert_folder: Path, labels: dict[str, str]
) -> None:
    labelled(bert_folder, labels)
    with pytest.raises(EngineError, match="no label that means entailment"):
        opened(bert_folder)


def test_a_label_that_denies_is_none_that_follows(entailment_folder: Path) -> None:
    labelled(entailment_folder, {"0": "not_entailment", "1": "entailment"})
    with pytest.raises(EngineError, match="3 numbers, not one for each of 2"):
        opened(entailment_folder).probability("a", "b")


def test_a_library_opens_it_where_the_settings_want_it(
    tmp_path: Path, entailment_folder: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    settings = home / "chapterhouse.toml"
    settings.write_text('[answer]\ncheck = "cross-encoder"\n', "utf-8")
    with pytest.raises(UsageError, match=r"needs entailment\.folder"):
        Library.open(home)
    more = f'[entailment]\nfolder = "{entailment_folder.as_posix()}"\n'
    settings.write_text(settings.read_text("utf-8") + more, "utf-8")
    with Library.open(home) as library:
        assert library._runtime.versions["entailment"].startswith("folder/tiny-bert/")
