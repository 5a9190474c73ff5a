"""What was done to answer, as a tree of spans: for people, and for OpenTelemetry.

Code that works opens spans; nobody need be listening, and then a span costs next to nothing.
``collecting`` keeps them for whoever asked; OpenTelemetry gets them wherever it is configured.
"""

from chapterhouse.telemetry.operations import (
    agent_span,
    chat_span,
    record_answer,
    record_hits,
    record_minutes,
    record_turn,
    record_writing,
    retrieval_span,
    round_span,
    tool_span,
    workflow_span,
)
from chapterhouse.telemetry.spans import (
    AttributeValue,
    Recorder,
    Trace,
    TraceEvent,
    TraceSpan,
    collecting,
    sharing_content,
    span,
)

__all__ = [
    "AttributeValue",
    "Recorder",
    "Trace",
    "TraceEvent",
    "TraceSpan",
    "agent_span",
    "chat_span",
    "collecting",
    "record_answer",
    "record_hits",
    "record_minutes",
    "record_turn",
    "record_writing",
    "retrieval_span",
    "round_span",
    "sharing_content",
    "span",
    "tool_span",
    "workflow_span",
]
