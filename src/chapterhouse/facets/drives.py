"""Cloud drives as a library reads them: the program, and copies of files."""

import hashlib
from typing import Final

from chapterhouse.connectors.rclone import Copies
from chapterhouse.connectors.rclone_listing import Place
from chapterhouse.connectors.rclone_program import Patience, Rclone, find_rclone
from chapterhouse.runtime import Runtime

_CACHE: Final = "cache"  # in the folder of the workspace
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
