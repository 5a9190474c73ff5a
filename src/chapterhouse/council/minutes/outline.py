"""Minutes as titled parts, in the order in which they are read."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from chapterhouse.agents.council_model import is_council_shelf, shelf_of
from chapterhouse.council.minutes.contents import (
    STANCES,
    Reader,
    all_citations,
    legible,
    meetings,
    question_title,
    round_title,
)
from chapterhouse.presenting.blocks import (
    Block,
    Bullets,
    CitationBlock,
    Grid,
    GridCell,
    Line,
    Paragraph,
    Part,
    Sources,
    StatementName,
    Style,
    Words,
    plain,
)
from chapterhouse.presenting.citing import distinguish_sources
from chapterhouse.presenting.html import page
from chapterhouse.presenting.markdown import markdown
from chapterhouse.presenting.styled import one_line
from chapterhouse.presenting.wording import method, usage_text
from chapterhouse.text.counting import counted
from chapterhouse.types import (
    EXTRACTIVE,
    Agreement,
    MemberTurn,
    Minutes,
    ParticipantRecord,
    Point,
    Reply,
    Stance,
    Statement,
    TableCell,
)

TITLE: Final = "What each member's documents say"
NOTHING: Final = "nothing found"
_NO_DOCUMENTS: Final = "there are no documents."


def outline(minutes: Minutes) -> Part:
    """Return all of the minutes, their sources last; what is empty is left out."""
    top = meeting(Reader(minutes))
    inner = [_inner(place, held) for place, held in meetings(minutes) if place]
    cited = distinguish_sources(all_citations(minutes))
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
    part = meeting(Reader(minutes, place))
    return Part(
        part.key, f"The council that sat as a member: {part.title}", part.blocks, part.parts
    )


def meeting(reader: Reader) -> Part:
    """Return what one meeting came to, without those of councils that sat in it."""
    minutes, place = reader.minutes, reader.place
    parts: list[tuple[str, str, Callable[[Reader], tuple[Block, ...]]]] = [
        ("table", TITLE, _table),
        ("nothing", "Nothing was found", _nothing_found),
        ("members", "Who sat", _members),
        ("decision", "Decision", _decision),
        ("grounds", "Grounds", lambda r: _points(r, r.minutes.grounds)),
        ("dissent", "Dissent", lambda r: _points(r, r.minutes.dissent)),
        ("agreement", "Who stands where", _agreement),
        ("open-questions", "Open questions", lambda r: _points(r, r.minutes.open_questions)),
        ("missing", "Missing evidence", _missing),
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
    lines = [f"{summary_text(minutes)}."]
    if minutes.usage:
        lines.append(f"Used of models: {usage_text(minutes.usage)}.")
    return (*blocks, *(Paragraph((Words(line, Style.QUIET),)) for line in lines))


def summary_text(minutes: Minutes) -> str:
    """Return who presided and how the minutes came about."""
    presided = f"{minutes.chair} presided" if minutes.chair else "Nobody presided"
    how = "nobody summed up" if minutes.method == EXTRACTIVE else method(minutes.method)
    return f"{presided}; {how}" if minutes.debated else f"{presided}; no model spoke"


def _member_row(participant: ParticipantRecord) -> tuple[GridCell, ...]:
    kind = f"{participant.kind} {participant.persona}" if participant.persona else participant.kind
    texts = (
        participant.title or participant.key,
        kind,
        ", ".join(map(shelf_title, participant.shelves)) or "nothing of their own",
        f"{participant.documents:,}",
        participant.model or "quotations, no model",
    )
    return tuple(GridCell(plain(text)) for text in texts)


def shelf_title(shelf: str) -> str:
    """Return how a reader knows a shelf: those of a council have names that say nothing."""
    if not is_council_shelf(shelf):
        return shelf
    is_shared = "_" not in shelf.removeprefix(shelf_of(""))
    return "what all share" if is_shared else "documents of their own"


# --- the table of a council without a model -------------------------------------------------------


def _table(reader: Reader) -> tuple[Block, ...]:
    """Return the table: a row for each thing that was asked, a column for each member."""
    table = reader.minutes.table
    if not table:
        return ()
    rows = tuple(
        (
            GridCell((Words(question_title(row.asked), Style.STRONG),)),
            *(_cell(reader, cell) for cell in row.cells),
        )
        for row in table
    )
    columns = ("Asked", *(reader.title(cell.member) for cell in table[0].cells))
    return (Grid(TITLE, columns, rows, sortable=True),)


def _nothing_found(reader: Reader) -> tuple[Block, ...]:
    """Return who has nothing on what was asked."""
    asked: dict[str, list[str]] = {}
    for row in reader.minutes.table:
        for cell in row.cells:
            if not cell.text:
                asked.setdefault(cell.member, []).append(question_title(row.asked))
    empty = {member.key for member in reader.minutes.members if not member.documents}
    lines = tuple(
        (
            Words(f"{reader.title(member)}: ", Style.STRONG),
            *plain(_NO_DOCUMENTS if member in empty else " ".join(titles)),
        )
        for member, titles in asked.items()
    )
    return (Bullets(lines),) if lines else ()


def _cell(reader: Reader, cell: TableCell) -> GridCell:
    if not cell.text:
        return GridCell((Words(NOTHING, Style.QUIET),), "silent")
    return GridCell((Words(one_line(cell.text)), *reader.cited(cell.citations)))


# --- what came of it ---------------------------------------------------------------------------


def _decision(reader: Reader) -> tuple[Block, ...]:
    minutes = reader.minutes
    blocks: list[Block] = []
    if minutes.options and minutes.debated:
        decided = minutes.decided or "stays open"
        line = (Words("Decided: ", Style.QUIET), Words(decided, Style.STRONG))
        blocks.append(Paragraph(line))
    # Who would choose what is said in the sentence already.
    blocks += [Paragraph(_point(reader, one, holders=False)) for one in minutes.decision]
    return tuple(blocks)


def _point(reader: Reader, point: Point, *, holders: bool = True) -> Line:
    """Return a sentence of the minutes with all that stands beside it."""
    who = reader.titles(point.members) if holders else ""
    before = (Words(f"{who}: ", Style.STRONG),) if who else ()
    named = [reader.statement(one) for one in point.statements]
    between: list[Words | StatementName] = []
    for one in named:
        between += [Words(", " if between else " (", Style.QUIET), one]
    after = (*between, Words(")", Style.QUIET)) if between else ()
    return (*before, *reader.written(point.text, point.citations, point.mismatches), *after)


def positions(reader: Reader) -> tuple[Block, ...]:
    """Return what each member holds on each thing that was asked; what is opposed comes first."""
    found = {one.statement: one for one in reader.minutes.agreement}
    made: dict[str, dict[str, list[Statement]]] = {}
    for one in reader.minutes.statements:
        own = made.setdefault(one.question, {}).setdefault(one.member, [])
        own += [one] if all(one.position != earlier.position for earlier in own) else []
    members = [
        one.key for one in reader.minutes.members if any(one.key in row for row in made.values())
    ]
    rows = [
        (
            GridCell((Words(question_title(asked or reader.minutes.question), Style.STRONG),)),
            *(_position_cell(reader, row.get(member, ()), found) for member in members),
        )
        for asked, row in made.items()
    ]
    rows.sort(key=lambda row: all(cell.tone != Stance.OPPOSE for cell in row))
    columns = ("Asked", *map(reader.title, members))
    return (Grid("What each member holds", columns, tuple(rows)),) if rows else ()


def _position_cell(
    reader: Reader, statements: Sequence[Statement], found: Mapping[str, Agreement]
) -> GridCell:
    """Return what a member stated on one thing, toned as they stand to it or others oppose it."""
    line: list[Words | CitationBlock | StatementName] = []
    tones: list[str] = []
    for one in statements:
        given_up = one.member in found[one.id].concede
        tones.append("concede" if given_up else "oppose" if found[one.id].oppose else "")
        remark = (Words(f" ({STANCES[Stance.CONCEDE]})", Style.QUIET),) if given_up else ()
        line += [*((Words(" "),) if line else ()), reader.statement(one.id), Words(" ")]
        line += [*reader.written(one.position, one.citations, one.mismatches), *remark]
    tone = max(tones, key=("", "concede", "oppose").index, default="silent")
    return GridCell(tuple(line) or (Words("said nothing", Style.QUIET),), tone)


def _points(reader: Reader, points: Sequence[Point]) -> tuple[Block, ...]:
    lines = tuple(_point(reader, point) for point in points)
    return (Bullets(lines),) if lines else ()


def _agreement(reader: Reader) -> tuple[Block, ...]:
    """Return a table for each thing asked: statements against members, alike labels together."""
    minutes = reader.minutes
    if not minutes.agreement:
        return ()
    stances = {one.statement: one for one in minutes.agreement}
    columns = ("Statement", *(reader.title(one.key) for one in minutes.members))
    blocks = list[Block]()
    for question in dict.fromkeys(one.question for one in minutes.statements):
        title = question_title(question)
        blocks += [Paragraph((Words(title, Style.STRONG),))] if title else []
        asked = _by_label(minutes, question)
        rows = tuple(_standing(reader, one, stances[one.id]) for one in asked)
        blocks.append(Grid(title or "How members stand to each statement", columns, rows))
    return tuple(blocks)


def _by_label(minutes: Minutes, question: str) -> Iterator[Statement]:
    asked = [one for one in minutes.statements if one.question == question]
    labels = dict.fromkeys((one.label or one.position).casefold() for one in asked)
    for label in labels:
        yield from (one for one in asked if (one.label or one.position).casefold() == label)


def _standing(reader: Reader, statement: Statement, found: Agreement) -> tuple[GridCell, ...]:
    head = (
        reader.statement(statement.id),
        Words(f" {legible(statement.label or statement.position)}"),
        Words(f" — {reader.title(statement.member)}", Style.QUIET),
    )
    replies = {(one.member, one.statement): one.citations for one in reader.minutes.replies}
    cells = []
    for member in reader.minutes.members:
        stance = _stance(found, member.key)
        cited = reader.cited(replies.get((member.key, statement.id), ()))
        line = (Words(STANCES[stance]), *cited) if stance else ()
        cells.append(GridCell(line, stance.value if stance else "silent"))
    return (GridCell(head), *cells)


def _stance(found: Agreement, member: str) -> Stance | None:
    for stance, members in (
        (Stance.STAND, found.stand),
        (Stance.CONCEDE, found.concede),
        (Stance.OPPOSE, found.oppose),
    ):
        if member in members:
            return stance
    return None


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


def _absences(reader: Reader) -> tuple[Block, ...]:
    lines = tuple(
        (
            Words(f"{reader.title(one.member)}, ", Style.STRONG),
            Words(f"{round_title(one.round)}: "),
            Words(one.reason),
        )
        for one in reader.minutes.absences
    )
    return (Bullets(lines),) if lines else ()


def _warnings(reader: Reader) -> tuple[Block, ...]:
    lines = tuple(plain(warning) for warning in reader.minutes.warnings)
    return (Bullets(lines),) if lines else ()


# --- what was said -----------------------------------------------------------------------------


def rounds(reader: Reader) -> tuple[Part, ...]:
    """Return a part for each round, with a part for each who spoke."""
    numbered = list(enumerate(reader.minutes.turns, start=1))
    parts = []
    for place, name in enumerate(reader.minutes.rounds, start=1):
        turns = tuple(
            turn_part(reader, turn, number)
            for number, turn in numbered
            if turn.round == name and (turn.statements or turn.replies or turn.missing)
        )
        if turns:
            key = f"{reader.place}round-{place}"
            parts.append(Part(key, f"Round {place}: {round_title(name)}", (), turns))
    return tuple(parts)


def turn_part(reader: Reader, turn: MemberTurn, number: int) -> Part:
    """Return what a member said in a round; ``number`` is the turn's in the meeting, from 1."""
    blocks: list[Block] = [block for one in turn.statements for block in _statement(reader, one)]
    if turn.option:
        chosen = (Words("Would choose: ", Style.QUIET), Words(turn.option, Style.STRONG))
        blocks.append(Paragraph(chosen))
    lines = [
        *(_reply(reader, reply) for reply in turn.replies),
        *((Words("Lacks: ", Style.QUIET), Words(text)) for text in turn.missing),
        *((Words("Asks: ", Style.QUIET), Words(text)) for text in turn.open_questions),
    ]
    blocks += [Bullets(tuple(lines))] if lines else []
    blocks.append(Paragraph((Words(_how(turn), Style.QUIET),)))
    return Part(f"{reader.place}turn-{number}", reader.title(turn.member), tuple(blocks))


def _statement(reader: Reader, one: Statement) -> Iterator[Block]:
    """Yield a position, and below it what it rests on."""
    asked = question_title(one.question)
    about = (Words(f" {asked}", Style.QUIET),) if asked else ()
    label = (Words(f" {one.label}.", Style.STRONG),) if one.label else ()
    position = reader.written(one.position, one.citations, one.mismatches)
    head = reader.statement(one.id, stated=True)
    grounds = tuple(reader.written(g.text, g.citations, g.mismatches) for g in one.grounds)
    yield Bullets(((head, *about, *label, Words(" "), *position), *grounds))


def _reply(reader: Reader, reply: Reply) -> Line:
    line = reader.written(reply.reason, reply.citations, reply.mismatches)
    stance = Words(f"{STANCES[reply.stance]} ", Style.STRONG)
    between: Line = (Words(": "),) if reply.reason else ()
    return (stance, reader.statement(reply.statement), *between, *line)


def _how(turn: MemberTurn) -> str:
    """Return how a turn came about."""
    details = [method(turn.method)]
    if turn.tool_calls:
        names = ", ".join(dict.fromkeys(call.name for call in turn.tool_calls))
        details.append(f"{counted(len(turn.tool_calls), 'tool call')} ({names})")
    if turn.rejected:
        details.append(f"left out, for it cites nothing that was given: {', '.join(turn.rejected)}")
    if turn.usage:
        details.append(usage_text(turn.usage))
    line = "; ".join(details)
    return f"{line[:1].upper()}{line[1:]}."
