"""What ``--json --trace`` shows of what was done."""

import math
from collections.abc import Mapping, Sequence

from chapterhouse.interfaces.cli.envelope import plain
from chapterhouse.telemetry import Trace, TraceEvent, TraceSpan
from chapterhouse.text.sanitise import sanitise

_DECIMALS = 6  # of seconds


def trace(value: Trace) -> list[dict[str, object]]:
    """Shape the spans that nothing was around, each with those inside it."""
    return [_span(span) for span in value.roots]


def _span(span: TraceSpan) -> dict[str, object]:
    return {
        "name": json_value(span.name),
        "start_seconds": round(span.start_seconds, _DECIMALS),
        "seconds": round(span.seconds, _DECIMALS),
        "error": json_value(span.error),
        "attributes": json_value(span.attributes),
        "content": json_value(span.content),
        "events": [_event(event) for event in span.events],
        "children": [_span(child) for child in span.children],
    }


def _event(event: TraceEvent) -> dict[str, object]:
    return {
        "name": json_value(event.name),
        "seconds": round(event.seconds, _DECIMALS),
        "attributes": json_value(event.attributes),
        "content": json_value(event.content),
    }


def json_value(value: object) -> object:
    """Return a value as JSON has it. Models write what they like: nothing invisible, no NaN."""
    value = plain(value)
    if isinstance(value, str):
        return sanitise(value).text
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {sanitise(str(key)).text: json_value(entry) for key, entry in value.items()}
    if isinstance(value, Sequence):
        return [json_value(entry) for entry in value]
    return value if value is None or isinstance(value, int) else sanitise(str(value)).text
