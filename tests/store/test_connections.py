import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from importlib.resources import files
from pathlib import Path
from typing import Any

import apsw
import pytest

from chapterhouse.errors import (
    ChapterhouseError,
    CorruptLibraryError,
    NewerLibraryError,
    RefusedError,
    UsageError,
)
from chapterhouse.ingest import prepare
from chapterhouse.library import Library
from chapterhouse.store.blobs import Blobs
from chapterhouse.store.connections import APPLICATION_ID, Connections, require_sqlite
from chapterhouse.store.rows import STATEMENTS, load_migrations, parse_statements
from chapterhouse.store.sqlite import Store
from chapterhouse.text.canonical import compose
from chapterhouse.types import Notice, Scope


def _pragma(connection: apsw.Connection, name: str) -> Any:
    return connection.pragma(name)


def test_every_connection_is_safe(tmp_path: Path) -> None:
    connections = Connections(tmp_path / "library.db")
    safe = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "mmap_size": 0}
    with connections.read() as reader, connections.write() as writer:
        for connection in (reader, writer):
            assert {name: _pragma(connection, name) for name in safe} == safe
        assert _pragma(reader, "query_only") == 1
        assert _pragma(writer, "application_id") == APPLICATION_ID
        assert _pragma(writer, "user_version") == len(load_migrations())
    connections.close()
    for attempt in range(15):  # many may make the same new one at once
        path = tmp_path / f"{attempt}.db"
        with ThreadPoolExecutor(8) as executor:
            for opened in list(executor.map(lambda _, path=path: Connections(path), range(8))):
                opened.close()


def test_a_sqlite_that_can_corrupt_is_refused() -> None:
    for version in ("3.40.1", "3.51.2", "3.9.0"):
        with pytest.raises(RefusedError, match=version):
            require_sqlite(version)
    for version in ("3.51.3", "3.54.1", "4.0.0", "3.100.0"):
        require_sqlite(version)


def test_what_is_no_library_that_this_version_knows_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "library.db"
    Connections(path).close()
    for statement, error, words in (
        ("PRAGMA user_version = 99", NewerLibraryError, "99"),
        ("CREATE TABLE contact (name TEXT)", CorruptLibraryError, "not one of Chapterhouse"),
        ("", CorruptLibraryError, r"library\.db"),
    ):
        if statement.startswith("CREATE"):
            path.unlink()
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(statement)
            connection.commit()
        if not statement:
            path.write_bytes(b"Dear diary, " * 500)
        before = path.read_bytes()
        with pytest.raises(error, match=words):
            Connections(path)
        assert path.read_bytes() == before
        assert [entry.name for entry in tmp_path.iterdir()] == ["library.db"]
    with pytest.raises(ChapterhouseError, match="cannot be read or written"):
        Connections(tmp_path)


def test_a_full_disk_is_explained_and_harms_nothing(
    tmp_path: Path, make_parts: Callable[..., Any]
) -> None:
    blobs = Blobs(tmp_path / "blobs")
    connections = Connections(tmp_path / "library.db")
    with Store(connections, blobs=blobs) as store:
        store.put(*make_parts("before"))
        pages = _pragma(connections._writer, "page_count")
        connections._writer.pragma("max_page_count", pages + 2)
        with pytest.raises(ChapterhouseError, match="no space left"):
            store.put(*make_parts("large", "many words\n" * 3000))
        assert [document.id for document in store.documents(Scope.everything())] == ["before-0001"]
        connections._writer.pragma("max_page_count", 100_000)
        store.put(*make_parts("large", "many words\n" * 3000))
        assert not list(store.examination().faults(thorough=True))


def test_a_migration_happens_wholly_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "library.db"
    first = load_migrations()[0]
    Connections(path, [first]).close()
    broken = "CREATE TABLE extra (x); INSERT INTO nowhere VALUES (1);"
    with pytest.raises(apsw.SQLError, match="nowhere"):
        Connections(path, [first, broken])
    connections = Connections(path, [first])
    with connections.read() as connection:
        assert _pragma(connection, "user_version") == 1
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema")]
    assert "extra" not in names
    connections.close()
    connections = Connections(path, [first, "CREATE TABLE extra (x);"])
    with connections.read() as connection:
        assert _pragma(connection, "user_version") == 2
    connections.close()


def test_an_interrupted_write_or_read_does_not_block_the_next(tmp_path: Path) -> None:
    connections = Connections(tmp_path / "library.db")
    # As if an interrupt had struck between the failure and its ROLLBACK.
    connections._writer.execute("BEGIN IMMEDIATE")
    connections._writer.execute("UPDATE counter SET sequence = 7")
    connections._reader().execute("BEGIN")
    with connections.write() as connection:
        assert connection.execute("SELECT sequence FROM counter").get == 0
    with connections.read() as connection:
        assert connection.execute("SELECT sequence FROM counter").get == 0
    connections.close()


def test_a_closed_library_says_so(tmp_path: Path) -> None:
    used, unused = Connections(tmp_path / "library.db"), Connections(tmp_path / "library.db")
    with used.read():
        pass
    for connections in (used, unused):
        connections.close()
        with pytest.raises(UsageError, match="closed"), connections.read():
            pass
        with pytest.raises(UsageError, match="closed"), connections.write():
            pass


def test_statements_are_parsed_by_their_headings() -> None:
    text = "-- A file.\n\n-- one\nSELECT 1;\n\n-- two\n-- Really.\nSELECT\n  2;\n"
    assert parse_statements(text) == {"one": "SELECT 1", "two": "-- Really.\nSELECT\n  2"}
    with pytest.raises(ValueError, match="one"):
        parse_statements("-- one\nSELECT 1;\n-- one\nSELECT 2;\n")
    with pytest.raises(ValueError, match="one"):
        parse_statements("-- one\n\n-- two\nSELECT 2;\n")


# On purpose: small tables, all files, analytics of all documents and of a period, and an import.
READS_A_WHOLE_TABLE = """
sequence next_sequence roots files listed_files folders chunks counts_of_shelves
documents_on_shelves census counts
next_embedding encoders drop_every_unreferenced_content drop_old_jobs has_table leaves_text_out
memories_of_documents partly_read put_encoder_problem schema sources ended_jobs forget_uploads
trust_of_sources uploads_of document_ages never_cited_documents times_by_asked times_by_model
drop_every_question forget_texts_of_memories
relocate_documents relocate_files relocate_roots relocate_sources
"""


def test_every_statement_fits_the_schema_and_uses_an_index(tmp_path: Path) -> None:
    connections = Connections(tmp_path / "library.db")
    scans = {}
    with connections.write() as connection:
        for name, statement in STATEMENTS.items():
            if statement.startswith("PRAGMA"):
                continue
            numbered = [int(number) for number in re.findall(r"\?(\d+)", statement)]
            bindings = (None,) * max(numbered, default=statement.count("?"))
            plan = connection.execute(f"EXPLAIN QUERY PLAN {statement}", bindings).fetchall()
            steps = [str(row[3]) for row in plan]
            scans[name] = [step for step in steps if step.startswith("SCAN ")]
    connections.close()
    whole = {
        name
        for name, plan in scans.items()
        if any("INDEX" not in step and "CONSTANT" not in step for step in plan)
    }
    # The doctor looks at every row, too.
    text = files("chapterhouse.store").joinpath("queries.sql").read_text("utf-8")
    of_doctor = parse_statements(text.partition("-- The doctor:")[2])
    found = {name for name in whole - set(of_doctor) if not name.endswith("_faults")}
    assert found <= set(READS_A_WHOLE_TABLE.split())


def test_processes_write_and_read_at_once(tmp_path: Path) -> None:
    path = tmp_path / "library.db"
    script = Path(__file__).with_name("other_process.py")
    roles = (["write", "a"], ["write", "b"], ["read", "80"])
    processes = [
        subprocess.Popen(
            [sys.executable, script, path, *role],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        for role in roles
    ]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    with Store(path, blobs=Blobs(tmp_path / "blobs")) as store:
        assert store.sequence() == 80
        assert len(list(store.documents(Scope.everything()))) == 80
        assert not list(store.examination().faults(thorough=True))


def test_a_frozen_reader_sees_the_state_that_was_agreed_on(tmp_path: Path) -> None:
    connections = Connections(tmp_path / "library.db")
    seen: list[int] = []

    def agree() -> None:
        assert connections.is_writing()  # so nobody else is

    with connections.frozen(agree) as reader:
        assert not connections.is_writing()
        with connections.write() as connection:
            connection.execute("UPDATE counter SET sequence = 8")
        seen.append(reader.execute("SELECT sequence FROM counter").get)
    with connections.read() as reader:
        seen.append(reader.execute("SELECT sequence FROM counter").get)
    connections.close()
    assert seen == [0, 8]


def test_documents_are_sound_after_an_upgrade_that_their_notices_outlive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "odd.md").write_text("# Odd\n\nThe crane\u200b logs in at night.\n")
    # As when credentials were looked for: the checksums of a document cover its notices.
    noticed = Notice("credentials", "1 credential: password.")
    monkeypatch.setattr(prepare, "compose", lambda found: (compose(found)[0], (noticed,)))
    with Library.open(tmp_path / "home") as library:
        library.documents.add(tmp_path / "odd.md")
        path = library.folder / "library.db"
    with apsw.Connection(str(path)) as connection:
        connection.execute("ALTER TABLE document DROP COLUMN author")
        connection.execute("ALTER TABLE memory RENAME COLUMN given TO citations")
        connection.execute("DROP TABLE name_decision")
        connection.pragma("user_version", 16)
    connection.close()
    with Library.open(tmp_path / "home") as library:
        (document,) = library.documents.list()
        assert document.notices == (noticed,)
    with Library.open(tmp_path / "home") as library:
        assert library.faults() == ()


def test_what_was_retained_of_removed_documents_goes_with_the_upgrade(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path / "blobs")
    large = blobs.put(b"the bytes of a large file that was removed")
    for path in (tmp_path / "blobs").rglob("*"):
        os.utime(path, (1, 1))
    earlier = Connections(tmp_path / "library.db", load_migrations()[:13])
    row = "('/a', 'a-1', 's', 't', 'md', '[]', '', ?, 1, 1, 1, 1, 1, 0)"
    with earlier.write() as connection:
        connection.execute("INSERT INTO content VALUES ('aa', x'736d616c6c')")
        connection.execute(f"INSERT INTO removed VALUES {row}", ("aa",))
        connection.execute(f"INSERT INTO removed VALUES {row.replace('/a', '/b')}", (large,))
        connection.execute(
            "INSERT INTO setting_change VALUES (1, 'removal.grace_days', '9', 1, 'cli')"
        )
    earlier.close()
    with Store(tmp_path / "library.db", blobs=blobs) as store:
        assert list(blobs.hashes()) == []
        assert store.settings().values() == {}
        assert not list(store.examination().faults(thorough=True))
    assert b"small" not in (tmp_path / "library.db").read_bytes()
