"""Files that their owner alone may read, written whole or not at all; locks of folders."""

import fcntl
import math
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from typing import Final
from urllib.parse import quote

UNFINISHED: Final = ".unfinished-"  # how files begin that are not whole yet: no walk reads them
OTHERS: Final = 0o077  # what a mode lets everybody do who is not the owner
_WORK: Final = f"{UNFINISHED}work-"  # how folders begin whose files are not whole yet
_LOCKED_WITHIN: Final = 60.0  # seconds after a folder was made, at the latest
_ONLY_OWNER: Final = 0o600
_PAUSE_SECONDS: Final = 0.02  # between two looks at a lock
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
        if path.exists():
            unfinished.chmod(path.stat().st_mode & _ONLY_OWNER)
        move_into_place(unfinished, path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def write_output(path: Path, text: str) -> None:
    """Write the file that a user named for what a command gives, as ``write_whole`` does.

    A link stays one: what it names is written. A device or pipe, which nothing can take the place
    of, is written as it is. A lone surrogate is written as its escape.

    Raises:
        OSError: it cannot be written; what was there is still there.
    """
    data = text.encode("utf-8", "backslashreplace")
    if path.exists() and not path.is_file():
        path.write_bytes(data)
    else:
        write_whole(Path(os.path.realpath(path)), data)


def move_into_place(unfinished: Path, path: Path, *, replace: bool = True) -> None:
    """Give a file that is written to its end its name, so that both survive a power cut.

    Raises:
        FileExistsError: something has that name and ``replace`` is False.
    """
    _sync(unfinished, os.O_NOFOLLOW)
    if replace:
        unfinished.replace(path)
    else:
        _move_to_free_name(unfinished, path)
    sync_folder(path.parent)


def _move_to_free_name(file: Path, path: Path) -> None:
    try:
        os.link(file, path)  # unlike a renaming, over nothing
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links; nothing was there a moment ago
        if path.exists():
            raise FileExistsError(path) from None
        file.rename(path)
    else:
        file.unlink()


@contextmanager
def work_folder(parent: Path) -> Iterator[Path]:
    """Give a new folder for what is not whole yet; nothing of it stays behind.

    What a killed process left in such a folder is deleted by the next one in the same place.
    """
    for path in parent.glob(f"{_WORK}*"):
        with lock_folder(path, wait_seconds=0.0) as is_free, suppress(FileNotFoundError):
            if is_free and path.stat().st_mtime < time.time() - _LOCKED_WITHIN:
                rmtree(path, ignore_errors=True)
    folder = parent / f"{_WORK}{secrets.token_hex(8)}"
    folder.mkdir(mode=0o700)
    try:
        with lock_folder(folder):
            yield folder
    finally:
        rmtree(folder, ignore_errors=True)


@contextmanager
def lock_folder(folder: Path, name: str = "", wait_seconds: float = math.inf) -> Iterator[bool]:
    """Hold a lock that one thread of one process has at a time, and let it go with the block.

    Args:
        folder: What is locked; nothing is written into it.
        name: Of a file in it that is locked instead; it and the folder are made if need be.
        wait_seconds: How long another may hold it.

    Yields:
        False where another held it the whole time, or it cannot be locked: a disk takes nothing,
        or a network's file system has no locks.
    """
    try:
        descriptor = _open_lock(folder, name)
    except OSError:
        yield False
        return
    try:
        yield _acquire(descriptor, time.monotonic() + wait_seconds)
    finally:
        os.close(descriptor)  # releases the lock


def _open_lock(folder: Path, name: str) -> int:
    if not name:
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    folder.mkdir(parents=True, exist_ok=True)
    return os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _ONLY_OWNER)


def _acquire(descriptor: int, deadline: float) -> bool:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(_PAUSE_SECONDS)
        except OSError:
            return False
        else:
            return True


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
    _sync(folder, os.O_DIRECTORY)


def _sync(path: Path, flag: int) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | flag)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def home_folder(home: Path | str | None = None) -> Path:
    """Return the home folder: ``home``, else ``$CHAPTERHOUSE_HOME``, else ``~/Chapterhouse``."""
    named = home or os.environ.get("CHAPTERHOUSE_HOME") or "~/Chapterhouse"
    return Path(named).expanduser().absolute()
