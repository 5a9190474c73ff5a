"""Minutes and plans of meetings on a terminal: the same parts as in Markdown."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from rich.console import Console

from chapterhouse.council.meeting.plan import Plan, PlannedTurn
from chapterhouse.council.minutes.outline import meeting, minutes_html, minutes_markdown, outline
from chapterhouse.council.minutes.wording import reader_of
from chapterhouse.interfaces.cli.terminal import draw, say
from chapterhouse.presenting.blocks import (
    Block,
    Bullets,
    Columns,
    Paragraph,
    Part,
    names_in,
    plain,
)
from chapterhouse.presenting.styled import indented, one_line, shown, styled
from chapterhouse.presenting.terminal import show
from chapterhouse.text.counting import counted
from chapterhouse.types import Citation, Minutes

_MORE: Final = "sources in full and all that was said: --full, --markdown or --html"
_FIRST: Final = (
    "table",
    "decision",
    "grounds",
    "dissent",
    "agreement",
    "open-questions",
    "absences",
    "warnings",
)
_MOST_LINES: Final = 4  # of each list of the first screen


def minutes(target: Console, value: Minutes, options: str = "", *, full: bool = True) -> None:
    """Show minutes: what fits one screen, or in full."""
    say(target, (one_line(value.title or value.council), "bold cyan"))
    if full:
        show(target, outline(value), options, detailed=True)
        return
    say(target, (one_line(value.question), "italic"))
    target.print()
    parts = {part.key: part for part in meeting(reader_of(value)).parts}
    first = [replace(parts[key], blocks=_cut(parts[key].blocks)) for key in _FIRST if key in parts]
    for part in first:
        show(target, Part("", "", parts=(part,)), options)
        target.print()
    named = {name for part in first for block in part.blocks for name in names_in(block)}
    _short_sources(target, [one for one in value.citations if str(one.number) in named])


def _cut(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Return blocks whose lists are cut to what fits a screen."""

    def cut() -> Iterator[Block]:
        for block in blocks:
            if isinstance(block, Bullets) and len(block.lines) > _MOST_LINES:
                yield Bullets(block.lines[:_MOST_LINES])
                yield Paragraph(plain(f"and {len(block.lines) - _MOST_LINES} more: --full"))
            else:
                yield block

    return tuple(cut())


def _short_sources(target: Console, cited: Sequence[Citation]) -> None:
    for citation in cited:
        place = " › ".join(dict.fromkeys((citation.title, *citation.section_path)))
        year = f" ({citation.year})" if citation.year else ""
        say(target, (f"[{citation.number}] {one_line(f'{place}{year}')}", "dim"))
    say(target, (_MORE, "dim"))


def markdown(target: Console, value: Minutes, _options: str = "") -> None:
    """Print minutes as Markdown with footnotes."""
    target.out(shown(minutes_markdown(value)), highlight=False, end="")


def html(target: Console, value: Minutes, _options: str = "") -> None:
    """Print minutes as a page."""
    target.out(shown(minutes_html(value)), highlight=False, end="")


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
