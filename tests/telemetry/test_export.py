import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.collectors import collector

from chapterhouse.errors import MissingExtraError
from chapterhouse.telemetry import sharing_content, span
from chapterhouse.telemetry.export import sending


def names(body: bytes) -> dict[str, list[str]]:
    request = ExportTraceServiceRequest.FromString(body)
    return {
        next(one.value.string_value for one in resource.resource.attributes if one.key == key): [
            one.name for scope in resource.scope_spans for one in scope.spans
        ]
        for resource in request.resource_spans
        for key in ("service.name",)
    }


@pytest.mark.parametrize("path", ["", "/", "/v1/traces"])
def test_what_was_done_arrives(path: str) -> None:
    complaints: list[str] = []
    with (
        collector() as (address, sent),
        sending(address + path, complaints.append),
        span("outer", {"a": 1}, {"b": "XYZ"}),
        span("inner"),
    ):
        pass
    ((where, body),) = sent
    assert where == "/v1/traces"
    assert names(body) == {"chapterhouse": ["inner", "outer"]}
    assert b"XYZ" not in body
    assert complaints == []


def test_content_travels_where_it_may() -> None:
    with (
        collector() as (address, sent),
        sending(address, pytest.fail),
        sharing_content(allowed=True),
        span("work", {}, {"b": "XYZ"}),
    ):
        pass
    assert b"XYZ" in sent[0][1]


def test_headers_and_the_name_of_the_service_are_opentelemetrys_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "reading-room")
    with collector() as (address, sent), sending(address, pytest.fail), span("work"):
        pass
    assert names(sent[0][1]) == {"reading-room": ["work"]}


@contextmanager
def closed() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    yield f"http://127.0.0.1:{port}"


@contextmanager
def silent() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@contextmanager
def refusing() -> Iterator[str]:
    with collector(401) as (address, _):
        yield address


@pytest.mark.parametrize("place", [closed, silent, refusing])
def test_a_collector_that_does_not_take_it_is_named_once(
    place: object, capfd: pytest.CaptureFixture[str]
) -> None:
    complaints: list[str] = []
    assert callable(place)
    with place() as address:
        with sending(address, complaints.append), span("work"):
            pass
        (complaint,) = complaints
        assert address in complaint
    assert capfd.readouterr().err == ""


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with (
        pytest.raises(MissingExtraError, match="telemetry") as caught,
        sending("http://127.0.0.1:9", pytest.fail),
    ):
        pytest.fail("it must not begin")
    assert "opentelemetry-sdk" in caught.value.hint
