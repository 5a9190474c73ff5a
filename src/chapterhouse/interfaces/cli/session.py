"""One command from its options to its exit code."""

import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import typer

from chapterhouse.errors import ChapterhouseError, NotFoundError
from chapterhouse.interfaces.background import embed_in_background
from chapterhouse.interfaces.cli.interrupts import INTERRUPTED, loading, working
from chapterhouse.interfaces.cli.options import Common, require_path

if TYPE_CHECKING:
    from rich.console import Console

    from chapterhouse.library import Library
    from chapterhouse.telemetry import Trace

OK, FAILED, PARTLY, NO_ANSWER, CONFIRM = 0, 1, 4, 6, 10


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command found: ``data`` for ``--json``, ``show`` for people."""

    data: object
    show: "Callable[[Console], None]"
    exit_code: int = OK
    is_told: bool = False  # whether all was told on the way, so that only the exit code is left


class ConfirmationNeededError(ChapterhouseError):
    """Something would be deleted and nobody is there to be asked."""

    exit_code = CONFIRM


class InterruptedWorkError(ChapterhouseError):
    """The user stopped the work; what was done before is safe."""

    exit_code = INTERRUPTED


def open_library(common: Common, *, create: bool) -> "Library":
    """Open the library that the common options name."""
    with loading():
        from chapterhouse.library import Library  # noqa: PLC0415 - brings the engines

    home = None if common.home is None else require_path(common.home)
    return Library.open(home, common.workspace, create=create)


@contextmanager
def _opened_or_empty(common: Common) -> "Iterator[Library]":
    """Open the library that the common options name, or an empty one where there is none."""
    with ExitStack() as closing:
        try:
            library = closing.enter_context(open_library(common, create=False))
        except NotFoundError:
            from chapterhouse.library import Library  # noqa: PLC0415 - brings the engines

            empty = Library.temporary(common.home, common.workspace)
            library = closing.enter_context(empty)
        yield library


def with_library(
    common: Common,
    work: "Callable[[Library], Outcome]",
    *,
    create: bool = False,
    try_without: bool = False,
    before: Callable[[], object] = lambda: None,
    background: bool = True,
) -> None:
    """Run ``work`` on the opened library and show what came of it.

    Args:
        common: The common options.
        work: What the command does.
        create: Make the library if it is not there.
        try_without: If it is not there, run on an empty one of which nothing stays.
        before: What is done before the library is opened.
        background: Whether a process may be started that makes missing vectors.
    """
    with ExitStack() as afterwards:  # when it was shown: nobody waits for a collector

        def opened() -> Outcome:
            before()
            opening = (
                _opened_or_empty(common) if try_without else open_library(common, create=create)
            )
            with opening as library:
                afterwards.enter_context(_reported(library))
                outcome = work(library)
                if background and not try_without:
                    embed_in_background(library)
                return outcome

        run(common, opened)


def with_files(common: Common, paths: Sequence[str], work: "Callable[[Library], Outcome]") -> None:
    """Run ``work`` on a library of these files alone, of which nothing stays, and show it."""

    def opened() -> Outcome:
        with loading():
            from chapterhouse.interfaces.cli.progress import told_to  # noqa: PLC0415 - see options
            from chapterhouse.library import Library  # noqa: PLC0415 - brings the engines

        home = None if common.home is None else require_path(common.home)
        wanted = [require_path(path) for path in paths]
        with ExitStack() as closing:
            with told_to() as tell:
                files = Library.of_files(wanted, home, common.workspace, on_progress=tell)
                library = closing.enter_context(files)
            return work(library)

    run(common, opened)


@contextmanager
def _reported(library: "Library") -> Iterator[None]:
    """Send what is done to the collector that the settings name, if they name one."""
    endpoint = library.settings.telemetry.endpoint
    if not endpoint:
        yield
        return
    from chapterhouse.telemetry.sending import sending  # noqa: PLC0415 - only with a collector

    with sending(endpoint, _complain):
        try:
            yield
        finally:
            sys.stdout.flush()


@dataclass(frozen=True, slots=True)
class _Run:
    """A command that runs: since when, and where what it does is taken down."""

    common: Common
    began: float
    trace: "Trace | None"


def run(common: Common, work: Callable[[], Outcome]) -> None:
    """Run ``work``, print its outcome or its error, and leave with the exit code.

    With ``--trace`` it is shown what was done for it, too.

    Raises:
        typer.Exit: always, carrying the code.
    """
    if not common.trace:
        _run(_Run(common, time.monotonic(), None), work)
    from chapterhouse.telemetry import collecting  # noqa: PLC0415 - see options

    with collecting() as trace:
        _run(_Run(common, time.monotonic(), trace), work)


def _run(run: _Run, work: Callable[[], Outcome]) -> NoReturn:
    from chapterhouse.interfaces.cli.envelope import success, write  # noqa: PLC0415 - see options

    common = run.common
    try:
        with working():
            outcome = work()
    except ChapterhouseError as error:
        _fail(run, type(error).__name__, error.message, error.hint)
        raise typer.Exit(error.exit_code) from None
    except KeyboardInterrupt:
        _fail(run, "Interrupted", "Stopped.", "Nothing was left half done.")
        raise typer.Exit(INTERRUPTED) from None
    except OSError as error:
        if common.debug:
            traceback.print_exc(file=sys.stderr)
        what = f"{error.strerror or error}: {error.filename}" if error.filename else str(error)
        _fail(run, "OSError", what, "Check the path, its permissions and the disk.")
        raise typer.Exit(FAILED) from None
    except Exception as error:  # noqa: BLE001 - the process boundary: one clear line, exit code 1
        if common.debug:
            traceback.print_exc(file=sys.stderr)
        what = f"Unexpected {type(error).__name__}: {error}"
        _fail(run, "UnexpectedError", what, "Run it again with --debug for details.")
        raise typer.Exit(FAILED) from None
    if outcome.is_told:
        raise typer.Exit(outcome.exit_code)
    if common.json:
        seconds = time.monotonic() - run.began
        done = _shaped(run.trace)
        write(success(outcome.data, workspace=common.workspace, seconds=seconds, trace=done))
    else:
        from chapterhouse.interfaces.cli.terminal import console  # noqa: PLC0415 - see options

        survive_the_locale()
        outcome.show(console())
        _show(run.trace)
    raise typer.Exit(outcome.exit_code)


def _fail(run: _Run, kind: str, message: str, hint: str) -> None:
    from chapterhouse.interfaces.cli.envelope import failure, write  # noqa: PLC0415 - see options

    if run.common.json:
        place, seconds = run.common.workspace, time.monotonic() - run.began
        done = _shaped(run.trace)
        write(failure(kind, message, hint, workspace=place, seconds=seconds, trace=done))
        return
    if run.trace is not None and run.trace.roots:  # how far it came
        _show(run.trace)
    _complain(message, hint)


def _complain(message: str, hint: str = "") -> None:
    from chapterhouse.interfaces.cli.terminal import one_line  # noqa: PLC0415 - see options

    survive_the_locale()
    typer.echo(f"chapterhouse: {one_line(message)}", err=True)
    for line in hint.splitlines():
        indent = line[: len(line) - len(line.lstrip(" "))]
        typer.echo(f"{indent}{one_line(line)}", err=True)


def _shaped(trace: "Trace | None") -> object:
    if trace is None:
        return None
    from chapterhouse.interfaces.cli import shapes_trace  # noqa: PLC0415 - see options

    return shapes_trace.trace(trace)


def _show(trace: "Trace | None") -> None:
    if trace is None:
        return
    from chapterhouse.interfaces.cli import render_trace  # noqa: PLC0415 - see options
    from chapterhouse.interfaces.cli.terminal import console  # noqa: PLC0415 - likewise

    survive_the_locale()
    sys.stdout.flush()  # where both lead to one place, the answer stands above
    render_trace.tree(console(stderr=True), trace)


def survive_the_locale() -> None:
    """Spell out what the terminal's encoding cannot say, rather than fail on it."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # text streams
