"""Every row of a library, from a database of one kind to one of the other.

Both have the same tables with the same columns, so a row goes as it is. An archive holds a library
as a file of SQLite wherever it came from.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

import apsw

from chapterhouse.files import read_only_address
from chapterhouse.store.blobs import Blobs, BlobStore
from chapterhouse.store.connections import Connections, explained
from chapterhouse.store.rows import Connection, Database, Row, run

if TYPE_CHECKING:
    from chapterhouse.store.postgres import PostgresDatabase

# What refers to a row comes after it.
_TABLES: Final = (
    *("counter", "document", "removal", "membership", "body", "section", "page", "chunk"),
    *("embedding", "content", "checksum", "file", "root", "source", "encoder", "name_decision"),
    *("memory", "memory_terms", "cached_answer", "question", "question_document", "job"),
    "setting_change",
)
_COLUMNS: Final = {"memory_terms": "rowid, question, answer"}  # a full-text table hides the first
_TOGETHER: Final = 200  # rows, of which each may hold the bytes of a file

_Select = Callable[[str], Iterable[Row]]


def write_file(database: Database, path: Path, agree: Callable[[], None]) -> None:
    """Write a library of PostgreSQL, as it is at one moment, to a new file of SQLite."""
    with closing(Connections(path)) as copy, database.frozen(agree) as reader:

        def select(statement: str) -> Iterator[Row]:
            reader.execute(f"DECLARE copied NO SCROLL CURSOR FOR {statement}")
            while found := reader.execute(f"FETCH {_TOGETHER} FROM copied").fetchall():
                yield from found
            reader.execute("CLOSE copied")

        with copy.write() as connection:
            _copy(select, connection)


def read_file(
    path: Path, blobs: Blobs, database: "PostgresDatabase", target: BlobStore | None
) -> None:
    """Write a library in a file of SQLite to PostgreSQL, where it is empty.

    Args:
        blobs: Of the file.
        target: Where they go; None: to PostgreSQL, too.
    """
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    with (
        explained(path),
        closing(apsw.Connection(read_only_address(path), flags=flags)) as reader,
        database.write() as connection,
    ):
        _copy(reader.execute, connection)
        for (sha256,) in run(connection, "blob_hashes"):
            data = blobs.get(str(sha256))
            if target is None:
                run(connection, "put_content", sha256, data)
            elif data is not None:
                target.put(data)
        database.number_on(connection)


def _copy(select: _Select, target: Connection) -> None:
    target.execute("DELETE FROM counter")
    for table in _TABLES:
        columns = _COLUMNS.get(table, "*")
        found = iter(select(f"SELECT {columns} FROM {table}"))  # noqa: S608 - our own names
        while some := list(islice(found, _TOGETHER)):
            places = ", ".join("?" * len(some[0]))
            named = "" if columns == "*" else f" ({columns})"
            target.executemany(f"INSERT INTO {table}{named} VALUES ({places})", some)  # noqa: S608
