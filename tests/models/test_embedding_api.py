"""Embeddings from a service."""

import base64
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from chapterhouse.errors import EngineError
from chapterhouse.models.embedding_api import ApiEmbedder, EmbeddingModel
from chapterhouse.models.http import Endpoint, JsonClient

Open = Callable[..., ApiEmbedder]


@pytest.fixture
def connect(service: Any) -> Iterator[Open]:
    made: list[ApiEmbedder] = []

    def make(**changes: Any) -> ApiEmbedder:
        client = JsonClient(
            Endpoint(f"{service.url}/v1/embeddings", "embedding", attempts=3),
            sleep=lambda _: None,
        )
        made.append(ApiEmbedder(client, EmbeddingModel("small-model", **changes)))
        return made[-1]

    yield make
    for embedder in made:
        embedder.close()


def entry(place: int, *numbers: float) -> dict[str, Any]:
    return {"index": place, "embedding": list(numbers)}


def test_it_sends_what_the_service_knows(embedding_service: Any, connect: Open) -> None:
    connect(dimensions=8).embed_passages(["one", "two"])
    (request,) = embedding_service.asked
    assert request.path == "/v1/embeddings"
    assert request.body == {"model": "small-model", "input": ["one", "two"]}


def test_prefixes_stand_before_the_texts(embedding_service: Any, connect: Open) -> None:
    embedder = connect(dimensions=8, question_prefix="query: ", passage_prefix="document: ")
    embedder.embed_passages(["a ferry"])
    embedder.embed_question("a ferry")
    sent = [request.body["input"] for request in embedding_service.asked]
    assert sent == [["document: a ferry"], ["query: a ferry"]]


def test_texts_are_sent_in_batches(embedding_service: Any, connect: Open) -> None:
    texts = [f"text {number}" for number in range(7)]
    vectors = connect(dimensions=8, batch=3).embed_passages(texts)
    assert [len(request.body["input"]) for request in embedding_service.asked] == [3, 3, 1]
    alone = connect(dimensions=8).embed_passages([texts[5]])
    assert np.array_equal(vectors[5], alone[0])


def test_a_batch_is_not_too_long(embedding_service: Any, connect: Open) -> None:
    connect(dimensions=8).embed_passages(["many words " * 3_000] * 20)
    sizes = [sum(map(len, request.body["input"])) for request in embedding_service.asked]
    assert max(sizes) <= 100_000
    assert sum(sizes) == 20 * 8_000  # each text cut


def test_texts_without_characters_are_not_sent(embedding_service: Any, connect: Open) -> None:
    vectors = connect(dimensions=8).embed_passages(["", "ferry", " \n"])
    assert embedding_service.asked[0].body["input"] == ["ferry"]
    assert np.linalg.norm(vectors, axis=1).round(5).tolist() == [0, 1, 0]
    assert not connect(dimensions=8).embed_question("  ").any()
    assert len(embedding_service.asked) == 1


def test_the_order_is_that_of_the_index(service: Any, connect: Open) -> None:
    service.says(service.reply({"data": [entry(1, 0, 2), entry(0, 3, 0)]}))
    vectors = connect(dimensions=2).embed_passages(["first", "second"])
    assert vectors.tolist() == [[1, 0], [0, 1]]


def test_an_index_may_be_left_out(service: Any, connect: Open) -> None:
    service.says(service.reply({"data": [{"embedding": [3, 0]}, entry(1, 0, 2)]}))
    assert connect(dimensions=2).embed_passages(["first", "second"]).tolist() == [[1, 0], [0, 1]]


def test_numbers_may_come_as_base64(service: Any, connect: Open) -> None:
    packed = base64.b64encode(np.asarray([0, 4], dtype="<f4").tobytes()).decode()
    service.says(service.reply({"data": [{"index": 0, "embedding": packed}]}))
    embedder = connect(dimensions=2, encoding="base64")
    assert embedder.embed_passages(["text"]).tolist() == [[0, 1]]
    assert service.asked[0].body["encoding_format"] == "base64"


def test_a_shorter_vector_is_asked_for(service: Any, connect: Open) -> None:
    service.says(service.reply({"data": [entry(0, 4, 0)]}))
    embedder = connect(dimensions=2, shorten=True)
    assert embedder.embed_question("text").tolist() == [1, 0]
    assert service.asked[0].body["dimensions"] == 2
    assert "2-cut" in embedder.fingerprint


def test_the_length_is_asked_where_nobody_states_it(embedding_service: Any, connect: Open) -> None:
    embedder = connect()
    assert embedder.dimensions == 8
    assert embedder.fingerprint == "openai/small-model/8"


def test_a_wrong_length_says_what_to_do(service: Any, connect: Open) -> None:
    service.says(service.reply({"data": [entry(0, 4, 0, 1)]}))
    with pytest.raises(EngineError, match="vectors of 3 numbers, not 2") as caught:
        connect(dimensions=2).embed_passages(["text"])
    assert "embedding.dimensions to 3" in caught.value.hint
    assert "embedding.dimensions" in caught.value.hint


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ([], "no list"),
        ({"data": {}}, "no list"),
        ({"data": ["a", "b"]}, "no list"),
        ({"data": [entry(0, 1, 0)]}, "2 texts were sent and 1"),
        ({"data": [entry(0, 1, 0), entry(0, 1, 0)]}, "misnumbered"),
        ({"data": [entry(0, 1, 0), entry(2, 1, 0)]}, "misnumbered"),
        ({"data": [entry(0, 1, 0), {"index": True, "embedding": [1, 0]}]}, "misnumbered"),
        ({"data": [entry(0, 1, 0), {"index": "1", "embedding": [1, 0]}]}, "misnumbered"),
        ({"data": [entry(0, 1, 0), entry(1, 1)]}, "differ in length"),
        ({"data": [entry(0), entry(1)]}, "differ in length"),
        ({"data": [entry(0, 1, 0), {"index": 1}]}, "missing"),
        ({"data": [entry(0, 1, 0), {"index": 1, "embedding": [[1, 0]]}]}, "list of numbers"),
        ({"data": [entry(0, 1, 0), {"index": 1, "embedding": ["a", "b"]}]}, "list of numbers"),
        ({"data": [entry(0, 1, 0), {"index": 1, "embedding": "!!"}]}, "list of numbers"),
        ({"data": [entry(0, 1, 0), {"index": 1, "embedding": "AAA="}]}, "list of numbers"),
        ({"data": [entry(0, 1, 0), {"index": 1, "embedding": [None, 1]}]}, "finite"),
        (b'{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[NaN,0]}]}', "finite"),
        (b'{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[1e200,0]}]}', "finite"),
    ],
)
def test_a_response_that_cannot_be_used_is_told(
    service: Any, connect: Open, answer: Any, says: str
) -> None:
    service.says(service.reply(answer))
    with pytest.raises(EngineError, match=says):
        connect(dimensions=2).embed_passages(["first", "second"])


def test_a_question_does_not_wait_for_ever(service: Any, connect: Open) -> None:
    service.says(service.reply(status=503))
    with pytest.raises(EngineError, match="after 2 tries"):
        connect(dimensions=2).embed_question("text")
    with pytest.raises(EngineError, match="after 3 tries"):
        connect(dimensions=2).embed_passages(["text"])


def test_the_fingerprint_tells_models_apart(connect: Open) -> None:
    kinds: list[dict[str, Any]] = [
        {},
        {"revision": "2"},
        {"question_prefix": "query: "},
        {"passage_prefix": "query: "},
        {"shorten": True},
    ]
    names = {connect(dimensions=8, **kind).fingerprint for kind in kinds}
    assert len(names) == len(kinds)
    assert connect(dimensions=8, batch=3, languages=("en",)).fingerprint in names


def test_it_serves_the_languages_it_is_told(connect: Open) -> None:
    assert connect().serves("xx")
    assert connect(languages=("en",)).serves("en")
    assert not connect(languages=("en",)).serves("de")
