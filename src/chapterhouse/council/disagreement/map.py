"""Who holds what, on what it rests, who contradicts whom, and in what.

``rows`` says which claims are the same and which contradict each other, and what positions members
take on them; here both become the map, with the kinds of every row. What is disputed are pairs of
rows that contradict each other, and replies that contradict a row.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from chapterhouse.claims.relation import is_newer
from chapterhouse.claims.statement import read
from chapterhouse.council.disagreement.rows import (
    CitedClaim,
    Position,
    Positions,
    Rows,
    cite_claim,
    counted,
    positions,
    round_numbers,
    rows_of,
)
from chapterhouse.council.disagreement.sources import Known, TextOf, all_outdated, no_text, rests_on
from chapterhouse.types import (
    Cell,
    Citation,
    ClaimKind,
    ConflictKind,
    DisagreementMap,
    Dispute,
    DisputeSide,
    Evidence,
    MapRow,
    Reply,
    Stance,
    Statement,
)


@dataclass(frozen=True, slots=True)
class Debate:
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
    claims: tuple[CitedClaim, ...]
    rows: Rows
    held: Positions
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


def disputes_of(debate: Debate) -> tuple[Disputed, ...]:
    """Return one dispute for each pair of rows, or row and contradicting reply, in order.

    Only what documents carry on both sides is disputed.
    """
    found: dict[tuple[int, ...], Disputed] = {}
    for disputed in (*_between_rows(debate), *_by_replies(debate)):
        if _of_one_reader(disputed.dispute):
            continue
        alone = len(disputed.rows) == 1
        found.setdefault((*disputed.rows, -1 - len(found)) if alone else disputed.rows, disputed)
    return tuple(sorted(found.values(), key=lambda disputed: disputed.rows))


def _of_one_reader(dispute: Dispute) -> bool:
    """Whether one member alone reads one document in two ways: then nobody disputes anything."""
    one, other = (side.members for side in dispute.sides)
    return dispute.kind is ClaimKind.DIFFERENT_READINGS and one == other and len(one) == 1


def _between_rows(debate: Debate) -> Iterator[Disputed]:
    """Yield what claims of two rows contradict in each other, the closest claims first."""
    row_of = debate.rows.row_of()
    for found in sorted(
        debate.rows.contradictions, key=lambda c: (-c.comparison.alike, c.one, c.other)
    ):
        one, other = debate.claims[found.one], debate.claims[found.other]
        if row_of[found.one] != row_of[found.other] and one.evidence and other.evidence:
            kind = ConflictKind(found.comparison.relation.value)
            subject = " ".join(found.comparison.shared)
            yield _of_rows(debate, (found.one, found.other), found.comparison.values, subject, kind)


def _by_replies(debate: Debate) -> Iterator[Disputed]:
    """Yield what replies contradict: a row by a row where their place is a claim's, or alone."""
    places = {one.claim.id: place for place, one in enumerate(debate.claims)}
    row_of = debate.rows.row_of()
    alone: dict[tuple[int, frozenset[tuple[str, int, int]]], list[Reply]] = {}
    for reply in (reply for statement in debate.statements for reply in statement.replies):
        place = places.get(reply.claim)
        behind = _behind(reply, debate)
        if place is None or not behind or not _counts(reply, place, row_of, debate):
            continue
        same = _claim_at(behind, debate.claims, place)
        if same is None:
            spans = frozenset((e.document_id, e.start, e.end) for e in behind)
            alone.setdefault((row_of[place], spans), []).append(reply)
        elif row_of[same] != row_of[place]:
            one, other = debate.claims[place], debate.claims[same]
            subject = shared_words(one.claim.text, other.claim.text, _language(one))
            yield _of_rows(debate, (place, same), reply.values, subject, reply.by)
    for replies in alone.values():
        yield _of_reply(debate, replies, places[replies[0].claim])


def _behind(reply: Reply, debate: Debate) -> list[Evidence]:
    return [debate.evidence[n] for n in counted(reply) if n in debate.evidence]


def _counts(reply: Reply, place: int, row_of: Mapping[int, int], debate: Debate) -> bool:
    """Whether a reply contradicts a claim that documents carry, and its member still does."""
    position = debate.held.get((reply.member, row_of[place]))
    return (
        reply.stance is Stance.CONTRADICTS
        and bool(debate.claims[place].evidence)
        and position is not None
        and position.stance is Stance.CONTRADICTS
    )


def _claim_at(behind: Sequence[Evidence], claims: Sequence[CitedClaim], without: int) -> int | None:
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
    debate: Debate,
    pair: tuple[int, int],
    values: tuple[str, str],
    subject: str,
    by: ConflictKind | None,
) -> Disputed:
    """Return the dispute of two claims of two rows, the earlier row first."""
    row_of = debate.rows.row_of()
    numbers = (row_of[pair[0]], row_of[pair[1]])
    parts = tuple(_of_claim(debate, p, v) for p, v in zip(pair, values, strict=True))
    if numbers[0] > numbers[1]:
        parts, numbers = parts[::-1], numbers[::-1]
    return Disputed(numbers, _dispute(parts[0], parts[1], subject, by, debate.known))


def _of_claim(debate: Debate, place: int, value: str) -> _Part:
    cited, row = debate.claims[place], debate.rows.row_of()[place]
    side = DisputeSide(
        members=tuple(member for member in debate.members if _supports(member, row, debate)),
        text=cited.claim.text,
        citations=cited.citations,
        claim=cited.claim.id,
        value=value,
        date=cited.evidence[0].date,
    )
    return _Part(side, cited.documents)


def _supports(member: str, row: int, debate: Debate) -> bool:
    position = debate.held.get((member, row))
    return position is not None and position.stance is Stance.SUPPORTS


def _of_reply(debate: Debate, replies: Sequence[Reply], place: int) -> Disputed:
    """Return the dispute of a row and what documents of those who replied say."""
    first, against = replies[0], debate.claims[place]
    behind = _behind(first, debate)
    speaking = {reply.member for reply in replies}
    side = DisputeSide(
        members=tuple(member for member in debate.members if member in speaking),
        text=first.text or behind[0].text,
        citations=tuple(dict.fromkeys(n for reply in replies for n in counted(reply))),
        value=first.values[1],
        date=behind[0].date,
    )
    part = _Part(side, frozenset(passage.document_id for passage in behind))
    subject = shared_words(against.claim.text, side.text, _language(against))
    row = debate.rows.row_of()[place]
    dispute = _dispute(
        _of_claim(debate, place, first.values[0]), part, subject, first.by, debate.known
    )
    return Disputed((row,), dispute)


def _language(cited: CitedClaim) -> str:
    return cited.evidence[0].language if cited.evidence else ""


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


@dataclass(frozen=True, slots=True)
class Facts:
    """What the map must know beside what was said.

    Attributes:
        evidence: By number of the citation: what it quotes as a stretch of its document, with
            that document's title, headings, language and date.
        documents: All documents of the library that members may read or name, by id.
        text_of: Gives the canonical text of a document by its id; empty where it has none.
    """

    evidence: Mapping[int, Evidence] = field(default_factory=dict)
    documents: Mapping[str, Known] = field(default_factory=dict)
    text_of: TextOf = no_text


def disagreement_map(
    members: Sequence[str],
    statements: Sequence[Statement],
    citations: Mapping[int, Citation],
    facts: Facts,
) -> DisagreementMap:
    """Set the claims of a meeting against its members.

    Args:
        members: Keys in the order of the seats.
        statements: All that was said, in the order of rounds and seats; claims have their ids,
            and citations are numbered through the whole meeting.
        citations: By number.
        facts: What is known of the documents behind them.
    """
    numbers = round_numbers(statements)
    evidence = {n: _evidence(c, facts) for n, c in sorted(citations.items())}
    claims = [
        cite_claim(claim, numbers[statement.round], evidence, facts.text_of)
        for statement in statements
        for claim in statement.claims
    ]
    rows = rows_of(claims)
    debate = Debate(
        members=tuple(members),
        statements=tuple(statements),
        claims=tuple(claims),
        rows=rows,
        held=positions(statements, claims, rows),
        evidence=evidence,
        known=dict(sorted(facts.documents.items())),
    )
    disputes = disputes_of(debate)
    return DisagreementMap(
        members=debate.members,
        rows=tuple(
            _row(number, debate, disputes, facts.text_of) for number in range(len(rows.rows))
        ),
        disputes=tuple(disputed.dispute for disputed in disputes),
    )


def _evidence(citation: Citation, facts: Facts) -> Evidence:
    """Return what a citation quotes as evidence, as far as it is known."""
    given = facts.evidence.get(citation.number)
    if given:
        return given
    known = facts.documents.get(citation.document_id)
    return Evidence(
        document_id=citation.document_id,
        start=citation.start,
        end=citation.end,
        text=citation.quote,
        language=known.language if known else "",
        title=citation.title,
        section_path=citation.section_path,
        date=known.date if known else citation.year,
    )


def _row(number: int, debate: Debate, disputes: Sequence[Disputed], text_of: TextOf) -> MapRow:
    own = [debate.claims[place] for place in debate.rows.rows[number]]
    cells = tuple(_cell(member, debate.held.get((member, number))) for member in debate.members)
    behind = [  # who only gave way adds no evidence to an agreement
        [debate.evidence[n] for n in cell.citations if n in debate.evidence]
        for cell in cells
        if cell.stance is Stance.SUPPORTS and not debate.held[cell.member, number].persuaded
    ]
    cited_by_replies = [passages for passages in behind if passages]
    one = _one_source(cited_by_replies, debate.known, text_of)
    passages = [
        *(e for cited in own for e in cited.evidence),
        *(e for c in cited_by_replies for e in c),
    ]
    kinds = [*_source_kinds(cited_by_replies, one), *_dispute_kinds(number, disputes)]
    if all_outdated({passage.document_id for passage in passages}, debate.known, text_of):
        kinds.append(ClaimKind.OUTDATED_SOURCE)
    return MapRow(
        claim=own[0].claim.id,
        claims=tuple(cited.claim.id for cited in own),
        text=own[0].claim.text,
        cells=cells,
        kinds=tuple(kinds),
        sources=tuple(sorted({passage.document_id for passage in passages})),
        rests_on=one,
    )


def _cell(member: str, position: Position | None) -> Cell:
    if position is None:
        return Cell(member, Stance.SILENT)
    return Cell(member, position.stance, position.claims, position.citations)


def _one_source(
    evidence_sets: Sequence[Sequence[Evidence]], known: Mapping[str, Known], text_of: TextOf
) -> str:
    """Return the one source on which several members rest; or empty."""
    if len(evidence_sets) < 2:  # noqa: PLR2004 - an agreement has two sides
        return ""
    passages = [passage for each in evidence_sets for passage in each]
    return rests_on(passages, tuple(known.values()), text_of)


def _source_kinds(evidence_sets: Sequence[Sequence[Evidence]], one: str) -> Iterator[ClaimKind]:
    if len(evidence_sets) == 1:
        yield ClaimKind.ONE_MEMBER
    elif evidence_sets:
        yield ClaimKind.SHARED_SOURCE if one else ClaimKind.INDEPENDENT_SOURCES


def _dispute_kinds(number: int, disputes: Sequence[Disputed]) -> Iterator[ClaimKind]:
    about = [disputed.dispute for disputed in disputes if number in disputed.rows]
    for kind in (ClaimKind.DIFFERENT_DOCUMENTS, ClaimKind.DIFFERENT_READINGS):
        if any(dispute.kind is kind for dispute in about):
            yield kind
    if any(dispute.newer for dispute in about):
        yield ClaimKind.NEWER_AGAINST_OLDER
