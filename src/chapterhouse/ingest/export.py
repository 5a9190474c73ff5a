"""Write a workspace to one archive, while others may go on adding to it."""

import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from chapterhouse.connectors.folder import location_of
from chapterhouse.errors import ChapterhouseError, CorruptLibraryError
from chapterhouse.files import move_into_place, work_folder
from chapterhouse.ingest.archive import (
    BLOBS,
    DATABASE,
    FORMAT,
    QUESTIONS,
    SETTINGS,
    ArchiveWriter,
    blocks_of,
    is_plain,
)
from chapterhouse.ports.store import Blobs, Store
from chapterhouse.types import ExportReport, Manifest, Progress, Snapshot

_PASSES: Final = 8  # over the blobs that came meanwhile, before others have to wait
_NO_SPACE: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@dataclass(frozen=True, slots=True)
class Source:
    """The workspace that is exported.

    Attributes:
        store: Its store.
        blobs: The bytes of its larger files.
        workspace: Its name.
        folder: Its folder.
        definitions: The folder in which those of personas and of councils are.
        hidden: Names of hidden folders in them that are ours.
        settings: Those of the home and of the workspace, as TOML.
    """

    store: Store
    blobs: Blobs
    workspace: str
    folder: Path
    definitions: Mapping[str, Path]
    hidden: frozenset[str]
    settings: Mapping[str, str]


def export(
    source: Source,
    path: Path,
    *,
    memories: bool,
    version: str,
    now: int,
    on_progress: Callable[[Progress], None],
) -> ExportReport:
    """Write a workspace to an archive, whole or not at all.

    Args:
        source: The workspace.
        path: The archive, in a folder that is there; a file of this name is replaced.
        memories: Whether to take what was asked and answered.
        version: Of Chapterhouse.
        now: In seconds since 1970.
        on_progress: Called after each file.

    Raises:
        CorruptLibraryError: bytes of a document are missing or damaged.
        ChapterhouseError: the disk is full.
        OSError: the archive cannot be written.
    """
    place = Path(os.path.realpath(path))  # a link stays one
    with _explained(path), work_folder(place.parent) as work:
        unfinished = work / "archive"
        unfinished.touch(0o600)
        with unfinished.open("r+b") as stream, ArchiveWriter(stream) as writer:
            snapshot = _add_store(source, writer, work / DATABASE, on_progress, memories=memories)
            left_out = _add_files(source, writer, on_progress, memories=memories)
            places = {
                name: location_of(folder.resolve(), ())
                for name, folder in source.definitions.items()
            }
            manifest = Manifest(
                FORMAT, version, now, source.workspace, snapshot, places, tuple(writer.members)
            )
            digest = writer.finish(manifest)
            size = stream.tell()
        move_into_place(unfinished, place)
    return ExportReport(str(path), size, digest, snapshot, len(writer.members), left_out)


def _add_store(
    source: Source,
    writer: ArchiveWriter,
    database: Path,
    on_progress: Callable[[Progress], None],
    *,
    memories: bool,
) -> Snapshot:
    """Add the blobs, then the database of a moment at which all that it needs were there.

    Others may remove or replace a document meanwhile, and its blob at once. So most blobs are
    copied first, and the last few while nobody can write. A blob that turns out not to be needed
    is thrown away by who imports the archive.
    """
    copied: set[str] = set()

    def missing() -> list[str]:
        return [sha256 for sha256 in source.store.blob_hashes() if sha256 not in copied]

    def copy(hashes: Sequence[str]) -> None:
        total = len(copied) + len(hashes) + 1  # and the database
        for sha256 in hashes:
            data = source.blobs.get(sha256)
            if data is not None:  # else removed since it was listed, or lost: ``agree`` looks again
                writer.add(f"{BLOBS}{sha256}", [data])
                copied.add(sha256)
                on_progress(Progress(len(copied), total, "files"))

    def agree() -> None:
        copy(missing())
        lost = missing()
        if lost:
            raise CorruptLibraryError(
                f"The bytes of {len(lost):,} files are missing, such as {lost[0]}.",
                hint="See which: chapterhouse doctor. Read them again: chapterhouse docs reprocess",
            )

    for _ in range(_PASSES):
        wanted = missing()
        if not wanted:
            break
        copy(wanted)
    on_progress(Progress(len(copied), len(copied) + 1, DATABASE))
    snapshot = source.store.snapshot(database, agree, memories=memories)
    with database.open("rb") as stream:
        writer.add(DATABASE, blocks_of(stream))
    database.unlink()
    return snapshot


def _add_files(
    source: Source,
    writer: ArchiveWriter,
    on_progress: Callable[[Progress], None],
    *,
    memories: bool,
) -> tuple[str, ...]:
    """Add settings, questions and definitions; return what of them is left out, and why."""
    for kind, text in source.settings.items():
        if text:
            writer.add(SETTINGS[kind], [text.encode()])
    questions = source.folder / QUESTIONS
    if memories and questions.is_file():
        writer.add(QUESTIONS, [questions.read_bytes()])
    left_out: list[str] = []
    for kind, folder in source.definitions.items():
        for path, name, fault in _walk(folder, kind, source.hidden):
            reason = fault or _add_file(writer, path, name)
            if reason:
                left_out.append(f"{path}: {reason}")
            on_progress(Progress(len(writer.members), len(writer.members) + 1, name))
    return tuple(left_out)


def _add_file(writer: ArchiveWriter, path: Path, name: str) -> str:
    """Add a file as it is at this moment; return why not, or nothing."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        return f"it cannot be read ({error.strerror})"
    with open(descriptor, "rb") as stream:  # noqa: PTH123 - of a descriptor
        writer.add(name, blocks_of(stream), os.fstat(descriptor).st_mtime_ns)
    return ""


def _walk(folder: Path, kind: str, hidden: frozenset[str]) -> Iterator[tuple[Path, str, str]]:
    """Yield what is in a folder in order: path, name in the archive, and why it is left out.

    Hidden files are, without a word if they are of the system: ``.env`` is where keys lie.
    """
    for place, folders, files in os.walk(folder.resolve()):
        names = sorted(name for name in folders if name in hidden or not name.startswith("."))
        folders[:] = [name for name in names if not (Path(place) / name).is_symlink()]
        links = set(names) - set(folders)
        for name in sorted({*files, *links}):
            path = Path(place) / name
            within = path.relative_to(folder.resolve()).as_posix()
            if name.startswith("."):
                continue
            yield path, f"{kind}/{within}", _reason(path, f"{kind}/{within}")


def _reason(path: Path, name: str) -> str:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return "links are not followed"
    if not stat.S_ISREG(mode):
        return "it is no file"
    return "" if is_plain(name) else "its name cannot be written elsewhere"


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_SPACE:
            raise
        raise ChapterhouseError(
            f"There is no space left for {path}. Nothing was written.",
            hint="Free some disk space, or name a file on another disk: it takes about twice the "
            "size of library.db while it is written, and of the blobs once.",
        ) from error
