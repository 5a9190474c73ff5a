"""The minutes without a model: assembled from the map and its cited spans, in fixed sentences.

Nothing is weighed here that a rule could not weigh: what nobody disputes is a ground, what is
disputed is dissent and an open question, and where all agreement rests on one source, or somebody
has nothing to say, evidence is missing.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from chapterhouse.council.meeting.agenda import (
    facts_in,
    opposite_views,
    supporters,
    unsettled,
)
from chapterhouse.council.meeting.grounds import why_no_ground
from chapterhouse.council.meeting.position_table import position_table
from chapterhouse.council.meeting.session import Participant, Session, participant_record
from chapterhouse.council.meeting.turns import Ledger, Record
from chapterhouse.runtime import Runtime
from chapterhouse.text.counting import counted
from chapterhouse.text.view import inert
from chapterhouse.types import (
    FOUND,
    Claim,
    ClaimKind,
    DisagreementMap,
    Dispute,
    DisputeSide,
    DissentReason,
    Gap,
    Leaning,
    MapRow,
    Minutes,
    Point,
    PositionTable,
    Stance,
    Support,
    Verdict,
)

_MOST_GROUNDS: Final = 12
_LONGEST: Final = 200  # characters of a sentence that is asked about
# What many say independently comes first, what rests on one source after it.
_ORDER: Final = (ClaimKind.INDEPENDENT_SOURCES, ClaimKind.ONE_MEMBER, ClaimKind.SHARED_SOURCE)


def draft_minutes(
    question: str, session: Session, record: Record, chart: DisagreementMap, runtime: Runtime
) -> Minutes:
    """Return the minutes that rules can write.

    Args:
        question: What was put to the council.
        session: Who met.
        record: What was said.
        chart: Where they agree and disagree.
        runtime: The library's parts.
    """
    ledger = Ledger(record.citations)
    council, options = session.council, session.council.options
    reading = position_table(session, runtime, ledger)
    choices = _choices(record)
    decided = _majority(choices)
    rounds = dict.fromkeys(statement.round for statement in record.statements)
    minutes = Minutes(
        council=council.slug,
        title=council.title,
        question=question,
        purpose=council.purpose,
        options=options,
        members=tuple(
            participant_record(participant, runtime) for participant in session.participants
        ),
        rounds=tuple(rounds),
        statements=record.statements,
        absences=record.absences,
        map=chart,
        decided=decided,
        decision=_decision(choices, session, chart),
        dissent=tuple(_dissent(chart, record)),
        open_questions=tuple(_open(chart, record)),
        missing=tuple(dict.fromkeys(_missing(session, record, chart))),
        reading=reading,
        matrix=tuple(_verdicts(options, choices, session)),
        citations=ledger.citations,
        chair=session.chair.title if session.chair else "",
        warnings=tuple(_warnings(session, record)),
    )
    if not session.debates:
        missing = tuple(_silent(session, reading, runtime))
        return replace(minutes, grounds=tuple(_read_grounds(reading)), missing=missing)
    settled = tuple(_settled(chart, record))
    facts = facts_in(session, {}, runtime)
    reasons = why_no_ground(settled, session, minutes, facts, runtime)
    grounds = [point for point, why in zip(settled, reasons, strict=True) if not why]
    return replace(minutes, grounds=tuple(grounds[:_MOST_GROUNDS]))


def _choices(record: Record) -> Mapping[str, str]:
    """Return the option that each member would choose, as far as they named one."""
    return {one.member: one.option for one in record.statements if one.option}


def _majority(choices: Mapping[str, str]) -> str:
    """Return the option that most of those who chose one would choose; or empty."""
    counts = Counter(choices.values())
    return next((option for option, count in counts.items() if 2 * count > len(choices)), "")


def _verdicts(
    options: Sequence[str], choices: Mapping[str, str], session: Session
) -> Iterator[Verdict]:
    """Yield a cell for each option and member, if anybody chose: whether it is what they chose."""
    for option in options if choices else ():
        for one in session.participants:
            is_chosen = choices.get(one.key) == option
            yield Verdict(option, one.key, Leaning.FOR if is_chosen else Leaning.SILENT)


def _decision(
    choices: Mapping[str, str], session: Session, chart: DisagreementMap
) -> tuple[Point, ...]:
    """Return how members chose, where a decision was asked for; else what became of the claims."""
    if not session.debates:
        return ()
    if not session.council.options:
        return (_plain(_tally(chart)),) if chart.rows else ()
    if not choices:
        return (_plain("Nothing was decided: no member chose an option."),)
    counts = Counter(choices.values()).most_common()
    votes = ", ".join(f"{count} for “{option}”" for option, count in counts)
    chosen = f"Of {counted(len(session.participants), 'member')}, {votes}"
    none = "" if _majority(choices) else "Nothing was decided. "
    return (_plain(f"{none}{chosen}."),)


def _plain(text: str) -> Point:
    """Return a sentence of our own, which states nothing that a document could carry."""
    return Point(text, support=Support.NO_STATEMENT)


def _tally(chart: DisagreementMap) -> str:
    disputed = sum(1 for row in chart.rows if _disputed(row, chart))
    given_up = sum(1 for row in chart.rows if not supporters(row))
    summary = (
        f"Of {counted(len(chart.rows), 'different claim')}, {disputed} {_are(disputed)} disputed"
    )
    return f"{summary} and {given_up} {'was' if given_up == 1 else 'were'} given up."


def _warnings(session: Session, record: Record) -> Iterator[str]:
    """Yield each warning once, with all members who have it."""
    yield from session.warnings
    titles = {participant.key: participant.title for participant in session.participants}
    whose: dict[str, dict[str, None]] = {}
    for statement in record.statements:
        for warning in statement.warnings:
            name = titles.get(statement.member, statement.member)
            whose.setdefault(warning, {})[name] = None
    for warning, names in whose.items():
        yield f"{', '.join(names)}: {warning}"


# --- grounds ---


def _settled(chart: DisagreementMap, record: Record) -> Iterator[Point]:
    """Yield what nobody disputes, the best supported first; of one kind in order of the claims.

    Views of what should be done are no grounds where members hold opposite ones.
    """
    opposite = {row.claim for row, _ in opposite_views(chart)}
    settled = [
        row
        for row in chart.rows
        if row.sources
        and supporters(row)
        and row.claim not in opposite
        and not _disputed(row, chart)
    ]
    candidates = [(row, _first_supported(row, record)) for row in sorted(settled, key=_rank)]
    narrowed = {
        reply.claim: reply
        for reply in record.replies
        if reply.stance is Stance.QUALIFIES and reply.support in FOUND
    }
    for row, claim in [(row, claim) for row, claim in candidates if claim]:
        point, reply = _point(claim, row, supporters(row)), narrowed.get(claim.id)
        if reply is not None and reply.member == claim.member:  # it holds only so far
            point = replace(point, text=reply.text, citations=reply.citations)
        yield point


def _read_grounds(reading: PositionTable) -> Iterator[Point]:
    """Yield what documents that are only read say on each aspect, a point for each group."""
    cells = {(cell.aspect, cell.member): cell for cell in reading.positions}
    for comparison in reading.comparisons:
        for group in comparison.groups:
            held = (cells[comparison.aspect, member] for member in group)
            cell = min(held, key=lambda cell: (-cell.likely, cell.text))
            yield Point(cell.text, cell.citations, members=group)


def _first_supported(row: MapRow, record: Record) -> Claim | None:
    """Return the first claim of a row that says no more than its documents do."""
    claims = map(record.claim, row.claims)
    return next((claim for claim in claims if claim and claim.support in FOUND), None)


def _rank(row: MapRow) -> int:
    return min((_ORDER.index(kind) for kind in row.kinds if kind in _ORDER), default=len(_ORDER))


def _point(claim: Claim, row: MapRow, members: tuple[str, ...]) -> Point:
    numbers = tuple(
        dict.fromkeys(
            number
            for cell in row.cells
            if cell.stance is Stance.SUPPORTS
            for number in cell.citations
        )
    )
    return Point(
        claim.text, numbers or claim.citations, claim.support, claim.problems, members, row.claims
    )


# --- dissent and open questions ---


def _dissent(chart: DisagreementMap, record: Record) -> Iterator[Point]:
    """Yield opposite views, and both sides of every dispute that is still held, each once."""
    for row, _ in opposite_views(chart):
        claim = record.claim(row.claim)
        if claim is not None:
            yield replace(_point(claim, row, supporters(row)), why=DissentReason.VALUE)
    seen: set[tuple[str, tuple[int, ...]]] = set()
    for dispute in unsettled(chart):
        for side in dispute.sides:
            key = (side.text, side.citations)
            if key not in seen:
                seen.add(key)
                yield replace(_side_point(side, record), why=_why(dispute))


def _why(dispute: Dispute) -> DissentReason:
    if dispute.newer:
        return DissentReason.OLDER_DOCUMENT
    if dispute.kind is ClaimKind.DIFFERENT_READINGS:
        return DissentReason.INTERPRETATION
    return DissentReason.FACT


def _side_point(side: DisputeSide, record: Record) -> Point:
    claim = record.claim(side.claim)
    if claim is None:
        return Point(side.text, side.citations, members=side.members)
    return Point(
        side.text, side.citations, claim.support, claim.problems, side.members, (side.claim,)
    )


def _open(chart: DisagreementMap, record: Record) -> Iterator[Point]:
    for dispute in unsettled(chart):
        yield _which(dispute)
    for statement in record.statements:
        for question in statement.open_questions:
            yield replace(_plain(question), members=(statement.member,))
    for reply in record.replies:
        if reply.stance is Stance.ASKS and reply.text:
            yield replace(_plain(reply.text), members=(reply.member,), claims=(reply.claim,))


def _which(dispute: Dispute) -> Point:
    """Ask which of two sides holds."""
    one, other = dispute.sides
    sides = [_side(_shorten(side.text), side.date) for side in dispute.sides]
    newer = " The first is the newer." if dispute.newer else ""
    numbers = tuple(dict.fromkeys((*one.citations, *other.citations)))
    members = tuple(dict.fromkeys((*one.members, *other.members)))
    claims = tuple(filter(None, (one.claim, other.claim)))
    asked = _plain(f"Which holds: {sides[0]} or {sides[1]}?{newer}")
    return replace(asked, citations=numbers, members=members, claims=claims)


def _side(stated: str, date: str) -> str:
    return f"“{stated}” ({date})" if date else f"“{stated}”"


def _shorten(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST].rpartition(' ')[0] or text[:_LONGEST]} …"


# --- what is missing ---


def _missing(session: Session, record: Record, chart: DisagreementMap) -> Iterator[Gap]:
    """Yield what members lacked, and independent evidence where all rests on one source."""
    shelves = {participant.key: shelf_of_gap(participant) for participant in session.everyone}
    for statement in record.statements:
        for text in statement.missing:
            yield Gap(statement.member, shelves[statement.member], text)
    given_up = {one.claim for one in record.concessions if one.accepted}
    for claim in record.claims:
        if claim.support not in FOUND and claim.id not in given_up:
            text = f"Evidence of “{_shorten(claim.text)}”: no document that was given carries it."
            yield Gap(claim.member, shelves.get(claim.member, ""), text)
    persuaded = {(given.member, given.to) for given in record.concessions if given.accepted}
    for row in chart.rows:
        members = [m for m in supporters(row) if not {(m, c) for c in row.claims} & persuaded]
        if ClaimKind.SHARED_SOURCE in row.kinds and len(members) > 1:
            for member in members:
                text = f"A source of their own for “{row.text}”: all agreement on it rests on one."
                yield Gap(member, shelves[member], text)


def _silent(session: Session, reading: PositionTable, runtime: Runtime) -> Iterator[Gap]:
    """Yield what is asked and the documents of a member do not say."""
    members = {participant.key: participant for participant in session.participants}
    asked = {aspect.id: aspect.text for aspect in reading.aspects}
    for cell in reading.positions:
        if not cell.citations:
            member = members[cell.member]
            empty = not runtime.store.census(member.request.scope).documents
            because = ": there are no documents" if empty else ""
            text = f"Evidence on “{inert(asked[cell.aspect])}”{because}."
            yield Gap(cell.member, shelf_of_gap(member), text)


def shelf_of_gap(participant: Participant) -> str:
    """Return the shelf that lacks something: a member's own, of a council all that it reads."""
    return ", ".join(participant.shelves) if participant.inner else participant.shelves[0]


def _disputed(row: MapRow, chart: DisagreementMap) -> bool:
    """Whether somebody contradicts what somebody still holds."""
    if not supporters(row):
        return False
    if any(cell.stance is Stance.CONTRADICTS for cell in row.cells):
        return True
    return any(side.claim in row.claims for dispute in unsettled(chart) for side in dispute.sides)


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
