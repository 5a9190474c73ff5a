"""Which names the documents give for the same thing: a small table derived from their texts."""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import apsw

from chapterhouse.index.derived import DerivedTables, Rows
from chapterhouse.index.document_names import (
    TABLES,
    Vocabulary,
    has_names,
    names_in,
    rows_by_document,
)
from chapterhouse.store.sqlite import Store
from chapterhouse.text.aliases import fold_name
from chapterhouse.types import Alias, AliasKind, Change, Scope

_ALL: Final = Scope.everything()  # an index follows every document
_MOST_VOCABULARIES: Final = 8
_SCHEMA: Final = """
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


class AliasIndex(DerivedTables):
    """The names in one folder."""

    what = "The index of names"
    file = "aliases.db"
    version = 6  # grows when the same text gives other names
    schema = _SCHEMA

    def __init__(self, folder: Path, *, wait_seconds: float = 10.0) -> None:
        super().__init__(folder, wait_seconds=wait_seconds)
        self._vocabularies: tuple[int, dict[str, Vocabulary]] = (0, {})  # of which sequence

    def size(self) -> int:
        """Count the pairs of names, each counted in every document that gives it."""
        with self._read() as connection:
            return int(connection.execute("SELECT count(*) FROM alias").get)

    def differing(self, store: Store, *, thorough: bool) -> Collection[str]:
        """Return the documents of which it has other shelves, names or words; see ``Index``."""
        self._require_sound()
        with self._read() as connection:
            found = {name: rows_by_document(connection, name) for name in TABLES}
            words = {(str(shelf), str(word)) for shelf, word in connection.execute(_ALL_WORDS)}
        documents = {one.id: one for one in store.documents(_ALL)}
        strange = {name for table in found.values() for name in table} - documents.keys()
        return strange | {
            one.id
            for one in documents.values()
            if found["membership"].get(one.id, Counter())
            != Counter((shelf,) for shelf in one.shelves)
            or (thorough and not has_names(one, store, found, words))
        }

    def find(self, names: Sequence[str], scope: Scope, limit: int = 20) -> Sequence[Alias]:
        """Return what else the documents call these.

        Those that most documents give come first. The ``name`` of each is the one asked for.
        """
        wanted = json.dumps(sorted({fold_name(name) for name in names}))
        with self._read() as connection:
            rows = connection.execute(_FIND, (wanted, scope.key, limit)).fetchall()
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
        with self._read() as connection:
            rows = connection.execute(_FIND_TITLED, (wanted, scope.key, most)).fetchall()
        return {str(name): json.loads(str(documents)) for name, documents in rows}

    def near_words(self, word: str, scope: Scope) -> Mapping[str, float]:
        """Return the documents' words that ``word`` may be a misspelling of, with its cost.

        A word stays on a shelf when the documents that have it leave that, until the index is
        rebuilt.
        """
        with self._read() as connection:
            vocabulary = self._vocabulary_of(scope, connection)
        return vocabulary.near(word)

    def may_mention(self, word: str, scope: Scope) -> bool:
        """Whether a document may have a form of a word in its text, title, file name or folders.

        Never false where one has.
        """
        with self._read() as connection:
            vocabulary = self._vocabulary_of(scope, connection)
        return word in vocabulary.mentions

    def _vocabulary_of(self, scope: Scope, connection: apsw.Connection) -> Vocabulary:
        """Return the words of a scope; some are remembered until something changes."""
        sequence = self._sequence()
        known_at, known = self._vocabularies
        if known_at != sequence or len(known) >= _MOST_VOCABULARIES:
            known = {}
            self._vocabularies = (sequence, known)
        if scope.key not in known:
            lines = connection.execute(_WORDS, (scope.key,)).get
            known[scope.key] = Vocabulary(str(lines or ""))
        return known[scope.key]

    def _clear(self, connection: apsw.Connection) -> None:
        connection.execute(
            "DELETE FROM alias; DELETE FROM titled; DELETE FROM membership; DELETE FROM shelf_word;"
            "DROP TABLE IF EXISTS word"  # of version 3
        )

    def _apply(self, changes: Sequence[Change], store: Store) -> Iterator[tuple[str, Rows]]:
        found = [
            names_in(change.document, body.text)
            for change in changes
            if change.document and (body := store.body(change.document_id, _ALL))
        ]
        for table in TABLES:
            yield f"DELETE FROM {table} WHERE document = ?", [(one.document_id,) for one in changes]  # noqa: S608 - one of three names
        shelves = [
            (change.document_id, shelf)
            for change in changes
            if change.document
            for shelf in change.document.shelves
        ]
        yield "INSERT INTO membership VALUES (?, ?)", shelves
        aliases = [row for one in found for row in one.aliases]
        yield "INSERT INTO alias VALUES (?, ?, ?, ?, ?)", aliases
        yield "INSERT INTO titled VALUES (?, ?)", [row for one in found for row in one.titled]
        words = set().union(*(one.words for one in found))
        yield "INSERT OR IGNORE INTO shelf_word VALUES (?, ?)", sorted(words)
