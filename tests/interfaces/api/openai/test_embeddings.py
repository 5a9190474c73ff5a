"""Embeddings, as the official client asks for them."""

import math
from typing import Any

import openai
import pytest
from openai.types import CreateEmbeddingResponse
from tests.interfaces.api.openai.conftest import (
    answer_of,
)


def test_vectors_are_those_of_questions(client: openai.OpenAI) -> None:
    texts = ["a lead for dogs", "the toll of a bridge"]
    packed = client.embeddings.create(model="chapterhouse-embeddings", input=texts)
    CreateEmbeddingResponse.model_validate(packed.model_dump())
    plain = client.embeddings.create(
        model="chapterhouse-embeddings", input=texts, encoding_format="float"
    )
    assert [one.index for one in packed.data] == [0, 1]
    for one, other in zip(packed.data, plain.data, strict=True):
        assert one.embedding == pytest.approx(other.embedding)
        assert math.hypot(*one.embedding) == pytest.approx(1.0, abs=1e-5)
    length = len(packed.data[0].embedding)
    single = client.embeddings.create(
        model="chapterhouse-embeddings", input=texts[0], dimensions=length
    )
    assert single.data[0].embedding == pytest.approx(packed.data[0].embedding)
    assert packed.usage.prompt_tokens > 0


@pytest.mark.parametrize(
    "more",
    [
        {"input": [1, 2, 3]},
        {"input": [[1, 2], [3]]},
        {"input": []},
        {"input": ""},
        {"input": ["x", " "]},
        {"input": "x" * 32_001},
        {"input": ["x"] * 257},
        {"input": "x", "dimensions": 7},
        {"input": "x", "encoding_format": "int8"},
    ],
)
def test_what_cannot_be_embedded(client: openai.OpenAI, more: dict[str, Any]) -> None:
    with pytest.raises(openai.BadRequestError):
        client.embeddings.create(model="chapterhouse-embeddings", **more)


def test_only_the_embedder_embeds(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError):
        client.embeddings.create(model="chapterhouse", input="x")
    with pytest.raises(openai.NotFoundError):
        answer_of(client, "chapterhouse-embeddings")
