"""Which names the documents give for the same thing: a small table derived from their texts."""

import json
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import apsw

from chapterhouse.errors import ChapterhouseError, CorruptLibraryError
from chapterhouse.files import read_only_address
from chapterhouse.index.document_names import (
    TABLES,
    Vocabulary,
    has_names,
    names_in,
    rows_by_document,
)
from chapterhouse.index.state import writer_lock
from chapterhouse.store.sqlite import Store
from chapterhouse.text.aliases import fold_name
from chapterhouse.types import Alias, AliasKind, Scope

_VERSION: Final = 6  # grows when the same text gives other names
_ALL: Final = Scope.everything()  # an index follows every document
_BATCH_CHANGES: Final = 512
_MOST_VOCABULARIES: Final = 8
_PAUSE_SECONDS: Final = 0.02
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS progress (
  id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL, sequence INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS alias (
  document TEXT NOT NULL, folded TEXT NOT NULL, name TEXT NOT NULL, other TEXT NOT NULL,
  kind TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS membership (
  document TEXT NOT NULL, shelf TEXT NOT NULL, PRIMARY KEY (document, shelf)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS titled (
  name TEXT NOT NULL, document TEXT NOT NULL, PRIMARY KEY (name, document)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS shelf_word (
  shelf TEXT NOT NULL, word TEXT NOT NULL, PRIMARY KEY (shelf, word)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS titled_document ON titled (document);
CREATE INDEX IF NOT EXISTS alias_folded ON alias (folded);
CREATE INDEX IF NOT EXISTS alias_document ON alias (document);
"""
_FIND: Final = """
SELECT name, other, kind, count(DISTINCT document) AS documents
FROM alias WHERE folded IN (SELECT value FROM json_each(?1)) AND (
  ?2 = 'null' OR EXISTS (
    SELECT 1 FROM membership AS m WHERE m.document = alias.document
    AND m.shelf IN (SELECT value FROM json_each(?2))
  )
)
GROUP BY folded, other, kind ORDER BY documents DESC, other, folded, kind LIMIT ?3
"""
_ALL_WORDS: Final = "SELECT shelf, word FROM shelf_word"
_WORDS: Final = """
SELECT group_concat(word, char(10)) FROM (
  SELECT DISTINCT word FROM shelf_word
  WHERE ?1 = 'null' OR shelf IN (SELECT value FROM json_each(?1))
)
"""
_FIND_TITLED: Final = """
SELECT name, json_group_array(document ORDER BY document)
FROM json_each(?1) AS wanted CROSS JOIN titled ON titled.name = wanted.value
WHERE (
  ?2 = 'null' OR EXISTS (
    SELECT 1 FROM membership AS m WHERE m.document = titled.document
    AND m.shelf IN (SELECT value FROM json_each(?2))
  )
)
GROUP BY name HAVING count(*) <= ?3
"""


class AliasIndex:
    """The names in one folder. Safe to share between threads and processes."""

    def __init__(self, folder: Path, *, wait_seconds: float = 10.0) -> None:
        self._folder = folder
        self._path = folder / "aliases.db"
        self._wait_seconds = wait_seconds
        self._lock = threading.Lock()
        self._connection: apsw.Connection | None = None
        self._vocabularies: tuple[int, dict[str, Vocabulary]] = (0, {})  # of which sequence

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def sequence(self) -> int:
        """Return the number of the last change it has applied."""
        with self._lock, self._explained():
            return self._sequence()

    def size(self) -> int:
        """Count the pairs of names, each counted in every document that gives it."""
        with self._lock, self._explained():
            return int(self._open().execute("SELECT count(*) FROM alias").get)

    def differing(self, store: Store, *, thorough: bool) -> Collection[str]:
        """Return the documents of which it has other shelves, names or words; see ``Index``."""
        self._require_sound()
        with self._lock, self._explained():
            found = {name: rows_by_document(self._open(), name) for name in TABLES}
            words = {(str(shelf), str(word)) for shelf, word in self._open().execute(_ALL_WORDS)}
        documents = {one.id: one for one in store.documents(_ALL)}
        strange = {name for table in found.values() for name in table} - documents.keys()
        return strange | {
            one.id
            for one in documents.values()
            if found["membership"].get(one.id, Counter())
            != Counter((shelf,) for shelf in one.shelves)
            or (thorough and not has_names(one, store, found, words))
        }

    def _damage(self) -> str:
        with self._lock, self._explained():
            found = self._open().execute("PRAGMA integrity_check(1)").get
        return "" if found == "ok" else str(found)

    def find(self, names: Sequence[str], scope: Scope, limit: int = 20) -> Sequence[Alias]:
        """Return what else the documents call these.

        Those that most documents give come first. The ``name`` of each is the one asked for.
        """
        wanted = json.dumps(sorted({fold_name(name) for name in names}))
        with self._lock, self._explained():
            rows = self._open().execute(_FIND, (wanted, scope.key, limit)).fetchall()
        return [Alias(str(name), str(other), AliasKind(str(kind))) for name, other, kind, _ in rows]

    def find_titled(
        self, names: Sequence[str], scope: Scope, most: int = 3
    ) -> Mapping[str, Sequence[str]]:
        """Return the ids of the documents that go by each of some names, sorted.

        Args:
            names: As ``text.mentions`` folds them.
            scope: Which documents are looked at and counted.
            most: A name that more documents share says nothing and is left out.
        """
        wanted = json.dumps(list(dict.fromkeys(names)))
        with self._lock, self._explained():
            rows = self._open().execute(_FIND_TITLED, (wanted, scope.key, most)).fetchall()
        return {str(name): json.loads(str(documents)) for name, documents in rows}

    def near_words(self, word: str, scope: Scope) -> Mapping[str, float]:
        """Return the documents' words that ``word`` may be a misspelling of, with its cost.

        A word stays on a shelf when the documents that have it leave that, until the index is
        rebuilt.
        """
        with self._lock, self._explained():
            vocabulary = self._vocabulary_of(scope)
        return vocabulary.near(word)

    def may_mention(self, word: str, scope: Scope) -> bool:
        """Whether a document may have a form of a word in its text, title, file name or folders.

        Never false where one has.
        """
        with self._lock, self._explained():
            vocabulary = self._vocabulary_of(scope)
        return word in vocabulary.mentions

    def _vocabulary_of(self, scope: Scope) -> Vocabulary:
        """Return the words of a scope; some are remembered until something changes."""
        sequence = self._sequence()
        known_at, known = self._vocabularies
        if known_at != sequence or len(known) >= _MOST_VOCABULARIES:
            known = {}
            self._vocabularies = (sequence, known)
        if scope.key not in known:
            lines = self._open().execute(_WORDS, (scope.key,)).get
            known[scope.key] = Vocabulary(str(lines or ""))
        return known[scope.key]

    def catch_up(self, store: Store) -> int:
        """Apply the changes it has missed; wait a while for another process that is at it."""
        if self.sequence() < store.sequence():
            with writer_lock(self._folder, self._wait_seconds) as held:
                if held:
                    self._apply_all(store)
        return self.sequence()

    def rebuild(self, store: Store) -> int:
        """Throw everything away and read every document again; what was is overwritten."""
        with writer_lock(self._folder, self._wait_seconds * 6) as held:
            if held:
                try:
                    self._require_sound()
                    with self._lock, self._explained(), self._open() as connection:
                        _clear(connection)
                        connection.execute("DELETE FROM progress")
                except CorruptLibraryError:
                    self._delete()
                self._apply_all(store)
                with self._lock, self._explained(), suppress(apsw.BusyError):  # someone reads
                    self._open().execute("VACUUM")  # until then pages hold what was deleted
                    self._open().wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        return self.sequence()

    def _require_sound(self) -> None:
        if fault := self._damage():
            raise CorruptLibraryError(f"The index of names is damaged: {fault}")

    def _delete(self) -> None:
        """Delete a damaged file; who has it open meets the damage and opens the next one."""
        self.close()
        for path in self._folder.glob(f"{self._path.name}*"):
            path.unlink(missing_ok=True)

    def _sequence(self) -> int:
        found = self._open().execute(
            "SELECT sequence FROM progress WHERE version = ?", (_VERSION,)
        ).get  # fmt: skip
        return int(found or 0)

    def _open(self) -> apsw.Connection:
        if self._connection is None:
            try:
                self._connection = self._opened()
            except (OSError, apsw.FullError, apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError):
                self._connection = self._as_it_is()
        return self._connection

    def _opened(self) -> apsw.Connection:
        self._folder.mkdir(parents=True, exist_ok=True)
        connection = apsw.Connection(str(self._path))
        try:
            connection.set_busy_timeout(int(self._wait_seconds * 1000))
            _make_ready(connection, time.monotonic() + self._wait_seconds)
        except apsw.Error:
            connection.close()
            raise
        return connection

    def _as_it_is(self) -> apsw.Connection:
        """Open what can only be read; where there is nothing, an empty table in memory."""
        if self._path.exists() and self._path.stat().st_size:
            flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
            return apsw.Connection(read_only_address(self._path), flags=flags)
        connection = apsw.Connection(":memory:")
        connection.execute(_SCHEMA)
        return connection

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say what to do where the file turns out to be damaged, which may be at any page."""
        try:
            yield
        except (apsw.NotADBError, apsw.CorruptError, UnicodeDecodeError) as error:
            raise CorruptLibraryError(
                f"The index of names cannot be used: {error}",
                hint=f"Run: chapterhouse reindex. Or delete {self._path}: it is made anew.",
            ) from error
        except (apsw.FullError, apsw.IOError) as error:
            raise ChapterhouseError(
                f"The index of names cannot be read or written: {error}",
                hint="If the disk is full, make room. The next command goes on where this stopped.",
            ) from error

    def _apply_all(self, store: Store) -> None:
        with self._lock, self._explained():
            after = self._sequence()
            if not after:
                with self._open() as connection:  # nothing yet, or names of another version
                    _clear(connection)
        while changes := store.changes(after, _BATCH_CHANGES):
            after = changes[-1].sequence
            found = [
                names_in(change.document, body.text)
                for change in changes
                if change.document and (body := store.body(change.document_id, _ALL))
            ]
            with self._lock, self._explained(), self._open() as connection:
                for table in TABLES:
                    connection.executemany(
                        f"DELETE FROM {table} WHERE document = ?",  # noqa: S608 - one of three names
                        [(change.document_id,) for change in changes],
                    )
                connection.executemany(
                    "INSERT INTO membership VALUES (?, ?)",
                    [
                        (change.document_id, shelf)
                        for change in changes
                        if change.document
                        for shelf in change.document.shelves
                    ],
                )
                aliases = [row for one in found for row in one.aliases]
                connection.executemany("INSERT INTO alias VALUES (?, ?, ?, ?, ?)", aliases)
                titled = [row for one in found for row in one.titled]
                connection.executemany("INSERT INTO titled VALUES (?, ?)", titled)
                words = set().union(*(one.words for one in found))
                connection.executemany(
                    "INSERT OR IGNORE INTO shelf_word VALUES (?, ?)", sorted(words)
                )
                connection.execute(
                    "INSERT INTO progress VALUES (1, ?, ?) ON CONFLICT (id) DO UPDATE"
                    " SET version = excluded.version, sequence = excluded.sequence",
                    (_VERSION, after),
                )


def _make_ready(connection: apsw.Connection, deadline: float) -> None:
    """Make the tables; SQLite itself does not wait where another switches a new file to WAL.

    Derived: what a power cut takes is read from the documents again.
    """
    while True:
        try:
            connection.execute("PRAGMA journal_mode = wal; PRAGMA synchronous = normal")
            connection.execute(_SCHEMA)
        except apsw.BusyError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(_PAUSE_SECONDS)
        else:
            return


def _clear(connection: apsw.Connection) -> None:
    connection.execute(
        "DELETE FROM alias; DELETE FROM titled; DELETE FROM membership; DELETE FROM shelf_word;"
        "DROP TABLE IF EXISTS word"  # of version 3
    )
