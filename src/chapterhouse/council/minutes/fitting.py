"""Whether the disagreement map fits the claims, and what is summed up fits the map.

Only what every meeting keeps to is asked for: where a rule of the map cannot be followed without
the documents, nothing is said against it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from chapterhouse.answering.sealed import EXTRACTIVE, Source
from chapterhouse.claims.relation import is_newer
from chapterhouse.council.meeting.options import favoured
from chapterhouse.types import (
    FOUND,
    Cell,
    Claim,
    ClaimKind,
    Dispute,
    DisputeSide,
    MapRow,
    Minutes,
    Stance,
    Support,
)

_AGREEMENTS: Final = frozenset({ClaimKind.SHARED_SOURCE, ClaimKind.INDEPENDENT_SOURCES})
_OF_SOURCES: Final = _AGREEMENTS | {ClaimKind.ONE_MEMBER}
_NEWER: Final = ClaimKind.NEWER_AGAINST_OLDER
_NO_EVIDENCE: Final = frozenset(Support) - FOUND


def misplaced(minutes: Minutes, sources: Mapping[str, Source]) -> Iterator[str]:
    """Yield what does not fit, in a few words each.

    Args:
        minutes: Of one meeting.
        sources: The documents that are cited, by id.
    """
    claims = {claim.id: claim for claim in minutes.claims}
    documents = {citation.number: citation.document_id for citation in minutes.citations}
    for row in minutes.map.rows:
        if not _row_fits(row, claims, minutes.map.members):
            yield f"the row of {row.claim}"
        elif not set(row.sources) <= set(documents.values()):
            yield f"a source of {row.claim}"
        elif not _kinds_fit(row, minutes):
            yield f"what {row.claim} rests on"
        elif _hides_a_dispute(row, minutes, claims, sources):
            yield f"what contradicts {row.claim}"
    for number, dispute in enumerate(minutes.map.disputes, start=1):
        if not _dispute_fits(dispute, minutes, claims, documents, sources):
            yield f"dispute {number}"
        elif not _is_told(dispute, minutes):
            yield f"the dissent in dispute {number}"
    if minutes.method == EXTRACTIVE and minutes.decided != _decided(minutes):
        yield "what was decided"


# --- rows --------------------------------------------------------------------------------------


def _row_fits(row: MapRow, claims: Mapping[str, Claim], members: Sequence[str]) -> bool:
    own = claims.get(row.claim)
    return (
        own is not None
        and row.claims[:1] == (row.claim,)
        and row.text == own.text
        and [cell.member for cell in row.cells] == list(members)
        and all(_cell_fits(cell, row, claims) for cell in row.cells)
    )


def _cell_fits(cell: Cell, row: MapRow, claims: Mapping[str, Claim]) -> bool:
    """Whether a cell names claims of its member, of its row where they say the same."""
    if cell.stance is Stance.SILENT and (cell.claims or cell.citations):
        return False
    if cell.stance is Stance.SUPPORTS and not set(cell.claims) <= set(row.claims):
        return False
    named = [claims.get(name) for name in cell.claims]
    return all(claim is not None and claim.member == cell.member for claim in named)


def _kinds_fit(row: MapRow, minutes: Minutes) -> bool:
    """Whether a row is disputed, and supported by the evidence of so many, as its kinds say."""
    carried = [c for c in row.cells if c.stance is Stance.SUPPORTS and c.citations]
    # Who only gave way adds no evidence, and need not have had any before.
    gave_way = {
        given.member for given in minutes.concessions if given.accepted and given.to in row.claims
    }
    certain = [cell for cell in carried if cell.claims or cell.member not in gave_way]
    about = [d for d in minutes.map.disputes if any(side.claim in row.claims for side in d.sides)]
    disputed = {d.kind for d in about} | {_NEWER for d in about if d.newer}
    if not disputed.issuperset(set(row.kinds) - _OF_SOURCES):
        return False
    kinds = _OF_SOURCES.intersection(row.kinds)
    if bool(row.rests_on) is not (ClaimKind.SHARED_SOURCE in kinds) or len(kinds) > 1:
        return False
    if not kinds:
        return not certain
    several = not _AGREEMENTS.isdisjoint(kinds)
    return len(carried) > 1 if several else len(certain) <= 1 <= len(carried)


def _hides_a_dispute(
    row: MapRow, minutes: Minutes, claims: Mapping[str, Claim], sources: Mapping[str, Source]
) -> bool:
    """Whether documents contradict a row that others carry, and no dispute says so.

    A contradiction by the same text, or of a claim that nothing carries, need not be one.
    """
    disputes = minutes.map.disputes
    if any(side.claim in row.claims for dispute in disputes for side in dispute.sides):
        return False
    if not all(_is_carried(claims[name]) for name in row.claims if name in claims):
        return False
    texts = {c.number: _text(c.document_id, sources) for c in minutes.citations}
    own = {_text(document, sources) for document in row.sources}
    return any(
        cell.stance is Stance.CONTRADICTS
        and cell.citations
        and own.isdisjoint(texts.get(number, "") for number in cell.citations)
        and _speaks_by_evidence(cell, minutes, claims)
        for cell in row.cells
    )


def _is_carried(claim: Claim) -> bool:
    return bool(claim.citations) and claim.support not in _NO_EVIDENCE


def _speaks_by_evidence(cell: Cell, minutes: Minutes, claims: Mapping[str, Claim]) -> bool:
    """Whether all is carried in the rows that the member of a cell has a part in."""
    return all(
        _is_carried(claims[name])
        for row in minutes.map.rows
        if any(claims[own].member == cell.member for own in row.claims if own in claims)
        for name in row.claims
        if name in claims
    )


def _text(document: str, sources: Mapping[str, Source]) -> str:
    """Return what copies of one text have in common: its hash, where it is known."""
    source = sources.get(document)
    return source.text_sha256 if source else document


# --- disputes and what is summed up ------------------------------------------------------------


def _dispute_fits(
    dispute: Dispute,
    minutes: Minutes,
    claims: Mapping[str, Claim],
    documents: Mapping[int, str],
    sources: Mapping[str, Source],
) -> bool:
    """Whether both sides are what was claimed, and dated as their documents are."""
    for side in dispute.sides:
        own = claims.get(side.claim)
        stated = own.text == side.text if own else not side.claim and _is_stated(side, minutes)
        if not stated:
            return False
        cited = (sources.get(documents.get(number, "")) for number in side.citations)
        if side.date and side.date not in {source.date for source in cited if source}:
            return False
    told = is_newer(dispute.sides[0].date, dispute.sides[1].date)
    return dispute.newer is None or dispute.newer is told


def _is_stated(side: DisputeSide, minutes: Minutes) -> bool:
    """Whether a side that is nobody's claim is what somebody replied, or what it cites."""
    replies = {reply.text for statement in minutes.statements for reply in statement.replies}
    cited = (one.quote for one in minutes.citations if one.number in side.citations)
    return side.text in {*replies, *cited}


def _is_told(dispute: Dispute, minutes: Minutes) -> bool:
    """Whether the dissent speaks of a dispute that is still held, and no side is passed over."""
    if not all(side.members for side in dispute.sides):
        return True
    dissent = [_stands(side, minutes, dissent=True) for side in dispute.sides]
    return any(dissent) and all(
        told or _stands(side, minutes, dissent=False)
        for side, told in zip(dispute.sides, dissent, strict=True)
    )


def _stands(side: DisputeSide, minutes: Minutes, *, dissent: bool) -> bool:
    """Whether a point has a side's text or cites what carries it."""
    points = minutes.dissent if dissent else (*minutes.decision, *minutes.grounds)
    cited = set(side.citations)
    return any(one.text == side.text or not cited.isdisjoint(one.citations) for one in points)


def _decided(minutes: Minutes) -> str:
    """Return what rules decide, as long as somebody has said something."""
    return favoured(minutes.matrix) if minutes.map.rows else ""
