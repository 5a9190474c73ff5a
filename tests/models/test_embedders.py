from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.conftest import change
from tests.models.conftest import open_folder_embedder as open_embedder

from chapterhouse.errors import EngineError, UsageError
from chapterhouse.models.embedders import THREADS, ApiEmbedder, apply_each
from chapterhouse.models.keys import KeySource
from chapterhouse.models.service import Service
from chapterhouse.settings import EmbeddingSettings

Write = Callable[..., None]


@pytest.mark.parametrize("name", ["config.json", "1_Pooling/config.json"])
def test_settings_that_are_not_an_object_are_told(model_folder: Path, name: str) -> None:
    change(model_folder, name)
    (model_folder / name).write_text("[1]")
    with pytest.raises(EngineError, match="not a JSON object"):
        _ = open_embedder(model_folder).fingerprint


@pytest.mark.parametrize("name", ["onnx/model.onnx", "tokenizer.json"])
def test_damaged_files_are_told(model_folder: Path, name: str) -> None:
    (model_folder / name).write_bytes((model_folder / name).read_bytes()[:40])
    with pytest.raises(EngineError, match=name.replace(".", r"\.")):
        open_embedder(model_folder).embed_passages(["wind"])


def test_a_graph_that_asks_for_more_is_told(model_folder: Path, write_onnx: Write) -> None:
    inputs = ["input_ids", "pixel_values"]
    write_onnx(model_folder / "onnx" / "model.onnx", inputs=inputs)
    with pytest.raises(EngineError, match="asks for pixel_values"):
        open_embedder(model_folder).embed_passages(["wind"])


def test_files_of_different_models_are_told(model_folder: Path, write_onnx: Write) -> None:
    write_onnx(model_folder / "onnx" / "model.onnx", words=2)
    with pytest.raises(EngineError, match="failed on a text") as caught:
        open_embedder(model_folder).embed_passages(["harbour"])
    assert "all files of one version" in caught.value.hint


def test_the_folder_says_how_to_pool(model_folder: Path) -> None:
    mean = open_embedder(model_folder)
    assert "/mean/" in mean.fingerprint
    change(model_folder, "1_Pooling/config.json", pooling_mode_cls_token=True)
    first = open_embedder(model_folder)
    assert "/cls/" in first.fingerprint
    stated = open_embedder(model_folder, pooling="last")
    vectors = [one.embed_question("the wind") for one in (mean, first, stated)]
    assert not np.allclose(vectors[0], vectors[1])
    assert not np.allclose(vectors[1], vectors[2])
    change(model_folder, "1_Pooling/config.json", pooling_mode_max_tokens=True)
    with pytest.raises(UsageError, match="pooling"):
        open_embedder(model_folder)


def test_vectors_may_be_cut_where_that_is_asked_for(model_folder: Path) -> None:
    whole = open_embedder(model_folder).embed_question("the wind")
    cut = open_embedder(model_folder, dimensions=5, shorten=True)
    wanted = whole[:5] / np.linalg.norm(whole[:5])
    assert np.allclose(cut.embed_question("the wind"), wanted, atol=1e-6)
    assert cut.fingerprint.endswith("5-cut")
    with pytest.raises(EngineError, match="vectors of 8 numbers, not 5"):
        open_embedder(model_folder, dimensions=5).embed_question("the wind")
    with pytest.raises(EngineError, match="vectors of 8 numbers, not 9"):
        open_embedder(model_folder, dimensions=9, shorten=True).embed_question("the wind")


def test_prefixes_belong_to_the_fingerprint(model_folder: Path) -> None:
    plain, prefixed = open_embedder(model_folder), open_embedder(model_folder, passage_prefix="at ")
    assert plain.fingerprint != prefixed.fingerprint
    assert np.array_equal(
        prefixed.embed_passages(["wind"])[0], plain.embed_passages(["at wind"])[0]
    )
    assert np.array_equal(prefixed.embed_question("wind"), plain.embed_question("wind"))


def test_long_texts_are_cut_where_the_model_ends(model_folder: Path) -> None:
    embedder = open_embedder(model_folder)
    long = embedder.embed_question("wind " * 21 + "at " * 50)
    assert np.array_equal(long, embedder.embed_question("wind " * 21 + "at"))
    change(model_folder, "sentence_bert_config.json", max_seq_length=4)
    short = open_embedder(model_folder).embed_question("the wind at harbour")
    assert np.array_equal(short, embedder.embed_question("the wind"))


def test_a_graph_may_pool_by_itself(model_folder: Path, write_onnx: Write) -> None:
    path = model_folder / "onnx" / "model.onnx"
    pooled = open_embedder(model_folder).embed_question("the wind")
    write_onnx(path, "logits")
    scored = open_embedder(model_folder, dimensions=1).embed_question("the wind")
    assert pooled.shape == (8,)
    assert scored.shape == (1,)


@given(st.lists(st.text(max_size=9), max_size=12), st.integers(1, 4))
def test_results_stand_in_the_order_of_the_texts(texts: list[str], threads: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(THREADS, str(threads))
        assert apply_each(texts, str.upper, len) == [text.upper() for text in texts]


Open = Callable[..., ApiEmbedder]


@pytest.fixture
def connect(service: Any) -> Open:
    async def no_pause(_: float) -> None:
        """Do not wait."""

    def make(**changes: Any) -> ApiEmbedder:
        source = KeySource("embedding")
        place = Service(service.url, "embedding", source, attempts=3, sleep=no_pause)
        settings = EmbeddingSettings(
            engine="openai", base_url=service.url, model="small-model", **changes
        )
        return ApiEmbedder(place, settings)

    return make


def entry(place: int, *numbers: float) -> dict[str, Any]:
    return {"index": place, "embedding": list(numbers)}


def test_prefixes_stand_before_the_texts(embedding_service: Any, connect: Open) -> None:
    embedder = connect(dimensions=8, question_prefix="query: ", passage_prefix="document: ")
    embedder.embed_passages(["a ferry", "two"])
    embedder.embed_question("a ferry")
    first, second = embedding_service.requests
    assert first.path == "/v1/embeddings"
    assert first.body == {"model": "small-model", "input": ["document: a ferry", "document: two"]}
    assert second.body["input"] == ["query: a ferry"]


def test_texts_are_sent_in_batches(embedding_service: Any, connect: Open) -> None:
    texts = [f"text {number}" for number in range(7)]
    vectors = connect(dimensions=8, batch=3).embed_passages(texts)
    assert [len(request.body["input"]) for request in embedding_service.requests] == [3, 3, 1]
    alone = connect(dimensions=8).embed_passages([texts[5]])
    assert np.array_equal(vectors[5], alone[0])


def test_a_batch_is_not_too_long(embedding_service: Any, connect: Open) -> None:
    connect(dimensions=8).embed_passages(["many words " * 3_000] * 20)
    sizes = [sum(map(len, request.body["input"])) for request in embedding_service.requests]
    assert max(sizes) <= 100_000
    assert sum(sizes) == 20 * 8_000  # each text cut


def test_texts_without_characters_are_not_sent(embedding_service: Any, connect: Open) -> None:
    vectors = connect(dimensions=8).embed_passages(["", "ferry", " \n"])
    assert embedding_service.requests[0].body["input"] == ["ferry"]
    assert np.linalg.norm(vectors, axis=1).round(5).tolist() == [0, 1, 0]
    assert not connect(dimensions=8).embed_question("  ").any()
    assert len(embedding_service.requests) == 1


@pytest.mark.parametrize("first", [{"index": 0}, {}])  # it may be left out
def test_the_order_is_that_of_the_index(service: Any, connect: Open, first: Any) -> None:
    data = [{"embedding": [3, 0], **first}, entry(1, 0, 2)]
    service.says(service.reply({"data": data[::-1] if first else data}))
    assert connect(dimensions=2).embed_passages(["first", "second"]).tolist() == [[1, 0], [0, 1]]


def test_a_shorter_vector_is_asked_for(service: Any, connect: Open) -> None:
    service.says(service.reply({"data": [entry(0, 4, 0)]}))
    embedder = connect(dimensions=2, shorten=True)
    assert embedder.embed_question("text").tolist() == [1, 0]
    assert service.requests[0].body["dimensions"] == 2
    assert "2-cut" in embedder.fingerprint


def test_the_length_is_asked_and_checked(embedding_service: Any, connect: Open) -> None:
    assert (connect().dimensions, connect().fingerprint) == (8, "openai/small-model/8")
    embedding_service.says(embedding_service.reply({"data": [entry(0, 4, 0, 1)]}))
    with pytest.raises(EngineError, match="vectors of 3 numbers, not 2") as caught:
        connect(dimensions=2).embed_passages(["text"])
    assert "embedding.dimensions to 3" in caught.value.hint


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


def test_the_fingerprint_tells_models_apart_and_not_languages(connect: Open) -> None:
    kinds: list[dict[str, Any]] = [
        {}, {"revision": "2"}, {"question_prefix": "query: "}, {"passage_prefix": "query: "},
        {"shorten": True},
    ]  # fmt: skip
    names = {connect(dimensions=8, **kind).fingerprint for kind in kinds}
    assert len(names) == len(kinds)
    english = connect(dimensions=8, batch=3, languages=("en",))
    assert english.fingerprint in names
    served = (connect().serves("xx"), english.serves("en"), english.serves("de"))
    assert served == (True, True, False)
