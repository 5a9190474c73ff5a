"""Listings of cloud drives, remembered for a few minutes, so that browsing again costs no call."""

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from chapterhouse.connectors.rclone_listing import Entry, Place
from chapterhouse.files import make_folder, write_whole

_PREFIX: Final = "listing-"
_DIGITS: Final = 24


@dataclass(frozen=True, slots=True)
class ListingCache:
    """Listings as files of their owner's alone, each with its time.

    Attributes:
        folder: Where they are.
        lifetime: For how many seconds one is good; 0: for none.
        now: Returns the time in seconds since 1970.
    """

    folder: Path
    lifetime: float
    now: Callable[[], float]

    def load(self, place: Place, *, recursive: bool) -> tuple[Entry, ...] | None:
        """Return a whole listing that is young enough; None where there is none."""
        try:
            stored = json.loads(self._file(place, recursive).read_bytes())
            if not 0 <= self.now() - stored["listed"] < self.lifetime:
                return None
            return tuple(Entry(**entry) for entry in stored["entries"])
        except (OSError, ValueError, TypeError, KeyError):
            return None  # it is only a copy

    def store(self, place: Place, entries: Sequence[Entry], *, recursive: bool) -> None:
        """Remember a listing, and forget those that are too old.

        Raises:
            OSError: it cannot be written.
        """
        if not self.lifetime:
            return
        make_folder(self.folder)
        for old in self.folder.glob(f"{_PREFIX}*"):
            with suppress(FileNotFoundError):  # another process forgets them too
                if old.stat().st_mtime < self.now() - self.lifetime:
                    old.unlink()
        listed = {"listed": self.now(), "entries": [asdict(entry) for entry in entries]}
        write_whole(self._file(place, recursive), json.dumps(listed))

    def _file(self, place: Place, recursive: bool) -> Path:  # noqa: FBT001 - part of the name
        # A hash: a path may be longer than the name of a file.
        key = hashlib.sha256(f"{place}\n{recursive}".encode()).hexdigest()[:_DIGITS]
        return self.folder / f"{_PREFIX}{key}.json"
