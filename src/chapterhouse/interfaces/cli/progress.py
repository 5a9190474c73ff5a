"""How far an ``add`` is: a bar with the time left on a terminal, nothing elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from chapterhouse.interfaces.cli.session import InterruptedWorkError
from chapterhouse.interfaces.cli.terminal import can_redraw, is_watched
from chapterhouse.types import AddReport, Progress


def watched(work: Callable[[Callable[[Progress], None]], AddReport]) -> AddReport:
    """Run ``work`` with something to tell its progress to, and return its report.

    Raises:
        InterruptedWorkError: the user pressed Ctrl-C; it says how much is safe.
    """
    last = Progress(done=0, total=0, current="")

    def remember(progress: Progress) -> None:
        nonlocal last
        last = progress

    try:
        if can_redraw():
            with _drawn() as draw:

                def both(progress: Progress) -> None:
                    remember(progress)
                    draw(progress)

                report = work(both)
        else:
            report = work(remember)
    except KeyboardInterrupt:
        raise _stopped(last) from None
    if report.interrupted:
        raise _stopped(last)
    return report


def _stopped(last: Progress) -> InterruptedWorkError:
    # The first files may be stored before anything is heard of them.
    count = f"{last.done} of {last.total} files are" if last.total else "What was read so far is"
    return InterruptedWorkError(
        f"Stopped. {count} done and safe on disk; none is half done.",
        hint="Run the same command again: it goes on with the rest.",
    )


@contextmanager
def told_to() -> Iterator[Callable[[Progress], None]]:
    """Give what draws progress: a bar on a terminal, nothing elsewhere."""
    if not can_redraw():
        yield lambda _: None
        return
    with ExitStack() as opened:
        bar: list[Callable[[Progress], None]] = []

        def draw(progress: Progress) -> None:
            if not bar:  # a bar of nothing would only flicker
                bar.append(opened.enter_context(_drawn()))
            bar[0](progress)

        yield draw


@contextmanager
def drafted() -> Iterator[Callable[[str], None] | None]:
    """Give what shows a model's draft as it comes: dim on a terminal, None elsewhere.

    It is a draft: the answer that was checked stands on standard output afterwards.
    """
    if not is_watched():
        yield None
        return
    from chapterhouse.interfaces.cli.terminal import console, styled  # noqa: PLC0415 - see options

    target = console(stderr=True)
    written: list[str] = []

    def write(piece: str) -> None:
        if not written:
            target.print(styled(("draft, not yet checked:", "dim italic")))
        written.append(piece)
        target.print(styled((piece, "dim")), end="", soft_wrap=True)

    try:
        yield write
    finally:
        if written:
            target.print("\n")


@contextmanager
def _drawn() -> Iterator[Callable[[Progress], None]]:
    from rich import progress as rich_progress  # noqa: PLC0415 - see options

    from chapterhouse.interfaces.cli.terminal import console, one_line  # noqa: PLC0415 - see options

    with rich_progress.Progress(
        rich_progress.BarColumn(),
        rich_progress.MofNCompleteColumn(),
        rich_progress.TimeRemainingColumn(),
        rich_progress.TextColumn("{task.description}", markup=False),
        console=console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task("", total=None)

        def draw(progress: Progress) -> None:
            name = one_line(progress.current)
            bar.update(
                task, completed=progress.done, total=progress.total or None, description=name
            )

        yield draw
