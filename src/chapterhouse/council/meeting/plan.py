"""A meeting before it is held: who would take part, and what each would be asked."""

from dataclasses import dataclass

from chapterhouse.types import ParticipantRecord


@dataclass(frozen=True, slots=True)
class PlannedTurn:
    """One turn as it would be put to a model.

    Attributes:
        member: Key of who would speak; ``chair`` for who presides.
        model: Name of the model; empty for who has none, and is asked nothing.
        prompt: The user's message, without what others would say before.
    """

    member: str
    round: str
    model: str
    grounding: str
    shelves: tuple[str, ...]
    tools: tuple[str, ...]
    instructions: str
    prompt: str


@dataclass(frozen=True, slots=True)
class Plan:
    """A meeting before it is held: who would sit in it, and what each would be told."""

    council: str
    title: str
    question: str
    participants: tuple[ParticipantRecord, ...]
    turns: tuple[PlannedTurn, ...]
    warnings: tuple[str, ...] = ()
