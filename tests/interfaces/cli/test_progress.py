import os
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.interfaces.cli.conftest import on_a_terminal

from chapterhouse.interfaces.cli import progress
from chapterhouse.interfaces.cli.options import COMMON, Common
from chapterhouse.library.documents import Documents
from chapterhouse.types import (
    AddReport,
    AnswerSentence,
    CouncilEvent,
    Draft,
    DraftEvent,
    MeetingEvent,
    MeetingEventKind,
    MemberTurn,
    Minutes,
    Mismatch,
    MismatchKind,
    Progress,
    ReadingEvent,
    Statement,
)

DRAFT = Draft(
    (
        AnswerSentence("It leaves at nine.", (1,)),
        AnswerSentence(
            "It costs 9 euros.", (1,), (Mismatch(MismatchKind.NUMBER, "9", "12"),), before="\n"
        ),
        AnswerSentence("It is \x1b[31mred.", ()),
    ),
    "And so",
)


def test_a_draft_longer_than_the_terminal_shows_its_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "can_redraw", lambda: True)
    small = Console(stderr=True, force_terminal=True, width=40, height=5, markup=False)
    monkeypatch.setattr(progress, "console", lambda **_: small)
    many = tuple(AnswerSentence(f"Line {n}.", (), before="\n") for n in range(30))
    with progress.following() as show:
        show(DraftEvent(Draft(many, "And the last")))
    shown = capsys.readouterr().err
    assert "And the last" in shown
    assert "Line 29." in shown
    assert "Line 3." not in shown


def test_off_a_terminal_a_line_is_written_now_and_then_unless_it_is_to_be_quiet(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = count(step=6)
    monkeypatch.setattr("chapterhouse.interfaces.cli.progress.time.monotonic", lambda: next(clock))
    for quiet, lines in ((False, "2 of 1,200 files: papers/2\\x1b.md\n"), (True, "")):
        before = COMMON.set(Common(quiet=quiet))
        with progress.interruptible() as tell:
            for done in range(1, 4):
                tell(Progress(done, 1_200, f"papers/{done}\x1b.md"))
        with progress.following() as show:
            show(DraftEvent(DRAFT))  # which is drawn on terminals alone
        COMMON.reset(before)
        told = capsys.readouterr()
        assert (told.err, told.out) == (lines, "")


def test_what_was_done_before_an_unexpected_error_is_shown(
    chapterhouse: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = Documents.add

    def failing(
        self: Documents, *paths: Path, on_progress: Callable[[Progress], None], **options: Any
    ) -> AddReport:
        def follow(progress: Progress) -> None:
            on_progress(progress)
            raise AssertionError

        return add(self, *paths, on_progress=follow, **options)

    monkeypatch.setattr(Documents, "add", failing)
    (tmp_path / "torn.pdf").write_bytes(b"%PDF-1.7 torn")
    result = chapterhouse("add", tmp_path / "torn.pdf")
    assert result.code == 1
    assert result.out.startswith(f"1 file: 1 rejected\nrejected  {tmp_path.name}/torn.pdf: ")
    assert "AssertionError" in result.err


ROUND = "independent_analysis"
SAID = MemberTurn("maria", ROUND, (Statement("", "maria", ROUND, "x"),))
Kind = MeetingEventKind
EVENTS = (
    ReadingEvent(Progress(3, 7, "papers/\x1b.md")),
    MeetingEvent(Kind.ROUND_BEGAN, ROUND, 1),
    MeetingEvent(Kind.RESUMED, ROUND, 1, "tom", turn=MemberTurn("tom", ROUND)),
    MeetingEvent(Kind.MEMBER_BEGAN, ROUND, 1, "maria"),
    MeetingEvent(Kind.TEXT, ROUND, 1, "maria", "A draft \x1b[2J of it."),
    MeetingEvent(Kind.SPOKE, ROUND, 1, "maria", turn=SAID),
    MeetingEvent(Kind.ABSENT, ROUND, 1, "eve\x1b[2J", "no answer within 30 s\x07"),
    MeetingEvent(Kind.ROUND_ENDED, ROUND, 1),
)
LINES = [
    "Round 1: independent_analysis",
    "  tom: spoke before: nothing new",
    "  maria: 1 statement",
    "  eve\\x1b[2J: is absent: no answer within 30 s\\x07",
]


def work(on_event: Callable[[CouncilEvent], None]) -> Minutes:
    for event in EVENTS:
        on_event(event)
    return Minutes("berths", "Berths", "What shall a berth cost?")


def test_off_a_terminal_a_meeting_is_told_in_lines(capsys: pytest.CaptureFixture[str]) -> None:
    progress.attend(work, quiet=False, is_saved=True)
    told = capsys.readouterr()
    assert (told.err.splitlines(), told.out) == (LINES, "")
    progress.attend(work, quiet=True, is_saved=True)
    assert capsys.readouterr().err == ""


DRIVER = """
import time
from chapterhouse.interfaces.cli import progress
from tests.interfaces.cli.test_progress import EVENTS, Minutes
def work(on_event):
    for event in EVENTS:
        on_event(event)
        time.sleep(.1)  # longer than between two drawings
    return Minutes("a", "b", "c")
progress.attend(work, quiet=True, is_saved=True)
"""


@pytest.mark.parametrize("color", ["", "1"])
def test_progress_is_drawn_on_a_terminal_and_wiped_away(color: str) -> None:
    path = os.pathsep.join(sys.path)
    code, text = on_a_terminal(("-c", DRIVER), NO_COLOR=color, PYTHONPATH=path)
    assert code == 0, text
    if color:
        assert text.splitlines() == LINES
        return
    assert [line.strip() for line in LINES if line not in text] == []
    for drawn in ("reads 3 of 7: papers/\\x1b.md", "maria: … A draft \\x1b[2J of it."):
        assert drawn in text
