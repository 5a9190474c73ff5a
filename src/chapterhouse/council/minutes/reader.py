"""How the members, claims, citations and sources of one meeting are called in its minutes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from chapterhouse.agents.council_model import CHAIR
from chapterhouse.council.minutes import wording
from chapterhouse.presenting.blocks import Cited, ClaimName, Line, Style, Words
from chapterhouse.presenting.wording import support_mark
from chapterhouse.types import Minutes, Problem, Support


@dataclass(frozen=True, slots=True)
class Reader:
    """Names of one meeting.

    Attributes:
        place: Of the meeting, as ``contents.meetings`` gives it.
        members: How members are called, by key.
        anchors: Of claims, by id.
        numbers: Of the citations that there are.
        sources: Titles of the documents that are cited, by id.
        names_claims: Whether sentences name the claims that they rest on.
    """

    minutes: Minutes
    place: str
    members: Mapping[str, str]
    anchors: Mapping[str, str]
    numbers: frozenset[int]
    sources: Mapping[str, str]
    names_claims: bool = True

    def title(self, key: str) -> str:
        """Return how a member is called."""
        return self.members.get(key, key)

    def titles(self, keys: Iterable[str]) -> str:
        """Return how members are called."""
        return ", ".join(map(self.title, keys))

    def source(self, name: str) -> str:
        """Return the title of a document that is cited, else its name."""
        return self.sources.get(name, name)

    def cited(self, numbers: Iterable[int]) -> Line:
        """Return citations as they are called; those that are not there are left out."""
        names = tuple(f"{self.place}{number}" for number in numbers if number in self.numbers)
        return (Cited(names),) if names else ()

    def claim(self, name: str, *, stated: bool = False) -> ClaimName:
        """Return the name of a claim, with its anchor where it is one."""
        return ClaimName(name, self.anchors.get(name, ""), stated)

    def claims(self, names: Iterable[str]) -> Line:
        """Return claims that something rests on, in brackets."""
        named = [self.claim(name) for name in names if name]
        if not named or not self.names_claims:
            return ()
        between = [part for one in named for part in (Words(", ", Style.QUIET), one)][1:]
        return (Words(" (", Style.QUIET), *between, Words(")", Style.QUIET))

    def carried(
        self,
        text: str,
        support: Support,
        problems: Sequence[Problem],
        citations: Iterable[int],
    ) -> Line:
        """Return a sentence with its citations, and how far they carry it where not in full."""
        mark = support_mark(support)
        amiss = "; ".join(wording.problem(one) for one in problems) if mark else ""
        told = ": ".join(filter(None, (mark, amiss)))
        warning = (Words(f" ({told})", Style.WARNING),) if told else ()
        return (Words(wording.legible(text)), *self.cited(citations), *warning)


def reader_of(minutes: Minutes, place: str = "", *, names_claims: bool = True) -> Reader:
    """Return the names of a meeting."""
    members = {seat.key: seat.title or seat.key for seat in reversed(minutes.members)}
    if minutes.chair:
        members.setdefault(CHAIR, minutes.chair)
    return Reader(
        minutes,
        place,
        members,
        {
            claim.id: f"claim-{place}{number}"
            for number, claim in reversed(list(enumerate(minutes.claims, start=1)))
        },
        frozenset(citation.number for citation in minutes.citations),
        {c.document_id: c.title or c.source for c in reversed(minutes.citations)},
        names_claims,
    )
