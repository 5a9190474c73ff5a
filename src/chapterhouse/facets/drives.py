"""What reads cloud drives for a library: the program, remembered listings, a folder as a source."""

from contextlib import suppress
from typing import Final

from chapterhouse.connectors.listing_cache import ListingCache
from chapterhouse.connectors.rclone import RcloneRemote
from chapterhouse.connectors.rclone_listing import Entry, Place, list_place
from chapterhouse.connectors.rclone_program import Patience, Rclone, find_rclone
from chapterhouse.runtime import Runtime

_CACHE: Final = "cache"  # in the folder of the workspace


def rclone_of(runtime: Runtime) -> Rclone:
    """Return the rclone program.

    Raises:
        NotFoundError: the settings name one that is not there.
        MissingExtraError: there is none.
    """
    settings = runtime.settings.cloud
    patience = Patience(stall_seconds=settings.stall_seconds)
    return Rclone(find_rclone(settings.rclone), patience)


def open_remote(place: Place, label: str, runtime: Runtime) -> RcloneRemote:
    """Return a folder of a drive as a source of documents; ``label`` is what sources begin with.

    Raises:
        NotFoundError: the settings name a program that is not there.
        MissingExtraError: there is none.
    """
    return RcloneRemote(
        rclone=rclone_of(runtime),
        place=place,
        label=label,
        cache=_cache(runtime),
        transfers=runtime.settings.cloud.transfers,
        maximum_bytes=runtime.maximum_bytes,
    )


def list_folder(
    place: Place, runtime: Runtime, *, refresh: bool = False, recursive: bool = False
) -> tuple[Entry, ...]:
    """Return what is in a folder, as it was listed a moment ago, else anew.

    Raises:
        ChapterhouseError: it cannot be listed.
    """
    cache = _cache(runtime)
    found = None if refresh else cache.load(place, recursive=recursive)
    if found is None:
        found = list_place(rclone_of(runtime), place, recursive=recursive)
        with suppress(OSError):  # it can be browsed where nothing can be written
            cache.store(place, found, recursive=recursive)
    return found


def _cache(runtime: Runtime) -> ListingCache:
    lifetime = runtime.settings.cloud.listing_seconds
    return ListingCache(runtime.folder / _CACHE, lifetime, runtime.now)
