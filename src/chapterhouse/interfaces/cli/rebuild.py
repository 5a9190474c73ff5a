"""The command that cuts all documents again while the library serves: rebuild."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from chapterhouse.interfaces.cli.envelope import plain
from chapterhouse.interfaces.cli.options import DryRun, Yes, common, flag, reopening
from chapterhouse.interfaces.cli.progress import show_progress
from chapterhouse.interfaces.cli.session import (
    Outcome,
    library_class,
    named_home,
    opened_library,
    require_yes,
)
from chapterhouse.presenting.blocks import Block, Style, verbatim
from chapterhouse.text.counting import counted
from chapterhouse.types import RebuildReport

if TYPE_CHECKING:
    from chapterhouse.library import Library


def rebuild(
    *,
    back: Annotated[
        bool, flag("--back", "Return to the library before, with what was changed since.")
    ] = False,
    forget: Annotated[
        bool, flag("--forget", "Delete the library before, and one that is not whole yet.")
    ] = False,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> Outcome:
    """Cut documents again that other settings cut, and switch when all is ready.

    A second library is built while the first one serves. Then it asks, and the second one takes the
    place of the first in one step; the first one stays, as the way back. No file is read again.

    Ctrl-C stops it; the next run goes on. Off a terminal, and with --json, it does not switch
    without --yes: exit code 10. While another process has the library open it does not, either:
    exit code 5.
    """
    if back and forget:
        raise typer.BadParameter("--back and --forget exclude each other.")
    if back and dry_run:
        raise typer.BadParameter("--back is one step, and the same again undoes it.")
    if forget:
        return _forget(yes=yes, dry_run=dry_run)
    if back:
        library_class().rebuild_back(named_home(), common().workspace)
        sentence = "The library before serves again. To return: chapterhouse rebuild --back"
        note = "The settings are as they were: they say how documents are cut from now on."
        return Outcome({"back": True}, [verbatim(f"{sentence}{reopening()}"), verbatim(note)])
    if dry_run:
        with opened_library(background=False) as library:
            planned = library.upkeep.rebuild_plan()
        return Outcome(_data(planned, dry_run=True), _planned(planned))
    return _rebuild(yes=yes)


def _rebuild(*, yes: bool) -> Outcome:
    with ExitStack() as showing:
        show = showing.enter_context(show_progress())

        def look(_old: "Library", _new: "Library") -> None:
            showing.close()
            if not yes:
                require_yes(
                    "Switch to the library that was built",
                    needed="The second library is ready. To switch to it needs to be confirmed.",
                    refused="The first one still serves. What was built stays.",
                )

        report = library_class().rebuild(
            named_home(), common().workspace, look=look, on_progress=show
        )
    return Outcome(_data(report, dry_run=False), _rebuilt(report))


def _forget(*, yes: bool, dry_run: bool) -> Outcome:
    home, workspace = named_home(), common().workspace
    if not (yes or dry_run):
        require_yes("Delete the library before the last rebuild")
    names = library_class().rebuild_forget(home, workspace, dry_run=dry_run)
    verb = "Would delete" if dry_run else "Deleted"
    sentence = f"{verb}: {', '.join(names)}" if names else "There is none."
    return Outcome({"deleted": names, "dry_run": dry_run}, [verbatim(sentence)])


def _data(report: RebuildReport, *, dry_run: bool) -> dict[str, object]:
    return {**plain(report), "dry_run": dry_run}


def _planned(report: RebuildReport) -> Iterator[Block]:
    if not report.documents:
        yield verbatim("All documents are cut as the settings say.")
        return
    total = counted(report.total, "document")
    yield verbatim(f"Would cut {report.documents:,} of {total} again, beside the library.")
    if report.replaced:
        yield verbatim(("The library before the last rebuild would go.", Style.WARNING))


def _rebuilt(report: RebuildReport) -> Iterator[Block]:
    if not report.documents:
        yield verbatim("All documents are cut as the settings say. Nothing was done.")
        return
    total = counted(report.total, "document")
    chunks = f"{report.chunks_before:,} chunks before, {report.chunks:,} now"
    yield verbatim(f"Cut {report.documents:,} of {total} again: {chunks}.")
    yield verbatim(f"To return: chapterhouse rebuild --back{reopening()}")
    yield verbatim(f"To free the space: chapterhouse rebuild --forget{reopening()}")
