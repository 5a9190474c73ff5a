import math
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import openai
import pytest
from openai.types import CreateEmbeddingResponse, Model
from tests.interfaces.api.openai.conftest import Desktop, answer_of
from tests.rooms import SPEED

ALL = {"chapterhouse", "persona/maria", "persona/jonas", "council/board", "chapterhouse-embeddings"}
LIMITED = {"chapterhouse", "persona/maria", "chapterhouse-embeddings"}


def test_who_can_be_asked(client: openai.OpenAI) -> None:
    listed = client.models.list().data
    assert {one.id for one in listed} == ALL
    for one in listed:
        Model.model_validate(one.model_dump(), strict=True)
        assert client.models.retrieve(one.id) == one
    assert {one.id: one.name for one in listed}["persona/maria"] == "Maria Keller"  # type: ignore[attr-defined]


def test_a_limited_key_sees_only_its_persona(town: Desktop) -> None:
    with town.openai(town.key("read", personas=("maria",))) as client:
        assert {one.id for one in client.models.list().data} == LIMITED
        assert "4 knots" in answer_of(client, "persona/maria")
        for foreign in ("persona/jonas", "council/board", "persona/nobody"):
            errors = []
            for call in (
                lambda name=foreign: answer_of(client, name),
                lambda name=foreign: client.responses.create(model=name, input=SPEED),
                lambda name=foreign: client.responses.create(model=name, input=SPEED, stream=True),
                lambda name=foreign: client.models.retrieve(name),
            ):
                with pytest.raises(openai.NotFoundError) as raised:
                    call()
                assert raised.value.code == "model_not_found"
                errors.append(str(raised.value.body).replace(foreign, "X"))
            assert len(set(errors)) == 1


def test_errors_are_the_exceptions_of_the_client(town: Desktop, client: openai.OpenAI) -> None:
    with (
        openai.OpenAI(base_url=f"{town.url}/v1", api_key="ch_wrong") as other,
        pytest.raises(openai.AuthenticationError) as raised,
    ):
        other.models.list()
    assert raised.value.code == "invalid_api_key"
    for model in ("", "gpt-4o", "persona/", "persona/MARIA", "council/../board", "x" * 150):
        with pytest.raises((openai.NotFoundError, openai.BadRequestError)):
            answer_of(client, model)


def test_every_error_has_the_form_of_openai(town: Desktop) -> None:
    media = {"Content-Type": "application/json"}
    with town.client(town.key()) as plain:
        for method, path, body, status in (
            ("GET", "/v1/files", b"", 404),
            ("GET", "/v1", b"", 404),
            ("DELETE", "/v1/models", b"", 405),
            ("POST", "/v1/chat/completions", b"{", 400),
            ("POST", "/v1/chat/completions", b'{"model": "\\ud800", "messages": []}', 400),
            ("POST", "/v1/embeddings", b"x" * (4 * 2**20 + 1), 413),
            ("POST", "/v1/models/persona/maria", b"", 405),
        ):
            response = plain.request(method, path, content=body, headers=media)
            assert response.status_code == status, response.text
            assert set(response.json()["error"]) == {"message", "type", "param", "code"}


PAGE = Path(__file__).parents[4] / "docs" / "api.md"
CURL = [line for line in PAGE.read_text("utf-8").splitlines() if re.match("curl .*/v1/", line)]


@pytest.mark.parametrize("line", CURL, ids=lambda line: line.partition("/v1/")[2][:20])
def test_the_lines_of_the_documentation_work(town: Desktop, line: str) -> None:
    line = line.replace("http://127.0.0.1:8431", town.url)
    words = shlex.split(line.replace("$KEY", f"Authorization: Bearer {town.owner_key}"))
    done = subprocess.run(
        [*words, "--silent", "--fail"], check=True, capture_output=True, text=True
    )
    assert done.stdout.startswith(("{", "data: {"))


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


def test_what_cannot_be_embedded(client: openai.OpenAI) -> None:
    wrong: list[Any] = [[1, 2, 3], [[1, 2], [3]], [], "", ["x", " "], "x" * 32_001, ["x"] * 257]
    options: list[dict[str, Any]] = [{"dimensions": 7}, {"encoding_format": "int8"}]
    for body in (*({"input": one} for one in wrong), *({"input": "x", **one} for one in options)):
        with pytest.raises(openai.BadRequestError):
            client.embeddings.create(model="chapterhouse-embeddings", **body)


def test_only_the_embedder_embeds(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError):
        client.embeddings.create(model="chapterhouse", input="x")
    with pytest.raises(openai.NotFoundError):
        answer_of(client, "chapterhouse-embeddings")
