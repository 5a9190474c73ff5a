"""OpenTelemetry as a user has it, in this process only."""

from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from chapterhouse.telemetry.spans import OWN_PROVIDER


@pytest.fixture
def exporter() -> Iterator[InMemorySpanExporter]:
    """Keep what is sent. A provider of the whole process could not be taken back."""
    kept = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(kept))
    token = OWN_PROVIDER.set(provider)
    yield kept
    OWN_PROVIDER.reset(token)
