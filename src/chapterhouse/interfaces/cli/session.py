"""One command from its options to its exit code."""

import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from chapterhouse.errors import ChapterhouseError
from chapterhouse.interfaces.cli.options import Common, require_path

if TYPE_CHECKING:
    from rich.console import Console

    from chapterhouse.library import Library

OK, FAILED, NOT_FOUND, PARTLY, CONFIRM, INTERRUPTED = 0, 1, 3, 4, 10, 130


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command found: ``data`` for ``--json``, ``show`` for people."""

    data: object
    show: "Callable[[Console], None]"
    exit_code: int = OK


class ConfirmationNeededError(ChapterhouseError):
    """Something would be deleted and nobody is there to be asked."""

    exit_code = CONFIRM


class InterruptedWorkError(ChapterhouseError):
    """The user stopped the work; what was done before is safe."""

    exit_code = INTERRUPTED


def open_library(common: Common, *, create: bool) -> "Library":
    """Open the library that the common options name."""
    from chapterhouse.library import Library  # noqa: PLC0415 - brings the engines

    home = None if common.home is None else require_path(common.home)
    return Library.open(home, common.workspace, create=create)


def with_library(
    common: Common, work: "Callable[[Library], Outcome]", *, create: bool = False
) -> None:
    """Run ``work`` on the opened library and show what came of it."""

    def opened() -> Outcome:
        with open_library(common, create=create) as library:
            return work(library)

    run(common, opened)


def run(common: Common, work: Callable[[], Outcome]) -> None:
    """Run ``work``, print its outcome or its error, and leave with the exit code.

    Raises:
        typer.Exit: always, carrying the code.
    """
    from chapterhouse.interfaces.cli.envelope import success, write  # noqa: PLC0415 - see options

    began = time.monotonic()
    try:
        outcome = work()
    except ChapterhouseError as error:
        name = type(error).__name__
        _fail(common, began, name, error.message, error.hint)
        raise typer.Exit(error.exit_code) from None
    except KeyboardInterrupt:
        _fail(common, began, "Interrupted", "Stopped.", "Nothing was left half done.")
        raise typer.Exit(INTERRUPTED) from None
    except OSError as error:
        if common.debug:
            traceback.print_exc(file=sys.stderr)
        what = f"{error.strerror or error}: {error.filename}" if error.filename else str(error)
        _fail(common, began, "OSError", what, "Check the path, its permissions and the disk.")
        raise typer.Exit(FAILED) from None
    except Exception as error:  # noqa: BLE001 - the process boundary: one clear line, exit code 1
        if common.debug:
            traceback.print_exc(file=sys.stderr)
        what = f"Unexpected {type(error).__name__}: {error}"
        _fail(common, began, "UnexpectedError", what, "Run it again with --debug for details.")
        raise typer.Exit(FAILED) from None
    if common.json:
        seconds = time.monotonic() - began
        write(success(outcome.data, workspace=common.workspace, seconds=seconds))
    else:
        from chapterhouse.interfaces.cli.terminal import console  # noqa: PLC0415 - see options

        _survive_the_locale()
        outcome.show(console())
    raise typer.Exit(outcome.exit_code)


def _fail(common: Common, began: float, kind: str, message: str, hint: str) -> None:
    from chapterhouse.interfaces.cli.envelope import failure, write  # noqa: PLC0415 - see options

    if common.json:
        seconds = time.monotonic() - began
        write(failure(kind, message, hint, workspace=common.workspace, seconds=seconds))
        return
    from chapterhouse.interfaces.cli.terminal import one_line  # noqa: PLC0415 - see options

    _survive_the_locale()
    typer.echo(f"chapterhouse: {one_line(message)}", err=True)
    if hint:
        typer.echo(one_line(hint), err=True)


def _survive_the_locale() -> None:
    """Spell out what the terminal's encoding cannot say, rather than fail on it."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # text streams
