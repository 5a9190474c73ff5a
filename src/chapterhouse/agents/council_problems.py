"""What can be wrong with a council, and how it is told."""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from chapterhouse.agents.problems import Severity
from chapterhouse.errors import UsageError

Path = tuple[str | int, ...]


class Code(StrEnum):
    """What is wrong; the values are stable."""

    UNREADABLE = "unreadable"  # the file cannot be read
    NOT_JSON = "not-json"  # it is not UTF-8, not JSON, or no object
    TYPE = "type"  # a value of the wrong kind
    UNKNOWN = "unknown"  # nothing is called so
    DUPLICATE = "duplicate"  # it stands there twice
    MISSING = "missing"  # it is needed and not there
    EMPTY = "empty"  # text is needed and there is none
    INVISIBLE = "invisible"  # characters that nobody sees
    NAME = "name"  # it cannot be the name of such a thing
    RESERVED = "reserved"  # Chapterhouse uses the word itself
    MISMATCH = "mismatch"  # it is not what its folder is called
    RANGE = "range"  # too small, too large, too long or too many
    AMBIGUOUS = "ambiguous"  # two things in one place
    MISPLACED = "misplaced"  # it has no meaning here
    ORDER = "order"  # a round stands where it cannot
    CYCLE = "cycle"  # councils that contain each other
    NO_MEMBERS = "no-members"
    NO_ROUNDS = "no-rounds"
    NO_CHAIR = "no-chair-for-synthesis"
    NO_SYNTHESIS = "no-synthesis"  # a warning: nobody sums up
    UNUSED = "unused"  # a warning: it will never matter
    PERSONA_BROKEN = "persona-broken"
    COUNCIL_BROKEN = "council-broken"
    PROFILE_UNKNOWN = "profile-unknown"
    FOLDER_MISSING = "folder-missing"


@dataclass(frozen=True, slots=True)
class CouncilProblem:
    """Something wrong in a council.

    Attributes:
        path: Where: keys and numbers from the outside in, as ``("tools", 2)``.
        code: What, for programs.
        sentence: What, for people.
        hint: What to do about it.
        council: Slug of the council, or empty for one that has no folder.
    """

    path: Path
    code: Code
    sentence: str
    hint: str
    severity: Severity = Severity.ERROR
    council: str = ""

    @property
    def place(self) -> str:
        """The path as people write it, as ``tools[2]``."""
        spelt = ""
        for part in self.path:
            spelt += f"[{part}]" if isinstance(part, int) else f".{part}" if spelt else part
        return spelt


class CouncilConfigError(UsageError):
    """A council cannot be used as it is. ``problems`` holds everything wrong in it."""

    def __init__(self, problems: Sequence[CouncilProblem]) -> None:
        first, more = problems[0], len(problems) - 1
        others = f" And {more} more: chapterhouse council validate." if more else ""
        told = (first.council, first.place, first.sentence)
        super().__init__(": ".join(filter(None, told)), hint=first.hint + others)
        self.problems = tuple(problems)


def errors(problems: Iterable[CouncilProblem]) -> tuple[CouncilProblem, ...]:
    """Return the problems with which a council cannot meet."""
    return tuple(problem for problem in problems if problem.severity is Severity.ERROR)


def meant(given: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return what to try instead of ``given``: what is nearest, else all there is."""
    names = sorted(known)
    close = difflib.get_close_matches(given, names, n=1, cutoff=0.6)
    if close:
        return f"Did you mean '{close[0]}'?"
    return f"There are: {', '.join(names)}." if names else otherwise or "There are none yet."
