"""Language models over HTTP: where a request and its key go, and where they do not."""

import asyncio
import logging
import shutil
import socket
import ssl
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.models.chat_server import ChatServer, Reply, ToolCall

from chapterhouse.errors import ChapterhouseError, EngineError, UsageError
from chapterhouse.models.chat import ChatModel
from chapterhouse.models.opening import open_language_model
from chapterhouse.settings import LanguageModelSettings
from chapterhouse.types import Tool

QUESTION = "When does the ferry leave?"
KEY = "sk-canary-8c41d7"
VARIABLE = "TEST_SERVICE_KEY"
Serve = Callable[..., tuple[ChatModel, ChatServer]]
STREAMS = pytest.mark.parametrize("stream", [False, True])


def write(model: ChatModel, heard: list[str] | None = None) -> str:
    hear = None if heard is None else heard.append
    return asyncio.run(model.write("", QUESTION, on_text=hear)).text


@STREAMS
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects_are_refused(serve: Serve, status: int, *, stream: bool) -> None:
    elsewhere = {"Location": "http://example.org/steal?key=1"}
    model, server = serve([Reply(status=status, headers=elsewhere)])
    with pytest.raises(EngineError, match=r"redirects to example\.org"):
        write(model, [] if stream else None)
    assert len(server.requests) == 1


def test_cookies_are_not_kept(serve: Serve) -> None:
    model, server = serve([Reply(calls=[ToolCall("a")], headers={"Set-Cookie": "a=b"}), "Yes."])
    tool = Tool("a", "", {"type": "object"}, lambda _: "b")
    asyncio.run(model.write("", QUESTION, tools=[tool]))
    assert len(server.requests) == 2
    assert "cookie" not in server.requests[1].headers


def test_a_proxy_of_the_environment_is_used_only_when_asked(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, server = serve(["By proxy."])
    monkeypatch.setenv("http_proxy", server.origin)
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
    nowhere = f"http://127.0.0.1:{port}/v1"
    model, _ = serve([""], base_url=nowhere, attempts=1)
    with pytest.raises(EngineError):
        write(model)
    model, _ = serve([""], base_url=nowhere, attempts=1, trust_environment=True)
    assert write(model) == "By proxy."
    assert server.requests[0].path == f"{nowhere}/chat/completions"


def test_a_certificate_must_be_trusted(
    serve: Serve, slept: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl to make a certificate with")
    own, key = tmp_path / "own.pem", tmp_path / "key.pem"
    new = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
    where = f"-addext subjectAltName=IP:127.0.0.1 -keyout {key} -out {own}"
    subprocess.run([openssl, *new.split(), *where.split()], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(own, key)
    _, server = serve(["Secret."])
    server.encrypt(context)
    monkeypatch.setenv("SSL_CERT_FILE", str(own))
    model, _ = serve([""], base_url=server.url)
    with pytest.raises(EngineError, match="does not trust") as caught:
        write(model)
    assert "language_model.trust_environment" in caught.value.hint
    assert not server.requests
    assert not slept
    model, _ = serve([""], base_url=server.url, trust_environment=True)
    assert write(model, []) == "Secret."


def test_the_key_is_sent_and_nothing_else_where_there_is_none(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, f"{KEY}\n")
    model, server = serve(["Yes."], key_variable=VARIABLE)
    write(model)
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    model, server = serve(["Yes."])
    write(model)
    assert "authorization" not in server.requests[0].headers


LEAKS: dict[str, Callable[[str], Reply]] = {
    "answer": lambda said: Reply(body=said.encode()),
    "400": lambda said: Reply(status=400, body={"error": {"message": said}}),
    "401": lambda said: Reply(status=401, body=said.encode()),
    "429": lambda said: Reply(status=429, body=said.encode()),
    "500": lambda said: Reply(status=500, body={"error": said}),
    "redirect": lambda _: Reply(status=302, headers={"Location": f"http://{KEY}.org/"}),
    "filter": lambda said: Reply(refusal=said, finish="refusal"),
    "stream": lambda said: Reply(
        body=f'data: {{"error": {{"message": "{said}"}}}}\n\n'.encode(),
        headers={"Content-Type": "text/event-stream"},
    ),
    "hang": lambda _: Reply(seconds=20),
    "cut": lambda _: Reply("At nine. At ten.", cut=5),
    "nothing": lambda _: Reply(""),
}


@STREAMS
@pytest.mark.parametrize("leak", LEAKS)
def test_the_key_is_never_shown(
    serve: Serve,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    leak: str,
    *,
    stream: bool,
) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    reply = LEAKS[leak](f"bad key {KEY} was sent")
    seconds = 1 if leak == "hang" else 60
    model, server = serve([reply], key_variable=VARIABLE, attempts=2, timeout_seconds=seconds)
    with caplog.at_level(logging.DEBUG), pytest.raises(ChapterhouseError) as caught:
        write(model, [] if stream else None)
    shown = [repr(model), repr(vars(model))]
    if leak != "redirect":  # httpcore2 logs the headers that a server sends, whatever they say
        shown.append(caplog.text)
    error: BaseException | None = caught.value
    while error is not None:
        shown += [repr(error), str(vars(error)), str(getattr(error, "hint", ""))]
        error = error.__cause__ or error.__context__  # even what is suppressed
    for text in shown:
        assert KEY not in text
    assert any(KEY in str(request.headers) for request in server.requests)
    if leak in {"400", "401", "429", "500"}:
        assert "[key]" in caught.value.message


def test_a_missing_key_is_told_without_asking(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    model, server = serve(["Yes."], key_variable=VARIABLE)
    with pytest.raises(EngineError, match=f"variable {VARIABLE}.*is not set"):
        write(model)
    assert not server.requests


@pytest.mark.parametrize("engine", ["openai", "anthropic", "google", "vllm"])
def test_a_key_does_not_travel_unencrypted_abroad(engine: Any) -> None:
    def opened(**changes: Any) -> None:
        values = {"engine": engine, "model": "m", "key_variable": VARIABLE, **changes}
        open_language_model(LanguageModelSettings.model_validate(values))

    with pytest.raises(UsageError, match=r"unencrypted to api\.example\.org"):
        opened(base_url="http://api.example.org")
    opened()  # at its own address, which is encrypted, or of this machine
    opened(base_url="http://gpu-box:8000")
