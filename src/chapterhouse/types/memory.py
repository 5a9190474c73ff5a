"""What was asked and answered before."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Memory:
    """A question that was asked once and the answer that was given.

    Attributes:
        id: ``m`` and its number; never given again.
        persona: Slug of who answered; empty for the library itself; ``council_SLUG`` for what a
            council decided, ``council_SLUG/KEY`` for what its member held there.
        expires: When it is forgotten, in seconds; 0 for never.
        answer: The text that was given, with its citation numbers.
        found: Whether it was an answer rather than a refusal.
        method: How it was composed: ``extractive`` or a model's name.
        sequence: Of the library, when it was answered.
    """

    id: str
    persona: str
    asked: int
    expires: int
    question: str
    answer: str
    found: bool
    method: str
    sources: tuple[str, ...] = ()
    sequence: int = 0


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """A memory that fits some words; higher scores fit better."""

    memory: Memory
    score: float
