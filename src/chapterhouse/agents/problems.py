"""What can be wrong with a persona, and how it is told."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from chapterhouse.errors import UsageError


class Severity(StrEnum):
    """Whether a persona cannot be used, or can though something is amiss."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class PersonaProblem:
    """Something wrong in a persona's folder.

    Attributes:
        file: Where: a path as it can be opened, or below the persona's folder.
        key: Which key of it, as ``retrieval.max_chunks``; or empty.
        reason: What is wrong, in a sentence.
        hint: What to do about it.
    """

    file: str
    key: str
    reason: str
    hint: str
    severity: Severity = Severity.ERROR

    @property
    def sentence(self) -> str:
        """File, key and reason on one line."""
        return ": ".join(part for part in (self.file, self.key, self.reason) if part)


class PersonaConfigError(UsageError):
    """A persona's configuration cannot be used. ``problems`` holds everything wrong in it."""

    def __init__(self, problems: Sequence[PersonaProblem]) -> None:
        first, more = problems[0], len(problems) - 1
        others = f" And {more} more: chapterhouse persona validate." if more else ""
        super().__init__(first.sentence, hint=first.hint + others)
        self.problems = tuple(problems)
