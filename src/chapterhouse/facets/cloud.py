"""Cloud drives: their folders and files, and whether the library has them as they are."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from chapterhouse.facets import documents
from chapterhouse.loading import lazy
from chapterhouse.runtime import Runtime
from chapterhouse.types import DEFAULT_SHELF, FileRecord, Progress, Status

if TYPE_CHECKING:
    from chapterhouse.connectors import (
        listing_cache,
        rclone,
        rclone_configuration,
        rclone_listing,
        rclone_program,
    )
    from chapterhouse.connectors.folder import SourceFile
    from chapterhouse.connectors.rclone_configuration import Provider, Remote
    from chapterhouse.connectors.rclone_listing import Entry, Place
    from chapterhouse.ingest import remote as syncing
else:
    listing_cache = lazy("chapterhouse.connectors.listing_cache")
    rclone = lazy("chapterhouse.connectors.rclone")
    rclone_configuration = lazy("chapterhouse.connectors.rclone_configuration")
    rclone_listing = lazy("chapterhouse.connectors.rclone_listing")
    rclone_program = lazy("chapterhouse.connectors.rclone_program")
    syncing = lazy("chapterhouse.ingest.remote")

_CACHE: Final = "cache"  # in the folder of the workspace


@dataclass(frozen=True, slots=True)
class CloudFile:
    """A file of a drive, and what the library has of it.

    Attributes:
        path: Below the folder that was listed.
        size: In bytes; -1 where nobody knows before it is fetched.
        status: ``not-synced``, ``current``, ``changed``, ``partial``, ``skipped`` or ``rejected``.
        sentence: Why it is not, or not wholly, in the library.
        document_id: Of its document, if there is one.
    """

    path: str
    size: int
    mtime_ns: int
    status: str
    code: str = ""
    sentence: str = ""
    document_id: str = ""


class Cloud:
    """The cloud drives that rclone's configuration names."""

    def __init__(self, runtime: Runtime) -> None:
        """Work with the library of ``runtime``."""
        self._runtime = runtime

    @cached_property
    def program(self) -> "rclone_program.Rclone":
        """The rclone program.

        Raises:
            NotFoundError: the settings name one that is not there.
            MissingExtraError: there is none.
        """
        settings = self._runtime.settings.cloud
        patience = rclone_program.Patience(stall_seconds=settings.stall_seconds)
        return rclone_program.Rclone(rclone_program.find_rclone(settings.rclone), patience)

    def providers(self) -> "tuple[Provider, ...]":
        """Return what rclone can read, the well-known first."""
        return rclone_configuration.providers(self.program)

    def remotes(self) -> "tuple[Remote, ...]":
        """Return the remotes of rclone's configuration, by name."""
        return rclone_configuration.remotes(self.program)

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
        found = rclone_configuration.find_provider(provider, self.providers())
        return rclone_configuration.connect(self.program, found, name or found.name)

    def connect_command(self, provider: str, name: str = "") -> tuple[str, ...]:
        """Return the command that ``connect`` would run, for a terminal elsewhere.

        Raises:
            NotFoundError: rclone knows no such provider.
            UsageError: the name is taken, or cannot be one.
        """
        found = rclone_configuration.find_provider(provider, self.providers())
        rclone_configuration.require_free(name or found.name, self.remotes())
        return rclone_configuration.connect_command(self.program, found, name or found.name)

    def folders(self, place: str, *, refresh: bool = False) -> tuple[str, ...]:
        """Return the names of the folders in a folder.

        Args:
            place: The folder, as ``REMOTE:PATH``.
            refresh: Ask the service, even where it was listed a moment ago.

        Raises:
            UsageError: ``place`` is something else.
            ChapterhouseError: it cannot be listed.
        """
        found = self._listed(rclone_listing.Place.parse(place), refresh=refresh, recursive=False)
        return tuple(entry.path for entry in found if entry.is_folder)

    def files(
        self, place: str, *, recursive: bool = False, refresh: bool = False
    ) -> tuple[CloudFile, ...]:
        """Return the files in a folder, each with what the library has of it.

        Args:
            place: The folder, as ``REMOTE:PATH``.
            recursive: Also those in the folders below it.
            refresh: Ask the service, even where it was listed a moment ago.

        Raises:
            UsageError: ``place`` is something else.
            ChapterhouseError: it cannot be listed.
        """
        where = rclone_listing.Place.parse(place)
        found = self._listed(where, refresh=refresh, recursive=recursive)
        maximum = self._runtime.maximum_bytes
        files = rclone.source_files(where, where.name, found, maximum)
        return tuple(_state(file, self._runtime.store.file(file.location)) for file in files)

    def sync(
        self,
        place: str,
        *,
        shelf: str = DEFAULT_SHELF,
        on_progress: Callable[[Progress], None] = lambda _: None,
        delete: bool = True,
        dry_run: bool = False,
    ) -> "syncing.RemoteSync":
        """Make the library's documents of a folder what is in the folder now.

        Args:
            place: The folder, as ``REMOTE:PATH``; with all that is below it.
            shelf: The shelf to put documents on, beside those they are on already.
            on_progress: Called after each file, once it is safe on disk.
            delete: Whether documents of files that are gone leave the library.
            dry_run: Only say what would be done.

        Raises:
            UsageError: ``place`` is something else, or the shelf's name cannot be used.
            RefusedError: the folder is empty now, and documents would be deleted.
            ChapterhouseError: it cannot be listed.
        """
        where = rclone_listing.Place.parse(place)
        documents.Documents(self._runtime).require_own_shelf(shelf)
        remote = self._remote(where, dry_run=dry_run)
        work = self._runtime.work(on_progress, shelf)
        done = syncing.sync_remote(remote, where.prefix, work, delete=delete, dry_run=dry_run)
        if not dry_run:
            self._runtime.catch_up()
        return done

    def _remote(self, place: "Place", *, dry_run: bool) -> "rclone.RcloneRemote":
        store = self._runtime.store
        label = next((name for name, root in store.roots() if root == place.location()), "")
        if not label:
            # A folder that is not there gets no label, which another might want.
            self._listed(place, refresh=False, recursive=False)
            label = place.name if dry_run else store.label_root(place.location(), place.name)
        return rclone.RcloneRemote(
            rclone=self.program,
            place=place,
            label=label,
            cache=self._cache,
            transfers=self._runtime.settings.cloud.transfers,
            maximum_bytes=self._runtime.maximum_bytes,
        )

    @property
    def _cache(self) -> "listing_cache.ListingCache":
        runtime = self._runtime
        lifetime = runtime.settings.cloud.listing_seconds
        return listing_cache.ListingCache(runtime.folder / _CACHE, lifetime, runtime.now)

    def _listed(self, place: "Place", *, refresh: bool, recursive: bool) -> "tuple[Entry, ...]":
        found = None if refresh else self._cache.load(place, recursive=recursive)
        if found is None:
            found = rclone_listing.list_place(self.program, place, recursive=recursive)
            with suppress(OSError):  # it can be browsed where nothing can be written
                self._cache.store(place, found, recursive=recursive)
        return found


def _state(file: "SourceFile", record: FileRecord | None) -> CloudFile:
    status, code, sentence = _status(file, record)
    return CloudFile(
        path="/".join(file.parts),
        size=file.size,
        mtime_ns=file.mtime_ns,
        status=status,
        code=code,
        sentence=sentence,
        document_id=record.document_id if record else "",
    )


def _status(file: "SourceFile", record: FileRecord | None) -> tuple[str, str, str]:
    if file.problem is not None:
        skipped = file.problem.code == "unsupported-format"
        return "skipped" if skipped else "rejected", file.problem.code, file.problem.sentence
    if record is None:
        return "not-synced", "", ""
    # Without a time it was too young to trust it when it was stored.
    if not syncing.is_settled(file, record) and (record.mtime_ns or record.size != file.size):
        return "changed", "", ""
    if record.status is Status.READY or record.code == "unpacked":
        return "current", "", ""
    return record.status.value, record.code, record.sentence
