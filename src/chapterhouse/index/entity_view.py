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

_SURE: Final = 0.85  # likelihood of one mention from which a name counts that is there once

_TERM: Final = 0.25  # share of an entity's mentions by which it is a term and no name


def scoped(table: str, query: str) -> str:
    """Return a query in which ``<visible>`` is that a row's document is in the scope of ``?1``."""
    return query.replace("<visible>", _VISIBLE.replace("<table>", table))


_VISIBLE: Final = """(?1 = 'null' OR EXISTS (
  SELECT 1 FROM membership AS own
  WHERE own.document = <table>.document AND own.shelf IN (SELECT value FROM json_each(?1))
))"""
_COUNTED: Final = scoped(
    "mention",
    """
SELECT entity, kind, count(*), sum(confidence), sum(likelihood = 0), max(likelihood)
FROM mention WHERE <visible> GROUP BY entity, kind
""",
)
# Of the entities that keys mean: ?2 has what those mean that mean another one.
_TOTALS: Final = scoped(
    "mention",
    """
WITH meaning AS MATERIALIZED (SELECT key, value FROM json_each(?2))
SELECT coalesce(meaning.value, entity), count(DISTINCT document), count(DISTINCT place)
FROM mention LEFT JOIN meaning ON meaning.key = entity WHERE <visible> GROUP BY 1
""",
)
_SENTENCES: Final = scoped("mention", "SELECT count(DISTINCT place) FROM mention WHERE <visible>")
_RELATED: Final = scoped("relation", "SELECT source, target FROM relation WHERE <visible>")
_SHARED: Final = scoped(
    "shared",
    """
SELECT short, min(long) FROM shared WHERE <visible> GROUP BY short HAVING count(DISTINCT long) = 1
""",
)


@dataclass(frozen=True, slots=True)
class EntityCounts:
    """How often an entity is named; whether it has a name, or is a term that documents define."""

    kind: EntityKind
    confidence: float
    mentions: int
    documents: int
    sentences: int
    is_named: bool


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
    terms: dict[str, int] = defaultdict(int)
    for key, kind, number, confidence, defined, highest in connection.execute(
        _COUNTED, (scope.key,)
    ):
        rows[str(key)].append((float(str(confidence)), str(kind), int(str(number))))
        terms[str(key)] += int(str(defined))
        surest[str(key)] = max(surest[str(key)], float(str(highest)))
    kinds = {key: _kind(own)[0] for key, own in rows.items()}
    steps = merge_keys(kinds, acronyms, decisions)
    merged: dict[str, dict[str, MergeReason]] = defaultdict(dict)
    for key, (entity, reason) in steps.items():
        merged[entity][key] = reason
        rows[entity] += rows.pop(key)
        surest[entity] = max(surest[entity], surest[key])
        terms[entity] += terms.pop(key)
    meanings = json.dumps({key: entity for key, (entity, _) in steps.items()})
    totals = {
        str(key): (int(str(documents)), int(str(sentences)))
        for key, documents, sentences in connection.execute(_TOTALS, (scope.key, meanings))
    }
    stated = connection.execute(_RELATED, (scope.key,)).fetchall()
    related = {steps[key][0] if key in steps else key for pair in stated for key in map(str, pair)}
    entities = {
        key: counts
        for key, own in rows.items()
        if (counts := _counts(own, terms[key], *totals[key])).mentions > 1
        or surest[key] >= _SURE
        or key in related  # where a sentence says what it is to another, it is a name
    }
    number = int(connection.execute(_SENTENCES, (scope.key,)).get)
    return EntityView(entities, {key: to for key, (to, _) in steps.items()}, merged, number)


def _kind(rows: Sequence[tuple[float, str, int]]) -> tuple[EntityKind, float]:
    """Return what most mentions say that an entity is, by their confidence, and its mean."""
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for confidence, kind, number in rows:
        sums[kind][0] += confidence
        sums[kind][1] += number
    kind = max(sorted(sums), key=lambda name: sums[name][0])
    return EntityKind(kind), round(sums[kind][0] / sums[kind][1], 3)


def _counts(
    rows: Sequence[tuple[float, str, int]], terms: int, documents: int, sentences: int
) -> EntityCounts:
    mentions = sum(number for _, _, number in rows)
    is_named = terms < _TERM * mentions
    return EntityCounts(*_kind(rows), mentions, documents, sentences, is_named)
