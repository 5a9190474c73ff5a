"""A library as files: written to an archive, and restored from one."""

from collections.abc import Callable
from pathlib import Path

from chapterhouse.agents import curate, curated
from chapterhouse.ingest import export, restore, staging
from chapterhouse.runtime import Runtime
from chapterhouse.settings import HOME_FILE, WORKSPACE_FILE
from chapterhouse.settings_file import portable_settings
from chapterhouse.types import ExportReport, Progress, RestoreReport
from chapterhouse.wiring import databases, definition_folders

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
