"""A meeting is followed while it is held: in lines, or drawn on a terminal."""

import io
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

from chapterhouse.interfaces.cli import live
from chapterhouse.types import (
    CouncilEvent,
    MeetingEvent,
    MeetingEventKind,
    MemberTurn,
    Minutes,
    Progress,
    ReadingEvent,
    Statement,
)

QUESTION = "What shall a berth cost?"
ROUND = "independent_analysis"
SAID = MemberTurn("maria", ROUND, (Statement("", "maria", ROUND, "x"),))
Kind = MeetingEventKind
EVENTS = (
    MeetingEvent(Kind.ROUND_BEGAN, ROUND, 1),
    MeetingEvent(Kind.RESUMED, ROUND, 1, "tom", turn=replace(SAID, statements=())),
    MeetingEvent(Kind.MEMBER_BEGAN, ROUND, 1, "maria"),
    MeetingEvent(Kind.TEXT, ROUND, 1, "maria", "A draft \x1b[2J of it."),
    MeetingEvent(Kind.SPOKE, ROUND, 1, "maria", turn=SAID),
    MeetingEvent(Kind.ABSENT, ROUND, 1, "eve\x1b[2J", "no answer within 30 s\x07"),
    MeetingEvent(Kind.ROUND_ENDED, ROUND, 1),
)


def test_off_a_terminal_a_meeting_is_told_in_lines(capsys: pytest.CaptureFixture[str]) -> None:
    def work(on_event: Callable[[CouncilEvent], None]) -> Minutes:
        on_event(ReadingEvent(Progress(3, 7, "papers/\x1b.md")))
        for event in EVENTS:
            on_event(event)
        return Minutes("berths", "Berths", QUESTION)

    live.attend(work, quiet=False, is_saved=True)
    told = capsys.readouterr()
    assert told.err.splitlines() == [
        "Round 1: independent_analysis",
        "  tom: spoke before: nothing new",
        "  maria: 1 statement",
        "  eve\\x1b[2J: is absent: no answer within 30 s\\x07",
    ]
    assert told.out == ""
    live.attend(work, quiet=True, is_saved=True)
    assert capsys.readouterr().err == ""


def test_a_meeting_is_followed() -> None:
    meeting = live.Meeting()
    for event in EVENTS[:4]:
        meeting.follow(event)
    drawn = live.draw(meeting, 60).plain
    assert drawn.splitlines() == [
        "Round 1: independent_analysis",
        "  tom    spoke before: nothing new",
        "  maria  … A draft \\x1b[2J of it.",
    ]
    for event in EVENTS[4:]:
        meeting.follow(event)
    assert (meeting.spoke, meeting.statements) == (2, 1)
    for width in (1, 10, 20, 40):
        drawn = live.draw(meeting, width).plain
        assert "\x1b" not in drawn
        assert all(cell_len(line) <= max(width, 32) for line in drawn.splitlines())


DRIVER = """
import sys, time
from chapterhouse.interfaces.cli import live
from chapterhouse.types import *
K = MeetingEventKind
def work(on_event):
    on_event(ReadingEvent(Progress(1, 2, "tariffs.md")))
    on_event(MeetingEvent(K.ROUND_BEGAN, "opening", 1))
    on_event(MeetingEvent(K.MEMBER_BEGAN, "opening", 1, "maria"))
    on_event(MeetingEvent(K.TEXT, "opening", 1, "maria", "a draft of hers"))
    time.sleep(.5)
    on_event(MeetingEvent(K.ABSENT, "opening", 1, "tom", "no answer"))
    on_event(MeetingEvent(K.SPOKE, "opening", 1, "maria", turn=MemberTurn("maria", "opening")))
    on_event(MeetingEvent(K.ROUND_ENDED, "opening", 1))
    return Minutes("a", "b", "c")
assert live.attend(work, quiet=True, is_saved=True).council == "a"
print("printed")
"""


@pytest.mark.parametrize("color", [True, False])
def test_progress_is_drawn_on_a_terminal_and_wiped_away(*, color: bool) -> None:
    import pty  # noqa: PLC0415 - where there are terminals

    terminal, other_end = pty.openpty()
    started = subprocess.Popen(
        [sys.executable, "-c", DRIVER],
        stdout=subprocess.PIPE,
        stderr=other_end,
        env={**os.environ, "TERM": "xterm", "NO_COLOR": "" if color else "1"},
    )
    os.close(other_end)
    shown = b""
    while True:
        try:
            shown += os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
    out, _ = started.communicate(timeout=60)
    os.close(terminal)
    assert (started.returncode, out) == (0, b"printed\n")
    text = shown.decode()
    if not color:
        assert "\x1b" not in text
        assert text.splitlines()[0] == "Round 1: opening"
        assert "  tom: is absent: no answer" in text.splitlines()
        return
    assert "reads 1 of 2: tariffs.md" in text or "Round 1: opening" in text
    assert "a draft of hers" in text
    assert "tom is absent: no answer" in text
    assert "Round 1, opening: 1 spoke" in text


def test_a_round_of_the_chair_alone_is_no_round_of_nobody() -> None:
    kind = MeetingEventKind
    rounds = {"opening": ["maria", "chair"], "synthesis": ["chair"], "summary": []}
    meeting, out = live.Meeting(), io.StringIO()
    target = Console(file=out, width=80)
    for number, (name, speakers) in enumerate(rounds.items(), start=1):
        meeting.follow(MeetingEvent(kind.ROUND_BEGAN, name, number))
        for member in speakers:
            meeting.follow(MeetingEvent(kind.MEMBER_BEGAN, name, number, member))
        if "maria" in speakers:
            meeting.follow(MeetingEvent(kind.SPOKE, name, number, "maria"))
        ended = MeetingEvent(kind.ROUND_ENDED, name, number)
        meeting.follow(ended)
        live._lasting(target, meeting, ended)
    assert out.getvalue().splitlines() == [
        "Round 1, opening: 1 spoke, 0 statements so far",
        "Round 2, synthesis: summed up, 0 statements so far",
        "Round 3, summary: summed up, 0 statements so far",
    ]
