"""What people see of a meeting before it is held."""

from typing import TYPE_CHECKING

from chapterhouse.interfaces.cli.terminal import columns, indented, one_line, styled
from chapterhouse.text.counting import counted

if TYPE_CHECKING:
    from rich.console import Console

    from chapterhouse.council.meeting.session import Plan, PlannedTurn


def plan(target: "Console", value: "Plan") -> None:
    """Show who would sit and what each would be told, in full."""
    target.print(styled((one_line(value.title), "bold")))
    target.print(styled(one_line(value.question)))
    target.print()
    rows = [("member", "seat", "reads", "documents", "model")]
    rows += [
        (
            seat.title or seat.key,
            seat.seat,
            ", ".join(seat.shelves) or "nothing",
            f"{seat.documents:,}",
            seat.model or "none: quotations",
        )
        for seat in value.seats
    ]
    columns(target, rows)
    for number, turn in enumerate(value.turns, start=1):
        _turn(target, turn, number)
    for warning in value.warnings:
        target.print(styled((one_line(warning), "yellow")))
    turns = counted(len(value.turns), "turn")
    target.print(styled((f"{turns} planned; no model was asked.", "dim")))


def _turn(target: "Console", turn: "PlannedTurn", number: int) -> None:
    target.print()
    title = f"{number}. {one_line(turn.round)}: {one_line(turn.member)}"
    target.print(styled((title, "bold cyan")))
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
