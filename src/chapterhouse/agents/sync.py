"""Keep the shelf of a persona or council the image of its folders.

The files decide: what is below the owner's folders is on its shelf, with what the front matter of
other documents shares with it. Shelves that belong to nobody were filled by hand and stay.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from chapterhouse.connectors.content import open_all
from chapterhouse.connectors.folder import is_visible, location_of
from chapterhouse.ingest.ingest import label_roots
from chapterhouse.ingest.look import ReadingContext, has_stamp
from chapterhouse.ingest.mirror import (
    MissingFiles,
    Options,
    Shelved,
    find_missing,
    read_plan,
    settle,
    staying_of,
)
from chapterhouse.ingest.plan import Away, Plan, make_plan
from chapterhouse.store.sqlite import Store
from chapterhouse.types import AddReport, Document, Scope, SyncReport


@dataclass(frozen=True, slots=True)
class Places:
    """Where the documents of a persona or council are, and those of all others of its kind.

    Attributes:
        documents: The folder of its own documents; None where it only points at others.
        all_folders: The folders of all personas, or of all councils, by shelf. One of this
            shelf's that is named only here is not looked into: its documents stay as they are.
        excluded: Files that a hand has taken out.
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

    @property
    def left_out(self) -> frozenset[str]:
        """The locations of excluded files."""
        return frozenset(location_of(path.parent.resolve(), (path.name,)) for path in self.excluded)

    def absent(self, store: Store) -> Iterator[Away]:
        """Yield what is known of the folders that are not there, but for the own documents."""
        for folder in self.folders:
            if not is_visible(folder):
                yield Away(str(folder), tuple(store.files(str(folder))))


def mirror_shelf(places: Places, work: ReadingContext, options: Options) -> SyncReport:
    """Make a shelf what its folders are, as a sync makes the shelf of a source.

    A document leaves the shelf when its file is gone, excluded, or below its places no longer; it
    is removed when it is on no shelf any more: one that a hand put on another shelf stays there.
    Documents whose front matter names other personas are on their shelves too; a dry run does not
    know what it would change of that.

    Raises:
        ChapterhouseError: the store cannot be written; what was told before is safe.
    """
    store, work = work.store, replace(work, shelf=places.shelf)
    plan = _plan(places, store, dry_run=options.dry_run)
    files = read_plan(plan, open_all, work, options)
    if files.interrupted:
        return SyncReport(files)
    found = find_missing(plan, files, _below(places.own), store, confirmed=options.confirmed)
    shelved = _shelved(places, plan, found, store)
    report = settle(files, found, shelved, (), work, options)
    return replace(report, staying=(*staying_of(places.absent(store), store), *report.staying))


def is_current(places: Places, store: Store) -> bool:
    """Whether ``mirror_shelf`` would find nothing to do, by names, sizes and times only."""
    plan = _plan(places, store, dry_run=True)
    known = [plan.known.get(file.location) for file in plan.files]
    if plan.volumes or not all(
        record and has_stamp(record, file) for record, file in zip(known, plan.files, strict=True)
    ):
        return False
    files = AddReport((), tuple(one.source for one in plan.missing))
    found = find_missing(plan, files, _below(places.own), store, confirmed=False)
    if found.staying or any(not record.document_id for record in plan.missing):
        return False  # which is to be said, and forgotten
    return all(
        shelves == document.shelves for document, shelves in _shelved(places, plan, found, store)
    )


def _plan(places: Places, store: Store, *, dry_run: bool) -> Plan:
    """List the files below the places; what is excluded counts as missing."""
    there = tuple(path for path in places.own if is_visible(path))
    # Without its own folder there are no own documents; other folders may be on a disk away.
    lost = []
    if places.documents and places.documents not in there:
        lost = [location_of(places.documents.resolve(), ())]
    elif places.documents and not dry_run:
        _label(places.documents, places.shelf, store)
    make = make_plan if dry_run else label_roots
    plan = make(there, store, lost=lost, excluded=places.left_out)
    return replace(plan, missing=(*plan.missing, *plan.excluded), excluded=())


def _label(documents: Path, shelf: str, store: Store) -> None:
    """Name the own documents after the shelf, unless their folder has a name already."""
    location = location_of(documents.resolve(), ())
    if not any(f"{location}/".startswith(f"{root.rstrip('/')}/") for _, root in store.roots()):
        store.label_root(location, shelf)


def _below(paths: Iterable[Path]) -> tuple[str, ...]:
    """Return what the locations of everything below these folders begin with."""
    found = (location_of(path.resolve(), ()) for path in paths)
    return tuple(sorted({f"{location.rstrip('/')}/" for location in found}))


def _shelved(places: Places, plan: Plan, found: MissingFiles, store: Store) -> Iterator[Shelved]:
    """Yield the documents that may have to change shelves, in order of id, and where they belong.

    Those below the own places, those on the shelf, and those of others that name the owner. What is
    below another owner's places is on that one's shelf by its own update, so this one leaves that
    as it is.
    """
    below = {record.document_id for record in plan.known.values() if record.document_id}
    owned = {places.shelf, *places.all_folders}
    documents = {document.id: document for document in store.documents(Scope.of(owned))}
    documents |= store.documents_among(below - documents.keys(), Scope.everything())
    others = {shelf: _below(paths) for shelf, paths in places.all_folders.items()}
    own = (*_below(places.own), *others.pop(places.shelf, ()))
    out = {record.location for record in found.gone}  # gone, or excluded
    for _, document in sorted(documents.items()):
        named, at = _named(document), f"{document.location}/"
        if document.id not in below and places.shelf not in {*document.shelves, *named}:
            continue
        is_gone = document.location in out - places.left_out
        owners = set() if is_gone else {one for one in others if at.startswith(others[one])}
        wanted = set(document.shelves) - (owned - owners)
        is_own = at.startswith(own) and document.location not in out
        if is_own:
            wanted.add(places.shelf)
        if is_own or owners:
            wanted |= named & owned
        yield document, tuple(sorted(wanted))


def _named(document: Document) -> set[str]:
    """Return the personas that a document's front matter names.

    Only Markdown has front matter: what a page of a PDF begins with is its author's text.
    """
    if document.format != "md":
        return set()
    return {name.strip() for name in document.metadata.get("personas", "").split(",")} - {""}
