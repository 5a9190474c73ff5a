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
from chapterhouse.interfaces.cli.terminal import console, draw
from chapterhouse.loading import lazy
from chapterhouse.presenting.blocks import Block, Style, verbatim
from chapterhouse.text.counting import counted
from chapterhouse.types import RebuildReport

if TYPE_CHECKING:
    from chapterhouse.interfaces.cli import evaluation_run, render_evaluation
    from chapterhouse.interfaces.cli.render_evaluation import Result
    from chapterhouse.library import Library
else:
    evaluation_run = lazy("chapterhouse.interfaces.cli.evaluation_run")
    render_evaluation = lazy("chapterhouse.interfaces.cli.render_evaluation")


def rebuild(
    *,
    compare: Annotated[
        bool,
        flag("--compare", "Ask questions of both, made from the documents if you have none."),
    ] = False,
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

    A second library is built while the first one serves. If the workspace has questions to
    evaluate, both are asked, and the figures are shown. Then it asks, and the second one takes the
    place of the first in one step; the first one stays, as the way back. No file is read again.

    Ctrl-C stops it; the next run goes on. Off a terminal, and with --json, it does not switch
    without --yes: exit code 10. While another process has the library open it does not, either:
    exit code 5.
    """
    if back + forget > 1 or ((back or forget) and compare):
        raise typer.BadParameter("--compare, --back and --forget exclude each other.")
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
        return Outcome(_data(planned, None, dry_run=True), _planned(planned))
    return _rebuild(compare=compare, yes=yes)


def _rebuild(*, compare: bool, yes: bool) -> Outcome:
    results: list[Result] = []
    with ExitStack() as showing:
        show = showing.enter_context(show_progress())

        def look(old: "Library", new: "Library") -> None:
            showing.close()
            found = evaluation_run.compare_libraries(old, new, make=compare)
            if found is not None:
                results.append(found)
            if not yes:
                if found is not None:
                    draw(console(stderr=True), render_evaluation.evaluation(found))
                require_yes(
                    "Switch to the library that was built",
                    needed="The second library is ready. To switch to it needs to be confirmed.",
                    refused="The first one still serves. What was built stays.",
                )

        report = library_class().rebuild(
            named_home(), common().workspace, look=look, on_progress=show
        )
    result = results[0] if results else None
    shown = result if yes else None
    return Outcome(_data(report, result, dry_run=False), _rebuilt(report, shown))


def _forget(*, yes: bool, dry_run: bool) -> Outcome:
    home, workspace = named_home(), common().workspace
    if not (yes or dry_run):
        require_yes("Delete the library before the last rebuild")
    names = library_class().rebuild_forget(home, workspace, dry_run=dry_run)
    verb = "Would delete" if dry_run else "Deleted"
    sentence = f"{verb}: {', '.join(names)}" if names else "There is none."
    return Outcome({"deleted": names, "dry_run": dry_run}, [verbatim(sentence)])


def _data(report: RebuildReport, result: "Result | None", *, dry_run: bool) -> dict[str, object]:
    found = render_evaluation.evaluation_data(result, latency=False) if result else None
    return {**plain(report), "evaluation": found, "dry_run": dry_run}


def _planned(report: RebuildReport) -> Iterator[Block]:
    if not report.documents:
        yield verbatim("All documents are cut as the settings say.")
        return
    total = counted(report.total, "document")
    yield verbatim(f"Would cut {report.documents:,} of {total} again, beside the library.")
    if report.replaced:
        yield verbatim(("The library before the last rebuild would go.", Style.WARNING))


def _rebuilt(report: RebuildReport, result: "Result | None") -> Iterator[Block]:
    if not report.documents:
        yield verbatim("All documents are cut as the settings say. Nothing was done.")
        return
    if result is not None:
        yield from render_evaluation.evaluation(result)
        yield verbatim()
    total = counted(report.total, "document")
    chunks = f"{report.chunks_before:,} chunks before, {report.chunks:,} now"
    yield verbatim(f"Cut {report.documents:,} of {total} again: {chunks}.")
    yield verbatim(f"To return: chapterhouse rebuild --back{reopening()}")
    yield verbatim(f"To free the space: chapterhouse rebuild --forget{reopening()}")
