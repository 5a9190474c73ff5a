"""Export a workspace to one archive, and import one into an empty workspace.

An archive is a ZIP that any unpacker opens: the database, the blobs, the folders of personas and
councils, settings, and a manifest with size and SHA-256 of each. All of it is compared before
anything is written. That is no signature: anyone can make an archive, so names are checked as well.
"""

import errno
import hashlib
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from shutil import copyfileobj
from typing import IO, Final
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

from pydantic import TypeAdapter, ValidationError

from chapterhouse.connectors.folder import location_of
from chapterhouse.errors import (
    ChapterhouseError,
    CorruptLibraryError,
    NewerLibraryError,
    NotFoundError,
    RefusedError,
    UsageError,
)
from chapterhouse.files import make_folder, move_into_place, sync_folder, work_folder, write_whole
from chapterhouse.index import Index
from chapterhouse.settings import HOME_FILE, WORKSPACE_FILE
from chapterhouse.settings_file import portable_settings
from chapterhouse.store.blobs import BlobStore
from chapterhouse.store.sqlite import Store
from chapterhouse.text.counting import counted
from chapterhouse.types import (
    ExportReport,
    Progress,
    RestoreReport,
    Snapshot,
)

FIRST: Final = "chapterhouse-archive"  # the name of the first member, by which a file is known
DATABASE: Final = "library.db"
MANIFEST: Final = "manifest.json"
BLOBS: Final = "blobs/"
FOLDERS: Final = ("personas", "councils")
SETTINGS: Final = {"home": "settings/home.toml", "workspace": "settings/workspace.toml"}
QUESTIONS: Final = "questions.jsonl"

_FORMAT: Final = 1
_BLOB: Final = re.compile(rf"{BLOBS}[0-9a-f]{{64}}")
_UNUSABLE: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_STEP: Final = 2**20
_LARGEST_MANIFEST: Final = 2**29
_LATEST_NS: Final = 2**62  # since 1970, in the year 2116
_PASSES: Final = 8  # over the blobs that came meanwhile, before others have to wait
_NO_SPACE: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
# What an archive that is cut off, altered, or none raises.
_UNREADABLE: Final = (
    *(BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError),
    *(RuntimeError, UnicodeError, ValidationError),
)

OnProgress = Callable[[Progress], None]
_Add = Callable[[str, Iterable[bytes], int], None]  # name, content, when it was changed


@dataclass(frozen=True, slots=True)
class ArchiveMember:
    """One file of an archive.

    Attributes:
        name: Its path in there, with ``/``.
        modified_ns: When the file was last changed, nanoseconds since 1970; 0 where that says
            nothing.
    """

    name: str
    size: int
    sha256: str
    modified_ns: int = 0


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an archive says of itself.

    Attributes:
        format: Of the archive, not of the database.
        created: When, in seconds since 1970.
        folders: Where the folders of personas and councils were, by their names in the archive.
        members: Every other file in it, in order.
    """

    format: int
    chapterhouse: str
    created: int
    workspace: str
    snapshot: Snapshot
    folders: Mapping[str, str]
    members: tuple[ArchiveMember, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a workspace is, or will be.

    Attributes:
        definitions: The folders of personas and of councils.
        hidden: Names of hidden folders in them that are ours.
    """

    home: Path
    workspace: str
    folder: Path
    definitions: Mapping[str, Path]
    hidden: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Databases:
    """What is done to the database of a workspace that is not open.

    Attributes:
        count: Counts what one of ours holds, and writes nothing; refuses another.
        open: Opens the store of a workspace's folder, upgraded, and its indexes.
        held: Counts documents and memories where the workspace's database is elsewhere.
        bring: Writes the database in a folder to where the workspace's is, if that is elsewhere.
    """

    count: Callable[[Path], Snapshot]
    is_in_use: Callable[[Path], bool]
    open: Callable[[Path], AbstractContextManager[tuple[Store, Mapping[str, Index]]]]
    held: Callable[[], tuple[int, int]]
    bring: Callable[[Path], None]


def is_archive(data: bytes) -> bool:
    """Whether a file that begins like this is an archive, so that a newer one may replace it."""
    return data.startswith(b"PK\x03\x04") and data[30:].startswith(FIRST.encode())


# --- export ---------------------------------------------------------------------------------------


def export(
    source: Place,
    store: Store,
    blobs: BlobStore,
    path: Path,
    *,
    memories: bool,
    version: str,
    now: int,
    on_progress: OnProgress,
) -> ExportReport:
    """Write a workspace to an archive, whole or not at all, while others may go on adding to it.

    See ``Library.export``.
    """
    members: list[ArchiveMember] = []
    place = Path(os.path.realpath(path))  # a link stays one
    with _explained(path), work_folder(place.parent) as work:
        unfinished = work / "archive"
        unfinished.touch(0o600)
        with ZipFile(unfinished, "w", ZIP_DEFLATED, compresslevel=1) as file:

            def add(name: str, blocks: Iterable[bytes], modified_ns: int = 0) -> None:
                digest, size = hashlib.sha256(), 0
                with file.open(name, "w", force_zip64=True) as target:
                    for block in blocks:
                        target.write(block)
                        digest.update(block)
                        size += len(block)
                members.append(ArchiveMember(name, size, digest.hexdigest(), modified_ns))
                on_progress(Progress(len(members), len(members) + 1, name))

            add(FIRST, [f"{_FORMAT}\n".encode()])
            snapshot = _add_store(store, blobs, add, work / DATABASE, memories=memories)
            left_out = _add_files(source, add, memories=memories)
            folders = {kind: _located(one) for kind, one in source.definitions.items()}
            manifest = Manifest(
                _FORMAT, version, now, source.workspace, snapshot, folders, tuple(members)
            )
            file.writestr(MANIFEST, TypeAdapter(Manifest).dump_json(manifest, indent=1))
        with unfinished.open("rb") as stream:
            sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
        size = unfinished.stat().st_size
        move_into_place(unfinished, place)
    return ExportReport(str(path), size, sha256, snapshot, len(members), left_out)


def _add_store(
    store: Store, blobs: BlobStore, add: _Add, database: Path, *, memories: bool
) -> Snapshot:
    """Add the blobs, then the database of a moment at which all that it needs were there.

    Others may remove or replace a document meanwhile, and its blob at once. So most blobs are
    copied first, and the last few while nobody can write. A blob that turns out not to be needed
    is thrown away by who imports the archive.
    """
    copied: set[str] = set()

    def copy_missing() -> Sequence[str]:
        for sha256 in (one for one in store.blob_hashes() if one not in copied):
            data = blobs.get(sha256)
            if data is not None:  # else removed since it was listed, or lost
                add(f"{BLOBS}{sha256}", [data], 0)
                copied.add(sha256)
        return [sha256 for sha256 in store.blob_hashes() if sha256 not in copied]

    def agree() -> None:
        if lost := copy_missing():
            raise CorruptLibraryError(
                f"The bytes of {len(lost):,} files are missing, such as {lost[0]}.",
                hint="See which: chapterhouse doctor. Read them again: chapterhouse docs reprocess",
            )

    for _ in range(_PASSES):
        if not copy_missing():
            break
    snapshot = store.snapshot(database, agree, memories=memories)
    with database.open("rb") as stream:
        add(DATABASE, _blocks(stream), 0)
    database.unlink()
    return snapshot


def _add_files(source: Place, add: _Add, *, memories: bool) -> tuple[str, ...]:
    """Add settings, questions and definitions; return what of them is left out, and why."""
    settings = {"home": source.home / HOME_FILE, "workspace": source.folder / WORKSPACE_FILE}
    for kind, path in settings.items():
        if text := portable_settings(path):
            add(SETTINGS[kind], [text.encode()], 0)
    questions = source.folder / QUESTIONS
    if memories and questions.is_file():
        add(QUESTIONS, [questions.read_bytes()], 0)
    left_out: list[str] = []
    for kind, folder in source.definitions.items():
        for path in _files_in(folder.resolve(), source.hidden):
            name = f"{kind}/{path.relative_to(folder.resolve()).as_posix()}"
            if path.is_symlink() or not path.is_file():
                left_out.append(f"{path}: links are not followed, and only files are taken")
            elif not is_plain(name):
                left_out.append(f"{path}: its name cannot be written elsewhere")
            else:
                with path.open("rb") as stream:
                    add(name, _blocks(stream), path.stat().st_mtime_ns)
    return tuple(left_out)


def _files_in(folder: Path, hidden: frozenset[str]) -> Iterator[Path]:
    """Yield files and links in order; hidden ones are left out: ``.env`` is where keys lie."""
    for place, folders, files in os.walk(folder):
        names = sorted(name for name in folders if name in hidden or not name.startswith("."))
        folders[:] = [name for name in names if not (Path(place) / name).is_symlink()]
        for name in sorted({*files, *names} - set(folders)):
            if not name.startswith("."):
                yield Path(place) / name


# --- import ---------------------------------------------------------------------------------------


def restore(
    path: Path, target: Place, databases: Databases, *, dry_run: bool, on_progress: OnProgress
) -> RestoreReport:
    """Import an archive into an empty workspace; until the end nobody sees any of it.

    See ``Library.restore``.
    """
    if not path.exists():
        raise NotFoundError(f"There is no file {path}.")
    if not path.is_file():  # a pipe would keep us waiting
        raise UsageError(f"{path} is no file.", hint="Name a file that export wrote.")
    with _explained(path), ZipFile(path) as file:
        manifest = _checked(file, path)
        _require_empty(target, databases)
        own = portable_settings(target.home / HOME_FILE).encode()
        theirs = file.read(SETTINGS["home"]) if SETTINGS["home"] in file.namelist() else b""
        if not dry_run:
            make_folder(target.folder.parent)
            with work_folder(target.folder.parent) as work:
                for done, member in enumerate(manifest.members, start=1):
                    place = work / _place(member.name, target).relative_to(target.home)
                    _extract(file, member, place)
                    on_progress(Progress(done, len(manifest.members), member.name))
                _finish(manifest, target, work, databases)
                _require_empty(target, databases)
                databases.bring(work / target.folder.relative_to(target.home))
                _install(work, target)
                if theirs and not own:  # those of a home with settings stay: others need them
                    write_whole(target.home / HOME_FILE, portable_settings(work / HOME_FILE))
    ignored = bool(own and theirs and own != theirs)
    return RestoreReport(
        str(target.home), target.workspace, manifest.created, manifest.snapshot, ignored
    )


def _checked(file: ZipFile, path: Path) -> Manifest:
    """Return the manifest, once it is clear that every byte is what it says."""
    if file.getinfo(MANIFEST).file_size > _LARGEST_MANIFEST:
        raise BadZipFile("its manifest is too long")
    data = file.read(MANIFEST)
    number = TypeAdapter(dict[str, object]).validate_json(data).get("format")
    if isinstance(number, int) and number > _FORMAT:
        raise NewerLibraryError(
            f"{path} has format {number}; this Chapterhouse knows formats up to {_FORMAT}.",
            hint="Upgrade Chapterhouse, then import it again.",
        )
    manifest = TypeAdapter(Manifest).validate_json(data)
    names, there = {member.name for member in manifest.members}, file.namelist()
    unlike = {*names, MANIFEST} != set(there) or not {FIRST, DATABASE} <= names
    unlike |= not len(manifest.members) + 1 == len(there) == len(set(there))
    unlike |= any(str(one) in names for name in names for one in PurePosixPath(name).parents)
    if unlike or not manifest.folders.keys() <= set(FOLDERS):
        raise BadZipFile("its manifest names other members")
    for member in manifest.members:
        with file.open(member.name) as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]
        is_blob = _BLOB.fullmatch(member.name)
        if digest != member.sha256 or (is_blob and member.name != f"{BLOBS}{digest}"):
            raise BadZipFile(f"'{member.name}' was altered or damaged")
        if not is_plain(member.name) or abs(member.modified_ns) > _LATEST_NS:
            raise BadZipFile(f"it has a member of the name {member.name!a}")
    return manifest


def is_plain(name: str) -> bool:
    """Whether a name is one that this program gives: it cannot lead out of its folder."""
    first, *rest = name.split("/")
    inside = first in FOLDERS and bool(rest) and not {"", ".", ".."} & set(rest)
    own = name in {FIRST, DATABASE, QUESTIONS, *SETTINGS.values()} or _BLOB.fullmatch(name)
    return bool(own) or (inside and not _UNUSABLE.search(name))


def _place(name: str, target: Place) -> Path:
    first, _, rest = name.partition("/")
    if first in FOLDERS:
        return target.definitions[first] / rest
    if name.startswith(BLOBS):
        return target.folder / BLOBS / rest[:2] / rest
    own = {SETTINGS["workspace"]: target.folder / WORKSPACE_FILE, FIRST: target.home / FIRST}
    return {**own, SETTINGS["home"]: target.home / HOME_FILE}.get(name, target.folder / name)


def _extract(file: ZipFile, member: ArchiveMember, path: Path) -> None:
    """Write a member to a new file that survives a power cut."""
    make_folder(path.parent)
    with file.open(member.name) as stream, path.open("xb") as target:
        copyfileobj(stream, target, _STEP)
        target.flush()
        os.fsync(target.fileno())
    if member.modified_ns:
        os.utime(path, ns=(member.modified_ns, member.modified_ns))


def _finish(manifest: Manifest, target: Place, work: Path, databases: Databases) -> None:
    """Upgrade the database, check it, and build the indexes."""
    own = work / target.folder.relative_to(target.home)
    settings = own / WORKSPACE_FILE
    if settings.exists():  # whoever made the archive decides nothing for this machine
        write_whole(settings, portable_settings(settings))
    if databases.count(own / DATABASE) != manifest.snapshot:
        raise BadZipFile("its manifest does not count this database")
    with databases.open(own) as (store, indexes):
        if fault := next(store.examination().faults(thorough=False), ""):
            raise BadZipFile(f"its library is damaged: {fault}")
        if not all((own / BLOBS / one[:2] / one).exists() for one in store.blob_hashes()):
            raise BadZipFile("it lacks bytes of files")
        for kind, before in manifest.folders.items():
            if before != (after := _located(target.definitions[kind])):
                store.relocate(before, after)
        store.collect_garbage(0.0)
        for index in indexes.values():
            index.rebuild(store)
    for name, *_ in os.walk(work):
        sync_folder(Path(name))


def _install(work: Path, target: Place) -> None:
    """Move everything into place, the workspace last: it makes a library of the rest."""
    if target.folder.exists():
        target.folder.rename(work / "empty")
    for folder in target.definitions.values():
        ready = work / folder.relative_to(target.home)
        if ready.is_dir() and not folder.is_relative_to(target.folder):
            make_folder(folder)
            for entry in ready.iterdir():
                entry.rename(folder / entry.name)
            sync_folder(folder)
    (work / target.folder.relative_to(target.home)).rename(target.folder)
    sync_folder(target.folder.parent)


def _require_empty(target: Place, databases: Databases) -> None:
    """Refuse a workspace that holds something, or that a process has open."""
    database = target.folder / DATABASE
    named = {WORKSPACE_FILE: "settings", QUESTIONS: "questions to evaluate"}
    held = [what for name, what in named.items() if (target.folder / name).exists()]
    held += _contents(*databases.held())
    if not database.exists():
        held += ["blobs of a library"] if (target.folder / "blobs").is_dir() else []
    elif databases.is_in_use(database):
        raise RefusedError(  # it would go on with a library that is not there any more
            f"Another process has the library in {target.folder} open.",
            hint="End it first: a chat, a server, or vectors that are made in the background.",
        )
    else:
        try:
            found = databases.count(database)
            held += _contents(found.documents, found.memories)
        except ChapterhouseError:
            held.append("a library that cannot be opened")
    for kind, folder in target.definitions.items():
        entries = folder.iterdir() if folder.is_dir() else ()
        if number := sum(not entry.name.startswith(".") for entry in entries):
            held.append(counted(number, kind.removesuffix("s"), kind))
    if held:
        places = ", ".join(map(str, (target.folder, *target.definitions.values())))
        raise RefusedError(
            f"The workspace '{target.workspace}' in {target.home} holds {', '.join(held)}.",
            hint="Import into another one with --home or --workspace, or first move away what"
            f" this one holds: {places}",
        )


def _contents(documents: int, memories: int) -> list[str]:
    held = [counted(documents, "document")] if documents else []
    return held + ([counted(memories, "memory", "memories")] if memories else [])


# --- both -----------------------------------------------------------------------------------------


def _blocks(stream: IO[bytes]) -> Iterator[bytes]:
    while block := stream.read(_STEP):
        yield block


def _located(folder: Path) -> str:
    return location_of(folder.resolve(), ())


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Say what to do where the disk is full, or an archive is none."""
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_SPACE:
            raise
        raise ChapterhouseError(
            f"There is no space left for {path}, or what is in it. Nothing was changed.",
            hint="Free some disk space, or use another disk: it takes about twice the size of"
            " library.db, and of the blobs once.",
        ) from error
    except _UNREADABLE as error:
        reason = "its manifest cannot be read" if isinstance(error, ValidationError) else error
        raise RefusedError(
            f"{path} is cut off, altered, or no archive of Chapterhouse: {reason}.",
            hint="Use another copy of it, or export the library again. Nothing was changed.",
        ) from None
