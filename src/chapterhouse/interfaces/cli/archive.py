"""Commands that move a library: export and import."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Final

from chapterhouse.interfaces.cli import progress
from chapterhouse.interfaces.cli.envelope import plain
from chapterhouse.interfaces.cli.options import (
    DryRun,
    argument,
    common,
    flag,
    reopening,
    require_path,
)
from chapterhouse.interfaces.cli.output_files import destination
from chapterhouse.interfaces.cli.session import (
    Outcome,
    library_class,
    named_home,
    opened_library,
)
from chapterhouse.interfaces.cli.terminal import one_line
from chapterhouse.loading import lazy
from chapterhouse.presenting.blocks import Style, TerminalBlock, verbatim
from chapterhouse.text.counting import counted
from chapterhouse.types.analytics import day_of

if TYPE_CHECKING:
    from chapterhouse.ingest import archive as archives
    from chapterhouse.types import ExportReport, RestoreReport, Snapshot
else:
    archives = lazy("chapterhouse.ingest.archive")

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
