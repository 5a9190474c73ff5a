"""Which files an ``add`` or a ``sync`` looks at, what each is called, and what is known of it."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count
from pathlib import Path

from chapterhouse.connectors.folder import (
    EXCLUDED,
    REMOTE,
    Leaves,
    SourceFile,
    describe,
    is_there,
    is_visible,
    left_out,
    location_of,
    parents_of,
    resolve_root,
    walk,
)
from chapterhouse.connectors.volumes import Volume, Volumes
from chapterhouse.store.sqlite import Store
from chapterhouse.text.naming import printable_name, source_name, system_path
from chapterhouse.types import Document, FileRecord, Ignored, Notice, Source, SourceKind


@dataclass(frozen=True, slots=True)
class Away:
    """Files that are out of sight with their disk.

    Attributes:
        folder: In which all of them are: a mount point, or what was looked into.
        is_mounted: Whether a disk is there, though not the one that they were read from.
    """

    folder: str
    records: tuple[FileRecord, ...]
    is_mounted: bool = False

    def still_known(self, store: Store) -> tuple[FileRecord, ...]:
        """Return the records that are as they were: no file elsewhere has taken them over."""
        return tuple(one for one in self.records if store.file(one.location) == one)


@dataclass(frozen=True, slots=True)
class Plan:
    """The files to look at, in order of source.

    Attributes:
        files: Each file once, however many of the paths lead to it.
        known: What became of files at these places the last time, by location.
        missing: Records of files that were here once and are gone.
        new_roots: Label by location of each folder that was not added before.
        ignored: What is not looked at, for its name or because it is excluded.
        excluded: Records of files that are still there and are not looked at any more.
        away: What is out of sight with its disk, and each source whose folder is not there: it
            may have another name now.
        volumes: Files that are on another volume than before, by volume.
        again: Locations of files that are read again though they have not changed.
    """

    files: tuple[SourceFile, ...]
    known: Mapping[str, FileRecord]
    missing: tuple[FileRecord, ...] = ()
    new_roots: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[Ignored, ...] = ()
    excluded: tuple[FileRecord, ...] = ()
    away: tuple[Away, ...] = ()
    volumes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    again: Collection[str] = frozenset()


def make_plan(
    paths: Iterable[Path],
    store: Store,
    *,
    lost: Iterable[str] = (),
    excluded: Collection[str] | None = None,
) -> Plan:
    """List the files of ``paths`` and name them; nothing is written.

    A folder below one that was added before belongs to it: whatever is added, a file has one
    source, that of the nearest folder added. What its source excludes is left out.

    Args:
        lost: Locations of folders that are not there any more, whose files are missing.
        excluded: Locations of files that are left out, instead of what sources exclude.

    Raises:
        NotFoundError: one of the paths is not there.
    """
    resolved = [resolve_root(path) for path in paths]
    old_roots = {location: label for label, location in store.roots()}
    roots = dict(old_roots)
    for root, _ in resolved:
        _add_root(root, roots)
    sources = {one.location: one for one in store.sources().sources()}
    patterns = sources if excluded is None else {}
    names, volumes = _Names(roots), Volumes.now()
    files: dict[str, SourceFile] = {}
    known: dict[str, FileRecord] = {}
    ignored: dict[str, Ignored] = {}
    for root, parts in resolved:
        place = location_of(root, parts)
        found = _walk(root.joinpath(*parts), patterns.get(place), roots, ignored, volumes)
        if any(one.startswith(f"{place}/") for one in roots):  # which name what is in them
            found = (replace(file, source=names.of(file)) for file in found)
        files |= {file.location: file for file in found}
        known.update((record.location, record) for record in store.files(place))
    for place in lost:
        known.update((record.location, record) for record in store.files(place))
    for place in files.keys() & (excluded or ()):
        del files[place]
        ignored[place] = Ignored(place, EXCLUDED)
    missing, left = _unseen(known, files)
    later = Volumes.now()
    if unsure := volumes.changed_until(later):
        files |= {
            place: replace(file, volume="")
            for place, file in files.items()
            if place.rpartition("/")[0] in unsure
        }
    folders = [*(location_of(root, ()) for root, _ in resolved), *lost]
    gone, away = sort_missing(missing, known, volumes, later, folders)
    absent = (
        Away(location, tuple(store.files(location)))
        for location, source in sources.items()
        if source.kind is SourceKind.FOLDER
        and not is_visible(Path(system_path(location)), folder=True)
    )
    return Plan(
        files=tuple(sorted(files.values(), key=lambda file: (file.source, file.location))),
        known=known,
        missing=gone,
        new_roots={place: roots[place] for place in roots.keys() - old_roots.keys()},
        ignored=tuple(one for _, one in sorted(ignored.items())),
        excluded=left,
        away=(*away, *absent),
        volumes=_changed_volumes(files.values(), known, volumes),
    )


def plan_remote(listed: Iterable[SourceFile], source: Source, store: Store) -> Plan:
    """Return the plan of a folder in a cloud drive as it was listed; nothing is written."""
    leaves_out = left_out(source.include, source.exclude)
    found = tuple(listed)
    left = {one.location for one in found if _is_left_out(one, leaves_out)}
    files = [
        replace(one, problem=_too_large(one, source)) if _is_too_large(one, source) else one
        for one in found
        if one.location not in left
    ]
    known = {record.location: record for record in store.files(f"{REMOTE}{source.location}")}
    there = {one.location for one in files}
    unseen = [
        record for place, record in known.items() if there.isdisjoint((place, *parents_of(place)))
    ]
    return Plan(
        files=tuple(files),
        known=known,
        missing=tuple(record for record in unseen if record.location not in left),
        ignored=tuple(Ignored(place, EXCLUDED) for place in sorted(left)),
        excluded=tuple(record for record in unseen if record.location in left),
    )


def _is_left_out(file: SourceFile, leaves_out: Leaves) -> bool:
    """Whether a file, or a folder that it is in, is left out."""
    folders = ("/".join(file.parts[:depth]) for depth in range(1, len(file.parts)))
    if any(leaves_out(folder, is_folder=True) for folder in folders):
        return True
    return leaves_out("/".join(file.parts), is_folder=False)


def _is_too_large(file: SourceFile, source: Source) -> bool:
    return bool(source.maximum_bytes) and file.size > source.maximum_bytes


def plan_known(locations: Iterable[str], store: Store) -> Plan:
    """List files that were looked at before, as they are now; nothing is written.

    Unlike the paths that a person names, a link in the place of one of them is not followed.
    """
    roots, volumes = {location: label for label, location in store.roots()}, Volumes.now()
    known = {one.location: one for place in locations for one in store.files(place)}
    found = (_find(place, one.source, roots, volumes) for place, one in known.items())
    files = sorted((file for file in found if file), key=lambda file: (file.source, file.location))
    changed = _changed_volumes(files, known, volumes)
    return Plan(tuple(files), known, volumes=changed)


def find_file(document: Document, store: Store) -> SourceFile | None:
    """Return the file on this machine that a document came from; None if it is not there."""
    roots = {location: label for label, location in store.roots()}
    return _find(document.location, document.source, roots)


def _find(
    location: str, source: str, roots: Mapping[str, str], volumes: Volumes | None = None
) -> SourceFile | None:
    if location.startswith(REMOTE):
        return None
    ancestor = next((place for place in parents_of(location) if place in roots), None)
    if ancestor is None:
        return None
    root = system_path(ancestor)
    path = system_path(location)
    below = tuple(path[len(root.rstrip("/")) + 1 :].split("/"))
    try:
        file = describe(Path(root), below, roots[ancestor], volumes)
    except OSError:
        return None
    return replace(file, location=location, source=source)


def name_of_folder(location: str, roots: Mapping[str, str]) -> str:
    """Return what the sources of files in a folder begin with."""
    for ancestor in (location, *parents_of(location)):
        if ancestor in roots:
            below = location[len(ancestor.rstrip("/")) :].strip("/")
            return source_name(roots[ancestor], below.split("/") if below else ())
    return source_name(location.rpartition("/")[2] or "root", ())


def _walk(
    path: Path,
    source: Source | None,
    roots: Mapping[str, str],
    ignored: dict[str, Ignored],
    volumes: Volumes,
) -> Iterator[SourceFile]:
    """Yield the files of a path as its source wants them, and note what is ignored."""
    root, _ = resolve_root(path)
    label = name_of_folder(location_of(root, ()), roots)

    def note(place: str, reason: str) -> None:
        ignored[place] = Ignored(place, reason)

    if source is None or source.kind is not SourceKind.FOLDER:
        yield from walk(path, label, on_ignored=note, volumes=volumes)
        return
    leaves_out = left_out(source.include, source.exclude)
    for file in walk(path, label, on_ignored=note, leaves_out=leaves_out, volumes=volumes):
        large = _is_too_large(file, source)
        yield replace(file, problem=_too_large(file, source)) if large else file


def _too_large(file: SourceFile, source: Source) -> Notice:
    sentence = (
        f"It has {file.size:,} bytes; of the source '{source.name}' at most"
        f" {source.maximum_bytes:,} are read."
    )
    return Notice("too-large", sentence)


def _add_root(root: Path, roots: dict[str, str]) -> None:
    """Give a folder a label of its own, unless it stands in one that was added before."""
    location = location_of(root, ())
    if location in roots or any(place in roots for place in parents_of(location)):
        return
    wanted = source_name(root.name or "root", ())
    labels = set(roots.values())
    numbered = (f"{wanted}-{number}" for number in count(2))
    roots[location] = next(label for label in chain((wanted,), numbered) if label not in labels)


class _Names:
    """Names files after the nearest folder above them that was added."""

    def __init__(self, roots: Mapping[str, str]) -> None:
        self._roots = roots
        self._folders: dict[tuple[Path, tuple[str, ...]], str] = {}  # thousands share one

    def of(self, file: SourceFile) -> str:
        place = file.root, file.parts[:-1]
        if place not in self._folders:
            self._folders[place] = self._folder(file)
        return f"{self._folders[place]}/{printable_name(file.parts[-1])}"

    def _folder(self, file: SourceFile) -> str:
        for ancestor in parents_of(file.location):
            if ancestor in self._roots:
                below = file.location[len(ancestor.rstrip("/")) + 1 :]
                names = _spelled(file, below.count("/") + 1)[:-1]
                return source_name(self._roots[ancestor], names)
        raise AssertionError(f"no folder above {file.location} was added")


def _spelled(file: SourceFile, depth: int) -> Sequence[str]:
    """Return the last names of a file's path as the system spells them."""
    return (*file.root.parts, *file.parts)[-depth:]


def sort_missing(
    missing: Iterable[FileRecord],
    known: Mapping[str, FileRecord],
    before: Volumes,
    after: Volumes,
    folders: Sequence[str],
) -> tuple[tuple[FileRecord, ...], tuple[Away, ...]]:
    """Tell files that are gone from those that are away.

    A file is gone if it is not in its folder while that is on the volume that it was read from.

    Args:
        after: As they were then: a disk that came or went was not there all the time.
    """
    gone: list[FileRecord] = []
    away: dict[tuple[str, bool], list[FileRecord]] = {}
    for record in missing:
        # What is in an archive is where that is.
        outer = [known[place] for place in parents_of(record.location) if place in known]
        file = outer[-1] if outer else record
        folder = file.location.rpartition("/")[0] or "/"
        now = before.mount(folder)
        if now == after.mount(folder) and before.is_same(folder, file.volume):
            gone.append(record)
            continue
        point = Volume.parse(file.volume).point if file.volume else "/"
        around = [one for one in folders if f"{file.location}/".startswith(f"{one.rstrip('/')}/")]
        nearest = max(point, now.point, *around, key=len)
        away.setdefault((nearest, after.mount(point).point == point), []).append(record)
    groups = (
        Away(folder, tuple(records), is_mounted)
        for (folder, is_mounted), records in sorted(away.items())
    )
    return tuple(gone), tuple(groups)


def _changed_volumes(
    files: Iterable[SourceFile], known: Mapping[str, FileRecord], volumes: Volumes
) -> Mapping[str, Sequence[str]]:
    found = defaultdict(list)
    for file in files:
        record = known.get(file.location)
        if record is None or not file.volume or record.volume == file.volume:
            continue
        if not volumes.is_same(file.location.rpartition("/")[0] or "/", record.volume):
            found[file.volume].append(file.location)
    return found


def _unseen(
    known: Mapping[str, FileRecord], files: Mapping[str, SourceFile]
) -> tuple[tuple[FileRecord, ...], tuple[FileRecord, ...]]:
    """Return the records of files that are gone, and of those that are there and left out."""
    unseen = [record for location, record in known.items() if location not in files]
    if not unseen:
        return (), ()
    unseen.sort(key=lambda record: (record.source, record.location))
    folded = {location.casefold(): location for location in files}
    missing: list[FileRecord] = []
    excluded: list[FileRecord] = []
    for record in unseen:
        # What lies in a folder that cannot be listed may still be there; what lies in an archive
        # is there as long as that is. A file in the place of its folder is neither.
        place = next((one for one in parents_of(record.location) if one in files), "")
        if place:
            problem = files[place].problem
            if place not in known and not (problem and problem.code == "cannot-list"):
                missing.append(record)
            continue
        renamed = folded.get(record.location.casefold())
        there = is_there(record.location) and not (renamed and _same_file(record.location, renamed))
        (excluded if there else missing).append(record)
    return tuple(missing), tuple(excluded)


def _same_file(location: str, other: str) -> bool:
    """Whether two spellings lead to one file, where a file system ignores case."""
    try:
        return Path(system_path(location)).samefile(system_path(other))
    except OSError:
        return False
