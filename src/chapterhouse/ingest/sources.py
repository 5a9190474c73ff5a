"""Which sources a library has: remembered when a folder is added, named, found again."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING

from chapterhouse import lazy
from chapterhouse.connectors.folder import location_of
from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.store.sqlite import Store
from chapterhouse.text.naming import system_path
from chapterhouse.types import DEFAULT_SHELF, FileRecord, Source, SourceKind

if TYPE_CHECKING:
    from chapterhouse.ingest import plan
else:
    plan = lazy("chapterhouse.ingest.plan")

_WITH_SHELF = (SourceKind.FOLDER, SourceKind.LINKS, SourceKind.CLOUD)  # which people chose
LOOSE = "(files)"  # the name of all that was added file by file


def remember_folders(paths: Iterable[Path], shelf: str, store: Store, now: int) -> None:
    """Remember folders that are added as sources, unless a source of the shelf covers them.

    Args:
        now: When all of them was read, in seconds; 0: not yet.
    """
    for path in paths:
        place = path.expanduser().resolve()
        if not place.is_dir():
            continue
        location = location_of(place, ())
        known = source_over(location, shelf, store.sources().sources())
        if known is None:
            name = free_name(plan.name_of_folder(location, _roots(store)), store)
            known = Source(name, SourceKind.FOLDER, location, shelf)
        if known.location == location and now:
            mark_synced(known, (place,), store, now)
        elif known.location == location and not known.synced:
            store.sources().save(known)


def source_over(location: str, shelf: str, sources: Iterable[Source]) -> Source | None:
    """Return the source of a shelf that a folder belongs to: itself, else one above it."""
    covering = [
        one
        for one in sources
        if one.kind is SourceKind.FOLDER
        and one.shelf == shelf
        and f"{location}/".startswith(f"{one.location.rstrip('/')}/")
    ]
    return max(covering, key=lambda one: len(one.location), default=None)


def shelf_of(location: str, sources: Iterable[Source]) -> str:
    """Return the shelf of the source that a location belongs to; empty where there is no source.

    Raises:
        UsageError: sources on several shelves have it, and none of them is the default shelf.
    """
    over = [one for one in sources if one.kind in _WITH_SHELF and _covers(one, location)]
    nearest = max((len(one.location) for one in over), default=0)
    shelves = sorted({one.shelf for one in over if len(one.location) == nearest})
    if DEFAULT_SHELF in shelves or not shelves:
        return DEFAULT_SHELF if shelves else ""
    if len(shelves) > 1:
        raise UsageError(
            f"{location} is followed on several shelves.", hint=f"Name one: {', '.join(shelves)}"
        )
    return shelves[0]


def _covers(source: Source, location: str) -> bool:
    """Whether a source is at a location, or is a folder above it."""
    below = f"{source.location.rstrip('/')}/"
    return source.location == location or (
        source.kind is SourceKind.FOLDER and location.startswith(below)
    )


def mark_synced(
    source: Source, folders: Sequence[Path], store: Store, now: int, problem: str = ""
) -> None:
    """Record that a source was brought up to date just now, or why that failed.

    What else was changed of it meanwhile stays.
    """
    source = next((one for one in store.sources().sources() if one.name == source.name), source)
    if problem:
        marked = replace(source, problem=problem)
    else:
        state = look_from_outside(folders)
        marked = replace(source, synced=now, state=state, problem="")
    store.sources().save(marked)


def look_from_outside(folders: Iterable[Path]) -> str:
    """Return a digest of which folders there are and when an entry of each last came or went.

    It costs one look at each folder and reads none: what is deeper, or rewritten in place, does
    not show.
    """
    parts = []
    for folder in folders:
        try:
            changed = folder.stat().st_mtime_ns
        except OSError:
            changed = -1
        parts.append(f"{folder}\0{changed}")
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def stale_folders(sources: Iterable[Source], shelves: Collection[str] | None) -> Iterator[Source]:
    """Return the folders on some shelves, all when None, that have changed since they were synced.

    It is a look at each folder, not into it.
    """
    folders = (one for one in sources if one.kind is SourceKind.FOLDER and one.synced)
    wanted = (one for one in folders if shelves is None or one.shelf in shelves)
    return (one for one in wanted if one.state != look_from_outside([Path(one.location)]))


def is_rewritten(record: FileRecord) -> bool:
    """Whether a file on disk has another size or time than when it was read."""
    try:
        now = Path(system_path(record.location)).stat()
    except (OSError, ValueError):  # it is no file of a disk, is gone, or its disk is away
        return False
    return (now.st_size, now.st_mtime_ns) != (record.size, record.mtime_ns)


def find_source(name: str, sources: Sequence[Source]) -> Source:
    """Return the source that a name, a path or the beginning of a name means.

    Raises:
        NotFoundError: none is called so.
        UsageError: several are, or the name is empty.
    """
    wanted = name.strip()
    if not wanted:
        raise UsageError("The name of a source is empty.", hint="Is a variable not set?")
    path = str(Path(wanted).expanduser().absolute())
    exact = [one for one in sources if one.name == wanted or one.location in {wanted, path}]
    ends = [one for one in sources if one.name.partition("/")[2] == wanted]
    fitting = exact or ends or [one for one in sources if one.name.startswith(wanted)]
    if len(fitting) == 1:
        return fitting[0]
    names = ", ".join(one.name for one in fitting or sources)
    if fitting:
        raise UsageError(f"'{name}' fits {len(fitting)} sources.", hint=f"Name one: {names}")
    hint = f"There are: {names}" if names else "Add one: chapterhouse source add FOLDER"
    raise NotFoundError(f"There is no source '{name}'.", hint=hint)


def free_name(wanted: str, store: Store) -> str:
    """Return a name that no source has: as wanted, or with a number."""
    taken = {one.name for one in store.sources().sources()} | {LOOSE}
    numbered = (f"{wanted}-{number}" for number in count(2))
    return next(name for name in chain((wanted,), numbered) if name not in taken)


def _roots(store: Store) -> dict[str, str]:
    return {location: label for label, location in store.roots()}
