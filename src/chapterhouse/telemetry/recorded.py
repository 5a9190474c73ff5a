"""Spans as they are kept: written while the work goes on, frozen when somebody looks."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

AttributeValue = str | bool | int | float | Sequence[str] | Sequence[int] | Sequence[float]

Clock: Final = time.perf_counter


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
