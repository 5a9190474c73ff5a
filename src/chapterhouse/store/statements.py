"""SQL kept as SQL: statements under ``-- name`` headings in a file beside the code."""

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from types import MappingProxyType
from typing import Any

import apsw

Value = str | bytes | int | float | None
Row = Sequence[Any]

_HEADING = re.compile(r"^-- ([a-z_]+)\n", re.MULTILINE)


def parse_statements(text: str) -> Mapping[str, str]:
    """Return the statement under each ``-- name`` heading of ``text``.

    Raises:
        ValueError: a name stands twice, or has no statement.
    """
    _, *parts = _HEADING.split(text)
    statements: dict[str, str] = {}
    for name, body in zip(parts[::2], parts[1::2], strict=True):
        if name in statements or not body.strip():
            raise ValueError(f"The statement '{name}' is empty or stands twice.")
        statements[name] = body.strip().removesuffix(";")
    return MappingProxyType(statements)


def load_statements(name: str) -> Mapping[str, str]:
    """Return the statements of the file ``name`` in this package."""
    return parse_statements(files(__package__).joinpath(name).read_text(encoding="utf-8"))


def load_migrations(name: str = "migrations") -> tuple[str, ...]:
    """Return the migrations in order; the first makes an empty database version 1.

    Args:
        name: The folder in this package that has them; by default those of a library.

    Raises:
        ValueError: the numbers that the file names begin with are not 1, 2, 3 and so on.
    """
    folder = files(__package__).joinpath(name)
    found = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".sql")), key=str)
    numbers = [int(entry.name[:4]) for entry in found]
    if numbers != list(range(1, len(found) + 1)):
        raise ValueError(f"Migrations are numbered {numbers}.")
    return tuple(entry.read_text(encoding="utf-8") for entry in found)


STATEMENTS = load_statements("queries.sql")  # of a library
ACCESS_STATEMENTS = load_statements("access.sql")
_EVERY = {**STATEMENTS, **ACCESS_STATEMENTS}


def run(connection: apsw.Connection, name: str, *bindings: Value) -> Sequence[Row]:
    """Run the statement ``name`` and return all of its rows, so that nothing stays open."""
    return connection.execute(_EVERY[name], bindings).fetchall()


def run_many(
    connection: apsw.Connection, name: str, sequence: Iterable[Sequence[Value]]
) -> Sequence[Row]:
    """Run the statement ``name`` for each of a sequence of bindings; return all rows."""
    return connection.executemany(_EVERY[name], sequence).fetchall()


def first(connection: apsw.Connection, name: str, *bindings: Value) -> Row | None:
    """Run the statement ``name`` and return its first row, or None."""
    found = run(connection, name, *bindings)
    return found[0] if found else None
