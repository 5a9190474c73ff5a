"""Keep a persona's shelf the image of its folders.

The files decide: what stands below the persona's places is on its shelf, with what documents of
others say is theirs too. Shelves that are no persona's are a hand's work and are never touched.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from chapterhouse.connectors.content import MAXIMUM_BYTES
from chapterhouse.connectors.folder import SourceFile, above, location_of, walk
from chapterhouse.ingest.ingest import add
from chapterhouse.ingest.look import Prepare, Read
from chapterhouse.ingest.preview import preview
from chapterhouse.ingest.remove import remove
from chapterhouse.ports.store import Store
from chapterhouse.types import AddReport, Document, FileOutcome, FileRecord, Progress, Scope, Status

EXCLUDED: Final = "excluded"  # code of a file that a hand has taken out
_AHEAD: Final = 4


@dataclass(frozen=True, slots=True)
class Places:
    """Where the documents of a persona stand, and those of the others of the house.

    Attributes:
        slug: The persona; the name of its shelf.
        rag: Its curated documents.
        folders: The further folders that it points at.
        personas: The RAG and the folders of every persona of the house, by slug. A place of this
            persona's that is named only here is not looked into: its documents stay as they are.
        excluded: Files that stay off its shelf.
    """

    slug: str
    rag: Path
    folders: tuple[Path, ...]
    personas: Mapping[str, tuple[Path, ...]]
    excluded: frozenset[Path] = frozenset()


@dataclass(frozen=True, slots=True)
class Move:
    """A document that joined shelves or left them, and stays in the library."""

    source: str
    joined: tuple[str, ...]
    left: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What bringing a shelf up to date did.

    Attributes:
        files: What became of the files.
        removed: Sources of documents that left the library.
        moves: Documents that changed shelves.
        absent: Folders of the persona that are not there; their documents stay as they were.
    """

    files: AddReport
    removed: tuple[str, ...] = ()
    moves: tuple[Move, ...] = ()
    absent: tuple[Path, ...] = ()

    @property
    def changed(self) -> int:
        """Count the documents that were written, moved or removed."""
        return self.files.changed + len(self.removed) + len(self.moves)


@dataclass(frozen=True, slots=True)
class _Ground:
    """The places as they are now: locations end in ``/`` where they are folders."""

    slug: str
    there: tuple[Path, ...]  # to be looked into
    own: tuple[str, ...]
    others: Mapping[str, tuple[str, ...]]
    unseen: tuple[str, ...]  # places that are not looked into, and folders that cannot be
    excluded: frozenset[str]
    files: Mapping[str, SourceFile]

    def is_below(self, location: str) -> bool:
        """Whether a location stands below the own places."""
        return f"{location}/".startswith(self.own)

    def owners(self, location: str) -> set[str]:
        """Return the other personas below whose places a location stands."""
        at = f"{location}/"
        return {slug for slug, places in self.others.items() if at.startswith(places)}

    def is_gone(self, location: str) -> bool:
        """Whether a file below the own places is gone; not where it may be out of sight."""
        at = f"{location}/"
        around = (self.files[place] for place in above(location) if place in self.files)
        there = location in self.files or any(not file.problem for file in around)
        return not there and not at.startswith(self.unseen)


def bring_up_to_date(
    places: Places,
    *,
    store: Store,
    read: Read,
    prepare: Prepare,
    workers: int = _AHEAD,
    maximum_bytes: int = MAXIMUM_BYTES,
    on_progress: Callable[[Progress], None] = lambda _: None,
    dry_run: bool = False,
) -> SyncReport:
    """Make a persona's shelf what its folders are.

    New and changed files are read; documents whose file is gone leave, and so do those that stand
    below its places no longer. A document is removed from the library when it is on no shelf any
    more; one that a hand put on another shelf stays there. Documents whose front matter names
    other personas of the house stand on their shelves too.

    Args:
        places: Where to look.
        store: Where documents are.
        read: Starts reading bytes; called with the bytes and the file's name.
        prepare: Makes a document of what was read.
        workers: Files being read at a time, 1 or more.
        maximum_bytes: Larger files are rejected.
        on_progress: Called after each file, when its outcome is safe on disk.
        dry_run: Only say what would be done; what front matter would change is not known then.

    Raises:
        ChapterhouseError: the store cannot be written; what was told before is safe.
    """
    ground = _ground(places)
    if dry_run:
        report = preview(ground.there, store=store, maximum_bytes=maximum_bytes)
    else:
        _label(places, store)
        _exclude(ground, store)
        look = partial(
            add,
            ground.there,
            store=store,
            read=read,
            prepare=prepare,
            shelf=places.slug,
            workers=workers,
            maximum_bytes=maximum_bytes,
        )
        report = look(on_progress=on_progress)
        if not report.interrupted and any(map(_is_young, report.outcomes)):
            look()  # hashed again now, so that the next look need not
        ground = _ground(places)
    if report.interrupted:
        return SyncReport(report)
    removed, moves = _settle(ground, store, dry_run=dry_run)
    absent = tuple(path for path in places.folders if not path.exists())
    return SyncReport(report, removed, moves, absent)


def _is_young(outcome: FileOutcome) -> bool:
    """Whether a file was too young to trust its time."""
    return bool(outcome.record.sha256) and not outcome.record.mtime_ns


def is_current(places: Places, store: Store) -> bool:
    """Whether `bring_up_to_date` would find nothing to do, by names, sizes and times only."""
    ground = _ground(places)
    records = {record.location: record for record in _records(ground, store)}
    wanted = ground.files.keys() - ground.excluded
    if not all(_is_known(ground.files[place], records.get(place)) for place in wanted):
        return False
    if any(_is_left_over(ground, record) for record in records.values()):
        return False
    documents = _documents(ground, store, records.values())
    return all(_shelves(ground, document) == document.shelves for document in documents)


def _is_known(file: SourceFile, record: FileRecord | None) -> bool:
    if record is None or record.code == EXCLUDED:
        return False
    return (record.size, record.mtime_ns) == (file.size, file.mtime_ns)


def _is_left_over(ground: _Ground, record: FileRecord) -> bool:
    """Whether a record is of a file that is gone and gave no document."""
    return not record.document_id and ground.is_gone(record.location)


# --- where things stand ---


def _ground(places: Places) -> _Ground:
    own = (places.rag, *places.folders)
    there = tuple(path for path in own if path.exists())
    files = {
        file.location: file
        for path in there
        for file in walk(path, places.slug if path == places.rag else "")
    }
    # Without its RAG a persona has no curated documents; other folders may be on a disk away.
    unseen = [path for path in places.folders if path not in there]
    unseen += [path for path in places.personas.get(places.slug, ()) if path not in own]
    closed = [
        f"{file.location}/"
        for file in files.values()
        if file.problem and file.problem.code == "cannot-list"
    ]
    return _Ground(
        slug=places.slug,
        there=there,
        own=_below((*own, *unseen)),
        others={
            slug: _below(paths) for slug, paths in places.personas.items() if slug != places.slug
        },
        unseen=(*_below(unseen), *closed),
        excluded=frozenset(
            location_of(path.parent.resolve(), (path.name,)) for path in places.excluded
        ),
        files=files,
    )


def _below(paths: Iterable[Path]) -> tuple[str, ...]:
    """Return what the locations of everything below these folders begin with."""
    found = (location_of(path.resolve(), ()) for path in paths)
    return tuple(sorted({f"{location.rstrip('/')}/" for location in found}))


def _label(places: Places, store: Store) -> None:
    """Name the persona's documents after it, unless they stand in a folder that has a name."""
    if not places.rag.exists():
        return
    location = location_of(places.rag.resolve(), ())
    if not any(f"{location}/".startswith(f"{root.rstrip('/')}/") for _, root in store.roots()):
        store.label_root(location, places.slug)


def _exclude(ground: _Ground, store: Store) -> None:
    """Record excluded files as looked at, so that none is read; forget those no longer excluded."""
    for record in list(_records(ground, store)):
        if record.code == EXCLUDED and record.location not in ground.excluded:
            store.forget_file(record.location)
    for location in sorted(ground.excluded & ground.files.keys()):
        known = store.file(location)
        if known is None or not known.document_id:
            store.record_file(_excluded_record(ground.files[location], known))


def _excluded_record(file: SourceFile, record: FileRecord | None) -> FileRecord:
    return FileRecord(
        location=file.location,
        source=record.source if record else file.source,
        size=file.size,
        mtime_ns=file.mtime_ns,
        sha256="",
        status=Status.SKIPPED,
        code=EXCLUDED,
        sentence="It was taken out by hand and stays out of the index.",
    )


def _records(ground: _Ground, store: Store) -> Iterator[FileRecord]:
    for place in ground.own:
        yield from store.files(place.rstrip("/"))


def _documents(ground: _Ground, store: Store, records: Iterable[FileRecord]) -> list[Document]:
    """Return every document that may have to change shelves, in order of id.

    Those below the own places, those on the shelf, and those of others that name the persona.
    """
    scope = Scope.of((ground.slug, *ground.others))
    found = {document.id: document for document in store.documents(scope)}
    below = {record.document_id for record in records if record.document_id}
    found |= store.documents_among(below - found.keys(), Scope.everything())
    return [
        document
        for _, document in sorted(found.items())
        if document.id in below
        or ground.slug in document.shelves
        or ground.slug in _named(document)
    ]


# --- shelves ---


def _named(document: Document) -> set[str]:
    """Return the personas that a document's front matter names.

    Only Markdown has front matter: what a page of a PDF begins with is its author's text.
    """
    if document.format != "md":
        return set()
    return {name.strip() for name in document.metadata.get("personas", "").split(",")} - {""}


def _shelves(ground: _Ground, document: Document) -> tuple[str, ...]:
    """Return the shelves on which a document belongs; none where it belongs in no library.

    What stands below another persona's places is on that one's shelf by its own update, so this
    one leaves that as it is.
    """
    location = document.location
    below = ground.is_below(location)
    gone = below and ground.is_gone(location)
    own = below and not gone and location not in ground.excluded
    owners = set() if gone else ground.owners(location)
    personas = {ground.slug, *ground.others}
    by_hand = set(document.shelves) - personas
    wanted = by_hand | (owners & set(document.shelves))
    if own:
        wanted.add(ground.slug)
    if own or owners:
        wanted |= _named(document) & personas
    return tuple(sorted(wanted))


def _settle(
    ground: _Ground, store: Store, *, dry_run: bool
) -> tuple[tuple[str, ...], tuple[Move, ...]]:
    """Put documents on the shelves on which they belong; return the removed and the moved."""
    removed: list[Document] = []
    moves: list[Move] = []
    for document in _documents(ground, store, _records(ground, store)):
        wanted = _shelves(ground, document)
        if not wanted:
            removed.append(document)
        elif wanted != document.shelves:
            moves.append(_move(document, wanted))
            if not dry_run:
                store.set_shelves(document.id, wanted)
    if not dry_run:
        _remove(ground, removed, store)
    return tuple(sorted(document.source for document in removed)), tuple(moves)


def _remove(ground: _Ground, documents: Iterable[Document], store: Store) -> None:
    """Remove documents; of an excluded file it stays recorded that it is not to be read."""
    removed = []
    for document in documents:
        file = ground.files.get(document.location)
        if file is not None and document.location in ground.excluded:
            store.record_file(_excluded_record(file, store.file(document.location)))
        else:
            removed.append(document.id)
    if removed:
        remove(removed, store=store)
    for record in list(_records(ground, store)):
        if _is_left_over(ground, record):
            store.forget_file(record.location)


def _move(document: Document, wanted: tuple[str, ...]) -> Move:
    before, after = set(document.shelves), set(wanted)
    return Move(document.source, tuple(sorted(after - before)), tuple(sorted(before - after)))
