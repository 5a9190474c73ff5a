"""What servers of models say of themselves, each in its own words, and when they say nonsense."""

import socket
from typing import Any

import pytest
from tests.models import model_servers
from tests.models.chat_server import Reply, chat_server

from chapterhouse.errors import EngineError
from chapterhouse.models import discovery
from chapterhouse.models.discovery import (
    check_language_model,
    find_server,
    find_servers,
    hosted_models,
    served_limits,
)
from chapterhouse.settings import LanguageModelSettings


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


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


def test_the_context_of_the_model_in_use_is_asked() -> None:
    with chat_server(["Yes."], pages=model_servers.vllm("a")) as server:
        settings = LanguageModelSettings(engine="openai", base_url=server.url, model="a")
        assert served_limits(settings) == (0, 0)  # what serves it is not stated, so nobody is asked
        assert not server.asked
        stated = settings.model_copy(update={"engine": "vllm"})
        assert served_limits(stated) == (16_384, 0)
        assert served_limits(stated.model_copy(update={"model": "b"})) == (0, 0)


def test_hosted_models_are_listed_with_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-canary")
    assert discovery.SECONDS < 1
    for engine, path, page in (
        ("openai", "/v1/models", {"data": [{"id": "a"}, {"id": "text-embedding-3"}]}),
        ("anthropic", "/v1/models", {"data": [{"id": "a"}]}),
        ("google", "/v1beta/openai/models", {"data": [{"id": "models/a"}]}),
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
