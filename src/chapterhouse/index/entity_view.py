"""The entities of a scope: which keys of its mentions are one, and how often each is named."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import apsw

from chapterhouse.text.entity_names import merge_keys
from chapterhouse.types import Scope
from chapterhouse.types.graph import EntityKind, MergeReason

_SURE: Final = 0.6  # confidence of one mention from which a name counts that is there once
# "+" keeps SQLite from going by document, of which a scope has many.
_COUNTED: Final = """
SELECT entity, kind, count(*), sum(confidence), max(confidence)
FROM mention WHERE +document IN (
  SELECT document FROM membership WHERE ?1 = 'null' OR shelf IN (SELECT value FROM json_each(?1))
)
GROUP BY entity, kind
"""
_TOTALS: Final = """
SELECT entity, count(DISTINCT document), count(DISTINCT place)
FROM mention WHERE +document IN (
  SELECT document FROM membership WHERE ?1 = 'null' OR shelf IN (SELECT value FROM json_each(?1))
)
GROUP BY entity
"""
_SENTENCES: Final = """
SELECT count(DISTINCT place)
FROM mention WHERE +document IN (
  SELECT document FROM membership WHERE ?1 = 'null' OR shelf IN (SELECT value FROM json_each(?1))
)
"""
_OF_SEVERAL: Final = """
SELECT entity, document, place FROM mention
WHERE entity IN (SELECT value FROM json_each(?2)) AND +document IN (
  SELECT document FROM membership WHERE ?1 = 'null' OR shelf IN (SELECT value FROM json_each(?1))
)
"""
_RELATED: Final = """
SELECT source, target FROM relation WHERE +document IN (
  SELECT document FROM membership WHERE ?1 = 'null' OR shelf IN (SELECT value FROM json_each(?1))
)
"""
_SHARED: Final = """
SELECT short, min(long) FROM shared
WHERE +document IN (
  SELECT document FROM membership WHERE ?1 = 'null' OR shelf IN (SELECT value FROM json_each(?1))
)
GROUP BY short HAVING count(DISTINCT long) = 1
"""


@dataclass(frozen=True, slots=True)
class EntityCounts:
    """How often an entity is named."""

    kind: EntityKind
    confidence: float
    mentions: int
    documents: int
    sentences: int


@dataclass(frozen=True, slots=True)
class EntityView:
    """The entities of a scope.

    Attributes:
        entities: By key.
        long_names: The entity that a key means which is not its own.
        merged: Those keys of each entity, and why.
        sentences: All that name anything.
    """

    entities: Mapping[str, EntityCounts]
    long_names: Mapping[str, str]
    merged: Mapping[str, Mapping[str, MergeReason]]
    sentences: int

    def keys(self, entity: str) -> list[str]:
        """Return the keys of rows that are of an entity."""
        return [entity, *sorted(self.merged.get(entity, ()))] if entity in self.entities else []


def view_of(connection: apsw.Connection, scope: Scope, decisions: Mapping[str, str]) -> EntityView:
    """Return the entities of a scope, as people decided and rules say."""
    acronyms = {str(a): str(b) for a, b in connection.execute(_SHARED, (scope.key,))}
    rows: dict[str, list[tuple[float, str, int]]] = defaultdict(list)
    surest: dict[str, float] = defaultdict(float)
    for key, kind, number, confidence, highest in connection.execute(_COUNTED, (scope.key,)):
        rows[str(key)].append((float(str(confidence)), str(kind), int(str(number))))
        surest[str(key)] = max(surest[str(key)], float(str(highest)))
    kinds = {key: _kind(own)[0] for key, own in rows.items()}
    steps = merge_keys(kinds, acronyms, decisions)
    merged: dict[str, dict[str, MergeReason]] = defaultdict(dict)
    for key, (entity, reason) in steps.items():
        merged[entity][key] = reason
        rows[entity] += rows.pop(key)
        surest[entity] = max(surest[entity], surest[key])
    totals = {
        str(key): (int(str(documents)), int(str(sentences)))
        for key, documents, sentences in connection.execute(_TOTALS, (scope.key,))
    }
    totals |= _totals_of(connection, scope, {key: [key, *own] for key, own in merged.items()})
    stated = connection.execute(_RELATED, (scope.key,)).fetchall()
    related = {steps[key][0] if key in steps else key for pair in stated for key in map(str, pair)}
    entities = {
        key: counts
        for key, own in rows.items()
        if (counts := _counts(own, *totals[key])).mentions > 1
        or surest[key] >= _SURE
        or key in related  # where a sentence says what it is to another, it is a name
    }
    number = int(connection.execute(_SENTENCES, (scope.key,)).get)
    return EntityView(entities, {key: to for key, (to, _) in steps.items()}, merged, number)


def _totals_of(
    connection: apsw.Connection, scope: Scope, merged: Mapping[str, Sequence[str]]
) -> dict[str, tuple[int, int]]:
    """Count the documents and sentences of entities with several keys; each counts once."""
    owners = {key: entity for entity, keys in merged.items() for key in keys}
    documents: dict[str, set[str]] = defaultdict(set)
    places: dict[str, set[int]] = defaultdict(set)
    for key, document, place in connection.execute(
        _OF_SEVERAL, (scope.key, json.dumps(list(owners)))
    ):
        documents[owners[str(key)]].add(str(document))
        places[owners[str(key)]].add(int(str(place)))
    return {entity: (len(documents[entity]), len(places[entity])) for entity in merged}


def _kind(rows: Sequence[tuple[float, str, int]]) -> tuple[EntityKind, float]:
    """Return what most mentions say that an entity is, by their confidence, and its mean."""
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for confidence, kind, number in rows:
        sums[kind][0] += confidence
        sums[kind][1] += number
    kind = max(sorted(sums), key=lambda name: sums[name][0])
    return EntityKind(kind), round(sums[kind][0] / sums[kind][1], 3)


def _counts(rows: Sequence[tuple[float, str, int]], documents: int, sentences: int) -> EntityCounts:
    mentions = sum(number for _, _, number in rows)
    return EntityCounts(*_kind(rows), mentions, documents, sentences)
