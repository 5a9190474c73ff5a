import io
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keyring
import keyring.backend
import pytest
from tests.models import model_servers
from tests.models.chat_server import ChatServer, Reply, chat_server

from chapterhouse.interfaces.cli import model_choice
from chapterhouse.models import presets

KEY = "sk-canary-0451"


class MemoryKeyring(keyring.backend.KeyringBackend):
    priority = 1

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # the library's
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryKeyring]:
    for named in presets.HOSTED.values():
        for variable in named.variables:
            monkeypatch.delenv(variable, raising=False)
    for engine in model_choice.USUAL:
        nowhere = presets.Preset(presets.PRESETS[engine].title, "http://127.0.0.1:1/v1")
        monkeypatch.setitem(presets.PRESETS, engine, nowhere)
    before, ring = keyring.get_keyring(), MemoryKeyring()
    keyring.set_keyring(ring)
    yield ring
    keyring.set_keyring(before)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "house"


def serves(monkeypatch: pytest.MonkeyPatch, server: ChatServer, engine: str = "ollama") -> None:
    monkeypatch.setitem(
        presets.PRESETS, engine, presets.Preset(presets.PRESETS[engine].title, server.url)
    )


def settings(home: Path) -> dict[str, Any]:
    return tomllib.loads((home / "chapterhouse.toml").read_text())


def test_one_command_leads_to_a_cited_answer(
    chapterhouse: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = ("--home", str(home))
    pages = model_servers.ollama("qwen3:8b", "nomic-embed-text")
    with chat_server(model_servers.good, pages=pages, slots=1) as server:
        serves(monkeypatch, server)
        told = chapterhouse("model", "use", *place)
        assert told.code == 0, told.err
        assert f"[1] “{model_servers.LINE}”" in told.out
        assert f"Written to {home}/chapterhouse.toml, line 1." in told.out
        assert "ok  It answered and cited the right line." in told.out
        assert settings(home)["language_model"] == {
            "engine": "ollama",
            "model": "qwen3:8b",
            "maximum_tokens": 4_096,
            "timeout_seconds": 300.0,
        }
        assert [path.name for path in home.iterdir()] == ["chapterhouse.toml"]
        listed = chapterhouse("model", "list", *place)
        assert listed.code == 0
        assert f"Language model: qwen3:8b at {server.url}." in listed.out
        (home.parent / "ferry.md").write_text(f"# Ferry\n\n{model_servers.LINE}\n")
        chapterhouse("add", str(home.parent / "ferry.md"), *place)
        asked = chapterhouse("ask", "When does the ferry to Osk leave?", "--json", *place)
        assert asked.data["method"] == "ollama/qwen3:8b"
        assert asked.data["citations"][0]["quote"] == model_servers.LINE
        status = chapterhouse("status", *place).out
        assert f"qwen3:8b at {server.url} (Ollama)." in status
        assert chapterhouse("doctor", *place).code == 0
    told = chapterhouse("doctor", *place)
    assert told.code == 1
    assert "could not be reached" in told.out
    check = chapterhouse("status", "--json", *place).data["language_model"]
    assert check["passed"] is False


def test_what_cannot_be_done_is_told(chapterhouse: Any, home: Path) -> None:
    for arguments, code, sentence in (
        (("use",), 2, "Nothing answers at the usual addresses of Ollama and LM Studio."),
        (("use", "nobody:1b"), 2, "Nothing answers at the usual addresses"),
        (("use", "ollama"), 1, "http://127.0.0.1:1/v1 could not be reached"),
        (("use", "openai/gpt-x"), 2, "There is no key of OpenAI."),
        (("use", "http://127.0.0.1:1/v1"), 1, "http://127.0.0.1:1/v1 could not be reached"),
        (("use", "a", "--embedder", "built-in"), 2, "one thing at a time"),
        (("use", "--reranker", "nowhere"), 2, "neither a folder nor an address"),
        (("use", "--reranker", "http://h/v1"), 2, "several models"),
        (("test",), 2, "No language model is chosen."),
        (("test", "fast"), 2, "no model 'fast'"),
    ):
        told = chapterhouse("model", *arguments, "--home", str(home))
        assert (told.code, sentence in told.err) == (code, True), told.err
    assert not (home / "chapterhouse.toml").exists()


@pytest.mark.parametrize("ending", ["", "/v1/chat/completions", "/v1/model.gguf"])
def test_an_address_may_be_written_with_its_model(
    chapterhouse: Any, home: Path, ending: str
) -> None:
    with chat_server(model_servers.good, pages=model_servers.llama_cpp(slots=4)) as server:
        told = chapterhouse("model", "use", server.origin + ending, "--home", str(home))
        written = settings(home)["language_model"]
    assert told.code == 0, told.err
    assert written == {
        "engine": "llamacpp", "base_url": server.url, "model": "model.gguf", "calls_at_once": 4,
        "maximum_tokens": 4_096, "timeout_seconds": 300.0,
    }  # fmt: skip
    assert "It takes 4,096 tokens" in told.out


def test_a_model_at_an_address_has_a_name_with_slashes(chapterhouse: Any, home: Path) -> None:
    place = ("--home", str(home))
    with chat_server(model_servers.good, pages=model_servers.vllm("org/a", "org/b")) as server:
        assert chapterhouse("model", "use", f"{server.origin}/org/b", *place).code == 0
        assert settings(home)["language_model"]["model"] == "org/b"
        assert chapterhouse("model", "use", server.url, "--model", "org/a", *place).code == 0
        assert settings(home)["language_model"]["model"] == "org/a"
        told = chapterhouse("model", "use", f"{server.url}/org/c", *place)
        assert (told.code, "There are: org/a, org/b" in told.err) == (2, True)
    failing = Reply(status=400, body={"error": "bad model"})
    with chat_server([failing], pages=model_servers.vllm("a")) as server:
        told = chapterhouse("model", "use", server.url, *place)
        assert (told.code, "answered 400: bad model" in told.err) == (1, True)
        assert settings(home)["language_model"]["model"] == "a"
    with chat_server(model_servers.good) as server:  # which does not list its models
        told = chapterhouse("model", "use", f"{server.url}/org/d", *place)
        assert told.code == 0, told.err
        assert settings(home)["language_model"]["engine"] == "openai"
        assert chapterhouse("model", "use", server.url, *place).code == 1


def test_among_several_one_must_be_named(
    chapterhouse: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = ("--home", str(home))
    with (
        chat_server(model_servers.good, pages=model_servers.ollama("a", "b:latest")) as one,
        chat_server(model_servers.good, pages=model_servers.lm_studio("a")) as other,
    ):
        serves(monkeypatch, one)
        told = chapterhouse("model", "use", *place)
        assert (told.code, "Name one: a, b:latest" in told.err) == (2, True)
        assert chapterhouse("model", "use", "b", *place).code == 0
        assert settings(home)["language_model"]["model"] == "b:latest"
        serves(monkeypatch, other, "lmstudio")
        assert chapterhouse("model", "use", "a", *place).code == 2  # both have it
        assert chapterhouse("model", "use", "lmstudio/a", *place).code == 0
        assert settings(home)["language_model"]["engine"] == "lmstudio"
        monkeypatch.setattr(model_choice, "may_ask", lambda **_: True)
        monkeypatch.setattr("typer.prompt", lambda *_, **__: 2)
        assert chapterhouse("model", "use", "a", *place).code == 0
        assert settings(home)["language_model"]["engine"] == "lmstudio"
        told = chapterhouse("model", "use", "nobody", *place)
        assert (told.code, "no model 'nobody'" in told.err) == (2, True)


def test_a_key_goes_from_standard_input_to_the_keyring(
    chapterhouse: Any, home: Path, nobody: MemoryKeyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{KEY}\n"))
    with chat_server(model_servers.good, pages=model_servers.vllm("a")) as server:
        told = chapterhouse("model", "use", server.url, "--key", "--home", str(home))
        sent = {request.headers["authorization"] for request in server.requests}
    assert told.code == 0, told.err
    assert nobody.kept == {("chapterhouse", "127.0.0.1"): KEY}
    assert sent == {f"Bearer {KEY}"}
    assert settings(home)["language_model"]["key_entry"] == "chapterhouse/127.0.0.1"
    assert KEY not in told.out + told.err + (home / "chapterhouse.toml").read_text()


def test_a_hosted_service_is_used_with_its_key(
    chapterhouse: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    place = ("--home", str(home))
    pages = {"/v1/models": {"data": [{"id": "gpt-a"}, {"id": "gpt-b"}]}}
    with chat_server(model_servers.good, pages=pages) as server:
        near = presets.Preset("OpenAI", server.url, ("OPENAI_API_KEY",))
        monkeypatch.setitem(presets.PRESETS, "openai", near)
        told = chapterhouse("model", "use", "openai", *place)
        assert (told.code, "gpt-a" in told.err) == (2, True)
        told = chapterhouse("model", "use", "openai/gpt-b", *place)
        assert told.code == 0, told.err
        assert "are sent to OpenAI" in told.out
    written = settings(home)["language_model"]
    assert (written["model"], written["key_variable"]) == ("gpt-b", "OPENAI_API_KEY")
    assert KEY not in told.out + told.err


def test_another_model_rewrites_questions(
    chapterhouse: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = ("--home", str(home))
    with chat_server(model_servers.good, pages=model_servers.vllm("large", "small")) as server:
        chapterhouse("model", "use", server.url, "--model", "large", *place)
        told = chapterhouse("model", "use", server.url, "--model", "small", "--rewriting", *place)
        assert told.code == 0, told.err
        written = settings(home)
        assert written["expansion"] == {"model": "rewriting"}
        assert written["language_model"]["model"] == "large"
        assert written["models"]["rewriting"]["model"] == "small"
        (home.parent / "ferry.md").write_text(f"# Ferry\n\n{model_servers.LINE}\n")
        chapterhouse("add", str(home.parent / "ferry.md"), *place)
        server.requests.clear()
        monkeypatch.setenv("CHAPTERHOUSE_EXPANSION__REWRITE", "always")
        chapterhouse("ask", "When does the ferry to Osk leave?", *place)
        monkeypatch.delenv("CHAPTERHOUSE_EXPANSION__REWRITE")
        asked = {(r.body["model"], "excerpt" in r.system.lower()) for r in server.requests}
        assert {model for model, _ in asked} == {"large", "small"}
        assert sum(r.body["model"] == "large" for r in server.requests) == 1
    assert chapterhouse("model", "use", "none", "--rewriting", *place).code == 0
    assert settings(home)["expansion"] == {}


def test_a_reranker_is_tried_before_it_is_written(chapterhouse: Any, home: Path) -> None:
    place = ("--home", str(home))
    results = [{"index": 0, "relevance_score": 0.1}, {"index": 1, "relevance_score": 0.9}]
    with chat_server(["Yes."], pages={"/v1/rerank": {"results": results}}) as server:
        use = ("model", "use", "--reranker", server.url, "--model", "r", *place)
        told = chapterhouse(*use)
        assert told.code == 0, told.err
        assert "behind one that does not" in told.out
        assert settings(home)["rerank"] == {"engine": "http", "base_url": server.url, "model": "r"}
        server.pages = {"/v1/rerank": Reply(status=404, body={"error": "no"})}
        before = (home / "chapterhouse.toml").read_text()
        assert chapterhouse(*use).code == 1
        assert (home / "chapterhouse.toml").read_text() == before
    assert chapterhouse("model", "use", "--reranker", "features", *place).code == 0
    assert settings(home)["rerank"] == {"engine": "features"}
