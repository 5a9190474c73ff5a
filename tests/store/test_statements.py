"""SQL kept as SQL, in files."""

from contextlib import closing
from pathlib import Path

import apsw
import apsw.ext
import pytest

from chapterhouse.store.connections import define_functions
from chapterhouse.store.statements import (
    STATEMENTS,
    first,
    load_migrations,
    parse_statements,
    run,
    run_many,
)


def test_a_statement_stands_under_its_name() -> None:
    found = parse_statements("-- about the file\n\n-- one\nSELECT 1;\n\n-- two_b\nSELECT 2\n")
    assert dict(found) == {"one": "SELECT 1", "two_b": "SELECT 2"}


@pytest.mark.parametrize("text", ["-- one\nSELECT 1;\n-- one\nSELECT 2;\n", "-- one\n-- two\nX\n"])
def test_a_name_that_stands_twice_or_over_nothing_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="'one' is empty or stands twice"):
        parse_statements(text)


def test_every_statement_fits_the_schema_that_the_migrations_make(tmp_path: Path) -> None:
    connection = apsw.Connection(":memory:")
    for migration in load_migrations():
        connection.execute(migration)
    with closing(apsw.Connection(str(tmp_path / "other.db"))) as other:
        for migration in load_migrations():
            other.execute(migration)
    connection.execute("ATTACH ? AS other", (str(tmp_path / "other.db"),))
    define_functions(connection)
    for sql in STATEMENTS.values():
        apsw.ext.query_info(connection, sql)  # raises where a table or column is not there


def test_rows_are_fetched_whole() -> None:
    connection = apsw.Connection(":memory:")
    for migration in load_migrations():
        connection.execute(migration)
    assert run(connection, "roots") == []
    run_many(connection, "put_root", [("/a", "a"), ("/b", "b")])
    assert [tuple(row) for row in run(connection, "roots")] == [("a", "/a"), ("b", "/b")]
    assert first(connection, "document_named", "none") is None
