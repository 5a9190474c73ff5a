"""Commands that fill a library and keep it well: init, add, status, doctor, reindex."""

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from chapterhouse.interfaces.cli import progress, render
from chapterhouse.interfaces.cli.envelope import plain
from chapterhouse.interfaces.cli.options import DryRun, common, readable, require_path
from chapterhouse.interfaces.cli.session import (
    FAILED,
    OK,
    Outcome,
    survive_the_locale,
    with_library,
)
from chapterhouse.interfaces.cli.terminal import console
from chapterhouse.types import DEFAULT_SHELF, AddReport

if TYPE_CHECKING:
    from chapterhouse.library import Library


def init() -> None:
    """Create the home folder and an empty library.

    What exists already is left as it is.
    """

    def work(library: "Library") -> Outcome:
        state = library.status()
        return Outcome(state, lambda target: render.ready(target, state))

    with_library(work, create=True)


def add(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH", help="Files and folders to read; - for text from standard input."
        ),
    ],
    *,
    shelf: Annotated[
        str, typer.Option("--shelf", metavar="NAME", help="The shelf to put the documents on.")
    ] = DEFAULT_SHELF,
    title: Annotated[
        str, typer.Option("--title", metavar="T", help="Of the text from standard input.")
    ] = "",
    dry_run: DryRun = False,
) -> None:
    """Read files and folders into the library.

    Unchanged files are not read again; a stopped run goes on where it was. Exit code 4 says that
    some files are rejected or read only in part, now or, unchanged, earlier.
    """
    is_text = paths == ["-"]
    if title and not is_text:
        raise typer.BadParameter("--title names text from standard input: chapterhouse add -")
    if "-" in paths and (dry_run or not is_text):
        raise typer.BadParameter("Text from standard input is added alone, and not tried first.")

    def work(library: "Library") -> Outcome:
        if is_text:
            report = library.documents.add_text(
                _standard_input(), title=readable(title), shelf=shelf
            )
            return _reported(report)
        wanted = [require_path(path) for path in paths]
        report = progress.run_with_progress(
            lambda on_progress: library.documents.add(
                *wanted, shelf=shelf, on_progress=on_progress, dry_run=dry_run
            ),
            lambda done: None if common().json else _print_before_error(done),
        )
        return _reported(report)

    def _reported(report: AddReport) -> Outcome:
        return Outcome(
            {**plain(report), "dry_run": dry_run},
            lambda target: (render.planned if dry_run else render.report)(target, report),
            render.report_code(report),
        )

    with_library(work, create=not dry_run, try_without=dry_run)


def _print_before_error(done: AddReport) -> None:
    """Show what became of the files before the one at which the run ended."""
    survive_the_locale()
    render.report(console(), done)


def _standard_input() -> str:
    """Return the text that comes in; bytes that are none become U+FFFD."""
    return sys.stdin.buffer.read().decode("utf-8-sig", "replace")


def status() -> None:
    """Show what the library holds and where it lies."""

    def work(library: "Library") -> Outcome:
        state = replace(library.status(), language_model=library.check_language_model())
        return Outcome(state, lambda target: render.status(target, state))

    with_library(work)


def doctor(
    *,
    fix: Annotated[
        bool, typer.Option("--fix", help="Close to other users what they can look into.")
    ] = False,
) -> None:
    """Check the library for problems.

    Exit code 1 says that there are some.
    """

    def work(library: "Library") -> Outcome:
        model = library.check_language_model()
        checks = (*library.doctor(fix=fix), *([model] if model else []))
        code = OK if all(check.passed for check in checks) else FAILED
        return Outcome(checks, lambda target: render.checks(target, checks), code)

    with_library(work)


def reindex(
    *,
    dry_run: DryRun = False,
) -> None:
    """Build the search indexes again.

    They are derived from the stored documents, so nothing can be lost by it.
    """

    def work(library: "Library") -> Outcome:
        state = library.status() if dry_run else library.reindex()
        return Outcome(state, lambda target: render.reindexed(target, state, dry_run=dry_run))

    with_library(work)
