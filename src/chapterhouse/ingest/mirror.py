"""Bring the library to the state of its sources: what is gone there leaves it, too."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from chapterhouse.connectors.content import open_all
from chapterhouse.connectors.folder import REMOTE, above, is_visible
from chapterhouse.connectors.volumes import Volumes
from chapterhouse.ingest.absence import (
    Away,
    found_deleted,
    remove_gone,
    sort_missing,
    staying_of,
    unconfirmed,
)
from chapterhouse.ingest.ingest import apply_plan, label_roots
from chapterhouse.ingest.look import Work
from chapterhouse.ingest.plan import Plan, make_plan, plan_known
from chapterhouse.ingest.preview import preview_plan, unopened
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
    SyncReport,
)


@dataclass(frozen=True, slots=True)
class Options:
    """How a sync is done.

    Attributes:
        delete: Whether documents leave whose files are gone or excluded.
        confirmed: Whether they may, also where many go at once, or from another disk than before.
        dry_run: Only say what would be done.
        prove: Whether what was removed is searched for, which costs seconds.
    """

    delete: bool = True
    confirmed: bool = False
    dry_run: bool = False
    prove: bool = True


def mirror_folders(sources: Sequence[Source], work: Work, options: Options) -> SyncReport:
    """Make the documents of folders what the folders are, in one pass.

    A file that moved from one folder to another is found again by its bytes. Documents stay whose
    disk is away, and where much would go at once, as when a folder was emptied by mistake.

    Args:
        sources: Folders of one shelf, which is that of ``work``.
        work: What reading needs.
        options: How it is done.

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
    if not options.dry_run:
        settle_stamps(report.files, {file.location for file in plan.files}, work)
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
    plan: Plan, contents: Contents, sources: Sequence[Source], work: Work, options: Options
) -> SyncReport:
    """Bring the library to the state of a plan, and let go what is gone or excluded.

    Args:
        plan: What is there and what is known of it.
        contents: Opens files.
        sources: Those that the plan is of.
        work: What reading needs; its shelf is that of the sources.
        options: How it is done.
    """
    if options.dry_run:
        is_remote = any(source.kind is SourceKind.CLOUD for source in sources)
        files = preview_plan(plan, unopened if is_remote else contents, work.maximum_bytes)
    else:
        files = apply_plan(plan, contents, work)
    if files.interrupted or not options.delete:
        return SyncReport(files)
    missing = set(files.missing)
    excluded = _on_shelf(plan.excluded, sources, work)
    folders = [prefix_of(source) for source in sources]
    used = [one for one in folders if any(file.location.startswith(one) for file in plan.files)]
    found = confirm(
        [one for one in plan.missing if one.document_id and one.source in missing],
        [group for group in plan.away if _is_of(group.folder, sources)],
        plan.known.values(),
        folders,
        work.store,
        confirmed=options.confirmed,
        besides=[one for one in plan.excluded if one.location in excluded],
        emptied=set(folders) - set(used),
    )
    removed, moves, removal = _take_off(
        found.gone,
        [one for place, one in excluded.items() if not place.startswith(found.asking)],
        work,
        options,
    )
    if not options.dry_run:
        for record in plan.excluded:
            if not record.location.startswith(found.asking):
                work.store.forget_file(record.location)
    files = replace(files, missing=tuple(sorted(one.source for one in found.waiting)))
    return SyncReport(files, removed, moves, found.staying, removals=removal)


@dataclass(frozen=True, slots=True)
class Missing:
    """What becomes of files that are not there.

    Attributes:
        gone: Those whose documents leave.
        waiting: Those that are gone, but so many of one folder that somebody has to confirm it.
        away: Those that are out of sight with their disk.
        asking: The folders of those that wait.
        staying: What there is to say of all that stays.
    """

    gone: tuple[FileRecord, ...]
    waiting: tuple[FileRecord, ...]
    away: tuple[Away, ...]
    asking: tuple[str, ...]
    staying: tuple[StayingDocuments, ...]


def confirm(
    gone: Iterable[FileRecord],
    away: Iterable[Away],
    known: Iterable[FileRecord],
    folders: Sequence[str],
    store: Store,
    *,
    confirmed: bool,
    besides: Iterable[FileRecord] = (),
    emptied: Collection[str] = (),
) -> Missing:
    """Tell files whose documents leave from those that stay until somebody confirms it.

    Args:
        gone: As ``sort_missing`` tells them from those that are ``away``.
        known: All that there were in ``folders``, which end in ``/``.
        confirmed: Whether also much may leave, or what was on another disk.
        besides: What else would leave a shelf.
        emptied: Those of the folders in which nothing is left.
    """
    gone, away = tuple(gone), tuple(away)
    many: Mapping[str, StayingDocuments] = {}
    if confirmed:
        gone = (*gone, *found_deleted(away, store))
        away = tuple(group for group in away if not group.is_mounted)
    else:
        many = unconfirmed((*gone, *besides), known, folders, emptied)
    asking = tuple(many)
    return Missing(
        tuple(one for one in gone if not one.location.startswith(asking)),
        tuple(one for one in gone if one.location.startswith(asking)),
        away,
        asking,
        (*staying_of(away, store), *many.values()),
    )


def _is_of(folder: str, sources: Iterable[Source]) -> bool:
    return any(f"{folder.rstrip('/')}/".startswith(prefix_of(source)) for source in sources)


def _on_shelf(
    records: Iterable[FileRecord], sources: Sequence[Source], work: Work
) -> Mapping[str, Document]:
    """Return the documents of records that are on the shelf of the sources by these alone."""
    ids = [record.document_id for record in records if record.document_id]
    return {
        one.location: one
        for one in work.store.documents_among(ids, Scope.everything()).values()
        if work.shelf in one.shelves and not _other_source(one.location, sources, work.store)
    }


def loose_files(store: Store, sources: Iterable[Source], owned: Sequence[str]) -> tuple[Path, ...]:
    """Return the files that were added by themselves: below no source and no owner's folder.

    Args:
        store: Where they are recorded.
        sources: All of the library.
        owned: Locations of the folders of personas and councils.
    """
    folders = (one.location for one in sources if one.kind is SourceKind.FOLDER)
    places = store.file_places((*folders, *owned))
    known = frozenset(places)
    # What is in an archive or a message goes with it.
    return tuple(Path(place) for place in places if known.isdisjoint(above(place)))


def mirror_files(files: Sequence[Path], work: Work, options: Options) -> SyncReport:
    """Read single files again that have changed; those that are gone leave the library."""
    store, before = work.store, Volumes.now()
    there = [str(path) for path in files if is_visible(Path(system_path(str(path))))]
    known = {one.location: one for path in files for one in store.files(str(path))}
    missing = [one for place, one in known.items() if not {place, *above(place)} & set(there)]
    parents = sorted({str(path.parent) for path in files})
    gone, away = sort_missing(missing, known, before, Volumes.now(), parents)
    for folder in parents:  # as of a source whose folder is not there, nothing goes unasked
        if not is_visible(Path(system_path(folder)), folder=True):
            lost = tuple(one for one in gone if one.location.startswith(f"{folder}/"))
            gone = tuple(one for one in gone if one not in lost)
            away = (*away, Away(folder, lost, is_mounted=True)) if lost else away
    # What took the place of one of them may be a source's file by now, which found it already.
    plan = plan_known(there, store)
    if options.dry_run:
        report = preview_plan(plan, open_all, work.maximum_bytes)
    else:
        report = apply_plan(plan, open_all, replace(work, shelf=""))
    if report.interrupted or not options.delete:
        return SyncReport(report)
    folders = [f"{folder}/" for folder in parents]
    found = confirm(gone, away, known.values(), folders, store, confirmed=options.confirmed)
    removed, _, removal = _take_off(found.gone, (), work, options)
    return SyncReport(report, removed, (), found.staying, removals=removal)


def prefix_of(source: Source) -> str:
    """Return what the locations of all files of a folder, here or in a drive, begin with."""
    if source.kind is not SourceKind.CLOUD:
        return f"{source.location.rstrip('/')}/"
    return f"{REMOTE}{source.location}" + ("" if source.location.endswith(":") else "/")


def _take_off(
    gone: Sequence[FileRecord], excluded: Sequence[Document], work: Work, options: Options
) -> tuple[tuple[str, ...], tuple[Move, ...], tuple[Removal, ...]]:
    """Remove documents whose files are gone; take excluded ones off the shelf of the sources.

    Returns:
        The sources of what was removed, what stays on other shelves, and the removal.
    """
    removed = {record.document_id: record.source for record in gone if record.document_id}
    moves: list[Move] = []
    for document in excluded:
        others = tuple(name for name in document.shelves if name != work.shelf)
        if not others:
            removed[document.id] = document.source
            continue
        moves.append(Move(document.source, (), (work.shelf,)))
        if not options.dry_run:
            work.store.set_shelves(document.id, others)
    removal: tuple[Removal, ...] = ()
    if not options.dry_run:
        removal = remove_gone(removed, work)
        for record in gone:
            work.store.forget_file(record.location)
    return tuple(sorted(removed.values())), tuple(moves), removal


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


def settle_stamps(report: AddReport, listed: Collection[str], work: Work) -> None:
    """Hash files again that were too young to trust their time, so that the next look need not.

    Args:
        listed: The locations of files, without what is in archives and messages.
    """
    young = [
        record.location
        for record in (outcome.record for outcome in report.outcomes)
        if record.sha256
        and not record.mtime_ns
        and record.status is not Status.FAILED
        and record.location in listed
    ]
    if young and not report.interrupted:
        again = plan_known(young, work.store)
        apply_plan(again, open_all, replace(work, on_progress=lambda _: None))
