"""What was said in a meeting so far, under one numbering, and what a participant is asked next."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from chapterhouse.agents.council import Council
from chapterhouse.agents.council_model import Round, RoundKind
from chapterhouse.council.meeting.session import Participant
from chapterhouse.types import (
    Absence,
    Citation,
    Claim,
    Concession,
    Memory,
    Quotation,
    Reading,
    Reply,
    Stance,
    Statement,
    ToolText,
)


@dataclass(frozen=True, slots=True)
class Record:
    """What was said, in the order of rounds and seats.

    Attributes:
        statements: Their citations are numbered through the whole meeting.
        citations: Each once, in the order in which they were first used.
    """

    statements: tuple[Statement, ...] = ()
    citations: tuple[Citation, ...] = ()
    absences: tuple[Absence, ...] = ()

    @property
    def claims(self) -> tuple[Claim, ...]:
        """All claims in their order."""
        return tuple(claim for statement in self.statements for claim in statement.claims)

    @property
    def replies(self) -> tuple[Reply, ...]:
        """All replies in their order."""
        return tuple(reply for statement in self.statements for reply in statement.replies)

    @property
    def concessions(self) -> tuple[Concession, ...]:
        """All concessions in their order."""
        return tuple(given for statement in self.statements for given in statement.concessions)

    @property
    def tool_texts(self) -> tuple[ToolText, ...]:
        """What tools returned, of all that was cited; a text that several cite as often."""
        return tuple(text for statement in self.statements for text in statement.tool_texts)

    @property
    def by_number(self) -> Mapping[int, Citation]:
        """The citations by number."""
        return {citation.number: citation for citation in self.citations}

    def claim(self, name: str) -> Claim | None:
        """Return the claim of this id."""
        return next((claim for claim in self.claims if claim.id == name), None)

    def cited(self, numbers: Iterable[int]) -> tuple[Citation, ...]:
        """Return citations by their numbers."""
        known = self.by_number
        return tuple(known[number] for number in numbers)

    def read_by(self, member: str, until: str = "") -> tuple[Reading, ...]:
        """Return what lay before a member, at most until the turn in which they made a claim.

        Args:
            member: Their key.
            until: Id of the claim; empty for all turns.
        """
        found: list[Reading] = []
        for statement in self.statements:
            if statement.member == member:
                found += statement.read
                if until and any(claim.id == until for claim in statement.claims):
                    break
        return tuple(found)


def add_statement(record: Record, statement: Statement) -> Record:
    """Return the record with a further statement, its claims named and its citations numbered."""
    citations = list(record.citations)
    numbers: dict[int, int] = {}
    known = {_unnumbered(citation): citation.number for citation in citations}
    for citation in statement.citations:
        bare = _unnumbered(citation)
        if bare not in known:
            known[bare] = len(citations) + 1
            citations.append(replace(citation, number=known[bare]))
        numbers[citation.number] = known[bare]
    first = len(record.claims) + 1
    renumbered = replace(
        statement,
        claims=tuple(
            replace(claim, id=f"c{number}", citations=_renumber(claim.citations, numbers))
            for number, claim in enumerate(statement.claims, start=first)
        ),
        replies=tuple(
            replace(reply, citations=_renumber(reply.citations, numbers))
            for reply in statement.replies
        ),
        concessions=tuple(
            replace(given, citations=_renumber(given.citations, numbers))
            for given in statement.concessions
        ),
        citations=(),
    )
    return replace(record, statements=(*record.statements, renumbered), citations=tuple(citations))


def add_absence(record: Record, absence: Absence) -> Record:
    """Return the record with someone who did not speak."""
    return replace(record, absences=(*record.absences, absence))


class Ledger:
    """Numbers the citations of one statement, each once."""

    def __init__(self, citations: Iterable[Citation] = ()) -> None:
        self._numbers: dict[Citation, int] = {}
        for citation in citations:
            self.number(citation)

    def number(self, citation: Citation) -> int:
        """Return the number of a citation, the next one where it is new."""
        return self._numbers.setdefault(_unnumbered(citation), len(self._numbers) + 1)

    def numbers(self, citations: Iterable[Citation]) -> tuple[int, ...]:
        """Return the numbers of citations."""
        return tuple(dict.fromkeys(map(self.number, citations)))

    @property
    def citations(self) -> tuple[Citation, ...]:
        """All citations by number."""
        return tuple(replace(citation, number=number) for citation, number in self._numbers.items())


def span_of(citation: Citation) -> Quotation:
    """Return the span that a citation quotes."""
    return Quotation(citation.document_id, citation.start, citation.end, citation.quote)


def _unnumbered(citation: Citation) -> Citation:
    return replace(citation, number=0)


def _renumber(own: tuple[int, ...], numbers: Mapping[int, int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(numbers[number] for number in own))


OnText = Callable[[str], None]


class IssueKind(StrEnum):
    """Why something is open."""

    DIFFERENCE = "difference"  # members, or their documents, hold what cannot both be true
    OUTDATED = "outdated"  # a newer document says otherwise
    UNSUPPORTED = "unsupported"  # no document that was given carries it


@dataclass(frozen=True, slots=True)
class Issue:
    """Something that is open between members, to be argued.

    Attributes:
        text: What is open, in a line that names no member; words of documents stand in it.
        members: Keys of those who are asked about it.
        claims: Ids of the claims that it is about.
        citations: The evidence of all sides.
    """

    kind: IssueKind
    text: str
    members: tuple[str, ...]
    claims: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class Agenda:
    """What is open before a round that argues.

    Attributes:
        examined: What each member's documents say on the claims of others, by key.
    """

    issues: tuple[Issue, ...] = ()
    examined: Mapping[str, Statement] = field(default_factory=dict)

    def of(self, member: str) -> tuple[Issue, ...]:
        """Return the issues about which a member is asked."""
        return tuple(issue for issue in self.issues if member in issue.members)


@dataclass(frozen=True, slots=True)
class Turn:
    """What one member is asked in one round.

    Attributes:
        council: Who meets.
        question: What was put to the council.
        round: The round.
        number: Of the round, from 1.
        record: All that was said in the rounds before.
        titles: How everyone is called, by key.
        reminded: What the member held in earlier meetings.
        agenda: What is open, in a round that argues.
    """

    council: Council
    question: str
    round: Round
    number: int
    record: Record
    titles: Sequence[tuple[str, str]] = ()
    reminded: tuple[Memory, ...] = ()
    agenda: Agenda = Agenda()

    def title(self, key: str) -> str:
        """Return how a member is called."""
        return dict(self.titles).get(key, key)

    def own(self, participant: Participant) -> tuple[Claim, ...]:
        """Return the claims of a member that they have not given up."""
        given_up = {
            given.claim
            for given in self.record.concessions
            if given.accepted and given.member == participant.key
        }
        return tuple(
            claim
            for claim in self.record.claims
            if claim.member == participant.key and claim.id not in given_up
        )

    def others(self, participant: Participant) -> tuple[Claim, ...]:
        """Return the claims of everyone else, in their order."""
        return tuple(claim for claim in self.record.claims if claim.member != participant.key)

    def open_claims(self, participant: Participant) -> tuple[Claim, ...]:
        """Return the claims, of a member and of others, about which the member is asked."""
        named = {name for issue in self.agenda.of(participant.key) for name in issue.claims}
        return tuple(claim for claim in self.record.claims if claim.id in named)

    def against(self, participant: Participant) -> tuple[Reply, ...]:
        """Return what others said against the claims of a member."""
        own = {claim.id for claim in self.own(participant)}
        return tuple(
            reply
            for reply in self.record.replies
            if reply.claim in own
            and reply.stance is Stance.CONTRADICTS
            and reply.member != participant.key
        )

    @property
    def argues(self) -> bool:
        """Whether only what is open is spoken of."""
        return self.round.kind in {RoundKind.CROSS_EXAMINATION, RoundKind.REBUTTAL}

    @property
    def examines(self) -> bool:
        """Whether members say how they stand to the claims of others."""
        return self.round.shows_claims and self.round.kind is not RoundKind.REBUTTAL

    @property
    def analyses(self) -> bool:
        """Whether members make claims of their own."""
        return self.round.kind in {RoundKind.INDEPENDENT_ANALYSIS, RoundKind.OWN}


def with_examined(statement: Statement, turn: Turn) -> Statement:
    """Add what the member's documents say on claims that the model did not speak of."""
    examined = turn.agenda.examined.get(statement.member)
    answered = {reply.claim for reply in statement.replies}
    left = [one for one in examined.replies if one.claim not in answered] if examined else []
    if examined is None or not left:
        return statement
    ledger = Ledger(statement.citations)
    cited = {citation.number: citation for citation in examined.citations}
    replies = tuple(
        replace(one, citations=ledger.numbers(cited[number] for number in one.citations))
        for one in left
    )
    return replace(
        statement,
        replies=(*statement.replies, *replies),
        citations=ledger.citations,
        read=tuple(dict.fromkeys((*statement.read, *examined.read))),
    )
