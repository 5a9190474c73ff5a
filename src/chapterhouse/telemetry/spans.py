"""Spans: opened by the work itself, for whoever listens.

Where a span belongs is kept in context variables, which tasks inherit; a thread that is to go on
inside a span runs in a copy of the context.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar, Token
from types import MappingProxyType, TracebackType
from typing import Final

from chapterhouse.telemetry.recording import (
    AttributeValue,
    Clock,
    Forwarded,
    Record,
    Trace,
    TraceEvent,
    Tracer,
    begin,
    tracer,
)

_Attributes = Mapping[str, AttributeValue]
_Content = Mapping[str, object]
_Sinks = tuple[list[Record], ...]

_NO_ATTRIBUTES: Final[_Attributes] = MappingProxyType({})
_NO_CONTENT: Final[_Content] = MappingProxyType({})
_SINKS: Final[ContextVar[_Sinks]] = ContextVar("chapterhouse_sinks", default=())
_SHARED: Final[ContextVar[bool]] = ContextVar("chapterhouse_shared", default=False)

EXCEPTION: Final = "exception"  # the event, as OpenTelemetry calls it
EXCEPTION_TYPE: Final = "exception.type"
EXCEPTION_MESSAGE: Final = "exception.message"
ERROR_TYPE: Final = "error.type"


class Recorder:
    """Takes down what happens in one span. Where nobody listens, it does nothing."""

    __slots__ = ("_forwarded", "_record")

    def __init__(self, record: Record | None, forwarded: Forwarded | None) -> None:
        """Write to these."""
        self._record = record
        self._forwarded = forwarded

    @property
    def listening(self) -> bool:
        """Whether anybody does: what takes work to tell need not be made up for nobody."""
        return self._record is not None or self._forwarded is not None

    def set(self, name: str, value: AttributeValue) -> None:
        """Note an attribute: nothing that was read, asked or written by anybody."""
        if self._record is not None:
            self._record.attributes[name] = value
        if self._forwarded is not None:
            self._forwarded.set(name, value)

    def set_content(self, name: str, value: object) -> None:
        """Note content: whatever may hold text of documents, people or models."""
        if self._record is not None:
            self._record.content[name] = value
        if self._forwarded is not None:
            self._forwarded.set_content(name, value)

    def event(
        self, name: str, attributes: _Attributes = _NO_ATTRIBUTES, content: _Content = _NO_CONTENT
    ) -> None:
        """Note that something happened now."""
        if (record := self._record) is not None:
            seconds = Clock() - record.began
            record.events.append(TraceEvent(name, seconds, dict(attributes), dict(content)))
        if self._forwarded is not None:
            self._forwarded.event(name, attributes, content)

    def fail(self, kind: str) -> None:
        """Note that it failed, for a reason of this kind, though nothing was raised."""
        self.set(ERROR_TYPE, kind)
        if self._record is not None:
            self._record.error = kind
        if self._forwarded is not None:
            self._forwarded.fail()

    def caught(self, error: BaseException) -> None:
        """Note an exception: its type; what it says is content."""
        kind = _kind(error)
        self.event(EXCEPTION, {EXCEPTION_TYPE: kind}, {EXCEPTION_MESSAGE: str(error)})
        self.fail(kind)


_SILENCE: Final = nullcontext(Recorder(None, None))


def span(
    name: str, attributes: _Attributes = _NO_ATTRIBUTES, content: _Content = _NO_CONTENT
) -> AbstractContextManager[Recorder, None]:
    """Open a span around the work of a ``with`` block.

    An exception that leaves the block is noted, a cancellation too, and goes on.

    Args:
        name: What is done, and to which of a few things. Never text of anybody.
        attributes: What says nothing of what was read, asked or written.
        content: What may. OpenTelemetry only gets it inside ``sharing_content(allowed=True)``.
    """
    sinks, forward = _SINKS.get(), tracer()
    if not sinks and forward is None:
        return _SILENCE
    return _Span(name, attributes, content, sinks, forward)


@contextmanager
def collecting() -> Iterator[Trace]:
    """Collect every span that ends while the block runs, in this context and those copied of it.

    Where somebody collects around it already, both get them.
    """
    trace = Trace()
    token = _SINKS.set((*_SINKS.get(), trace.records))
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


class _Span(AbstractContextManager[Recorder, None]):
    __slots__ = ("_forward", "_forwarded", "_record", "_recorder", "_sinks", "_token")

    def __init__(
        self,
        name: str,
        attributes: _Attributes,
        content: _Content,
        sinks: _Sinks,
        forward: Tracer | None,
    ) -> None:
        self._record = Record(name, dict(attributes), dict(content))
        self._sinks = sinks
        self._forward = forward
        self._forwarded: Forwarded | None = None
        self._token: Token[_Sinks] | None = None

    def __enter__(self) -> Recorder:
        record = self._record
        if self._forward is not None:
            self._forwarded = begin(
                self._forward, record.name, record.attributes, record.content, _SHARED.get()
            )
        if self._sinks:
            for sink in self._sinks:
                sink.append(record)
            self._token = _SINKS.set((record.children,))
        self._recorder = Recorder(record if self._sinks else None, self._forwarded)
        return self._recorder

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self._recorder.caught(error)
        if self._token is not None:
            _SINKS.reset(self._token)
            self._record.end()
        if self._forwarded is not None:
            self._forwarded.end()


def _kind(error: BaseException) -> str:
    """Return the name of its type, with the module where it is not built in."""
    kind = type(error)
    if kind.__module__ == "builtins":
        return kind.__qualname__
    return f"{kind.__module__}.{kind.__qualname__}"
