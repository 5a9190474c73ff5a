"""Bring a library to the state of its sources, one kind after the other."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from chapterhouse import lazy
from chapterhouse.answering.runtime import Runtime
from chapterhouse.errors import ChapterhouseError, passes
from chapterhouse.ingest.look import ReadingContext
from chapterhouse.ingest.mirror import (
    Options,
    loose_files,
    mirror,
    mirror_files,
    mirror_folders,
    prefix_of,
)
from chapterhouse.ingest.plan import name_of_folder, plan_remote
from chapterhouse.ingest.sources import LOOSE, find_source, mark_synced
from chapterhouse.presenting.wording import staying_sentence
from chapterhouse.types import AddReport, Progress, Source, SourceKind, SyncReport

# A library without personas, councils, pages and cloud drives does without what reads them.
if TYPE_CHECKING:
    from chapterhouse.agents import councils, personas
    from chapterhouse.connectors import fetched, rclone, rclone_listing
    from chapterhouse.library import drives
else:
    councils = lazy("chapterhouse.agents.councils")
    personas = lazy("chapterhouse.agents.personas")
    fetched = lazy("chapterhouse.connectors.fetched")
    rclone = lazy("chapterhouse.connectors.rclone")
    rclone_listing = lazy("chapterhouse.connectors.rclone_listing")
    drives = lazy("chapterhouse.library.drives")

AGENTS: Final = (SourceKind.PERSONA, SourceKind.COUNCIL)
OnProgress = Callable[[Progress], None]
Follow = Callable[[ReadingContext], ReadingContext]


def registry_of(kind: SourceKind, runtime: Runtime) -> "personas.Personas | councils.Councils":
    """Return what has the definitions of all personas, or of all councils."""
    if kind is SourceKind.PERSONA:
        return personas.Personas(runtime)
    return councils.Councils(runtime)


def all_sources(runtime: Runtime) -> tuple[Source, ...]:
    """Return all sources in order of name, those of personas and councils among them."""
    own = [one for one in runtime.store.sources().sources() if one.kind not in AGENTS]
    agents = [
        registry_of(kind, runtime).source(slug)
        for kind in AGENTS
        for slug in runtime.definitions[kind].names()
    ]
    return tuple(sorted((*own, *agents), key=lambda one: one.name))


def folders_of(source: Source, runtime: Runtime) -> tuple[Path, ...]:
    """Return the folders of a source, and the list of one that is a list of pages."""
    if source.kind in AGENTS:
        return registry_of(source.kind, runtime).folders_of(slug_of(source))
    if source.kind is SourceKind.CLOUD:
        return ()
    if source.kind is SourceKind.LINKS:
        return (fetched.pages_folder(runtime.folder, source), Path(source.location))
    return (Path(source.location),)


def slug_of(source: Source) -> str:
    """Return the slug of a persona or council from the name of its source."""
    return source.name.partition("/")[2]


def sync_sources(
    names: Sequence[str],
    options: Options,
    runtime: Runtime,
    on_progress: OnProgress,
    follow: Follow = lambda work: work,
) -> tuple[SyncReport, ...]:
    """Make the library the image of its sources, or of those that are named, in one pass.

    Args:
        names: Sources; all, and the files that were added one by one, when none is named.
    """
    return _Sync(runtime, options, on_progress, follow).run(names)


def sync_one(
    source: Source, options: Options, runtime: Runtime, on_progress: OnProgress
) -> SyncReport:
    """Sync one source, which need not be remembered; as ``sync_sources``."""
    (report,) = _Sync(runtime, options, on_progress, lambda work: work).one(source)
    return report


class _Sync:
    """One sync, and what all its steps need."""

    def __init__(
        self, runtime: Runtime, options: Options, on_progress: OnProgress, follow: Follow
    ) -> None:
        self._runtime = runtime
        self._options = options
        self._on_progress = on_progress
        self._follow = follow

    def run(self, names: Sequence[str]) -> tuple[SyncReport, ...]:
        sources = all_sources(self._runtime)
        chosen = [find_source(name, sources) for name in names] if names else list(sources)
        reports: list[SyncReport] = []
        for step in self._steps(chosen, everything=not names):
            reports += step()
            if any(report.files.interrupted for report in reports):
                break
        if not self._options.dry_run:
            self._runtime.catch_up(*(report.files for report in reports))
            reports = self._searched(reports)
        return tuple(sorted(reports, key=lambda report: report.source))

    def _searched(self, reports: Sequence[SyncReport]) -> list[SyncReport]:
        """Search once for all that was removed, and let the last report say what it came to."""
        removals = [one for report in reports for one in report.removals]
        if not (removals and self._options.prove):
            return list(reports)
        search = self._runtime.erase(removals)
        last = max(place for place, report in enumerate(reports) if report.removals)
        return [
            replace(report, removals=(), search=search if place == last else None)
            for place, report in enumerate(reports)
        ]

    def one(self, source: Source) -> Sequence[SyncReport]:
        return [report for step in self._steps([source], everything=False) for report in step()]

    def _steps(
        self,
        chosen: Sequence[Source],
        *,
        everything: bool,
    ) -> Iterator[Callable[[], Iterable[SyncReport]]]:
        """Yield what is to be done, one step after the other: folders first, which share files."""
        folders: dict[str, list[Source]] = {}
        for source in chosen:
            if source.kind is SourceKind.FOLDER:
                folders.setdefault(source.shelf, []).append(source)
        for shelf, sources in sorted(folders.items()):
            yield partial(self._sync_folders, sources, shelf)
        for source in chosen:
            if source.kind is SourceKind.LINKS:
                yield partial(self._sync_list, source)
            elif source.kind is SourceKind.CLOUD:
                yield partial(self._sync_drive, source)
            elif source.kind in AGENTS:
                yield partial(self._sync_agent, source)
        if everything:
            yield self._sync_loose

    def _sync_folders(self, sources: Sequence[Source], shelf: str) -> Sequence[SyncReport]:
        work = self._work(shelf)
        report = mirror_folders(sources, work, self._options)
        prefixes = self._prefixes(sources)
        reports = [_part_of(report, source, sources, prefixes) for source in sources]
        reports[-1] = replace(reports[-1], removals=report.removals)
        if not self._options.dry_run and not report.files.interrupted:
            followed = {one.name for one in self._runtime.store.sources().sources()}
            for source, part in zip(sources, reports, strict=True):
                if source.name in followed:
                    self._mark(source, _staying(part))
        return reports

    def _sync_list(self, source: Source) -> Sequence[SyncReport]:
        folder = fetched.pages_folder(self._runtime.folder, source)
        if self._options.dry_run:
            problem = "Pages are not fetched in a dry run."
            return [SyncReport(AddReport(()), source=source.name, problem=problem)]
        fetch, today = self._runtime.open_fetch(), self._runtime.today()
        try:
            problem = fetched.fetch_pages(
                source, folder, fetch, today, self._on_progress, delete=self._options.delete
            )
        except (OSError, ChapterhouseError) as error:
            if passes(error):
                raise
            reason = error.message if isinstance(error, ChapterhouseError) else str(error)
            self._mark(source, reason)
            return [SyncReport(AddReport(()), source=source.name, problem=reason)]
        folder_source = Source(source.name, SourceKind.FOLDER, str(folder), source.shelf)
        self._runtime.store.label_root(str(folder), source.name)
        work = self._work(source.shelf)
        report = mirror_folders([folder_source], work, replace(self._options, confirmed=True))
        self._mark(source, problem)
        return [replace(report, source=source.name, problem=problem)]

    def _sync_drive(self, source: Source) -> Sequence[SyncReport]:
        place, store = rclone_listing.Place.parse(source.location), self._runtime.store
        try:
            label = source.name
            if not self._options.dry_run:
                label = store.label_root(place.location(), source.name)
            copies = drives.copies_of(place, self._runtime)
            listed = drives.list_folder(place, self._runtime, refresh=True, recursive=True)
            files = rclone.source_files(place, label, listed, self._runtime.maximum_bytes)
            plan = plan_remote(files, source, store)
        except ChapterhouseError as error:
            if passes(error):
                raise
            self._mark(source, error.message)
            problem = " ".join(filter(None, (error.message, error.hint)))
            return [SyncReport(AddReport(()), source=source.name, problem=problem)]
        work = self._work(source.shelf)
        report = mirror(plan, copies.contents, [source], work, self._options)
        if not report.files.interrupted:
            self._mark(source, _staying(report))
        return [replace(report, source=source.name)]

    def _sync_agent(self, source: Source) -> Sequence[SyncReport]:
        registry = registry_of(source.kind, self._runtime)
        try:
            done = registry.refresh(
                slug_of(source),
                on_progress=self._on_progress,
                dry_run=self._options.dry_run,
                confirmed=self._options.confirmed,
            )
        except ChapterhouseError as error:
            if passes(error):
                raise
            return [SyncReport(AddReport(()), source=source.name, problem=error.message)]
        report = done.sync or SyncReport(AddReport(()))
        staying = {*map(staying_sentence, report.staying)}  # which the report says by itself
        problem = " ".join(warning for warning in done.warnings if warning not in staying)
        return [replace(report, source=source.name, problem=problem)]

    def _sync_loose(self) -> Sequence[SyncReport]:
        store = self._runtime.store
        owned = [
            str(folder)
            for source in all_sources(self._runtime)
            if source.kind in (*AGENTS, SourceKind.LINKS)
            for folder in folders_of(source, self._runtime)
        ]
        files = loose_files(store, store.sources().sources(), owned)
        if not files:
            return ()
        report = mirror_files(files, self._work(), self._options)
        return [replace(report, source=LOOSE)]

    # --- inside --------------------------------------------------------------------------------

    def _work(self, shelf: str = "") -> ReadingContext:
        return self._follow(self._runtime.work(self._on_progress, shelf))

    def _mark(self, source: Source, problem: str = "") -> None:
        if self._options.dry_run:
            return
        store, now = self._runtime.store, self._runtime.now()
        mark_synced(source, folders_of(source, self._runtime), store, now, problem)

    def _prefixes(self, sources: Iterable[Source]) -> Mapping[str, str]:
        roots = {where: label for label, where in self._runtime.store.roots()}
        return {one.name: f"{name_of_folder(one.location, roots)}/" for one in sources}


def _staying(report: SyncReport) -> str:
    return " ".join(map(staying_sentence, report.staying))


def _owner(folder: str, sources: Iterable[Source]) -> Source | None:
    """Return the innermost source that a folder is in."""
    around = (one for one in sources if f"{folder.rstrip('/')}/".startswith(prefix_of(one)))
    return max(around, key=lambda one: len(one.location), default=None)


def _part_of(
    report: SyncReport, source: Source, sources: Sequence[Source], prefixes: Mapping[str, str]
) -> SyncReport:
    """Return what a report says of one of several folders."""
    own = prefixes[source.name]

    def is_own(name: str) -> bool:
        if not name.startswith(own) or len(prefixes) == 1:
            return name.startswith(own)
        fitting = [prefix for prefix in prefixes.values() if name.startswith(prefix)]
        return max(fitting, key=len, default="") == own

    files = replace(
        report.files,
        outcomes=tuple(one for one in report.files.outcomes if is_own(one.record.source)),
        missing=tuple(filter(is_own, report.files.missing)),
        ignored=tuple(
            one for one in report.files.ignored if one.path.startswith(f"{source.location}/")
        ),
    )
    staying = tuple(one for one in report.staying if _owner(one.folder, sources) == source)
    return SyncReport(
        files,
        tuple(filter(is_own, report.removed)),
        tuple(move for move in report.moves if is_own(move.source)),
        staying,
        source.name,
    )
