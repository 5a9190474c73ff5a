"""What minutes hold, wherever it stands in them, and who stands by which statement."""

from collections.abc import Iterable, Iterator, Sequence

from chapterhouse.types import (
    Agreement,
    Citation,
    Ground,
    MemberTurn,
    Minutes,
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

    It is counted from what members say themselves, and nothing else.

    Args:
        turns: In the order of the rounds, their statements named.
        members: Keys, in the order of the seats.
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
