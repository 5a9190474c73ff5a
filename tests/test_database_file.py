"""The bytes of a database are read without ending the locks of this process."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from chapterhouse.database_file import database_bytes
from chapterhouse.library import Library

# What another process does that is alone with a database: it may delete its log.
ALONE = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], timeout=0)
try:
    connection.execute("PRAGMA journal_mode = DELETE").fetchall()
except sqlite3.OperationalError as error:
    print(error)
"""


def refusal(path: Path) -> str:
    """Return why another process cannot be alone with a database; empty where it can."""
    done = subprocess.run(
        [sys.executable, "-c", ALONE, path], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "some.db"
    with closing(apsw.Connection(str(path))) as connection:
        connection.pragma("journal_mode", "wal")
        connection.execute("CREATE TABLE one (data); INSERT INTO one VALUES (randomblob(300000))")
        connection.wal_checkpoint()
        yield path


def test_all_bytes_come_and_the_locks_stay(database: Path) -> None:
    assert refusal(database)
    whole = b"".join(database_bytes(database, 1_000))
    assert whole.startswith(b"SQLite format 3\0")
    assert len(whole) == database.stat().st_size > 300_000
    assert list(database_bytes(database.with_name("none.db"), 10)) == []
    pieces = database_bytes(database, 1_000)
    next(pieces)
    pieces.close()  # type: ignore[attr-defined]
    assert refusal(database)
    database.open("rb").close()  # what all this is for
    assert not refusal(database)


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="cannot be"):
        list(database_bytes(tmp_path, 10))


def test_a_removal_leaves_the_databases_to_this_process(tmp_path: Path) -> None:
    with Library.open(tmp_path) as library:
        library.documents.add_text("The llama lives in the stable of the harbour master.")
        library.search.hits("llama")
        databases = list(library.folder.rglob("*.db"))
        assert [path.name for path in databases if not refusal(path)] == []
        (document,) = library.documents.list()
        assert library.documents.remove(document.id).search is not None
        library.search.hits("llama")
        assert [path.name for path in databases if not refusal(path)] == []
