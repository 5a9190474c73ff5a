"""What the processes of one server know together, in a database that ends with the server.

A server of one process has it in its memory, one of several as a file of theirs.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import apsw

ALONE: Final = ":memory:"
_BUSY_MILLISECONDS: Final = 5_000
_TABLES: Final = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = OFF;  -- after a crash of the machine nobody needs it
PRAGMA foreign_keys = ON;
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS bucket (name TEXT PRIMARY KEY, full_at REAL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS request (
    method TEXT, route TEXT, status INTEGER, bound INTEGER, number INTEGER, seconds REAL,
    PRIMARY KEY (method, route, status, bound)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS used (code TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS process (id INTEGER PRIMARY KEY, in_progress INTEGER);
CREATE TABLE IF NOT EXISTS meeting (
    number INTEGER PRIMARY KEY, id TEXT UNIQUE, process INTEGER, workspace TEXT, caller TEXT,
    council TEXT, question TEXT, state TEXT, began INTEGER, ended INTEGER, problem TEXT
);
CREATE TABLE IF NOT EXISTS event (
    meeting TEXT REFERENCES meeting (id) ON DELETE CASCADE, number INTEGER, name TEXT, data TEXT,
    PRIMARY KEY (meeting, number)
) WITHOUT ROWID;
COMMIT;
"""


class SharedDatabase:
    """The database at ``path``. For one thread; a statement takes some 10 microseconds."""

    def __init__(self, path: str = ALONE) -> None:
        self._connection = apsw.Connection(path)
        self._connection.set_busy_timeout(_BUSY_MILLISECONDS)
        self._connection.execute(_TABLES).fetchall()

    def rows(self, statement: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> Sequence[Any]:
        """Run a statement, a transaction by itself; return what it finds."""
        return self._connection.execute(statement, values).fetchall()
