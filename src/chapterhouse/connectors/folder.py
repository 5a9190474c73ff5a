"""Files of a folder: which there are, found without leaving the folder."""

import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from chapterhouse import lazy
from chapterhouse.connectors.volumes import Volumes
from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.text.naming import printable_name, source_name, storable_path, system_path
from chapterhouse.types import Notice

if TYPE_CHECKING:
    import pathspec
else:
    pathspec = lazy("pathspec")

# Folders that tools fill, not people; hidden ones (.git, .venv) are left out by their dot.
IGNORED_FOLDERS = frozenset({"node_modules", "__pycache__", "__MACOSX", "$RECYCLE.BIN"})
# Files that desktops, office programs and Chapterhouse leave behind.
IGNORED_FILES = frozenset({"thumbs.db", "desktop.ini", "chapterhouse.toml"})
# How files end that are not whole yet, or that an editor makes beside the one it has open.
_TEMPORARY = (".tmp", ".part", ".partial", ".crdownload", ".swp", "~")
# What Chapterhouse itself keeps: a library below an added folder must not read itself.
_LIBRARY_FILE, _LIBRARIES = "library.db", "workspaces"
# What the location of text begins with that came from no file; then the shelf it was sent to, where
# that is not the default one, and a colon; then its hash.
GIVEN = "text:"
REMOTE = "rclone:"  # what locations in cloud drives begin with; then REMOTE:PATH
_LOCK_PREFIX = "~$"  # Office's marker beside an open document
HIDDEN, TEMPORARY, TOOLS, EXCLUDED = "hidden", "temporary", "of tools", "excluded"  # why ignored
OnIgnored = Callable[[str, str], object]  # the path and why

_SPECIAL = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFBLK: "a block device",
    stat.S_IFCHR: "a character device",
}
_SEARCH = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class Leaves(Protocol):
    """Says of a path below a root, with ``/``, whether it is left out."""

    def __call__(self, path: str, *, is_folder: bool) -> bool:
        """Return whether it is."""


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
        ctime_ns: Time of the last change of the file or its name, which nobody can set: a file that
            took the place of another shows by it, whatever its size and time. 0: not known.
        problem: Why it will not be opened, or None.
        volume: Where its folder was, as ``Volumes.of`` says; empty where that is not known.
    """

    root: Path
    parts: tuple[str, ...]
    location: str
    source: str
    size: int = 0
    mtime_ns: int = 0
    problem: Notice | None = None
    ctime_ns: int = 0
    volume: str = ""

    @property
    def name(self) -> str:
        """The file's own name, as shown."""
        return self.source.rpartition("/")[2]


def nothing_left_out(path: str, *, is_folder: bool) -> bool:  # noqa: ARG001 - fills a seam
    """Leave nothing out."""
    return False


def walk(
    path: Path,
    label: str = "",
    *,
    on_ignored: OnIgnored = lambda _path, _reason: None,
    leaves_out: Leaves = nothing_left_out,
    volumes: Volumes | None = None,
) -> Iterator[SourceFile]:
    """Yield the files at or below ``path``, in order of source.

    Hidden and temporary files, what tools leave behind and libraries of Chapterhouse are ignored.
    What cannot be read as a file (a link, a pipe, a device, a closed folder) is yielded with its
    problem. Links are not followed, except ``path`` itself: its owner named it.

    Args:
        label: What sources begin with; by default the name of the folder, or of the file's.
        leaves_out: Says of a path below a folder, with ``/``, whether its owner excluded it.

    Raises:
        NotFoundError: nothing is there.
    """
    root, parts = resolve_root(path)
    label = label or root.name or "root"
    if parts:
        yield describe(root, parts, label, volumes)
        return
    yield from _Walk(root, label, on_ignored, leaves_out, volumes).files()


def resolve_root(path: Path) -> tuple[Path, tuple[str, ...]]:
    """Return the folder that ``path`` adds and, where it is a file, its name in that folder."""
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
        or any(Path(system_path(place)).is_file() for place in parents_of(location))
    )


def is_visible(path: Path, *, folder: bool = False) -> bool:
    """Whether something is at a path, or a folder is; not where the server of it is away."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISDIR(mode) or not folder


def parents_of(location: str) -> Iterator[str]:
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


def describe(
    root: Path, parts: tuple[str, ...], label: str, volumes: Volumes | None = None
) -> SourceFile:
    """Return the file at ``parts`` below ``root`` as it is now, or with the problem of it."""
    with folder_below(root, parts[:-1]) as folder:
        status = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)
    return SourceFile(
        root=root,
        parts=parts,
        location=location_of(root, parts),
        source=source_name(label, parts),
        size=status.st_size,
        mtime_ns=status.st_mtime_ns,
        problem=_problem(status.st_mode),
        ctime_ns=status.st_ctime_ns,
        volume=volumes.of(location_of(root, parts[:-1])) if volumes else "",
    )


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


class _Walk:
    """A walk with a stack of its own: a path may be deeper than Python's."""

    def __init__(
        self,
        root: Path,
        label: str,
        on_ignored: OnIgnored,
        leaves_out: Leaves,
        volumes: Volumes | None,
    ) -> None:
        self._root = root
        self._label = label
        self._on_ignored = on_ignored
        self._leaves_out = leaves_out
        self._volumes = volumes

    def files(self) -> Iterator[SourceFile]:
        stack: list[SourceFile | tuple[str, ...]] = [()]
        while stack:
            found = stack.pop()
            if isinstance(found, SourceFile):
                yield found
                continue
            try:
                stack.extend(reversed(self._inside(found)))
            except OSError as error:
                yield _closed(self._root, found, self._label, error)

    def _inside(self, parts: tuple[str, ...]) -> list[SourceFile | tuple[str, ...]]:
        """Return what is in a folder: files described, and folders by their names.

        A folder is placed as if its name ended in ``/``: then walking in this order is walking in
        the order of whole sources.
        """
        place = location_of(self._root, parts).rstrip("/")
        volume = self._volumes.of(place or "/") if self._volumes else ""
        source = source_name(self._label, parts)
        with folder_below(self._root, parts) as folder, os.scandir(folder) as entries:
            named = [(entry, entry.is_dir(follow_symlinks=False)) for entry in entries]
            if self._is_library(parts, named):
                return []
            found: list[tuple[str, SourceFile | tuple[str, ...]]] = []
            for entry, is_folder in named:
                if reason := self._reason(parts, entry.name, is_folder):
                    self._on_ignored(f"{place}/{storable_path(entry.name)}", reason)
                    continue
                below = (*parts, entry.name)
                if is_folder:
                    found.append((source_name(entry.name, ("",)), below))
                    continue
                try:
                    status = entry.stat(follow_symlinks=False)
                except FileNotFoundError:  # gone since it was listed, as if it had never been there
                    continue
                name, stored = printable_name(entry.name), storable_path(entry.name)
                file = SourceFile(
                    self._root,
                    below,
                    f"{place}/{stored}",
                    f"{source}/{name}",
                    status.st_size,
                    status.st_mtime_ns,
                    _problem(status.st_mode),
                    status.st_ctime_ns,
                    volume=volume,
                )
                found.append((name, file))
        return [one for _, one in sorted(found, key=lambda pair: pair[0])]

    def _is_library(
        self, parts: tuple[str, ...], named: Sequence[tuple["os.DirEntry[str]", bool]]
    ) -> bool:
        parent = parts[-2] if len(parts) > 1 else (self._root, self._root.parent)[not parts].name
        is_there = any(entry.name == _LIBRARY_FILE and not folder for entry, folder in named)
        return parent == _LIBRARIES and is_there

    def _reason(self, parts: tuple[str, ...], name: str, is_folder: bool) -> str:  # noqa: FBT001
        """Return why what has this name is ignored; empty where it is not."""
        reason = _ignored(name, is_folder)
        if reason:
            return reason
        return EXCLUDED if self._leaves_out("/".join((*parts, name)), is_folder=is_folder) else ""


def _ignored(name: str, is_folder: bool) -> str:  # noqa: FBT001 - a pair of scandir
    """Return why a name is ignored wherever it is found; empty where it is not."""
    if name.startswith("."):
        return HIDDEN
    if is_folder:
        return TOOLS if name in IGNORED_FOLDERS else ""
    if name.casefold() in IGNORED_FILES:
        return TOOLS
    is_temporary = name.startswith(_LOCK_PREFIX) or name.casefold().endswith(_TEMPORARY)
    return TEMPORARY if is_temporary else ""


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


_UNCLOSED: Final = re.compile(r"(?<!\\)\[[^\]]*$")  # git takes it for one that fits nothing


def left_out(include: Sequence[str], exclude: Sequence[str]) -> Leaves:
    """Return what says of a path below the root whether patterns leave it out.

    A file is read where a pattern of ``include`` fits it, or there is none, and no pattern of
    ``exclude`` does. Folders that ``exclude`` fits are not looked into.

    Source of the patterns' meaning: https://git-scm.com/docs/gitignore#_pattern_format

    Raises:
        UsageError: a pattern is none.
    """
    if not include and not exclude:
        return nothing_left_out
    included, excluded = _compiled(include), _compiled(exclude)

    def leaves(path: str, *, is_folder: bool) -> bool:
        if excluded.match_file(f"{path}/" if is_folder else path):
            return True
        return bool(include) and not is_folder and not included.match_file(path)

    return leaves


def _compiled(patterns: Sequence[str]) -> "pathspec.GitIgnoreSpec":
    for pattern in patterns:
        if not pattern.strip() or "\n" in pattern or _UNCLOSED.search(pattern):
            raise UsageError(f"{pattern!r} is no pattern.", hint="Write it as in .gitignore: *.log")
    try:
        return pathspec.GitIgnoreSpec.from_lines(patterns)
    except ValueError as error:
        raise UsageError(
            f"A pattern cannot be used: {error}", hint="Write it as in .gitignore: drafts/"
        ) from error
