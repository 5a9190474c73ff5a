"""What can be wrong with a definition, and how people and programs are told."""

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import ClassVar

from chapterhouse.errors import UsageError

Path = tuple[str | int, ...]


class Severity(StrEnum):
    """Whether a persona or council cannot be used, or can though something is amiss."""

    ERROR = "error"
    WARNING = "warning"


class Code(StrEnum):
    """What is wrong; the values are stable."""

    UNREADABLE = "unreadable"  # the file cannot be read
    NOT_JSON = "not-json"  # it is not UTF-8, not JSON, or no object
    TYPE = "type"  # a value of the wrong kind
    UNKNOWN = "unknown"  # nothing is called so
    DUPLICATE = "duplicate"  # it is there twice
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
    MODEL_UNKNOWN = "model-unknown"
    FOLDER_MISSING = "folder-missing"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a persona or a council.

    Attributes:
        path: Where in the file: keys and numbers from the outside in, as ``("tools", 2)``.
        code: What, for programs.
        sentence: What, for people.
        hint: What to do about it.
        file: The file below the folder of all definitions, as ``maria/persona.config.json``; the
            slug of a council that has no folder; empty for text that is in no file.
    """

    path: Path
    code: Code
    sentence: str
    hint: str
    severity: Severity = Severity.ERROR
    file: str = ""

    @property
    def slug(self) -> str:
        """Whose problem it is."""
        return self.file.partition("/")[0]

    @property
    def place(self) -> str:
        """The path as people write it, as ``tools[2]``."""
        return spell(self.path)


def spell(path: Path) -> str:
    """Return a path as people write it, as ``members[0].name``."""
    spelled = ""
    for part in path:
        spelled += f"[{part}]" if isinstance(part, int) else f".{part}" if spelled else part
    return spelled


class DefinitionError(UsageError):
    """A definition cannot be used as it is. ``problems`` holds everything wrong in it."""

    kind: ClassVar = "persona"

    def __init__(self, problems: Sequence[Problem]) -> None:
        first, more = problems[0], len(problems) - 1
        others = f" And {more} more: chapterhouse {self.kind} validate." if more else ""
        message = ": ".join(filter(None, (first.file, first.place, first.sentence)))
        super().__init__(message, hint=first.hint + others)
        self.problems = tuple(problems)


class PersonaConfigError(DefinitionError):
    """A persona cannot be used as their folder is."""


class CouncilConfigError(DefinitionError):
    """A council cannot be used as it is."""

    kind: ClassVar = "council"


def warning(path: Path, code: Code, sentence: str, hint: str, file: str = "") -> Problem:
    """Return what is amiss without keeping anybody from using the definition."""
    return Problem(path, code, sentence, hint, Severity.WARNING, file)


def in_file(file: str, problems: Iterable[Problem]) -> Iterator[Problem]:
    """Yield the problems as those of ``file``."""
    return (replace(problem, file=file) for problem in problems)


def errors(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return the problems with which a definition cannot be used."""
    return tuple(problem for problem in problems if problem.severity is Severity.ERROR)


def errors_first(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return problems, each once, errors before warnings."""
    distinct = dict.fromkeys(problems)
    return tuple(sorted(distinct, key=lambda problem: problem.severity is not Severity.ERROR))


def meant(given: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return what to try instead of ``given``: what is nearest, else all there is."""
    names = sorted(known)
    close = difflib.get_close_matches(given, names, n=1, cutoff=0.6)
    if close:
        return f"Did you mean '{close[0]}'?"
    return f"There are: {', '.join(names)}." if names else otherwise or "There are none yet."
