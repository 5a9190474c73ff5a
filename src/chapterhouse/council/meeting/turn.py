"""What is put to a member in one round, and to whom it is put."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chapterhouse.agents.council import Council
from chapterhouse.agents.council_model import Round, RoundKind
from chapterhouse.council.meeting.record import Record
from chapterhouse.council.meeting.seating import Speaker
from chapterhouse.types import Claim, Memory, Reply, Stance

OnText = Callable[[str], None]


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
    """

    council: Council
    question: str
    round: Round
    number: int
    record: Record
    titles: Sequence[tuple[str, str]] = ()
    reminded: tuple[Memory, ...] = ()

    def title(self, key: str) -> str:
        """Return how a member is called."""
        return dict(self.titles).get(key, key)

    def own(self, speaker: Speaker) -> tuple[Claim, ...]:
        """Return the claims of a member that they have not given up."""
        given_up = {
            given.claim
            for given in self.record.concessions
            if given.accepted and given.member == speaker.key
        }
        return tuple(
            claim
            for claim in self.record.claims
            if claim.member == speaker.key and claim.id not in given_up
        )

    def others(self, speaker: Speaker) -> tuple[Claim, ...]:
        """Return the claims of everyone else, in their order."""
        return tuple(claim for claim in self.record.claims if claim.member != speaker.key)

    def against(self, speaker: Speaker) -> tuple[Reply, ...]:
        """Return what others said against the claims of a member."""
        own = {claim.id for claim in self.own(speaker)}
        return tuple(
            reply
            for reply in self.record.replies
            if reply.claim in own
            and reply.stance is Stance.CONTRADICTS
            and reply.member != speaker.key
        )

    @property
    def examines(self) -> bool:
        """Whether members say how they stand to the claims of others."""
        return self.round.shows_claims and self.round.kind is not RoundKind.REBUTTAL

    @property
    def analyses(self) -> bool:
        """Whether members make claims of their own."""
        return self.round.kind in {RoundKind.INDEPENDENT_ANALYSIS, RoundKind.OWN}
