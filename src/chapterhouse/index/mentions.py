"""The rows of the graph: of each document its mentions, relations and short names."""

from collections import Counter
from typing import Final

import apsw

from chapterhouse.types.graph import EntityNames

TABLES: Final = ("mention", "shared", "relation", "membership", "pending")
# ``place`` numbers the sentences, in the order in which they were written: it joins rows, and
# nothing that is told depends on it.
SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS mention (
  document TEXT NOT NULL, entity TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL,
  confidence REAL NOT NULL, likelihood REAL NOT NULL, start INTEGER NOT NULL,
  sentence INTEGER NOT NULL, sentence_end INTEGER NOT NULL, place INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS shared (
  document TEXT NOT NULL, short TEXT NOT NULL, long TEXT NOT NULL,
  PRIMARY KEY (document, short, long)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS membership (
  document TEXT NOT NULL, shelf TEXT NOT NULL, PRIMARY KEY (document, shelf)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pending (
  document TEXT PRIMARY KEY, sequence INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS mention_entity ON mention (
  entity, place, document, kind, confidence, likelihood
);
CREATE INDEX IF NOT EXISTS mention_place ON mention (place);
CREATE INDEX IF NOT EXISTS mention_document ON mention (document);
CREATE TABLE IF NOT EXISTS relation (
  document TEXT NOT NULL, source TEXT NOT NULL, type TEXT NOT NULL, target TEXT NOT NULL,
  sentence INTEGER NOT NULL, sentence_end INTEGER NOT NULL, confidence REAL NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS relation_source ON relation (source);
CREATE INDEX IF NOT EXISTS relation_target ON relation (target);
CREATE INDEX IF NOT EXISTS relation_document ON relation (document);
"""


def write_names(connection: apsw.Connection, name: str, sequence: int, own: EntityNames) -> None:
    """Write what a document speaks of, unless it was changed or removed meanwhile."""
    connection.execute("DELETE FROM pending WHERE document = ? AND sequence = ?", (name, sequence))
    if not connection.changes():
        return
    first = int(connection.execute("SELECT coalesce(max(place), 0) FROM mention").get) + 1
    sentences = dict.fromkeys(one.sentence for one in own.mentions)
    numbers = {sentence: number for number, sentence in enumerate(sentences, first)}
    connection.executemany(
        "INSERT INTO mention VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (*values, numbers[one.sentence])
            for values, one in zip(_mention_values(name, own), own.mentions, strict=True)
        ],
    )
    connection.executemany(
        "INSERT INTO shared VALUES (?, ?, ?)", [(name, one.short, one.long) for one in own.shared]
    )
    connection.executemany(
        "INSERT INTO relation VALUES (?, ?, ?, ?, ?, ?, ?)", _relation_values(name, own)
    )


def _mention_values(name: str, own: EntityNames) -> list[tuple[str | int | float, ...]]:
    return [
        (
            name,
            one.entity,
            one.name,
            one.mention.kind.value,
            round(one.mention.confidence, 3),
            round(one.mention.likelihood, 3),
            one.mention.start,
            *one.sentence,
        )
        for one in own.mentions
    ]


def rows_of(name: str, own: EntityNames) -> Counter[tuple[str, ...]]:
    """Return the rows that a document should have."""
    every = (*_mention_values(name, own), *_relation_values(name, own))
    return Counter(tuple(map(str, row)) for row in every)


def _relation_values(name: str, own: EntityNames) -> list[tuple[str | int | float, ...]]:
    return [
        (name, one.source, one.type.value, one.target, *one.sentence, one.confidence)
        for one in own.relations
    ]


def stored_rows(connection: apsw.Connection, name: str) -> Counter[tuple[str, ...]]:
    """Return the rows of a document as they are stored, as ``rows_of`` has them."""
    mentions = connection.execute("SELECT * FROM mention WHERE document = ?", (name,))
    rows = Counter(tuple(map(str, row[:-1])) for row in mentions)  # not the sentence's number
    stated = connection.execute("SELECT * FROM relation WHERE document = ?", (name,))
    return rows + Counter(tuple(map(str, row)) for row in stated)
