"""Spans as they are collected, and as OpenTelemetry gets them where it is in use.

Its API is optional, and nothing here imports it: who uses OpenTelemetry has imported it already,
so it is looked up among the loaded modules. As long as no tracer provider was set, it counts as
not in use.
"""

import json
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Final

AttributeValue = str | bool | int | float | Sequence[str] | Sequence[int] | Sequence[float]

Clock: Final = time.perf_counter
if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer, TracerProvider
else:
    Tracer = object

__all__ = ["OWN_PROVIDER", "Forwarded", "Tracer", "begin", "tracer"]

_API: Final = "opentelemetry.trace"
_CLIENT: Final = frozenset({"chat", "embeddings"})  # operations that go to another process
_OPERATION: Final = "gen_ai.operation.name"
# Whose words the messages are that the conventions know; here they are told as plain text.
_ROLES: Final = {"gen_ai.input.messages": "user", "gen_ai.output.messages": "assistant"}
_INSTRUCTIONS: Final = "gen_ai.system_instructions"

# The provider of who sends spans for us alone, as the command line does; else the process's own.
OWN_PROVIDER: "Final[ContextVar[TracerProvider | None]]" = ContextVar(
    "chapterhouse_provider", default=None
)
# The tracer that was last asked for: one is made for a provider, not for a span.
_last: "tuple[TracerProvider, Tracer | None] | None" = None


@dataclass(frozen=True, slots=True)
class TraceEvent:
    """Something that happened at one moment of a span.

    Attributes:
        seconds: Since the span began.
        attributes: What says nothing of what was read, asked or written.
        content: What may.
    """

    name: str
    seconds: float
    attributes: Mapping[str, AttributeValue]
    content: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class TraceSpan:
    """A piece of work with a beginning and an end.

    Attributes:
        attributes: What says nothing of what was read, asked or written.
        content: What may: arguments, results, questions.
        start_seconds: Since collecting began.
        seconds: How long it took.
        error: The type of what it ended with; empty where it ended well.
        children: In the order in which they began.
    """

    name: str
    attributes: Mapping[str, AttributeValue]
    content: Mapping[str, object]
    events: tuple[TraceEvent, ...]
    start_seconds: float
    seconds: float
    error: str
    children: "tuple[TraceSpan, ...]"


@dataclass(slots=True, eq=False)
class Record:
    """A span that is being written.

    What hangs beyond its time ends after the spans around it, so nothing is frozen at its end.
    Lists and dictionaries only grow, by steps that threads cannot divide.
    """

    name: str
    attributes: dict[str, AttributeValue]
    content: dict[str, object]
    began: float = field(default_factory=Clock)
    events: list[TraceEvent] = field(default_factory=list)
    children: "list[Record]" = field(default_factory=list)
    seconds: float | None = None
    error: str = ""

    def end(self) -> None:
        """Note that the work is done."""
        self.seconds = Clock() - self.began


class Trace:
    """The spans that were collected."""

    def __init__(self) -> None:
        """Begin now."""
        self._began = Clock()
        self.records: list[Record] = []

    @property
    def roots(self) -> tuple[TraceSpan, ...]:
        """The spans that have ended until now, each with those inside it."""
        return _frozen(self.records, self._began)


def _frozen(records: Sequence[Record], origin: float) -> tuple[TraceSpan, ...]:
    return tuple(
        TraceSpan(
            name=record.name,
            attributes=dict(record.attributes),
            content=dict(record.content),
            events=tuple(record.events),
            start_seconds=record.began - origin,
            seconds=record.seconds,
            error=record.error,
            children=_frozen(record.children, origin),
        )
        for record in tuple(records)
        if record.seconds is not None
    )


def tracer() -> "Tracer | None":
    """Return what makes spans for OpenTelemetry, or None where nobody wants any."""
    global _last  # noqa: PLW0603 - a cache of one entry; two threads that race make it twice
    api = sys.modules.get(_API)
    # In the middle of being imported by another thread, it has not all of its names yet.
    if api is None or not hasattr(api, "use_span"):
        return None
    provider: TracerProvider = OWN_PROVIDER.get() or api.get_tracer_provider()
    if _last is None or _last[0] is not provider:
        _last = provider, _made_by(provider, api)
    return _last[1]


def _made_by(provider: "TracerProvider", api: ModuleType) -> "Tracer | None":
    if isinstance(provider, api.ProxyTracerProvider | api.NoOpTracerProvider):
        return None
    from importlib.metadata import version  # noqa: PLC0415 - slow to load, for nobody else

    return provider.get_tracer("chapterhouse", version("chapterhouse"))


class Forwarded:
    """A span of OpenTelemetry, current until it ends."""

    __slots__ = ("_current", "_shared", "_span")

    def __init__(
        self,
        span: "Span",
        current: AbstractContextManager["Span"],
        shared: bool,  # noqa: FBT001 - the state of a setting
    ) -> None:
        """Go on with a span that was made current."""
        self._span = span
        self._current = current
        self._shared = shared

    def set(self, name: str, value: AttributeValue) -> None:
        """Set an attribute."""
        self._span.set_attribute(name, _value(value))

    def set_content(self, name: str, value: object) -> None:
        """Set content as an attribute, where it may be shared."""
        if self._shared:
            self._span.set_attribute(name, _text(name, value))

    def event(
        self, name: str, attributes: Mapping[str, AttributeValue], content: Mapping[str, object]
    ) -> None:
        """Add an event."""
        shared = {key: _text(key, value) for key, value in content.items()} if self._shared else {}
        own = {key: _value(value) for key, value in attributes.items()}
        self._span.add_event(name, {**own, **shared})

    def fail(self) -> None:
        """Set the status. Its description would be what an error says: that is content."""
        self._span.set_status(sys.modules[_API].StatusCode.ERROR)

    def end(self) -> None:
        """End it; what comes now belongs to the span around it again."""
        self._current.__exit__(None, None, None)
        self._span.end()


def begin(
    made_by: "Tracer",
    name: str,
    attributes: Mapping[str, AttributeValue],
    content: Mapping[str, object],
    shared: bool,  # noqa: FBT001 - the state of a setting
) -> Forwarded:
    """Begin a span and make it the current one."""
    api = sys.modules[_API]
    remote = attributes.get(_OPERATION) in _CLIENT
    span: Span = made_by.start_span(
        _clean(name),
        kind=api.SpanKind.CLIENT if remote else api.SpanKind.INTERNAL,
        attributes={key: _value(value) for key, value in attributes.items()},
    )
    current: AbstractContextManager[Span] = api.use_span(
        span, end_on_exit=False, record_exception=False, set_status_on_exception=False
    )
    current.__enter__()  # left in ``end``
    forwarded = Forwarded(span, current, shared)
    for key, value in content.items():
        forwarded.set_content(key, value)
    return forwarded


def _value(value: AttributeValue) -> AttributeValue:
    return _clean(value) if isinstance(value, str) else value


def _text(name: str, value: object) -> str:
    """Return content as the conventions want it: text as it is or in messages, the rest as JSON."""
    if isinstance(value, str):
        if name not in _ROLES and name != _INSTRUCTIONS:
            return _clean(value)
        value = _message(name, value)
    return _clean(json.dumps(value, ensure_ascii=False, default=str))


def _message(name: str, text: str) -> Sequence[object]:
    part = {"type": "text", "content": text}
    if name == _INSTRUCTIONS:
        return [part]
    message: dict[str, object] = {"role": _ROLES[name], "parts": [part]}
    return [message | ({"finish_reason": "stop"} if _ROLES[name] == "assistant" else {})]


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate cannot be sent
