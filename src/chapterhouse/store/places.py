"""Where the stores of a home are: a file in the folder of each workspace, or PostgreSQL.

Which, the settings say: ``store.address``.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from chapterhouse import lazy
from chapterhouse.errors import optional
from chapterhouse.settings_file import store_address
from chapterhouse.store.access import AccessDatabase
from chapterhouse.store.blobs import Blobs
from chapterhouse.store.sqlite import Store, require_not_emptied

if TYPE_CHECKING:
    from chapterhouse.store import moving, postgres, postgres_server
else:
    moving = lazy("chapterhouse.store.moving")
    postgres = lazy("chapterhouse.store.postgres")
    postgres_server = lazy("chapterhouse.store.postgres_server")

DATABASE: Final = "library.db"  # in the folder of a workspace


def open_store(home: Path, workspace: str) -> Store:
    """Open the store of a workspace; it is made if need be."""
    folder = folder_of(home, workspace)
    blobs = Blobs(folder / "blobs")
    if address := _address(home):
        schema = postgres_server.schema_of(workspace)
        return Store(postgres.PostgresDatabase(address, schema), blobs=blobs)
    return Store(folder / DATABASE, blobs=blobs)


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


def last_written(home: Path, workspace: str) -> tuple[int, ...] | None:
    """Return what changes whenever a store is written; None where only its database knows."""
    if _address(home):
        return None
    folder = folder_of(home, workspace)
    paths = (folder / name for name in (DATABASE, f"{DATABASE}-wal"))
    return tuple(path.stat().st_mtime_ns if path.exists() else 0 for path in paths)


def open_access_database(home: Path) -> AccessDatabase:
    """Return what says who may use a home; nothing is made before something is written."""
    if not (address := _address(home)):
        return AccessDatabase(home / "access.db")
    schema, tables = postgres_server.HOME_SCHEMA, postgres.ACCESS
    return AccessDatabase(lambda: postgres.PostgresDatabase(address, schema, tables))


def bring_home(home: Path, workspace: str, folder: Path) -> None:
    """Write a library that lies in a folder as files to PostgreSQL, where the home's stores are.

    Its database and blobs leave the folder.
    """
    address = _address(home)
    if not address:
        return
    database = postgres.PostgresDatabase(address, postgres_server.schema_of(workspace))
    try:
        moving.read_file(folder / DATABASE, Blobs(folder / "blobs"), database)
    finally:
        database.close()
    Blobs(folder / "blobs").clear()
    for path in folder.glob(f"{DATABASE}*"):
        path.unlink()


def folder_of(home: Path, workspace: str) -> Path:
    """Return the folder of a workspace."""
    return home / "workspaces" / workspace


def _address(home: Path) -> str:
    address = store_address(home)
    if address:
        optional("psycopg", "A library in PostgreSQL", extra="postgres")
    return address
