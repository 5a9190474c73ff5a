"""Files of a folder: which there are, and their bytes, read without leaving the folder."""

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from chapterhouse.errors import NotFoundError
from chapterhouse.text.naming import source_name, storable_path, system_path
from chapterhouse.types import Notice

# Folders that tools fill, not people; hidden ones (.git, .venv) are left out by their dot.
IGNORED_FOLDERS = frozenset({"node_modules", "__pycache__", "__MACOSX", "$RECYCLE.BIN"})
# Files that desktops, office programs and Chapterhouse leave behind.
IGNORED_FILES = frozenset({"thumbs.db", "desktop.ini", "chapterhouse.toml"})
# What Chapterhouse itself keeps: a library below an added folder must not read itself.
_LIBRARY_FILE, _LIBRARIES = "library.db", "workspaces"
GIVEN = "text:"  # what the location of text begins with that came from no file; then its hash
REMOTE = "rclone:"  # what locations in cloud drives begin with; then REMOTE:PATH
_LOCK_PREFIX = "~$"  # Office's marker beside an open document

_SPECIAL = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFBLK: "a block device",
    stat.S_IFCHR: "a character device",
}
_SEARCH = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that was found below a root, not yet opened.

    Attributes:
        root: The added folder, absolute and resolved.
        parts: Names below it, as the system spells them: they may hold bytes that are no text.
        location: Absolute path as text.
        source: Name as shown and cited.
        size: Bytes, when it was found.
        mtime_ns: Modification time in nanoseconds, when it was found.
        problem: Why it will not be opened, or None.
        digest: Its hash, like ``md5:…``, where a listing states one.
    """

    root: Path
    parts: tuple[str, ...]
    location: str
    source: str
    size: int = 0
    mtime_ns: int = 0
    problem: Notice | None = None
    digest: str = ""

    @property
    def name(self) -> str:
        """The file's own name, as shown."""
        return self.source.rpartition("/")[2]


def walk(
    path: Path, label: str = "", *, on_hidden: Callable[[Path], object] = lambda _: None
) -> Iterator[SourceFile]:
    """Yield the files at or below ``path``, in order of source.

    Hidden files, what tools leave behind and libraries of Chapterhouse are ignored. What
    cannot be read as a file (a link, a pipe, a device, a closed folder) is yielded with its
    problem. Links are not followed, except ``path`` itself: its owner named it.

    Args:
        path: A folder, or one file.
        label: What sources begin with; by default the name of the folder, or of the file's.
        on_hidden: Called with each hidden file and folder that is ignored.

    Raises:
        NotFoundError: nothing is there.
    """
    root, parts = resolve_root(path)
    label = label or root.name or "root"
    if parts:
        yield describe(root, parts, label)
        return
    yield from _walk_folder(root, label, on_hidden)


def resolve_root(path: Path) -> tuple[Path, tuple[str, ...]]:
    """Return the folder that ``path`` adds and, where it is a file, its name in that folder.

    Raises:
        NotFoundError: nothing is there.
    """
    try:
        resolved = path.expanduser().resolve(strict=True)
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
        raise NotFoundError(
            f"There is no file or folder {storable_path(str(path))!r}.",
            hint="Check the spelling, and that the disk is there.",
        ) from error
    return (resolved, ()) if resolved.is_dir() else (resolved.parent, (resolved.name,))


def is_there(location: str) -> bool:
    """Say whether a file or link stands at a stored location, whatever its name is made of.

    Text that was given without a file has none to be gone. What is in a cloud drive counts as
    there: only a listing of it can say otherwise.
    """
    if location.startswith((GIVEN, REMOTE)):
        return True
    # What lies in an archive is there as long as that is.
    return (
        os.path.lexists(location)
        or os.path.lexists(system_path(location))
        or any(Path(system_path(place)).is_file() for place in above(location))
    )


def above(location: str) -> Iterator[str]:
    """Yield the folders, and archives, above a location, the nearest first."""
    if location.startswith(REMOTE):
        yield from _above_in_remote(location)
        return
    while location != "/":
        location = location.rpartition("/")[0] or "/"
        yield location


def _above_in_remote(location: str) -> Iterator[str]:
    """Yield ``rclone:REMOTE:a/b``, ``rclone:REMOTE:a`` and ``rclone:REMOTE:`` for what is in b."""
    remote, colon, path = location.removeprefix(REMOTE).partition(":")
    while path:
        path = path.rpartition("/")[0]
        yield f"{REMOTE}{remote}{colon}{path}"


def is_ignored(parts: Sequence[str]) -> bool:
    """Whether a path leads to what tools leave behind, or through folders that they fill."""
    folders = zip(parts, [True] * (len(parts) - 1) + [False], strict=True)
    return any(_ignored(name, is_folder) for name, is_folder in folders)


def describe(root: Path, parts: tuple[str, ...], label: str) -> SourceFile:
    """Return the file at ``parts`` below ``root`` as it is now, or with the problem of it."""
    with folder_below(root, parts[:-1]) as folder:
        status = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)
    return _described(root, parts, label, status)


@contextmanager
def folder_below(root: Path, parts: Sequence[str]) -> Iterator[int]:
    """Open the folder at ``parts`` below ``root`` one name at a time, following no link."""
    descriptor = os.open(root, _SEARCH)
    try:
        for part in parts:
            below = os.open(part, _SEARCH | os.O_NOFOLLOW, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
        yield descriptor
    finally:
        os.close(descriptor)


def _walk_folder(
    root: Path, label: str, on_hidden: Callable[[Path], object]
) -> Iterator[SourceFile]:
    """Walk with a stack of our own: a path may be deeper than Python's."""
    stack: list[tuple[tuple[str, ...], bool]] = [((), True)]
    while stack:
        parts, is_folder = stack.pop()
        if is_folder:
            try:
                names = _names(root, parts, on_hidden)
            except OSError as error:
                yield _closed(root, parts, label, error)
                continue
            stack.extend(((*parts, name), folder) for name, folder in reversed(names))
            continue
        try:
            yield describe(root, parts, label)
        except OSError:  # gone since it was listed, as if it had never been there
            continue


def _names(
    root: Path, parts: tuple[str, ...], on_hidden: Callable[[Path], object]
) -> list[tuple[str, bool]]:
    """Return the names in a folder worth looking at, and whether each is a folder.

    A folder is placed as if its name ended in ``/``: then walking in this order is walking in
    the order of whole sources.
    """
    with folder_below(root, parts) as folder, os.scandir(folder) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    parent = root.joinpath(*parts[:-1]) if parts else root.parent
    if parent.name == _LIBRARIES and (_LIBRARY_FILE, False) in found:
        return []
    for name, _ in found:
        if name.startswith("."):
            on_hidden(root.joinpath(*parts, name))
    included = [pair for pair in found if not _ignored(*pair)]
    return sorted(included, key=lambda pair: source_name(pair[0], ("",) if pair[1] else ()))


def _ignored(name: str, is_folder: bool) -> bool:  # noqa: FBT001 - a pair of scandir
    if name.startswith("."):
        return True
    if is_folder:
        return name in IGNORED_FOLDERS
    return name.casefold() in IGNORED_FILES or name.startswith(_LOCK_PREFIX)


def _described(
    root: Path, parts: tuple[str, ...], label: str, status: os.stat_result
) -> SourceFile:
    return SourceFile(
        root=root,
        parts=parts,
        location=location_of(root, parts),
        source=source_name(label, parts),
        size=status.st_size,
        mtime_ns=status.st_mtime_ns,
        problem=_problem(status.st_mode),
    )


def location_of(root: Path, parts: Sequence[str]) -> str:
    """Return the absolute path of ``parts`` below ``root``, as text."""
    return storable_path(os.path.join(root, *parts))  # noqa: PTH118 - Path would parse the names


def _problem(mode: int) -> Notice | None:
    if stat.S_ISREG(mode):
        return None
    if stat.S_ISLNK(mode):
        return Notice("symbolic-link", "Links are not followed; add the folder it leads to.")
    kind = _SPECIAL.get(stat.S_IFMT(mode), "something else")
    return Notice("not-a-file", f"This is {kind}, not a file.")


def _closed(root: Path, parts: tuple[str, ...], label: str, error: OSError) -> SourceFile:
    sentence = f"The folder cannot be listed: {error.strerror}."
    return SourceFile(
        root=root,
        parts=parts,
        location=location_of(root, parts),
        source=source_name(label, parts),
        problem=Notice("cannot-list", sentence),
    )
