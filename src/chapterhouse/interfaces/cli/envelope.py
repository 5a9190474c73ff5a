"""The JSON that commands print, one object on one line with keys in order; and ``--trace``."""

import dataclasses
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from enum import Enum
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from chapterhouse import __version__
from chapterhouse.presenting.blocks import Style, TerminalBlock, verbatim
from chapterhouse.presenting.styled import cut, one_line
from chapterhouse.presenting.wording import outcome_word
from chapterhouse.telemetry import Trace, TraceSpan, operations
from chapterhouse.telemetry.spans import ERROR_TYPE, OPERATION
from chapterhouse.text.sanitise import sanitise
from chapterhouse.types import INCOMPLETE, AddReport, FileOutcome, FileRecord, Status

_DECIMALS: Final = 6


def success(
    data: object, *, workspace: str, seconds: float, trace: Trace | None = None
) -> dict[str, object]:
    """Wrap a result. Times stand only in ``meta``: ``data`` is the same on every run."""
    return {"ok": True, "data": plain(data), "meta": _meta(workspace, seconds, trace)}


def failure(
    kind: str,
    message: str,
    hint: str = "",
    *,
    workspace: str = "",
    seconds: float = 0.0,
    trace: Trace | None = None,
) -> dict[str, object]:
    """Wrap an error."""
    error = {"type": kind, "message": message, "hint": hint}
    return {"ok": False, "error": error, "meta": _meta(workspace, seconds, trace)}


def write(value: Mapping[str, object]) -> None:
    """Print an envelope on standard output, in UTF-8 whatever the locale says."""
    line = json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"
    # A file name that is no UTF-8 holds lone surrogates; \udcNN is how JSON spells them.
    sys.stdout.flush()
    sys.stdout.buffer.write(line.encode("utf-8", "backslashreplace"))
    sys.stdout.buffer.flush()


def is_incomplete(record: FileRecord) -> bool:
    """Whether not all of a file is in the library."""
    return outcome_word(record) == "skipped" or record.status in INCOMPLETE


# --- values as JSON -----------------------------------------------------------------------------


def plain(value: object) -> Any:
    """Return dataclasses as objects, enums as their values, tuples as lists; the rest as it is.

    ``CHANGES`` says what an object has instead of its fields, or beside them.
    """
    if isinstance(value, Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        shaped = {
            entry.name: getattr(value, entry.name)
            for entry in dataclasses.fields(value)
            if not entry.metadata.get("exclude")
        }
        for name, change in CHANGES.get(type(value).__name__, {}).items():
            if change is None:
                del shaped[name]
            else:
                shaped[name] = change(value)
        return {name: plain(entry) for name, entry in shaped.items()}
    if hasattr(value, "model_dump"):  # settings; pydantic is slow to load
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(entry) for entry in value]
    return str(value) if isinstance(value, Decimal | Path) else value


def _rounded(name: str) -> Callable[[Any], float]:
    return lambda value: round(getattr(value, name), _DECIMALS)


def _of_sync(name: str) -> Callable[[Any], object]:
    """Return what a refresh has of its sync, which may not have been needed."""
    return lambda value: getattr(value.sync, name) if value.sync else []


def _counts(report: AddReport) -> dict[str, int]:
    return {status.value: report.count(status) for status in Status}


def _counts_earlier(report: AddReport) -> dict[str, int]:
    return {status.value: report.count_earlier(status) for status in Status}


def _earlier(outcome: FileOutcome) -> list[dict[str, object]]:
    return [
        {name: getattr(record, name) for name in ("source", "status", "code", "sentence")}
        for record in outcome.earlier
        if is_incomplete(record)
    ]


# By the name of a type and of a field: what stands there, or None for nothing. Seconds are left
# out, since they differ on every run, and what only serves the program.
CHANGES: Final[Mapping[str, Mapping[str, Callable[[Any], object] | None]]] = {
    "AddReport": {
        "interrupted": None,
        "changed": attrgetter("changed"),
        "chunks": attrgetter("chunks"),
        "counts": _counts,
        "earlier": _counts_earlier,
        "dry_run": lambda _: False,
    },
    "Document": {"ingested": None},
    "SyncReport": {"removals": None},
    "FileOutcome": {"seconds": None, "earlier": _earlier},
    "Answer": {"certainty": attrgetter("certainty"), "text": attrgetter("text")},
    "Chunk": {"id": attrgetter("id")},
    "Quality": {name: _rounded(name) for name in ("entropy", "coherence", "density", "importance")},
    "Context": {"candidates": lambda value: len(value.candidates)},
    "Excerpt": {
        "hit": None,
        "document_id": attrgetter("hit.document.id"),
        "source": attrgetter("hit.document.source"),
        "chunk_id": attrgetter("hit.chunk.id"),
        "rank": attrgetter("hit.rank"),
        "relevance": _rounded("relevance"),
    },
    "Refresh": {
        **dict.fromkeys(("slug", "display_name", "sync")),
        "changed": attrgetter("changed"),
        "files": lambda value: value.sync.files if value.sync else None,
        "removed": _of_sync("removed"),
        "moves": _of_sync("moves"),
    },
    "Proposal": dict.fromkeys(("before", "after", "remembered")),
    "Change": {"added": attrgetter("added"), "dropped": attrgetter("dropped")},
    "Trial": {
        "answer": attrgetter("answer.text"),
        "quotes": lambda value: [citation.quote for citation in value.answer.citations],
    },
    "TraceSpan": {"start_seconds": _rounded("start_seconds"), "seconds": _rounded("seconds")},
    "TraceEvent": {"seconds": _rounded("seconds")},
}


def trace_data(trace: Trace) -> object:
    """Return the spans that nothing was around, each with those inside it."""
    return json_value(trace.roots)


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


def _meta(workspace: str, seconds: float, trace: Trace | None) -> dict[str, object]:
    meta = {"version": __version__, "workspace": workspace, "seconds": round(seconds, 3)}
    return meta if trace is None else {**meta, "trace": trace_data(trace)}


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


def trace_blocks(trace: Trace) -> Iterator[TerminalBlock]:
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
