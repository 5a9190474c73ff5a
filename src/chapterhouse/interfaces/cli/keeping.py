"""Commands that fill a library and keep it well: init, add, status, doctor, reindex."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from chapterhouse.interfaces.cli.options import (
    Common,
    Debug,
    DryRun,
    Home,
    Json,
    WorkspaceName,
    require_path,
)
from chapterhouse.interfaces.cli.session import FAILED, OK, Outcome, with_library
from chapterhouse.types import DEFAULT_SHELF

if TYPE_CHECKING:
    from chapterhouse.library import Library


def init(
    *,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """Create the home folder and an empty library.

    What exists already is left as it is.
    """
    from chapterhouse.interfaces.cli import render  # noqa: PLC0415 - see options

    def work(library: "Library") -> Outcome:
        state = library.status()
        return Outcome(state, lambda target: render.ready(target, state))

    with_library(Common(json, home, workspace, debug), work, create=True)


def add(
    paths: Annotated[list[str], typer.Argument(metavar="PATH", help="Files and folders to read.")],
    *,
    shelf: Annotated[
        str, typer.Option("--shelf", metavar="NAME", help="The shelf to put the documents on.")
    ] = DEFAULT_SHELF,
    dry_run: DryRun = False,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """Read files and folders into the library.

    Unchanged files are skipped; a stopped run goes on where it was. Exit code 4 says that some
    files were rejected or read only in part.
    """
    from chapterhouse.interfaces.cli import progress, render, shapes  # noqa: PLC0415 - see options

    def work(library: "Library") -> Outcome:
        wanted = [require_path(path) for path in paths]
        report = progress.watched(
            lambda tell: library.add(*wanted, shelf=shelf, on_progress=tell, dry_run=dry_run)
        )
        return Outcome(
            shapes.report(report, dry_run=dry_run),
            lambda target: (render.planned if dry_run else render.report)(target, report),
            shapes.report_code(report),
        )

    with_library(Common(json, home, workspace, debug), work, create=not dry_run)


def status(
    *,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """Show what the library holds and where it lies."""
    from chapterhouse.interfaces.cli import render  # noqa: PLC0415 - see options

    def work(library: "Library") -> Outcome:
        state = replace(library.status(), language_model=library.check_language_model())
        return Outcome(state, lambda target: render.status(target, state))

    with_library(Common(json, home, workspace, debug), work)


def doctor(
    *,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """Check the library for problems.

    Exit code 1 says that there are some.
    """
    from chapterhouse.interfaces.cli import render  # noqa: PLC0415 - see options

    def work(library: "Library") -> Outcome:
        model = library.check_language_model()
        checks = (*library.doctor(), *([model] if model else []))
        code = OK if all(check.passed for check in checks) else FAILED
        return Outcome(checks, lambda target: render.checks(target, checks), code)

    with_library(Common(json, home, workspace, debug), work)


def reindex(
    *,
    dry_run: DryRun = False,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """Build the search indexes again.

    They are derived from the stored documents, so nothing can be lost by it.
    """
    from chapterhouse.interfaces.cli import render  # noqa: PLC0415 - see options

    def work(library: "Library") -> Outcome:
        state = library.status() if dry_run else library.reindex()
        return Outcome(state, lambda target: render.reindexed(target, state, dry_run=dry_run))

    with_library(Common(json, home, workspace, debug), work)
