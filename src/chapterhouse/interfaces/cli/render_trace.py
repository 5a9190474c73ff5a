"""What people see of what was done to answer: a tree, deeper where it stands further right."""

import json
from collections.abc import Iterator, Mapping

from chapterhouse.interfaces.cli.envelope import json_value
from chapterhouse.interfaces.cli.terminal import cut, one_line
from chapterhouse.presenting.blocks import Style, TerminalBlock, verbatim
from chapterhouse.telemetry import Trace, TraceSpan, operations
from chapterhouse.telemetry.spans import ERROR_TYPE, OPERATION

_STEP = 2  # columns to the right
_LONGEST = 100  # characters shown of one value
_SHOWN_ELSEWHERE = {OPERATION, operations.TOOL_TYPE, ERROR_TYPE}
# What the last part of a name does not say well enough.
_LABELS = {
    operations.INPUT: "asked",
    operations.OUTPUT: "answer",
    operations.INSTRUCTIONS: "instructions",
    operations.QUERY: "query",
}


def tree(trace: Trace) -> Iterator[TerminalBlock]:
    """Print each span with its time, and below it what it was told and what is inside it."""
    roots = trace.roots
    if not roots:
        yield verbatim(("Nothing was recorded.", Style.QUIET))
    for span in roots:
        yield from _span(span, 0)


def _span(span: TraceSpan, depth: int) -> Iterator[TerminalBlock]:
    indent = " " * _STEP * depth
    time = (f"  {seconds(span.seconds)}", Style.NOTABLE)
    failed = (f"  {one_line(span.error)}", Style.BAD) if span.error else ""
    yield verbatim(indent, (one_line(span.name), Style.STRONG), time, failed)
    for line in _details(span):
        yield verbatim((f"{indent}  {line}", Style.QUIET))
    for child in span.children:
        yield from _span(child, depth + 1)


def _details(span: TraceSpan) -> Iterator[str]:
    facts = " · ".join(_pairs(_visible_attributes(span)))
    if facts:
        yield facts
    yield from _pairs(span.content)
    for event in span.events:
        details = " · ".join(_pairs({**event.attributes, **event.content}))
        yield f"{_short(event.name)} after {seconds(event.seconds)}  {details}".rstrip()


def _visible_attributes(span: TraceSpan) -> Mapping[str, object]:
    """Return the attributes that the line of the span does not say already."""

    def is_hidden(name: str, value: object) -> bool:
        named = isinstance(value, str) and span.name.endswith(f" {value}")
        return named or name in _SHOWN_ELSEWHERE

    return {name: value for name, value in span.attributes.items() if not is_hidden(name, value)}


def _pairs(values: Mapping[str, object]) -> Iterator[str]:
    for name, value in values.items():
        label = _LABELS.get(name) or name.rpartition(".")[2].replace("_", " ")
        yield f"{one_line(label)}: {_short(_ids(value) if name == operations.DOCUMENTS else value)}"


def _ids(documents: object) -> object:
    """Return the ids of documents that were found; their titles and scores stand in the JSON."""
    if not isinstance(documents, list):
        return documents
    return ", ".join(str(document.get("id", "")) for document in documents)


def _short(value: object) -> str:
    shaped = json_value(value)
    text = shaped if isinstance(shaped, str) else json.dumps(shaped, ensure_ascii=False)
    return cut(text, _LONGEST)


def seconds(value: float) -> str:
    """Return a time for people: ``0.4 ms``, ``12 ms``, ``1.24 s``."""
    milliseconds = value * 1_000
    if milliseconds < 10:  # noqa: PLR2004 - from there on tenths say nothing
        return f"{milliseconds:.1f} ms"
    return f"{milliseconds:.0f} ms" if value < 1 else f"{value:.2f} s"
