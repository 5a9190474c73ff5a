"""Files in a database that several machines share, and folders that each of them keeps equal.

Received files are there until a worker has read them. The folders of personas and councils are on
every machine, since people and readers work on files: a machine writes to the database what was
changed in its own, and takes from there what others have changed.
"""

import errno
import json
import logging
import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from chapterhouse.errors import ChapterhouseError
from chapterhouse.files import UNFINISHED, lock_folder, make_folder, write_whole
from chapterhouse.store.rows import Database, Row, Value, load_statements, repeatable
from chapterhouse.text.naming import storable_path, system_path

REPLACED: Final = "_replaced"  # beside definitions: files that gave way to another machine's
_UPLOADS: Final = "uploads/"
_NOTE: Final = "shared"  # in the folder of the indexes: what both sides had last
_WALK_SECONDS: Final = 10.0  # between looks for what people changed
_TOGETHER: Final = 50  # files in a transaction
_LARGEST: Final = 512 * 2**20  # bytes of a file that goes into the database
_STATEMENTS: Final = load_statements("shared_files.sql")
_log: Final = logging.getLogger(__name__)

# Of a file its size and time in nanoseconds; of a folder, whose path ends with "/", 0 and its time.
_Stamp = tuple[int, int]


@repeatable
class SharedFiles:
    """The files in the database of a workspace."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.read_only = database.read_only
        self.together = database.write
        self.is_writing = database.is_writing

    def add_upload(self, name: str, data: bytes) -> None:
        """Store a received file, so that it survives the end of this machine."""
        self._run("add_upload", _UPLOADS + name, time.time_ns(), data)

    def upload(self, name: str) -> bytes | None:
        """Return the bytes of a received file."""
        return self.bytes_of(_UPLOADS + name)

    def uploads(self, minimum_age: float) -> tuple[str, ...]:
        """Return the names of files that were received at least so many seconds ago."""
        found = self._read("uploads", time.time_ns() - int(minimum_age * 1e9))
        return tuple(str(path).removeprefix(_UPLOADS) for (path,) in found)

    def drop_upload(self, name: str) -> None:
        """Delete a received file."""
        self._run("drop_upload", _UPLOADS + name)

    def bytes_of(self, path: str) -> bytes | None:
        """Return the bytes of a file; None where it is not there."""
        found = self._read("bytes", path)
        return found[0][0] if found else None

    def version(self) -> int:
        """Return the number of the latest change in a folder."""
        return int(self._read("version")[0][0])

    def changes(self, version: int) -> Sequence[Row]:
        """Return what changed after a version: path, version, time, and whether it is there."""
        return self._read("changes", version)

    def write(self, path: str, modified: int, data: bytes | None) -> int:
        """Write a file of a folder, or, without data, that it is gone; return the version."""
        return int(self._run("write_file", path, modified, data)[0][0])

    def _read(self, name: str, *bindings: Value) -> Sequence[Row]:
        with self._database.read() as connection:
            return connection.execute(_STATEMENTS[name], bindings).fetchall()

    def _run(self, name: str, *bindings: Value) -> Sequence[Row]:
        with self._database.write() as connection:
            return connection.execute(_STATEMENTS[name], bindings).fetchall()


@repeatable
class SharedFolders:
    """Folders of this machine that have the files of those of all others. Safe between threads.

    A file that was changed on two machines is what the one that told the database first made it;
    the other's is kept in ``_replaced``.

    Args:
        files: Those in the database.
        roots: The folders by name. What begins with ``_`` or ``.`` in them is this machine's own.
        folder: Where to note what both sides had last.
    """

    def __init__(self, files: SharedFiles, roots: Mapping[str, Path], folder: Path) -> None:
        self._files = files
        self._roots = roots
        self._folder = folder
        self._lock = threading.RLock()
        self._version = -1
        self._walked = 0.0

    def follow(self) -> None:
        """Take what other machines have changed; now and then give what people have changed."""
        is_due = time.monotonic() - self._walked > _WALK_SECONDS
        if is_due or self._files.version() != self._version:
            self.exchange()

    def exchange(self) -> None:
        """Take what other machines have changed, and give what was changed here.

        Within a transaction it is left to the next time: who has this lock may wait for that one.

        Raises:
            ChapterhouseError: a folder cannot be listed or written.
        """
        if self._files.is_writing():
            return
        try:
            with self._lock, lock_folder(self._folder, f"{_NOTE}.lock"):
                while not self._exchange():
                    pass
        except OSError as error:
            raise ChapterhouseError(
                f"{error.filename} cannot be shared with other machines: {error.strerror}.",
                hint="See that the folder is yours, and that there is space on its disk.",
            ) from error

    def _exchange(self) -> bool:
        """Return whether both sides are even now."""
        version, known = self._noted()
        here = dict(self._walk())
        self._walked = time.monotonic()
        version = self._take(version, known, here)
        if self._files.read_only:
            self._version = version
            return True
        return self._give(version, known, here)

    # --- taking and giving -----------------------------------------------------------------------

    def _take(self, version: int, known: dict[str, _Stamp], here: dict[str, _Stamp]) -> int:
        """Write here what is new there; return up to which version."""
        folders: list[tuple[str, int, bool]] = []
        before = version
        for path, number, modified, is_there in self._files.changes(version):
            version = number
            place = self._place(path)
            if path.endswith("/"):
                folders.append((path, modified, is_there))
            elif is_there or place.exists():
                data = self._files.bytes_of(path) if is_there else None
                is_changed = here.get(path) != known.get(path)
                self._receive(place, data, modified, is_changed=is_changed)
            _set(known, path, _stamp(place))
            _set(here, path, known.get(path))
        for path, modified, is_there in sorted(folders, reverse=True):  # what is inside first
            place = self._place(path)
            if is_there:
                make_folder(place)
                os.utime(place, ns=(modified, modified))
            else:
                with suppress(OSError):  # this machine has something else in it
                    place.rmdir()
            _set(known, path, _stamp(place))
            _set(here, path, known.get(path))
        if version != before:
            self._note(version, known)
        return version

    def _receive(self, place: Path, data: bytes | None, modified: int, *, is_changed: bool) -> None:
        if is_changed and place.is_file() and place.read_bytes() != data:
            self._set_aside(place)
        if data is None:
            place.unlink(missing_ok=True)
            return
        make_folder(place.parent)
        write_whole(place, data)
        os.utime(place, ns=(modified, modified))

    def _set_aside(self, place: Path) -> None:
        (root,) = (root for root in self._roots.values() if place.is_relative_to(root))
        aside = root / REPLACED / place.relative_to(root)
        make_folder(aside.parent)
        place.replace(aside)
        _log.warning("%s was changed on two machines; this one's is in %s", place, aside)

    def _give(self, version: int, known: dict[str, _Stamp], here: Mapping[str, _Stamp]) -> bool:
        """Write there what is new here; False where another machine has come between."""
        changed = [path for path in sorted({*known, *here}) if known.get(path) != here.get(path)]
        for start in range(0, len(changed), _TOGETHER):
            with self._files.together():
                if self._files.version() != version:
                    return False
                for path in changed[start : start + _TOGETHER]:
                    stamp = here.get(path)
                    _set(known, path, stamp)
                    try:
                        data = self._bytes_here(path) if stamp else None
                    except OSError as error:
                        _log.warning("%s is not shared with other machines: %s", path, error)
                        continue
                    version = self._files.write(path, stamp[1] if stamp else 0, data)
            self._note(version, known)
        self._version = version
        return True

    def _bytes_here(self, path: str) -> bytes | None:
        if path.endswith("/"):
            return b""
        try:
            place = self._place(path)
            if place.stat().st_size > _LARGEST:
                raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(place))
            return place.read_bytes()
        except FileNotFoundError:  # since the walk
            return None

    # --- what is where ---------------------------------------------------------------------------

    def _place(self, path: str) -> Path:
        name, *parts = path.removesuffix("/").split("/")
        if name not in self._roots or {"", ".", ".."} & set(parts):
            raise ValueError(f"The database has a file {path!r}, which is in none of our folders.")
        return self._roots[name].joinpath(*map(system_path, parts))

    def _walk(self) -> Iterator[tuple[str, _Stamp]]:
        for name, root in self._roots.items():
            for entry in _entries(root):
                if entry.is_dir(follow_symlinks=False) and not entry.name.startswith((".", "_")):
                    yield from _walk_folder(Path(entry.path), f"{name}/{storable_path(entry.name)}")

    def _noted(self) -> tuple[int, dict[str, _Stamp]]:
        """Return what both sides had last: a version, and stamps; nothing where a folder is lost.

        Without a folder that had files this machine begins anew: nobody has deleted them all.
        """
        try:
            version, files = json.loads((self._folder / _NOTE).read_bytes())
        except (FileNotFoundError, ValueError):
            return 0, {}
        had = {path.partition("/")[0] for path in files}
        if not all(self._roots[name].is_dir() for name in had):
            return 0, {}
        return version, {path: (size, time_ns) for path, (size, time_ns) in files.items()}

    def _note(self, version: int, known: Mapping[str, _Stamp]) -> None:
        write_whole(self._folder / _NOTE, json.dumps([version, known]))


def _walk_folder(folder: Path, path: str) -> Iterator[tuple[str, _Stamp]]:
    yield f"{path}/", (0, folder.stat().st_mtime_ns)
    for entry in _entries(folder):
        below = f"{path}/{storable_path(entry.name)}"
        if entry.is_dir(follow_symlinks=False):
            yield from _walk_folder(Path(entry.path), below)
        elif entry.is_file(follow_symlinks=False):
            found = entry.stat(follow_symlinks=False)
            yield below, (found.st_size, found.st_mtime_ns)


def _entries(folder: Path) -> Iterable["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as found:
            return [entry for entry in found if not entry.name.startswith(UNFINISHED)]
    except FileNotFoundError:
        return []


def _stamp(place: Path) -> _Stamp | None:
    try:
        found = place.stat()
    except FileNotFoundError:
        return None
    return (0 if place.is_dir() else found.st_size), found.st_mtime_ns


def _set(stamps: dict[str, _Stamp], path: str, stamp: _Stamp | None) -> None:
    if stamp is None:
        stamps.pop(path, None)
    else:
        stamps[path] = stamp
