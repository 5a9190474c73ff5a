"""What a caller says about one meeting, and what a meeting would be."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from chapterhouse.types import Seating, Tool


@dataclass(frozen=True, slots=True)
class Convening:
    """What a caller says about one meeting.

    Attributes:
        model: Profile of the settings that speaks for everybody, ``none`` for no model; None
            leaves it to the members and the council.
        remember: Whether what was held and decided goes into the memory, if the settings have one.
        fresh: Whether to begin anew where a transcript of the same meeting could be gone on from.
        transcript: File of the transcript; None for the council's own folder, or for no file
            where the council has none.
        tools: Further tools by the names that the council uses.
        options: What is to be decided between in this meeting; None for the council's own.
    """

    model: str | None = None
    remember: bool = True
    fresh: bool = False
    transcript: Path | None = None
    tools: Mapping[str, Tool] = field(default_factory=lambda: MappingProxyType({}))
    options: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class PlannedTurn:
    """One turn as it would be put to a model.

    Attributes:
        member: Key of who would speak; ``chair`` for who presides.
        model: Name of the model; empty where the documents would be quoted.
        shelves: What they would read.
        tools: Names of the tools that they could call.
        instructions: The system message.
        prompt: The user's message. What others would say before is what their documents say.
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
    seats: tuple[Seating, ...]
    turns: tuple[PlannedTurn, ...]
    warnings: tuple[str, ...] = ()
