"""Restore an archive to a workspace: all of it at once, or nothing."""

import errno
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from chapterhouse.errors import (
    ChapterhouseError,
    CorruptLibraryError,
    NewerLibraryError,
    RefusedError,
)
from chapterhouse.files import make_folder, work_folder
from chapterhouse.ingest.archive import (
    BLOBS,
    DATABASE,
    FIRST,
    QUESTIONS,
    SETTINGS,
    Archive,
    open_archive,
)
from chapterhouse.ingest.staging import (
    Databases,
    Target,
    finish,
    install,
    stage,
    stage_settings,
)
from chapterhouse.settings import HOME_FILE, WORKSPACE_FILE
from chapterhouse.settings_file import portable_settings
from chapterhouse.text.counting import counted
from chapterhouse.types import ArchiveMember, Manifest, Progress, RestoreReport

_NO_SPACE: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_AGAIN: Final = "Nothing was changed. Import again when nothing else runs."


def restore(
    path: Path,
    target: Target,
    databases: Databases,
    *,
    replaces: bool,
    dry_run: bool,
    on_progress: Callable[[Progress], None],
) -> RestoreReport:
    """Restore an archive; until the end nobody sees any of it.

    Args:
        path: The archive.
        target: Where to.
        databases: Opens and checks them.
        replaces: Whether what the workspace holds may go.
        dry_run: Only check the archive, and say what would be done.
        on_progress: Called after each file.

    Raises:
        RefusedError: the archive was cut off or altered, or is none; the workspace holds
            something and ``replaces`` is False; or a process has it open.
        NewerLibraryError: a newer Chapterhouse wrote it.
        CorruptLibraryError: its database is damaged.
        ChapterhouseError: the disk is full.
        OSError: the archive cannot be read, or the home not be written.
    """
    with open_archive(path) as archive:
        manifest = archive.manifest
        _require_schema(manifest, path, databases)
        held = _require_permission(path, target, databases, replaces=replaces)
        settings, ignored = _home_settings(archive, target.home)
        if not dry_run:
            _require_space(manifest, target.home)
            with _new_folders(target), work_folder(target.folder.parent) as work:
                stage(archive, target, work, on_progress)
                stage_settings(settings, target.home, work)
                finish(manifest, target, work, databases)
                if _require_permission(path, target, databases, replaces=replaces) != held:
                    raise RefusedError(f"{target.folder} has changed meanwhile.", hint=_AGAIN)
                install(work, target)
    return RestoreReport(
        home=str(target.home),
        workspace=target.workspace,
        created=manifest.created,
        snapshot=replace(manifest.snapshot, schema=databases.latest),
        files=sum(not _is_of_store(member) for member in manifest.members),
        replaced=held,
        upgraded=manifest.snapshot.schema < databases.latest,
        settings_ignored=ignored,
    )


def _require_permission(
    path: Path, target: Target, databases: Databases, *, replaces: bool
) -> tuple[str, ...]:
    """Return what the workspace holds, once it is clear that it may be replaced.

    Raises:
        RefusedError: it may not; a process has it open; or the archive itself would go.
    """
    held = _holdings(target, databases)
    if held and not replaces:
        raise RefusedError(
            f"The workspace '{target.workspace}' in {target.home} holds {', '.join(held)}.",
            hint="Import into another one with --home or --workspace, or replace it: --replace",
        )
    if (target.folder / DATABASE).exists() and databases.is_in_use(target.folder / DATABASE):
        raise RefusedError(  # it would go on with a library that is not there any more
            f"Another process has the library in {target.folder} open.",
            hint="End it first: a chat, a server, or vectors that are made in the background.",
        )
    places = (target.folder, *target.definitions.values())
    if any(place.resolve() in path.resolve().parents for place in places):
        raise RefusedError(
            f"{path} is in a folder that would be replaced.", hint="Move it somewhere else first."
        )
    return held


def _require_schema(manifest: Manifest, path: Path, databases: Databases) -> None:
    if manifest.snapshot.schema > databases.latest:
        raise NewerLibraryError(
            f"{path} has schema {manifest.snapshot.schema}; this Chapterhouse knows schemas up to "
            f"{databases.latest}.",
            hint=f"Upgrade Chapterhouse: version {manifest.chapterhouse} wrote it.",
        )


def _require_space(manifest: Manifest, home: Path) -> None:
    there = next(place for place in (home, *home.parents) if place.is_dir())
    sizes = {member.name: member.size for member in manifest.members}
    needed = sum(sizes.values()) + sizes[DATABASE]  # the indexes are smaller than the database
    free = shutil.disk_usage(there).free
    if needed > free:
        raise _no_space(home, f" It takes about {needed:,} bytes, and {free:,} are free.")


def _no_space(home: Path, detail: str = "") -> ChapterhouseError:
    return ChapterhouseError(
        f"There is no space left in {home}.{detail} Nothing was changed.",
        hint="Free some disk space, or name a home on another disk.",
    )


# --- what is there ---


def _holdings(target: Target, databases: Databases) -> tuple[str, ...]:
    """Return what a workspace holds that would be lost, each with its count."""
    found = list(_stored(target.folder, databases))
    for kind, folder in target.definitions.items():
        entries = folder.iterdir() if folder.is_dir() else ()
        number = sum(not entry.name.startswith(".") for entry in entries)
        if number:
            found.append(counted(number, kind.removesuffix("s"), kind))
    named = {WORKSPACE_FILE: "settings", QUESTIONS: "questions to evaluate"}
    return (*found, *(what for name, what in named.items() if (target.folder / name).exists()))


def _stored(folder: Path, databases: Databases) -> Iterator[str]:
    if not (folder / DATABASE).exists():
        return
    try:
        snapshot = databases.count(folder / DATABASE)
    except (CorruptLibraryError, NewerLibraryError):
        yield "a library that cannot be opened"
        return
    if snapshot.documents:
        yield counted(snapshot.documents, "document")
    if snapshot.memories:
        yield counted(snapshot.memories, "memory", "memories")


def _is_of_store(member: ArchiveMember) -> bool:
    return member.name in {FIRST, DATABASE} or member.name.startswith(BLOBS)


def _home_settings(archive: Archive, home: Path) -> tuple[bytes, bool]:
    """Return the settings that the home takes, or nothing, and whether it ignores some.

    A home that has settings keeps them: its other workspaces depend on them, too.
    """
    named = SETTINGS["home"]
    member = next((one for one in archive.manifest.members if one.name == named), None)
    stored = archive.read(member) if member else b""
    own = portable_settings(home / HOME_FILE).encode()
    return (b"", bool(stored) and own != stored) if own else (stored, False)


@contextmanager
def _new_folders(target: Target) -> Iterator[None]:
    """Make the folder of all workspaces; after a failure what was made for it goes again."""
    parent = target.folder.parent
    made = [one for one in (parent, *parent.parents) if not one.is_dir()]
    try:
        make_folder(parent)
        yield
    except BaseException as error:
        for folder in made:
            with suppress(OSError):
                folder.rmdir()
        if isinstance(error, OSError) and error.errno in _NO_SPACE:
            raise _no_space(target.home) from error
        raise
