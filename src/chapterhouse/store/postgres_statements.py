"""The statements of a library as PostgreSQL is asked them."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

from chapterhouse.store.postgres_server import Driver
from chapterhouse.store.rows import (
    ACCESS_STATEMENTS,
    STATEMENTS,
    Row,
    Value,
    load_statements,
)

_BINDING: Final = re.compile(r"\?(\d*)")


class Session:
    """A connection as statements are run on it."""

    def __init__(self, connection: Driver) -> None:
        self._connection = connection

    def execute(self, statement: str, bindings: Sequence[Value] = (), /) -> "Rows":
        """Run a statement."""
        cursor = self._connection.execute(translate(statement), bindings or None)
        return Rows(cursor.fetchall() if cursor.description else ())

    def executemany(self, statement: str, bindings: Iterable[Sequence[Value]], /) -> "Rows":
        """Run a statement that finds nothing once for each of some bindings."""
        self._connection.cursor().executemany(translate(statement), bindings)
        return Rows()


class Rows(tuple[Row, ...]):
    """Rows."""

    __slots__ = ()

    def fetchall(self) -> Sequence[Row]:
        """Return them."""
        return self


@cache
def translate(statement: str) -> bytes:
    """Return what PostgreSQL is asked instead of a statement for SQLite."""
    return _own_statements().get(statement, _with_dollars(statement))


@cache
def _own_statements() -> dict[str, bytes]:
    every = {**STATEMENTS, **ACCESS_STATEMENTS}
    own = load_statements("postgres.sql")
    return {every[name]: _with_dollars(statement) for name, statement in own.items()}


def _with_dollars(statement: str) -> bytes:
    """Return a statement with ``$1`` for ``?1``, and for the first ``?``."""
    number = 0

    def numbered(found: re.Match[str]) -> str:
        nonlocal number
        number += 1
        return f"${found[1] or number}"

    return _BINDING.sub(numbered, statement).encode()
