"""How minutes put their values, members, statements and citations into words."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from chapterhouse.agents.council_model import CHAIR, RoundKind
from chapterhouse.presenting.blocks import Cited, Line, StatementName, Style, Words
from chapterhouse.presenting.wording import mismatch_mark
from chapterhouse.types import Minutes, Mismatch, Stance

STANCES: Final[Mapping[Stance, str]] = {
    Stance.STAND: "✓ holds",
    Stance.CONCEDE: "~ concedes",
    Stance.OPPOSE: "✗ opposes",
}
# What a document's Markdown looks like where it is quoted as text: a bullet, and bold words.
_BULLET: Final = re.compile(r"(?:^|(?<=“))\s{0,9}[-*+•] {1,9}(?=\S)")
_BOLD: Final = re.compile(r"\*\*(?=\S)([^*\n]{1,400})(?<=\S)\*\*")


def legible(text: str) -> str:
    """Return words without the marks of a document's Markdown; quotations keep them."""
    return _BOLD.sub(r"\1", _BULLET.sub("", text))


def round_title(name: str) -> str:
    """Return the name of a round as a title."""
    words = "cross-examination" if name == RoundKind.CROSS_EXAMINATION else name.replace("_", " ")
    return words[:1].upper() + words[1:]


def question_title(asked: str) -> str:
    """Return one of the things that are asked, as a title."""
    return f"{asked[:1].upper()}{asked[1:].rstrip('?')}?" if asked else ""


@dataclass(frozen=True, slots=True)
class Reader:
    """Names of one meeting.

    Attributes:
        place: Of the meeting, as ``contents.meetings`` gives it.
        members: How members are called, by key.
        statements: Ids of the statements that were made.
        numbers: Of the citations that there are.
    """

    minutes: Minutes
    place: str
    members: Mapping[str, str]
    statements: frozenset[str]
    numbers: frozenset[int]

    def title(self, key: str) -> str:
        """Return how a member is called."""
        return self.members.get(key, key)

    def titles(self, keys: Iterable[str]) -> str:
        """Return how members are called."""
        return ", ".join(map(self.title, keys))

    def cited(self, numbers: Iterable[int]) -> Line:
        """Return citations as they are called; those that are not there are left out."""
        names = tuple(f"{self.place}{number}" for number in numbers if number in self.numbers)
        return (Cited(names),) if names else ()

    def statement(self, name: str, *, stated: bool = False) -> StatementName:
        """Return the id of a statement, with its anchor where it was made."""
        anchor = f"statement-{self.place}{name}" if name in self.statements else ""
        return StatementName(name, anchor, stated)

    def written(self, text: str, citations: Iterable[int], mismatches: Sequence[Mismatch]) -> Line:
        """Return a sentence with its citations, and what in it no cited passage has."""
        remark = mismatch_mark(mismatches)
        warning = (Words(f" ({remark})", Style.WARNING),) if remark else ()
        return (Words(legible(text)), *self.cited(citations), *warning)


def reader_of(minutes: Minutes, place: str = "") -> Reader:
    """Return the names of a meeting."""
    members = {one.key: one.title or one.key for one in reversed(minutes.members)}
    if minutes.chair:
        members.setdefault(CHAIR, minutes.chair)
    return Reader(
        minutes,
        place,
        members,
        frozenset(one.id for one in minutes.statements),
        frozenset(citation.number for citation in minutes.citations),
    )
