"""Who holds what, on what it rests, and who contradicts whom.

``claim_rows`` says which claims are the same and which contradict each other, ``standing`` how the
members stand to them; here both become the map, with the kinds of every row and the disputes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from chapterhouse.council.map.claim_rows import rows_of, spoken
from chapterhouse.council.map.disputes import Disputed, Heard, disputes_of
from chapterhouse.council.map.shared_sources import Known, TextOf, no_text, rests_on
from chapterhouse.council.map.standing import Standing, round_numbers, standings
from chapterhouse.types import (
    Cell,
    Citation,
    ClaimKind,
    DisagreementMap,
    Evidence,
    MapRow,
    Stance,
    Statement,
)


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
        spoken(claim, numbers[statement.round], evidence, facts.text_of)
        for statement in statements
        for claim in statement.claims
    ]
    rows = rows_of(claims)
    heard = Heard(
        members=tuple(members),
        statements=tuple(statements),
        claims=tuple(claims),
        rows=rows,
        held=standings(statements, claims, rows),
        evidence=evidence,
        known=dict(sorted(facts.documents.items())),
    )
    told = disputes_of(heard)
    return DisagreementMap(
        members=heard.members,
        rows=tuple(_row(number, heard, told, facts.text_of) for number in range(len(rows.rows))),
        disputes=tuple(disputed.dispute for disputed in told),
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


def _row(number: int, heard: Heard, told: Sequence[Disputed], text_of: TextOf) -> MapRow:
    own = [heard.claims[place] for place in heard.rows.rows[number]]
    cells = tuple(_cell(member, heard.held.get((member, number))) for member in heard.members)
    behind = [  # who only gave way adds no evidence to an agreement
        [heard.evidence[n] for n in cell.citations if n in heard.evidence]
        for cell in cells
        if cell.stance is Stance.SUPPORTS and not heard.held[cell.member, number].persuaded
    ]
    carried = [stretches for stretches in behind if stretches]
    one = _one_source(carried, heard.known, text_of)
    kinds = [*_source_kinds(carried, one), *_dispute_kinds(number, told)]
    stretches = [*(e for spoken in own for e in spoken.evidence), *(e for c in carried for e in c)]
    return MapRow(
        claim=own[0].claim.id,
        claims=tuple(spoken.claim.id for spoken in own),
        text=own[0].claim.text,
        cells=cells,
        kinds=tuple(kinds),
        sources=tuple(sorted({stretch.document_id for stretch in stretches})),
        rests_on=one,
    )


def _cell(member: str, standing: Standing | None) -> Cell:
    if standing is None:
        return Cell(member, Stance.SILENT)
    return Cell(member, standing.stance, standing.claims, standing.citations)


def _one_source(
    carried: Sequence[Sequence[Evidence]], known: Mapping[str, Known], text_of: TextOf
) -> str:
    """Return the one source on which several members rest; or empty."""
    if len(carried) < 2:  # noqa: PLR2004 - an agreement has two sides
        return ""
    stretches = [stretch for each in carried for stretch in each]
    return rests_on(stretches, tuple(known.values()), text_of)


def _source_kinds(carried: Sequence[Sequence[Evidence]], one: str) -> Iterator[ClaimKind]:
    if len(carried) == 1:
        yield ClaimKind.ONE_MEMBER
    elif carried:
        yield ClaimKind.SHARED_SOURCE if one else ClaimKind.INDEPENDENT_SOURCES


def _dispute_kinds(number: int, told: Sequence[Disputed]) -> Iterator[ClaimKind]:
    about = [disputed.dispute for disputed in told if number in disputed.rows]
    for kind in (ClaimKind.DIFFERENT_DOCUMENTS, ClaimKind.DIFFERENT_READINGS):
        if any(dispute.kind is kind for dispute in about):
            yield kind
    if any(dispute.newer for dispute in about):
        yield ClaimKind.NEWER_AGAINST_OLDER
