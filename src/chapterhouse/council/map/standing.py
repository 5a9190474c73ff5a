"""How members stand to claims after all that was said: later words count for more."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from chapterhouse.council.map.claim_rows import NO_EVIDENCE, Rows, Spoken
from chapterhouse.types import Reply, Stance, Statement


@dataclass(frozen=True, slots=True)
class Standing:
    """How one member stands to one row.

    Attributes:
        round: Number of the round in which they last said so.
        claims: Ids of their own claims that say the same.
        citations: What carries the stance and counts as evidence.
        persuaded: Whether they only gave way to it, and have no evidence of their own.
    """

    stance: Stance
    round: int
    claims: tuple[str, ...] = ()
    citations: tuple[int, ...] = ()
    persuaded: bool = False


@dataclass(frozen=True, slots=True)
class _Word:
    """Something that a member said on a row; what comes later in a round has a higher rank."""

    round: int
    rank: int
    place: int
    member: str
    row: int
    standing: Standing


_SILENT = Standing(Stance.SILENT, -1)
Standings = Mapping[tuple[str, int], Standing]


def round_numbers(statements: Sequence[Statement]) -> dict[str, int]:
    """Return the number of each round, in the order in which they were held, from 0."""
    return {name: n for n, name in enumerate(dict.fromkeys(s.round for s in statements))}


def counted(reply: Reply) -> tuple[int, ...]:
    """Return the citations of a reply that count as evidence."""
    return () if reply.support in NO_EVIDENCE else reply.citations


def standings(
    statements: Sequence[Statement], claims: Sequence[Spoken], rows: Rows
) -> dict[tuple[str, int], Standing]:
    """Return how members stand to rows, by member and number of the row; the silent left out.

    Args:
        statements: All that was said, in order.
        claims: All claims, in order.
        rows: Their rows.
    """
    row_of = rows.row_of()
    by_id = {one.claim.id: place for place, one in enumerate(claims)}
    row_by_id = {claim: row_of[place] for claim, place in by_id.items()}
    said: dict[tuple[str, int], Standing] = {}
    for word in sorted(
        _words(statements, claims, row_by_id), key=lambda w: (w.round, w.rank, w.place)
    ):
        key = (word.member, word.row)
        said[key] = _after(said.get(key, _SILENT), word.standing)
    held = dict(said)
    for contradiction in rows.contradictions:
        pair = (row_of[contradiction.one], row_of[contradiction.other])
        if pair[0] != pair[1]:
            for here, there in (pair, pair[::-1]):
                _oppose(held, said, here, there)
    return {key: standing for key, standing in held.items() if standing.stance is not Stance.SILENT}


def _words(
    statements: Sequence[Statement], claims: Sequence[Spoken], row_of: Mapping[str, int]
) -> list[_Word]:
    """Return all that was said on rows: claims, then replies, then concessions of each round."""
    words: list[_Word] = []
    numbers = round_numbers(statements)

    def say(rank: int, member: str, claim: str, standing: Standing) -> None:
        if claim in row_of:
            place = len(words)
            words.append(_Word(standing.round, rank, place, member, row_of[claim], standing))

    for one in claims:
        own = (one.claim.id,)
        standing = Standing(Stance.SUPPORTS, one.round, own, one.citations)
        say(0, one.claim.member, one.claim.id, standing)
    for statement in statements:
        number = numbers[statement.round]
        for reply in statement.replies:
            if reply.stance is not Stance.SILENT:
                standing = Standing(reply.stance, number, (), counted(reply))
                say(1, reply.member, reply.claim, standing)
        for given in statement.concessions:
            moved = given.accepted and row_of.get(given.claim) != row_of.get(given.to)
            if moved:
                say(2, given.member, given.claim, Standing(Stance.SILENT, number))
                standing = Standing(Stance.SUPPORTS, number, (), given.citations, persuaded=True)
                say(2, given.member, given.to, standing)
    return words


def _after(before: Standing, now: Standing) -> Standing:
    """Return how a member stands once they have said something more."""
    if before.stance is not now.stance:
        return now
    return replace(
        now,
        claims=tuple(dict.fromkeys((*before.claims, *now.claims))),
        citations=tuple(dict.fromkeys((*before.citations, *now.citations))),
        persuaded=before.persuaded and now.persuaded,
    )


def _oppose(held: dict[tuple[str, int], Standing], said: Standings, here: int, there: int) -> None:
    """Let members contradict a row by claims of their own in another one.

    What they said of the row itself in the same round or later stands, unless they gave it up.
    """
    for (member, row), standing in said.items():
        if row != there or standing.stance is not Stance.SUPPORTS or not standing.claims:
            continue
        now = said.get((member, here), _SILENT)
        if now.stance is Stance.SILENT or (
            now.stance is Stance.SUPPORTS and now.round < standing.round
        ):
            before = held.get((member, here), _SILENT)
            against = Standing(Stance.CONTRADICTS, standing.round, (), standing.citations)
            held[member, here] = _after(before, against)
