import json
from typing import Any

from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from chapterhouse.telemetry import (
    chat_span,
    operations,
    retrieval_span,
    sharing_content,
)

Exporter = InMemorySpanExporter


def test_all_shelves_are_no_data_source(exporter: Exporter) -> None:
    with retrieval_span("berth", (), 7):
        pass
    (one,) = exporter.get_finished_spans()
    assert one.name == "retrieval"
    assert operations.DATA_SOURCE not in (one.attributes or {})


def test_messages_have_the_form_of_the_conventions(exporter: Exporter) -> None:
    with (
        sharing_content(allowed=True),
        chat_span("scripted", "Be brief.", "Why \ud83d?") as recorder,
    ):
        recorder.set_content(operations.OUTPUT, "So.")
        recorder.set_content(operations.TOOL_ARGUMENTS, {"query": "größer"})
    (one,) = exporter.get_finished_spans()
    told: Any = one.attributes
    assert json.loads(told[operations.INSTRUCTIONS]) == [{"type": "text", "content": "Be brief."}]
    asked = [{"role": "user", "parts": [{"type": "text", "content": "Why ??"}]}]
    assert json.loads(told[operations.INPUT]) == asked
    (answer,) = json.loads(told[operations.OUTPUT])
    assert (answer["role"], answer["finish_reason"]) == ("assistant", "stop")
    assert told[operations.TOOL_ARGUMENTS] == '{"query": "größer"}'
