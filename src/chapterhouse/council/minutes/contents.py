"""What minutes hold, wherever it stands in them."""

from collections.abc import Iterator
from dataclasses import dataclass

from chapterhouse.answering.checksum import EXTRACTIVE
from chapterhouse.types import Citation, Minutes, Support, ToolText


@dataclass(frozen=True, slots=True)
class SupportedText:
    """A sentence of the minutes that says how far its citations carry it.

    Attributes:
        where: How it is named to people, as ``claim c3``.
        quoted: Whether no model had a part in it: it is a quotation.
    """

    where: str
    text: str
    support: Support
    citations: tuple[int, ...]
    quoted: bool = False


def meetings(minutes: Minutes, place: str = "") -> Iterator[tuple[str, Minutes]]:
    """Yield the minutes and those of councils that sat in them, each with its place.

    The place is empty for the minutes themselves, else the numbers of the statements on the way
    there, from 1, as ``3-``: a citation 2 of that council is called ``3-2``.
    """
    yield place, minutes
    for number, statement in enumerate(minutes.statements, start=1):
        if statement.inner is not None:
            yield from meetings(statement.inner, f"{place}{number}-")


def all_citations(minutes: Minutes) -> Iterator[tuple[str, Citation]]:
    """Yield every citation, also of councils that sat in it, by how it is called."""
    for place, meeting in meetings(minutes):
        for citation in meeting.citations:
            yield f"{place}{citation.number}", citation


def tool_texts(minutes: Minutes) -> tuple[ToolText, ...]:
    """Return what tools returned, of all that is cited, also by councils that sat in it."""
    found: dict[str, ToolText] = {}
    for _, meeting in meetings(minutes):
        for statement in meeting.statements:
            found |= {text.id: text for text in statement.tool_texts}
        found |= {text.id: text for text in meeting.tool_texts}
    return tuple(found.values())


def supported_texts(minutes: Minutes) -> Iterator[SupportedText]:
    """Yield every sentence of one meeting that says how far it is carried.

    Replies and verdicts without words are left out: there is nothing to carry. So are questions,
    which state nothing, and what of the decision is about the meeting itself and cites nothing.
    """
    for statement in minutes.statements:
        quoted = statement.method == EXTRACTIVE and statement.inner is None
        for claim in statement.claims:
            where = f"claim {claim.id}"
            yield SupportedText(where, claim.text, claim.support, claim.citations, quoted)
        for reply in filter(lambda reply: reply.text.strip(), statement.replies):
            where = f"the reply of {reply.member} to {reply.claim}"
            yield SupportedText(where, reply.text, reply.support, reply.citations, quoted)
        for given in filter(lambda given: quoted and given.text, statement.concessions):
            where = f"the concession of {given.member} on {given.claim}"
            yield SupportedText(where, given.text, Support.QUOTED, given.citations, quoted)
    named = (
        ("decision", tuple(point for point in minutes.decision if point.citations)),
        ("grounds", minutes.grounds),
        ("dissent", minutes.dissent),
    )
    for name, points in named:
        for number, point in enumerate(points, start=1):
            yield SupportedText(f"{name} {number}", point.text, point.support, point.citations)
    for verdict in filter(lambda verdict: verdict.text.strip(), minutes.matrix):
        where = f"the verdict of {verdict.member} on {verdict.option}"
        yield SupportedText(where, verdict.text, verdict.support, verdict.citations)
