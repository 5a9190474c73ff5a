"""Claims that say the same or contradict each other, and the positions of members on them.

Every claim is compared with every other one that shares content words with it. One joins the first
row whose first claim it agrees with and none of whose claims it contradicts; else it begins a row.
After all that was said, later words count for more.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from chapterhouse.claims.relation import Comparison, Relation, Stated
from chapterhouse.council.disagreement.compare import (
    compare_in_context,
    contradicts,
    same_text,
    statements_of,
)
from chapterhouse.text.language import detect
from chapterhouse.types import FOUND, Claim, Evidence, Reply, Stance, Statement, Support

_SHARED: Final = 2  # content words without which two claims are not compared
_COMPARED: Final = 48  # earlier claims with which one is compared, those that share most first
_OVERLAP: Final = 0.5  # share of the words of the shorter, of two claims about one span
_AROUND: Final = 400  # characters of the document on each side
_WORD: Final = re.compile(r"\w+")
# Whose evidence is nobody's: a claim that another document carries than the one it cites is none.
NO_EVIDENCE: Final = frozenset(Support) - FOUND


@dataclass(frozen=True, slots=True)
class CitedClaim:
    """A claim with what carries it.

    Attributes:
        round: Number of its round, from 0.
        citations: Numbers of the citations that count as evidence for it.
        evidence: What they quote, in the same order.
        statements: Its sentences, to be compared.
    """

    claim: Claim
    round: int
    citations: tuple[int, ...]
    evidence: tuple[Evidence, ...]
    statements: tuple[Stated, ...]

    @property
    def documents(self) -> frozenset[str]:
        """Ids of the documents that carry it."""
        return frozenset(passage.document_id for passage in self.evidence)

    @property
    def spans(self) -> frozenset[tuple[str, int, int]]:
        """The places that carry it."""
        return frozenset((e.document_id, e.start, e.end) for e in self.evidence)


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two claims that cannot both be true: their places among all, the earlier first."""

    one: int
    other: int
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class Rows:
    """Claims by rows.

    Attributes:
        rows: Places of the claims of each row, in order.
        contradictions: All that were found, in order.
    """

    rows: tuple[tuple[int, ...], ...]
    contradictions: tuple[Contradiction, ...]

    def row_of(self) -> dict[int, int]:
        """Return for the place of each claim the number of its row."""
        return {place: number for number, row in enumerate(self.rows) for place in row}


def cite_claim(
    claim: Claim, number: int, evidence: Mapping[int, Evidence], text_of: Callable[[str], str]
) -> CitedClaim:
    """Return a claim with what carries it.

    Args:
        claim: The claim.
        number: Of its round, from 0.
        evidence: What citations quote, by their numbers.
        text_of: Gives the text of a document by its id.
    """
    counted = () if claim.support in NO_EVIDENCE else claim.citations
    citations = tuple(dict.fromkeys(n for n in counted if n in evidence))
    evidence_list = tuple(evidence[n] for n in citations)
    return CitedClaim(
        claim, number, citations, evidence_list, _statements(claim, evidence_list, text_of)
    )


def _is_row(passage: Evidence) -> bool:
    return passage.text.lstrip().startswith("|")


def _statements(
    claim: Claim, evidence_list: Sequence[Evidence], text_of: Callable[[str], str]
) -> tuple[Stated, ...]:
    """Return the sentences of a claim: of its document, or as a member words them."""
    rows = claim.support is Support.QUOTED and all(map(_is_row, evidence_list))
    if evidence_list and rows:
        return ()  # a row means nothing beside another without its table
    words = _words(claim.text)
    for passage in evidence_list:
        if f" {words} " in f" {_words(passage.text)} ":
            own = _within(passage, claim.text)
            return statements_of(own, around_of(own, text_of))
    language = detect(claim.text) or (evidence_list[0].language if evidence_list else "")
    place = evidence_list[0] if evidence_list else Evidence(claim.id, 0, 0, "")
    around = around_of(place, text_of) if place.language == language else ""
    worded = replace(place, text=claim.text, language=language)
    return statements_of(worded, around, reworded=True)


def _words(text: str) -> str:
    """Return the words of a text alone: how it is shown may change marks and white space."""
    return " ".join(_WORD.findall(text.casefold()))


def _within(passage: Evidence, text: str) -> Evidence:
    """Return the part of a stretch that a claim quotes; all of it where marks were changed."""
    offset = passage.text.find(text)
    if offset < 0:
        return passage
    start = passage.start + offset
    return replace(passage, start=start, end=start + len(text), text=text)


def around_of(passage: Evidence, text_of: Callable[[str], str]) -> str:
    """Return the text of a document on both sides of a stretch, without it."""
    text = text_of(passage.document_id)
    before = text[max(0, passage.start - _AROUND) : passage.start]
    return f"{before}\n{text[passage.end : passage.end + _AROUND]}".strip()


def rows_of(claims: Sequence[CitedClaim]) -> Rows:
    """Put claims that say the same into rows.

    Args:
        claims: In the order in which they were made.
    """
    agreeing: set[tuple[int, int]] = set()
    found: dict[tuple[int, int], Comparison] = {}
    for one, other in _pairs(claims):
        comparison = _between(claims[one], claims[other])
        if contradicts(comparison):
            found[one, other] = comparison
        elif comparison.relation is Relation.AGREE:
            agreeing.add((one, other))
    rows: list[list[int]] = []
    for place in range(len(claims)):
        joined = next(
            (
                row
                for row in rows
                if (row[0], place) in agreeing and not any((m, place) in found for m in row)
            ),
            None,
        )
        if joined is None:
            rows.append([place])
        else:
            joined.append(place)
    return Rows(
        tuple(tuple(row) for row in rows),
        tuple(Contradiction(*pair, found[pair]) for pair in sorted(found)),
    )


def _pairs(claims: Sequence[CitedClaim]) -> Iterator[tuple[int, int]]:
    """Yield the places of claims that share enough words, or a place, to be compared."""
    having: defaultdict[str, list[int]] = defaultdict(list)
    by_span: defaultdict[tuple[str, int, int], list[int]] = defaultdict(list)
    worth = _worth([_keys(claim) for claim in claims])
    for later, claim in enumerate(claims):
        keys = sorted(_keys(claim))
        shared = Counter(place for key in keys for place in having[key])
        least = min(_SHARED, max(1, len(keys)))
        value: defaultdict[int, float] = defaultdict(float)
        for key in keys:
            for place in having[key]:
                value[place] += worth[key]
        near = [place for place, count in shared.items() if count >= least]
        near.sort(key=lambda place: (-round(value[place], 6), place))
        same = (place for span in claim.spans for place in by_span[span])
        for earlier in sorted({*near[:_COMPARED], *same}):
            yield earlier, later
        for key in keys:
            having[key].append(later)
        for span in claim.spans:
            by_span[span].append(later)


def _worth(each: Sequence[frozenset[str]]) -> dict[str, float]:
    """Return for each word how rare it is among the claims."""
    having = Counter(key for keys in each for key in keys)
    return {key: math.log(1 + len(each) / count) for key, count in having.items()}


def _keys(claim: CitedClaim) -> frozenset[str]:
    return frozenset[str]().union(*(one.keys for one in claim.statements))


def _between(one: CitedClaim, other: CitedClaim) -> Comparison:
    """Compare two claims: any contradiction of their sentences counts, else any agreement."""
    best = Comparison(Relation.SILENT)
    for first in one.statements:
        for second in other.statements:
            comparison = compare_in_context(first, second)
            if comparison.relation is Relation.SILENT:
                continue
            rank = (contradicts(comparison), comparison.alike)
            if best.relation is Relation.SILENT or rank > (contradicts(best), best.alike):
                best = comparison
    if best.relation is Relation.SILENT and _same_place(one, other):
        return Comparison(Relation.AGREE, alike=1.0)
    return best


def _same_place(one: CitedClaim, other: CitedClaim) -> bool:
    """Whether both rest on the very same span, and say much the same of it."""
    if not one.spans or one.spans != other.spans:
        return False
    first, second = _keys(one), _keys(other)
    least = min(len(first), len(second))
    return same_text(one.claim.text, other.claim.text) or (
        least > 0 and len(first & second) >= _OVERLAP * least
    )


@dataclass(frozen=True, slots=True)
class Position:
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
class _RowPosition:
    """Something that a member said on a row; what comes later in a round has a higher rank."""

    round: int
    rank: int
    place: int
    member: str
    row: int
    position: Position


_SILENT = Position(Stance.SILENT, -1)
Positions = Mapping[tuple[str, int], Position]


def round_numbers(statements: Sequence[Statement]) -> dict[str, int]:
    """Return the number of each round, in the order in which they were held, from 0."""
    return {name: n for n, name in enumerate(dict.fromkeys(s.round for s in statements))}


def counted(reply: Reply) -> tuple[int, ...]:
    """Return the citations of a reply that count as evidence."""
    return () if reply.support in NO_EVIDENCE else reply.citations


def positions(
    statements: Sequence[Statement], claims: Sequence[CitedClaim], rows: Rows
) -> dict[tuple[str, int], Position]:
    """Return how members stand to rows, by member and number of the row; the silent left out.

    Args:
        statements: All that was said, in order.
        claims: All claims, in order.
        rows: Their rows.
    """
    row_of = rows.row_of()
    by_id = {one.claim.id: place for place, one in enumerate(claims)}
    row_by_id = {claim: row_of[place] for claim, place in by_id.items()}
    stated: dict[tuple[str, int], Position] = {}
    for word in sorted(
        _positions_on_rows(statements, claims, row_by_id), key=lambda w: (w.round, w.rank, w.place)
    ):
        key = (word.member, word.row)
        stated[key] = _after(stated.get(key, _SILENT), word.position)
    held = dict(stated)
    for contradiction in rows.contradictions:
        pair = (row_of[contradiction.one], row_of[contradiction.other])
        if pair[0] != pair[1]:
            for here, there in (pair, pair[::-1]):
                _oppose(held, stated, here, there)
    return {key: position for key, position in held.items() if position.stance is not Stance.SILENT}


def _positions_on_rows(
    statements: Sequence[Statement], claims: Sequence[CitedClaim], row_of: Mapping[str, int]
) -> list[_RowPosition]:
    """Return all that was said on rows: claims, then replies, then concessions of each round."""
    found: list[_RowPosition] = []
    numbers = round_numbers(statements)

    def say(rank: int, member: str, claim: str, position: Position) -> None:
        if claim in row_of:
            place = len(found)
            found.append(_RowPosition(position.round, rank, place, member, row_of[claim], position))

    for one in claims:
        own = (one.claim.id,)
        position = Position(Stance.SUPPORTS, one.round, own, one.citations)
        say(0, one.claim.member, one.claim.id, position)
    for statement in statements:
        number = numbers[statement.round]
        for reply in statement.replies:
            if reply.stance in {Stance.SUPPORTS, Stance.CONTRADICTS}:
                position = Position(reply.stance, number, (), counted(reply))
                say(1, reply.member, reply.claim, position)
        for given in statement.concessions:
            moved = given.accepted and row_of.get(given.claim) != row_of.get(given.to)
            if moved:
                say(2, given.member, given.claim, Position(Stance.SILENT, number))
                position = Position(Stance.SUPPORTS, number, (), given.citations, persuaded=True)
                say(2, given.member, given.to, position)
    return found


def _after(before: Position, now: Position) -> Position:
    """Return how a member stands once they have said something more."""
    if before.stance is not now.stance:
        return now
    return replace(
        now,
        claims=tuple(dict.fromkeys((*before.claims, *now.claims))),
        citations=tuple(dict.fromkeys((*before.citations, *now.citations))),
        persuaded=before.persuaded and now.persuaded,
    )


def _oppose(
    held: dict[tuple[str, int], Position], stated: Positions, here: int, there: int
) -> None:
    """Let members contradict a row by claims of their own in another one.

    What they said of the row itself in the same round or later stands, unless they gave it up.
    """
    for (member, row), position in stated.items():
        if row != there or position.stance is not Stance.SUPPORTS or not position.claims:
            continue
        now = stated.get((member, here), _SILENT)
        if now.stance is Stance.SILENT or (
            now.stance is Stance.SUPPORTS and now.round < position.round
        ):
            before = held.get((member, here), _SILENT)
            against = Position(Stance.CONTRADICTS, position.round, (), position.citations)
            held[member, here] = _after(before, against)
