"""Sources: what a library is to be the image of, and bringing it to their state."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Final

from chapterhouse import lazy
from chapterhouse.answering.runtime import Runtime
from chapterhouse.connectors import volumes
from chapterhouse.connectors.folder import (
    REMOTE,
    is_ignored,
    is_visible,
    left_out,
    location_of,
    resolve_root,
    walk,
)
from chapterhouse.errors import NotFoundError, RefusedError, UsageError
from chapterhouse.ingest.mirror import Options
from chapterhouse.ingest.plan import name_of_folder
from chapterhouse.ingest.sources import find_source, free_name, look_from_outside, shelf_of
from chapterhouse.library import long_work
from chapterhouse.library.source_sync import AGENTS, all_sources, folders_of, sync_sources
from chapterhouse.text.naming import printable_name
from chapterhouse.types import (
    DEFAULT_SHELF,
    USUAL_TRUST,
    FileRecord,
    Job,
    Progress,
    Source,
    SourceKind,
    SyncReport,
    Trust,
    source_result,
)

if TYPE_CHECKING:
    from chapterhouse.agents.councils import Councils
    from chapterhouse.agents.personas import Personas
    from chapterhouse.connectors import rclone_listing
else:
    rclone_listing = lazy("chapterhouse.connectors.rclone_listing")

_LOOK_SECONDS: Final = 1.0  # between looks for folders that are away
_COUNTED: Final = 10_000  # files of a folder that may become a source
_COUNTING_SECONDS: Final = 1.0
_LISTED: Final = "file"  # some name in a folder
_LISTS: Final = (".links", ".urls", ".txt")
OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class ServerFolder:
    """A folder of this machine that may become a source.

    Attributes:
        files: How many a source of it would look at, in the folders below too.
    """

    location: str
    files: int
    is_more: bool

    @property
    def name(self) -> str:
        """Its own name."""
        return Path(self.location).name or "/"


class Sources:
    """The sources of a workspace.

    A name that fits none is a NotFoundError, one that fits several a UsageError; nothing was done
    then.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    # --- which there are -----------------------------------------------------------------------

    def add(
        self,
        location: str,
        *,
        name: str = "",
        shelf: str = "",
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        maximum_bytes: int = 0,
        trust: Trust | None = None,
    ) -> Source:
        """Remember a folder or a list of web pages as a source; nothing is read yet.

        Adding one again changes its patterns and its limit, and its trust where that is named.

        Args:
            location: A folder, one of a cloud drive as ``REMOTE:PATH``, or a file with addresses
                that ends in .links, .urls or .txt.
            shelf: On which its documents are; empty for the one that the location is followed on
                already, or the default one.
            include: Patterns as in .gitignore of what is read; everything when empty.
            maximum_bytes: Larger files are rejected; 0: as the settings say.
            trust: How far it is trusted; when None a new list of pages is ``web``, a new folder of
                a cloud drive ``shared``, any other ``own``.

        Raises:
            NotFoundError: nothing is there.
            UsageError: it is neither, or a pattern is none.
        """
        left_out(include, exclude)  # which refuses what is no pattern
        path, kind = _resolve(location)
        store, place = self._runtime.store, location_of(path, ())
        if kind is SourceKind.CLOUD:
            place = str(rclone_listing.Place.parse(location))
        shelf = shelf or shelf_of(place, store.sources().sources()) or DEFAULT_SHELF
        same = (one for one in store.sources().sources() if one.location == place)
        known = next((one for one in same if one.shelf == shelf), None)
        if known is None:
            roots = {where: label for label, where in store.roots()}
            wanted = path.stem or place.partition(":")[0]
            if kind is SourceKind.FOLDER:
                wanted = name_of_folder(place, roots)
            elif kind is SourceKind.CLOUD:
                wanted = rclone_listing.Place.parse(place).name
            usual = USUAL_TRUST.get(kind, Trust.OWN)
            known = Source(
                free_name(printable_name(name) or wanted, store), kind, place, shelf, trust=usual
            )
            if kind is SourceKind.FOLDER and wanted == path.name:
                store.label_root(place, known.name)
        source = replace(
            known,
            include=tuple(include),
            exclude=tuple(exclude),
            maximum_bytes=maximum_bytes,
            trust=trust or known.trust,
        )
        store.sources().save(source)
        return source

    def set_trust(self, name: str, trust: Trust) -> Source:
        """Say how far a source is trusted; it holds at once for all its documents.

        Raises:
            UsageError: it belongs to a persona or a council.
        """
        source = self.get(name)
        if source.kind in AGENTS:
            raise UsageError(
                f"The folders of '{source.name}' have no trust of their own.",
                hint="Follow the folder as a source: chapterhouse source add FOLDER --trust LEVEL",
            )
        source = replace(source, trust=trust)
        self._runtime.store.sources().save(source)
        return source

    def give(self, location: str, owner: "Personas | Councils", name: str) -> Source:
        """Add a folder to those that a persona or a council reads; nothing is read yet."""
        path = Path(location).expanduser().absolute()
        if not path.is_dir():
            raise NotFoundError(f"There is no folder {location}.", hint="Check the spelling.")
        slug = owner.resolve(name)
        owner.add_folder(slug, str(path))
        return owner.source(slug)

    def take(self, location: str, owner: "Personas | Councils", name: str) -> Source:
        """Take a folder away from a persona or a council; its documents leave with the next sync.

        Raises:
            NotFoundError: they do not read it.
        """
        slug = owner.resolve(name)
        owner.remove_folder(slug, location)
        return owner.source(slug)

    def list(self) -> tuple[Source, ...]:
        """Return all sources in order of name, those of personas and councils among them."""
        return all_sources(self._runtime)

    @staticmethod
    def folders(location: str = "") -> tuple[ServerFolder, ...]:
        """Return a folder of this machine, the user's when empty, and those in it to be read.

        Files are counted for about a second in all.

        Raises:
            NotFoundError: there is no such folder.
            RefusedError: it cannot be listed.
        """
        try:
            path, parts = resolve_root(Path(location or Path.home()))
        except ValueError as error:  # with a NUL
            raise NotFoundError("No folder can be called that.") from error
        if parts:
            raise NotFoundError("This is a file, not a folder.", hint="Choose the folder it is in.")
        try:
            found = [one for one in path.iterdir() if one.is_dir() and not one.is_symlink()]
        except OSError as error:
            raise RefusedError(f"The folder cannot be listed: {error.strerror}.") from error
        inside = (one for one in sorted(found) if not is_ignored((one.name, _LISTED)))
        shown = (path, *inside)
        return tuple(_counted(one, _COUNTING_SECONDS / len(shown)) for one in shown)

    def get(self, name: str) -> Source:
        """Return the source that a name, a path or the beginning of a name means."""
        return find_source(name, self.list())

    def files(self, source: Source) -> Iterator[FileRecord]:
        """Yield what became of the files of a source, in order of source."""
        if source.kind is SourceKind.CLOUD:
            yield from self._runtime.store.files(f"{REMOTE}{source.location}")
        for folder in folders_of(source, self._runtime):
            yield from self._runtime.store.files(str(folder))

    def history(self, source: Source, most: int = 5) -> tuple[Job, ...]:
        """Return the latest syncs that looked at a source, newest first."""
        jobs = self._runtime.runner.jobs.jobs((), "")
        syncs = (job for job in jobs if job.kind == "sync" and source_result(job, source.name))
        return tuple(islice(syncs, most))

    def is_stale(self, source: Source) -> bool:
        """Whether a source looks from outside as if it had changed since it was synced.

        It is a look at its folders, not into them: what is deeper down does not show.
        """
        if source.kind is SourceKind.CLOUD:
            return False  # only its service knows
        return source.state != look_from_outside(folders_of(source, self._runtime))

    def remove(self, name: str) -> Source:
        """Forget a source; its documents stay.

        Raises:
            UsageError: it belongs to a persona or a council.
        """
        source = self.get(name)
        if source.kind in AGENTS:
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
        confirmed: bool = False,
        dry_run: bool = False,
        prove: bool = True,
        on_progress: OnProgress = lambda _: None,
    ) -> tuple[SyncReport, ...]:
        """Make the library the image of its sources, or of those that are named, in one pass.

        Args:
            names: Sources; all, and the files that were added one by one, when none is named.
            delete: Whether documents leave whose files are gone or excluded.
            confirmed: Whether they may also where more than half, and more than twenty, of a source
                or of a folder in it go at once, all of a source, or those of another disk.
            prove: Whether what was removed is taken out of every file of the library, and searched
                for, at once: it costs seconds. Nothing finds it in any case.

        Returns:
            A report for each source, in order of name. What failed says so in its report.
        """
        options = Options(delete=delete, confirmed=confirmed, dry_run=dry_run, prove=prove)
        if dry_run:
            return sync_sources(names, options, self._runtime, on_progress)
        chosen = [self.get(name).name for name in names]
        order = long_work.syncing(chosen, options)
        reports: tuple[SyncReport, ...] = long_work.do_here(order, self._runtime, on_progress)
        return reports

    def sync_later(self, *names: str, confirmed: bool = False) -> Job:
        """Leave a sync to the next worker; return its job, or the equal one that waits already.

        Args:
            confirmed: Likewise. Only somebody who has seen what would be removed may say so.
        """
        chosen = [self.get(name).name for name in names]
        order = long_work.syncing(chosen, Options(confirmed=confirmed))
        return long_work.enqueue(order, self._runtime)

    def watch(self, *names: str, stop: Event) -> Iterator[tuple[SyncReport, ...]]:
        """Sync the folders of sources each time something changes in one; yield what that did.

        A folder that goes away is waited for, and a source that is added meanwhile is followed.

        Args:
            names: Sources; all when none is named.
            stop: Ends it within a second.

        Raises:
            NotFoundError: a name fits none, or there is no source.
            ChapterhouseError: the folders cannot be watched.
        """
        for touched in self.touched(*names, stop=stop):
            yield self.sync(*touched, prove=False)

    def touched(self, *names: str, stop: Event) -> Iterator[tuple[str, ...]]:
        """Yield the names of sources each time that something changes in their folders.

        All of them come first, and again when a folder comes or goes: what changed before the
        folders were watched is seen by nobody else.
        """
        while not stop.is_set():
            sources = [self.get(name) for name in names] or list(self.list())
            places = self._places(names)
            if not sources:
                raise NotFoundError(
                    "There is nothing to watch: the library has no source.",
                    hint="Add one: chapterhouse source add FOLDER",
                )
            if places:
                yield from self._follow(names, places, stop)
            else:
                stop.wait(_LOOK_SECONDS)

    def _places(self, names: Sequence[str]) -> Mapping[Path, str]:
        """Return the folders of sources that are there, with the name of the source."""
        sources = [self.get(name) for name in names] or list(self.list())
        return {
            folder: source.name
            for source in sources
            for folder in folders_of(source, self._runtime)
            if is_visible(folder)
        }

    def _follow(
        self, names: Sequence[str], places: Mapping[Path, str], stop: Event
    ) -> Iterator[tuple[str, ...]]:
        """Yield what changes until a folder comes or goes, so that others have to be watched."""
        is_first = True
        for batch in volumes.changes(tuple(places), stop):
            touched = {
                name
                for folder, name in places.items()
                if is_first or any(path.is_relative_to(folder) for path in batch)
            }
            is_first = False
            if touched:
                yield tuple(sorted(touched))
            if self._places(names).keys() != places.keys():
                return


def _counted(folder: Path, seconds: float) -> ServerFolder:
    number, is_more, deadline = 0, True, time.monotonic() + seconds
    for _ in walk(folder):
        if number == _COUNTED or time.monotonic() > deadline:
            break
        number += 1
    else:
        is_more = False
    return ServerFolder(str(folder), number, is_more)


def _resolve(location: str) -> tuple[Path, SourceKind]:
    """Return where a location is, and which kind of source it makes."""
    try:
        path = Path(location).expanduser().resolve()
        return path, _kind_of(path, location)
    except (OSError, RuntimeError, ValueError) as error:  # too long, with a NUL, of nobody's home
        raise UsageError(
            "The location cannot be opened as a path.", hint="Check the spelling."
        ) from error


def _kind_of(path: Path, written: str) -> SourceKind:
    if path.is_dir():
        return SourceKind.FOLDER
    if not path.exists() and ":" in written:
        return SourceKind.CLOUD
    if not path.exists():
        raise NotFoundError(f"There is no folder or list {written}.", hint="Check the spelling.")
    if path.suffix.lower() not in _LISTS:
        raise UsageError(
            f"{written} is neither a folder nor a list of web pages.",
            hint="A single file is added by: chapterhouse add FILE",
        )
    return SourceKind.LINKS
