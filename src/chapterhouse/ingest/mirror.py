"""Bring the library to the state of its sources: what is gone there leaves it, too."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from chapterhouse.connectors.content import open_all
from chapterhouse.connectors.folder import REMOTE, above
from chapterhouse.ingest.ingest import apply_plan, label_roots
from chapterhouse.ingest.look import Work
from chapterhouse.ingest.plan import Plan, make_plan, plan_known
from chapterhouse.ingest.preview import preview_plan, unopened
from chapterhouse.ingest.remove import remove_documents
from chapterhouse.ingest.renames import Contents
from chapterhouse.ports.store import Store
from chapterhouse.text.counting import counted
from chapterhouse.types import (
    AddReport,
    FileOutcome,
    FileRecord,
    Move,
    Removal,
    Scope,
    Source,
    SourceKind,
    Status,
    SyncReport,
)


@dataclass(frozen=True, slots=True)
class Options:
    """How a sync is done.

    Attributes:
        delete: Whether documents leave whose files are gone or excluded.
        empty: Whether they may, also where a source has no file left at all.
        dry_run: Only say what would be done.
        prove: Whether what was removed is searched for, which costs seconds.
    """

    delete: bool = True
    empty: bool = False
    dry_run: bool = False
    prove: bool = True


def mirror_folders(sources: Sequence[Source], work: Work, options: Options) -> SyncReport:
    """Make the documents of folders what the folders are, in one pass.

    A file that moved from one folder to another is found again by its bytes. A folder that is not
    there keeps its documents; so does one without a single file, for a disk that is away leaves an
    empty folder behind.

    Args:
        sources: Folders of one shelf, which is that of ``work``.
        work: What reading needs.
        options: How it is done.

    Raises:
        ChapterhouseError: the store cannot be written; what was told before is safe.
    """
    there = [source for source in sources if Path(source.location).is_dir()]
    absent = tuple(Path(source.location) for source in sources if source not in there)
    paths = tuple(Path(source.location) for source in there)
    plan = (make_plan if options.dry_run else label_roots)(paths, work.store)
    report = mirror(plan, open_all, there, work, options)
    absent = tuple(path for path in absent if _has_files(path, work.store, options))
    if not options.dry_run and not report.files.interrupted:
        _settle_stamps(report.files, plan, work)
    return replace(report, absent=absent)


def _has_files(path: Path, store: Store, options: Options) -> bool:
    """Whether files of a folder that is not there are known; a source without any is dropped.

    Its files have other names now, where the folder was renamed.
    """
    location = str(path)
    if options.dry_run or next(iter(store.files(location)), None) is not None:
        return True
    for source in store.sources().sources():
        if source.location == location and source.synced:
            store.sources().drop(source.name)
    return False


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
    gone = [one for one in plan.missing if one.document_id and one.source in missing]
    excluded = [one for one in plan.excluded if not options.dry_run or one.document_id]
    emptied = [] if options.empty else [one for one in sources if _is_emptied(one, plan)]
    leaving = [one for one in gone if not _is_below(one, emptied)]
    left = [one for one in excluded if not _is_below(one, emptied)]
    removed, moves, removal = _take_off(leaving, left, sources, work, options)
    still = [one for one in gone if _is_below(one, emptied)]
    left_in = [one for one in excluded if one.document_id and _is_below(one, emptied)]
    files = replace(files, missing=tuple(sorted(one.source for one in still)))
    refused = _refusal(emptied) if still or left_in else ""
    return SyncReport(files, removed, moves, refused=refused, removals=removal)


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
    store = work.store
    there = [str(path) for path in files if path.exists()]
    # Of a folder that is away, on a disk perhaps, nothing is gone.
    names = {str(path) for path in files if str(path) not in there and path.parent.is_dir()}
    gone = [record for name in sorted(names) for record in store.files(name)]
    # What took the place of one of them may be a source's file by now, which found it already.
    plan = plan_known(there, store)
    if options.dry_run:
        report = preview_plan(plan, open_all, work.maximum_bytes)
    else:
        report = apply_plan(plan, open_all, replace(work, shelf=""))
    if report.interrupted or not options.delete:
        return SyncReport(report)
    documents = [record for record in gone if record.document_id]
    removal: tuple[Removal, ...] = ()
    if not options.dry_run:
        removal = _remove((record.document_id for record in documents), work)
        for record in gone:
            store.forget_file(record.location)
    removed = tuple(sorted(record.source for record in documents))
    return SyncReport(report, removed, removals=removal)


def _remove(document_ids: Iterable[str], work: Work) -> tuple[Removal, ...]:
    chosen = tuple(document_ids)
    if not chosen:
        return ()
    return (remove_documents(chosen, store=work.store),)


def _is_emptied(source: Source, plan: Plan) -> bool:
    """Whether a source had documents and has no file at all any more."""
    below = prefix_of(source)
    if any(file.location.startswith(below) for file in plan.files):
        return False
    unseen = (*plan.missing, *plan.excluded)
    return any(one.document_id and one.location.startswith(below) for one in unseen)


def _is_below(record: FileRecord, sources: Iterable[Source]) -> bool:
    return record.location.startswith(tuple(map(prefix_of, sources)))


def prefix_of(source: Source) -> str:
    """Return what the locations of all files of a folder, here or in a drive, begin with."""
    if source.kind is not SourceKind.CLOUD:
        return f"{source.location.rstrip('/')}/"
    return f"{REMOTE}{source.location}" + ("" if source.location.endswith(":") else "/")


def _refusal(emptied: Sequence[Source]) -> str:
    names = ", ".join(source.name for source in emptied)
    return (
        f"{counted(len(emptied), 'source')} without a single file left: {names}. Is a disk away, or"
        " a pattern wrong? Nothing was removed. If this is right: chapterhouse sync --allow-empty"
    )


def _take_off(
    gone: Sequence[FileRecord],
    excluded: Sequence[FileRecord],
    sources: Sequence[Source],
    work: Work,
    options: Options,
) -> tuple[tuple[str, ...], tuple[Move, ...], tuple[Removal, ...]]:
    """Remove documents whose files are gone; take excluded ones off the shelf of the sources.

    Returns:
        The sources of what was removed, what stays on other shelves, and the removal.
    """
    store, shelf = work.store, work.shelf
    removed = {record.document_id: record.source for record in gone}
    moves: list[Move] = []
    ids = [record.document_id for record in excluded if record.document_id]
    for identifier, document in store.documents_among(ids, Scope.everything()).items():
        others = tuple(name for name in document.shelves if name != shelf)
        if shelf not in document.shelves or _other_source(document.location, sources, store):
            continue
        if others:
            moves.append(Move(document.source, (), (shelf,)))
            if not options.dry_run:
                store.set_shelves(identifier, others)
        else:
            removed[identifier] = document.source
    removal: tuple[Removal, ...] = ()
    if not options.dry_run:
        removal = _remove(removed, work)
        for record in excluded:
            store.forget_file(record.location)
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


def _settle_stamps(report: AddReport, plan: Plan, work: Work) -> None:
    """Hash files again that were too young to trust their time, so that the next look need not."""
    listed = {file.location for file in plan.files}
    young = [
        outcome.record.location
        for outcome in report.outcomes
        if _is_young(outcome) and outcome.record.location in listed
    ]
    if young:
        again = plan_known(young, work.store)
        apply_plan(again, open_all, replace(work, on_progress=lambda _: None))


def _is_young(outcome: FileOutcome) -> bool:
    record = outcome.record
    return bool(record.sha256) and not record.mtime_ns and record.status is not Status.FAILED
