"""Language models over HTTP: where a request and its key go, and where they do not."""

import asyncio
import logging
import shutil
import socket
import ssl
import subprocess
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.models.chat_server import ChatServer, Reply, ToolCall

from chapterhouse.errors import ChapterhouseError, EngineError, UsageError
from chapterhouse.models.writer import PydanticWriter
from chapterhouse.settings import LanguageModelSettings
from chapterhouse.types import Tool

ENGINES = ("openai", "anthropic", "google")
QUESTION = "When does the ferry leave?"
KEY = "sk-canary-8c41d7"
VARIABLE = "TEST_SERVICE_KEY"
Serve = Callable[..., tuple[PydanticWriter, ChatServer]]
STREAMS = pytest.mark.parametrize("stream", [False, True])


def with_engines(values: Iterable[Any]) -> list[tuple[str, Any, bool]]:
    """Return each value with each engine, every other one streamed."""
    pairs = product(enumerate(values), enumerate(ENGINES))
    return [(engine, value, (i + j) % 2 == 1) for (i, value), (j, engine) in pairs]


def write(model: PydanticWriter, heard: list[str] | None = None) -> str:
    hear = None if heard is None else heard.append
    return asyncio.run(model.write("", QUESTION, on_text=hear)).text


@STREAMS
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects_are_refused(serve: Serve, engine: str, status: int, *, stream: bool) -> None:
    elsewhere = {"Location": "http://example.org/steal?key=1"}
    model, server = serve([Reply(status=status, headers=elsewhere)], engine)
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


@pytest.mark.parametrize("engine", ENGINES)
def test_a_certificate_must_be_trusted(
    serve: Serve, slept: list[float], engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
    _, server = serve(["Secret."], engine)
    server.encrypt(context)
    monkeypatch.setenv("SSL_CERT_FILE", str(own))
    model, _ = serve([""], engine, base_url=server.url)
    with pytest.raises(EngineError, match="does not trust") as caught:
        write(model)
    assert "language_model.trust_environment" in caught.value.hint
    assert not server.requests
    assert not slept
    model, _ = serve([""], engine, base_url=server.url, trust_environment=True)
    assert write(model, []) == "Secret."


@pytest.mark.parametrize(
    ("engine", "header", "value"),
    [
        ("openai", "authorization", f"Bearer {KEY}"),
        ("anthropic", "x-api-key", KEY),
        ("google", "x-goog-api-key", KEY),
    ],
)
def test_the_key_is_sent_and_nothing_else_where_there_is_none(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, engine: str, header: str, value: str
) -> None:
    monkeypatch.setenv(VARIABLE, f"{KEY}\n")
    model, server = serve(["Yes."], engine, key_variable=VARIABLE)
    write(model)
    assert server.requests[0].headers[header] == value
    assert KEY not in server.requests[0].path
    model, server = serve(["Yes."], engine)
    write(model)
    assert not {"authorization", "x-api-key", "x-goog-api-key"} & set(server.requests[0].headers)


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


@pytest.mark.parametrize(("engine", "leak", "stream"), with_engines(LEAKS))
def test_the_key_is_never_shown(
    serve: Serve,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    engine: str,
    leak: str,
    *,
    stream: bool,
) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    reply = LEAKS[leak](f"bad key {KEY} was sent")
    seconds = 1 if leak == "hang" else 60
    model, server = serve(
        [reply], engine, key_variable=VARIABLE, attempts=2, timeout_seconds=seconds
    )
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


@pytest.mark.parametrize("engine", ["anthropic", "google"])
def test_a_key_does_not_travel_unencrypted_abroad(engine: Any) -> None:
    def opened(**changes: Any) -> PydanticWriter:
        values = {"engine": engine, "model": "m", "key_variable": VARIABLE, **changes}
        return PydanticWriter(LanguageModelSettings.model_validate(values))

    with pytest.raises(UsageError, match=r"unencrypted to api\.example\.org"):
        opened(base_url="http://api.example.org")
    opened()  # at its own address, which is encrypted
    opened(base_url="http://gpu-box:8000")
