"""Commands that fill a library and keep it well: init, add, status, doctor, reindex."""

import sys
from dataclasses import replace
from typing import Annotated

import typer

from chapterhouse.errors import CorruptLibraryError
from chapterhouse.interfaces.cli import progress, render, render_jobs
from chapterhouse.interfaces.cli.envelope import plain
from chapterhouse.interfaces.cli.options import (
    DryRun,
    argument,
    common,
    flag,
    option,
    readable,
    require_path,
)
from chapterhouse.interfaces.cli.session import (
    FAILED,
    OK,
    Outcome,
    opened_library,
    survive_the_locale,
)
from chapterhouse.interfaces.cli.terminal import console, draw
from chapterhouse.types import AddReport, Check


def init() -> Outcome:
    """Create the home folder and an empty library.

    What exists already is left as it is.
    """
    with opened_library(create=True) as library:
        state = library.status()
        return Outcome(state, render.ready(state))


def add(
    paths: Annotated[
        list[str], argument("PATH", "Files and folders to read; - for text from standard input.")
    ],
    *,
    shelf: Annotated[
        str,
        option(
            "--shelf",
            "NAME",
            "The shelf to put the documents on.  [default: as before, else library]",
        ),
    ] = "",
    title: Annotated[str, option("--title", "T", "Title of the text from standard input.")] = "",
    background: Annotated[
        bool, flag("--background", "Leave the work to chapterhouse worker.")
    ] = False,
    dry_run: DryRun = False,
) -> Outcome:
    """Read files and folders into the library.

    Unchanged files are not read again; a stopped run goes on where it was. Exit code 4 says that
    some files are rejected, failed or read only in part, now or, unchanged, earlier.
    """
    is_text = paths == ["-"]
    if title and not is_text:
        raise typer.BadParameter("--title names text from standard input: chapterhouse add -")
    if "-" in paths and (dry_run or not is_text):
        raise typer.BadParameter("Text from standard input is added alone, and not tried first.")
    if background and (dry_run or is_text):
        raise typer.BadParameter(
            "--background is for files and folders, and nothing is tried first."
        )

    with opened_library(create=not dry_run, or_empty=dry_run) as library:
        documents = library.documents
        if background:
            job = documents.add_later(*map(require_path, paths), shelf=shelf)
            return Outcome(job, render_jobs.waits(job))
        if is_text:
            report = documents.add_text(_standard_input(), title=readable(title), shelf=shelf)
        else:
            wanted = [require_path(path) for path in paths]
            report = progress.run_with_progress(
                lambda on_progress: documents.add(
                    *wanted, shelf=shelf, on_progress=on_progress, dry_run=dry_run
                ),
                lambda done: None if common().json else _print_before_error(done),
            )
    blocks = (render.planned if dry_run else render.report)(report)
    return Outcome({**plain(report), "dry_run": dry_run}, blocks, render.report_code(report))


def _print_before_error(done: AddReport) -> None:
    """Show what became of the files before the one at which the run ended."""
    survive_the_locale()
    draw(console(), render.report(done))


def _standard_input() -> str:
    """Return the text that comes in; bytes that are none become U+FFFD."""
    return sys.stdin.buffer.read().decode("utf-8-sig", "replace")


def status() -> Outcome:
    """Show what the library holds and where it is."""
    with opened_library() as library:
        state = replace(library.status(), language_model=library.check_language_model())
        return Outcome(state, render.status(state))


def doctor(
    *,
    thorough: Annotated[
        bool, flag("--thorough", "Read and compare every text, every byte and every index.")
    ] = False,
) -> Outcome:
    """Say whether the library is sound, what it runs on, and what to do.

    Quickly: records, counts and keys. With --thorough everything that is stored is read, and what
    is made of the texts is made again and compared. Exit code 1 says that there are problems.
    """
    try:
        with opened_library(background=False) as library, progress.show_progress() as show:
            model = library.check_language_model()
            checks = library.doctor(thorough=thorough, on_progress=show)
            checks = (*checks, *([model] if model else []))
    except CorruptLibraryError as error:
        checks = (Check("database", passed=False, sentence=error.message, hint=error.hint),)
    code = OK if all(check.passed for check in checks) else FAILED
    return Outcome(checks, render.checks(checks), code)


def reindex(*, dry_run: DryRun = False) -> Outcome:
    """Cut documents again that other settings cut, and build the search indexes again.

    Both are made of the stored texts, so no file is read and nothing can be lost by it. Ctrl-C
    leaves a whole library; the same again goes on.
    """
    with opened_library() as library:
        if dry_run:
            state = library.status()
        else:
            with progress.show_progress() as show:
                state = library.reindex(on_progress=show)
        return Outcome(state, render.reindexed(state, dry_run=dry_run))
