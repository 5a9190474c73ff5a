"""Files that were received and wait to be read: stored whole before anybody is answered.

They are in the folder of the workspace, or in the database that several machines share: any of
them may read one.
"""

import hashlib
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from chapterhouse.errors import RejectedError
from chapterhouse.files import UNFINISHED, make_folder, move_into_place
from chapterhouse.store.shared_files import SharedFiles

FOLDER: Final = "uploads"  # in the folder of a workspace
_ABANDONED_SECONDS: Final = 86_400
_BETWEEN_SECONDS: Final = 60  # between two looks at what was abandoned: there may be thousands
_dropped: Final[dict[Path, float]] = {}  # when each folder was last looked at


class Upload:
    """A file that is being received, piece by piece."""

    def __init__(self, folder: Path, shared: SharedFiles | None, maximum: int) -> None:
        self._maximum = maximum
        self._shared = shared
        self._folder = folder / FOLDER
        make_folder(self._folder)
        self.path = self._folder / f"{UNFINISHED}{secrets.token_hex(8)}"
        self._stream = open(  # noqa: PTH123, SIM115 - of a descriptor; closed by finish or discard
            os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb"
        )
        self._hash = hashlib.sha256()
        self.size = 0

    def write(self, data: bytes) -> None:
        """Take the next piece.

        Raises:
            RejectedError: it is more than the settings let a file have.
        """
        self.size += len(data)
        if self.size > self._maximum:
            raise RejectedError(
                "too-large",
                f"The file has over {self._maximum // 2**20} megabytes.",
                hint="The setting reading.maximum_megabytes says how large a file may be.",
            )
        self._hash.update(data)
        self._stream.write(data)

    def finish(self) -> str:
        """Make it survive a power cut, and this machine where others share; return its name.

        Equal bytes that are received twice are two files: each job deletes what it has read.

        Raises:
            RejectedError: it is empty.
        """
        if not self.size:
            raise RejectedError("empty", "The file is empty.")
        self._stream.close()
        name = f"{self._hash.hexdigest()}-{secrets.token_hex(4)}"
        if self._shared is None:
            move_into_place(self.path, self._folder / name)
        else:
            self._shared.add_upload(name, self.path.read_bytes())
        return name

    def discard(self) -> None:
        """Delete what there is of an upload that was not finished."""
        self._stream.close()
        self.path.unlink(missing_ok=True)


@contextmanager
def receive(
    folder: Path, shared: SharedFiles | None, maximum: int, has_job: Callable[[str], bool]
) -> Iterator[Upload]:
    """Give an upload to write to; what is not finished is deleted, soon also of dead processes.

    Args:
        folder: Of the workspace.
        shared: The files of all machines, if there are several.
        maximum: Bytes of a file.
        has_job: Whether a finished upload of this name belongs to a job that is still known.
    """
    now = time.monotonic()
    if now - _dropped.get(folder, -_BETWEEN_SECONDS) >= _BETWEEN_SECONDS:
        _dropped[folder] = now
        drop_abandoned(folder, shared, has_job)
    upload = Upload(folder, shared, maximum)
    try:
        yield upload
    finally:
        upload.discard()


def read(folder: Path, shared: SharedFiles | None, name: str) -> bytes:
    """Return the bytes of a finished upload."""
    path = folder / FOLDER / name
    data = shared.upload(name) if shared else path.read_bytes() if path.exists() else None
    if data is None:
        raise RejectedError(
            "vanished", "The received file is not there any more.", hint="Send it again."
        )
    return data


def drop(folder: Path, shared: SharedFiles | None, name: str) -> None:
    """Delete a finished upload that is stored by now."""
    if shared is None:
        (folder / FOLDER / name).unlink(missing_ok=True)
    else:
        shared.drop_upload(name)


def drop_abandoned(
    folder: Path, shared: SharedFiles | None, has_job: Callable[[str], bool]
) -> None:
    """Delete what processes that died left unfinished, and what was for jobs that are forgotten.

    A job that was cancelled keeps its file as long as it can be tried again.
    """
    for path in (folder / FOLDER).glob("*"):
        with suppress(FileNotFoundError):  # another request deletes it, too
            is_old = time.time() - path.stat().st_mtime > _ABANDONED_SECONDS
            if is_old and (path.name.startswith(UNFINISHED) or not has_job(path.name)):
                path.unlink()
    if shared is not None:
        for name in shared.uploads(_ABANDONED_SECONDS):
            if not has_job(name):
                shared.drop_upload(name)
