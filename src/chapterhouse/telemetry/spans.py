"""Spans: opened by the work itself, for whoever listens.

Whoever collects gets them as a tree; OpenTelemetry gets them where a tracer provider is set. Its
API takes 31 ms to load, so it is looked up among the loaded modules and never imported here.

Where a span belongs is kept in context variables, which tasks inherit; a thread that is to go on
inside a span runs in a copy of the context.
"""

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from chapterhouse import lazy

if TYPE_CHECKING:
    from importlib import metadata

    from opentelemetry.trace import Span, Tracer, TracerProvider
else:
    metadata = lazy("importlib.metadata")

AttributeValue = str | bool | int | float | Sequence[str] | Sequence[int] | Sequence[float]
_Attributes = Mapping[str, AttributeValue]
_Content = Mapping[str, object]

ERROR_TYPE: Final = "error.type"
OPERATION: Final = "gen_ai.operation.name"
_API: Final = "opentelemetry.trace"
_CLIENT: Final = frozenset({"chat", "embeddings"})  # operations that go to another process
# Whose words the messages are that the conventions know; here they are told as plain text.
_ROLES: Final = {"gen_ai.input.messages": "user", "gen_ai.output.messages": "assistant"}
_INSTRUCTIONS: Final = "gen_ai.system_instructions"
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


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
    attributes: _Attributes
    content: _Content


@dataclass(frozen=True, slots=True)
class TraceSpan:
    """A piece of work with a beginning and an end.

    Attributes:
        attributes: What says nothing of what was read, asked or written.
        content: What may: arguments, results, questions.
        start_seconds: Since collecting began.
        error: The type of what it ended with; empty where it ended well.
        children: In the order in which they began.
    """

    name: str
    attributes: _Attributes
    content: _Content
    events: tuple[TraceEvent, ...]
    start_seconds: float
    seconds: float
    error: str
    children: "tuple[TraceSpan, ...]"


@dataclass(slots=True, eq=False)
class Recorder:
    """Takes down what happens in one span. Where nobody listens, it does nothing.

    What hangs beyond its time ends after the spans around it, so nothing is frozen at its end.
    Lists and dictionaries only grow, by steps that threads cannot divide.
    """

    name: str = ""
    attributes: dict[str, AttributeValue] = field(default_factory=dict)
    content: dict[str, object] = field(default_factory=dict)
    listening: bool = True  # what takes work to tell need not be made up for nobody
    began: float = field(default_factory=time.perf_counter)
    events: list[TraceEvent] = field(default_factory=list)
    children: "list[Recorder]" = field(default_factory=list)
    seconds: float | None = None
    error: str = ""

    def set(self, name: str, value: AttributeValue) -> None:
        """Note an attribute: nothing that was read, asked or written by anybody."""
        if self.listening:
            self.attributes[name] = value

    def set_content(self, name: str, value: object) -> None:
        """Note content: whatever may hold text of documents, people or models."""
        if self.listening:
            self.content[name] = value

    def event(
        self, name: str, attributes: _Attributes = _NOTHING, content: _Content = _NOTHING
    ) -> None:
        """Note that something happened now."""
        if self.listening:
            seconds = time.perf_counter() - self.began
            self.events.append(TraceEvent(name, seconds, dict(attributes), dict(content)))

    def fail(self, kind: str) -> None:
        """Note that it failed, for a reason of this kind, though nothing was raised."""
        if self.listening:
            self.attributes[ERROR_TYPE] = self.error = kind

    def caught(self, error: BaseException) -> None:
        """Note an exception: its type; what it says is content."""
        kind = type(error)
        is_plain = kind.__module__ == "builtins"
        name = kind.__qualname__ if is_plain else f"{kind.__module__}.{kind.__qualname__}"
        self.event("exception", {"exception.type": name}, {"exception.message": str(error)})
        self.fail(name)


_SILENCE: Final = nullcontext(Recorder(listening=False))
# The lists that the next span is added to.
_SINKS: Final[ContextVar[tuple[list[Recorder], ...]]] = ContextVar("chapterhouse_sinks", default=())
_SHARED: Final[ContextVar[bool]] = ContextVar("chapterhouse_shared", default=False)
# The provider of who sends spans for us alone, as the command line does; else the process's own.
OWN_PROVIDER: "Final[ContextVar[TracerProvider | None]]" = ContextVar(
    "chapterhouse_provider", default=None
)
# The tracer that was last asked for: one is made for a provider, not for a span.
_last: "tuple[TracerProvider, Tracer | None] | None" = None


class Trace:
    """The spans that were collected."""

    def __init__(self) -> None:
        """Begin now."""
        self._began = time.perf_counter()
        self.recorders: list[Recorder] = []

    @property
    def roots(self) -> tuple[TraceSpan, ...]:
        """The spans that have ended until now, each with those inside it."""
        return _frozen(self.recorders, self._began)


def _frozen(recorders: Sequence[Recorder], origin: float) -> tuple[TraceSpan, ...]:
    return tuple(
        TraceSpan(
            name=one.name,
            attributes=dict(one.attributes),
            content=dict(one.content),
            events=tuple(one.events),
            start_seconds=one.began - origin,
            seconds=one.seconds,
            error=one.error,
            children=_frozen(one.children, origin),
        )
        for one in tuple(recorders)
        if one.seconds is not None
    )


def span(
    name: str, attributes: _Attributes = _NOTHING, content: _Content = _NOTHING
) -> AbstractContextManager[Recorder, bool | None]:
    """Open a span around the work of a ``with`` block.

    An exception that leaves the block is noted, a cancellation too, and goes on.

    Args:
        name: What is done, and to which of a few things. Never text of anybody.
        attributes: What says nothing of what was read, asked or written.
        content: What may. OpenTelemetry only gets it inside ``sharing_content(allowed=True)``.
    """
    sinks, tracer = _SINKS.get(), _tracer()
    if not sinks and tracer is None:
        return _SILENCE
    return _record(Recorder(name, dict(attributes), dict(content)), sinks, tracer)


@contextmanager
def _record(
    recorder: Recorder, sinks: tuple[list[Recorder], ...], tracer: "Tracer | None"
) -> Iterator[Recorder]:
    for sink in sinks:
        sink.append(recorder)
    token = _SINKS.set((recorder.children,) if sinks else ())
    with nullcontext() if tracer is None else _forward(recorder, tracer, shared=_SHARED.get()):
        try:
            yield recorder
        except BaseException as error:
            recorder.caught(error)
            raise
        finally:
            _SINKS.reset(token)
            recorder.seconds = time.perf_counter() - recorder.began


@contextmanager
def collecting() -> Iterator[Trace]:
    """Collect every span that ends while the block runs, in this context and those copied of it.

    Where somebody collects around it already, both get them.
    """
    trace = Trace()
    token = _SINKS.set((*_SINKS.get(), trace.recorders))
    try:
        yield trace
    finally:
        _SINKS.reset(token)


@contextmanager
def sharing_content(*, allowed: bool) -> Iterator[None]:
    """Say whether OpenTelemetry gets the content of spans that are opened in the block."""
    token = _SHARED.set(allowed)
    try:
        yield
    finally:
        _SHARED.reset(token)


def _tracer() -> "Tracer | None":
    """Return what makes spans for OpenTelemetry, or None where nobody wants any."""
    global _last  # noqa: PLW0603 - a cache of one entry; two threads that race make it twice
    api = sys.modules.get(_API)
    # In the middle of being imported by another thread, it has not all of its names yet.
    if api is None or not hasattr(api, "use_span"):
        return None
    provider: TracerProvider = OWN_PROVIDER.get() or api.get_tracer_provider()
    if _last is None or _last[0] is not provider:
        is_used = not isinstance(provider, api.ProxyTracerProvider | api.NoOpTracerProvider)
        made = provider.get_tracer("chapterhouse", metadata.version("chapterhouse"))
        _last = provider, made if is_used else None
    return _last[1]


@contextmanager
def _forward(recorder: Recorder, tracer: "Tracer", *, shared: bool) -> Iterator[None]:
    """Open a span of OpenTelemetry, current in the block, and tell it at the end what happened.

    Its status has no description: that would be what an error says, which is content.
    """
    api, began = sys.modules[_API], time.time_ns()
    remote = recorder.attributes.get(OPERATION) in _CLIENT
    made: Span = tracer.start_span(
        _clean(recorder.name),
        kind=api.SpanKind.CLIENT if remote else api.SpanKind.INTERNAL,
        attributes=_attributes_to_send(recorder.attributes),
    )
    with api.use_span(
        made, end_on_exit=True, record_exception=False, set_status_on_exception=False
    ):
        try:
            yield
        finally:
            content = recorder.content if shared else {}
            made.set_attributes(_attributes_to_send(recorder.attributes, content))
            for event in recorder.events:
                attributes = _attributes_to_send(event.attributes, event.content if shared else {})
                made.add_event(event.name, attributes, began + int(event.seconds * 1e9))
            if recorder.error:
                made.set_status(api.StatusCode.ERROR)


def _attributes_to_send(
    attributes: _Attributes, content: _Content = _NOTHING
) -> dict[str, AttributeValue]:
    """Return what is sent: content as the conventions want it, in messages or as JSON."""
    own = {
        name: _clean(value) if isinstance(value, str) else value
        for name, value in attributes.items()
    }
    return {**own, **{name: _text(name, value) for name, value in content.items()}}


def _text(name: str, value: object) -> str:
    part = {"type": "text", "content": value}
    if isinstance(value, str) and name == _INSTRUCTIONS:
        value = [part]
    elif isinstance(value, str) and name in _ROLES:
        end = {"finish_reason": "stop"} if _ROLES[name] == "assistant" else {}
        value = [{"role": _ROLES[name], "parts": [part], **end}]
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return _clean(text)


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate cannot be sent
