"""How far work is, on standard error: files that are read, drafts, meetings."""

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING, Final

import typer

from chapterhouse import lazy
from chapterhouse.interfaces.cli.options import common
from chapterhouse.interfaces.cli.session import InterruptedWorkError, can_redraw, console
from chapterhouse.presenting.styled import one_line, shortened, styled
from chapterhouse.presenting.wording import mismatch_mark
from chapterhouse.text.counting import counted
from chapterhouse.types import (
    AddReport,
    AskEvent,
    CouncilEvent,
    Draft,
    DraftEvent,
    MeetingEvent,
    Minutes,
    Progress,
    ReadingEvent,
)
from chapterhouse.types import (
    MeetingEventKind as Kind,
)

if TYPE_CHECKING:
    from rich import live as rich_live
    from rich import progress as rich_progress
    from rich.console import Console
    from rich.text import Text
else:
    rich_live = lazy("rich.live")
    rich_progress = lazy("rich.progress")


_SECONDS_BETWEEN: Final = 10.0  # lines off a terminal
_BAR: Final = 20  # cells
_BAR_WIDTH: Final = _BAR + 30  # cells of bar, count and time


@contextmanager
def interruptible() -> Iterator[Callable[[Progress], None]]:
    """Give what shows progress, to work that may be stopped and done again.

    Raises:
        InterruptedWorkError: the user pressed Ctrl-C; it says how much is safe.
    """
    last = Progress(done=0, total=0, current="")
    with show_progress() as show:

        def follow(progress: Progress) -> None:
            nonlocal last
            last = progress
            show(progress)

        try:
            yield follow
        except KeyboardInterrupt:
            raise _stopped(last) from None


def require_end(*reports: AddReport) -> None:
    """Go on as Ctrl-C does where it ended what a report is of."""
    if any(report.interrupted for report in reports):
        raise KeyboardInterrupt


def _in_lines() -> Callable[[Progress], None]:
    """Return what writes a line every ten seconds: a long silence looks like a fault."""
    before = time.monotonic()

    def write(progress: Progress) -> None:
        nonlocal before
        now = time.monotonic()
        if now - before >= _SECONDS_BETWEEN:
            before = now
            count = f"{progress.done:,} of {counted(progress.total, 'file')}"
            typer.echo(f"{count}: {one_line(progress.current)}", err=True)

    return write


def _stopped(last: Progress) -> InterruptedWorkError:
    # The first files may be stored before anything is heard of them.
    files = counted(last.total, "file is", "files are")
    count = f"{last.done:,} of {files}" if last.total else "What was read so far is"
    return InterruptedWorkError(
        f"Stopped. {count} done and safe on disk; no file is half read.",
        hint="Run the same command again: it goes on with the rest.",
    )


@contextmanager
def show_progress() -> Iterator[Callable[[Progress], None]]:
    """Give what shows progress: a bar on a terminal, elsewhere a line on standard error at times.

    With ``--quiet`` nothing is shown, and no bar before the first file: it would only flicker.
    """
    if not can_redraw():
        yield (lambda _: None) if common().quiet else _in_lines()
        return
    with ExitStack() as opened:
        bar: list[Callable[[Progress], None]] = []

        def draw(progress: Progress) -> None:
            if not bar:
                bar.append(opened.enter_context(_drawn()))
            bar[0](progress)

        yield draw


@contextmanager
def following() -> Iterator[Callable[[AskEvent], None]]:
    """Give what shows the events of an answer: files that are read, drafts."""
    with show_progress() as read, _drafts() as draw:

        def show(event: AskEvent) -> None:
            match event:
                case ReadingEvent():
                    read(event.progress)
                case DraftEvent():
                    draw(event.draft)

        yield show


@contextmanager
def _drafts() -> Iterator[Callable[[Draft], None]]:
    """Give what shows an answer while a model writes it, where lines can be redrawn.

    A sentence is dim until it is checked, and then says what was found about it. It all vanishes
    in the end: the answer stands on standard output.
    """
    if not can_redraw():
        yield lambda _: None
        return

    target = console(stderr=True)
    with ExitStack() as opened:
        drawn: list[rich_live.Live] = []

        def draw(draft: Draft) -> None:
            if not drawn:  # a model may also say nothing
                drawn.append(opened.enter_context(rich_live.Live(console=target, transient=True)))
            lines = draft_text(draft).wrap(target, target.width)
            shown = lines[-max(target.height - 1, 1) :]
            drawn[0].update(styled("\n").join(shown))

        yield draw


def draft_text(draft: Draft) -> "Text":
    """Return a draft as it is shown while it is written."""
    text = styled()
    for sentence in draft.sentences:
        mark = mismatch_mark(sentence.mismatches)
        warned = (f" ({mark})" if mark else "", "yellow")
        text += styled(sentence.before or " ", sentence.text, warned)
    return text + styled((f" {draft.text}", "dim"))


@contextmanager
def _drawn() -> Iterator[Callable[[Progress], None]]:
    target = console(stderr=True)
    cells = max(target.width - _BAR_WIDTH, 1)
    with rich_progress.Progress(
        rich_progress.BarColumn(_BAR),
        rich_progress.TextColumn("{task.fields[count]}"),
        rich_progress.TimeRemainingColumn(),
        rich_progress.TextColumn("{task.description}", markup=False),
        console=target,
        transient=True,
    ) as bar:
        task = bar.add_task("", total=None, count="")

        def draw(progress: Progress) -> None:
            count = f"{progress.done:,}/{progress.total:,}" if progress.total else ""
            name = shortened(one_line(progress.current), cells)
            total = progress.total or None
            bar.update(task, completed=progress.done, total=total, description=name, count=count)

        yield draw


# --- a meeting ----------------------------------------------------------------------------------

_TURNS: Final = frozenset((Kind.SPOKE, Kind.RESUMED))


def attend(
    work: Callable[[Callable[[CouncilEvent], None]], Minutes], *, quiet: bool, is_saved: bool
) -> Minutes:
    """Hold a meeting, show it while it goes on, and return its minutes.

    What happened is a line each; on a terminal what is being read and written now is drawn below.

    Args:
        quiet: Whether nothing is shown off a terminal.
        is_saved: Whether the same command would go on where this one is stopped.

    Raises:
        InterruptedWorkError: the user pressed Ctrl-C; it says how to go on.
    """
    spoke, latest = 0, MeetingEvent(Kind.ROUND_ENDED, "", 0)
    try:
        with _events_shown(quiet=quiet) as show:

            def on_event(event: CouncilEvent) -> None:
                nonlocal spoke, latest
                if isinstance(event, MeetingEvent):
                    latest = event
                    spoke += event.kind in _TURNS
                show(event)

            return work(on_event)
    except KeyboardInterrupt:
        raise _stopped_meeting(latest, spoke, is_saved=is_saved) from None


def _stopped_meeting(latest: MeetingEvent, spoke: int, *, is_saved: bool) -> InterruptedWorkError:
    if not latest.number:
        return InterruptedWorkError("Stopped before the first round.")
    again = "Run the same command again" if is_saved else "Run it again without --fresh"
    return InterruptedWorkError(
        f"Stopped in round {latest.number}, {latest.round}, after {counted(spoke, 'turn')}.",
        hint=f"{again}: it goes on where it stopped.",
    )


@contextmanager
def _events_shown(*, quiet: bool) -> Iterator[Callable[[CouncilEvent], None]]:
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


def _print_line(target: "Console", event: MeetingEvent) -> None:
    member = one_line(event.member)
    if event.kind is Kind.ROUND_BEGAN:
        target.print(styled((f"Round {event.number}: {one_line(event.round)}", "bold")))
    elif event.kind is Kind.ABSENT:
        target.print(styled((f"  {member}: is absent: {one_line(event.text)}", "bold red")))
    elif event.kind in _TURNS:
        statements = len(event.turn.statements) if event.turn else 0
        replies = len(event.turn.replies) if event.turn else 0
        parts = [counted(statements, "statement")] if statements else []
        parts += [counted(replies, "reply", "replies")] if replies else []
        before = "spoke before: " if event.kind is Kind.RESUMED else ""
        target.print(styled(f"  {member}: {before}{', '.join(parts) or 'nothing new'}"))


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
