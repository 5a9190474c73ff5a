"""Spans sent to a collector, by OTLP over HTTP."""

import logging
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from chapterhouse.errors import optional
from chapterhouse.telemetry.spans import OWN_PROVIDER

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter

_PATH: Final = "/v1/traces"
_REQUEST_SECONDS: Final = 5.0
_GOODBYE_SECONDS: Final = 1.0  # what is not sent then is lost: answers matter more


@contextmanager
def sending(endpoint: str, on_failure: Callable[[str], None]) -> Iterator[None]:
    """Send the spans of the block to a collector, in batches beside the work.

    The process's own OpenTelemetry, where there is one, is left alone. Whatever the collector
    does, the block goes on, and its end is held up for a second at most.

    Args:
        endpoint: Address of the collector, ``http://localhost:4318``, with or without
            ``/v1/traces``. Headers and certificates come from OpenTelemetry's own environment
            variables, such as ``OTEL_EXPORTER_OTLP_HEADERS``.
        on_failure: Is told at the end, in a sentence, if spans did not arrive.

    Raises:
        MissingExtraError: the SDK or its exporter is not installed.
    """
    address = endpoint if endpoint.endswith(_PATH) else endpoint.rstrip("/") + _PATH
    provider, exporter = _provider(address)
    token = OWN_PROVIDER.set(provider)
    complaints, logger = _Complaints(logging.ERROR), logging.getLogger("opentelemetry")
    propagated, logger.propagate = logger.propagate, False
    logger.addHandler(complaints)
    try:
        yield
    finally:
        OWN_PROVIDER.reset(token)
        in_time = _end(provider, exporter)
        if in_time:  # else it may go on complaining in its thread
            logger.removeHandler(complaints)
            logger.propagate = propagated
        if not in_time or complaints.found:
            on_failure(f"The collector at {endpoint} did not take all that was recorded.")


def _provider(address: str) -> "tuple[TracerProvider, SpanExporter]":
    # They take a quarter of a second to load, and most people never need them.
    sdk, exporters, resources = (
        optional(f"opentelemetry.{name}", "Sending what was done to a collector", extra="telemetry")
        for name in ("sdk.trace", "exporter.otlp.proto.http.trace_exporter", "sdk.resources")
    )
    name = os.environ.get("OTEL_SERVICE_NAME") or "chapterhouse"
    attributes = {"service.name": name, "service.version": version("chapterhouse")}
    resource = resources.Resource.create(attributes)
    provider: TracerProvider = sdk.TracerProvider(resource=resource, shutdown_on_exit=False)
    exporter: SpanExporter = exporters.OTLPSpanExporter(endpoint=address, timeout=_REQUEST_SECONDS)
    provider.add_span_processor(sdk.export.BatchSpanProcessor(exporter))
    return provider, exporter


def _end(provider: "TracerProvider", exporter: "SpanExporter") -> bool:
    """Send what is left; return whether that came to an end in time."""
    # A daemon: where a collector accepts and never answers, the process ends all the same.
    goodbye = threading.Thread(target=provider.shutdown, name="telemetry", daemon=True)
    goodbye.start()
    goodbye.join(_GOODBYE_SECONDS)
    in_time = not goodbye.is_alive()
    if not in_time:  # ends what tries again and again; a request that hangs ends by itself
        exporter.shutdown()
        goodbye.join(_GOODBYE_SECONDS / 10)
    return in_time


class _Complaints(logging.Handler):
    """Hears complaints of the exporter, which nobody should have to read one by one."""

    found = False

    def emit(self, _: logging.LogRecord) -> None:
        """Remember that there was one."""
        self.found = True
