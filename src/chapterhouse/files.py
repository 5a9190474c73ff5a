"""Files that their owner alone may read, written whole or not at all."""

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote

UNFINISHED: Final = ".unfinished-"  # how files begin that are not whole yet: no walk reads them
OTHERS: Final = 0o077  # what a mode lets everybody do who is not the owner
_ONLY_OWNER: Final = 0o600
_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def private_files() -> Iterator[None]:
    """Let every file made inside the block be its owner's alone. For the whole process."""
    before = os.umask(OTHERS)
    try:
        yield
    finally:
        os.umask(before)


def make_folder(folder: Path) -> None:
    """Make a folder and what is missing above it, so that it survives a power cut.

    Only their owner may look into them.

    Raises:
        OSError: it cannot be made.
    """
    for missing in reversed([one for one in (folder, *folder.parents) if not one.is_dir()]):
        missing.mkdir(mode=0o700, exist_ok=True)
        sync_folder(missing.parent)


def write_whole(path: Path, content: str | bytes) -> None:
    """Replace a file in one step that survives a power cut; a link gives way to the file.

    The file is its owner's alone, and no less strict than the one that it replaces.

    Args:
        path: In a folder that is there.
        content: Text is written in UTF-8; a lone surrogate in it stays one.

    Raises:
        OSError: it cannot be written; what was there is still there.
    """
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    unfinished = path.with_name(f"{UNFINISHED}{secrets.token_hex(8)}")
    try:
        with open(os.open(unfinished, _FLAGS, _ONLY_OWNER), "wb") as stream:  # noqa: PTH123 - of a descriptor
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if path.exists():
            unfinished.chmod(path.stat().st_mode & _ONLY_OWNER)
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def is_writable(path: Path) -> bool:
    """Whether a file and its folder, in which others may have to be made, can be written."""
    return os.access(path.parent, os.W_OK) and (os.access(path, os.W_OK) or not path.exists())


def read_only_address(database: Path) -> str:
    """Return the address under which SQLite reads a database and writes nothing beside it.

    Where nobody has a log open it is taken not to change meanwhile: SQLite would want to make one.
    """
    log = Path(f"{database}-wal")
    unchanging = "" if log.exists() and log.stat().st_size else "&immutable=1"
    return f"file:{quote(str(database))}?mode=ro{unchanging}"


def sync_folder(folder: Path) -> None:
    """Make names that were created or removed in ``folder`` survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def lock_folder(path: Path) -> Iterator[None]:
    """Wait until no other process or thread works in a folder, and keep it until the end.

    The folder itself is locked, so that nothing has to be written into it.

    Raises:
        OSError: it is no folder that can be opened.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # a network's file system without locks: then as without them
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
