"""What minutes hold, wherever it stands in them, and who stands by which statement."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from chapterhouse.agents.council_model import CHAIR, RoundKind
from chapterhouse.presenting.blocks import CitationBlock, Line, StatementName, Style, Words
from chapterhouse.presenting.wording import mismatch_mark
from chapterhouse.types import (
    Agreement,
    Citation,
    Ground,
    MemberTurn,
    Minutes,
    Mismatch,
    Point,
    Reply,
    Stance,
    Statement,
    ToolText,
)


def meetings(minutes: Minutes, place: str = "") -> Iterator[tuple[str, Minutes]]:
    """Yield the minutes and those of councils that sat in them, each with its place.

    The place is empty for the minutes themselves, else the numbers of the turns on the way
    there, from 1, as ``3-``: a citation 2 of that council is called ``3-2``.
    """
    yield place, minutes
    for number, turn in enumerate(minutes.turns, start=1):
        if turn.inner is not None:
            yield from meetings(turn.inner, f"{place}{number}-")


def all_citations(minutes: Minutes) -> Iterator[tuple[str, Citation]]:
    """Yield every citation, also of councils that sat in it, by how it is called."""
    for place, meeting in meetings(minutes):
        for citation in meeting.citations:
            yield f"{place}{citation.number}", citation


def map_meetings(minutes: Minutes, change: Callable[[Minutes], Minutes]) -> Minutes:
    """Return minutes that are changed, and with them those of councils that sat in them."""
    turns = tuple(
        one if one.inner is None else replace(one, inner=map_meetings(one.inner, change))
        for one in minutes.turns
    )
    return change(replace(minutes, turns=turns))


def tool_texts(minutes: Minutes) -> tuple[ToolText, ...]:
    """Return what tools returned, of all that is cited, also by councils that sat in it."""
    found: dict[str, ToolText] = {}
    for _, meeting in meetings(minutes):
        for turn in meeting.turns:
            found |= {text.id: text for text in turn.tool_texts}
        found |= {text.id: text for text in meeting.tool_texts}
    return tuple(found.values())


def sentences_of(turn: MemberTurn) -> Iterator[Statement | Ground | Reply]:
    """Yield everything in a turn that may cite."""
    for statement in turn.statements:
        yield statement
        yield from statement.grounds
    yield from turn.replies


def points_of(minutes: Minutes) -> Iterator[Point]:
    """Yield every sentence that was written to sum one meeting up."""
    yield from minutes.decision
    yield from minutes.grounds
    yield from minutes.dissent
    yield from minutes.open_questions


def find_agreement(turns: Sequence[MemberTurn], members: Iterable[str]) -> tuple[Agreement, ...]:
    """Return how every member stands to each statement, by the last that they said to it.

    It is counted from what members say themselves, and nothing else. ``turns`` are in the order of
    the rounds, their statements named; ``members`` are keys in the order of the seats.
    """
    statements = [one for turn in turns for one in turn.statements]
    stances = {(one.id, one.member): Stance.STAND for one in statements}
    for turn in turns:
        stances |= {(one.statement, one.member): one.stance for one in turn.replies}
    everyone = tuple(dict.fromkeys((*members, *(one.member for one in statements))))

    def who(statement: Statement, stance: Stance | None) -> tuple[str, ...]:
        return tuple(key for key in everyone if stances.get((statement.id, key)) is stance)

    return tuple(
        Agreement(
            one.id,
            stand=who(one, Stance.STAND),
            concede=who(one, Stance.CONCEDE),
            oppose=who(one, Stance.OPPOSE),
            silent=who(one, None),
        )
        for one in statements
    )


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


class Reader:
    """How one meeting calls its members, statements and citations; its place as of ``meetings``."""

    def __init__(self, minutes: Minutes, place: str = "") -> None:
        self.minutes, self.place = minutes, place
        self._members = {one.key: one.title or one.key for one in reversed(minutes.members)}
        if minutes.chair:
            self._members.setdefault(CHAIR, minutes.chair)
        self._statements = frozenset(one.id for one in minutes.statements)
        self._numbers = frozenset(citation.number for citation in minutes.citations)

    def title(self, key: str) -> str:
        """Return how a member is called."""
        return self._members.get(key, key)

    def titles(self, keys: Iterable[str]) -> str:
        """Return how members are called."""
        return ", ".join(map(self.title, keys))

    def cited(self, numbers: Iterable[int]) -> Line:
        """Return citations as they are called; those that are not there are left out."""
        names = tuple(f"{self.place}{number}" for number in numbers if number in self._numbers)
        return (CitationBlock(names),) if names else ()

    def statement(self, name: str, *, stated: bool = False) -> StatementName:
        """Return the id of a statement, with its anchor where it was made."""
        anchor = f"statement-{self.place}{name}" if name in self._statements else ""
        return StatementName(name, anchor, stated)

    def written(self, text: str, citations: Iterable[int], mismatches: Sequence[Mismatch]) -> Line:
        """Return a sentence with its citations, and what in it no cited passage has."""
        remark = mismatch_mark(mismatches)
        warning = (Words(f" ({remark})", Style.WARNING),) if remark else ()
        return (Words(legible(text)), *self.cited(citations), *warning)
