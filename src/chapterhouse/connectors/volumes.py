"""On which volume a folder is, and when something changes below it.

The empty folder where a disk was mounted is no deletion.

A volume is a file system, or the part of one that a bind mount shows, at a mount point. Two places
are the same where the file system and the path inside it are: a service that sees a home through a
mount of its own reads the same files as a shell.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Final, Self

from chapterhouse import lazy
from chapterhouse.errors import ChapterhouseError
from chapterhouse.text.naming import storable_path, system_path

if TYPE_CHECKING:
    import watchfiles
else:
    watchfiles = lazy("watchfiles")

_TABLE: Final = Path("/proc/self/mountinfo")  # proc_pid_mountinfo(5)
_ESCAPED: Final = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True)
class Mount:
    """A mount in this process.

    Attributes:
        number: Each mount has another, also one of the same disk at the same point.
        root: The path inside the file system that is seen there.
        source: What is mounted, as a network folder is named; empty for a disk, whose name changes.
    """

    number: str
    point: str
    root: str = "/"
    kind: str = ""
    source: str = ""


# Returns the mount at a mount point inside the mount of a number, if there is one.
Find = Callable[[str, str], Mount | None]
_ROOT: Final = Mount("", "/")


@dataclass(frozen=True, slots=True)
class Volume:
    """What is remembered of a mount; ``str`` writes it as text without a line break."""

    file_system: str
    root: str
    point: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return what ``str`` wrote."""
        return cls(*map(_unescape, text.split(" ")))

    def __str__(self) -> str:
        fields = (self.file_system, self.root, self.point)
        return " ".join(field.replace("\\", r"\134").replace(" ", r"\040") for field in fields)

    def place(self, folder: str) -> tuple[str, str]:
        """Return the file system of a folder, and the path inside it."""
        below = folder[len(self.point.rstrip("/")) :]
        return self.file_system, self.root.rstrip("/") + below


class Volumes:
    """The volumes of folders, as the mounts are at one moment."""

    def __init__(self, find: Find, identify: Callable[[Mount], str]) -> None:
        """Take what finds a mount, and what tells one file system from another, or is empty."""
        self._find = find
        self._identify = identify
        self._mounts: dict[str, Mount] = {}  # thousands of files share a folder
        self._texts: dict[Mount, str] = {}

    @classmethod
    def now(cls) -> Self:
        """Look which mounts this process has."""
        try:
            lines = os.fsdecode(_TABLE.read_bytes()).splitlines()
        except OSError:  # not on Linux
            return cls(_look, _identify)
        parents = {line.split(" ", 1)[0]: line.split(" ", 2)[1] for line in lines}
        table = {}
        for mount in map(_parse, lines):
            within = parents[mount.number]
            is_first = within == mount.number or within not in parents
            table["" if is_first else within, mount.point] = mount
        return cls(lambda number, point: table.get((number, point)), _identify)

    def mount(self, folder: str) -> Mount:
        """Return the mount that a folder is in; found as the kernel does, name by name."""
        if folder not in self._mounts:
            found = _ROOT if folder == "/" else self.mount(folder.rpartition("/")[0] or "/")
            while (over := self._find(found.number, folder)) is not None:
                found = over
            self._mounts[folder] = found
        return self._mounts[folder]

    def of(self, folder: str) -> str:
        """Return the volume of a folder as text; empty where it is unknown."""
        mount = self.mount(folder)
        if mount not in self._texts:
            system = self._identify(mount)
            volume = Volume(system, mount.root, mount.point)
            self._texts[mount] = str(volume) if system else ""
        return self._texts[mount]

    def changed_until(self, later: "Volumes") -> frozenset[str]:
        """Return the folders that were asked for and are in another mount later."""
        return frozenset(
            folder for folder, mount in self._mounts.items() if later.mount(folder) != mount
        )

    def is_same(self, folder: str, before: str) -> bool:
        """Whether the files of a folder are those of the volume that it had before."""
        now = self.of(folder)
        if now == before or not (now and before):
            return bool(now and before)
        return Volume.parse(now).place(folder) == Volume.parse(before).place(folder)


def _parse(line: str) -> Mount:
    number, _, device, root, point, *_, kind, source, _ = _fields(line)
    is_disk = not device.startswith("0:")
    return Mount(number, point, root, kind, "" if is_disk else source)


def _fields(line: str) -> list[str]:
    return [storable_path(_unescape(field)) for field in line.split(" ")]


def _unescape(text: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match.group(1), 8)), text)


def _look(number: str, point: str) -> Mount | None:
    """Find a mount where nothing lists them."""
    path = system_path(point)
    return Mount(point, point) if number != point and os.path.ismount(path) else None


def _identify(mount: Mount) -> str:
    """Return a word for the file system of a mount, which another mount of the same has, too."""
    try:
        status = os.statvfs(system_path(mount.point))
    except OSError:  # a network folder whose server is away
        return ""
    facts = [mount.kind, status.f_fsid]
    if not status.f_fsid:
        facts.append(mount.source)
    elif not mount.source:  # some number file systems by their device only, as another stick has it
        facts.append(status.f_blocks * status.f_frsize)
    return hashlib.sha256(repr(facts).encode("utf-8", "surrogateescape")).hexdigest()[:12]


# --- when something changes below a folder ------------------------------------------------------

_DEBOUNCE_MS: Final = 400  # longest wait for further changes: programs write a file in pieces
_STEP_MS: Final = 100  # without a change for so long, a batch is over
_LOOK_MS: Final = 1_000  # how often it looks whether it is to stop


def changes(folders: Sequence[Path], stop: Event) -> Iterator[frozenset[Path]]:
    """Yield the paths of what changed below folders, batch by batch, until ``stop`` is set.

    Where the system has no notice of changes, as on some network disks, it looks again and again.
    An empty batch means that nothing changed for a second.

    Raises:
        ChapterhouseError: a folder cannot be watched.
    """
    found = watchfiles.watch(
        *folders,
        watch_filter=watchfiles.DefaultFilter(),
        debounce=_DEBOUNCE_MS,
        step=_STEP_MS,
        stop_event=stop,
        rust_timeout=_LOOK_MS,
        yield_on_timeout=True,
        raise_interrupt=True,
    )
    try:
        for batch in found:
            yield frozenset(Path(path) for _, path in batch)
    except (FileNotFoundError, PermissionError, OSError) as error:
        raise ChapterhouseError(
            f"The folders cannot be watched: {error}",
            hint="Sync now and then instead: chapterhouse sync",
        ) from error
