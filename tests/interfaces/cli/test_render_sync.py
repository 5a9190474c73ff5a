"""What people see of a sync."""

from collections.abc import Iterable
from io import StringIO

from rich.console import Console

from chapterhouse.interfaces.cli.render_sync import changes, is_partial, reports
from chapterhouse.presenting.blocks import Block
from chapterhouse.presenting.terminal import draw
from chapterhouse.types import AddReport, Move, StayingDocuments, StayReason, SyncReport


def plain_text(blocks: Iterable[Block]) -> str:
    out = StringIO()
    draw(Console(file=out, width=100, markup=False, highlight=False, emoji=False), blocks)
    return out.getvalue()


def test_many_names_are_cut() -> None:
    report = SyncReport(AddReport(()), removed=tuple(f"a/{n}.md" for n in range(30)), source="a")
    text = plain_text(reports([report], dry_run=False))
    assert text.startswith("a: 30 removed\n")
    assert "... and 10 more" in text


def test_shelves_and_problems_are_named() -> None:
    moves = (Move("a/1.md", ("maria",), ()), Move("a/2.md", (), ("library",)))
    away = (StayingDocuments("/x", 2, StayReason.AWAY),)
    report = SyncReport(AddReport(()), moves=moves, source="a", staying=away, problem="No.")
    text = plain_text(reports([report], dry_run=False))
    for line in ("Joined: maria.", "Left: library.", "its disk is away: 2 documents stay.", "No."):
        assert line in text
    assert is_partial(report)


def test_a_watch_shows_only_what_changed() -> None:
    still = SyncReport(AddReport(()), source="a")
    moved = SyncReport(AddReport(()), removed=("b/1.md",), source="b")
    text = plain_text(changes([still, moved]))
    assert "b: 1 removed" in text
    assert "a:" not in text
