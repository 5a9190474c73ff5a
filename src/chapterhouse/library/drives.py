"""Cloud drives as a library reads them: the program, remembered listings, copies of files."""

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any, Final

from chapterhouse.answering.runtime import Runtime
from chapterhouse.connectors.rclone import Copies
from chapterhouse.connectors.rclone_listing import Entry, Place, list_place
from chapterhouse.connectors.rclone_program import Patience, Rclone, find_rclone
from chapterhouse.files import make_folder, write_whole
from chapterhouse.ingest.remove import LISTINGS

_CACHE: Final = "cache"  # in the folder of the workspace
_GOOD_FOR: Final = 300  # seconds
PATIENCE = Patience()


def rclone_of(runtime: Runtime) -> Rclone:
    """Return the rclone program.

    Raises:
        NotFoundError: the settings name one that is not there.
        MissingExtraError: there is none.
    """
    return Rclone(find_rclone(runtime.settings.cloud.rclone), PATIENCE)


def copies_of(place: Place, runtime: Runtime) -> Copies:
    """Return what copies the files of a folder."""
    name = hashlib.sha256(str(place).encode()).hexdigest()[:16]  # a path may be longer than a name
    folder = runtime.folder / _CACHE / "drives" / name
    return Copies(rclone_of(runtime), place, folder)


def list_folder(
    place: Place, runtime: Runtime, *, refresh: bool = False, recursive: bool = False
) -> tuple[Entry, ...]:
    """Return what is in a folder, as it was listed a moment ago, else anew.

    Raises:
        ChapterhouseError: it cannot be listed to its end.
    """
    key, known = f"{place} {recursive}", _remembered(runtime)
    if key in known and not refresh:
        return tuple(Entry(**entry) for entry in known[key]["entries"])
    found = list_place(rclone_of(runtime), place, recursive=recursive)
    listed = {"listed": runtime.now(), "entries": [asdict(entry) for entry in found]}
    with suppress(OSError):  # it can be browsed where nothing can be written
        make_folder(runtime.folder / _CACHE)
        write_whole(runtime.folder / LISTINGS, json.dumps({**known, key: listed}))
    return found


def _remembered(runtime: Runtime) -> Mapping[str, Any]:
    """Return the listings that are young enough, by folder."""
    now = runtime.now()
    try:
        stored = json.loads((runtime.folder / LISTINGS).read_bytes())
        return {key: one for key, one in stored.items() if 0 <= now - one["listed"] < _GOOD_FOR}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}  # it is only a copy
