"""Where the stores of a home are: a file in the folder of each workspace, or PostgreSQL.

Which, the settings say: ``store.address``. The bytes of larger files are beside a file of SQLite,
in PostgreSQL itself, or in a bucket: ``store.objects``.
"""

import secrets
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Final

from chapterhouse import lazy
from chapterhouse.errors import CorruptLibraryError, RefusedError, optional
from chapterhouse.files import lock_folder, make_folder, write_whole
from chapterhouse.settings_file import store_settings
from chapterhouse.store.access import AccessDatabase
from chapterhouse.store.blobs import Blobs, BlobStore
from chapterhouse.store.connections import INLINE_MAXIMUM, Connections
from chapterhouse.store.rows import Database
from chapterhouse.store.sqlite import Store, require_not_emptied

if TYPE_CHECKING:
    from chapterhouse.store import moving, objects, postgres, postgres_server
else:
    moving = lazy("chapterhouse.store.moving")
    objects = lazy("chapterhouse.store.objects")
    postgres = lazy("chapterhouse.store.postgres")
    postgres_server = lazy("chapterhouse.store.postgres_server")

DATABASE: Final = "library.db"  # in the folder of a workspace
_MARK: Final = "objects"  # in its folder of blobs: by what its objects are known, in a bucket


def open_store(home: Path, workspace: str) -> Store:
    """Open the store of a workspace; it is made if need be."""
    folder = folder_of(home, workspace)
    bucket = _bucket(home)
    database: Database
    if _address(home):
        database = _database(home, workspace)
    else:
        require_not_emptied(folder / DATABASE)
        database = Connections(folder / DATABASE)
    try:
        return Store(database, blobs=_open_blobs(folder, database, bucket))
    except BaseException:
        database.close()
        raise


def has_store(home: Path, workspace: str) -> bool:
    """Say whether there is a store of a workspace.

    Raises:
        CorruptLibraryError: its file was emptied or is missing, though others of it are there.
    """
    if _address(home):
        return workspace in workspace_names(home)
    path = folder_of(home, workspace) / DATABASE
    require_not_emptied(path)
    return path.exists()


def workspace_names(home: Path) -> tuple[str, ...]:
    """Return the names of the workspaces that have a store, sorted."""
    if address := _address(home):
        return postgres_server.workspace_names(address)
    return tuple(sorted(path.parent.name for path in home.glob(f"workspaces/*/{DATABASE}")))


class FileChanges:
    """Says when the files of a home's stores were last written. It hears nothing; see for it."""

    notifies = False

    def __init__(self, home: Path) -> None:
        self._home = home

    def seen(self, workspace: str) -> tuple[int, ...]:
        """Return what differs whenever a store is written."""
        folder = folder_of(self._home, workspace)
        paths = (folder / name for name in (DATABASE, f"{DATABASE}-wal"))
        return tuple(path.stat().st_mtime_ns if path.exists() else 0 for path in paths)

    def wait(self, seconds: float, stop: Event, workspace: str = "") -> None:  # noqa: ARG002
        """Wait, or until ``stop`` is set."""
        stop.wait(seconds)

    def close(self) -> None:
        """Do nothing."""


def changes_of(home: Path) -> "FileChanges | postgres_server.Changes":
    """Return what says when the stores of a home change."""
    address = _address(home)
    return postgres_server.Changes(address) if address else FileChanges(home)


def open_access_database(home: Path) -> AccessDatabase:
    """Return what says who may use a home; nothing is made before something is written."""
    if _address(home):
        return AccessDatabase(lambda: _database(home, ""))
    return AccessDatabase(home / "access.db")


def bring_home(home: Path, workspace: str, folder: Path) -> None:
    """Write a library that lies in a folder as files to PostgreSQL, where the home's stores are.

    Its database and blobs leave the folder.
    """
    if not _address(home):
        return
    bucket = _bucket(home)
    database = _database(home, workspace)
    try:
        target = _open_objects(workspace, database.identity, bucket) if bucket else None
        moving.read_file(folder / DATABASE, Blobs(folder / "blobs"), database, target)
    finally:
        database.close()
    Blobs(folder / "blobs").clear()
    for path in folder.glob(f"{DATABASE}*"):
        path.unlink()


def folder_of(home: Path, workspace: str) -> Path:
    """Return the folder of a workspace."""
    return home / "workspaces" / workspace


def _database(home: Path, workspace: str) -> "postgres.PostgresDatabase":
    """Return the database of a workspace in PostgreSQL; of what says who may use it without one."""
    stated = store_settings(home)
    schema = postgres_server.schema_of(workspace) if workspace else postgres_server.HOME_SCHEMA
    tables = postgres.LIBRARY if workspace else postgres.ACCESS
    seconds = stated.statement_seconds
    return postgres.PostgresDatabase(stated.address, schema, tables, statement_seconds=seconds)


def _address(home: Path) -> str:
    address = store_settings(home).address
    if address:
        optional("psycopg", "A library in PostgreSQL", extra="postgres")
    return address


# --- blobs ----------------------------------------------------------------------------------------


def _bucket(home: Path) -> str:
    bucket = store_settings(home).objects
    if bucket:
        optional("obstore", "A library with its files in S3", extra="s3")
    return bucket


def _open_blobs(folder: Path, database: Database, bucket: str) -> BlobStore:
    """Open where the larger files of a workspace are; those in its folder move to a bucket."""
    own, mark = Blobs(folder / "blobs"), folder / "blobs" / _MARK
    if not bucket:
        if mark.exists():
            raise RefusedError(
                f"The original files of {folder} are in object storage, and no address is set.",
                hint="Set CHAPTERHOUSE_OBJECTS, or store.objects.",
            )
        return own
    if database.identity:
        database.inline_maximum = INLINE_MAXIMUM
        return _open_objects(folder.name, database.identity, bucket)
    with lock_folder(folder):
        if not mark.exists() and database.read_only:
            return own
        if not mark.exists():
            _require_no_objects(database, own, mark)
            make_folder(mark.parent)
            write_whole(mark, secrets.token_hex(16))
        blobs = _open_objects(folder.name, mark.read_text("utf-8").strip(), bucket)
        _move(own, blobs)
    return blobs


def _open_objects(workspace: str, identity: str, bucket: str) -> BlobStore:
    """Open a workspace's part of a bucket; no other home that uses the bucket has the same one."""
    return objects.ObjectBlobs(objects.Bucket(bucket, f"workspaces/{workspace}-{identity}"))


def _require_no_objects(database: Database, own: Blobs, mark: Path) -> None:
    """Refuse a library that has larger files neither here nor, as far as is known, elsewhere."""
    needed = [str(sha256) for (sha256,) in database.rows("blob_hashes")]
    if needed and not any(map(own.has, needed)):
        raise CorruptLibraryError(
            f"{mark} is missing, which says by what name its files are known in object storage.",
            hint=f"Restore it from a backup. It holds what follows {mark.parent.parent.name}- in"
            " the name of their folder in the bucket.",
        )


def _move(source: Blobs, target: BlobStore) -> None:
    for sha256 in list(source.hashes()):
        try:
            data = source.get(sha256)
        except CorruptLibraryError:  # it stays as it is: ``doctor`` says whose bytes are gone
            continue
        if data is not None:
            target.put(data)
            source.delete(sha256)
