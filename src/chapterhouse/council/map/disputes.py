"""What is disputed: pairs of rows that contradict each other, and replies that contradict a row."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from chapterhouse.claims.relation import is_newer
from chapterhouse.claims.statement import read
from chapterhouse.council.map.claim_rows import Rows, Spoken
from chapterhouse.council.map.shared_sources import Known
from chapterhouse.council.map.standing import Standings, counted
from chapterhouse.types import (
    ClaimKind,
    ConflictKind,
    Dispute,
    DisputeSide,
    Evidence,
    Reply,
    Stance,
    Statement,
)


@dataclass(frozen=True, slots=True)
class Heard:
    """A meeting as far as the map has read it.

    Attributes:
        members: Keys, in the order of the seats.
        statements: All that was said, in order.
        claims: All claims, in order.
        held: How members stand to rows.
        evidence: What citations quote, by their numbers.
        known: The documents, by id.
    """

    members: tuple[str, ...]
    statements: tuple[Statement, ...]
    claims: tuple[Spoken, ...]
    rows: Rows
    held: Standings
    evidence: Mapping[int, Evidence]
    known: Mapping[str, Known]


@dataclass(frozen=True, slots=True)
class Disputed:
    """A dispute and the numbers of the rows that it is about: one or two."""

    rows: tuple[int, ...]
    dispute: Dispute


@dataclass(frozen=True, slots=True)
class _Part:
    """One side, with the documents that carry it."""

    side: DisputeSide
    documents: frozenset[str]


def disputes_of(heard: Heard) -> tuple[Disputed, ...]:
    """Return one dispute for each pair of rows, or row and contradicting reply, in order.

    Only what documents carry on both sides is disputed.
    """
    found: dict[tuple[int, ...], Disputed] = {}
    for disputed in (*_between_rows(heard), *_by_replies(heard)):
        if _of_one_reader(disputed.dispute):
            continue
        alone = len(disputed.rows) == 1
        found.setdefault((*disputed.rows, -1 - len(found)) if alone else disputed.rows, disputed)
    return tuple(sorted(found.values(), key=lambda disputed: disputed.rows))


def _of_one_reader(dispute: Dispute) -> bool:
    """Whether one member alone reads one document in two ways: then nobody disputes anything."""
    one, other = (side.members for side in dispute.sides)
    return dispute.kind is ClaimKind.DIFFERENT_READINGS and one == other and len(one) == 1


def _between_rows(heard: Heard) -> Iterator[Disputed]:
    """Yield what claims of two rows contradict in each other, the closest claims first."""
    row_of = heard.rows.row_of()
    for found in sorted(heard.rows.contradictions, key=lambda c: (-c.told.alike, c.one, c.other)):
        one, other = heard.claims[found.one], heard.claims[found.other]
        if row_of[found.one] != row_of[found.other] and one.evidence and other.evidence:
            kind = ConflictKind(found.told.relation.value)
            subject = " ".join(found.told.shared)
            yield _of_rows(heard, (found.one, found.other), found.told.values, subject, kind)


def _by_replies(heard: Heard) -> Iterator[Disputed]:
    """Yield what replies contradict: a row by a row where their place is a claim's, or alone."""
    places = {one.claim.id: place for place, one in enumerate(heard.claims)}
    row_of = heard.rows.row_of()
    alone: dict[tuple[int, frozenset[tuple[str, int, int]]], list[Reply]] = {}
    for reply in (reply for statement in heard.statements for reply in statement.replies):
        place = places.get(reply.claim)
        behind = _behind(reply, heard)
        if place is None or not behind or not _counts(reply, place, row_of, heard):
            continue
        same = _claim_at(behind, heard.claims, place)
        if same is None:
            spans = frozenset((e.document_id, e.start, e.end) for e in behind)
            alone.setdefault((row_of[place], spans), []).append(reply)
        elif row_of[same] != row_of[place]:
            one, other = heard.claims[place], heard.claims[same]
            subject = shared_words(one.claim.text, other.claim.text, _language(one))
            yield _of_rows(heard, (place, same), reply.values, subject, reply.by)
    for replies in alone.values():
        yield _of_reply(heard, replies, places[replies[0].claim])


def _behind(reply: Reply, heard: Heard) -> list[Evidence]:
    return [heard.evidence[n] for n in counted(reply) if n in heard.evidence]


def _counts(reply: Reply, place: int, row_of: Mapping[int, int], heard: Heard) -> bool:
    """Whether a reply contradicts a claim that documents carry, and its member still does."""
    standing = heard.held.get((reply.member, row_of[place]))
    return (
        reply.stance is Stance.CONTRADICTS
        and bool(heard.claims[place].evidence)
        and standing is not None
        and standing.stance is Stance.CONTRADICTS
    )


def _claim_at(behind: Sequence[Evidence], claims: Sequence[Spoken], without: int) -> int | None:
    """Return the first claim that rests on a place of a reply: the same, within it or around."""
    for place, one in enumerate(claims):
        if place != without and any(_holds(e, s) for e in one.evidence for s in behind):
            return place
    return None


def _holds(one: Evidence, other: Evidence) -> bool:
    """Whether one of two stretches lies within the other."""
    if one.document_id != other.document_id:
        return False
    first, second = (one.start, -one.end), (other.start, -other.end)
    outer, inner = (one, other) if first <= second else (other, one)
    return outer.start <= inner.start and inner.end <= outer.end


# --- the dispute --------------------------------------------------------------------------------


def _of_rows(
    heard: Heard,
    pair: tuple[int, int],
    values: tuple[str, str],
    subject: str,
    by: ConflictKind | None,
) -> Disputed:
    """Return the dispute of two claims of two rows, the earlier row first."""
    row_of = heard.rows.row_of()
    numbers = (row_of[pair[0]], row_of[pair[1]])
    parts = tuple(_of_claim(heard, p, v) for p, v in zip(pair, values, strict=True))
    if numbers[0] > numbers[1]:
        parts, numbers = parts[::-1], numbers[::-1]
    return Disputed(numbers, _dispute(parts[0], parts[1], subject, by, heard.known))


def _of_claim(heard: Heard, place: int, value: str) -> _Part:
    spoken, row = heard.claims[place], heard.rows.row_of()[place]
    side = DisputeSide(
        members=tuple(member for member in heard.members if _supports(member, row, heard)),
        text=spoken.claim.text,
        citations=spoken.citations,
        claim=spoken.claim.id,
        value=value,
        date=spoken.evidence[0].date,
    )
    return _Part(side, spoken.documents)


def _supports(member: str, row: int, heard: Heard) -> bool:
    standing = heard.held.get((member, row))
    return standing is not None and standing.stance is Stance.SUPPORTS


def _of_reply(heard: Heard, replies: Sequence[Reply], place: int) -> Disputed:
    """Return the dispute of a row and what documents of those who replied say."""
    first, against = replies[0], heard.claims[place]
    behind = _behind(first, heard)
    speaking = {reply.member for reply in replies}
    side = DisputeSide(
        members=tuple(member for member in heard.members if member in speaking),
        text=first.text or behind[0].text,
        citations=tuple(dict.fromkeys(n for reply in replies for n in counted(reply))),
        value=first.values[1],
        date=behind[0].date,
    )
    part = _Part(side, frozenset(stretch.document_id for stretch in behind))
    subject = shared_words(against.claim.text, side.text, _language(against))
    row = heard.rows.row_of()[place]
    told = _dispute(_of_claim(heard, place, first.values[0]), part, subject, first.by, heard.known)
    return Disputed((row,), told)


def _language(spoken: Spoken) -> str:
    return spoken.evidence[0].language if spoken.evidence else ""


def shared_words(one: str, other: str, language: str) -> str:
    """Return the content words of the first text that the second has too."""
    theirs = {token.key for token in read(other, language).tokens}
    shared = [t.text for t in read(one, language).tokens if t.key in theirs and not t.number]
    return " ".join(dict.fromkeys(shared))


def _dispute(
    one: _Part, other: _Part, subject: str, by: ConflictKind | None, known: Mapping[str, Known]
) -> Dispute:
    newer = is_newer(one.side.date, other.side.date)
    sides = (other.side, one.side) if newer is False else (one.side, other.side)
    return Dispute(
        kind=_kind(one.documents, other.documents, known),
        subject=subject,
        sides=sides,
        by=by,
        newer=None if newer is None else True,
    )


def _kind(one: frozenset[str], other: frozenset[str], known: Mapping[str, Known]) -> ClaimKind:
    """Return whether two sides read one document differently, copies counted as one."""
    first, second = (frozenset(_text(i, known) for i in ids) for ids in (one, other))
    same = first <= second or second <= first
    return ClaimKind.DIFFERENT_READINGS if same else ClaimKind.DIFFERENT_DOCUMENTS


def _text(document: str, known: Mapping[str, Known]) -> str:
    """Return what two copies of a text have in common: its hash, where it is known."""
    return (known[document].text_sha256 if document in known else "") or document
