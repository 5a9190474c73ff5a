"""What servers of models say of themselves, each in its own words, and when they say nonsense."""

import json
import socket
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models import model_servers
from tests.models.chat_server import Reply, chat_server

from chapterhouse.errors import EngineError
from chapterhouse.models import discovery
from chapterhouse.models.discovery import (
    check_language_model,
    find_server,
    find_servers,
    hosted_models,
    served_context,
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
from chapterhouse.settings import LanguageModelSettings


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


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
            "lm-studio",
            0,
            [
                ServedModel("qwen/qwen3-8b", 8_192, 131_072, loaded=True, tools=True),
                ServedModel("bge-m3-embed", 0, 131_072, loaded=False, writes=False, tools=True),
            ],
        ),
        (
            model_servers.llama_cpp("model.gguf", 4),
            "llama.cpp",
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


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        (Reply(body=b"<html>Not for you</html>"), "answers, but not as a server of models"),
        (Reply(body={"error": "Unexpected endpoint"}), "answers, but not as a server of models"),
        (Reply(body=[1, 2]), "answers, but not as a server of models"),
        (Reply(status=404, body=b"<html>"), "answers, but not as a server of models"),
        (Reply(body=b"[" * 100_000), "answers, but not as a server of models"),
        (Reply(body=b" " * (9 * 2**20)), "answers, but not as a server of models"),
        (Reply(status=401, body={"error": "no"}), "wants a key"),
        (Reply(status=500, body=b"<p>sorry"), "answers 500"),
        (
            Reply(status=503, body={"error": {"message": "Loading\x1b[31m model"}}),
            "answers 503: Loading[31m model",
        ),
        (
            Reply(status=302, body=b"", headers={"Location": "http://192.0.2.1/"}),
            "redirects elsewhere, which is not followed",
        ),
        (Reply(body={"data": []}, seconds=60), "did not answer in time"),
    ],
)
def test_what_is_no_server_of_models_is_told(page: Reply, problem: str) -> None:
    with chat_server(["Yes."], pages={"/v1/models": page}) as server:
        found = find_server(server.origin)
    assert found is not None
    assert found.problem == problem
    assert not found.models


def test_nobody_there_is_nothing_and_two_are_two() -> None:
    nobody = f"http://127.0.0.1:{closed_port()}"
    with (
        chat_server(["Yes."], pages=model_servers.vllm("a")) as one,
        chat_server(["Yes."], pages=model_servers.ollama("b")) as other,
    ):
        found = find_servers([nobody, one.origin, other.origin])
    assert [server.kind for server in found] == ["vllm", "ollama"]
    assert find_server(nobody) is None


def test_a_server_that_describes_slowly_still_has_its_names() -> None:
    pages = model_servers.ollama("a")
    pages["/api/show"] = Reply(body={}, seconds=60)
    with chat_server(["Yes."], pages=pages) as server:
        found = find_server(server.origin)
    assert found is not None
    assert [model.name for model in found.models] == ["a"]


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


def test_the_context_of_the_model_in_use_is_asked() -> None:
    with chat_server(["Yes."], pages=model_servers.vllm("a")) as server:
        settings = LanguageModelSettings(engine="openai", base_url=server.url, model="a")
        assert served_context(settings) == 0  # what serves it is not stated, so nobody is asked
        assert not server.asked
        stated = settings.model_copy(update={"server": "vllm"})
        assert served_context(stated) == 16_384
        assert served_context(stated.model_copy(update={"model": "b"})) == 0


def test_hosted_models_are_listed_with_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-canary")
    assert discovery.SECONDS < 1
    for engine, path, page in (
        ("openai", "/v1/models", {"data": [{"id": "a"}, {"id": "text-embedding-3"}]}),
        ("anthropic", "/v1/models?limit=200", {"data": [{"id": "a"}]}),
        ("google", "/v1beta/models?pageSize=200", {"models": [{"name": "models/a"}]}),
    ):
        with chat_server(["Yes."], pages={path: page}) as server:
            url = server.url if engine == "openai" else server.origin
            settings = LanguageModelSettings.model_validate(
                {"engine": engine, "base_url": url, "model": "-", "key_variable": "SOME_KEY"}
            )
            assert hosted_models(settings) == ("a",)
    with chat_server(["Yes."]) as server:
        away = LanguageModelSettings(engine="openai", base_url=server.url, model="-")
    with pytest.raises(EngineError, match="could not be reached"):
        hosted_models(away)


def test_how_a_model_does() -> None:
    def said(**values: Any) -> tuple[bool, str]:
        check = check_language_model(LanguageModelSettings.model_validate(values))
        assert check is not None
        return check.passed, check.sentence

    assert check_language_model(LanguageModelSettings()) is None
    common = {"engine": "openai", "model": "a"}
    with chat_server(["Yes."], pages=model_servers.vllm("a")) as server:
        here = {**common, "base_url": server.origin}
        good = (True, f"a at {server.url} (vLLM, 16,384 tokens, 1 call at once).")
        assert said(**here, calls_at_once=1) == good
        assert said(**{**here, "model": "b"}) == (
            False, f"b at {server.url}: vLLM has no such model."
        )  # fmt: skip
    assert not said(**here)[0]
    assert "nobody answers" in said(**here)[1]
    assert said(**common, base_url="https://api.example.org/v1") == (
        True, "a at https://api.example.org/v1 (not asked)."
    )  # fmt: skip
