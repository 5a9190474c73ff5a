"""A library as files: written to an archive, restored from one, a damaged one written anew."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path

from chapterhouse import wiring
from chapterhouse.agents import curate, curated
from chapterhouse.errors import RefusedError
from chapterhouse.facets import long_work, rebuilding
from chapterhouse.files import lock_folder
from chapterhouse.ingest import archive, export, restore, second, staging
from chapterhouse.runtime import Runtime
from chapterhouse.settings import HOME_FILE, WORKSPACE_FILE
from chapterhouse.settings_file import portable_settings
from chapterhouse.types import (
    ExportReport,
    Finding,
    JobState,
    Progress,
    RebuildReport,
    RestoreReport,
)
from chapterhouse.wiring import (
    databases,
    definition_folders,
    rebuild_database,
)

OnProgress = Callable[[Progress], None]


def export_library(
    runtime: Runtime,
    path: Path,
    *,
    memories: bool,
    on_progress: OnProgress,
) -> ExportReport:
    """Write all of a workspace to one archive; as ``Library.export``."""
    source = export.Source(
        runtime.store,
        runtime.blobs,
        runtime.workspace,
        runtime.folder,
        definition_folders(runtime.home, runtime.workspace),
        frozenset({curate.FETCHED, curated.BASE_FOLDER}),
        {
            "home": portable_settings(runtime.home / HOME_FILE),
            "workspace": portable_settings(runtime.folder / WORKSPACE_FILE),
        },
    )
    return export.export(
        source,
        path,
        memories=memories,
        version=runtime.version,
        now=runtime.now(),
        on_progress=on_progress,
    )


def target_of(home: Path, workspace: str) -> staging.Target:
    """Return where an archive is restored to."""
    own = home / "workspaces" / workspace
    return staging.Target(home, workspace, own, definition_folders(home, workspace))


def restore_library(
    path: Path, target: staging.Target, *, replaces: bool, dry_run: bool, on_progress: OnProgress
) -> RestoreReport:
    """Restore an archive; as ``Library.restore``."""
    return restore.restore(
        path,
        target,
        databases(),
        replaces=replaces,
        dry_run=dry_run,
        on_progress=on_progress,
    )


def findings_without_database(folder: Path) -> tuple[Finding, ...]:
    """Return what is found where a workspace has no database; as of ``wiring``."""
    return wiring.findings_without_database(folder)


def rebuild(folder: Path) -> tuple[str, Mapping[str, int]]:
    """Write the database of a workspace anew; as ``wiring.rebuild_database``."""
    return rebuild_database(folder)


# --- another library of the same workspace --------------------------------------------------------


@contextmanager
def exchanging(folder: Path) -> Iterator[None]:
    """Let no other process build or exchange libraries of a workspace; finish what one left.

    Raises:
        RefusedError: another one does.
    """
    with lock_folder(folder / "background", "rebuild", 0.0) as is_ours:
        if not is_ours:
            raise RefusedError(
                f"Another process is rebuilding the library in {folder}.",
                hint="See how far it is: chapterhouse jobs list",
            )
        for name in (second.REBUILD, second.PREVIOUS):
            if second.settle(folder, name):
                _strip_previous(folder)
        yield


def build_second(runtime: Runtime, on_progress: OnProgress) -> RebuildReport:
    """Build the second library; return what that came to, all 0 where there was nothing to do.

    Raises:
        KeyboardInterrupt: somebody cancelled the job; what was built stays.
    """
    planned = rebuilding.plan(runtime)
    if not planned.documents:
        second.drop(runtime.folder, second.REBUILD)
        return planned
    if long_work.rebuild_here(runtime, on_progress) is not JobState.DONE:
        raise KeyboardInterrupt
    with rebuilding.opened(runtime, second.REBUILD) as other:
        chunks = rebuilding.plan(other).chunks_before
    return replace(planned, chunks=chunks)


def opened_second(runtime: Runtime) -> AbstractContextManager[Runtime]:
    """Open the library that was built."""
    return rebuilding.opened(runtime, second.REBUILD)


def finish_second(runtime: Runtime, *, back: bool = False) -> int:
    """Bring over the last changes; return the last one of the other library.

    Raises:
        NotFoundError: there is none from before.
    """
    if back:
        second.require_previous(runtime.folder)
    name = second.PREVIOUS if back else second.REBUILD
    return rebuilding.finish(runtime, name, cuts=not back)


def switch_to(folder: Path, after: int, *, back: bool = False) -> None:
    """Exchange the library that serves, which is closed, with the other one.

    Raises:
        RefusedError: a process has it open.
    """
    if databases().is_in_use(folder / archive.DATABASE):
        raise RefusedError(  # it would go on with a library that is not in its place any more
            f"Another process has the library in {folder} open. What was built stays.",
            hint="End it: a chat, a server, or vectors that are made in the background. Then run "
            "the same again.",
        )
    second.switch(folder, second.PREVIOUS if back else second.REBUILD, after)
    _strip_previous(folder)


def _strip_previous(folder: Path) -> None:
    """Leave in the library from before what only it has: nobody who forgets looks into it."""
    with databases().open(second.own_folder(folder / second.PREVIOUS)) as (store, _):
        store.drop_rest()


def drop_others(folder: Path, *, dry_run: bool) -> tuple[str, ...]:
    """Delete the other libraries of a workspace; return the names of their folders."""
    return second.others(folder) if dry_run else second.drop_others(folder)
