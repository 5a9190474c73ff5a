"""The parts of a council: its members and its rounds."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal

from chapterhouse.text.naming import slug as slug_of
from chapterhouse.types import Tool

Grounding = Literal["inject", "tool", "both"]
GROUNDINGS: Final = ("inject", "tool", "both")
ToolRef = str | Tool  # a name that is registered, or the tool itself
CHAIR: Final = "chair"  # how rounds name who presides
# Tools that every library has: each searches the shelves of whoever calls it.
SEARCH_TOOLS: Final = frozenset(("search_knowledge", "semantic_search", "search_documents"))
# No persona's slug has an underscore, so that no shelf of a council is ever a persona's.
_SHELF: Final = "council_"


class Seat(StrEnum):
    """What sits in a council."""

    PERSONA = "persona"
    ROLE = "role"
    COUNCIL = "council"


class RoundKind(StrEnum):
    """What happens in a round."""

    INDEPENDENT_ANALYSIS = "independent_analysis"  # everyone for themselves
    CROSS_EXAMINATION = "cross_examination"  # everyone on the claims of the others
    REBUTTAL = "rebuttal"  # everyone on what was said against their claims
    SYNTHESIS = "synthesis"  # the chair sums up
    OWN = "own"  # as its instructions say


BUILT_IN: Final = tuple(kind.value for kind in RoundKind if kind is not RoundKind.OWN)


@dataclass(frozen=True, slots=True)
class Member:
    """Someone who speaks in a council: a persona, a plain role, or a whole council.

    Attributes:
        persona: Slug of the persona who speaks.
        council: Slug of the council that speaks as one; it has its own tools and models.
        name: How a plain role is called; of a persona or council another name for here.
        instructions: What a plain role is to do; for a persona, what is theirs to do here.
        profile: Model that speaks for them, a name of ``[profiles.*]``; empty for the persona's
            own, else the council's.
        tools: What they may call beside the council's tools.
        grounding: Whether they are given excerpts, search for themselves, or both; None for the
            persona's own way, else ``inject``.
        timeout_seconds: Longest turn; None for the round's.
        shelves: Further shelves that they read beside the council's, and a persona's own.
    """

    persona: str = ""
    council: str = ""
    name: str = ""
    instructions: str = ""
    profile: str = ""
    tools: tuple[ToolRef, ...] = ()
    grounding: Grounding | None = None
    timeout_seconds: float | None = None
    shelves: tuple[str, ...] = ()

    @property
    def seat(self) -> Seat:
        """What they are."""
        if self.council:
            return Seat.COUNCIL
        return Seat.PERSONA if self.persona else Seat.ROLE

    @property
    def key(self) -> str:
        """How rounds and minutes name them: of their name, else of their persona or council."""
        return slug_of(self.name) if self.name else self.persona or self.council


@dataclass(frozen=True, slots=True)
class Round:
    """One round of a council.

    Attributes:
        name: A built-in kind, or a name of your own in lower case.
        instructions: What is to be done; a round of your own needs them, of a built-in one they
            come on top.
        speakers: Keys of the members who speak, ``chair`` for who presides; empty for all
            members, in a synthesis for the chair.
        anonymous: Whether those who see the claims of others do not see whose they are.
        sees_claims: Of a round of your own: whether the claims made so far are shown.
    """

    name: str
    instructions: str = ""
    speakers: tuple[str, ...] = ()
    anonymous: bool = False
    sees_claims: bool = False

    @property
    def kind(self) -> RoundKind:
        """What happens in it."""
        return RoundKind(self.name) if self.name in BUILT_IN else RoundKind.OWN

    @property
    def shows_claims(self) -> bool:
        """Whether the claims made so far are shown to those who speak."""
        if self.kind is RoundKind.OWN:
            return self.sees_claims
        return self.kind is not RoundKind.INDEPENDENT_ANALYSIS


def tool_name(tool: ToolRef) -> str:
    """Return the name by which a tool is called and written down."""
    return tool if isinstance(tool, str) else tool.name


def shelf_of(slug: str) -> str:
    """Return the shelf of a council's shared documents."""
    return f"{_SHELF}{slug}"


def is_council_shelf(name: str) -> bool:
    """Whether a shelf is a council's own, be the council there or not."""
    return name.startswith(_SHELF)
