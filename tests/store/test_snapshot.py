"""A copy of a database of one moment, and the checks of one that comes from elsewhere."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.databases import in_a_file

from chapterhouse.errors import CorruptLibraryError, NewerLibraryError, RefusedError
from chapterhouse.library import Library
from chapterhouse.store.blobs import Blobs
from chapterhouse.store.connections import APPLICATION_ID
from chapterhouse.store.rows import load_migrations
from chapterhouse.store.snapshot import (
    count_snapshot,
    database_bytes,
    is_in_use,
    require_own_schema,
)
from chapterhouse.store.sqlite import Store
from chapterhouse.types import Memory, Scope, Snapshot

LATEST = len(load_migrations())
EVERYTHING = Scope.everything()


def nothing() -> None:
    """Agree to any moment."""


def opened(path: Path) -> Store:
    return Store(path, blobs=Blobs(path.parent / "none"))


def remember(store: Store, text: str) -> None:
    store.memories().remember(
        Memory("", "", 1_700_000_000, 0, text, text, found=True, method="m", sources=(), sequence=1)
    )


def test_a_copy_holds_the_same_rows(
    store: Store, make_parts: Any, put_vectors: Any, tmp_path: Path
) -> None:
    for number in range(5):
        put_vectors(store, store.put(*make_parts(f"note{number}")))
    path = tmp_path / "copy.db"
    found = store.snapshot(path, nothing, memories=True)
    assert found == count_snapshot(path) == Snapshot(LATEST, 5, 15, 0)
    assert sorted(tmp_path.glob("copy.db*")) == [path]
    assert path.stat().st_mode & 0o777 == 0o600
    require_own_schema(path)
    with opened(path) as copy:
        documents = list(store.documents(EVERYTHING))
        assert list(copy.documents(EVERYTHING)) == documents
        for one in documents:
            assert copy.chunks_of(one.id, EVERYTHING) == store.chunks_of(one.id, EVERYTHING)
            (keys, vectors), (own_keys, own) = (
                each.vectors_of(one.id, "test:8") for each in (copy, store)
            )
            assert len(keys) == 3
            assert (keys, vectors.tobytes()) == (own_keys, own.tobytes())
        assert copy.sequence() == store.sequence()
        assert list(copy.files()) == list(store.files())
        assert not list(copy.examination().faults(thorough=True))


def test_nobody_writes_before_the_moment_and_what_is_written_after_it_is_not_in_the_copy(
    store: Store, make_parts: Any, tmp_path: Path
) -> None:
    store.put(*make_parts("first"))
    began, written = threading.Event(), threading.Event()

    def write() -> None:
        began.set()
        store.put(*make_parts("second"))
        written.set()

    writer = threading.Thread(target=write)

    def agree() -> None:
        writer.start()
        began.wait(10)
        assert not written.wait(0.05)
        assert [one.id for one in store.documents(EVERYTHING)] == ["first-0001"]

    found = store.snapshot(tmp_path / "copy.db", agree, memories=True)
    writer.join()
    assert found.documents == 1
    assert len(list(store.documents(EVERYTHING))) == 2


def test_no_moment_is_taken_where_it_is_not_agreed_to(
    store: Store, make_parts: Any, tmp_path: Path
) -> None:
    def refuse() -> None:
        raise CorruptLibraryError("Something is missing.")

    with pytest.raises(CorruptLibraryError, match="missing"):
        store.snapshot(tmp_path / "copy.db", refuse, memories=True)
    store.put(*make_parts("after"))  # nobody is kept waiting


def test_what_is_left_out_or_was_removed_is_nowhere_in_the_copy(
    store: Store, make_parts: Any, tmp_path: Path
) -> None:
    store.put(*make_parts("note"))
    store.put(*make_parts("gone", "Vanished words of a removed document.\n" * 200))
    store.remove("gone-0001")
    remember(store, "Confidential question about berths")
    store.memories().cache_answer("k", EVERYTHING, store.sequence(), "Cached sentence")
    whole = store.snapshot(tmp_path / "whole.db", nothing, memories=True)
    less = store.snapshot(tmp_path / "less.db", nothing, memories=False)
    assert (whole.memories, less.memories) == (1, 0)
    data, without = (tmp_path / "whole.db").read_bytes(), (tmp_path / "less.db").read_bytes()
    assert b"Confidential question" in data
    assert b"Confidential" not in without
    assert b"confidenti" not in without  # the term in the index of memories
    assert b"Cached sentence" not in data
    assert b"Vanished words" not in data
    with opened(tmp_path / "whole.db") as copy:
        assert copy.memories().search("berths", [""], 5, 1_700_000_001)
    assert store.memories().memories([""], 5, 1_700_000_001)  # in the library they are still


def test_a_database_of_others_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE note (text)")
    connection.close()
    for check in (require_own_schema, count_snapshot):
        with pytest.raises(CorruptLibraryError, match="not one of Chapterhouse"):
            check(path)


def test_tables_triggers_and_views_that_are_not_ours_are_refused(tmp_path: Path) -> None:
    for number, statement in enumerate(
        (
            "CREATE TRIGGER t AFTER INSERT ON memory BEGIN DELETE FROM document; END",
            "CREATE VIEW v AS SELECT * FROM document",
            "CREATE TABLE extra (text)",
            "DROP INDEX document_sha256",
        )
    ):
        path = tmp_path / str(number)
        opened(path).close()
        with closing(apsw.Connection(str(path))) as connection:
            connection.pragma("journal_mode", "delete")
            connection.execute(statement)
        with pytest.raises(RefusedError, match="other tables"):
            require_own_schema(path)


def test_every_schema_there_was_is_ours_and_a_newer_one_is_refused(tmp_path: Path) -> None:
    for version in range(1, LATEST + 1):
        path = tmp_path / f"{version}.db"
        connection = apsw.Connection(str(path))
        connection.pragma("synchronous", "off")
        for migration in load_migrations()[:version]:
            connection.execute(migration)
        connection.pragma("user_version", version)
        connection.pragma("application_id", APPLICATION_ID)
        require_own_schema(path)
        assert count_snapshot(path) == Snapshot(version, 0, 0, 0)
        connection.pragma("user_version", LATEST + 1)
        connection.close()
        with pytest.raises(NewerLibraryError, match=f"schemas up to {LATEST}"):
            require_own_schema(path)


@in_a_file
def test_a_library_is_in_use_while_somebody_has_it_open(
    store: Store, make_parts: Any, tmp_path: Path
) -> None:
    store.put(*make_parts("note"))
    assert is_in_use(tmp_path / "library.db")
    store.close()
    assert not is_in_use(tmp_path / "library.db")
    (tmp_path / "library.db").write_bytes(os.urandom(8192))
    assert not is_in_use(tmp_path / "library.db")


def test_what_was_read_below_one_folder_is_known_below_another(
    store: Store, make_parts: Callable[..., Any]
) -> None:
    for name in ("a", "deep/b"):
        store.put(*make_parts(name))
    store.label_root("/home/user/notes", "notes")
    store.label_root("/home/user/notes-too", "other")
    store.relocate("/home/user/notes", "/new")
    places = ["/new/a.txt", "/new/deep/b.txt"]
    assert sorted(one.location for one in store.documents(EVERYTHING)) == places
    assert [record.location for record in store.files()] == places
    assert dict(store.roots()) == {"notes": "/new", "other": "/home/user/notes-too"}


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
    with pytest.raises(OSError, match="cannot be"):
        list(database_bytes(database.parent, 10))
    assert refusal(database)
    database.open("rb").close()  # what all this is for
    assert not refusal(database)


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
