"""Keep the shelf of a persona or council the image of its folders.

The files decide: what is below the owner's folders is on its shelf, with what the front matter of
other documents shares with it. Shelves that belong to nobody were filled by hand and stay.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from chapterhouse.connectors.folder import SourceFile, above, is_visible, location_of, walk
from chapterhouse.connectors.volumes import Volumes
from chapterhouse.ingest.absence import Away, remove_gone, sort_missing, staying_of
from chapterhouse.ingest.ingest import add
from chapterhouse.ingest.look import Work, has_stamp
from chapterhouse.ingest.mirror import confirm, settle_stamps
from chapterhouse.ingest.preview import preview
from chapterhouse.store.sqlite import Store
from chapterhouse.types import (
    Document,
    FileRecord,
    Move,
    Removal,
    Scope,
    Status,
    StayingDocuments,
    SyncReport,
)

EXCLUDED: Final = "excluded"  # code of a file that a hand has taken out


@dataclass(frozen=True, slots=True)
class Places:
    """Where the documents of a persona or council are, and those of all others of its kind.

    Attributes:
        documents: The folder of its own documents; None where it only points at others.
        all_folders: The folders of all personas, or of all councils, by shelf. One of this
            shelf's that is named only here is not looked into: its documents stay as they are.
    """

    shelf: str
    documents: Path | None
    folders: tuple[Path, ...]
    all_folders: Mapping[str, tuple[Path, ...]]
    excluded: frozenset[Path] = frozenset()

    @property
    def own(self) -> tuple[Path, ...]:
        """All that is looked into, the own documents first."""
        return (self.documents, *self.folders) if self.documents else self.folders


@dataclass(frozen=True, slots=True)
class _Ground:
    """The places as they are now: locations end in ``/`` where they are folders."""

    shelf: str
    there: tuple[Path, ...]  # to be looked into
    own: tuple[str, ...]
    others: Mapping[str, tuple[str, ...]]
    unseen: tuple[str, ...]  # places that are not looked into, and folders that cannot be
    excluded: frozenset[str]
    files: Mapping[str, SourceFile]
    away: frozenset[str] = frozenset()  # files that are not there, and are not taken for gone
    staying: tuple[StayingDocuments, ...] = ()  # what there is to say of them

    def is_below(self, location: str) -> bool:
        """Whether a location stands below the own places."""
        return f"{location}/".startswith(self.own)

    def owners(self, location: str) -> set[str]:
        """Return the shelves of others below whose places a location is."""
        at = f"{location}/"
        return {shelf for shelf, places in self.others.items() if at.startswith(places)}

    def is_gone(self, location: str) -> bool:
        """Whether a file below the own places is gone; not where it may be out of sight."""
        at = f"{location}/"
        around = (self.files[place] for place in above(location) if place in self.files)
        there = location in self.files or any(not file.problem for file in around)
        return not there and not at.startswith(self.unseen) and location not in self.away


def bring_up_to_date(
    places: Places, work: Work, *, dry_run: bool = False, confirmed: bool = False
) -> SyncReport:
    """Make a shelf what its folders are.

    New and changed files are read; documents whose file is gone leave, and so do those that stand
    below its places no longer. A document is removed from the library when it is on no shelf any
    more; one that a hand put on another shelf stays there. Documents whose front matter names
    other personas are on their shelves too.

    Args:
        work: What reading needs; its shelf is that of ``places``.
        dry_run: Only say what would be done; what front matter would change is not known then.
        confirmed: Whether also much may be removed at once, or from another disk than before.

    Raises:
        ChapterhouseError: the store cannot be written; what was told before is safe.
    """
    store = work.store
    ground = _ground(places, store, confirmed=confirmed)
    if dry_run:
        report = preview(ground.there, store=store, maximum_bytes=work.maximum_bytes)
    else:
        _label(places, store)
        _exclude(ground, store)
        work = replace(work, shelf=places.shelf)
        report = add(ground.there, work)
        settle_stamps(report, ground.files.keys(), work)
        ground = _ground(places, store, confirmed=confirmed)
    if report.interrupted:
        return SyncReport(report)
    removed, moves, removal = _settle(ground, work, dry_run=dry_run)
    absent = (
        Away(place, tuple(store.files(place)))
        for place in map(str, places.folders)
        if not is_visible(Path(place))
    )
    staying = (*staying_of(absent, store), *ground.staying)
    return SyncReport(report, removed, moves, staying, removals=removal)


def is_current(places: Places, store: Store) -> bool:
    """Whether `bring_up_to_date` would find nothing to do, by names, sizes and times only."""
    ground = _ground(places, store)
    if ground.staying:  # which is to be said
        return False
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
    return has_stamp(record, file) and file.volume in {"", record.volume}


def _is_left_over(ground: _Ground, record: FileRecord) -> bool:
    """Whether a record is of a file that is gone and gave no document."""
    return not record.document_id and ground.is_gone(record.location)


# --- where things stand ---


def _ground(places: Places, store: Store, *, confirmed: bool = False) -> _Ground:
    own, before = places.own, Volumes.now()
    there = tuple(path for path in own if is_visible(path))
    files = {
        file.location: file
        for path in there
        for file in walk(path, places.shelf if path == places.documents else "", volumes=before)
    }
    # Without its own folder there are no own documents; other folders may be on a disk away.
    unseen = [path for path in places.folders if path not in there]
    unseen += [path for path in places.all_folders.get(places.shelf, ()) if path not in own]
    closed = [
        f"{file.location}/"
        for file in files.values()
        if file.problem and file.problem.code == "cannot-list"
    ]
    ground = _Ground(
        shelf=places.shelf,
        there=there,
        own=_below((*own, *unseen)),
        others={
            shelf: _below(paths)
            for shelf, paths in places.all_folders.items()
            if shelf != places.shelf
        },
        unseen=(*_below(unseen), *closed),
        excluded=frozenset(
            location_of(path.parent.resolve(), (path.name,)) for path in places.excluded
        ),
        files=files,
    )
    return _with_away(ground, before, store, confirmed=confirmed)


def _with_away(ground: _Ground, before: Volumes, store: Store, *, confirmed: bool) -> _Ground:
    """Return the places with the files that are not there and stay: away, or too many at once."""
    known = {record.location: record for record in _records(ground, store)}
    missing = [record for place, record in known.items() if ground.is_gone(place)]
    folders = [place.rstrip("/") or "/" for place in ground.own]
    gone, away = sort_missing(missing, known, before, Volumes.now(), folders)
    found = confirm(gone, away, known.values(), ground.own, store, confirmed=confirmed)
    stay = [record.location for group in found.away for record in group.records]
    stay += [record.location for record in found.waiting]
    return replace(ground, away=frozenset(stay), staying=found.staying)


def _below(paths: Iterable[Path]) -> tuple[str, ...]:
    """Return what the locations of everything below these folders begin with."""
    found = (location_of(path.resolve(), ()) for path in paths)
    return tuple(sorted({f"{location.rstrip('/')}/" for location in found}))


def _label(places: Places, store: Store) -> None:
    """Name the own documents after the shelf, unless their folder has a name already."""
    if places.documents is None or not places.documents.exists():
        return
    location = location_of(places.documents.resolve(), ())
    if not any(f"{location}/".startswith(f"{root.rstrip('/')}/") for _, root in store.roots()):
        store.label_root(location, places.shelf)


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
        ctime_ns=file.ctime_ns,
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

    Those below the own places, those on the shelf, and those of others that name the owner.
    """
    scope = Scope.of((ground.shelf, *ground.others))
    found = {document.id: document for document in store.documents(scope)}
    below = {record.document_id for record in records if record.document_id}
    found |= store.documents_among(below - found.keys(), Scope.everything())
    return [
        document
        for _, document in sorted(found.items())
        if document.id in below
        or ground.shelf in document.shelves
        or ground.shelf in _named(document)
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

    What is below another owner's places is on that one's shelf by its own update, so this
    one leaves that as it is.
    """
    location = document.location
    below = ground.is_below(location)
    gone = below and ground.is_gone(location)
    own = below and not gone and location not in ground.excluded
    owners = set() if gone else ground.owners(location)
    owned = {ground.shelf, *ground.others}
    by_hand = set(document.shelves) - owned
    wanted = by_hand | (owners & set(document.shelves))
    if own:
        wanted.add(ground.shelf)
    if own or owners:
        wanted |= _named(document) & owned
    return tuple(sorted(wanted))


def _settle(
    ground: _Ground, work: Work, *, dry_run: bool
) -> tuple[tuple[str, ...], tuple[Move, ...], tuple[Removal, ...]]:
    """Put documents on the shelves on which they belong; return the removed and the moved."""
    store = work.store
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
    removal = () if dry_run else _remove(ground, removed, work)
    return tuple(sorted(document.source for document in removed)), tuple(moves), removal


def _remove(ground: _Ground, documents: Iterable[Document], work: Work) -> tuple[Removal, ...]:
    """Remove documents; of an excluded file it stays recorded that it is not to be read."""
    store = work.store
    removed = []
    for document in documents:
        file = ground.files.get(document.location)
        if file is not None and document.location in ground.excluded:
            store.record_file(_excluded_record(file, store.file(document.location)))
        else:
            removed.append(document.id)
    removal = remove_gone(removed, work)
    for record in list(_records(ground, store)):
        if _is_left_over(ground, record):
            store.forget_file(record.location)
    return removal


def _move(document: Document, wanted: tuple[str, ...]) -> Move:
    before, after = set(document.shelves), set(wanted)
    return Move(document.source, tuple(sorted(after - before)), tuple(sorted(before - after)))
