"""How far an ``add`` is: a bar with the time left on a terminal, a line at times elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Final

import typer

from chapterhouse.interfaces.cli.options import common
from chapterhouse.interfaces.cli.session import InterruptedWorkError
from chapterhouse.interfaces.cli.terminal import can_redraw, console, one_line, shortened, styled
from chapterhouse.loading import lazy
from chapterhouse.presenting.wording import mismatch_mark
from chapterhouse.text.counting import counted
from chapterhouse.types import (
    AddReport,
    AskEvent,
    Draft,
    DraftEvent,
    Progress,
    ReadingEvent,
)

if TYPE_CHECKING:
    from rich import live as rich_live
    from rich import progress as rich_progress
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
