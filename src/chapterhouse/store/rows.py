"""Between frozen values and rows of the database."""

import json
import random
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import astuple, fields
from functools import lru_cache, wraps
from importlib.resources import files
from inspect import isfunction, isgeneratorfunction, unwrap
from operator import attrgetter
from types import MappingProxyType
from typing import Any, ParamSpec, Protocol, TypeVar

from chapterhouse.errors import CorruptLibraryError, UnavailableError
from chapterhouse.types import (
    Body,
    Chunk,
    Document,
    FileRecord,
    Kind,
    ListedFile,
    Notice,
    Page,
    Range,
    Section,
    Status,
)

Value = str | bytes | int | float | None
Row = Sequence[Any]


class Result(Protocol):
    """What a statement found."""

    def fetchall(self) -> Sequence[Row]:
        """Return all rows; none of a statement that finds nothing."""


class Connection(Protocol):
    """A connection in a transaction, as statements are run on it."""

    def execute(self, statement: str, bindings: Sequence[Value] = (), /) -> Result:
        """Run a statement."""

    def executemany(self, statement: str, bindings: Iterable[Sequence[Value]], /) -> Result:
        """Run a statement once for each of some bindings."""


class Database(Protocol):
    """A database for several threads and processes at once: SQLite's or PostgreSQL's.

    Attributes:
        identity: What no other database has, for indexes to know theirs; empty for a file, beside
            which they are.
        inline_maximum: Bytes of a file that it takes itself; larger files are blobs.
        read_only: Whether it can only be read.
        upgraded: Whether it had an earlier schema when it was opened.
    """

    identity: str
    inline_maximum: int
    read_only: bool
    upgraded: bool

    def read(self) -> AbstractContextManager[Connection]:
        """Give a connection in a transaction that sees one state throughout.

        Within ``write`` it is the writer's: a thread sees what it wrote.
        """

    def rows(self, name: str, *bindings: Value) -> Sequence[Row]:
        """Return all rows of a statement that reads."""

    def frozen(self, agree: Callable[[], None]) -> AbstractContextManager[Connection]:
        """Give a connection in a transaction that sees the state at which ``agree`` was called."""

    def read_anew(self) -> AbstractContextManager[Connection]:
        """Give a connection to read with that remembers nothing."""

    def write(self, *, durable: bool = True) -> AbstractContextManager[Connection]:
        """Give a connection in a transaction that is durable once the block has ended.

        Others write before or after it. A block inside another of the same thread is part of the
        outer one's transaction.
        """

    def is_writing(self) -> bool:
        """Whether this thread is in ``write``."""

    def compact(self) -> None:
        """Write the tables anew, so that nothing removed stays in them."""

    def close(self) -> None:
        """Close every connection."""


_REPEATING_SECONDS = 20.0  # for which an interrupted transaction is tried again: a failover
_LONGEST_PAUSE = 1.0

_Class = TypeVar("_Class", bound=type)
_P = ParamSpec("_P")
_T = TypeVar("_T")


def repeatable(cls: _Class) -> _Class:
    """Let every public method of a class be run again where the database has interrupted it.

    Each is one transaction, of which nothing is left then. A generator is left as it is, and so is
    a call with one: what has been taken out of it does not come again.
    """
    for name, method in tuple(vars(cls).items()):
        if isfunction(method) and not (name.startswith("_") or isgeneratorfunction(unwrap(method))):
            setattr(cls, name, _repeating(method))
    return cls


def _repeating(method: Callable[_P, _T]) -> Callable[_P, _T]:
    @wraps(method)
    def call(*args: _P.args, **options: _P.kwargs) -> _T:
        deadline, pause = time.monotonic() + _REPEATING_SECONDS, 0.02
        while True:
            try:
                return method(*args, **options)
            except UnavailableError as error:
                is_late = time.monotonic() + pause > deadline
                if not error.is_interrupted or is_late or _has_iterator(args):
                    raise
            time.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 - no secret
            pause = min(2 * pause, _LONGEST_PAUSE)

    return call


def _has_iterator(values: Iterable[object]) -> bool:
    return any(isinstance(value, Iterator) for value in values)


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


def run(connection: Connection, name: str, *bindings: Value) -> Sequence[Row]:
    """Run the statement ``name`` and return all of its rows, so that nothing stays open."""
    return connection.execute(_EVERY[name], bindings).fetchall()


def run_many(
    connection: Connection, name: str, sequence: Iterable[Sequence[Value]]
) -> Sequence[Row]:
    """Run the statement ``name`` for each of a sequence of bindings; return all rows."""
    return connection.executemany(_EVERY[name], sequence).fetchall()


def first(connection: Connection, name: str, *bindings: Value) -> Row | None:
    """Run the statement ``name`` and return its first row, or None."""
    found = run(connection, name, *bindings)
    return found[0] if found else None


_SHOWN = 40  # characters of what cannot be read
_KINDS = {kind.value: kind for kind in Kind}
# Columns of a document as it has them, from its id to its notices.
_PLAIN = (
    *("source", "location", "title", "format", "method", "sha256", "text_sha256", "size"),
    *("modified", "status", "page_kind", "language"),
)
_BEFORE_NOTICES = attrgetter(*_PLAIN)
_FILE = attrgetter(*(field.name for field in fields(FileRecord)))  # in the order of the columns


def to_json(value: object) -> str:
    """Return compact JSON. A lone surrogate stays one, so that SQLite refuses it too."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def document_row(document: Document, identifier: str, sequence: int) -> tuple[Value, ...]:
    """Return the bindings of ``put_document``."""
    return (
        identifier,
        *_BEFORE_NOTICES(document),
        to_json([astuple(notice) for notice in document.notices]),
        to_json(dict(sorted(document.metadata.items()))),
        document.characters,
        document.chunks,
        sequence,
        document.ingested,
        document.cut_by,
        document.author,
    )


def document_from(row: Row) -> Document:
    """Return the document of a row of ``document.*`` followed by its shelves."""
    _key, identifier, *plain = row[: 2 + len(_PLAIN)]
    notices, metadata, characters, chunks, _sequence, ingested, cut_by, author, shelves = row[-9:]
    values: dict[str, Any] = dict(zip(_PLAIN, plain, strict=True))
    try:
        values["status"] = Status(values["status"])
        return Document(
            id=identifier,
            **values,
            shelves=tuple(sorted(json.loads(shelves))),
            notices=tuple(Notice(*notice) for notice in json.loads(notices)),
            metadata=_mapping(metadata),
            characters=characters,
            chunks=chunks,
            ingested=ingested,
            cut_by=cut_by,
            author=author,
        )
    except (ValueError, TypeError) as error:
        raise _unreadable(f"row of document {identifier}", error) from error


def sequence_of(row: Row) -> int:
    """Return the sequence of a row that ``document_from`` takes."""
    return int(row[-5])


def _mapping(text: str) -> Mapping[str, str]:
    found: object = {} if text == "{}" else json.loads(text)
    if not isinstance(found, dict):
        raise TypeError(f"not an object: {text[:_SHOWN]}")
    return found


def _unreadable(what: str, error: Exception) -> CorruptLibraryError:
    return CorruptLibraryError(
        f"The {what} is damaged: {type(error).__name__}: {error}", hint="Run: chapterhouse doctor"
    )


def section_row(document: int, section: Section) -> tuple[Value, ...]:
    """Return the bindings of ``put_section``."""
    path = to_json(section.path)
    return (document, section.ordinal, section.level, path, section.start, section.end)


def page_row(document: int, ordinal: int, page: Page) -> tuple[Value, ...]:
    """Return the bindings of ``put_page``."""
    return (document, ordinal, page.number, page.label, page.start, page.end)


def body_from(text: str, sections: Sequence[Row], pages: Sequence[Row]) -> Body:
    """Return the body of its text, its rows of ``sections`` and its rows of ``pages``."""
    try:
        return Body(
            text,
            tuple(
                Section(ordinal, level, tuple(json.loads(path)), start, end)
                for ordinal, level, path, start, end in sections
            ),
            tuple(Page(*page) for page in pages),
        )
    except (ValueError, TypeError) as error:
        raise _unreadable("section or page of a document", error) from error


def chunk_row(document: int, chunk: Chunk) -> tuple[Value, ...]:
    """Return the bindings of ``put_chunk``."""
    return (
        document,
        chunk.ordinal,
        chunk.start,
        chunk.end,
        chunk.text,
        chunk.kind.value,
        chunk.header,
        to_json(chunk.section_path) if chunk.section_path else "[]",
        chunk.page,
        chunk.page_label,
        chunk.tokens,
        to_json(chunk.parents) if chunk.parents else "[]",
    )


@lru_cache(maxsize=4096)
def _parents(text: str) -> tuple[Range, ...]:
    """Parse the parents of a chunk; neighbouring chunks share theirs."""
    return tuple((start, end) for start, end in json.loads(text))


@lru_cache(maxsize=4096)
def _path(text: str) -> tuple[str, ...]:
    """Parse a section path; neighbouring chunks share theirs."""
    return tuple(json.loads(text))


def chunk_from(row: Row) -> Chunk:
    """Return the chunk of a row of ``chunk`` or ``chunks_of``."""
    *place, kind, header, path, page, label, tokens, parents, key = row
    try:
        within = () if parents == "[]" else _parents(parents)
        values = [*place, _KINDS[kind], header, _path(path), page, label, tokens, within, key]
        return Chunk(*values)
    except (ValueError, TypeError, KeyError) as error:
        raise _unreadable(f"chunk {place[1]} of {place[0]}", error) from error


def file_row(record: FileRecord) -> tuple[Value, ...]:
    """Return the bindings of ``put_file``."""
    row: tuple[Value, ...] = _FILE(record)
    return row


def file_from(row: Row) -> FileRecord:
    """Return the record of a row of ``file``."""
    try:
        values = [*row[:5], Status(row[5]), *row[6:]]
        return FileRecord(*values)
    except ValueError as error:
        raise _unreadable(f"record of file {row[0]}", error) from error


def listed_from(row: Row) -> ListedFile:
    """Return what a row of ``listed_files`` lists."""
    try:
        values = [*row[:5], Status(row[5]), *row[6:11], tuple(sorted(json.loads(row[11]))), row[12]]
        return ListedFile(*values)
    except ValueError as error:
        raise _unreadable(f"record of file {row[2]}", error) from error
