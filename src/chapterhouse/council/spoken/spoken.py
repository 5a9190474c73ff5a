"""What a model gives in a round, before any of it is checked. Everything in it is bounded.

What is too long is cut, what is too much is left out, and no string holds what nobody can see.
"""

from typing import Annotated, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict

from chapterhouse.text.sanitise import sanitise, sanitise_line
from chapterhouse.types import Leaning, Stance

LONGEST_TEXT: Final = 4_000  # characters of a position or a reason
LONGEST_CLAIM: Final = 2_000
LONGEST_NAME: Final = 400  # of an option or a member
MOST_CLAIMS: Final = 24
MOST_REPLIES: Final = 60
MOST_REMARKS: Final = 12  # gaps, questions
MOST_VERDICTS: Final = 400


def _text(value: object) -> str:
    lines = sanitise(value if isinstance(value, str) else "").text.strip()
    return shortened(lines, LONGEST_TEXT)


def _line(value: object) -> str:
    return shortened(sanitise_line(value if isinstance(value, str) else ""), LONGEST_CLAIM)


def _name(value: object) -> str:
    return shortened(sanitise_line(value if isinstance(value, str) else ""), LONGEST_NAME)


def shortened(text: str, most: int) -> str:
    """Return a text cut at its last whole word within ``most`` characters."""
    if len(text) <= most:
        return text
    kept = text[: most - 1]
    return f"{kept.rpartition(' ')[0] or kept}…"


Text = Annotated[str, BeforeValidator(_text)]
Line = Annotated[str, BeforeValidator(_line)]
Name = Annotated[str, BeforeValidator(_name)]


class _Spoken(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class SpokenReply(_Spoken):
    """What a member says on the claim of another; ``claim`` is its id."""

    claim: Name
    stance: Stance = Stance.SILENT
    reason: Text = ""


class SpokenConcession(_Spoken):
    """A claim of their own that a member gives up, and the one it gives way to, or none."""

    claim: Name
    to: Name = ""
    reason: Text = ""


class SpokenTurn(_Spoken):
    """What a member says in a round.

    Attributes:
        claims: With the markers of their citations as the model wrote them.
        warning: How it had to be read, where not as it was written.
    """

    position: Text = ""
    option: Name = ""
    claims: tuple[Line, ...] = ()
    replies: tuple[SpokenReply, ...] = ()
    concessions: tuple[SpokenConcession, ...] = ()
    missing: tuple[Line, ...] = ()
    open_questions: tuple[Line, ...] = ()
    warning: str = ""


class SpokenDissent(_Spoken):
    """What stands against a decision, and who says so."""

    member: Name = ""
    text: Line


class SpokenGap(_Spoken):
    """Evidence that is missing, and from whom."""

    member: Name = ""
    text: Line


class SpokenVerdict(_Spoken):
    """How a member stands to an option."""

    option: Name
    member: Name
    leaning: Leaning = Leaning.SILENT
    text: Line = ""


class SpokenSynthesis(_Spoken):
    """How the chair sums up.

    Attributes:
        warning: How it had to be read, where not as it was written.
    """

    decided: Name = ""
    decision: tuple[Line, ...] = ()
    grounds: tuple[Line, ...] = ()
    dissent: tuple[SpokenDissent, ...] = ()
    open_questions: tuple[Line, ...] = ()
    missing: tuple[SpokenGap, ...] = ()
    matrix: tuple[SpokenVerdict, ...] = ()
    warning: str = ""
