from typing import Any

import pytest
from tests.models import model_servers
from tests.models.chat_server import Reply, chat_server

from chapterhouse.errors import EngineError
from chapterhouse.models.served import check_language_model, is_loopback, list_models, served_limits
from chapterhouse.settings import LanguageModelSettings

KEY = "sk-canary-9b1f"


def settings(engine: str, base_url: str, model: str = "a", **more: Any) -> LanguageModelSettings:
    values = {"engine": engine, "base_url": base_url, "model": model, **more}
    return LanguageModelSettings.model_validate(values)


@pytest.mark.parametrize(
    ("engine", "pages", "limits"),
    [
        ("ollama", model_servers.ollama("a:latest", loaded=("a:latest",)), (4_096, 0)),
        ("ollama", model_servers.ollama("a"), (0, 0)),  # not known before it is loaded
        ("lmstudio", model_servers.lm_studio("a", loaded=("a",)), (8_192, 0)),
        ("lmstudio", model_servers.lm_studio("a"), (0, 0)),
        ("llamacpp", model_servers.llama_cpp("model.gguf", slots=4), (4_096, 4)),
        ("vllm", model_servers.vllm("a"), (16_384, 0)),
        ("vllm", model_servers.vllm("b"), (0, 0)),
        ("vllm", {"/v1/models": {"data": [{"id": "a", "max_model_len": "many"}]}}, (0, 0)),
        ("llamacpp", {"/props": [1]}, (0, 0)),
        ("llamacpp", {"/props": {"default_generation_settings": 3}}, (0, 0)),
        ("ollama", {}, (0, 0)),
    ],
)
def test_each_server_says_its_limits(engine: str, pages: Any, limits: tuple[int, int]) -> None:
    with chat_server(["Yes."], pages=pages) as server:
        assert served_limits(settings(engine, server.url)) == limits
        server.asked.clear()
        assert served_limits(settings("openai", server.url)) == (0, 0)
        assert not server.asked  # what serves it is not stated


@pytest.mark.parametrize(
    ("pages", "engine"),
    [
        (model_servers.ollama("a", "nomic-embed-text"), "ollama"),
        (model_servers.lm_studio("a", "text-embedding-x"), "lmstudio"),
        (model_servers.llama_cpp("a"), "llamacpp"),
        (model_servers.vllm("a", "bge-m3"), "vllm"),
        (
            {"/v1/models": {"data": [{"id": "a"}, {"id": "b\u202e"}, {"id": "x" * 300}, 3]}},
            "openai",
        ),
        ({"/v1/models": {"data": [{"id": "models/a"}]}}, "openai"),
    ],
)
def test_the_program_is_known_by_the_owner_of_its_models(pages: Any, engine: str) -> None:
    with chat_server(["Yes."], pages=pages) as server:
        served = list_models(settings("openai", server.url))
    assert (served.engine, served.models) == (engine, ("a",))


def test_the_key_is_sent_and_what_is_no_list_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", KEY)
    pages: dict[str, Any] = {"/v1/models": {"data": "none"}}
    with chat_server(["Yes."], pages=pages) as server:
        wanted = settings("openai", server.url, key_variable="SOME_KEY")
        with pytest.raises(EngineError, match="not as a server of models"):
            list_models(wanted)
        pages["/v1/models"] = Reply(status=401, body={"error": f"bad key {KEY}"})
        with pytest.raises(EngineError, match=r"answered 401: bad key \[key\]"):
            list_models(wanted)


def test_how_a_model_does() -> None:
    def report(**values: Any) -> tuple[bool, str]:
        check = check_language_model(LanguageModelSettings.model_validate(values))
        assert check is not None
        return check.passed, check.sentence

    assert check_language_model(LanguageModelSettings()) is None
    common = {"engine": "vllm", "model": "a"}
    with chat_server(["Yes."], pages=model_servers.vllm("a")) as server:
        here = {**common, "base_url": server.origin}
        assert report(**here, calls_at_once=1, context_size=16_384) == (
            True,
            f"a at {server.url} (vLLM, 16,384 tokens, 1 call at once).",
        )
        missing = (False, f"b at {server.url}: there is no such model.")
        assert report(**{**here, "model": "b"}) == missing
    assert not report(**here)[0]
    assert "could not be reached" in report(**here)[1]
    away = {**common, "base_url": "https://api.example.org/v1"}
    assert report(**away) == (True, "a at https://api.example.org/v1 (not asked).")


@pytest.mark.parametrize(
    ("url", "near"),
    [
        ("http://localhost:1/v1", True),
        ("http://127.0.0.1", True),
        ("http://[::1]:8000", True),
        ("http://192.168.1.2", False),
        ("https://example.org", False),
        ("http://localhost.example.org", False),
    ],
)
def test_this_machine_is_known_by_its_address(url: str, *, near: bool) -> None:
    assert is_loopback(url) == near
