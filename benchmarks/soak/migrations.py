"""Databases of every schema there was: upgraded, stopped at each statement, and too new.

A statement is stopped by an exception right before SQLite runs it, which rolls back as a kill
does: nothing of the transaction is in the file until its commit. Kills are in ``crash``.
"""

import shutil
from pathlib import Path
from typing import Any

import apsw

from chapterhouse.errors import NewerLibraryError
from chapterhouse.library import Library
from chapterhouse.store.connections import APPLICATION_ID, Connections
from chapterhouse.store.rows import load_migrations
from measuring import Bar, Row, Table

LATEST = len(load_migrations())
# Measures that only earlier schemas had.
_DEFAULTS = {"entropy": 6.25, "coherence": 0.5, "density": 0.5, "importance": 0.7}


class Stopped(Exception):  # noqa: N818 - no error, but arranged
    """What ends a migration."""


# --- libraries as earlier versions wrote them -------------------------------------------------


def make_old(home: Path, schema: int) -> Path:
    """Make the home of a library of a few documents whose database has had ``schema`` migrations.

    It has no indexes, which belong to later versions.
    """
    docs = home.with_name(f"{home.name}-docs")
    docs.mkdir(parents=True)
    for number in range(6):
        path = docs / f"note-{number}.md"
        path.write_text(f"# Note {number}\n\nThe lighthouse has {number} windows and a door.\n")
    with Library.open(home) as library:
        library.documents.add(docs)
    own = home / "workspaces" / "default"
    for path in own.iterdir():
        if path.is_dir() and path.name != "blobs":
            shutil.rmtree(path)
    database = own / "library.db"
    new = database.rename(database.with_name("new.db"))
    old = apsw.Connection(str(database))
    for migration in load_migrations()[:schema]:
        old.execute(migration)
    _copy_rows(old, new)
    old.pragma("user_version", schema)
    old.pragma("application_id", APPLICATION_ID)
    old.close()
    new.unlink()
    return home


def _copy_rows(old: apsw.Connection, new: Path) -> None:
    old.execute("PRAGMA foreign_keys = OFF")
    old.execute("ATTACH ? AS new", (str(new),))
    tables = old.execute(
        "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        " AND name NOT LIKE 'memory_terms%' AND name IN (SELECT name FROM new.sqlite_schema)"
    ).fetchall()
    for (table,) in tables:
        old.execute(f'DELETE FROM main."{table}"')
        had, has = (
            [name for _, name, *_ in old.execute(f'PRAGMA {schema}.table_info("{table}")')]
            for schema in ("main", "new")
        )
        columns = ", ".join(f'"{name}"' for name in had if name in has)
        only = set(had) - set(has)
        lacking = {name: value for name, value in _DEFAULTS.items() if name in only}
        names = ", ".join([columns, *lacking])
        values = ", ".join([columns, *map(str, lacking.values())])
        old.execute(f'INSERT INTO main."{table}" ({names}) SELECT {values} FROM new."{table}"')
    old.execute("DETACH new")


def documents_of(home: Path) -> dict[str, str]:
    """Return the hash of each document by its location, as the database has it."""
    database = apsw.Connection(str(home / "workspaces" / "default" / "library.db"))
    rows = database.execute("SELECT location, sha256 FROM document").fetchall()
    database.close()
    return {str(location): str(sha256) for location, sha256 in rows}


# --- upgrades -----------------------------------------------------------------------------------


def upgraded(home: Path) -> list[str]:
    """Open an old library, which upgrades it; return what is wrong with it."""
    wanted = documents_of(home)
    with Library.open(home) as library:
        found = {one.location: one.sha256 for one in library.documents.list()}
        hits = library.search.hits("lighthouse windows", limit=10, per_document=0).hits
        faults = list(library.faults())
        if len({hit.document.id for hit in hits}) != len(wanted):
            faults.append(f"a search finds {len(hits)} of {len(wanted)} documents")
    return faults if found == wanted else [*faults, "documents are lost"]


def stopped(path: Path, schema: int) -> tuple[int, list[str]]:
    """Stop the migration to ``schema + 1`` at each of its statements, on copies of a database.

    Returns:
        How many there are, and what was left that is neither the old database nor the new one.
    """
    migrations = load_migrations()[: schema + 1]
    before = _contents(path)
    faults: list[str] = []
    for number in range(1, 1_000):
        copy = path.with_name("copy.db")
        for one in path.parent.glob("copy.db*"):
            one.unlink()
        shutil.copyfile(path, copy)
        left = _stop_at(copy, migrations, number)
        after = _contents(copy)
        if left > 0:
            return number - 1, faults
        if after != before:
            faults.append(f"schema {schema}, statement {number}: between")
    raise AssertionError("a migration of a thousand statements")


def _stop_at(path: Path, migrations: tuple[str, ...], number: int) -> int:
    """Stop at a statement; return how many were left to come when the migration had ended."""
    left = number

    def traced(_cursor: apsw.Cursor, _sql: str, _bindings: object) -> bool:
        nonlocal left
        left -= left > 0
        if not left:
            left = -1  # what undoes the rest is not stopped
            raise Stopped
        return True

    def hook(connection: apsw.Connection) -> None:
        connection.set_exec_trace(traced)

    apsw.connection_hooks.append(hook)
    try:
        Connections(path, migrations).close()
    except Stopped:
        pass
    finally:
        apsw.connection_hooks.remove(hook)
    return left


def _contents(path: Path) -> tuple[object, ...]:
    """Return schema, version and all rows of a database."""
    database = apsw.Connection(str(path))
    try:
        found = database.execute("SELECT name, sql FROM sqlite_schema ORDER BY name")
        tables: list[Any] = found.fetchall()
        version = database.pragma("user_version")
        rows = [
            database.execute(f'SELECT * FROM "{name}"').fetchall()
            for name, sql in tables
            if sql and sql.startswith("CREATE TABLE") and not name.startswith("sqlite_")
        ]
    finally:
        database.close()
    return version, tuple(tables), repr(rows)


def refused(home: Path) -> str:
    """Open a library of the schema after ours; return what it says, or nothing."""
    database = apsw.Connection(str(home / "workspaces" / "default" / "library.db"))
    database.pragma("user_version", LATEST + 1)
    database.pragma("application_id", APPLICATION_ID)
    database.close()
    try:
        Library.open(home).close()
    except NewerLibraryError as error:
        return f"{error.message} {error.hint}"
    return ""


def measure(folder: Path, share: float) -> tuple[list[Bar], list[Table]]:
    """Try every schema, or a share of them."""
    schemas = range(1, max(int(LATEST * share), 1) + 1)
    faults: list[str] = []
    rows: list[Row] = []
    (folder / "empty").mkdir()
    (folder / "empty" / "library.db").touch()
    statements, between = stopped(folder / "empty" / "library.db", 0)
    faults += between
    rows.append((0, statements, len(between)))
    for schema in schemas:
        home = make_old(folder / f"schema-{schema}", schema)
        count, between = 0, []
        if schema < LATEST:
            count, between = stopped(home / "workspaces" / "default" / "library.db", schema)
        found = upgraded(home)
        statements += count
        faults += [*between, *(f"schema {schema}: {fault}" for fault in found)]
        rows.append((schema, count, len(found) + len(between)))
        print(rows[-1], faults[-1:], flush=True)
    sentence = refused(folder / f"schema-{schemas[-1]}")
    bars = [
        Bar("schemas upgraded", len(schemas), least=LATEST if share >= 1 else 1),
        Bar("statements at which a migration was stopped", statements, least=1),
        Bar("databases between old and new, or with a fault afterwards", len(faults), most=0),
        Bar("newer databases refused", int(bool(sentence)), least=1),
    ]
    note = f"A newer database: {sentence} {' '.join(faults)}".strip()
    columns = ("schema", "statements of the next", "faults")
    return bars, [Table("Schemas", columns, tuple(rows), note)]
