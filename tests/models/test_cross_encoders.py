from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chapterhouse.errors import EngineError
from chapterhouse.models.cross_encoders import ApiReranker, FolderReranker, logistic
from chapterhouse.models.keys import KeySource
from chapterhouse.models.model_folder import open_model_folder
from chapterhouse.models.service import Service


def test_an_encoder_is_no_cross_encoder(model_folder: Path) -> None:
    reranker = FolderReranker(open_model_folder(str(model_folder), section="rerank"))
    with pytest.raises(EngineError, match="gave 48 numbers for a passage, not one score") as caught:
        reranker.score("wind", ["the wind"])
    assert "rerank.folder" in caught.value.hint


def test_scores_keep_their_order_to_the_ends() -> None:
    values = [-700.0, -20.0, -1.0, 0.0, 1.0, 20.0]
    scores = [logistic(value) for value in values]
    assert scores == sorted(scores)
    assert scores[3] == 0.5
    assert 0 <= scores[0] < scores[2] < scores[4] <= 1


Open = Callable[..., ApiReranker]


@pytest.fixture
def connect(service: Any) -> Open:
    def make() -> ApiReranker:
        place = Service(service.url, "rerank", KeySource("rerank"), attempts=2, sleep=no_pause)
        return ApiReranker(place, "rerank-small")

    return make


async def no_pause(_: float) -> None:
    """Do not wait."""


def result(place: Any, score: Any) -> dict[str, Any]:
    return {"index": place, "relevance_score": score}


def test_it_asks_in_the_shape_that_services_share(
    rerank_service: Any, connect: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chapterhouse.models.cross_encoders.PASSAGE_CHARACTERS", 9)
    scores = connect().score("the ferry", ["wind", "the ferry leaves", ""])
    assert scores == [0.0, 0.2, 0.0]
    assert rerank_service.requests[0].body == {
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
        (f'{{"results":[{{"index":0,"relevance_score":{10**400}}}]}}'.encode(), "not finite"),
    ],
)
def test_a_response_that_cannot_be_used_is_told(
    service: Any, connect: Open, answer: Any, says: str
) -> None:
    service.says(service.reply(answer))
    with pytest.raises(EngineError, match=says) as caught:
        connect().score("q", ["a", "b"])
    assert "rerank.base_url" in caught.value.hint


def test_nothing_is_asked_about_nothing_or_too_much(service: Any, connect: Open) -> None:
    assert connect().score("q", []) == []
    with pytest.raises(EngineError, match="1,001 passages"):
        connect().score("q", ["a"] * 1_001)
    assert not service.requests
