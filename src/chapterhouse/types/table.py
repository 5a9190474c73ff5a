"""What each member's documents say on each thing that a question asks: a table, without a model."""

from dataclasses import dataclass
from typing import Final

GAP: Final = "…"  # at the end of a quotation whose sentence goes on


@dataclass(frozen=True, slots=True)
class Aspect:
    """One of the things that a question asks.

    Attributes:
        context: What the question says before it; or empty.
    """

    text: str
    context: str = ""


@dataclass(frozen=True, slots=True)
class TableCell:
    """What one member's documents say on one thing: a quotation, or nothing.

    Attributes:
        text: The quotation as it is shown; empty where nothing was found.
        citations: Its number in ``Minutes.citations``.
    """

    member: str
    text: str = ""
    citations: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TableRow:
    """One thing that a question asks, with a cell for each member in the order of the seats."""

    asked: str
    cells: tuple[TableCell, ...] = ()
