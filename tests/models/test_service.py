"""Plain requests to model services, against a real server that does what servers do."""

import logging
import shutil
import socket
import ssl
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from chapterhouse.errors import EngineError
from chapterhouse.models.keys import KeySource
from chapterhouse.models.opening import open_embedder
from chapterhouse.models.service import Service
from chapterhouse.settings import EmbeddingSettings

KEY = "sk-not-a-real-key-8c41"
VARIABLE = "TEST_SERVICE_KEY"
Open = Callable[..., Any]


@pytest.fixture
def slept() -> list[float]:
    return []


class Asker:
    """What asks one thing of a service."""

    def __init__(self, service: Service) -> None:
        self.service = service

    def post(self, body: Mapping[str, object], attempts: int = 0) -> object:
        return self.service.request("/thing", body, attempts)


@pytest.fixture
def connect(service: Any, slept: list[float]) -> Open:
    """Make what asks the service and does not really wait."""

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    def make(key_variable: str = "", **changes: Any) -> Asker:
        values = {"url": f"{service.url}/v1", "section": "embedding"} | changes
        source = KeySource("embedding", key_variable)
        return Asker(Service(source=source, sleep=sleep, jitter=lambda: 0.5, **values))

    return make


def test_an_answer_comes_back(service: Any, connect: Open) -> None:
    service.says(service.reply({"found": [1, "ü"]}))
    assert connect().post({"input": "Häfen 港"}) == {"found": [1, "ü"]}
    (request,) = service.asked
    assert request.path == "/v1/thing"
    assert request.body == {"input": "Häfen 港"}
    assert "authorization" not in {name.lower() for name in request.headers}


def test_a_lone_surrogate_does_not_stop_a_request(service: Any, connect: Open) -> None:
    service.says(service.reply({}))
    connect().post({"input": "a\ud800b"})
    assert service.asked[0].body == {"input": "a?b"}


def test_the_key_comes_from_the_environment(
    service: Any, connect: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, f"{KEY}\n")
    service.says(service.reply({}))
    connect(key_variable=VARIABLE).post({})
    assert service.asked[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("value", [None, "", "  ", "a\nb", "schlüssel"])
def test_a_missing_or_broken_key_is_told_without_asking(
    service: Any, connect: Open, monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    if value is not None:
        monkeypatch.setenv(VARIABLE, value)
    with pytest.raises(EngineError, match=VARIABLE) as caught:
        connect(key_variable=VARIABLE).post({})
    assert not service.asked
    assert "schlüssel" not in caught.value.message


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_what_may_pass_is_tried_again(
    service: Any, connect: Open, slept: list[float], status: int
) -> None:
    service.says(service.reply(status=status), service.reply(status=status), service.reply([1]))
    assert connect().post({}) == [1]
    assert slept == [0.25, 0.5]  # half of .5 and of 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_what_will_not_pass_is_not_tried_again(
    service: Any, connect: Open, slept: list[float], status: int
) -> None:
    service.says(service.reply({"error": {"message": "no such thing"}}, status=status))
    with pytest.raises(EngineError, match=f"{status}: no such thing") as caught:
        connect().post({})
    assert "/v1 answered" in caught.value.message
    assert "embedding" in caught.value.hint
    assert len(service.asked) == 1
    assert not slept


def test_trying_ends(service: Any, connect: Open, slept: list[float]) -> None:
    service.says(service.reply(b"overloaded", status=503))
    with pytest.raises(EngineError, match=r"503: overloaded \(after 4 tries\)"):
        connect(attempts=4).post({})
    assert (len(service.asked), len(slept)) == (4, 3)
    with pytest.raises(EngineError, match="after 2 tries"):
        connect(attempts=4).post({}, attempts=2)


def test_the_server_says_how_long_to_wait(service: Any, connect: Open, slept: list[float]) -> None:
    service.says(service.reply(status=429, headers={"Retry-After": "7"}), service.reply([]))
    connect().post({})
    assert slept == [7.25]


def test_a_wait_of_an_hour_is_for_the_user_to_decide(
    service: Any, connect: Open, slept: list[float]
) -> None:
    service.says(service.reply(status=429, headers={"Retry-After": "3600"}))
    with pytest.raises(EngineError, match="429"):
        connect().post({})
    assert not slept


def test_a_server_that_does_not_answer_is_left(service: Any, connect: Open) -> None:
    service.says(service.reply([], seconds=0.5))
    with pytest.raises(EngineError, match=r"within 0\.1 seconds") as caught:
        connect(timeout_seconds=0.1).post({})
    assert "embedding.timeout_seconds" in caught.value.hint
    assert len(service.asked) == 1  # it may still be at it


def test_no_server_is_told(connect: Open, slept: list[float]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(EngineError, match=r"could not be reached.*after 3 tries") as caught:
        connect(url=f"http://127.0.0.1:{port}/v1", attempts=3).post({})
    assert "embedding.base_url" in caught.value.hint


def test_a_response_cut_off_is_asked_for_again(service: Any, connect: Open) -> None:
    service.says(service.reply(b'{"data": [', announced=500), service.reply([2]))
    assert connect().post({}) == [2]


@pytest.mark.parametrize("body", [b'{"data": [', b"<html>Hello</html>", b"", b"[" * 100_000])
def test_what_is_not_json_is_told(service: Any, connect: Open, body: bytes) -> None:
    service.says(service.reply(body))
    with pytest.raises(EngineError, match="cannot be understood") as caught:
        connect().post({})
    assert len(caught.value.message) < 500


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects_are_refused(service: Any, connect: Open, status: int) -> None:
    elsewhere = {"Location": "http://example.org/steal?key=1"}
    service.says(service.reply(status=status, headers=elsewhere))
    with pytest.raises(EngineError, match=r"redirects to example\.org"):
        connect().post({})
    assert len(service.asked) == 1


@pytest.mark.parametrize("status", [200, 400, 401, 500])
def test_the_key_is_never_shown(
    service: Any,
    connect: Open,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    status: int,
) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    service.says(service.reply(f"bad key {KEY} was sent".encode(), status=status))
    client = connect(key_variable=VARIABLE, attempts=2)
    with caplog.at_level(logging.DEBUG), pytest.raises(EngineError) as caught:
        client.post({})
    error: BaseException | None = caught.value
    while error is not None:
        assert KEY not in f"{error!r}{getattr(error, 'hint', '')}"
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    assert "[key]" in caught.value.message
    assert KEY not in caplog.text
    assert KEY not in repr(client.service)


def test_cookies_are_not_kept(service: Any, connect: Open) -> None:
    service.says(service.reply([], headers={"Set-Cookie": "who=you; Path=/"}))
    client = connect()
    client.post({})
    client.post({})
    assert "Cookie" not in service.asked[1].headers


def test_a_proxy_of_the_environment_is_used_only_when_asked(
    service: Any, connect: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", service.url)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    service.says(service.reply(["by proxy"]))
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    nowhere = f"http://127.0.0.1:{port}/v1"
    with pytest.raises(EngineError):
        connect(url=nowhere, attempts=1).post({})
    assert connect(url=nowhere, attempts=1, trust_environment=True).post({}) == ["by proxy"]
    assert service.asked[0].path == f"{nowhere}/thing"


@pytest.fixture
def own_authority(tmp_path: Path) -> Path:
    """A certificate of this machine that only its own file vouches for."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl to make a certificate with")
    path = tmp_path / "own.pem"
    new = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
    where = f"-addext subjectAltName=IP:127.0.0.1 -keyout {path} -out {tmp_path / 'c'}"
    subprocess.run([openssl, *new.split(), *where.split()], check=True, capture_output=True)
    path.write_text(path.read_text() + (tmp_path / "c").read_text())
    return path


def test_a_certificate_must_be_trusted(
    service: Any, connect: Open, own_authority: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(own_authority)
    service.encrypt(context)
    service.says(service.reply(["secret"]))
    monkeypatch.setenv("SSL_CERT_FILE", str(own_authority))
    assert service.url.startswith("https:")
    with pytest.raises(EngineError, match="does not trust") as caught:
        connect().post({})
    assert "embedding.trust_environment" in caught.value.hint
    assert not service.asked
    assert connect(trust_environment=True).post({}) == ["secret"]


@pytest.mark.parametrize("address", ["", "/v1", "/v1/", "/v1/embeddings"])
def test_an_address_may_be_whole(service: Any, tmp_path: Path, address: str) -> None:
    service.says(service.reply({"data": [{"embedding": [1.0, 0.0]}]}))
    values = {"engine": "openai", "model": "m", "base_url": service.url + address}
    settings = EmbeddingSettings.model_validate({**values, "cache_megabytes": 0})
    assert open_embedder(settings, tmp_path, lambda _: None).dimensions == 2
    assert service.asked[0].path == "/v1/embeddings"
