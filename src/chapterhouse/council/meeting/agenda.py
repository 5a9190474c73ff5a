"""What is open between members, so that only that is argued: differences, old and no evidence.

::

    claims of the record + what documents of others say on them -> map -> issues

A difference is between claims, or between a claim and what another member's documents say; where
nobody made a claim of it, between what the documents of members say on a thing that is asked.
"""

from collections.abc import Iterator, Mapping, Sequence

from chapterhouse.agents.council_model import CHAIR, RoundKind
from chapterhouse.council.disagreement.map import Facts, disagreement_map
from chapterhouse.council.meeting.options import leaning_of, takes_sides
from chapterhouse.council.meeting.position_table import position_table
from chapterhouse.council.meeting.quoted import examination, facts_of
from chapterhouse.council.meeting.session import Session
from chapterhouse.council.meeting.turns import (
    Agenda,
    Issue,
    IssueKind,
    Ledger,
    Record,
    Turn,
    add_statement,
)
from chapterhouse.runtime import Runtime
from chapterhouse.types import (
    FOUND,
    Citation,
    ClaimKind,
    DisagreementMap,
    Dispute,
    DisputeSide,
    Leaning,
    MapRow,
    PositionRelation,
    Scope,
    Stance,
)


def agenda_of(turn: Turn, session: Session, runtime: Runtime) -> Agenda:
    """Return what is open before a round; nothing in a round that does not argue.

    Args:
        turn: The round, with all that was said before.
        session: Who meets.
        runtime: The library's parts.
    """
    if not turn.argues:
        return Agenda()
    record, examined = turn.record, {}
    if turn.round.kind is RoundKind.CROSS_EXAMINATION:
        examined = {
            one.key: examination(one, turn, runtime)
            for one in session.participants
            if turn.others(one)
        }
    for statement in examined.values():
        record = add_statement(record, statement)
    chart = build_map(session, record, runtime)
    if turn.round.kind is RoundKind.REBUTTAL and record.replies:
        issues = [*_contradicted(record), *_outdated(chart, record), *_unsupported(record)]
        return Agenda(tuple(issues))
    issues = [*_disputes(chart, record), *_opposites(chart, record)]
    issues += [*_outdated(chart, record), *_unsupported(record), *_choices(record)]
    issues += _by_documents(issues, session, runtime)
    return Agenda(tuple(issues), examined)


def build_map(session: Session, record: Record, runtime: Runtime) -> DisagreementMap:
    """Return the map of what was said so far."""
    facts = facts_in(session, record.by_number, runtime)
    members = [participant.key for participant in session.participants]
    if any(claim.member == CHAIR for claim in record.claims):
        members.append(CHAIR)
    return disagreement_map(members, record.statements, record.by_number, facts)


def facts_in(session: Session, citations: Mapping[int, Citation], runtime: Runtime) -> Facts:
    """Return what is known of the documents that anybody in a meeting reads."""
    scope = Scope.of(name for one in session.everyone for name in one.shelves)
    return facts_of(citations, scope, runtime.store)


# --- what a map says is open --------------------------------------------------------------------


def supporters(row: MapRow) -> tuple[str, ...]:
    """Return who holds a row."""
    return tuple(cell.member for cell in row.cells if cell.stance is Stance.SUPPORTS)


def unsettled(chart: DisagreementMap) -> Iterator[Dispute]:
    """Yield the disputes of which both sides are held."""
    for dispute in chart.disputes:
        if all(side.members for side in dispute.sides):
            yield dispute


def opposite_views(chart: DisagreementMap) -> tuple[tuple[MapRow, Leaning], ...]:
    """Return what members hold should or should not be done, or neither, where they hold both."""
    views = tuple(
        (row, leaning_of(row.text))
        for row in chart.rows
        if supporters(row) and takes_sides(row.text)
    )
    sides = {leaning for _, leaning in views}
    return views if {Leaning.FOR, Leaning.AGAINST} <= sides else ()


# --- issues -------------------------------------------------------------------------------------


def _disputes(chart: DisagreementMap, record: Record) -> Iterator[Issue]:
    same = {name: row.claims for row in chart.rows for name in row.claims}
    for dispute in unsettled(chart):
        sides = dispute.sides
        kind = IssueKind.OUTDATED if dispute.newer else IssueKind.DIFFERENCE
        yield Issue(
            kind,
            f"{_side(sides[0])} against {_side(sides[1])}"
            f"{'; the first is newer' if dispute.newer else ''}",
            tuple(dict.fromkeys(member for side in sides for member in side.members)),
            tuple(name for side in sides for name in same.get(side.claim, ())),
            record.cited(number for side in sides for number in side.citations),
        )


def _side(side: DisputeSide) -> str:
    whose = side.claim or "a document"
    stated = ", ".join(filter(None, (side.value, side.date)))
    return f"{whose} ({stated})" if stated else whose


def _opposites(chart: DisagreementMap, record: Record) -> Iterator[Issue]:
    views = opposite_views(chart)
    if views:
        yield Issue(
            IssueKind.DIFFERENCE,
            "opposite views of what should be done",
            tuple(dict.fromkeys(member for row, _ in views for member in supporters(row))),
            tuple(name for row, _ in views for name in row.claims),
            record.cited(n for row, _ in views for cell in row.cells for n in cell.citations),
        )


def _contradicted(record: Record) -> Iterator[Issue]:
    """Yield the claims that others contradict, for those who made them and still hold them."""
    given_up = {(one.member, one.claim) for one in record.concessions if one.accepted}
    for claim in record.claims:
        against = [
            reply
            for reply in record.replies
            if (reply.claim, reply.stance) == (claim.id, Stance.CONTRADICTS)
            and reply.member != claim.member
        ]
        if against and (claim.member, claim.id) not in given_up:
            text = f"{claim.id} is contradicted"
            numbers = [*claim.citations, *(n for one in against for n in one.citations)]
            cited = record.cited(dict.fromkeys(numbers))
            yield Issue(IssueKind.DIFFERENCE, text, (claim.member,), (claim.id,), cited)


def _outdated(chart: DisagreementMap, record: Record) -> Iterator[Issue]:
    """Yield what rests on older versions alone, unless its members have answered for it."""
    settled = _settled(record)
    for row in chart.rows:
        members = tuple(one for one in supporters(row) if (one, row.claim) not in settled)
        if ClaimKind.OUTDATED_SOURCE in row.kinds and members:
            cited = record.cited(n for cell in row.cells for n in cell.citations)
            text = f"{row.claim} rests on an older version of a document that is at hand"
            yield Issue(IssueKind.OUTDATED, text, members, row.claims, cited)


def _unsupported(record: Record) -> Iterator[Issue]:
    """Yield what no document carries, unless its member has answered for it or given it up."""
    settled = _settled(record)
    for claim in record.claims:
        if claim.support not in FOUND and (claim.member, claim.id) not in settled:
            problems = ", ".join(f"“{one.claimed}”" for one in claim.problems[:3])
            why = f": {problems} is not what they say" if problems else ""
            text = f"{claim.id} is not carried by the documents that were given{why}"
            cited = record.cited(claim.citations)
            yield Issue(IssueKind.UNSUPPORTED, text, (claim.member,), (claim.id,), cited)


def _settled(record: Record) -> set[tuple[str, str]]:
    """Return which members have said something on which claims, or given them up."""
    replies = {(reply.member, reply.claim) for reply in record.replies}
    return replies | {(given.member, given.claim) for given in record.concessions}


def _by_documents(known: Sequence[Issue], session: Session, runtime: Runtime) -> Iterator[Issue]:
    """Yield where the documents of members differ and no claim says it."""
    ledger = Ledger()
    table = position_table(session, runtime, ledger)
    cited = {citation.number: citation for citation in ledger.citations}
    mentioned = [citation for issue in known for citation in issue.citations]
    aspects = {aspect.id: aspect for aspect in table.aspects}
    for comparison in table.comparisons:
        if comparison.relation is not PositionRelation.DIFFER:
            continue
        row = (cell for cell in table.positions if cell.aspect == comparison.aspect)
        cells = [cell for cell in row if cell.citations]
        quoted = [cited[number] for cell in cells for number in cell.citations]
        if any(
            one.document_id == other.document_id and one.start < other.end and other.start < one.end
            for one in quoted
            for other in mentioned
        ):
            continue
        stated = " against ".join(dict.fromkeys(" / ".join(cell.values) for cell in cells))
        text = f"documents differ on “{aspects[comparison.aspect].text}”: {stated}"
        members = tuple(cell.member for cell in cells)
        yield Issue(IssueKind.DIFFERENCE, text, members, (), tuple(quoted))


def _choices(record: Record) -> Iterator[Issue]:
    """Yield that members would choose different options."""
    chosen = {one.member: one.option for one in record.statements if one.option}
    if len(set(chosen.values())) > 1:
        stated = " against ".join(dict.fromkeys(chosen.values()))
        yield Issue(IssueKind.DIFFERENCE, f"different choices: {stated}", tuple(chosen))
