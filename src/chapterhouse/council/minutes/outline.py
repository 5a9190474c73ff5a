"""Minutes as titled parts, in the order in which they are read."""

from collections.abc import Callable, Sequence

from chapterhouse.council.minutes import wording
from chapterhouse.council.minutes.contents import all_citations, meetings
from chapterhouse.council.minutes.reading import reading_grid
from chapterhouse.council.minutes.wording import Reader, reader_of
from chapterhouse.presenting.blocks import (
    Block,
    Bullets,
    Facing,
    Grid,
    GridCell,
    Line,
    Opposed,
    Paragraph,
    Part,
    Sources,
    Style,
    Words,
    plain,
)
from chapterhouse.presenting.html import page
from chapterhouse.presenting.markdown import markdown
from chapterhouse.presenting.wording import method, usage_text
from chapterhouse.text.counting import counted
from chapterhouse.types import (
    Claim,
    Concession,
    Dispute,
    DisputeSide,
    MapRow,
    Minutes,
    ParticipantRecord,
    Point,
    Reply,
    Stance,
    Statement,
    Verdict,
)


def rounds(reader: Reader) -> tuple[Part, ...]:
    """Return a part for each round, with a part for each who spoke."""
    statements = enumerate(reader.minutes.statements, start=1)
    numbered = [(number, statement) for number, statement in statements]
    names = dict.fromkeys((*reader.minutes.rounds, *(s.round for _, s in numbered)))
    parts = []
    for place, name in enumerate(names, start=1):
        statement_parts = tuple(_statement(reader, s, n) for n, s in numbered if s.round == name)
        if statement_parts:
            key = f"{reader.place}round-{place}"
            parts.append(
                Part(key, f"Round {place}: {wording.round_title(name)}", (), statement_parts)
            )
    return tuple(parts)


def _statement(reader: Reader, statement: Statement, number: int) -> Part:
    blocks: list[Block] = []
    if statement.position:
        blocks.append(Paragraph(plain(statement.position)))
    if statement.option:
        chosen = (Words("Would choose: ", Style.QUIET), Words(statement.option, Style.STRONG))
        blocks.append(Paragraph(chosen))
    lines = [
        *(_claim(reader, claim) for claim in statement.claims),
        *(_reply(reader, reply) for reply in statement.replies),
        *(concession_line(reader, given) for given in statement.concessions),
        *((Words("Lacks: ", Style.QUIET), Words(text)) for text in statement.missing),
        *((Words("Asks: ", Style.QUIET), Words(text)) for text in statement.open_questions),
    ]
    blocks += [Bullets(tuple(lines))] if lines else []
    blocks.append(Paragraph((Words(_how(statement), Style.QUIET),)))
    return Part(f"{reader.place}statement-{number}", reader.title(statement.member), tuple(blocks))


def _claim(reader: Reader, claim: Claim) -> Line:
    line = reader.supported(claim.text, claim.support, claim.problems, claim.citations)
    return (reader.claim(claim.id, stated=True), Words(" "), *line)


def _reply(reader: Reader, reply: Reply) -> Line:
    line = reader.supported(reply.text, reply.support, reply.problems, reply.citations)
    against = f": {reply.values[0]} against {reply.values[1]}" if any(reply.values) else ""
    details = (Words(f" ({reply.by.value}{against})", Style.QUIET),) if reply.by else ()
    stance = Words(f"{wording.STANCES[reply.stance]} ", Style.STRONG)
    between: Line = (Words(": "),) if reply.text else ()
    return (stance, reader.claim(reply.claim), *details, *between, *line)


def _how(statement: Statement) -> str:
    """Return how a statement came about."""
    details = [method(statement.method)]
    if statement.tool_calls:
        names = ", ".join(dict.fromkeys(call.name for call in statement.tool_calls))
        details.append(f"{counted(len(statement.tool_calls), 'tool call')} ({names})")
    if statement.rejected:
        details.append(
            f"left out, for it cites nothing that was given: {', '.join(statement.rejected)}"
        )
    if statement.usage:
        details.append(usage_text(statement.usage))
    line = "; ".join(details)
    return f"{line[:1].upper()}{line[1:]}."


def concession_line(reader: Reader, given: Concession) -> Line:
    """Return who gives what up for what, and whether it counts."""
    to: Line = (Words(" for "), reader.claim(given.to)) if given.to else ()
    verdict = "accepted" if given.accepted else "not accepted"
    style = Style.STRONG if given.accepted else Style.WARNING
    line: Line = (Words(": "), Words(given.text)) if given.text else ()
    reason = (Words(f" ({given.reason})", Style.QUIET),) if given.reason else ()
    return (
        Words(f"{reader.title(given.member)} ", Style.STRONG),
        Words("gives up "),
        reader.claim(given.claim),
        *to,
        *line,
        *reader.cited(given.citations),
        Words(" — "),
        Words(verdict, style),
        *reason,
    )


def outline(minutes: Minutes) -> Part:
    """Return all of the minutes, their sources last; what is empty is left out."""
    top = meeting(reader_of(minutes))
    inner = [_inner(place, held) for place, held in meetings(minutes) if place]
    cited = tuple(all_citations(minutes))
    below = tuple(
        Part(key, title, (Sources(found),))
        for key, title, found in (
            ("sources", "Sources", tuple(entry for entry in cited if not entry[1].tool)),
            ("tools", "What tools returned", tuple(entry for entry in cited if entry[1].tool)),
        )
        if found
    )
    return Part(top.key, top.title, top.blocks, (*top.parts, *inner, *below))


def minutes_markdown(minutes: Minutes) -> str:
    """Return minutes as Markdown with footnotes."""
    return markdown(outline(minutes))


def minutes_html(minutes: Minutes) -> str:
    """Return minutes as a whole HTML document."""
    return page(outline(minutes), "Minutes of a council")


def _inner(place: str, minutes: Minutes) -> Part:
    part = meeting(reader_of(minutes, place))
    return Part(
        part.key, f"The council that sat as a member: {part.title}", part.blocks, part.parts
    )


def meeting(reader: Reader) -> Part:
    """Return what one meeting came to, without those of councils that sat in it."""
    minutes, place = reader.minutes, reader.place
    parts: list[tuple[str, str, Callable[[Reader], tuple[Block, ...]]]] = [
        ("members", "Who sat", _members),
        ("decision", "Decision", _decision),
        ("reading", "What each member's documents say", reading_grid),
        ("grounds", "Grounds", _grounds),
        ("matrix", "Decision matrix", _matrix),
        ("map", "Where members agree and disagree", _map),
        ("disputes", "Disputes", _disputes),
        ("dissent", "Dissent", lambda r: _points(r, r.minutes.dissent, holders_first=True)),
        ("open-questions", "Open questions", lambda r: _points(r, r.minutes.open_questions)),
        ("missing", "Missing evidence", _missing),
        ("concessions", "Concessions", _concessions),
        ("absences", "Absences", _absences),
    ]
    sections = [Part(f"{place}{key}", title, made(reader)) for key, title, made in parts]
    sections.append(Part(f"{place}statements", "What was said", (), rounds(reader)))
    sections.append(Part(f"{place}warnings", "Warnings", _warnings(reader)))
    return Part(
        f"{place}minutes",
        minutes.title or minutes.council,
        _opening(minutes),
        tuple(part for part in sections if part.blocks or part.parts),
    )


def _opening(minutes: Minutes) -> tuple[Block, ...]:
    blocks: list[Block] = [Paragraph((Words(minutes.question, Style.STRONG),))]
    if minutes.purpose:
        blocks.append(Paragraph(plain(minutes.purpose)))
    if minutes.options:
        blocks.append(Paragraph((Words("To be decided between: ", Style.QUIET),)))
        blocks.append(Bullets(tuple(plain(option) for option in minutes.options)))
    return tuple(blocks)


def _members(reader: Reader) -> tuple[Block, ...]:
    minutes = reader.minutes
    blocks: list[Block] = []
    if minutes.members:
        columns = ("Member", "Seat", "Reads", "Documents", "Speaks by")
        rows = tuple(_member_row(participant) for participant in minutes.members)
        blocks.append(Grid("Who sat in the council, and what they read", columns, rows))
    presided = f"{minutes.chair} presided" if minutes.chair else "Nobody presided"
    summed = f"{presided}; summed up: {wording.summed_up(minutes)}."
    blocks.append(Paragraph((Words(summed, Style.QUIET),)))
    if minutes.usage:
        usage_line = f"Used of models: {usage_text(minutes.usage)}."
        blocks.append(Paragraph((Words(usage_line, Style.QUIET),)))
    return tuple(blocks)


def _member_row(participant: ParticipantRecord) -> tuple[GridCell, ...]:
    kind = f"{participant.kind} {participant.persona}" if participant.persona else participant.kind
    texts = (
        participant.title or participant.key,
        kind,
        ", ".join(participant.shelves) or "nothing of their own",
        f"{participant.documents:,}",
        participant.model or "quotations, no model",
    )
    return tuple(GridCell(plain(text)) for text in texts)


# --- what came of it ---------------------------------------------------------------------------


def _decision(reader: Reader) -> tuple[Block, ...]:
    minutes = reader.minutes
    blocks: list[Block] = []
    if minutes.options:
        decided = minutes.decided or "stays open"
        line = (Words("Decided: ", Style.QUIET), Words(decided, Style.STRONG))
        blocks.append(Paragraph(line))
    blocks += [Paragraph(point_line(reader, point)) for point in minutes.decision]
    return tuple(blocks)


def _grounds(reader: Reader) -> tuple[Block, ...]:
    """Return the grounds of a debate; those of documents that were read are the table."""
    if not reader.minutes.debated:
        return ()
    years = {one.number: one.year for one in reader.minutes.citations}
    lines = []
    for point in reader.minutes.grounds:
        stated = dict.fromkeys(years.get(number, "") for number in point.citations)
        dated = ", ".join(filter(None, stated))  # of how old a document it is
        after = (Words(f" (of {dated})", Style.QUIET),) if dated else ()
        lines.append((*point_line(reader, point), *after))
    return (Bullets(tuple(lines)),) if lines else ()


def point_line(reader: Reader, point: Point, *, holders_first: bool = False) -> Line:
    """Return a sentence of the minutes with all that stands beside it."""
    who = reader.titles(point.members)
    before = (Words(f"{who}: ", Style.STRONG),) if who and holders_first else ()
    after = (Words(f" — {who}", Style.QUIET),) if who and not holders_first else ()
    line = reader.supported(point.text, point.support, point.problems, point.citations)
    why = (Words(f" ({wording.REASONS[point.why]})", Style.QUIET),) if point.why else ()
    return (*before, *line, *why, *after, *reader.claims(point.claims))


def _points(
    reader: Reader, points: Sequence[Point], *, holders_first: bool = False
) -> tuple[Block, ...]:
    lines = tuple(point_line(reader, point, holders_first=holders_first) for point in points)
    return (Bullets(lines),) if lines else ()


def _matrix(reader: Reader) -> tuple[Block, ...]:
    minutes = reader.minutes
    if not minutes.matrix:
        return ()
    by_place = {(one.option, one.member): one for one in minutes.matrix}
    members = list(dict.fromkeys(one.member for one in minutes.matrix))
    options = list(dict.fromkeys((*minutes.options, *(one.option for one in minutes.matrix))))
    rows = tuple(
        (
            GridCell((Words(option, Style.STRONG),)),
            *(_verdict(reader, by_place.get((option, member))) for member in members),
        )
        for option in options
    )
    columns = ("Option", *map(reader.title, members))
    return (Grid("How each member stands to each option", columns, rows),)


def _verdict(reader: Reader, verdict: Verdict | None) -> GridCell:
    if verdict is None:
        return GridCell(plain("—"))
    line: Line = (Words(wording.LEANINGS[verdict.leaning], Style.STRONG),)
    if verdict.text:
        because = reader.supported(verdict.text, verdict.support, (), verdict.citations)
        line = (*line, Words(": "), *because)
    else:
        line = (*line, *reader.cited(verdict.citations))
    return GridCell(line, verdict.leaning.value)


# --- agreement and disagreement ----------------------------------------------------------------


def _map(reader: Reader) -> tuple[Block, ...]:
    found = reader.minutes.map
    if not found.rows:
        return ()
    rows = tuple(_map_row(reader, row) for row in found.rows)
    columns = ("Claim", *map(reader.title, found.members), "What it rests on")
    return (Grid("Claims, and how each member stands to them", columns, rows),)


def _map_row(reader: Reader, row: MapRow) -> tuple[GridCell, ...]:
    own = next((claim for claim in reader.minutes.claims if claim.id == row.claim), None)
    mark = wording.support_mark(own.support) if own else ""
    warning = (Words(f" ({mark})", Style.WARNING),) if mark else ()
    head: Line = (reader.claim(row.claim), Words(" "), Words(wording.legible(row.text)), *warning)
    stances = {cell.member: cell for cell in row.cells}
    cells = []
    for member in reader.minutes.map.members:
        cell = stances.get(member)
        stance = cell.stance if cell else Stance.SILENT
        cited = reader.cited(cell.citations) if cell else ()
        cells.append(GridCell((Words(wording.STANCES[stance]), *cited), stance.value))
    rests_on = reader.source(row.rests_on) if row.rests_on else ""
    return (GridCell(head), *cells, GridCell(plain(wording.kinds(row.kinds, rests_on))))


def _disputes(reader: Reader) -> tuple[Block, ...]:
    return tuple(
        _dispute(reader, dispute, number)
        for number, dispute in enumerate(reader.minutes.map.disputes, start=1)
    )


def _dispute(reader: Reader, dispute: Dispute, number: int) -> Opposed:
    first, second = dispute.sides
    sides = (
        _facing(reader, first, newer=dispute.newer is True),
        _facing(reader, second, newer=False),
    )
    return Opposed(wording.dispute_title(dispute, number), sides, wording.dispute_verdict(dispute))


def _facing(reader: Reader, side: DisputeSide, *, newer: bool) -> Facing:
    line = (
        Words(f"“{wording.legible(side.text)}”"),
        *reader.cited(side.citations),
        *reader.claims((side.claim,)),
    )
    date = f"{side.date}{' (newer)' if newer else ''}" if side.date else "undated"
    return Facing(_holders(reader, side), line, side.value, date, newer)


def _holders(reader: Reader, side: DisputeSide) -> str:
    """Return who is on a side; what was given up is still named after who claimed it."""
    own = next((claim for claim in reader.minutes.claims if claim.id == side.claim), None)
    if not side.members and own is not None:
        return f"{reader.title(own.member)}, who gave it up"
    return reader.titles(side.members)


# --- what is missing ---------------------------------------------------------------------------


def _missing(reader: Reader) -> tuple[Block, ...]:
    whose: dict[str, list[str]] = {}
    for gap in reader.minutes.missing:  # what several lack is told once
        who = reader.title(gap.member) if gap.member else "Nobody in particular"
        shelf = f" (shelf {gap.shelf})" if gap.shelf else ""
        whose.setdefault(gap.text, []).append(f"{who}{shelf}")
    lines = [
        (Words(f"{', '.join(names)}: ", Style.STRONG), Words(text)) for text, names in whose.items()
    ]
    return (Bullets(tuple(lines)),) if lines else ()


def _concessions(reader: Reader) -> tuple[Block, ...]:
    lines = tuple(concession_line(reader, given) for given in reader.minutes.concessions)
    return (Bullets(lines),) if lines else ()


def _absences(reader: Reader) -> tuple[Block, ...]:
    lines = tuple(
        (
            Words(f"{reader.title(one.member)}, ", Style.STRONG),
            Words(f"{wording.round_title(one.round)}: "),
            Words(one.reason),
        )
        for one in reader.minutes.absences
    )
    return (Bullets(lines),) if lines else ()


def _warnings(reader: Reader) -> tuple[Block, ...]:
    known = reader.minutes.warnings
    lines = [plain(warning) for warning in known]
    lines += [
        (Words(f"{reader.title(statement.member)}: ", Style.STRONG), Words(warning))
        for statement in reader.minutes.statements
        for warning in statement.warnings
        if not any(warning in one for one in known)  # those say whose it is
    ]
    return (Bullets(tuple(lines)),) if lines else ()
