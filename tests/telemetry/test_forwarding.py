import json
import os
import subprocess
import sys
from typing import Any

import pytest
from opentelemetry import trace as api
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from chapterhouse.telemetry import (
    agent_span,
    chat_span,
    collecting,
    operations,
    retrieval_span,
    round_span,
    sharing_content,
    span,
    tool_span,
    workflow_span,
)

Exporter = InMemorySpanExporter


def test_names_kinds_and_attributes_are_those_of_the_conventions(exporter: Exporter) -> None:
    with (
        workflow_span("berths", "Why?"),
        round_span("rebuttal", 3, 4),
        agent_span("maria", "Why?"),
        chat_span("google/gemini-3", "Be brief.", "Why?"),
        tool_span("search_knowledge"),
        retrieval_span("berth", ("maria", "shared"), 7),
    ):
        pass

    told = {one.name: one for one in exporter.get_finished_spans()}
    assert list(told) == [  # as they ended
        "retrieval maria,shared",
        "execute_tool search_knowledge",
        "chat gemini-3",
        "invoke_agent maria",
        "round rebuttal",
        "invoke_workflow berths",
    ]
    attributes = [dict(one.attributes or {}) for one in told.values()]
    assert attributes == [
        {
            "gen_ai.operation.name": "retrieval",
            "gen_ai.request.top_k": 7,
            "gen_ai.data_source.id": "maria,shared",
        },
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "search_knowledge",
            "gen_ai.tool.type": "function",
        },
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "gemini-3",
            "gen_ai.provider.name": "gcp.gemini",
        },
        {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "maria"},
        {
            "chapterhouse.round.name": "rebuttal",
            "chapterhouse.round.number": 3,
            "chapterhouse.round.members": 4,
        },
        {"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": "berths"},
    ]
    client = [one.name for one in told.values() if one.kind is api.SpanKind.CLIENT]
    assert client == ["chat gemini-3"]
    for inner, outer in zip(list(told.values())[:-1], list(told.values())[1:], strict=True):
        assert inner.parent
        assert inner.parent.span_id == outer.get_span_context().span_id  # type: ignore[union-attr]  # it was recorded


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


def everything(exporter: Exporter) -> str:
    return "".join(one.to_json() for one in exporter.get_finished_spans())


def tell_all() -> None:
    def work() -> None:
        with span("work", {}, {"first": "XYZ"}) as recorder:
            recorder.set_content("second", {"deep": ["XYZ"]})
            recorder.event("moved", {}, {"third": "XYZ"})
            recorder.caught(KeyError("XYZ"))
            raise ValueError("XYZ")

    with pytest.raises(ValueError, match="XYZ"):
        work()


def test_content_stays_here_unless_it_may_be_shared(exporter: Exporter) -> None:
    with collecting() as trace:
        tell_all()
    assert "XYZ" not in everything(exporter)
    assert str(trace.roots).count("XYZ") == 5  # whoever collects is told


def test_content_is_shared_where_it_may_be(exporter: Exporter) -> None:
    with sharing_content(allowed=True):
        tell_all()
        with sharing_content(allowed=False):
            tell_all()
    assert everything(exporter).count("XYZ") == 5


def run(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout


def test_the_api_alone_is_no_use() -> None:
    code = """
import opentelemetry.trace
from chapterhouse.telemetry import span
with span("silent") as recorder:
    print(recorder.listening)
opentelemetry.trace.set_tracer_provider(opentelemetry.trace.NoOpTracerProvider())
with span("silent") as recorder:
    print(recorder.listening)
"""
    assert run(code) == "False\nFalse\n"


WHOEVER = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from chapterhouse import Library

kept = InMemorySpanExporter()
with Library.open() as library:
    trace.set_tracer_provider(TracerProvider())  # even when it is late
    trace.get_tracer_provider().add_span_processor(SimpleSpanProcessor(kept))
    library.search.hits("berth")
for one in kept.get_finished_spans():
    print(one.name, one.instrumentation_scope.name, sorted(one.attributes))
"""


def test_whoever_configured_it_gets_our_spans() -> None:
    told = "['chapterhouse.retrieval.hits', 'chapterhouse.retrieval.searched_chunks', "
    told += "'chapterhouse.retrieval.searched_documents', 'gen_ai.operation.name', "
    asked = told + "'gen_ai.request.top_k'"
    assert run(WHOEVER) == f"retrieval chapterhouse {asked}]\n"
    shared = run(WHOEVER, CHAPTERHOUSE_TELEMETRY__CONTENT="true")
    assert "gen_ai.retrieval.query.text" in shared
