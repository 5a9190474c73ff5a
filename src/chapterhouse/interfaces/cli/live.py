"""A meeting while it goes on: a line for what happened. On standard error."""

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Final

from rich.console import Console

from chapterhouse.interfaces.cli.options import common
from chapterhouse.interfaces.cli.session import InterruptedWorkError
from chapterhouse.interfaces.cli.terminal import can_redraw, console, one_line, say, styled
from chapterhouse.text.counting import counted
from chapterhouse.types import CouncilEvent, MeetingEvent, Minutes, ReadingEvent
from chapterhouse.types import MeetingEventKind as Kind

_TURNS: Final = frozenset((Kind.SPOKE, Kind.RESUMED))


def attend(
    work: Callable[[Callable[[CouncilEvent], None]], Minutes], *, quiet: bool, is_saved: bool
) -> Minutes:
    """Hold a meeting, show it while it goes on, and return its minutes.

    What happened is a line each; on a terminal what is being read and written now is drawn below.

    Args:
        work: Is given what to call with each event.
        quiet: Whether nothing is shown off a terminal.
        is_saved: Whether the same command would go on where this one is stopped.

    Raises:
        InterruptedWorkError: the user pressed Ctrl-C; it says how to go on.
    """
    spoke, latest = 0, MeetingEvent(Kind.ROUND_ENDED, "", 0)
    try:
        with _shown(quiet=quiet) as show:

            def on_event(event: CouncilEvent) -> None:
                nonlocal spoke, latest
                if isinstance(event, MeetingEvent):
                    latest = event
                    spoke += event.kind in _TURNS
                show(event)

            return work(on_event)
    except KeyboardInterrupt:
        raise _stopped(latest, spoke, is_saved=is_saved) from None


def _stopped(latest: MeetingEvent, spoke: int, *, is_saved: bool) -> InterruptedWorkError:
    if not latest.number:
        return InterruptedWorkError("Stopped before the first round.")
    again = "Run the same command again" if is_saved else "Run it again without --fresh"
    return InterruptedWorkError(
        f"Stopped in round {latest.number}, {latest.round}, after {counted(spoke, 'turn')}.",
        hint=f"{again}: it goes on where it stopped.",
    )


@contextmanager
def _shown(*, quiet: bool) -> Iterator[Callable[[CouncilEvent], None]]:
    """Give what shows an event."""
    if common().quiet or (quiet and not sys.stderr.isatty()):
        yield lambda _: None  # a program reads the result, which names who was absent
        return
    target = console(stderr=True)
    drafts = defaultdict[str, str](str)
    with target.status("") if can_redraw() else nullcontext() as below:

        def show(event: CouncilEvent) -> None:
            if isinstance(event, MeetingEvent):
                _print_line(target, event)
            now = _describe_now(event, drafts)
            if below and now:
                below.update(styled((now[: target.width - 4], "dim")))

        yield show


def _print_line(target: Console, event: MeetingEvent) -> None:
    member = one_line(event.member)
    if event.kind is Kind.ROUND_BEGAN:
        say(target, (f"Round {event.number}: {one_line(event.round)}", "bold"))
    elif event.kind is Kind.ABSENT:
        say(target, (f"  {member}: is absent: {one_line(event.text)}", "bold red"))
    elif event.kind in _TURNS:
        statements = len(event.turn.statements) if event.turn else 0
        replies = len(event.turn.replies) if event.turn else 0
        parts = [counted(statements, "statement")] if statements else []
        parts += [counted(replies, "reply", "replies")] if replies else []
        before = "spoke before: " if event.kind is Kind.RESUMED else ""
        say(target, f"  {member}: {before}{', '.join(parts) or 'nothing new'}")


def _describe_now(event: CouncilEvent, drafts: defaultdict[str, str]) -> str:
    """Return what is being read, or the end of what a member has written so far."""
    match event:
        case ReadingEvent(progress):
            return f"reads {progress.done} of {progress.total}: {one_line(progress.current)}"
        case MeetingEvent(kind=Kind.MEMBER_BEGAN, member=member):
            drafts[member] = ""
            return f"{one_line(member)} speaks …"
        case MeetingEvent(kind=Kind.TEXT, member=member, text=text):
            drafts[member] = f"{drafts[member]}{text}"[-60:]
            return f"{one_line(member)}: … {one_line(drafts[member])}"
        case _:
            return ""
