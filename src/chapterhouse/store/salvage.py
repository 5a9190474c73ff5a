"""Write a damaged database anew from all of its rows that can still be read.

The damaged file stays beside the new one. Each table is read from both ends, then key by key where
something between them cannot be read. What a document lacks afterwards, ``repair`` reads again from
its file or its bytes.
"""

import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from typing import Final

import apsw

from chapterhouse.errors import ChapterhouseError, CorruptLibraryError
from chapterhouse.files import UNFINISHED, move_into_place
from chapterhouse.store.connections import Connections
from chapterhouse.store.memory import remake_terms
from chapterhouse.store.statements import Row, Value

# What reading a damaged page or a damaged text raises.
_DAMAGE: Final = (
    apsw.CorruptError,
    apsw.NotADBError,
    apsw.IOError,
    apsw.SQLError,
    UnicodeDecodeError,
)
_MOST_PROBES: Final = 2_000_000  # keys that are looked up one by one
_BACKUP: Final = "Restore it from a backup, or move it away and add the folders again."


def salvage(path: Path) -> tuple[Path, Mapping[str, int]]:
    """Write the database ``path`` anew; return where the damaged one is, and rows lost by table.

    The counts are at least: what lay on a page that cannot be read cannot be counted.

    Raises:
        ChapterhouseError: another process is writing to it, or there is no room.
        CorruptLibraryError: nothing of it can be read.
    """
    _require_alone(path)
    damaged = _copy(path)
    fresh = path.with_name(f"{UNFINISHED}{path.name}")
    _delete(fresh)
    try:
        lost = _rewrite(damaged, fresh)
        for name in ("-wal", "-shm"):
            Path(f"{path}{name}").unlink(missing_ok=True)
        move_into_place(fresh, path)
    finally:
        _delete(fresh)
    return damaged, lost


def _require_alone(path: Path) -> None:
    """Refuse while another process writes; a file too damaged for a lock has no writer."""
    try:
        with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
            connection.execute("BEGIN IMMEDIATE")
    except apsw.BusyError as error:
        raise ChapterhouseError(
            f"Another process is writing to {path}.",
            hint="Stop every other chapterhouse command, then repeat this one.",
        ) from error
    except _DAMAGE:
        return


def _copy(path: Path) -> Path:
    """Copy the damaged database with its log; return where the copy is."""
    names = (f"{path.name}.damaged{number or ''}" for number in count())
    copy = next(place for name in names if not (place := path.with_name(name)).exists())
    for ending in ("", "-wal"):
        source = Path(f"{path}{ending}")
        if source.exists():
            shutil.copyfile(source, f"{copy}{ending}")
            os.chmod(f"{copy}{ending}", 0o600)  # noqa: PTH101 - a name, not a Path
    return copy


def _delete(path: Path) -> None:
    for name in ("", "-wal", "-shm", "-journal"):
        Path(f"{path}{name}").unlink(missing_ok=True)


def _rewrite(damaged: Path, fresh: Path) -> Mapping[str, int]:
    target = Connections(fresh)
    lost: Counter[str] = Counter()
    try:
        with closing(apsw.Connection(str(damaged))) as source, target.write() as connection:
            connection.execute("PRAGMA defer_foreign_keys = 1")
            known = _columns(source)
            # Documents first: by their keys the rows of other tables are looked up.
            tables = sorted(_columns(connection).items(), key=lambda one: one[0] != "document")
            for table, wanted in tables:
                columns = [name for name in wanted if name in known.get(table, ())]
                connection.execute(f'DELETE FROM "{table}"')  # noqa: S608 - a name of the schema
                lost[table] += _copy_rows(source, connection, table, columns)
            _raise_keys(source, connection)
            _drop_strays(connection)
            remake_terms(connection)
    finally:
        target.close()
    return {table: number for table, number in sorted(lost.items()) if number}


def _columns(connection: apsw.Connection) -> Mapping[str, Sequence[str]]:
    """Return the columns of every table of ours.

    Raises:
        CorruptLibraryError: the schema cannot be read.
    """
    try:
        tables = connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            " AND name NOT LIKE 'memory_terms%' ORDER BY name"
        ).fetchall()
        return {
            str(table): [
                str(name)
                for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
            ]
            for (table,) in tables
        }
    except _DAMAGE as error:
        raise CorruptLibraryError(
            f"Nothing of the database can be read: {error}", hint=_BACKUP
        ) from error


def _copy_rows(
    source: apsw.Connection, target: apsw.Connection, table: str, columns: Sequence[str]
) -> int:
    """Copy what can be read of a table; return how many rows failed."""
    names = ", ".join(f'"{name}"' for name in columns)
    marks = ", ".join("?" * len(columns))
    statement = f'INSERT OR IGNORE INTO "{table}" ({names}) VALUES ({marks})'  # noqa: S608 - likewise
    lost = 0
    for row in _rows(source, target, table, columns) if columns else ():
        if row is None:
            lost += 1
            continue
        try:
            target.execute(statement, row)
        except apsw.ConstraintError:  # a value of the wrong type
            lost += 1
    return lost


def _rows(
    source: apsw.Connection, target: apsw.Connection, table: str, columns: Sequence[str]
) -> Iterator[Row | None]:
    """Yield the rows of a table, some of them twice; None for each that cannot be read."""
    names = ", ".join(f'"{name}"' for name in columns)
    select = f'SELECT {names} FROM "{table}"'  # noqa: S608 - names of the schema
    failed = 0
    by_key = columns[0] == "key"
    order = '"key"' if by_key else ", ".join(f'"{name}"' for name in columns[:2])
    reached: list[int] = []
    for direction in ("ASC", "DESC"):
        ordered = ", ".join(f"{part} {direction}" for part in order.split(", "))
        last = 0
        try:
            for row in source.execute(f"{select} ORDER BY {ordered}"):
                last = int(row[0]) if by_key else 0
                yield row
        except _DAMAGE:
            failed += 1
        else:
            return
        reached.append(last)
    if by_key:
        yield from _probed(source, f'{select} WHERE "key" = ?', range(reached[0] + 1, reached[1]))
    elif columns[0] == "document":
        keys = [key for (key,) in target.execute("SELECT key FROM document ORDER BY key")]
        yield from _probed(source, f"{select} WHERE document = ?", keys)
    else:
        yield None


def _probed(source: apsw.Connection, select: str, keys: Sequence[int]) -> Iterator[Row | None]:
    for key in keys[:_MOST_PROBES]:
        try:
            yield from source.execute(select, (key,)).fetchall()
        except _DAMAGE:
            yield None


def _raise_keys(source: apsw.Connection, target: apsw.Connection) -> None:
    """Let no key be given again: an index could find another chunk under it."""
    known: Sequence[Sequence[Value]] = []
    with suppress(*_DAMAGE):
        known = source.execute("SELECT name, seq FROM sqlite_sequence").fetchall()
    for name, number in known:
        target.execute(
            "UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1", (name, number)
        )
        target.execute(
            "INSERT INTO sqlite_sequence (name, seq) SELECT ?1, ?2"
            " WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?1)",
            (name, number),
        )


def _drop_strays(connection: apsw.Connection) -> None:
    """Drop what belongs to documents that could not be read: their files are read again."""
    for table in ("membership", "body", "section", "page", "chunk", "embedding", "checksum"):
        connection.execute(
            f"DELETE FROM {table} WHERE document NOT IN (SELECT key FROM document)"  # noqa: S608 - one of these
        )
    connection.execute(
        "DELETE FROM question_document WHERE question NOT IN (SELECT key FROM question)"
        " OR document NOT IN (SELECT id FROM document)"
    )
