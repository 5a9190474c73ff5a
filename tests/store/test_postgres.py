"""What only PostgreSQL has: a server that goes away, roles, other nodes, and a dialect."""

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.databases import emptied, own_database

from chapterhouse.errors import (
    ChapterhouseError,
    CorruptLibraryError,
    NewerLibraryError,
    NotFoundError,
    RefusedError,
    UnavailableError,
    UsageError,
)
from chapterhouse.store import writing
from chapterhouse.store.blobs import Blobs
from chapterhouse.store.connections import define_functions
from chapterhouse.store.postgres import ACCESS, LIBRARY, PostgresDatabase
from chapterhouse.store.postgres_server import connect, place_of, schema_of, workspace_names
from chapterhouse.store.postgres_statements import translate
from chapterhouse.store.rows import (
    ACCESS_STATEMENTS,
    STATEMENTS,
    load_migrations,
    load_statements,
)
from chapterhouse.store.sqlite import Store
from chapterhouse.types import Scope

EVERYTHING = Scope.everything()


@pytest.fixture
def database(postgres: str) -> Iterator[PostgresDatabase]:
    opened = emptied(postgres, "chapterhouse_tests")
    yield opened
    opened.close()


@pytest.fixture
def own_schema(postgres: str) -> Iterator[str]:
    """The name of a schema that is not there, and is dropped afterwards."""
    with connect(postgres) as connection:
        connection.execute("DROP SCHEMA IF EXISTS chapterhouse_own CASCADE")
        yield "chapterhouse_own"
        connection.execute("DROP SCHEMA IF EXISTS chapterhouse_own CASCADE")


# --- one truth in two dialects --------------------------------------------------------------------


@pytest.mark.parametrize("tables", [LIBRARY, ACCESS])
def test_tables_and_columns_are_those_of_sqlite(
    postgres: str, own_schema: str, tables: tuple[str, str]
) -> None:
    PostgresDatabase(postgres, own_schema, tables).close()
    with connect(postgres) as connection:
        found = connection.execute(
            "SELECT table_name, array_agg(column_name::text ORDER BY ordinal_position)"
            " FROM information_schema.columns"
            " WHERE table_schema = $1"
            " AND table_name NOT IN ('chapterhouse_schema', 'shared_file', 'latest_write')"
            " GROUP BY 1",
            [own_schema],
        ).fetchall()
    own = apsw.Connection(":memory:")
    for migration in load_migrations(tables[1]):
        own.execute(migration)
    names = own.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '%memory_terms_%'"
        " AND name NOT LIKE 'sqlite_%'"
    ).fetchall()
    expected = {
        name: [column for _, column, *_ in own.execute(f"PRAGMA table_info({name})")]
        for (name,) in names
    }
    if "memory_terms" in expected:
        expected["memory_terms"].insert(0, "rowid")
    assert {name: list(columns) for name, columns in found} == expected


def test_every_statement_fits_the_schema(database: PostgresDatabase, postgres: str) -> None:
    every = {**STATEMENTS, **ACCESS_STATEMENTS}
    assert load_statements("postgres.sql").keys() <= every.keys()
    access = emptied(postgres, "chapterhouse_access_tests", ACCESS)
    shared = load_statements("shared_files.sql")
    for opened, statements in (
        (database, STATEMENTS), (access, ACCESS_STATEMENTS), (database, shared),
    ):  # fmt: skip
        for name, statement in statements.items():
            if name in {"has_table", "schema"}:  # of files
                continue
            with opened.write() as connection:
                connection.execute(f"PREPARE checked AS {translate(statement).decode()}")
                connection.execute("DEALLOCATE checked")
    access.close()


NAMES = st.text(st.sampled_from("aBßÄ09١/.ﬁ \n"), max_size=8)


@given(names=st.lists(NAMES, max_size=6))
def test_names_fold_and_are_ordered_as_in_sqlite(
    postgres_of_module: PostgresDatabase, names: list[str]
) -> None:
    own = apsw.Connection(":memory:")
    define_functions(own)
    with postgres_of_module.read() as connection:
        for name in names:
            folded = "SELECT folded(?, ?)"
            assert connection.execute(folded, (name, "B")).fetchall()[0][0] == (
                own.execute(folded, (name, "B")).get
            )
        ordered = "SELECT value FROM json_each(?) ORDER BY natural(value), value"
        bindings = (json.dumps(names),)
        assert [row[0] for row in connection.execute(ordered, bindings).fetchall()] == [
            row[0] for row in own.execute(ordered, bindings)
        ]


@pytest.fixture(scope="module")
def postgres_of_module(postgres: str) -> Iterator[PostgresDatabase]:
    opened = PostgresDatabase(postgres, "chapterhouse_tests")
    yield opened
    opened.close()


# --- several nodes --------------------------------------------------------------------------------


def test_changes_are_committed_in_the_order_of_their_numbers(
    database: PostgresDatabase, postgres: str, tmp_path: Path, make_parts: Callable[..., Any]
) -> None:
    """A node that follows the feed while two others write misses nothing."""
    nodes = [
        Store(PostgresDatabase(postgres, "chapterhouse_tests"), blobs=Blobs(tmp_path / str(number)))
        for number in range(3)
    ]

    def write(number: int) -> None:
        for one in range(12):
            nodes[number].put(*make_parts(f"n{number}-{one}"))

    writers = [threading.Thread(target=write, args=(number,)) for number in (0, 1)]
    for writer in writers:
        writer.start()
    seen: list[int] = []
    while len(seen) < 24:
        alive = any(writer.is_alive() for writer in writers)
        changes = nodes[2].changes(seen[-1] if seen else 0, 100)
        seen += [change.sequence for change in changes]
        assert alive or changes or len(seen) == 24
    assert seen == list(range(1, 25))
    for node in nodes:
        node.close()


def test_a_connection_that_the_server_ended_is_replaced(database: PostgresDatabase) -> None:
    with database.read() as connection:
        ((process,),) = connection.execute("SELECT pg_backend_pid()").fetchall()
    with database.write() as connection:  # the same connection, which would end itself
        ((other,),) = connection.execute("SELECT pg_backend_pid()").fetchall()
    assert process == other
    with connect(database._address) as admin:
        admin.execute("SELECT pg_terminate_backend($1::int)", [process])
        while admin.execute("SELECT 1 FROM pg_stat_activity WHERE pid = $1", [process]).fetchone():
            pass
    assert database.rows("sequence") == ((0,),)


def _put_two_but_end_the_connection_between(store: Store, postgres: str, make_parts: Any) -> None:
    with store.together():
        store.put(*make_parts("one"))
        ((process,),) = _backend(store)
        with connect(postgres) as admin:
            admin.execute("SELECT pg_terminate_backend($1::int, 10000)", [process])
        store.put(*make_parts("two"))


def _backend(store: Store) -> Any:
    with store._connections.read() as connection:
        return connection.execute("SELECT pg_backend_pid()").fetchall()


def test_what_was_not_committed_when_the_server_ended_the_connection_is_undone(
    database: PostgresDatabase, postgres: str, tmp_path: Path, make_parts: Callable[..., Any]
) -> None:
    store = Store(database, blobs=Blobs(tmp_path))
    with pytest.raises(UnavailableError, match="cannot be reached"):
        _put_two_but_end_the_connection_between(store, postgres, make_parts)
    assert list(store.documents(EVERYTHING)) == []
    assert store.put(*make_parts("one")) == "one-0001"


def test_what_a_lost_connection_undid_is_done_again_at_once(
    database: PostgresDatabase,
    postgres: str,
    tmp_path: Path,
    make_parts: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = Store(database, blobs=Blobs(tmp_path))
    left = [2]
    next_sequence = writing.next_sequence

    def interrupted(connection: Any) -> int:
        if left[0]:
            left[0] -= 1
            ((process,),) = connection.execute("SELECT pg_backend_pid()").fetchall()
            with connect(postgres) as admin:
                admin.execute("SELECT pg_terminate_backend($1::int, 10000)", [process])
        return next_sequence(connection)

    monkeypatch.setattr(writing, "next_sequence", interrupted)
    assert store.put(*make_parts("one")) == "one-0001"
    assert store.sequence() == 1
    left[0] = 1
    with pytest.raises(UnavailableError):  # a part of a transaction is not the whole
        _put_together(store, make_parts)
    assert [one.id for one in store.documents(EVERYTHING)] == ["one-0001"]


def _put_together(store: Store, make_parts: Callable[..., Any]) -> None:
    with store.together():
        store.put(*make_parts("two"))
        store.put(*make_parts("three"))


@pytest.mark.parametrize("is_committed", [True, False])
def test_a_lost_answer_to_a_commit_is_looked_up(
    database: PostgresDatabase,
    tmp_path: Path,
    make_parts: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    is_committed: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    store = Store(database, blobs=Blobs(tmp_path))
    jobs = store.jobs()
    execute = psycopg.Connection.execute
    lost: list[Any] = []

    def losing(self: Any, query: Any, *rest: Any, **options: Any) -> Any:
        if query != "COMMIT" or lost:
            return execute(self, query, *rest, **options)
        if is_committed:
            execute(self, query)
        lost.append(self)
        self.close()
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(psycopg.Connection, "execute", losing)
    store.put(*make_parts("one"))
    assert store.sequence() == len(lost) == 1
    lost.clear()
    job = jobs.enqueue("sync", {}, "a", 1.0)
    lost.clear()
    assert jobs.claim("here", 2.0, 60.0) is not None  # not another's, for all we know
    assert lost
    assert [one.id for one in jobs.jobs()] == [job.id]
    assert jobs.job(job.id).attempts == 1


def test_a_transaction_with_a_failure_in_it_is_not_taken_for_committed(
    database: PostgresDatabase,
) -> None:
    with (
        pytest.raises(ChapterhouseError, match="undid"),
        database.write() as connection,
        suppress(psycopg.Error),
    ):
        connection.execute("SELECT 1 / 0")
    assert not database.is_writing()


# --- what cannot be opened ------------------------------------------------------------------------


def test_a_newer_and_a_foreign_schema_are_refused(postgres: str, own_schema: str) -> None:
    PostgresDatabase(postgres, own_schema).close()
    with connect(postgres) as connection:
        connection.execute(f"UPDATE {own_schema}.chapterhouse_schema SET version = 9999")
        with pytest.raises(NewerLibraryError):
            PostgresDatabase(postgres, own_schema)
        connection.execute(f"DROP SCHEMA {own_schema} CASCADE")
        connection.execute(f"CREATE SCHEMA {own_schema}")
        connection.execute(f"CREATE TABLE {own_schema}.contact (name text)")
    with pytest.raises(CorruptLibraryError, match="not one of Chapterhouse"):
        PostgresDatabase(postgres, own_schema)


def test_addresses_that_lead_nowhere_are_explained_without_their_password(
    postgres: str, tmp_path: Path
) -> None:
    host = postgres.partition("host=")[2]
    cases = [
        (f"postgresql://owner:geheim@/nothing?host={host}", NotFoundError, "is not there"),
        (f"postgresql://owner:geheim@/postgres?host={tmp_path}", UnavailableError, "reached"),
        ("postgresql://owner:geheim@127.0.0.1:1/x", UnavailableError, "cannot be reached"),
        ("postgresql://owner:geheim@[x/y", UsageError, "is not one of PostgreSQL"),
        ("postgresql://owner:geheim@h/d?nothing=1", UsageError, "is not one of PostgreSQL"),
    ]
    for address, kind, sentence in cases:
        with pytest.raises(kind, match=sentence) as found:
            PostgresDatabase(address, "chapterhouse_tests")
        assert "geheim" not in f"{found.value} {found.value.hint}"
    assert place_of("postgresql://me:geheim@example.org:5433/books") == "books on example.org:5433"


def test_a_role_without_rights_is_told_what_to_ask_for(postgres: str, own_schema: str) -> None:
    host = postgres.partition("host=")[2]
    guest = f"postgresql://guest@/postgres?host={host}"
    with connect(postgres) as connection:
        connection.execute("CREATE ROLE guest LOGIN")
        try:
            with pytest.raises(RefusedError, match="does not let") as found:
                PostgresDatabase(guest, own_schema)
            assert "GRANT CREATE" in found.value.hint
            assert workspace_names(guest) == ()  # nor sees those of others
            # A schema that its owner made for the role is enough: it reads nothing else.
            connection.execute(f"CREATE SCHEMA {own_schema} AUTHORIZATION guest")
            opened = PostgresDatabase(guest, own_schema)
            assert opened.rows("sequence") == ((0,),)
            emptied(postgres, "chapterhouse_tests").close()
            with pytest.raises(RefusedError, match="permission denied"), opened.read() as reader:
                reader.execute("SELECT * FROM chapterhouse_tests.document")
            opened.close()
            assert workspace_names(guest) == ("own",)
        finally:
            connection.execute("DROP OWNED BY guest CASCADE")
            connection.execute("DROP ROLE guest")


@pytest.fixture
def two_roles(postgres: str) -> Iterator[tuple[str, str]]:
    """Two roles, each with a schema of its own."""
    with own_database(postgres) as address, connect(address) as owner:
        owner.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        for name in ("legal", "sales"):
            owner.execute(f"CREATE ROLE {name} LOGIN")
            owner.execute(f"CREATE SCHEMA chapterhouse_{name} AUTHORIZATION {name}")
        addresses = [address.replace("owner@", f"{name}@") for name in ("legal", "sales")]
        yield addresses[0], addresses[1]
        owner.execute("DROP OWNED BY legal, sales CASCADE")
        owner.execute("DROP ROLE legal, sales")


def test_a_role_of_one_workspace_can_do_nothing_in_that_of_another(
    two_roles: tuple[str, str], tmp_path: Path, make_parts: Callable[..., Any]
) -> None:
    legal, sales = two_roles
    PostgresDatabase(legal, "chapterhouse_legal").close()
    store = Store(PostgresDatabase(sales, "chapterhouse_sales"), blobs=Blobs(tmp_path))
    store.put(*make_parts("secret"))
    with connect(sales) as theirs:
        theirs.execute("ANALYZE chapterhouse_sales.document")
        # Of the catalogue anybody may read names, but no row.
        found = theirs.execute(
            "SELECT c.relname, c.relkind FROM pg_class AS c JOIN pg_namespace AS n"
            " ON n.oid = c.relnamespace WHERE n.nspname = 'chapterhouse_sales'"
        ).fetchall()
    tables = [f"chapterhouse_sales.{name}" for name, kind in found if kind == "r"]
    sequences = [f"chapterhouse_sales.{name}" for name, kind in found if kind == "S"]
    assert len(tables) > 20
    assert len(sequences) > 4
    refused = [
        *(f"SELECT count(*) FROM {table}" for table in tables),
        *(f"TABLE {table} FOR UPDATE" for table in tables),
        *(f"DELETE FROM {table}" for table in tables),
        *(f"INSERT INTO {table} DEFAULT VALUES" for table in tables),
        *(f"TRUNCATE {table} CASCADE" for table in tables),
        *(f"COPY {table} TO STDOUT" for table in tables),
        *(f"SELECT nextval('{sequence}')" for sequence in sequences),
        "SELECT chapterhouse_sales.instr('a', 'a')",
        "CREATE TABLE chapterhouse_sales.own (id int)",
        "CREATE TABLE own (LIKE chapterhouse_sales.document)",
        "ALTER SCHEMA chapterhouse_sales RENAME TO ours",
        "DROP SCHEMA chapterhouse_sales CASCADE",
        "SET ROLE sales",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'sales'",
        "COPY (SELECT 1) TO '/tmp/out'",
    ]
    with connect(legal) as ours:
        for statement in refused:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                ours.execute(statement)
        values = "SELECT 1 FROM pg_stats WHERE schemaname = 'chapterhouse_sales'"
        assert ours.execute(values).fetchall() == []
        shown = "SELECT DISTINCT query FROM pg_stat_activity WHERE usename = 'sales'"
        assert ours.execute(shown).fetchall() == [("<insufficient privilege>",)]
    assert [one.id for one in store.documents(EVERYTHING)] == ["secret-0001"]
    store.close()


def test_names_that_are_too_long_for_a_schema_are_refused() -> None:
    assert schema_of("a" * 50) == "chapterhouse_" + "a" * 50
    with pytest.raises(UsageError, match="too long"):
        schema_of("a" * 51)


def test_sqlite_needs_no_driver() -> None:
    code = "import sys, chapterhouse.library, chapterhouse.store.sqlite; print(sorted(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "psycopg" not in loaded.stdout
