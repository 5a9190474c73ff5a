"""Restore an archive to a workspace: all of it at once, or nothing."""

import errno
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from chapterhouse.connectors.folder import location_of
from chapterhouse.errors import (
    ChapterhouseError,
    CorruptLibraryError,
    NewerLibraryError,
    RefusedError,
)
from chapterhouse.files import exchange, make_folder, sync_folder, work_folder, write_whole
from chapterhouse.ingest.archive import (
    BLOBS,
    DATABASE,
    FIRST,
    FOLDERS,
    QUESTIONS,
    SETTINGS,
    Archive,
    open_archive,
)
from chapterhouse.ports.index import Index
from chapterhouse.ports.store import Store
from chapterhouse.settings import HOME_FILE, WORKSPACE_FILE
from chapterhouse.settings_file import portable_settings
from chapterhouse.text.counting import counted
from chapterhouse.types import ArchiveMember, Manifest, Progress, RestoreReport, Snapshot

_OWN: Final = "workspace"  # the staged workspace's folder
_NO_ROOM: Final = {errno.ENOSPC, errno.EDQUOT}
_LEAST: Final = {"database", "references"}  # checks that a restored store must pass


@dataclass(frozen=True, slots=True)
class Target:
    """Where an archive is restored.

    Attributes:
        home: The home folder; it need not be there.
        workspace: The name of the workspace.
        folder: Its folder.
        definitions: Where the folders of personas and councils are.
    """

    home: Path
    workspace: str
    folder: Path
    definitions: Mapping[str, Path]


@dataclass(frozen=True, slots=True)
class Databases:
    """What is done to the database of a workspace that is not open.

    Attributes:
        latest: The newest schema that this program knows.
        check: Refuses a database that is not one of ours.
        count: Counts what one holds, and writes nothing.
        is_in_use: Says whether a process has it open.
        open: Opens the store of a workspace's folder, upgraded, and its indexes.
    """

    latest: int
    check: Callable[[Path], None]
    count: Callable[[Path], Snapshot]
    is_in_use: Callable[[Path], bool]
    open: Callable[[Path], AbstractContextManager[tuple[Store, Mapping[str, Index]]]]


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
        _require_schema(archive.manifest, path, databases)
        held = _holdings(target, databases)
        if held and not replaces:
            raise RefusedError(
                f"The workspace '{target.workspace}' in {target.home} holds {', '.join(held)}.",
                hint="Import into another one with --home or --workspace, or replace it: --replace",
            )
        settings, ignored = _home_settings(archive, target.home)
        report = RestoreReport(
            home=str(target.home),
            workspace=target.workspace,
            created=archive.manifest.created,
            snapshot=replace(archive.manifest.snapshot, schema=databases.latest),
            files=sum(not _is_of_store(member) for member in archive.manifest.members),
            replaced=held,
            upgraded=archive.manifest.snapshot.schema < databases.latest,
            settings_ignored=ignored,
        )
        if not dry_run:
            _require_free(target, databases)
            _require_room(archive.manifest, target.home)
            with _new_folders(target), work_folder(target.folder.parent) as work:
                _stage(archive, target, work, on_progress)
                _stage_settings(settings, target.home, work)
                _finish(work / _OWN, archive.manifest, target, databases)
                _install(_moves(work, target))
    return report


def _require_free(target: Target, databases: Databases) -> None:
    """Refuse where a process would go on with a library that is not there any more."""
    if (target.folder / DATABASE).exists() and databases.is_in_use(target.folder / DATABASE):
        raise RefusedError(
            f"Another process has the library in {target.folder} open.",
            hint="End it first: a chat, a server, or vectors that are made in the background.",
        )


def _require_schema(manifest: Manifest, path: Path, databases: Databases) -> None:
    if manifest.snapshot.schema > databases.latest:
        raise NewerLibraryError(
            f"{path} has schema {manifest.snapshot.schema}; this Chapterhouse knows schemas up to "
            f"{databases.latest}.",
            hint=f"Upgrade Chapterhouse: version {manifest.chapterhouse} wrote it.",
        )


def _require_room(manifest: Manifest, home: Path) -> None:
    there = next(place for place in (home, *home.parents) if place.is_dir())
    needed, free = sum(member.size for member in manifest.members), shutil.disk_usage(there).free
    if needed > free:
        raise _no_room(home, f" It takes {needed:,} bytes, and {free:,} are free.")


def _no_room(home: Path, detail: str = "") -> ChapterhouseError:
    return ChapterhouseError(
        f"There is no space left in {home}.{detail} Nothing was changed.",
        hint="Free some disk space, or name a home on another disk.",
    )


# --- what is there ---


def _holdings(target: Target, databases: Databases) -> tuple[str, ...]:
    """Return what a workspace holds that would be lost, each with its count."""
    found = list(_stored(target.folder, databases))
    for kind, folder in target.definitions.items():
        number = sum(path.is_dir() for path in folder.iterdir()) if folder.is_dir() else 0
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


# --- made ready where nobody looks, then moved into place ---


def _stage(
    archive: Archive, target: Target, work: Path, on_progress: Callable[[Progress], None]
) -> None:
    """Write every member below ``work``."""
    members = archive.manifest.members
    folders = {kind: work / _staged(kind, target) for kind in FOLDERS}
    for folder in (work / _OWN, *folders.values()):
        make_folder(folder)
    for number, member in enumerate(members, start=1):
        place = _place(member.name, work / _OWN, folders)
        if place is not None:
            make_folder(place.parent)
            archive.extract(member, place)
        on_progress(Progress(number, len(members), member.name))
    for name, *_ in os.walk(work):
        sync_folder(Path(name))


def _stage_settings(settings: bytes, home: Path, work: Path) -> None:
    """Write the settings files; whoever made the archive decides nothing for this machine."""
    own, shared = work / _OWN / WORKSPACE_FILE, work / HOME_FILE
    if own.exists():
        write_whole(own, portable_settings(own))
    if settings:
        write_whole(shared, settings)
        here = home / HOME_FILE  # says nothing, or only what may run here
        before = here.read_text("utf-8") if here.exists() else ""
        write_whole(shared, f"{before.rstrip()}\n{portable_settings(shared)}".lstrip())


def _staged(kind: str, target: Target) -> str:
    """Return where personas or councils are made ready: within the workspace if they are its."""
    inside = target.definitions[kind].parent == target.folder
    return f"{_OWN}/{kind}" if inside else kind


def _place(name: str, own: Path, folders: Mapping[str, Path]) -> Path | None:
    """Return where a member goes; None where it is read and not written."""
    first, _, rest = name.partition("/")
    if name in {FIRST, SETTINGS["home"]}:
        return None
    if name == SETTINGS["workspace"]:
        return own / WORKSPACE_FILE
    if name.startswith(BLOBS):
        return own / BLOBS / rest[:2] / rest
    return folders[first] / rest if first in folders else own / name


def _finish(own: Path, manifest: Manifest, target: Target, databases: Databases) -> None:
    """Upgrade the database, check it, and build the indexes."""
    database = own / DATABASE
    databases.check(database)
    if databases.count(database) != manifest.snapshot:
        raise RefusedError("The database is not the one that the manifest counts.")
    with databases.open(own) as (store, indexes):
        faults = [check for check in store.examine() if not check.passed and check.name in _LEAST]
        if faults:
            raise CorruptLibraryError(
                f"The archive holds a damaged library: {faults[0].sentence}",
                hint="Use an earlier archive. Nothing was changed.",
            )
        lost = [one for one in store.blob_hashes() if not (own / BLOBS / one[:2] / one).exists()]
        if lost:
            raise RefusedError(f"The archive lacks the bytes of {counted(len(lost), 'file')}.")
        for kind, before in manifest.folders.items():
            after = location_of(target.definitions[kind].resolve(), ())
            if before != after:
                store.relocate(before, after)
        store.collect_garbage(0.0)
        for index in indexes.values():
            index.rebuild(store)


@dataclass(frozen=True, slots=True)
class _Move:
    """What was made ready, its place, and how to know it there."""

    staged: Path
    place: Path
    inode: int


def _moves(work: Path, target: Target) -> tuple[_Move, ...]:
    """Return what goes where, the workspace last: it is what makes a library of the rest."""
    pairs = [
        (work / kind, place)
        for kind, place in target.definitions.items()
        if _staged(kind, target) == kind and (place.exists() or any((work / kind).iterdir()))
    ]
    if (work / HOME_FILE).exists():
        pairs.append((work / HOME_FILE, target.home / HOME_FILE))
    pairs.append((work / _OWN, target.folder))
    return tuple(_Move(staged, place, staged.stat().st_ino) for staged, place in pairs)


def _install(moves: Sequence[_Move]) -> None:
    """Move everything into place; after a failure or an interrupt all is as it was.

    Each move is one step. What a crash between two of them leaves, the same import again puts
    right, for it replaces all of it.
    """
    try:
        for move in moves:
            _exchange_or_move(move.staged, move.place)
    except BaseException:
        for move in reversed(moves):
            if move.place.exists() and move.place.stat().st_ino == move.inode:
                _exchange_or_move(move.place, move.staged)
        raise


def _exchange_or_move(source: Path, place: Path) -> None:
    if place.exists():
        exchange(source, place)
    else:
        source.rename(place)
        sync_folder(place.parent)


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
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            raise _no_room(target.home) from error
        raise
