"""What leaves for a model's service, and what comes back: only to and from where it should."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable

import httpx2
import pytest

from chapterhouse.models.failures import Service
from chapterhouse.models.gate import Gate, cause_of
from chapterhouse.models.keys import KeySource

KEY = "sk-not-a-real-key-8c41"
PLACE = "https://model.example:8443/v1/chat"
Answer = Callable[[httpx2.Request], httpx2.Response]


def gate(maximum_bytes: int = 1_000, key: str = KEY) -> Gate:
    service = Service(PLACE, "language_model", KeySource("language_model"), 5.0, key)
    return Gate(service, ("authorization", "Bearer "), maximum_bytes)


def asked(own: Gate, url: str, answer: Answer) -> tuple[bytes, list[httpx2.Request]]:
    """Send one request through a gate to a server in this process."""
    seen: list[httpx2.Request] = []

    def serve(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return answer(request)

    async def send() -> bytes:
        made = own.client(ssl.create_default_context(), trust_environment=False)
        hooks = made.event_hooks
        await made.aclose()
        transport = httpx2.MockTransport(serve)
        async with httpx2.AsyncClient(transport=transport, event_hooks=hooks) as client:
            headers = {"x-stainless-os": "Linux", "cookie": "a=b", "user-agent": "other"}
            return (await client.post(url, json={"a": 1}, headers=headers)).content

    return asyncio.run(send()), seen


def fine(_: httpx2.Request) -> httpx2.Response:
    return httpx2.Response(200, content=b"all of it")


def test_the_service_gets_the_key_and_nothing_that_tells_of_this_machine() -> None:
    content, (request,) = asked(gate(), PLACE, fine)
    assert content == b"all of it"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["user-agent"] == "chapterhouse"
    assert request.headers["accept-encoding"] == "identity"
    assert not {"cookie", "x-stainless-os"} & set(request.headers)


def test_without_a_key_none_is_sent() -> None:
    _, (request,) = asked(gate(key=""), PLACE, fine)
    assert "authorization" not in request.headers


@pytest.mark.parametrize(
    "url",
    [
        "https://elsewhere.example:8443/v1/chat",
        "http://model.example:8443/v1/chat",
        "https://model.example/v1/chat",
        "https://model.example.evil.example:8443/v1/chat",
    ],
)
def test_nothing_goes_to_another_host_scheme_or_port(url: str) -> None:
    own = gate()
    seen: list[httpx2.Request] = []

    def record(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(200)

    with pytest.raises(httpx2.TransportError):
        asked(own, url, record)
    assert not seen
    assert own.failure is not None
    assert "which was asked" in own.failure.sentence
    own.reset()
    assert own.failure is None


def test_a_redirect_is_refused_and_told() -> None:
    own = gate()
    with pytest.raises(httpx2.TransportError):
        asked(own, PLACE, lambda _: httpx2.Response(302, headers={"location": "https://x.example"}))
    assert own.failure is not None
    assert KEY not in own.failure.sentence


@pytest.mark.parametrize(("size", "fits"), [(1_000, True), (1_001, False)])
def test_what_comes_back_is_bounded(size: int, *, fits: bool) -> None:
    own = gate(maximum_bytes=1_000)

    async def parts() -> AsyncIterator[bytes]:
        for start in range(0, size, 100):
            yield b"x" * min(100, size - start)

    def large(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, content=parts())

    if fits:
        assert asked(own, PLACE, large)[0] == b"x" * size
        assert own.tail == b"x" * 256
        return
    with pytest.raises(httpx2.TransportError):
        asked(own, PLACE, large)
    assert own.failure is not None
    assert "more than 1,000 bytes" in own.failure.sentence


def test_the_cause_is_the_failure_of_the_connection_below() -> None:
    below = httpx2.ConnectError("refused")
    above = RuntimeError("wrapped")
    above.__cause__ = below
    assert cause_of(above) is below
    alone = ValueError("nothing below")
    alone.__context__ = alone
    assert cause_of(alone) is alone
