"""What people see of minutes: the decision first, then who agrees, and what it rests on."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from chapterhouse.council.meeting.plan import Plan, PlannedTurn
from chapterhouse.council.minutes import wording
from chapterhouse.council.minutes.outline import meeting, minutes_html, minutes_markdown
from chapterhouse.council.minutes.reading import SHORT, reading_lines
from chapterhouse.council.minutes.wording import Reader, reader_of
from chapterhouse.interfaces.cli.terminal import draw, say
from chapterhouse.presenting.blocks import (
    Block,
    Bullets,
    Columns,
    Grid,
    GridCell,
    Paragraph,
    Part,
    Words,
    names_in,
    plain,
)
from chapterhouse.presenting.styled import cut, indented, one_line, shown, styled
from chapterhouse.presenting.terminal import numbers, quiet_line, show_block, source
from chapterhouse.presenting.wording import usage_text
from chapterhouse.text.counting import counted
from chapterhouse.types import Citation, MapRow, Minutes, ParticipantRecord, Stance

_WIDEST: Final = 110  # columns of the table, however wide the terminal is
_CLAIM: Final = 26  # columns of a claim, at least
_NAME, _LETTER, _GAP = 5, 1, 2  # columns of a member's name, at least; of a letter; between
_CELL: Final = 14  # columns of a member, at most
_TONES: Final = {
    Stance.SUPPORTS: "green",
    Stance.CONTRADICTS: "bold red",
    Stance.SILENT: "dim",
}
_WITHOUT_MODEL: Final = " (no model was asked: the documents are read, not weighed)"
_MORE: Final = "sources in full and all that was said: --full, --markdown or --html"
_RESULT: Final = ("changes", "decision", "grounds", "dissent", "open-questions")
_MOST_LINES: Final = 4  # of each list of the first screen
_AFTER: Final = (
    "disputes",
    "dissent",
    "open-questions",
    "missing",
    "concessions",
    "absences",
    "warnings",
)


def minutes(target: Console, value: Minutes, options: str = "", *, full: bool = True) -> None:
    """Show minutes; what was said word for word stands in the Markdown.

    Args:
        target: Where they are shown.
        value: The minutes.
        options: Those that a command needs to open the same library.
        full: Whether to show more than fits one screen.
    """
    reader = reader_of(value)
    parts = {part.key: part for part in meeting(reader).parts}
    say(target, (one_line(value.title or value.council), "bold cyan"))
    say(target, (one_line(value.question), "italic"))
    target.print()
    _part(target, parts.get("changes"))
    if not value.debated:
        _reading(target, reader, parts, options, full=full)
        return
    if not full:
        _result(target, reader, parts)
        return
    for key in ("decision", "grounds", "matrix"):
        _part(target, parts.get(key))
    _map(target, reader)
    for key in _AFTER:
        _part(target, parts.get(key))
    _sources(target, value, parts, options)
    say(target, (" · ".join(_facts(value)), "dim"))


def _reading(
    target: Console, reader: Reader, parts: dict[str, Part], options: str, *, full: bool
) -> None:
    """Show what documents say that were only read."""
    say(target, ("What each member's documents say", "bold"), (_WITHOUT_MODEL, "dim"))
    for block in reading_lines(reader, 0 if full else SHORT):
        show_block(target, block)
    target.print()
    for key in ("decision", "matrix", *(("missing",) if full else ()), "absences", "warnings"):
        part = parts.get(key)
        _part(target, part if full or part is None else _with_short_cells(part))
    if full:
        _sources(target, reader.minutes, parts, options)
        return
    _short_sources(target, reader.minutes.citations)


def _result(target: Console, reader: Reader, parts: dict[str, Part]) -> None:
    """Show what came of a debate on one screen: the decision, its grounds, what is open."""
    for key in ("decision", "grounds", "dissent", "open-questions", "absences", "warnings"):
        part = parts.get(key)
        if part is not None:
            _part(target, replace(part, blocks=tuple(_first(part.blocks))))
    named = {
        name
        for key in _RESULT
        if key in parts
        for block in _first(parts[key].blocks)
        for name in names_in(block)
    }
    cited = [one for one in reader.minutes.citations if str(one.number) in named]
    _short_sources(target, cited)


def _with_short_cells(part: Part) -> Part:
    """Return a part with the sentences of its tables cut."""

    def short(cell: GridCell) -> GridCell:
        line = (
            Words(cut(run.text, SHORT), run.style)
            if isinstance(run, Words) and len(run.text) > SHORT
            else run
            for run in cell.line
        )
        return replace(cell, line=tuple(line))

    blocks = (
        replace(block, rows=tuple(tuple(map(short, row)) for row in block.rows))
        if isinstance(block, Grid)
        else block
        for block in part.blocks
    )
    return replace(part, blocks=tuple(blocks))


def _first(blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield blocks whose lists are cut to what fits a screen."""
    for block in blocks:
        if isinstance(block, Bullets) and len(block.lines) > _MOST_LINES:
            yield Bullets(block.lines[:_MOST_LINES])
            yield Paragraph(plain(f"and {len(block.lines) - _MOST_LINES} more: --full"))
        else:
            yield block


def _short_sources(target: Console, cited: Sequence[Citation]) -> None:
    for citation in cited:
        place = " › ".join(dict.fromkeys((citation.title, *citation.section_path)))
        say(target, (f"[{citation.number}] {one_line(place)}", "dim"))
    say(target, (_MORE, "dim"))


def markdown(target: Console, value: Minutes, _options: str = "") -> None:
    """Print minutes as Markdown with footnotes."""
    target.out(shown(minutes_markdown(value)), highlight=False, end="")


def html(target: Console, value: Minutes, _options: str = "") -> None:
    """Print minutes as a page."""
    target.out(shown(minutes_html(value)), highlight=False, end="")


def _facts(value: Minutes) -> list[str]:
    claims = counted(len(value.claims), "claim")
    facts = [counted(len(value.members), "member"), claims]
    facts.append(one_line(wording.summed_up(value)))
    facts += [usage_text(value.usage)] if value.usage else []
    inner = [statement.member for statement in value.statements if statement.inner]
    facts += [f"{one_line(name)} is a council with its own minutes" for name in inner]
    return [*facts, "all that was said: --markdown"]


# --- parts -------------------------------------------------------------------------------------


def _part(target: Console, part: Part | None) -> None:
    if part is None:
        return
    say(target, (part.title, "bold"))
    for block in part.blocks:
        show_block(target, block)
    target.print()


# --- the map -----------------------------------------------------------------------------------


def _map(target: Console, reader: Reader) -> None:
    found = reader.minutes.map
    if not found.rows:
        return
    say(target, ("Where members agree and disagree", "bold"))
    signs = "   ".join(wording.STANCES.values())
    indented(target, styled((signs, "dim")), 2)
    participants = [_participant(reader, key) for key in found.members]
    width = min(target.width, _WIDEST) - 2
    total = (width - _CLAIM) // max(len(participants), 1) - _GAP
    if total >= _NAME:
        _table(
            target, reader, [participant.title for participant in participants], min(total, _CELL)
        )
    elif total >= _LETTER + 2:
        letters = [chr(ord("A") + place % 26) for place in range(len(participants))]
        legend = ", ".join(
            f"{a} {participant.title}" for a, participant in zip(letters, participants, strict=True)
        )
        indented(target, styled((quiet_line(legend), "dim")), 2)
        _table(target, reader, letters, total)
    else:
        _rows(target, reader)
    target.print()


def _participant(reader: Reader, key: str) -> ParticipantRecord:
    return ParticipantRecord(key, reader.title(key), "")


def _table(target: Console, reader: Reader, names: Sequence[str], total: int) -> None:
    """Show claims against members, with signs and numbers of citations in the cells."""
    drawn = Table(box=SIMPLE_HEAD, width=min(target.width, _WIDEST), padding=(0, 1), pad_edge=False)
    drawn.add_column("claim", ratio=1, overflow="fold")
    for name in names:
        drawn.add_column(styled(quiet_line(name)), max_width=total, overflow="fold")
    for row in reader.minutes.map.rows:
        drawn.add_row(_claim(reader, row), *_stances(reader, row))
    target.print(drawn, soft_wrap=False)


def _rows(target: Console, reader: Reader) -> None:
    for row in reader.minutes.map.rows:
        indented(target, _claim(reader, row), 2)
        for key, stance in zip(reader.minutes.map.members, _stances(reader, row), strict=True):
            indented(target, stance.append(f" {quiet_line(reader.title(key))}"), 4)


def _claim(reader: Reader, row: MapRow) -> Text:
    own = next((claim for claim in reader.minutes.claims if claim.id == row.claim), None)
    mark = wording.support_mark(own.support) if own else ""
    rests_on = reader.source(row.rests_on) if row.rests_on else ""
    kinds = wording.kinds(row.kinds, rests_on)
    return styled(
        (f"{quiet_line(row.claim)} ", "cyan"),
        quiet_line(wording.legible(row.text)),
        (f" ({mark})" if mark else "", "yellow"),
        (f"\n{quiet_line(kinds)}" if kinds else "", "dim"),
    )


def _stances(reader: Reader, row: MapRow) -> list[Text]:
    cells = {cell.member: cell for cell in row.cells}
    found = []
    for key in reader.minutes.map.members:
        cell = cells.get(key)
        stance = cell.stance if cell else Stance.SILENT
        cited = numbers(cell.citations) if cell else ""
        sign = wording.STANCES[stance][0]
        found.append(styled((f"{sign} {cited}".rstrip(), _TONES[stance])))
    return found


# --- sources -----------------------------------------------------------------------------------


def _sources(target: Console, value: Minutes, parts: dict[str, Part], options: str) -> None:
    """Show the sources of what is shown, and say how many more there are."""
    seen = {"changes", "decision", "reading", "grounds", "matrix", "map", *_AFTER}
    named = {
        name
        for key, part in parts.items()
        if key in seen
        for block in part.blocks
        for name in names_in(block)
    }
    cited = [citation for citation in value.citations if str(citation.number) in named]
    for title, of_tools in (("Sources", False), ("What tools returned", True)):
        shown = [citation for citation in cited if bool(citation.tool) is of_tools]
        if shown:
            say(target, (title, "bold"))
        for citation in shown:
            source(target, str(citation.number), citation, options)
            target.print()
    rest = len(value.citations) - len(cited)
    if rest:
        more = counted(rest, "more source" if cited else "source")
        say(target, (f"{more} in what was said: --markdown shows all.", "dim"))


# --- a meeting before it is held ------------------------------------------------------------------


def plan(target: Console, value: Plan) -> None:
    """Show who would sit and what each would be told, in full."""
    say(target, (one_line(value.title), "bold"))
    say(target, one_line(value.question))
    target.print()
    rows = [("member", "seat", "reads", "documents", "model")]
    rows += [
        (
            participant.title or participant.key,
            participant.kind,
            ", ".join(participant.shelves) or "nothing",
            f"{participant.documents:,}",
            participant.model or "none: quotations",
        )
        for participant in value.participants
    ]
    draw(target, [Columns(rows)])
    for number, turn in enumerate(value.turns, start=1):
        _turn(target, turn, number)
    for warning in value.warnings:
        say(target, (one_line(warning), "yellow"))
    turns = counted(len(value.turns), "turn")
    say(target, (f"{turns} planned; no model was asked.", "dim"))


def _turn(target: Console, turn: PlannedTurn, number: int) -> None:
    target.print()
    title = f"{number}. {one_line(turn.round)}: {one_line(turn.member)}"
    say(target, (title, "bold cyan"))
    facts = [
        f"model {turn.model}" if turn.model else "no model: documents are quoted",
        f"grounding {turn.grounding}",
        f"reads {', '.join(turn.shelves) or 'nothing'}",
        f"tools {', '.join(turn.tools) or 'none'}",
    ]
    indented(target, styled((" · ".join(map(one_line, facts)), "dim")), 3)
    for name, text in (("Instructions", turn.instructions), ("Prompt", turn.prompt)):
        if text.strip():
            indented(target, styled((name, "bold")), 3)
            indented(target, text.rstrip(), 5)
