"""A library made ready where nobody looks, and then moved into place."""

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from chapterhouse.connectors.folder import location_of
from chapterhouse.errors import ChapterhouseError, CorruptLibraryError, RefusedError
from chapterhouse.files import exchange, make_folder, sync_folder, write_whole
from chapterhouse.ingest.archive import BLOBS, DATABASE, FIRST, FOLDERS, SETTINGS, Archive
from chapterhouse.ports.index import Index
from chapterhouse.ports.store import Store
from chapterhouse.settings import HOME_FILE, WORKSPACE_FILE
from chapterhouse.settings_file import portable_settings
from chapterhouse.text.counting import counted
from chapterhouse.types import Manifest, Progress, Snapshot

_OWN: Final = "workspace"  # the folder of the workspace, while it is made ready


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


def stage(
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


def stage_settings(settings: bytes, home: Path, work: Path) -> None:
    """Write the settings files; whoever made the archive decides nothing for this machine."""
    own, shared = work / _OWN / WORKSPACE_FILE, work / HOME_FILE
    if own.exists():
        write_whole(own, portable_settings(own))
    if settings:
        write_whole(shared, settings)
        here = home / HOME_FILE  # which says nothing
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


def finish(manifest: Manifest, target: Target, work: Path, databases: Databases) -> None:
    """Upgrade the database, check it, and build the indexes.

    Raises:
        RefusedError: it is not a database of ours, or not the one of the manifest.
        CorruptLibraryError: it is damaged.
    """
    own = work / _OWN
    databases.check(own / DATABASE)
    if databases.count(own / DATABASE) != manifest.snapshot:
        raise RefusedError("The database is not the one that the manifest counts.")
    with databases.open(own) as (store, indexes):
        if fault := next(store.examination().faults(thorough=False), ""):
            raise CorruptLibraryError(
                f"The archive holds a damaged library: {fault}",
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
        _build(indexes, store)


def _build(indexes: Mapping[str, Index], store: Store) -> None:
    try:
        for index in indexes.values():
            index.rebuild(store)
    except ChapterhouseError as error:
        raise ChapterhouseError(
            f"The indexes cannot be built: {error.message}",
            hint="Nothing was changed. If the disk is full, make room. Then import again.",
        ) from error


@dataclass(frozen=True, slots=True)
class _Move:
    """What was made ready, its place, and how to know it there."""

    staged: Path
    place: Path
    inode: int


def install(work: Path, target: Target) -> None:
    """Move everything into place; after a failure or an interrupt all is as it was.

    Each move is one step, the workspace last. What a crash between two of them leaves, the same
    import again puts right, for it replaces all of it.
    """
    moves = _moves(work, target)
    try:
        for move in moves:
            _exchange_or_move(move.staged, move.place)
    except BaseException:
        for move in reversed(moves):
            if move.place.exists() and move.place.stat().st_ino == move.inode:
                _exchange_or_move(move.place, move.staged)
        raise


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


def _exchange_or_move(source: Path, place: Path) -> None:
    if place.exists():
        exchange(source, place)
    else:
        source.rename(place)
        sync_folder(place.parent)
