"""Damage that is planted in a copy of a library, by kind and place; see ``verify.py``.

A home is a folder with one workspace, closed. Every function spoils one thing in it.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import apsw
import numpy as np
import tantivy

from chapterhouse.index.ranking import open_index
from chapterhouse.index.schema import make_schema

PAGE = 4_096
OLD = 1_600_000_000  # seconds: older than any grace
CONTENT_TABLES: tuple[str, ...] = (
    "document", "body", "section", "page", "chunk", "embedding", "content", "file",
    "membership", "memory", "checksum",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Damage:
    """One thing that is spoilt.

    Attributes:
        kind: What is done.
        place: To what.
        plant: Does it in a home.
        repairable: Whether the bytes or the file are there to repair it from.
    """

    kind: str
    place: str
    plant: Callable[[Path], None]
    repairable: bool = True

    @property
    def name(self) -> str:
        """Return both as one line."""
        return f"{self.place}: {self.kind}"


def own(home: Path) -> Path:
    """Return the folder of the workspace."""
    return home / "workspaces" / "default"


def database(home: Path) -> Path:
    """Return the database."""
    return own(home) / "library.db"


def index(home: Path, name: str) -> Path:
    """Return the folder of an index."""
    return own(home) / "index" / name


# --- how damage is done ---------------------------------------------------------------------------


def sql(*statements: str) -> Callable[[Path], None]:
    """Return what runs statements, references unchecked."""

    def plant(home: Path) -> None:
        with closing(apsw.Connection(str(database(home)))) as connection:
            connection.pragma("foreign_keys", 0)
            before = connection.total_changes()
            for statement in statements:
                connection.execute(statement)
            if connection.total_changes() == before:
                raise SystemExit(f"{statements} changed nothing")

    return plant


def leaf_page(home: Path, table: str) -> int:
    """Return the number of the leaf page of a table, or of an index, that holds most."""
    with closing(apsw.Connection(str(database(home)))) as connection:
        found = connection.execute(
            "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' AND ncell > 0"
            " ORDER BY payload DESC, pageno LIMIT 1",
            (table,),
        ).get
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    if found is None:
        raise SystemExit(f"{table} has no page")
    return int(found)


def page_of(table: str, *, zeros: bool = False) -> Callable[[Path], None]:
    """Return what overwrites the page of a table: its header with noise, or all with zeros."""

    def plant(home: Path) -> None:
        number = leaf_page(home, table)
        overwrite(database(home), (number - 1) * PAGE, b"\0" * PAGE if zeros else b"\xff" * 64)

    return plant


def bytes_in_page(table: str, needle: bytes) -> Callable[[Path], None]:
    """Return what changes one letter of a text that a table holds."""

    def plant(home: Path) -> None:
        leaf_page(home, table)  # for the checkpoint
        data = database(home).read_bytes()
        with closing(apsw.Connection(str(database(home)))) as connection:
            pages = {
                int(number)
                for (number,) in connection.execute(
                    "SELECT pageno FROM dbstat WHERE name = ?", (table,)
                )
            }
        at = data.find(needle)
        while at >= 0 and at // PAGE + 1 not in pages:
            at = data.find(needle, at + 1)
        if at < 0:
            raise SystemExit(f"{needle!r} is not in {table}")
        overwrite(database(home), at, bytes([data[at] ^ 0x01]))

    return plant


def overwrite(path: Path, at: int, data: bytes) -> None:
    """Write bytes over those of a file."""
    with path.open("r+b") as stream:
        stream.seek(at)
        stream.write(data)


def flip(path: Path, share: float = 0.5) -> None:
    """Change one byte of a file, at a share of its length."""
    data = path.read_bytes()
    at = min(int(len(data) * share), len(data) - 1)
    overwrite(path, at, bytes([data[at] ^ 0x10]))


def in_index(name: str, pattern: str, spoil: Callable[[Path], None]) -> Callable[[Path], None]:
    """Return what spoils the first file of an index that fits a pattern."""

    def plant(home: Path) -> None:
        spoil(min(index(home, name).glob(pattern)))

    return plant


def truncate(path: Path) -> None:
    """Cut a file to its half."""
    with path.open("r+b") as stream:
        stream.truncate(path.stat().st_size // 2)


def empty(path: Path) -> None:
    """Leave nothing of a file but its name."""
    path.write_bytes(b"")


def state(name: str, **values: object) -> Callable[[Path], None]:
    """Return what changes values in the state of an index; callables get the one before."""

    def plant(home: Path) -> None:
        path = index(home, name) / "state.json"
        found = json.loads(path.read_text("utf-8"))
        for key, value in values.items():
            place = found if key in found else found["counts"]
            place[key] = value(place[key]) if callable(value) else value
        path.write_text(json.dumps(found), "utf-8")

    return plant


def entries(change: Callable[[tantivy.IndexWriter, Sequence[str]], None]) -> Callable[[Path], None]:
    """Return what writes to the lexical index by its own means."""

    def plant(home: Path) -> None:
        with closing(apsw.Connection(str(database(home)))) as connection:
            names = [
                str(name) for (name,) in connection.execute("SELECT id FROM document ORDER BY id")
            ]
        folder = max(index(home, "lexical").glob("tantivy.*"))
        writer = open_index(make_schema(), str(folder)).writer(16_000_000, num_threads=1)
        change(writer, names)
        writer.commit()
        writer.wait_merging_threads()

    return plant


def _entry(key: int, document: str, shelf: str = "library") -> tantivy.Document:
    entry = tantivy.Document()
    entry.add_unsigned("key", key)
    entry.add_text("document", document)
    entry.add_text("shelf", shelf)
    entry.add_text("body", "harbour gate")
    return entry


def _remove_entries(writer: tantivy.IndexWriter, names: Sequence[str]) -> None:
    writer.delete_documents_by_term("document", names[0])


def _double_entry(writer: tantivy.IndexWriter, names: Sequence[str]) -> None:
    writer.add_document(_entry(1, names[0]))


def _strange_entry(writer: tantivy.IndexWriter, _: Sequence[str]) -> None:
    writer.add_document(_entry(9_999_999, "nobody-0001"))


def _other_document(writer: tantivy.IndexWriter, names: Sequence[str]) -> None:
    """Give the entries of one document to another."""
    writer.delete_documents_by_term("document", names[0])
    writer.add_document(_entry(1, names[1]))


def _leaked_entry(writer: tantivy.IndexWriter, names: Sequence[str]) -> None:
    writer.add_document(_entry(1, names[0], "secret"))


def _stale(home: Path) -> None:
    """Let an index say that it has applied what it has not: a document that was added behind it."""
    with closing(apsw.Connection(str(database(home)))) as connection:
        key, number = connection.execute(
            "SELECT min(key), (SELECT sequence + 1 FROM counter) FROM document"
        ).fetchall()[0]
        connection.execute("UPDATE counter SET sequence = ?", (number,))
        connection.execute("UPDATE document SET sequence = ? WHERE key = ?", (number, key))
        connection.execute("UPDATE chunk SET key = key + 100000 WHERE document = ?", (key,))
    for name in ("lexical", "vectors"):
        state(name, sequence=number)(home)
    with closing(apsw.Connection(str(index(home, "names") / "aliases.db"))) as names:
        names.execute("UPDATE progress SET sequence = ?", (number,))


def names_sql(statement: str) -> Callable[[Path], None]:
    """Return what runs a statement in the index of names."""

    def plant(home: Path) -> None:
        with closing(apsw.Connection(str(index(home, "names") / "aliases.db"))) as connection:
            connection.execute(statement)
            if not connection.total_changes():
                raise SystemExit(f"{statement} changed nothing")

    return plant


def _names_page(home: Path) -> None:
    path = index(home, "names") / "aliases.db"
    with closing(apsw.Connection(str(path))) as connection:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        number = connection.execute(
            "SELECT pageno FROM dbstat WHERE name = 'shelf_word' AND pagetype = 'leaf' LIMIT 1"
        ).get
    overwrite(path, (int(number) - 1) * PAGE, b"\xff" * 64)


def first_blob(home: Path) -> Path:
    """Return a blob that a document needs."""
    return min((own(home) / "blobs").glob("??/*"))


def blob(spoil: Callable[[Path], None]) -> Callable[[Path], None]:
    """Return what spoils a blob."""
    return lambda home: spoil(first_blob(home))


def _orphan_blob(home: Path) -> None:
    data = b"nobody needs these bytes"
    sha256 = hashlib.sha256(data).hexdigest()
    path = own(home) / "blobs" / sha256[:2] / sha256
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (OLD, OLD))


def foreign(*parts: str) -> Callable[[Path], None]:
    """Return what puts a strange file into a folder of the workspace."""

    def plant(home: Path) -> None:
        own(home).joinpath(*parts).write_text("not ours", "utf-8")

    return plant


def _other_vector(home: Path) -> None:
    path = min(index(home, "vectors").glob("vectors.*"))
    values = np.fromfile(path, dtype=np.float32)
    values[5] += np.float32(0.01)
    values.tofile(path)


# --- all of it ------------------------------------------------------------------------------------


def _rows() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield what is done to rows: kind, table, statements."""
    one = "WHERE rowid = (SELECT min(rowid) FROM {0})"
    for table in ("document", "body", "chunk", "embedding", "content"):
        yield "a row is deleted", table, (f"DELETE FROM {table} {one.format(table)}",)
    for table in ("section", "page", "membership", "file", "root", "counter"):
        yield "all rows are deleted", table, (f"DELETE FROM {table}",)
    yield "a letter of the text", "body", ("UPDATE body SET text = 'X' || substr(text, 2)",)
    yield (
        "a letter of a chunk",
        "chunk",
        ("UPDATE chunk SET text = 'X' || substr(text, 2) WHERE key = 3",),
    )
    yield "the header of a chunk", "chunk", ("UPDATE chunk SET header = 'X' WHERE key = 3",)
    yield "the page of a chunk", "chunk", ("UPDATE chunk SET page = 77 WHERE key = 3",)
    yield "an unknown kind", "chunk", ("UPDATE chunk SET kind = 'odd' WHERE key = 3",)
    yield "the place of a chunk", "chunk", ('UPDATE chunk SET "start" = "start" + 1 WHERE key = 3',)
    yield "the title", "document", ("UPDATE document SET title = 'Odd' WHERE key = 2",)
    yield "an unknown status", "document", ("UPDATE document SET status = 'odd' WHERE key = 2",)
    yield (
        "metadata that is no JSON",
        "document",
        ("UPDATE document SET metadata = '{' WHERE key = 2",),
    )
    yield "the language", "document", ("UPDATE document SET language = 'fr' WHERE key = 2",)
    yield (
        "the hash of the bytes",
        "document",
        ("UPDATE document SET sha256 = replace(sha256, 'a', 'b') WHERE key = 2",),
    )
    yield (
        "the hash of the text",
        "document",
        ("UPDATE document SET text_sha256 = 'x' WHERE key = 2",),
    )
    yield "a number of chunks", "document", ("UPDATE document SET chunks = 99 WHERE key = 2",)
    yield (
        "a sequence beyond the counter",
        "document",
        ("UPDATE document SET sequence = 99999 WHERE key = 2",),
    )
    yield "the source", "document", ("UPDATE document SET source = 'docs/odd.md' WHERE key = 2",)
    yield "the location", "document", ("UPDATE document SET location = '/odd' WHERE key = 2",)
    yield "a page's label", "page", ("UPDATE page SET label = 'X'",)
    yield "a section's path", "section", ("UPDATE section SET path = '[\"X\"]'",)
    yield "a section's end", "section", ('UPDATE section SET "end" = "end" + 900',)
    yield "another shelf", "membership", ("UPDATE membership SET shelf = 'odd' WHERE document = 2",)
    yield (
        "a number of a vector",
        "embedding",
        ("UPDATE embedding SET vectors = CAST(x'0014' || substr(vectors, 3) AS BLOB)",),
    )
    yield (
        "a shorter vector",
        "embedding",
        ("UPDATE embedding SET vectors = substr(vectors, 3) WHERE document = 2",),
    )
    yield "other bytes", "content", ("UPDATE content SET bytes = x'00'",)
    yield "bytes of no document", "content", ("INSERT INTO content VALUES ('odd', x'00')",)
    yield "a document that is not there", "file", ("UPDATE file SET document_id = 'odd'",)
    yield "an unknown status", "file", ("UPDATE file SET status = 'odd'",)
    yield "another label", "root", ("UPDATE root SET label = 'odd'",)
    yield (
        "a chunk of nothing",
        "chunk",
        ("UPDATE chunk SET document = 9999 WHERE key = 1",),
    )
    yield "a section of nothing", "section", ("INSERT INTO section VALUES (999, 0, 1, '[]', 0, 1)",)
    yield "a shelf of nothing", "membership", ("INSERT INTO membership VALUES (999, 'library')",)
    yield (
        "vectors of nothing",
        "embedding",
        ("INSERT INTO embedding VALUES (999, 'x', 1, x'0000', 0)",),
    )
    yield (
        "a removal of what is there",
        "removal",
        ("INSERT INTO removal SELECT id, 999998 FROM document WHERE key = 2",),
    )
    yield "an earlier count", "counter", ("UPDATE counter SET sequence = 1",)
    yield (
        "an answer of another change",
        "cached_answer",
        ("INSERT INTO cached_answer VALUES ('k', 1, '{}')",),
    )
    yield "another question", "memory", ("UPDATE memory SET question = 'What is odd here now?'",)
    yield "sources that are no JSON", "memory", ("UPDATE memory SET sources = '[' WHERE key = 1",)
    yield "a row is deleted", "memory_terms", ("DELETE FROM memory_terms WHERE rowid = 1",)
    yield "another checksum", "checksum", ("UPDATE checksum SET rows_sha256 = 'x'",)
    yield (
        "settings that are no JSON",
        "encoder",
        ("INSERT OR REPLACE INTO encoder VALUES ('previous', 'x', '{', '')",),
    )


def _pages() -> Iterator[Damage]:
    for table in CONTENT_TABLES:
        yield Damage("noise over a page", f"page of {table}", page_of(table))
    yield Damage("zeros over a page", "page of chunk", page_of("chunk", zeros=True))
    yield Damage("zeros over a page", "page of body", page_of("body", zeros=True))
    yield Damage("noise over a page", "page of an index", page_of("membership_shelf"))
    for table in ("body", "chunk", "content"):
        plant = bytes_in_page(table, b"harbour master")
        yield Damage("one bit of a text", f"page of {table}", plant)

    def header(home: Path) -> None:
        leaf_page(home, "document")
        overwrite(database(home), 0, b"\0" * 100)

    def cut(home: Path) -> None:
        leaf_page(home, "document")
        truncate(database(home))

    yield Damage("no header", "database", header, repairable=False)
    yield Damage("cut to its half", "database", cut, repairable=False)


def _indexes() -> Iterator[Damage]:
    for part in ("fast", "fieldnorm", "idx", "pos", "store", "term"):
        spoil = in_index("lexical", f"tantivy.*/*.{part}", flip)
        yield Damage("one bit", f"lexical index .{part}", spoil)
    for part in ("terms", "ends", "keys"):
        yield Damage("one bit", f"lexical index {part}", in_index("lexical", f"{part}.*", flip))
    for part in ("vectors", "codes", "figures", "keys", "runs", "names", "shelves"):
        yield Damage("one bit", f"vector index {part}", in_index("vectors", f"{part}.*", flip))
        yield Damage("cut", f"vector index {part}", in_index("vectors", f"{part}.*", truncate))
    for part in ("idx", "term", "fast"):
        spoil = in_index("lexical", f"tantivy.*/*.{part}", truncate)
        yield Damage("cut", f"lexical index .{part}", spoil)
    gone = in_index("lexical", "tantivy.*/*.pos", Path.unlink)
    yield Damage("a file is gone", "lexical index .pos", gone)
    yield Damage("cut", "lexical index terms", in_index("lexical", "terms.*", truncate))
    yield Damage("cut", "lexical index meta", in_index("lexical", "tantivy.*/meta.json", truncate))
    yield Damage("cut", "lexical index state", in_index("lexical", "state.json", truncate))
    yield Damage("cut", "vector index state", in_index("vectors", "state.json", truncate))
    yield Damage("cut", "names index", in_index("names", "aliases.db", truncate))
    yield Damage("noise over a page", "names index", _names_page)
    for name in ("lexical", "vectors", "names"):

        def drop(home: Path, name: str = name) -> None:
            shutil.rmtree(index(home, name))

        yield Damage("the folder is gone", f"{name} index", drop)
    yield Damage("ahead of the library", "lexical index", state("lexical", sequence=999))
    yield Damage("ahead of the library", "vector index", state("vectors", sequence=999))
    yield Damage(
        "fewer rows than there are", "vector index", state("vectors", rows=lambda n: n - 1)
    )
    yield Damage(
        "fewer rows than there are", "lexical index", state("lexical", rows=lambda n: n - 1)
    )
    yield Damage("older than they say", "all indexes", _stale)
    yield Damage("one number", "vector index vectors", _other_vector)
    yield Damage("entries are removed", "lexical index", entries(_remove_entries))
    yield Damage("an entry is doubled", "lexical index", entries(_double_entry))
    yield Damage("an entry of nothing", "lexical index", entries(_strange_entry))
    yield Damage("an entry of another document", "lexical index", entries(_other_document))
    yield Damage("an entry on another shelf", "lexical index", entries(_leaked_entry))
    for table in ("alias", "titled", "membership", "shelf_word"):
        yield Damage("rows are deleted", f"names index {table}", names_sql(f"DELETE FROM {table}"))
    yield Damage("another name", "names index", names_sql("UPDATE alias SET other = 'Odd'"))
    yield Damage(
        "a title of nothing", "names index", names_sql("INSERT INTO titled VALUES ('odd', 'odd-1')")
    )


def _files() -> Iterator[Damage]:
    yield Damage("one bit", "blob", blob(flip))
    yield Damage("cut", "blob", blob(truncate))
    yield Damage("gone", "blob", blob(Path.unlink))
    yield Damage("empty", "blob", blob(empty))
    yield Damage("the folder is gone", "blobs", lambda home: shutil.rmtree(own(home) / "blobs"))
    yield Damage("of no document", "blob", _orphan_blob)
    yield Damage("a strange file", "blobs", foreign("blobs", "notes.txt"), repairable=False)
    for name in ("lexical", "vectors", "names"):
        plant = foreign("index", name, "notes.txt")
        yield Damage("a strange file", f"{name} index", plant, repairable=False)
    yield Damage("a strange file", "indexes", foreign("index", "notes.txt"), repairable=False)


def damages() -> tuple[Damage, ...]:
    """Return all damage that is planted."""
    lost = {("memory", "sources that are no JSON")}
    rows = [
        Damage(kind, f"table {table}", sql(*statements), (table, kind) not in lost)
        for kind, table, statements in _rows()
    ]
    return (*rows, *_pages(), *_indexes(), *_files())
