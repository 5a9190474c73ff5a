"""Bring the library to the state of its sources: what is gone there leaves it, too."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Final

from chapterhouse.connectors.content import open_all
from chapterhouse.connectors.folder import REMOTE, is_visible, parents_of
from chapterhouse.connectors.volumes import Volumes
from chapterhouse.errors import NotFoundError
from chapterhouse.ingest.ingest import apply_plan, label_roots, preview_plan, unopened
from chapterhouse.ingest.look import ReadingContext
from chapterhouse.ingest.plan import Away, Plan, make_plan, plan_known, sort_missing
from chapterhouse.ingest.remove import remove_documents
from chapterhouse.ingest.renames import Contents
from chapterhouse.store.sqlite import Store
from chapterhouse.text.naming import system_path
from chapterhouse.types import (
    AddReport,
    Document,
    FileRecord,
    Move,
    Removal,
    Scope,
    Source,
    SourceKind,
    Status,
    StayingDocuments,
    StayReason,
    SyncReport,
)

_MOST: Final = 20  # documents of a folder that a pass removes unasked, though over half of it
Shelved = tuple[Document, tuple[str, ...]]  # the shelves on which it belongs, none where it leaves


@dataclass(frozen=True, slots=True)
class Options:
    """How a sync is done.

    Attributes:
        delete: Whether documents leave whose files are gone or excluded.
        confirmed: Whether they may, also where many go at once, or from another disk than before.
        prove: Whether what was removed is searched for, which costs seconds.
    """

    delete: bool = True
    confirmed: bool = False
    dry_run: bool = False
    prove: bool = True


@dataclass(frozen=True, slots=True)
class MissingFiles:
    """What becomes of files that are not there.

    Attributes:
        gone: Those whose documents leave.
        waiting: Those that are gone, but so many of one folder that somebody has to confirm it.
        away: Those that are out of sight with their disk.
        asking: The folders of those that wait.
    """

    gone: tuple[FileRecord, ...]
    waiting: tuple[FileRecord, ...]
    away: tuple[Away, ...]
    asking: tuple[str, ...]
    staying: tuple[StayingDocuments, ...]


# --- folders, files and drives -------------------------------------------------------------------


def mirror_folders(sources: Sequence[Source], work: ReadingContext, options: Options) -> SyncReport:
    """Make the documents of folders what the folders are, in one pass.

    A file that moved from one folder to another is found again by its bytes. Documents stay whose
    disk is away, and where much would go at once, as when a folder was emptied by mistake.

    Args:
        sources: Folders of one shelf, which is that of ``work``.

    Raises:
        ChapterhouseError: the store cannot be written; what was told before is safe.
    """
    there = [
        source for source in sources if is_visible(Path(system_path(source.location)), folder=True)
    ]
    absent = [source.location for source in sources if source not in there]
    paths = tuple(Path(source.location) for source in there)
    plan = (make_plan if options.dry_run else label_roots)(paths, work.store)
    report = mirror(plan, open_all, there, work, options)
    away = [Away(place, tuple(work.store.files(place))) for place in absent]
    if not options.dry_run:
        for group in away:
            if not group.records:
                _drop_synced(group.folder, work.store)
        away = [group for group in away if group.records]
    staying = dict.fromkeys((*staying_of(away, work.store), *report.staying))
    return replace(report, staying=tuple(staying))


def _drop_synced(location: str, store: Store) -> None:
    """Drop the source of a folder that is not there and of which nothing is known.

    Its files have other names now, where the folder was renamed.
    """
    for source in store.sources().sources():
        if source.location == location and source.synced:
            store.sources().drop(source.name)


def mirror(
    plan: Plan,
    contents: Contents,
    sources: Sequence[Source],
    work: ReadingContext,
    options: Options,
) -> SyncReport:
    """Bring the library to the state of a plan of sources, and let go what is gone or excluded.

    Args:
        work: Its shelf is that of the sources.
    """
    if options.dry_run and any(source.kind is SourceKind.CLOUD for source in sources):
        contents = unopened
    files = read_plan(plan, contents, work, options)
    if files.interrupted or not options.delete:
        return SyncReport(files)
    folders = [prefix_of(source) for source in sources]
    used = {one for one in folders if any(file.location.startswith(one) for file in plan.files)}
    excluded = _on_shelf(plan.excluded, sources, work)
    found = find_missing(
        plan,
        files,
        folders,
        work.store,
        confirmed=options.confirmed,
        besides=[one for one in plan.excluded if one.location in excluded],
        emptied=set(folders) - used,
    )
    shelved: list[Shelved] = [(one, ()) for one in _documents_of(found.gone, work.store)]
    dropped = [one for one in plan.excluded if not one.location.startswith(found.asking)]
    shelved += [
        (document, tuple(name for name in document.shelves if name != work.shelf))
        for document in (excluded[one.location] for one in dropped if one.location in excluded)
    ]
    return settle(files, found, shelved, dropped, work, options)


def _documents_of(records: Iterable[FileRecord], store: Store) -> Iterable[Document]:
    ids = [record.document_id for record in records if record.document_id]
    return store.documents_among(ids, Scope.everything()).values()


def _on_shelf(
    records: Iterable[FileRecord], sources: Sequence[Source], work: ReadingContext
) -> Mapping[str, Document]:
    """Return the documents of records that are on the shelf of the sources by these alone."""
    return {
        one.location: one
        for one in _documents_of(records, work.store)
        if work.shelf in one.shelves and not _other_source(one.location, sources, work.store)
    }


def _other_source(location: str, sources: Sequence[Source], store: Store) -> bool:
    """Whether another source of the same shelf reads this file."""
    names = {source.name for source in sources}
    return any(
        one.name not in names
        and one.kind is SourceKind.FOLDER
        and one.shelf == sources[0].shelf
        and location.startswith(f"{one.location.rstrip('/')}/")
        for one in store.sources().sources()
    )


def loose_files(store: Store, sources: Iterable[Source], owned: Sequence[str]) -> tuple[Path, ...]:
    """Return the files that were added by themselves: below no source and no owner's folder.

    Args:
        sources: All of the library.
        owned: Locations of the folders of personas and councils.
    """
    folders = (one.location for one in sources if one.kind is SourceKind.FOLDER)
    places = store.file_places((*folders, *owned))
    known = frozenset(places)
    # What is in an archive or a message goes with it.
    return tuple(Path(place) for place in places if known.isdisjoint(parents_of(place)))


def mirror_files(files: Sequence[Path], work: ReadingContext, options: Options) -> SyncReport:
    """Read single files again that have changed; those that are gone leave the library."""
    store, before = work.store, Volumes.now()
    there = [str(path) for path in files if is_visible(Path(system_path(str(path))))]
    known = {one.location: one for path in files for one in store.files(str(path))}
    missing = [one for place, one in known.items() if not {place, *parents_of(place)} & set(there)]
    parents = sorted({str(path.parent) for path in files})
    gone, away = sort_missing(missing, known, before, Volumes.now(), parents)
    for folder in parents:  # as of a source whose folder is not there, nothing goes unasked
        if not is_visible(Path(system_path(folder)), folder=True):
            lost = tuple(one for one in gone if one.location.startswith(f"{folder}/"))
            gone = tuple(one for one in gone if one not in lost)
            away = (*away, Away(folder, lost, is_mounted=True)) if lost else away
    # What took the place of one of them may be a source's file by now, which found it already.
    plan = replace(plan_known(there, store), known=known, missing=gone, away=away)
    report = read_plan(plan, open_all, replace(work, shelf=""), options)
    if report.interrupted or not options.delete:
        return SyncReport(report)
    folders = [f"{folder}/" for folder in parents]
    found = find_missing(plan, report, folders, store, confirmed=options.confirmed)
    shelved = [(document, ()) for document in _documents_of(found.gone, store)]
    return settle(report, found, shelved, (), work, options)


def prefix_of(source: Source) -> str:
    """Return what the locations of all files of a folder, here or in a drive, begin with."""
    if source.kind is not SourceKind.CLOUD:
        return f"{source.location.rstrip('/')}/"
    return f"{REMOTE}{source.location}" + ("" if source.location.endswith(":") else "/")


# --- the steps of each ---------------------------------------------------------------------------


def read_plan(plan: Plan, contents: Contents, work: ReadingContext, options: Options) -> AddReport:
    """Read what is new or changed, or say what would be read.

    Files that were too young to trust their time are hashed again, so that the next look need not.
    """
    if options.dry_run:
        return preview_plan(plan, contents, work.maximum_bytes)
    report, listed = apply_plan(plan, contents, work), {file.location for file in plan.files}
    young = [
        record.location
        for record in (outcome.record for outcome in report.outcomes)
        if record.sha256
        and not record.mtime_ns
        and record.status is not Status.FAILED
        and record.location in listed  # not in an archive or a message
    ]
    if young and not report.interrupted:
        again = plan_known(young, work.store)
        apply_plan(again, open_all, replace(work, on_progress=lambda _: None))
    return report


def find_missing(
    plan: Plan,
    files: AddReport,
    folders: Sequence[str],
    store: Store,
    *,
    confirmed: bool,
    besides: Iterable[FileRecord] = (),
    emptied: Collection[str] = (),
) -> MissingFiles:
    """Tell files whose documents leave from those that stay until somebody confirms it.

    Args:
        files: What became of the plan: what is missing elsewhere was only renamed.
        folders: What the plan is of; they end in ``/``.
        confirmed: Whether also much may leave, or what was on another disk.
        besides: What else would leave a shelf.
        emptied: Those of the folders in which nothing is left.
    """
    names = set(files.missing)
    gone = tuple(one for one in plan.missing if one.document_id and one.source in names)
    below = tuple(folders)
    away = tuple(group for group in plan.away if f"{group.folder.rstrip('/')}/".startswith(below))
    many: Mapping[str, StayingDocuments] = {}
    if confirmed:
        mounted = (group for group in away if group.is_mounted)
        gone += tuple(record for group in mounted for record in group.still_known(store))
        away = tuple(group for group in away if not group.is_mounted)
    else:
        many = _unconfirmed((*gone, *besides), plan.known.values(), folders, emptied)
    asking = tuple(many)
    return MissingFiles(
        tuple(one for one in gone if not one.location.startswith(asking)),
        tuple(one for one in gone if one.location.startswith(asking)),
        away,
        asking,
        (*staying_of(away, store), *many.values()),
    )


def _unconfirmed(
    leaving: Iterable[FileRecord],
    known: Iterable[FileRecord],
    folders: Sequence[str],
    emptied: Collection[str],
) -> Mapping[str, StayingDocuments]:
    """Return the folders of which one pass would remove so much that somebody has to confirm it.

    That is more than half and more than twenty of the documents of a folder, or of one right
    below; and each of a folder in which no file is left.

    Returns:
        What there is to say, by what the locations in the folder begin with.
    """
    gone = (one.location for one in leaving if one.document_id)
    lost = Counter(chain.from_iterable(_groups(place, folders) for place in gone))
    places = (one.location for one in known if one.document_id)
    total = Counter(chain.from_iterable(_groups(place, folders) for place in places))
    found: dict[str, StayingDocuments] = {}
    for group, number in sorted(lost.items()):  # outer folders come first
        is_much = number > _MOST and number * 2 > total[group]
        if (is_much or group in emptied) and not group.startswith(tuple(found)):
            folder = group.removeprefix(REMOTE).rstrip("/") or "/"
            found[group] = StayingDocuments(folder, number, StayReason.MANY, total[group])
    return found


def _groups(location: str, folders: Sequence[str]) -> frozenset[str]:
    around = [folder for folder in folders if location.startswith(folder)]
    below = ((folder, *location[len(folder) :].partition("/")[:2]) for folder in around)
    return frozenset((*around, *("".join(parts) for parts in below if parts[2])))


def staying_of(away: Iterable[Away], store: Store) -> Iterator[StayingDocuments]:
    """Yield what there is to say of documents that stay because their files are away."""
    for group in away:
        documents = sum(bool(record.document_id) for record in group.still_known(store))
        if documents or not group.records:
            reason = StayReason.OTHER_DISK if group.is_mounted else StayReason.AWAY
            yield StayingDocuments(group.folder, documents, reason)


def settle(
    files: AddReport,
    found: MissingFiles,
    shelved: Iterable[Shelved],
    dropped: Iterable[FileRecord],
    work: ReadingContext,
    options: Options,
) -> SyncReport:
    """Put documents on the shelves on which they belong, and remove those that belong on none.

    Args:
        dropped: Records of files that are not looked at any more; those of documents stay.
    """
    removed: dict[str, str] = {}
    moves: list[Move] = []
    for document, shelves in shelved:
        if not shelves:
            removed[document.id] = document.source
        elif shelves != document.shelves:
            before, after = set(document.shelves), set(shelves)
            joined, left = tuple(sorted(after - before)), tuple(sorted(before - after))
            moves.append(Move(document.source, joined, left))
            if not options.dry_run:
                work.store.set_shelves(document.id, shelves)
    removals: tuple[Removal, ...] = ()
    if not options.dry_run:
        removals = _remove(removed, work.store)
        for record in (*found.gone, *dropped):
            work.store.forget_file(record.location)
    files = replace(files, missing=tuple(sorted(one.source for one in found.waiting)))
    gone = tuple(sorted(removed.values()))
    return SyncReport(files, gone, tuple(moves), found.staying, removals=removals)


def _remove(document_ids: Iterable[str], store: Store) -> tuple[Removal, ...]:
    """Remove documents; those that another process has removed meanwhile are passed over."""
    chosen = tuple(document_ids)
    while still := store.documents_among(chosen, Scope.everything()):
        try:
            return (remove_documents(still, store=store),)
        except NotFoundError:  # one went just now, and nothing was removed
            continue
    return ()
