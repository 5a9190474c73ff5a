"""A meeting while it goes on: who speaks, what a model writes, who fails. On standard error."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Final

import typer
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.live import Live
from rich.text import Text

from chapterhouse.agents.council_model import CHAIR
from chapterhouse.interfaces.cli.options import common
from chapterhouse.interfaces.cli.session import InterruptedWorkError
from chapterhouse.interfaces.cli.terminal import can_redraw, console, one_line, say, styled
from chapterhouse.text.counting import counted
from chapterhouse.types import (
    CouncilEvent,
    MeetingEvent,
    MeetingEventKind,
    MemberTurn,
    Minutes,
    Progress,
    ReadingEvent,
)

_DRAFT: Final = 4_000  # characters of what a model writes that are kept to be shown
_NAME: Final = 24  # columns
_REFRESH: Final = 8  # times a second


@dataclass(slots=True)
class _Turn:
    """What is known of one member's turn."""

    state: str = "waits"
    draft: str = ""
    style: str = "dim"


@dataclass(slots=True)
class Meeting:
    """What has happened in a meeting so far.

    Attributes:
        spoke: Number of turns, those from before an interruption included.
        statements: Number of statements in them.
    """

    round: str = ""
    number: int = 0
    spoke: int = 0
    statements: int = 0
    reading: str = ""
    turns: dict[str, _Turn] = field(default_factory=dict)

    def follow(self, event: MeetingEvent) -> None:
        """Take in what happened."""
        turn = self.turns.setdefault(event.member, _Turn()) if event.member else _Turn()
        match event.kind:
            case MeetingEventKind.ROUND_BEGAN:
                self.round, self.number, self.reading = event.round, event.number, ""
                self.turns.clear()
            case MeetingEventKind.MEMBER_BEGAN:
                turn.state, turn.style = "speaks …", "bold"
            case MeetingEventKind.TEXT:
                turn.draft = (turn.draft + event.text)[-_DRAFT:]
            case MeetingEventKind.SPOKE | MeetingEventKind.RESUMED:
                self.spoke += 1
                self.statements += len(event.turn.statements) if event.turn else 0
                turn.state, turn.draft, turn.style = describe_event(event), "", "green"
            case MeetingEventKind.ABSENT:
                turn.state, turn.draft, turn.style = describe_event(event), "", "bold red"

    def read(self, progress: Progress) -> None:
        """Take in how far the reading of documents is."""
        self.reading = f"reads {progress.done} of {progress.total}: {one_line(progress.current)}"


def describe_event(event: MeetingEvent) -> str:
    """Return what became of a turn, in a few words."""
    if event.kind is MeetingEventKind.ABSENT:
        return f"is absent: {one_line(event.text)}"
    made = _count_parts(event.turn) if event.turn else "spoke"
    return f"spoke before: {made}" if event.kind is MeetingEventKind.RESUMED else made


def _count_parts(turn: MemberTurn) -> str:
    statements, replies = len(turn.statements), len(turn.replies)
    parts = [counted(statements, "statement")] if statements else []
    parts += [counted(replies, "reply", "replies")] if replies else []
    return ", ".join(parts) or "nothing new"


def attend(
    work: Callable[[Callable[[CouncilEvent], None]], Minutes],
    *,
    quiet: bool,
    is_saved: bool,
) -> Minutes:
    """Hold a meeting, show it while it goes on, and return its minutes.

    On a terminal there is a line for everyone who speaks, elsewhere, and with ``NO_COLOR``, a line
    for what happened.

    Args:
        work: Is given what to call with each event.
        quiet: Whether nothing is shown off a terminal.
        is_saved: Whether the same command would go on where this one is stopped.

    Raises:
        InterruptedWorkError: the user pressed Ctrl-C; it says how to go on.
    """
    meeting = Meeting()
    try:
        with _shown(meeting, quiet=quiet) as show:

            def on_event(event: CouncilEvent) -> None:
                match event:
                    case ReadingEvent():
                        meeting.read(event.progress)
                        show(None)
                    case MeetingEvent():
                        meeting.follow(event)
                        show(event)

            return work(on_event)
    except KeyboardInterrupt:
        raise _stopped(meeting, is_saved=is_saved) from None


def _stopped(meeting: Meeting, *, is_saved: bool) -> InterruptedWorkError:
    if not meeting.number:
        return InterruptedWorkError("Stopped before the first round.")
    turns = counted(meeting.spoke, "turn")
    again = "Run the same command again" if is_saved else "Run it again without --fresh"
    return InterruptedWorkError(
        f"Stopped in round {meeting.number}, {meeting.round}, after {turns}.",
        hint=f"{again}: it goes on where it stopped.",
    )


@contextmanager
def _shown(meeting: Meeting, *, quiet: bool) -> Iterator[Callable[[MeetingEvent | None], None]]:
    if not can_redraw():
        yield _nothing if common().quiet or (quiet and not sys.stderr.isatty()) else _in_lines
        return
    with ExitStack() as opened:
        target = console(stderr=True)
        began: list[bool] = []

        def show(event: MeetingEvent | None) -> None:
            if not began:
                began.append(True)
                opened.enter_context(_live(meeting, target))
            if event:
                _lasting(target, meeting, event)

        yield show


def _nothing(_: MeetingEvent | None) -> None:
    """Show nothing: a program reads the result, which names who was absent."""


def _in_lines(event: MeetingEvent | None) -> None:
    if event is None:
        return
    if event.kind is MeetingEventKind.ROUND_BEGAN:
        typer.echo(f"Round {event.number}: {one_line(event.round)}", err=True)
    elif event.kind in {
        MeetingEventKind.SPOKE,
        MeetingEventKind.RESUMED,
        MeetingEventKind.ABSENT,
    }:
        typer.echo(f"  {one_line(event.member)}: {describe_event(event)}", err=True)


@contextmanager
def _live(meeting: Meeting, target: Console) -> Iterator[None]:
    """Draw the meeting again and again below what lasts."""

    def current() -> Text:
        return draw(meeting, target.width)

    with Live(get_renderable=current, console=target, refresh_per_second=_REFRESH, transient=True):
        yield


def _lasting(target: Console, meeting: Meeting, event: MeetingEvent) -> None:
    """Print what shall still stand there when the round is over."""
    if event.kind is MeetingEventKind.ROUND_ENDED:
        members = [turn for member, turn in meeting.turns.items() if member != CHAIR]
        spoke = sum(turn.style == "green" for turn in members)
        done = f"{spoke} spoke" if members else "summed up"  # by the chair or by rules
        line = f"Round {event.number}, {one_line(event.round)}: {done}"
        say(target, (line, "dim"), (f", {counted(meeting.statements, 'statement')} so far", "dim"))
    elif event.kind is MeetingEventKind.ABSENT:
        say(target, (f"{one_line(event.member)} {describe_event(event)}", "bold red"))


def draw(meeting: Meeting, width: int) -> Text:
    """Return one line for the round and one for everyone in it, none wider than the terminal."""
    lines = [meeting.reading] if meeting.reading else []
    if meeting.number:
        lines.append(f"Round {meeting.number}: {one_line(meeting.round)}")
    names = min(max((len(one_line(name)) for name in meeting.turns), default=0), _NAME)
    parts: list[str | tuple[str, str]] = [(f"{_cut(line, width)}\n", "bold") for line in lines]
    for name, turn in list(meeting.turns.items()):
        label = set_cell_size(one_line(name), names)
        draft = one_line(turn.draft)
        available = width - names - 5
        draft_text = f"… {draft[-available:]}" if draft else turn.state
        parts += [
            f"  {label}  ",
            (f"{_cut(draft_text, available)}\n", "dim" if draft else turn.style),
        ]
    return styled(*parts)


def _cut(text: str, width: int) -> str:
    available = max(width, 1)
    return text if cell_len(text) <= available else f"{set_cell_size(text, available - 1)}…"
