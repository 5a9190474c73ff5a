import asyncio
import json
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

from chapterhouse.errors import ChapterhouseError, EngineError, PromptTooLongError
from chapterhouse.models.chat import ChatModel
from chapterhouse.types import Tool

QUESTION = "When does the ferry leave?"
KEY = "sk-canary-8c41d7"
VARIABLE = "TEST_SERVICE_KEY"
ANYTHING = {"type": "object"}
EVENTS = {"Content-Type": "text/event-stream"}
Serve = Callable[..., tuple[ChatModel, ChatServer]]
# For writing that comes whole or in pieces, and plainly, as embedders and rerankers ask.
WAYS = pytest.mark.parametrize("way", ["whole", "stream", "plain"])


def ask(model: ChatModel, way: str = "whole", heard: list[str] | None = None) -> str:
    """Ask a service; return what came of it as text."""
    if way == "plain":
        return str(model._service.request("/chat/completions", {"messages": []}))
    pieces = [] if heard is None else heard
    hear = pieces.append if way == "stream" else None
    return asyncio.run(model.write("", QUESTION, on_text=hear)).text


def error_of(message: str) -> Any:
    return {"error": {"message": message, "type": "error", "code": None}}


def nowhere() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"http://127.0.0.1:{server.getsockname()[1]}/v1"


@WAYS
@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_some_errors_are_final(serve: Serve, slept: list[float], status: int, way: str) -> None:
    model, server = serve([Reply(status=status, body=error_of("no such"))])
    with pytest.raises(EngineError, match=f"answered {status}: no such") as caught:
        ask(model, way)
    assert server.origin in caught.value.message
    assert "language_model" in caught.value.hint
    assert len(server.requests) == 1
    assert not slept


@WAYS
@pytest.mark.parametrize("status", [408, 409, 429, 500, 503, 529])
def test_other_errors_may_pass(serve: Serve, slept: list[float], status: int, way: str) -> None:
    busy = Reply(status=status, body=error_of("busy"))
    model, server = serve([busy, busy, "At nine."])
    assert "At nine." in ask(model, way)
    assert slept == [0.25, 0.5]  # half of .5 and of 1
    assert len(server.requests) == 3


def test_trying_ends(serve: Serve, slept: list[float]) -> None:
    model, server = serve([Reply(status=503, body=b"overloaded")], attempts=4)
    for way in ("whole", "plain"):
        with pytest.raises(EngineError, match=r"503: overloaded \(after 4 tries\)"):
            ask(model, way)
    assert (len(server.requests), len(slept)) == (8, 6)
    with pytest.raises(EngineError, match="after 2 tries"):
        model._service.request("/chat/completions", {}, attempts=2)


@WAYS
def test_the_server_says_how_long_to_wait(serve: Serve, slept: list[float], way: str) -> None:
    busy = Reply(status=429, body={}, headers={"Retry-After": "7"})
    model, _ = serve([busy, "At nine."])
    ask(model, way)
    assert slept == [7.25]


@pytest.mark.parametrize(
    ("wait", "seconds", "way"), [("3600", 120, "whole"), ("30", 5, "whole"), ("3600", 5, "plain")]
)
def test_a_long_wait_is_for_the_user_to_decide(
    serve: Serve, slept: list[float], wait: str, seconds: int, way: str
) -> None:
    busy = Reply(status=429, body=b"later", headers={"Retry-After": wait})
    model, server = serve([busy], timeout_seconds=seconds)
    with pytest.raises(EngineError, match="429: later"):
        ask(model, way)
    assert len(server.requests) == 1
    assert not slept


def test_an_account_that_is_spent_is_not_asked_again(serve: Serve) -> None:
    body = {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}
    model, server = serve([Reply(status=429, body=body)])
    with pytest.raises(EngineError, match="current quota") as caught:
        ask(model)
    assert "account" in caught.value.hint
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "message",  # beside those of test_dialects
    [
        "Your input exceeds the context window of this model. Please adjust it.",
        "request (2100 tokens) exceeds the available context size (2048 tokens)",
        "prompt too long; exceeded max context length by 210 tokens",
        "The number of tokens to keep is greater than the context length (n_keep: 1)",
        "The decoder prompt (length 9) is longer than the maximum model length of 8.",
        "Please reduce the length of the messages or completion.",
        "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000",
    ],
)
def test_a_prompt_that_is_too_long_is_told(serve: Serve, message: str) -> None:
    model, server = serve([Reply(status=400, body=error_of(message))])
    with pytest.raises(PromptTooLongError, match="too long for the model") as caught:
        ask(model)
    assert caught.value.fits == 0.5
    assert "packing.maximum" in caught.value.hint
    assert len(server.requests) == 1


@WAYS
def test_no_server_is_told(serve: Serve, slept: list[float], way: str) -> None:
    model, _ = serve([""], base_url=nowhere(), attempts=3)
    with pytest.raises(EngineError, match=r"could not be reached.*after 3 tries") as caught:
        ask(model, way)
    assert "language_model.base_url" in caught.value.hint
    assert len(slept) == 2


@WAYS
def test_a_server_that_hangs_is_left(serve: Serve, way: str) -> None:
    model, server = serve([Reply("At nine.", seconds=20)], timeout_seconds=0.5)
    with pytest.raises(EngineError, match=r"within 0\.5 seconds") as caught:
        ask(model, way)
    assert "language_model.timeout_seconds" in caught.value.hint
    assert len(server.requests) == 1  # it may still be at it
    assert server.gone.wait(10)


@WAYS
def test_a_server_that_drips_is_left(serve: Serve, way: str) -> None:
    drop = Reply("At nine. " * 200, drip=0.05, body=None if way == "stream" else b" " * 1_000)
    model, server = serve([drop], timeout_seconds=1)
    heard: list[str] = []
    with pytest.raises(EngineError, match=r"within 1 seconds") as caught:
        ask(model, way, heard)
    assert ("broke off" in caught.value.message) == bool(heard)
    assert server.gone.wait(10)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("way", "cut"), [("stream", 0), ("stream", 1), ("whole", 40), ("plain", 40)]
)
def test_what_breaks_before_any_text_is_asked_for_again(serve: Serve, way: str, cut: int) -> None:
    model, server = serve([Reply("At nine.", cut=cut), "At nine."])
    heard: list[str] = []
    assert "At nine." in ask(model, way, heard)
    assert way != "stream" or "".join(heard) == "At nine."
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Reply("At nine and at ten.", cut=5), "The answer broke off"),
        (Reply("At nine and", finish="missing"), "ended too early"),
    ],
)
def test_a_broken_stream_is_told(serve: Serve, slept: list[float], reply: Reply, why: str) -> None:
    model, server = serve([reply])
    heard: list[str] = []
    with pytest.raises(EngineError, match=why):
        ask(model, "stream", heard)
    assert heard
    assert len(server.requests) == 1
    assert not slept


@pytest.mark.parametrize(
    ("status", "kind", "tries"),
    [(503, "server_error", 2), (429, "rate_limit_exceeded", 2), (0, "x", 1)],
)
def test_an_error_in_a_stream_is_one(serve: Serve, status: int, kind: str, tries: int) -> None:
    event = {"error": {"message": "it broke", "type": kind, "code": status or None}}
    body = f"data: {json.dumps(event)}\n\n".encode()
    model, server = serve([Reply(body=body, headers=EVENTS)], attempts=2)
    with pytest.raises(EngineError, match="it broke"):
        ask(model, "stream")
    assert len(server.requests) == tries


NO_JSON = [b'{"data": [', b"<html>Hello</html>", b"", b"[" * 100_000, b"data: nonsense\n\n"]
NO_ANSWERS = [
    *NO_JSON, b"null", b"[]", b"{}", b'"text"', b"\xff\xfe", b'{"choices": []}',
    b'{"choices": [{}]}', b'{"choices": 1}', b'{"content": 3, "candidates": 4}',
    b"event: odd\ndata: {}\n\n",
]  # fmt: skip


@pytest.mark.parametrize(
    ("way", "body"),
    [*((way, body) for way in ("whole", "stream") for body in NO_ANSWERS)]
    + [("plain", body) for body in NO_JSON],
)
def test_what_is_no_answer_is_told(serve: Serve, way: str, body: bytes) -> None:
    model, _ = serve([Reply(body=body)], attempts=2)
    with pytest.raises(EngineError) as caught:
        ask(model, way)
    assert len(caught.value.message) < 500
    assert caught.value.hint


def test_invisible_orders_in_an_error_are_taken_out(serve: Serve) -> None:
    model, _ = serve([Reply(status=400, body="a\u202e\u200b\nb\x1b[31m".encode())])
    with pytest.raises(EngineError) as caught:
        ask(model)
    assert "400: a b[31m" in caught.value.message


def test_cancelling_closes_the_connection(serve: Serve) -> None:
    model, server = serve([Reply("At nine. " * 100, drip=0.05)])

    async def cancelled() -> None:
        begun = asyncio.Event()
        task = asyncio.create_task(model.write("", QUESTION, on_text=lambda _: begun.set()))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert server.gone.wait(10)
    assert len(server.requests) == 1


@WAYS
def test_nothing_else_leaves(serve: Serve, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """Neither what libraries tell of this machine, nor what variables of others make them say."""
    for name in ("API_KEY", "ORG_ID", "PROJECT_ID", "ADMIN_KEY", "BASE_URL", "CUSTOM_HEADERS"):
        monkeypatch.setenv(f"OPENAI_{name}", "http://127.0.0.1:9/canary")
    model, server = serve(["At nine."])
    ask(model, way)
    (request,) = server.requests
    assert "canary" not in str(request)
    assert request.headers["user-agent"] == "chapterhouse"
    sent = {"accept", "accept-encoding", "connection", "content-length", "content-type", "host"}
    assert set(request.headers) <= {*sent, "user-agent"}


def test_a_plain_request_is_json_both_ways(serve: Serve) -> None:
    model, server = serve([Reply(body={"found": [1, "ü"]})])
    found = model._service.request("/thing", {"input": "Häfen 港 a\ud800b"})
    assert found == {"found": [1, "ü"]}
    (request,) = server.requests
    assert (request.path, request.body) == ("/v1/thing", {"input": "Häfen 港 a?b"})


@WAYS
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects_are_refused(serve: Serve, status: int, way: str) -> None:
    elsewhere = {"Location": "http://example.org/steal?key=1"}
    model, server = serve([Reply(status=status, headers=elsewhere)])
    with pytest.raises(EngineError, match=r"redirects to example\.org"):
        ask(model, way)
    assert len(server.requests) == 1


def test_cookies_are_not_kept(serve: Serve) -> None:
    model, server = serve([Reply(calls=[ToolCall("a")], headers={"Set-Cookie": "a=b"}), "Yes."])
    asyncio.run(model.write("", QUESTION, tools=[Tool("a", "", ANYTHING, lambda _: "b")]))
    ask(model, "plain")
    assert len(server.requests) == 3
    assert "cookie" not in str([request.headers for request in server.requests])


@WAYS
def test_a_proxy_is_used_when_asked(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    _, server = serve(["By proxy."])
    monkeypatch.setenv("http_proxy", server.origin)
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    address = nowhere()
    model, _ = serve([""], base_url=address, attempts=1)
    with pytest.raises(EngineError):
        ask(model, way)
    model, _ = serve([""], base_url=address, attempts=1, trust_environment=True)
    assert "By proxy." in ask(model, way)
    assert server.requests[0].path == f"{address}/chat/completions"


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
    for way in ("whole", "stream", "plain"):
        model, _ = serve([""], base_url=server.url)
        with pytest.raises(EngineError, match="does not trust") as caught:
            ask(model, way)
        assert "language_model.trust_environment" in caught.value.hint
    assert not server.requests
    assert not slept
    for way in ("whole", "stream", "plain"):
        model, _ = serve([""], base_url=server.url, trust_environment=True)
        assert "Secret." in ask(model, way)


@WAYS
def test_the_key_is_sent(serve: Serve, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    monkeypatch.setenv(VARIABLE, f"{KEY}\n")
    model, server = serve(["Yes."], key_variable=VARIABLE)
    ask(model, way)
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    model, server = serve(["Yes."])
    ask(model, way)
    assert "authorization" not in server.requests[0].headers
    monkeypatch.delenv(VARIABLE)
    model, server = serve(["Yes."], key_variable=VARIABLE)
    with pytest.raises(EngineError, match=f"variable {VARIABLE}.*is not set"):
        ask(model, way)
    assert not server.requests


LEAKS: dict[str, Callable[[str], Reply]] = {
    "answer": lambda said: Reply(body=said.encode()),
    "400": lambda said: Reply(status=400, body={"error": {"message": said}}),
    "401": lambda said: Reply(status=401, body=said.encode()),
    "429": lambda said: Reply(status=429, body=said.encode()),
    "500": lambda said: Reply(status=500, body={"error": said}),
    "redirect": lambda _: Reply(status=302, headers={"Location": f"http://{KEY}.org/"}),
    "hang": lambda _: Reply(seconds=20),
    "cut": lambda _: Reply("At nine. At ten.", cut=5),
    "filter": lambda said: Reply(refusal=said, finish="refusal"),
    "nothing": lambda _: Reply(""),
    "stream": lambda said: Reply(
        body=f'data: {{"error": {{"message": "{said}"}}}}\n\n'.encode(), headers=EVENTS
    ),
}


@pytest.mark.parametrize(
    ("leak", "way"),
    [(leak, way) for leak in LEAKS for way in ("whole", "stream")]
    + [(leak, "plain") for leak in LEAKS if leak not in {"filter", "nothing"}],
)
def test_the_key_is_never_shown(
    serve: Serve,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    leak: str,
    way: str,
) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    reply = LEAKS[leak](f"bad key {KEY} was sent")
    seconds = 1 if leak == "hang" else 60
    model, server = serve([reply], key_variable=VARIABLE, attempts=2, timeout_seconds=seconds)
    with caplog.at_level(logging.DEBUG), pytest.raises(ChapterhouseError) as caught:
        ask(model, way)
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
