"""Sources: what a library is to be the image of, and bringing it to their state."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import Final

from chapterhouse.agents.councils import Councils
from chapterhouse.agents.personas import Personas
from chapterhouse.connectors.folder import location_of
from chapterhouse.connectors.patterns import left_out
from chapterhouse.connectors.watching import changes
from chapterhouse.errors import ChapterhouseError, NotFoundError, UsageError
from chapterhouse.ingest.mirror import Options, loose_files, mirror_files, mirror_folders
from chapterhouse.ingest.pages import fetch_pages, pages_folder
from chapterhouse.ingest.plan import name_of_folder
from chapterhouse.ingest.sources import (
    LOOSE,
    find_source,
    free_name,
    look_from_outside,
    mark_synced,
)
from chapterhouse.runtime import Runtime
from chapterhouse.types import (
    DEFAULT_SHELF,
    AddReport,
    FileRecord,
    Progress,
    Source,
    SourceKind,
    SyncReport,
)

_LISTS: Final = (".links", ".urls", ".txt")
_AGENTS: Final = (SourceKind.PERSONA, SourceKind.COUNCIL)
_LOOSE: Final = Source(LOOSE, SourceKind.FILES, "")
OnProgress = Callable[[Progress], None]


class Sources:
    """The sources of a workspace."""

    def __init__(self, runtime: Runtime) -> None:
        """Work on the library of ``runtime``."""
        self._runtime = runtime

    # --- which there are -----------------------------------------------------------------------

    def add(
        self,
        location: str,
        *,
        name: str = "",
        shelf: str = DEFAULT_SHELF,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        maximum_bytes: int = 0,
    ) -> Source:
        """Remember a folder or a list of web pages as a source; nothing is read yet.

        Adding one again changes its patterns and its limit.

        Args:
            location: A folder, or a file with addresses that ends in .links, .urls or .txt.
            name: How it is called; like its folder or file by default.
            shelf: On which its documents are.
            include: Patterns as in .gitignore of what is read; everything when empty.
            exclude: Patterns of what is not.
            maximum_bytes: Larger files are rejected; 0: as the settings say.

        Raises:
            NotFoundError: nothing is there.
            UsageError: it is neither, or a pattern is none.
        """
        left_out(include, exclude)  # which refuses what is no pattern
        path = Path(location).expanduser().resolve()
        kind = _kind_of(path, location)
        store, place = self._runtime.store, location_of(path, ())
        same = (one for one in store.sources().sources() if one.location == place)
        known = next((one for one in same if one.shelf == shelf), None)
        if known is None:
            roots = {where: label for label, where in store.roots()}
            wanted = name_of_folder(place, roots) if kind is SourceKind.FOLDER else path.stem
            known = Source(free_name(name or wanted, store), kind, place, shelf)
            if kind is SourceKind.FOLDER and wanted == path.name:
                store.label_root(place, known.name)
        source = replace(
            known, include=tuple(include), exclude=tuple(exclude), maximum_bytes=maximum_bytes
        )
        store.sources().save(source)
        return source

    def give(self, location: str, owner: Personas | Councils, name: str) -> Source:
        """Add a folder to those that a persona or a council reads; nothing is read yet.

        Raises:
            NotFoundError: there is no such folder, persona or council.
            UsageError: the name fits several.
        """
        path = Path(location).expanduser().absolute()
        if not path.is_dir():
            raise NotFoundError(f"There is no folder {location}.", hint="Check the spelling.")
        slug = owner.resolve(name)
        owner.add_folder(slug, str(path))
        return owner.source(slug)

    def list(self) -> tuple[Source, ...]:
        """Return all sources in order of name, those of personas and councils among them."""
        own = [one for one in self._runtime.store.sources().sources() if one.kind not in _AGENTS]
        agents = [
            registry.source(slug) for registry in self._registries() for slug in registry.names()
        ]
        return tuple(sorted((*own, *agents), key=lambda one: one.name))

    def get(self, name: str) -> Source:
        """Return the source that a name, a path or the beginning of a name means.

        Raises:
            NotFoundError: none is called so.
            UsageError: several are.
        """
        return find_source(name, self.list())

    def files(self, source: Source) -> Iterator[FileRecord]:
        """Yield what became of the files of a source, in order of source."""
        for folder in self._folders(source):
            yield from self._runtime.store.files(str(folder))

    def is_stale(self, source: Source) -> bool:
        """Whether a source looks from outside as if it had changed since it was synced.

        It is a look at its folders, not into them: what is deeper down does not show.
        """
        return source.state != look_from_outside(self._folders(source))

    def remove(self, name: str) -> Source:
        """Forget a source; its documents stay.

        Raises:
            NotFoundError: none is called so.
            UsageError: several are, or it belongs to a persona or a council.
        """
        source = self.get(name)
        if source.kind in _AGENTS:
            raise UsageError(
                f"The folders of '{source.name}' are named in its own configuration.",
                hint=f"Change them there: {source.location}",
            )
        self._runtime.store.sources().drop(source.name)
        return source

    # --- sync ----------------------------------------------------------------------------------

    def sync(
        self,
        *names: str,
        delete: bool = True,
        allow_empty: bool = False,
        dry_run: bool = False,
        on_progress: OnProgress = lambda _: None,
    ) -> tuple[SyncReport, ...]:
        """Make the library the image of its sources, or of those that are named, in one pass.

        Args:
            names: Sources; all, and the files that were added one by one, when none is named.
            delete: Whether documents leave whose files are gone or excluded.
            allow_empty: Whether they may where a source has no file left at all.
            dry_run: Only say what would be done.
            on_progress: Called after each file.

        Returns:
            A report for each source, in order of name. What failed says so in its report.

        Raises:
            NotFoundError: a name fits none; nothing was done.
            UsageError: a name fits several.
        """
        sources = self.list()
        chosen = [find_source(name, sources) for name in names] if names else list(sources)
        options = Options(delete=delete, empty=allow_empty, dry_run=dry_run)
        reports: list[SyncReport] = []
        for work in self._steps(chosen, options, on_progress, everything=not names):
            reports += work()
            if any(report.files.interrupted for report in reports):
                break
        if not dry_run:
            self._runtime.catch_up()
        return tuple(sorted(reports, key=lambda report: report.source))

    def watch(self, *names: str, stop: Event) -> Iterator[tuple[SyncReport, ...]]:
        """Sync the folders of sources each time something changes in one; yield what that did.

        Args:
            names: Sources; all when none is named.
            stop: Ends it within a second.

        Raises:
            NotFoundError: a name fits none, or no source has a folder that is there.
            ChapterhouseError: the folders cannot be watched.
        """
        while not stop.is_set():
            sources = [self.get(name) for name in names] or list(self.list())
            places = {
                folder: source.name
                for source in sources
                for folder in self._folders(source)
                if folder.exists()
            }
            if not places:
                raise NotFoundError(
                    "There is nothing to watch: no source has a folder that is there.",
                    hint="Add one: chapterhouse source add FOLDER",
                )
            yield from self._follow(places, stop)

    def _follow(self, places: Mapping[Path, str], stop: Event) -> Iterator[tuple[SyncReport, ...]]:
        """Sync what changes until a folder comes or goes, so that others have to be watched."""
        for batch in changes(tuple(places), stop):
            touched = {
                name
                for folder, name in places.items()
                if any(path.is_relative_to(folder) for path in batch)
            }
            if touched:
                yield self.sync(*sorted(touched))
            if not all(folder.exists() for folder in places):
                return

    def _steps(
        self,
        chosen: Sequence[Source],
        options: Options,
        on_progress: OnProgress,
        *,
        everything: bool,
    ) -> Iterator[Callable[[], Iterable[SyncReport]]]:
        """Yield what is to be done, one step after the other: folders first, which share files."""
        folders: dict[str, list[Source]] = {}
        for source in chosen:
            if source.kind is SourceKind.FOLDER:
                folders.setdefault(source.shelf, []).append(source)
        for shelf, sources in sorted(folders.items()):
            yield partial(self._sync_folders, sources, shelf, options, on_progress)
        for source in chosen:
            if source.kind is SourceKind.LINKS:
                yield partial(self._sync_list, source, options, on_progress)
            elif source.kind in _AGENTS:
                yield partial(self._sync_agent, source, options, on_progress)
        if everything:
            yield partial(self._sync_loose, options, on_progress)

    def _sync_folders(
        self, sources: Sequence[Source], shelf: str, options: Options, on_progress: OnProgress
    ) -> Sequence[SyncReport]:
        work = self._runtime.work(on_progress, shelf)
        report = mirror_folders(sources, work, options)
        prefixes = self._prefixes(sources)
        reports = [_part_of(report, source, prefixes) for source in sources]
        if not options.dry_run and not report.files.interrupted:
            for source, part in zip(sources, reports, strict=True):
                self._mark(source, _absence(part) or part.refused)
        return reports

    def _sync_list(
        self, source: Source, options: Options, on_progress: OnProgress
    ) -> Sequence[SyncReport]:
        folder = pages_folder(self._runtime.folder, source)
        if options.dry_run:
            problem = "Pages are not fetched in a dry run."
            return [SyncReport(AddReport(()), source=source.name, problem=problem)]
        fetch, today = self._runtime.open_fetch(), self._runtime.today()
        try:
            problem = fetch_pages(source, folder, fetch, today, on_progress, delete=options.delete)
        except (OSError, ChapterhouseError) as error:
            reason = error.message if isinstance(error, ChapterhouseError) else str(error)
            self._mark(source, reason)
            return [SyncReport(AddReport(()), source=source.name, problem=reason)]
        pages = Source(source.name, SourceKind.FOLDER, str(folder), source.shelf)
        self._runtime.store.label_root(str(folder), source.name)
        work = self._runtime.work(on_progress, source.shelf)
        report = mirror_folders([pages], work, replace(options, empty=True))
        self._mark(source, problem)
        return [replace(report, source=source.name, problem=problem)]

    def _sync_agent(
        self, source: Source, options: Options, on_progress: OnProgress
    ) -> Sequence[SyncReport]:
        registry = self._registry(source)
        try:
            done = registry.refresh(
                _slug_of(source), on_progress=on_progress, dry_run=options.dry_run
            )
        except ChapterhouseError as error:
            return [SyncReport(AddReport(()), source=source.name, problem=error.message)]
        report = done.sync or SyncReport(AddReport(()))
        return [replace(report, source=source.name, problem=" ".join(done.warnings))]

    def _sync_loose(self, options: Options, on_progress: OnProgress) -> Sequence[SyncReport]:
        store = self._runtime.store
        owned = [
            str(folder)
            for source in self.list()
            if source.kind in (*_AGENTS, SourceKind.LINKS)
            for folder in self._folders(source)
        ]
        files = loose_files(store, store.sources().sources(), owned)
        if not files:
            return ()
        report = mirror_files(files, self._runtime.work(on_progress), options)
        return [replace(report, source=LOOSE)]

    # --- inside --------------------------------------------------------------------------------

    def _registries(self) -> tuple[Personas, Councils]:
        return Personas(self._runtime), Councils(self._runtime)

    def _registry(self, source: Source) -> Personas | Councils:
        personas, councils = self._registries()
        return personas if source.kind is SourceKind.PERSONA else councils

    def _folders(self, source: Source) -> tuple[Path, ...]:
        if source.kind in _AGENTS:
            return self._registry(source).folders_of(_slug_of(source))
        if source.kind is SourceKind.LINKS:
            return (pages_folder(self._runtime.folder, source), Path(source.location))
        return (Path(source.location),)

    def _mark(self, source: Source, problem: str = "") -> None:
        store, now = self._runtime.store, self._runtime.now()
        mark_synced(source, self._folders(source), store, now, problem)

    def _prefixes(self, sources: Iterable[Source]) -> Mapping[str, str]:
        roots = {where: label for label, where in self._runtime.store.roots()}
        return {one.name: f"{name_of_folder(one.location, roots)}/" for one in sources}


def _kind_of(path: Path, written: str) -> SourceKind:
    if path.is_dir():
        return SourceKind.FOLDER
    if not path.exists():
        raise NotFoundError(f"There is no folder or list {written}.", hint="Check the spelling.")
    if path.suffix.lower() not in _LISTS:
        raise UsageError(
            f"{written} is neither a folder nor a list of web pages.",
            hint="A single file is added by: chapterhouse add FILE",
        )
    return SourceKind.LINKS


def _slug_of(source: Source) -> str:
    return source.name.partition("/")[2]


def _absence(report: SyncReport) -> str:
    return f"{report.absent[0]} is not there; its documents stay." if report.absent else ""


def _part_of(report: SyncReport, source: Source, prefixes: Mapping[str, str]) -> SyncReport:
    """Return what a report says of one of several folders."""

    def is_own(name: str) -> bool:
        fitting = [prefix for prefix in prefixes.values() if name.startswith(prefix)]
        return max(fitting, key=len, default="") == prefixes[source.name]

    files = replace(
        report.files,
        outcomes=tuple(one for one in report.files.outcomes if is_own(one.record.source)),
        missing=tuple(filter(is_own, report.files.missing)),
        ignored=tuple(
            one for one in report.files.ignored if one.path.startswith(f"{source.location}/")
        ),
    )
    absent = tuple(path for path in report.absent if str(path) == source.location)
    return SyncReport(
        files,
        tuple(filter(is_own, report.removed)),
        tuple(move for move in report.moves if is_own(move.source)),
        absent,
        report.refused if files.missing else "",
        source.name,
    )
