"""Cloud drives: their folders and files, and whether the library has them as they are."""

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chapterhouse import lazy
from chapterhouse.answering.runtime import Runtime
from chapterhouse.ingest.sources import shelf_of
from chapterhouse.library import documents
from chapterhouse.types import (
    DEFAULT_SHELF,
    FileRecord,
    Job,
    Progress,
    Source,
    SourceKind,
    Status,
    SyncReport,
    source_result,
)

if TYPE_CHECKING:
    from chapterhouse.connectors import rclone, rclone_listing, rclone_program
    from chapterhouse.connectors.folder import SourceFile
    from chapterhouse.connectors.rclone_listing import Provider, Remote
    from chapterhouse.ingest import look, mirror
    from chapterhouse.library import drives, source_sync, sources
else:
    rclone = lazy("chapterhouse.connectors.rclone")
    rclone_listing = lazy("chapterhouse.connectors.rclone_listing")
    drives = lazy("chapterhouse.library.drives")
    source_sync = lazy("chapterhouse.library.source_sync")
    sources = lazy("chapterhouse.library.sources")
    look = lazy("chapterhouse.ingest.look")
    mirror = lazy("chapterhouse.ingest.mirror")


@dataclass(frozen=True, slots=True)
class CloudFile:
    """A file of a drive, and what the library has of it.

    Attributes:
        path: Below the folder that was listed.
        size: In bytes; -1 where nobody knows before it is fetched.
        status: ``not-synced``, ``current``, ``changed``, ``partial``, ``skipped`` or ``rejected``.
    """

    path: str
    size: int
    mtime_ns: int
    status: str
    code: str = ""
    sentence: str = ""
    document_id: str = ""


class Cloud:
    """The cloud drives that rclone's configuration names.

    A place is a folder of one, as ``REMOTE:PATH``; anything else is a UsageError, and one that
    cannot be listed to its end another ChapterhouseError. ``refresh`` asks the service, even where
    the place was listed a moment ago.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    @property
    def program(self) -> "rclone_program.Rclone":
        """The rclone program; errors as for ``drives.rclone_of``."""
        return drives.rclone_of(self._runtime)

    def providers(self) -> "tuple[Provider, ...]":
        """Return what rclone can read, the well-known first."""
        return rclone_listing.providers(self.program)

    def remotes(self) -> "tuple[Remote, ...]":
        """Return the remotes of rclone's configuration, by name."""
        return rclone_listing.remotes(self.program)

    def connect(self, provider: str, name: str = "") -> "Remote":
        """Let rclone make a remote at this terminal; in the browser, where that is its way.

        Args:
            provider: As rclone or people call it, like ``drive`` or ``nextcloud``.
            name: Of the remote; that of the provider when empty.

        Raises:
            NotFoundError: rclone knows no such provider.
            UsageError: the name is taken, or cannot be one.
            EngineError: it was not made.
        """
        found = rclone_listing.find_provider(provider, self.providers())
        return rclone_listing.connect(self.program, found, name or found.name)

    def connect_command(self, provider: str, name: str = "") -> tuple[str, ...]:
        """Return the command that ``connect`` would run, for a terminal elsewhere; as it."""
        found = rclone_listing.find_provider(provider, self.providers())
        rclone_listing.require_free(name or found.name, self.remotes())
        return rclone_listing.connect_command(self.program, found, name or found.name)

    def folders(self, place: str, *, refresh: bool = False) -> tuple[str, ...]:
        """Return the names of the folders in a folder."""
        where = rclone_listing.Place.parse(place)
        found = drives.list_folder(where, self._runtime, refresh=refresh)
        return tuple(entry.path for entry in found if entry.is_folder)

    def files(
        self, place: str, *, recursive: bool = False, refresh: bool = False
    ) -> tuple[CloudFile, ...]:
        """Return the files in a folder, each with what the library has of it.

        ``recursive`` takes in those of the folders below it.
        """
        where = rclone_listing.Place.parse(place)
        found = drives.list_folder(where, self._runtime, refresh=refresh, recursive=recursive)
        maximum = self._runtime.maximum_bytes
        files = rclone.source_files(where, where.name, found, maximum)
        return tuple(_state(file, self._runtime.store.file(file.location)) for file in files)

    def sync(
        self,
        place: str,
        *,
        shelf: str = "",
        on_progress: Callable[[Progress], None] = lambda _: None,
        delete: bool = True,
        confirmed: bool = False,
        dry_run: bool = False,
    ) -> SyncReport:
        """Follow a folder, and make the library's documents of it what is in it now.

        Args:
            shelf: The shelf to put documents on, beside those they are on already; empty for the
                one on which the folder is followed, or the default one.
            delete: Whether documents of files that are gone leave the library.
            confirmed: As of ``Sources.sync``.
        """
        if dry_run:
            options = mirror.Options(delete=delete, confirmed=confirmed, dry_run=True)
            where, source = self._followed(place, shelf)
            shelf = shelf or DEFAULT_SHELF
            source = source or Source(where.name, SourceKind.CLOUD, str(where), shelf)
            return source_sync.sync_one(source, options, self._runtime, on_progress)
        name, followed = self._follow(place, shelf).name, sources.Sources(self._runtime)
        return followed.sync(name, delete=delete, confirmed=confirmed, on_progress=on_progress)[0]

    def sync_later(self, place: str, *, shelf: str = "", confirmed: bool = False) -> Job:
        """Follow a folder, and leave reading it to the next worker; return its job; as ``sync``."""
        source = self._follow(place, shelf)
        return sources.Sources(self._runtime).sync_later(source.name, confirmed=confirmed)

    def jobs(self) -> tuple[Job, ...]:
        """Return the syncs of cloud drives, newest first: those that name one, or looked at one."""
        followed = self._runtime.store.sources().sources()
        names = {one.name for one in followed if one.kind is SourceKind.CLOUD}
        jobs = self._runtime.runner.jobs.jobs((), "")
        return tuple(job for job in jobs if job.kind == "sync" and _concerns(job, names))

    def _follow(self, place: str, shelf: str) -> Source:
        """Return the source of a folder; a new one where it is not followed on the shelf."""
        where, source = self._followed(place, shelf)
        return source or sources.Sources(self._runtime).add(str(where), shelf=shelf)

    def _followed(self, place: str, shelf: str) -> "tuple[rclone_listing.Place, Source | None]":
        """Return where a folder is, and the source that follows it on a shelf already."""
        where = rclone_listing.Place.parse(place)
        if shelf:
            documents.Documents(self._runtime).require_own_shelf(shelf)
        drives.list_folder(where, self._runtime)  # a folder that is not there becomes no source
        known = self._runtime.store.sources().sources()
        wanted = shelf or shelf_of(str(where), known)
        same = (one for one in known if one.location == str(where) and one.shelf == wanted)
        return where, next(same, None)


def _concerns(job: Job, names: AbstractSet[str]) -> bool:
    """Whether a sync names one of some sources, or has looked at one."""
    arguments: Any = job.arguments
    named = arguments["sources"]
    return not names.isdisjoint(named) or any(source_result(job, name) for name in names)


def _state(file: "SourceFile", record: FileRecord | None) -> CloudFile:
    status, code, sentence = "not-synced", "", ""
    if file.problem is not None:
        code, sentence = file.problem.code, file.problem.sentence
        status = "skipped" if code == "unsupported-format" else "rejected"
    elif record and _has_changed(record, file):
        status = "changed"
    elif record and (record.status is Status.READY or record.code == "unpacked"):
        status = "current"
    elif record:
        status, code, sentence = record.status.value, record.code, record.sentence
    document_id = record.document_id if record else ""
    path = "/".join(file.parts)
    return CloudFile(path, file.size, file.mtime_ns, status, code, sentence, document_id)


def _has_changed(record: FileRecord, file: "SourceFile") -> bool:
    # Without a time it was too young to trust it when it was stored.
    is_dated = record.mtime_ns or record.size != file.size
    return bool(is_dated) and not look.has_stamp(record, file)
