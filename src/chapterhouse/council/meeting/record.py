"""What was said in a meeting so far, under one numbering, what is asked next, and what is left."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from chapterhouse.agents.council import Council
from chapterhouse.agents.council_model import Round, RoundKind
from chapterhouse.council.minutes.contents import find_agreement
from chapterhouse.types import (
    Absence,
    Agreement,
    Aspect,
    Citation,
    MemberTurn,
    Memory,
    Reply,
    Statement,
    ToolText,
    Usage,
)

OnText = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Record:
    """What was said, in the order of rounds and seats.

    Attributes:
        turns: Their citations are numbered through the whole meeting.
        citations: Each once, in the order in which they were first used.
    """

    turns: tuple[MemberTurn, ...] = ()
    citations: tuple[Citation, ...] = ()
    absences: tuple[Absence, ...] = ()

    @property
    def statements(self) -> tuple[Statement, ...]:
        """All statements in their order."""
        return tuple(one for turn in self.turns for one in turn.statements)

    @property
    def replies(self) -> tuple[Reply, ...]:
        """The last reply of each member to each statement, in their order."""
        replies = (one for turn in self.turns for one in turn.replies)
        return tuple({(one.member, one.statement): one for one in replies}.values())

    @property
    def tool_texts(self) -> tuple[ToolText, ...]:
        """What tools returned, of all that was cited; a text that several cite as often."""
        return tuple(text for turn in self.turns for text in turn.tool_texts)

    def cited(self, numbers: Iterable[int]) -> tuple[Citation, ...]:
        """Return citations by their numbers."""
        known = {citation.number: citation for citation in self.citations}
        return tuple(known[number] for number in numbers)


def add_outcome(record: Record, turn: MemberTurn | Absence) -> Record:
    """Return the record with a further turn, its statements named and its citations numbered.

    A turn in which nothing was said leaves no trace; who did not speak is absent.
    """
    if isinstance(turn, Absence):
        return replace(record, absences=(*record.absences, turn))
    if turn == MemberTurn(turn.member, turn.round):
        return record
    ledger = Ledger(record.citations)
    numbers = {one.number: ledger.number(one) for one in turn.citations}

    def renumber(own: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(dict.fromkeys(numbers[number] for number in own))

    first = len(record.statements) + 1
    statements = tuple(
        replace(
            one,
            id=f"s{number}",
            citations=renumber(one.citations),
            grounds=tuple(replace(g, citations=renumber(g.citations)) for g in one.grounds),
        )
        for number, one in enumerate(turn.statements, start=first)
    )
    replies = tuple(replace(one, citations=renumber(one.citations)) for one in turn.replies)
    recorded = replace(turn, statements=statements, replies=replies, citations=())
    return replace(record, turns=(*record.turns, recorded), citations=ledger.citations)


class Ledger:
    """Numbers citations in the order in which they come, each once."""

    def __init__(self, citations: Iterable[Citation] = ()) -> None:
        self._numbers: dict[Citation, int] = {}
        self.numbers(citations)

    def number(self, citation: Citation) -> int:
        """Return the number of a citation, the next one where it is new."""
        return self._numbers.setdefault(replace(citation, number=0), len(self._numbers) + 1)

    def numbers(self, citations: Iterable[Citation]) -> tuple[int, ...]:
        """Return the numbers of citations."""
        return tuple(dict.fromkeys(map(self.number, citations)))

    @property
    def citations(self) -> tuple[Citation, ...]:
        """All citations by number."""
        return tuple(replace(citation, number=number) for citation, number in self._numbers.items())


@dataclass(frozen=True, slots=True)
class TurnTask:
    """What members are asked in a round.

    Attributes:
        number: Of the round, from 1.
        titles: How everyone is called, by key.
        reminded: What the member who is asked held in earlier meetings.
    """

    council: Council
    question: str
    aspects: tuple[Aspect, ...]
    round: Round
    number: int
    record: Record
    titles: Mapping[str, str]
    reminded: tuple[Memory, ...] = ()

    @property
    def questions(self) -> tuple[str, ...]:
        """The things asked, in their words."""
        return tuple(aspect.text for aspect in self.aspects)

    @property
    def argues(self) -> bool:
        """Whether only what others hold, or oppose, is spoken of."""
        return self.round.kind in {RoundKind.CROSS_EXAMINATION, RoundKind.REBUTTAL}

    def own(self, member: str) -> tuple[Statement, ...]:
        """Return the statements of a member that they have not given up."""
        held = {one.statement for one in self._agreement() if member in one.stand}
        return tuple(s for s in self.record.statements if s.member == member and s.id in held)

    def to_reply(self, member: str) -> tuple[Statement, ...]:
        """Return the statements to which a member is asked to reply.

        That is what somebody opposes and somebody holds, for those who do, and before anybody
        has replied, and in each cross-examination, what others have stated and they said nothing
        to.
        """
        if not self.round.shows_statements:
            return ()
        examines = self.round.kind is not RoundKind.REBUTTAL or not self.record.replies
        wanted = {
            one.statement
            for one in self._agreement()
            if (one.oppose and one.stand and member in (*one.oppose, *one.stand))
            or (examines and member in one.silent)
        }
        return tuple(one for one in self.record.statements if one.id in wanted)

    def replies_to(self, statements: Iterable[Statement]) -> tuple[Reply, ...]:
        """Return what was said to statements by others than those who made them."""
        made_by = {one.id: one.member for one in statements}
        return tuple(
            reply
            for reply in self.record.replies
            if reply.statement in made_by and reply.member != made_by[reply.statement]
        )

    def _agreement(self) -> tuple[Agreement, ...]:
        return find_agreement(self.record.turns, self.titles)


class Allowance:
    """What is left of the time and the tokens of a meeting, and what was left undone without.

    Args:
        seconds: From now on; 0 for any.
        tokens: Of prompts and answers together; 0 for any. A turn that has begun is finished.
    """

    def __init__(
        self,
        seconds: float = 0.0,
        tokens: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._seconds, self._tokens, self._clock = seconds, tokens, clock
        self._began = clock()
        self._used = 0
        self._undone: dict[str, None] = {}

    @property
    def seconds_left(self) -> float:
        """The seconds until the time is used."""
        if not self._seconds:
            return float("inf")
        return max(0.0, self._seconds - (self._clock() - self._began))

    @property
    def is_used(self) -> bool:
        """Whether nobody may be asked any more."""
        return bool(self._tokens and self._used >= self._tokens) or not self.seconds_left

    def add(self, used: Usage | None) -> None:
        """Count what a model has used."""
        if used is not None:
            self._used += used.prompt_tokens + used.completion_tokens

    def note(self, undone: str) -> None:
        """Remember what was not done because of a limit, in words."""
        self._undone[undone] = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was not done, once each."""
        reached = f"{self._tokens:,} tokens" if self.seconds_left else f"{self._seconds:g} seconds"
        return tuple(f"The limit of {reached} was reached: {one}." for one in self._undone)
