"""Libraries as earlier versions wrote them: the first migrations, and rows."""

import shutil
from pathlib import Path

import apsw

from chapterhouse.library import Library
from chapterhouse.store.connections import APPLICATION_ID
from chapterhouse.store.statements import load_migrations

LATEST = len(load_migrations())


def make(home: Path, schema: int) -> Path:
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


# Measures that only earlier schemas had.
_DEFAULTS = {"entropy": 6.25, "coherence": 0.5, "density": 0.5, "importance": 0.7}


def documents_of(home: Path) -> dict[str, str]:
    """Return the hash of each document by its location, as the database has it."""
    database = apsw.Connection(str(home / "workspaces" / "default" / "library.db"))
    rows = database.execute("SELECT location, sha256 FROM document").fetchall()
    database.close()
    return {str(location): str(sha256) for location, sha256 in rows}
