"""One command from its options to its exit code."""

import os
import resource
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from chapterhouse import lazy
from chapterhouse.errors import ChapterhouseError, NotFoundError, RefusedError
from chapterhouse.files import home_folder
from chapterhouse.interfaces.background import start_background
from chapterhouse.interfaces.cli.envelope import failure, success, trace_blocks, write
from chapterhouse.interfaces.cli.interrupts import INTERRUPTED, WithoutCollection, loading, working
from chapterhouse.interfaces.cli.options import COMMON, COMMON_NAMES, Common, common, require_path
from chapterhouse.presenting.styled import one_line
from chapterhouse.presenting.terminal import draw
from chapterhouse.telemetry import Trace, collecting

if TYPE_CHECKING:
    from rich import console as rich_console
    from rich.console import Console

    from chapterhouse.library import Library
    from chapterhouse.presenting.blocks import TerminalBlock
    from chapterhouse.telemetry import export as collectors
else:
    rich_console = lazy("rich.console")
    collectors = lazy("chapterhouse.telemetry.export")

_AFTERWARDS: Final[ContextVar[ExitStack]] = ContextVar("afterwards")  # what ends behind the output
_ADDRESSES: Final = 2**30  # bytes
OK, FAILED, PARTLY, NO_ANSWER, CONFIRM = 0, 1, 4, 6, 10


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command found: ``data`` for ``--json``, ``show`` for people, made when it is shown."""

    data: object
    show: "Iterable[TerminalBlock] | Callable[[Console], object]"
    exit_code: int = OK
    is_reported: bool = False  # whether all was told on the way, so that only the exit code is left

    def print_to(self, target: "Console") -> None:
        """Print it for people."""
        if callable(self.show):
            self.show(target)
        else:
            draw(target, self.show)


class ConfirmationNeededError(ChapterhouseError):
    """Something would be deleted and nobody is there to be asked."""

    exit_code = CONFIRM


class InterruptedWorkError(ChapterhouseError):
    """The user stopped the work; what was done before is safe."""

    exit_code = INTERRUPTED


# --- the library --------------------------------------------------------------------------------


def library_class() -> "type[Library]":
    """Return the class of libraries, which brings all engines: seconds on a slow machine.

    Raises:
        RefusedError: they would not find enough memory, and end the process without a word.
    """
    addresses, _ = resource.getrlimit(resource.RLIMIT_AS)
    if 0 <= addresses < _ADDRESSES:
        raise RefusedError(
            f"This process may have {addresses / 2**30:.1f} GB of virtual memory; it needs 1.",
            hint="Raise the limit: ulimit -v unlimited",
        )
    with loading(), WithoutCollection():
        from chapterhouse.library import Library  # noqa: PLC0415 - heavy, and --help needs none of it
    return Library


def open_library(*, create: bool) -> "Library":
    """Open the library that the common options name."""
    return library_class().open(named_home(), common().workspace, create=create)


def named_folders() -> tuple[Path, Path]:
    """Return the home folder that the common options name, and that of their workspace in it."""
    home = named_home()
    return home, home / "workspaces" / common().workspace


def named_home() -> Path:
    """Return the home folder that the common options name, else the default."""
    home = common().home
    return home_folder(None if home is None else require_path(home))


@contextmanager
def _opened_or_empty() -> "Iterator[Library]":
    """Open the library that the common options name, or an empty one where there is none."""
    with ExitStack() as closing:
        try:
            library = closing.enter_context(open_library(create=False))
        except NotFoundError:
            empty = library_class().temporary(named_home(), common().workspace)
            library = closing.enter_context(empty)
        yield library


@contextmanager
def opened_library(
    *, create: bool = False, or_empty: bool = False, background: bool = True
) -> "Iterator[Library]":
    """Open the library that the common options name, for one command.

    Where none is there, ``create`` makes it, and ``or_empty`` opens one of which nothing stays. In
    ``background`` a process may be started that makes missing vectors.
    """
    with _opened_or_empty() if or_empty else open_library(create=create) as library:
        _AFTERWARDS.get().enter_context(_reported(library))
        yield library
        if background and not or_empty:
            start_background(library)


@contextmanager
def _reported(library: "Library") -> Iterator[None]:
    """Send what is done to the collector that the settings name, if they name one."""
    endpoint = library.settings.telemetry.endpoint
    if not endpoint:
        yield
        return
    with collectors.sending(endpoint, _complain):
        try:
            yield
        finally:
            sys.stdout.flush()


# --- a run and what is shown of it --------------------------------------------------------------


def take_common_options(app: typer.Typer) -> None:
    """Let every command of ``app`` take the common options, and show what it returns."""
    for group in app.registered_groups:
        if group.typer_instance is not None:
            take_common_options(group.typer_instance)
    for entry in app.registered_commands:
        if entry.callback is not None:
            entry.callback = _with_common_options(entry.callback)


def _with_common_options(function: Callable[..., Outcome]) -> Callable[..., None]:
    @wraps(function)
    def command(**given: Any) -> None:
        before = COMMON.set(Common(**{name: given.pop(name) for name in COMMON_NAMES}))
        try:
            run(lambda: function(**given), trace=given.get("trace", False))
        finally:
            COMMON.reset(before)

    added = [
        Parameter(entry.name, Parameter.KEYWORD_ONLY, default=entry.default, annotation=entry.type)
        for entry in fields(Common)
    ]
    stated = signature(function)
    parameters = [*stated.parameters.values(), *added]
    command.__signature__ = stated.replace(parameters=parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {
        **function.__annotations__,
        **{parameter.name: parameter.annotation for parameter in added},
    }
    return command


def run(work: Callable[[], Outcome], *, trace: bool = False) -> None:
    """Run ``work``, print its outcome or its error, and leave with the exit code."""
    with ExitStack() as afterwards:  # when it was shown: nobody waits for a collector
        before = _AFTERWARDS.set(afterwards)
        try:
            _run(work, afterwards.enter_context(collecting()) if trace else None)
        finally:
            _AFTERWARDS.reset(before)


def _run(work: Callable[[], Outcome], trace: Trace | None) -> None:
    began = time.monotonic()
    try:
        with working():
            outcome = work()
    except KeyboardInterrupt:
        _fail("Interrupted", "Stopped.", "What was finished is saved.", trace, began)
        raise typer.Exit(INTERRUPTED) from None
    except (typer.Exit, typer.TyperException):
        raise
    except Exception as error:  # noqa: BLE001 - the process boundary: one clear line, exit code 1
        if common().debug and not isinstance(error, ChapterhouseError):
            traceback.print_exc(file=sys.stderr)
        _fail(*_describe_error(error), trace, began)
        code = error.exit_code if isinstance(error, ChapterhouseError) else FAILED
        raise typer.Exit(code) from None
    if outcome.is_reported:
        raise typer.Exit(outcome.exit_code)
    if common().json:
        seconds = time.monotonic() - began
        write(success(outcome.data, workspace=common().workspace, seconds=seconds, trace=trace))
    else:
        survive_the_locale()
        outcome.print_to(console())
        _show(trace)
    raise typer.Exit(outcome.exit_code)


def _describe_error(error: Exception) -> tuple[str, str, str]:
    """Return the kind of an error, its message and a hint."""
    match error:
        case ChapterhouseError():
            return type(error).__name__, error.message, error.hint
        case OSError():
            what = f"{error.strerror or error}: {error.filename}" if error.filename else str(error)
            return "OSError", what, "Check the path, its permissions and the disk."
        case _:
            what = f"Unexpected {type(error).__name__}: {error}"
            return "UnexpectedError", what, "Run it again with --debug for details."


def _fail(kind: str, message: str, hint: str, trace: Trace | None, began: float) -> None:
    if common().json:
        place, seconds = common().workspace, time.monotonic() - began
        write(failure(kind, message, hint, workspace=place, seconds=seconds, trace=trace))
        return
    if trace is not None and trace.roots:  # how far it came
        _show(trace)
    _complain(message, hint)


def _complain(message: str, hint: str = "") -> None:
    survive_the_locale()
    typer.echo(f"chapterhouse: {one_line(message)}", err=True)
    for line in hint.splitlines():
        indent = line[: len(line) - len(line.lstrip(" "))]
        typer.echo(f"{indent}{one_line(line)}", err=True)


def _show(trace: Trace | None) -> None:
    if trace is None:
        return
    survive_the_locale()
    sys.stdout.flush()  # where both lead to one place, the answer stands above
    draw(console(stderr=True), trace_blocks(trace))


def survive_the_locale() -> None:
    """Spell out what the terminal's encoding cannot say, rather than fail on it."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # text streams


# --- the terminal ------------------------------------------------------------------------------


def console(*, stderr: bool = False) -> "Console":
    """Return a console that takes no markup and, off a terminal, never breaks a line.

    Rich leaves out all styles where the output is no terminal; of ``NO_COLOR`` it would make bold
    and dim text without colours, which takes escape sequences too.
    """
    made = rich_console.Console(
        stderr=stderr,
        markup=False,
        highlight=False,
        emoji=False,
        color_system=None if _is_plain() else "auto",
    )
    made.soft_wrap = not made.is_terminal
    return made


def can_redraw() -> bool:
    """Whether standard error is a terminal on which lines may be drawn over and over."""
    return is_watched() and not _is_plain()


def is_watched() -> bool:
    """Whether somebody at a terminal wants to see what is being done."""
    return sys.stderr.isatty() and not common().quiet


def _is_plain() -> bool:
    """Whether the user wants no escape sequences (https://no-color.org)."""
    return bool(os.environ.get("NO_COLOR"))


# --- consent ------------------------------------------------------------------------------------


def may_ask() -> bool:
    """Whether a person is at a terminal and reads what is asked."""
    return not common().json and sys.stdin.isatty() and sys.stderr.isatty()


def confirm(question: str) -> bool:
    """Ask on standard error; Ctrl-C and Ctrl-D at the question mean no."""
    try:
        return typer.confirm(question, err=True)
    except typer.Abort:
        return False


def require_yes(
    what: str,
    *,
    needed: str = "",
    refused: str = "Nothing was changed.",
    listed: Sequence[str] = (),
) -> None:
    """Ask whether something may be done, as "Take X out of the index"; above it what it is done to.

    Raises:
        ConfirmationNeededError: nobody can be asked, ``needed`` says what, or the answer was no.
    """
    if not may_ask():
        raise ConfirmationNeededError(
            needed or f"This needs to be confirmed: {one_line(what)}.",
            hint="Add --yes, or look first with --dry-run.",
        )
    for line in listed:
        typer.echo(f"  {one_line(line)}", err=True)
    if not confirm(f"{one_line(what)}?"):
        raise ConfirmationNeededError(refused)
