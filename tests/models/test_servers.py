import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models import model_servers
from tests.models.chat_server import chat_server

from chapterhouse.models.discovery import (
    find_server,
)
from chapterhouse.models.servers import (
    ServedModel,
    entries,
    llama_cpp_server,
    lm_studio_models,
    ollama_address,
    ollama_model,
    plain_models,
    usual_addresses,
    vllm_models,
)


@pytest.mark.parametrize(
    ("pages", "kind", "slots", "models"),
    [
        (
            model_servers.ollama("qwen3:8b", "nomic-embed-text", loaded=("qwen3:8b",)),
            "ollama",
            0,
            [
                ServedModel("qwen3:8b", 4_096, 40_960, loaded=True, tools=True, thinks=True),
                ServedModel(
                    "nomic-embed-text", 0, 40_960, loaded=False, writes=False, tools=False,
                    thinks=False,
                ),
            ],
        ),
        (
            model_servers.lm_studio("qwen/qwen3-8b", "bge-m3-embed", loaded=("qwen/qwen3-8b",)),
            "lmstudio",
            0,
            [
                ServedModel("qwen/qwen3-8b", 8_192, 131_072, loaded=True, tools=True),
                ServedModel("bge-m3-embed", 0, 131_072, loaded=False, writes=False, tools=True),
            ],
        ),
        (
            model_servers.llama_cpp("model.gguf", 4),
            "llamacpp",
            4,
            [ServedModel("model.gguf", 4_096, 32_768, loaded=True)],
        ),
        (
            model_servers.vllm("Qwen/Qwen3-8B"),
            "vllm",
            0,
            [ServedModel("Qwen/Qwen3-8B", 16_384, 16_384, loaded=True)],
        ),
        ({"/v1/models": {"data": [{"id": "any"}]}}, "", 0, [ServedModel("any")]),
        (model_servers.ollama(), "ollama", 0, []),
    ],
)  # fmt: skip
def test_each_server_is_known_by_what_it_says(
    pages: Any, kind: str, slots: int, models: list[ServedModel]
) -> None:
    with chat_server(["Yes."], pages=pages) as server:
        found = find_server(server.origin)
    assert found is not None
    assert (found.kind, found.slots, found.problem) == (kind, slots, "")
    assert list(found.models) == models
    assert found.base_url == server.url


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["data", "models", "id", "name", "meta", "model_info", "x.context_length",
             "capabilities", "parameters", "default_generation_settings", "max_context_length"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@given(JSON, JSON)
def test_nonsense_is_never_an_error_and_names_are_as_they_look(one: Any, other: Any) -> None:
    listed = entries(one) or []
    models = [*vllm_models(listed), *plain_models(listed), *(lm_studio_models(one) or ())]
    server = llama_cpp_server("http://127.0.0.1:1", listed, other)
    models += [*(server.models if server else ()), ollama_model("m", one, other)]
    for model in models:
        assert model.name.isprintable()
        assert model.context >= 0
        assert model.longest >= 0
        json.dumps(model.name)


@pytest.mark.parametrize(
    ("named", "address"),
    [
        ("", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:99", "http://127.0.0.1:99"),
        (":99", "http://127.0.0.1:99"),
        ("[::1]:99", "http://[::1]:99"),
        ("::1", "http://[::1]:11434"),
        ("http://127.0.0.1", "http://127.0.0.1:80"),
        ("https://box:1/x", "https://box:1"),
        ("box:no", ""),
        ("127.0.0.1:99999", ""),
    ],
)
def test_a_variable_says_where_ollama_is(named: str, address: str) -> None:
    assert ollama_address(named) == address


def test_only_this_machine_is_asked() -> None:
    named = {"OLLAMA_HOST": "192.0.2.7", "LLAMA_ARG_PORT": "9090"}
    found = usual_addresses(named, "http://gpu-box:8000/v1")
    assert found == ("http://127.0.0.1:9090", "http://127.0.0.1:1234", "http://127.0.0.1:8000")
    assert usual_addresses({}, "http://localhost:77/v1")[0] == "http://localhost:77"
