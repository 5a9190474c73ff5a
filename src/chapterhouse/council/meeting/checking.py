"""What a model said in a turn, checked by what lay before it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Self

from chapterhouse.answering.prompt import Shown
from chapterhouse.answering.written import Given, Lookup, check
from chapterhouse.council.meeting.concessions import judged_concession
from chapterhouse.council.meeting.record import Ledger
from chapterhouse.council.meeting.seating import Speaker
from chapterhouse.council.meeting.turn import Turn
from chapterhouse.council.meeting.turn_output import ReplyOutput, TurnOutput
from chapterhouse.protocols import ClaimJudge
from chapterhouse.replying.desk import Desk
from chapterhouse.replying.parts import Parts
from chapterhouse.types import (
    FOUND,
    Citation,
    Claim,
    Concession,
    Problem,
    Reading,
    Reply,
    Statement,
    Support,
)

# How well a statement is carried as a whole: as its weakest sentence.
_RANK: Final = (
    Support.QUOTED,
    Support.SUPPORTED,
    Support.NOT_FOUND,
    Support.DISAGREES,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A checked sentence with its citations."""

    text: str
    citations: tuple[Citation, ...]
    support: Support
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Checker:
    """Checks what a model wrote by what lay before it.

    Attributes:
        given: All that lay there.
        judge: Says how far evidence carries a sentence.
        lookup: Where quotations are looked up.
    """

    given: tuple[Given, ...]
    judge: ClaimJudge
    lookup: Lookup

    @classmethod
    def of(cls, desk: Desk, parts: Parts) -> Self:
        """Return what checks by all that lies on a desk now; documents are read once."""
        store = parts.engines.store
        return cls(desk.given(), parts.judge, Lookup(cache(store.document), cache(store.body)))

    def sentences(self, text: str) -> tuple[tuple[Sentence, ...], tuple[str, ...]]:
        """Return a text's sentences with verified citations, and the markers that cite nothing."""
        checked = check(text, self.given, self.judge, self.lookup)
        cited = {citation.number: citation for citation in checked.citations}
        sentences = tuple(
            Sentence(
                one.text,
                tuple(cited[number] for number in one.citations),
                one.support,
                one.problems,
            )
            for one in checked.sentences
        )
        return sentences, checked.rejected

    def whole(self, text: str) -> tuple[Sentence, tuple[str, ...]]:
        """Return a text as one sentence, carried as far as its weakest claim is."""
        sentences, rejected = self.sentences(text)
        claims = [one for one in sentences if one.support is not Support.NO_STATEMENT]
        support = max(
            (one.support for one in claims), key=_RANK.index, default=Support.NO_STATEMENT
        )
        citations = tuple(dict.fromkeys(c for one in sentences for c in one.citations))
        problems = tuple(problem for one in sentences for problem in one.problems)
        return Sentence(" ".join(s.text for s in sentences), citations, support, problems), rejected


def statement_of(
    spoken: TurnOutput, speaker: Speaker, turn: Turn, desk: Desk, parts: Parts
) -> Statement:
    """Return what a model said as a statement: every sentence judged, every marker resolved.

    Args:
        spoken: What it said.
        speaker: For whom it spoke.
        turn: What was asked.
        desk: What lay before it; nothing else can be cited.
        parts: What the library is made of.
    """
    checker, ledger = Checker.of(desk, parts), Ledger()
    rejected: list[str] = []
    claims: list[Claim] = []
    for written in spoken.claims:
        sentences, wrong = checker.sentences(written)
        rejected += wrong
        claims += [
            _claim(sentence, speaker, turn, ledger)
            for sentence in sentences
            if sentence.support is not Support.NO_STATEMENT
        ]
    warnings = [spoken.warning] if spoken.warning else []
    replies = []
    for reply in _known_replies(spoken.replies, speaker, turn, warnings):
        reason, wrong = checker.whole(reply.reason)
        rejected += wrong
        replies.append(_reply(reply, reason, speaker, turn, ledger))
    position, _ = checker.whole(spoken.position)
    return Statement(
        member=speaker.key,
        round=turn.round.name,
        position=position.text,
        option=spoken.option,
        claims=tuple(claims),
        replies=tuple(replies),
        concessions=_concessions(spoken, speaker, turn, checker, ledger),
        missing=tuple(checker.whole(text)[0].text for text in spoken.missing),
        open_questions=tuple(checker.whole(text)[0].text for text in spoken.open_questions),
        citations=ledger.citations,
        warnings=tuple(warnings),
        rejected=tuple(dict.fromkeys(rejected)),
        read=readings_of(desk),
    )


def _claim(sentence: Sentence, speaker: Speaker, turn: Turn, ledger: Ledger) -> Claim:
    return Claim(
        "",
        speaker.key,
        turn.round.name,
        sentence.text,
        ledger.numbers(sentence.citations),
        sentence.support,
        sentence.problems,
    )


def _known_replies(
    replies: Sequence[ReplyOutput], speaker: Speaker, turn: Turn, warnings: list[str]
) -> Iterator[ReplyOutput]:
    """Yield the last reply to each claim of others; warn of those to anything else."""
    others = {claim.id for claim in turn.others(speaker)}
    last = {reply.claim: reply for reply in replies if reply.claim in others}
    unknown = dict.fromkeys(reply.claim for reply in replies if reply.claim not in others)
    if unknown:
        warnings.append(
            f"Replies to what is no claim of others were left out: {', '.join(unknown)}."
        )
    yield from last.values()


def _reply(
    reply: ReplyOutput, reason: Sentence, speaker: Speaker, turn: Turn, ledger: Ledger
) -> Reply:
    return Reply(
        member=speaker.key,
        round=turn.round.name,
        claim=reply.claim,
        stance=reply.stance,
        text=reason.text,
        citations=ledger.numbers(reason.citations),
        support=reason.support,
        problems=reason.problems,
    )


def _concessions(
    spoken: TurnOutput, speaker: Speaker, turn: Turn, checker: Checker, ledger: Ledger
) -> tuple[Concession, ...]:
    """Return what a member gives up, each claim once, with whether it counts."""
    made: dict[str, Concession] = {}
    known = {claim.id for claim in turn.record.claims}
    for given in spoken.concessions:
        if given.claim not in known or given.claim in made:
            continue
        reason, _ = checker.whole(given.reason)
        cited = reason.citations if reason.support in FOUND else ()
        concession = Concession(
            speaker.key,
            turn.round.name,
            given.claim,
            given.to if given.to in known else "",
            reason.text,
            ledger.numbers(cited),
        )
        free = not turn.council.concession_rule
        made[given.claim] = judged_concession(concession, cited, turn.record, free=free)
    return tuple(made.values())


def readings_of(desk: Desk) -> tuple[Reading, ...]:
    """Return the stretches of documents that lay on a desk."""
    return tuple(map(_reading, desk.laid()))


def _reading(block: Shown) -> Reading:
    excerpt = block.excerpt
    return Reading(excerpt.hit.document.id, excerpt.start, excerpt.end)
