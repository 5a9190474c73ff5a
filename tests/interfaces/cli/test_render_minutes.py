"""Minutes on a terminal: they fit any width, and the first screen holds what came of it."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from chapterhouse.answering.bundle import read_held
from chapterhouse.council.minutes.bundle import MINUTES
from chapterhouse.council.minutes.contents import find_agreement
from chapterhouse.interfaces.cli import render_minutes
from chapterhouse.types import (
    Absence,
    MemberTurn,
    Minutes,
    ParticipantRecord,
    Point,
    Reply,
    Stance,
    Statement,
    TableCell,
    TableRow,
)

ROUND = "independent_analysis"


def crowded(minutes: Minutes, members: int) -> Minutes:
    """Return minutes of many members with long names, who all stand by one long statement."""
    seats = tuple(
        ParticipantRecord(f"m{n}", f"Membership number {n} 会员", "role", model="modest")
        for n in range(members)
    )
    keys = tuple(seat.key for seat in seats)
    long = Statement("s1", "m0", ROUND, "北" * 200 + "w" * 300, "z" * 200, "x" * 200, (1,))
    replies = tuple(Reply(key, ROUND, "s1", Stance.STAND, "y", (1,)) for key in keys[1:])
    turns = (
        MemberTurn("m0", ROUND, (long,)),
        *(MemberTurn(one.member, ROUND, replies=(one,)) for one in replies),
    )
    return replace(
        minutes,
        members=seats,
        rounds=(ROUND,),
        turns=turns,
        table=(),
        agreement=find_agreement(turns, keys),
        absences=(Absence("m0", ROUND, "y" * 200),),
    )


@pytest.mark.parametrize("members", [1, 5, 30])
@pytest.mark.parametrize("width", [24, 60, 200])
def test_the_view_fits_any_terminal(
    harbour: Path, capsys: pytest.CaptureFixture[str], members: int, width: int
) -> None:
    minutes = crowded(read_held((harbour / "MINUTES").read_bytes(), MINUTES), members)
    target = Console(width=width, force_terminal=True, markup=False, highlight=False, emoji=False)
    render_minutes.minutes(target, minutes)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).splitlines()
    assert max(map(cell_len, lines)) <= width
    assert "".join(lines).count("✓") >= members


@pytest.mark.parametrize("members", [1, 5, 30])
@pytest.mark.parametrize("width", [24, 60, 200])
@pytest.mark.parametrize("full", [True, False])
def test_documents_that_were_only_read_fit_any_terminal(
    harbour: Path, capsys: pytest.CaptureFixture[str], members: int, width: int, *, full: bool
) -> None:
    held = read_held((harbour / "MINUTES").read_bytes(), MINUTES)
    seats = tuple(ParticipantRecord(f"m{n}", f"会员 {n}", "role") for n in range(members))
    said = "北" * 200 + "w" * 300
    cells = tuple(TableCell(seat.key, said, (1,)) for seat in seats)
    table = (TableRow("x" * 200, cells),)
    target = Console(width=width, force_terminal=True, markup=False, highlight=False, emoji=False)
    render_minutes.minutes(target, replace(held, members=seats, table=table), full=full)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).splitlines()
    assert max(map(cell_len, lines)) <= width
    assert "".join(lines).count("会员") >= members


def test_the_first_screen_of_a_debate_holds_what_came_of_it(
    harbour: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    held = crowded(read_held((harbour / "MINUTES").read_bytes(), MINUTES), 2)
    many = tuple(Point(f"Ground number {n}.", (1,)) for n in range(30))
    target = Console(width=80)
    shown = {}
    for full in (False, True):
        render_minutes.minutes(target, replace(held, grounds=many), full=full)
        shown[full] = capsys.readouterr().out
    assert shown[False].count("Ground number") == 4
    assert "and 26 more: --full" in shown[False]
    assert "What was said" not in shown[False]
    assert shown[True].count("Ground number") == 30
    assert "What was said" in shown[True]
