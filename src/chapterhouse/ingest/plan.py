"""Which files an ``add`` looks at, what each is called, and what is known of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path

from chapterhouse.connectors.folder import (
    REMOTE,
    SourceFile,
    above,
    describe,
    is_there,
    location_of,
    resolve_root,
    walk,
)
from chapterhouse.ports.store import Store
from chapterhouse.text.naming import source_name, system_path
from chapterhouse.types import Document, FileRecord


@dataclass(frozen=True, slots=True)
class Plan:
    """The files to look at, in order of source.

    Attributes:
        files: Each file once, however many of the paths lead to it.
        known: What became of files at these places the last time, by location.
        missing: Records of files that were here once and are gone.
        new_roots: Label by location of each folder that was not added before.
        hidden: Files and folders that are ignored because their names begin with a dot.
    """

    files: tuple[SourceFile, ...]
    known: Mapping[str, FileRecord]
    missing: tuple[FileRecord, ...]
    new_roots: Mapping[str, str]
    hidden: int = 0


def make_plan(paths: Iterable[Path], store: Store) -> Plan:
    """List the files of ``paths`` and name them; nothing is written.

    A folder below one that was added before belongs to it: whatever is added, a file has one
    source, that of the nearest folder added.

    Raises:
        NotFoundError: one of the paths is not there.
    """
    resolved = [resolve_root(path) for path in paths]
    old_roots = {location: label for label, location in store.roots()}
    roots = dict(old_roots)
    for root, _ in resolved:
        _add_root(root, roots)
    files: dict[str, SourceFile] = {}
    known: dict[str, FileRecord] = {}
    hidden: set[Path] = set()
    for root, parts in resolved:
        for file in walk(root.joinpath(*parts), on_hidden=hidden.add):
            files[file.location] = replace(file, source=_source(file, roots))
        looked_at = location_of(root, parts)
        known.update((record.location, record) for record in store.files(looked_at))
    missing = [record for record in known.values() if _is_gone(record, files)]
    return Plan(
        files=tuple(sorted(files.values(), key=lambda file: (file.source, file.location))),
        known=known,
        missing=tuple(sorted(missing, key=lambda record: (record.source, record.location))),
        new_roots={place: roots[place] for place in roots.keys() - old_roots.keys()},
        hidden=len(hidden),
    )


def find_file(document: Document, store: Store) -> SourceFile | None:
    """Return the file on this machine that a document came from; None if it is not there."""
    if document.location.startswith(REMOTE):
        return None
    roots = {location: label for label, location in store.roots()}
    ancestor = next((place for place in above(document.location) if place in roots), None)
    if ancestor is None:
        return None
    root = system_path(ancestor)
    path = system_path(document.location)
    below = tuple(path[len(root.rstrip("/")) + 1 :].split("/"))
    try:
        file = describe(Path(root), below, roots[ancestor])
    except OSError:
        return None
    return replace(file, location=document.location, source=document.source)


def _add_root(root: Path, roots: dict[str, str]) -> None:
    """Give a folder a label of its own, unless it stands in one that was added before."""
    location = location_of(root, ())
    if location in roots or any(place in roots for place in above(location)):
        return
    wanted = source_name(root.name or "root", ())
    labels = set(roots.values())
    numbered = (f"{wanted}-{number}" for number in count(2))
    roots[location] = next(label for label in chain((wanted,), numbered) if label not in labels)


def _source(file: SourceFile, roots: Mapping[str, str]) -> str:
    """Name a file after the nearest folder above it that was added."""
    for ancestor in above(file.location):
        if ancestor in roots:
            below = file.location[len(ancestor.rstrip("/")) + 1 :]
            return source_name(roots[ancestor], _spelled(file, below.count("/") + 1))
    raise AssertionError(f"no folder above {file.location} was added")


def _spelled(file: SourceFile, depth: int) -> Sequence[str]:
    """Return the last names of a file's path as the system spells them."""
    return (*file.root.parts, *file.parts)[-depth:]


def _is_gone(record: FileRecord, files: Mapping[str, SourceFile]) -> bool:
    if record.location in files or is_there(record.location):
        return False
    # What stands below a folder that cannot be listed may still be there.
    return not any(ancestor in files for ancestor in above(record.location))
