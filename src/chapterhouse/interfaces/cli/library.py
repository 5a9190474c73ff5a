"""Commands that fill a library, keep it well and move it, as add, doctor and export."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final

import typer

from chapterhouse import lazy
from chapterhouse.errors import CorruptLibraryError, NotFoundError
from chapterhouse.interfaces.cli import jobs, progress, render
from chapterhouse.interfaces.cli.envelope import plain
from chapterhouse.interfaces.cli.models import vector_rows
from chapterhouse.interfaces.cli.options import (
    DryRun,
    OnShelf,
    argument,
    common,
    destination,
    flag,
    option,
    readable,
    reopening,
    require_path,
)
from chapterhouse.interfaces.cli.session import (
    FAILED,
    OK,
    Outcome,
    console,
    library_class,
    named_home,
    opened_library,
    survive_the_locale,
)
from chapterhouse.presenting.blocks import Style, TerminalBlock, record, verbatim
from chapterhouse.presenting.styled import one_line
from chapterhouse.presenting.terminal import draw
from chapterhouse.presenting.wording import searched_text, size
from chapterhouse.text.counting import counted
from chapterhouse.types import AddReport, Check, FileOutcome, LibraryStatus, Progress
from chapterhouse.types.analytics import day_of

if TYPE_CHECKING:
    from chapterhouse.evaluation import self_test as trying
    from chapterhouse.ingest import archive as archives
    from chapterhouse.types import ExportReport, RestoreReport, Snapshot
else:
    archives = lazy("chapterhouse.ingest.archive")
    trying = lazy("chapterhouse.evaluation.self_test")


OnProgress = Callable[[Progress], None]


def init() -> Outcome:
    """Create the home folder and an empty library.

    What exists already is left as it is.
    """
    with opened_library(create=True) as library:
        state = library.status()
        return Outcome(state, _ready(state))


def add(
    paths: Annotated[
        list[str], argument("PATH", "Files and folders to read; - for text from standard input.")
    ],
    *,
    shelf: OnShelf = "",
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
            return Outcome(job, jobs.waits(job))
        if is_text:
            report = documents.add_text(_standard_input(), title=readable(title), shelf=shelf)
        else:
            wanted = [require_path(path) for path in paths]
            with progress.interruptible() as show, _report_before_an_error(show) as on_progress:
                report = documents.add(
                    *wanted, shelf=shelf, on_progress=on_progress, dry_run=dry_run
                )
                progress.require_end(report)
        waits = not dry_run and report.outcomes and library.encoders.is_pending()
    blocks = [*(render.planned if dry_run else render.report)(report), *(_VECTORS if waits else ())]
    return Outcome({**plain(report), "dry_run": dry_run}, blocks, render.report_code(report))


_VECTORS: Final = (
    verbatim(
        (
            "Until vectors are made, in the background, only words find them: chapterhouse status",
            Style.QUIET,
        )
    ),
)


@contextmanager
def _report_before_an_error(show: OnProgress) -> Iterator[OnProgress]:
    """Give what shows progress; an error inside tells first what became of files before it."""
    outcomes: list[FileOutcome] = []

    def follow(progress: Progress) -> None:
        outcomes.extend(filter(None, (progress.outcome,)))
        show(progress)

    try:
        yield follow
    except Exception:
        if outcomes and not common().json:
            survive_the_locale()
            draw(console(), render.report(AddReport(tuple(outcomes))))
        raise


def _standard_input() -> str:
    """Return the text that comes in; bytes that are none become U+FFFD."""
    return sys.stdin.buffer.read().decode("utf-8-sig", "replace")


def status() -> Outcome:
    """Show what the library holds and where it is."""
    with opened_library() as library:
        state = replace(library.status(), language_model=library.check_language_model())
        return Outcome(state, _status(state))


def next_steps() -> Outcome:
    """Say what to do next."""
    try:
        with opened_library() as library:
            documents = library.status().documents
    except NotFoundError:
        documents = 0
    home = str(named_home())
    return Outcome({"home": home, "documents": documents}, _next_steps(home, documents))


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
    return Outcome(checks, _checks(checks), code)


def self_test() -> Outcome:
    """Check that this installation reads, finds, answers and verifies; it takes seconds.

    It uses a temporary library. Exit code 1 says that something failed.
    """
    with progress.show_progress():
        checks = tuple(trying.try_installation())
    return Outcome(checks, _checks(checks), OK if all(one.passed for one in checks) else FAILED)


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
        return Outcome(state, _reindexed(state, dry_run=dry_run))


# --- what is shown ------------------------------------------------------------------------------


def _ready(state: LibraryStatus) -> Iterator[TerminalBlock]:
    yield verbatim("Ready: ", (state.home, Style.STRONG), f", workspace {state.workspace}")
    yield verbatim("Next: chapterhouse add PATH")


def _next_steps(home: str, documents: int) -> Iterator[TerminalBlock]:
    held = counted(documents, "document") if documents else "no documents yet"
    yield verbatim((one_line(home), Style.STRONG), f" holds {held}. Next:")
    if documents:
        yield verbatim('  chapterhouse ask "…"      answers with quotations that were checked')
        yield verbatim("  chapterhouse serve --open  the same in your browser")
    yield verbatim("  chapterhouse add FOLDER    reads the documents of a folder")
    yield verbatim("  chapterhouse --help        lists all commands")


def _status(state: LibraryStatus) -> Iterator[TerminalBlock]:
    behind = state.sequence - min(state.index_sequences.values())
    yield record(
        state,
        "home",
        "workspace",
        "documents",
        "chunks",
        ("by status", _counts(state.by_status)),
        ("by format", _counts(state.by_format)),
        ("by shelf", _counts(state.by_shelf)),
        ("changes", f"{state.sequence:,}"),
        ("indexes", f"{counted(behind, 'change')} behind" if behind > 0 else "up to date"),
        "embedder",
        *vector_rows(state.encoders, state.documents),
        *_cut_otherwise(state),
        ("language model", state.language_model.sentence if state.language_model else "none"),
        ("on disk", size(state.disk_bytes)),
    )


def _cut_otherwise(state: LibraryStatus) -> Iterator[tuple[str, str]]:
    if state.cut_otherwise:
        number = counted(state.cut_otherwise, "document")
        yield ("cutting", f"{number} cut by other settings: chapterhouse reindex")


def _checks(found: Sequence[Check]) -> Iterator[TerminalBlock]:
    for check in found:
        mark = ("ok      ", Style.GOOD) if check.passed else ("PROBLEM ", Style.BAD)
        yield verbatim(mark, (check.name, Style.STRONG), f": {check.sentence}")
        if check.hint:
            yield verbatim(f"        {check.hint}")
    failed = sum(not check.passed for check in found)
    yield verbatim(f"{counted(len(found), 'check')}, {counted(failed, 'problem')}")


def _reindexed(state: LibraryStatus, *, dry_run: bool) -> Iterator[TerminalBlock]:
    if dry_run and state.cut_otherwise:
        yield verbatim(f"Would cut {counted(state.cut_otherwise, 'document')} again.")
    verb = "Would index" if dry_run else "Indexed"
    yield verbatim(f"{verb} {searched_text(state.documents, state.chunks)}.")


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items())) or "none"


_MEGABYTE: Final = 2**20


def export_archive(
    file: Annotated[str, argument("FILE", "The archive to write, like library.chapterhouse.")],
    *,
    without_memory: Annotated[
        bool, flag("--without-memory", "Leave out what was asked and answered.")
    ] = False,
) -> Outcome:
    """Write the whole library to one archive.

    With documents, vectors, memories, personas, councils and settings; keys are not in it. Other
    commands may go on adding meanwhile. An archive of this name is replaced.
    """
    path = destination(file, "The archive", "library.chapterhouse", archives.is_archive)
    with opened_library() as library, progress.show_progress() as show:
        report = library.export(path, memories=not without_memory, on_progress=show)
    return Outcome(report, _exported(report))


def import_archive(
    file: Annotated[str, argument("FILE", "An archive that export wrote.")],
    *,
    dry_run: DryRun = False,
) -> Outcome:
    """Restore an archive to a new home or an empty workspace.

    An archive that was cut off or altered is refused, and nothing is changed: exit code 5. So it is
    where the workspace holds something.
    """
    path, home, workspace = require_path(file), named_home(), common().workspace
    with progress.show_progress() as show:
        report = library_class().restore(path, home, workspace, dry_run=dry_run, on_progress=show)
    data = {**plain(report), "dry_run": dry_run}
    return Outcome(data, _imported(report, dry_run=dry_run))


def _exported(report: "ExportReport") -> Iterator[TerminalBlock]:
    size = f"{report.size / _MEGABYTE:,.1f} MB"
    name = one_line(report.file), Style.STRONG
    yield verbatim("Wrote ", name, f", {size}: {_held(report.snapshot)}")
    yield verbatim(f"SHA-256 {report.sha256}")
    for line in report.left_out:
        yield verbatim((f"Left out: {one_line(line)}", Style.WARNING))


def _imported(report: "RestoreReport", *, dry_run: bool) -> Iterator[TerminalBlock]:
    where = f"{one_line(report.home)}, workspace {report.workspace}"
    verb = "The archive is whole. It would be imported" if dry_run else "Imported"
    yield verbatim(f"{verb}: {_held(report.snapshot)}, of {day_of(report.created)}")
    yield verbatim("Into ", (where, Style.STRONG))
    if report.settings_ignored:
        yield verbatim(
            ("The home has settings: those of the archive's home are not taken.", Style.WARNING)
        )
    if not dry_run:
        yield verbatim(f"Check it: chapterhouse doctor{reopening()}")


def _held(snapshot: "Snapshot") -> str:
    return ", ".join(
        (
            counted(snapshot.documents, "document"),
            counted(snapshot.chunks, "chunk"),
            counted(snapshot.memories, "memory", "memories"),
        )
    )
