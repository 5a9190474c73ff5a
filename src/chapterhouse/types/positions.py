"""What each member's documents say on each thing that a question asks.

Numbers of citations count in ``Minutes.citations``.
"""

from dataclasses import dataclass
from enum import StrEnum


class AspectKind(StrEnum):
    """What kind of answer is asked for."""

    VALUE = "value"  # a number, a time, a name, a place
    YES_NO = "yes-no"
    LIST = "list"
    REASON = "reason"


class PositionKind(StrEnum):
    """What a member's documents say on an aspect."""

    VALUE = "value"
    YES = "yes"
    NO = "no"
    CONDITIONAL = "conditional"  # yes or no only under a condition that the document names
    STATED = "stated"  # they speak of it, without a value that could be compared
    SILENT = "silent"


class PositionRelation(StrEnum):
    """How the positions of the members stand to each other."""

    AGREE = "agree"
    DIFFER = "differ"
    CONDITIONAL = "conditional"  # what one says holds only under a condition
    NOT_COMPARABLE = "not-comparable"  # each speaks of something of its own, or states no value
    ONE_ONLY = "one-only"  # one member's documents alone speak of it
    SILENT = "silent"  # nobody's do


@dataclass(frozen=True, slots=True)
class Aspect:
    """One of the things that a question asks.

    Attributes:
        id: ``a1``, ``a2`` and so on, in the order of the question.
        text: As it was asked, alone.
        context: What the question says before it; or empty.
    """

    id: str
    text: str
    kind: AspectKind
    context: str = ""


@dataclass(frozen=True, slots=True)
class Position:
    """What one member's documents say on one aspect: a cell of the table.

    Attributes:
        member: Key of whose documents.
        aspect: Its id.
        values: The values as the sentence states them; empty where none can be told.
        keys: The same in one form, by which they are compared: 24 months as 730.5 days.
        text: The sentence, as it is shown.
        condition: Under which condition, as the sentence states it; or empty.
        whose: Whose it is, as the sentence says: "our service", a name; or empty.
        date: The day that the document states for itself; or empty.
        citations: What the sentence is quoted from.
        outdated: What an older document of the same member says otherwise.
        likely: How likely the sentence answers, 0 to 1.
    """

    member: str
    aspect: str
    kind: PositionKind
    values: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    text: str = ""
    condition: str = ""
    whose: str = ""
    date: str = ""
    citations: tuple[int, ...] = ()
    outdated: "Position | None" = None
    likely: float = 0.0


@dataclass(frozen=True, slots=True)
class PositionComparison:
    """How the members stand to each other on one aspect.

    Attributes:
        groups: Keys of the members who hold the same, in the order of the seats; who is silent is
            in none.
        same_source: Whether several members who agree quote one document, or copies of it.
    """

    aspect: str
    relation: PositionRelation
    groups: tuple[tuple[str, ...], ...] = ()
    same_source: bool = False


@dataclass(frozen=True, slots=True)
class PositionTable:
    """Aspects against members.

    Attributes:
        positions: By aspect, then by member.
        comparisons: One for each aspect.
    """

    aspects: tuple[Aspect, ...] = ()
    positions: tuple[Position, ...] = ()
    comparisons: tuple[PositionComparison, ...] = ()
