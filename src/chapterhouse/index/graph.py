"""The graph: which documents speak of whom and what, in which sentences, derived from their texts.

A row for each mention. What an entity is, what it is called and whom it stands with is counted from
the rows of the documents inside a scope, so that what is outside moves nothing. A document that is
changed or removed takes its rows with it at once; what it says now is read later, by ``fill``, for
that takes as long as vectors do.
"""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import apsw

from chapterhouse.index.derived import DerivedTables, Rows
from chapterhouse.index.entity_view import EntityView, view_of
from chapterhouse.index.relations import relation_rows, typed_links, with_types
from chapterhouse.store.sqlite import Store
from chapterhouse.text.entity_names import entity_key, plain_key, without_article
from chapterhouse.types import Body, Change, Chunk, Document, Scope
from chapterhouse.types.graph import (
    Entity,
    EntityKind,
    EntityLink,
    EntityNames,
    MergedName,
    NameDecision,
    SentencePlace,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# What documents speak of, and the vectors of their chunks where the encoder made them for it.
ReadNames = Callable[
    [Sequence[tuple[Document, Body, Sequence[Chunk]]]],
    Iterable[tuple[EntityNames, "NDArray[np.float32] | None"]],
]

_ALL: Final = Scope.everything()  # an index follows every document
_AT_ONCE: Final = 8  # documents whose mentions are written together
_MOST_VIEWS: Final = 8
_MOST_NAMES: Final = 8  # of an entity that are told
_MOST_SENTENCES: Final = 1_000  # of an entity by which it is told whom it stands with
_MOST_WIDENED: Final = 100  # entities of a step of a path from which the next goes on
_TABLES: Final = ("mention", "shared", "relation", "membership", "pending")
# ``place`` numbers the sentences, in the order in which they were written: it joins rows, and
# nothing that is told depends on it.
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS mention (
  document TEXT NOT NULL, entity TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL,
  confidence REAL NOT NULL, start INTEGER NOT NULL, sentence INTEGER NOT NULL,
  sentence_end INTEGER NOT NULL, place INTEGER NOT NULL
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
CREATE INDEX IF NOT EXISTS mention_entity ON mention (entity, place, document, kind, confidence);
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
_WRITTEN: Final = """
SELECT entity, name, count(*) FROM mention
WHERE entity IN (SELECT value FROM json_each(?2)) AND +document IN (
  SELECT document FROM membership WHERE ?1 = 'null' OR shelf IN (SELECT value FROM json_each(?1))
)
GROUP BY entity, name ORDER BY count(*) DESC, name
"""
_DOCUMENTS: Final = """
SELECT document, count(DISTINCT place) FROM mention
WHERE entity IN (SELECT value FROM json_each(?2)) AND +document IN (
  SELECT document FROM membership WHERE ?1 = 'null' OR shelf IN (SELECT value FROM json_each(?1))
)
GROUP BY document ORDER BY count(DISTINCT place) DESC, document LIMIT ?3
"""
_SENTENCES: Final = """
SELECT DISTINCT document, sentence, sentence_end, place FROM mention
WHERE entity IN (SELECT value FROM json_each(?2)) AND +document IN (
  SELECT document FROM membership WHERE ?1 = 'null' OR shelf IN (SELECT value FROM json_each(?1))
)
ORDER BY document, sentence LIMIT ?3
"""
_OTHERS: Final = """
SELECT DISTINCT entity, place FROM mention WHERE place IN (SELECT value FROM json_each(?1))
"""
_NAMED_IN: Final = """
SELECT entity FROM mention
WHERE document = ?2 AND start >= ?3 AND start < ?4 AND (?1 = 'null' OR EXISTS (
  SELECT 1 FROM membership AS own
  WHERE own.document = mention.document AND shelf IN (SELECT value FROM json_each(?1))
))
GROUP BY entity ORDER BY min(start)
"""
_NAMING: Final = """
SELECT DISTINCT document FROM mention WHERE entity = ?2 AND (?1 = 'null' OR EXISTS (
  SELECT 1 FROM membership AS own
  WHERE own.document = mention.document AND shelf IN (SELECT value FROM json_each(?1))
))
LIMIT ?3
"""


_WAITING: Final = """
SELECT document, sequence FROM pending WHERE document IN (SELECT value FROM json_each(?1))
"""


class GraphIndex(DerivedTables):
    """The graph in one folder."""

    what = "The graph"
    file = "graph.db"
    version = 3
    schema = _SCHEMA

    def __init__(
        self,
        folder: Path,
        read: ReadNames,
        decisions: Callable[[], Sequence[NameDecision]] = tuple,
        *,
        wait_seconds: float = 10.0,
    ) -> None:
        """Open the graph.

        Args:
            decisions: Returns what people said of names.
        """
        super().__init__(folder, wait_seconds=wait_seconds)
        self._read_names = read
        self._decisions = decisions
        self._views: tuple[object, dict[str, EntityView]] = (None, {})

    def size(self) -> int:
        """Count the mentions."""
        with self._read() as connection:
            return int(connection.execute("SELECT count(*) FROM mention").get)

    def pending(self) -> int:
        """Count the documents whose mentions are still to be read."""
        with self._read() as connection:
            return int(connection.execute("SELECT count(*) FROM pending").get)

    def fill(self, store: Store, goes_on: Callable[[int], bool] = lambda _: True) -> None:
        """Read what documents speak of that were added or changed.

        Args:
            goes_on: Is told how many documents are left, and says whether to go on.
        """
        while True:
            with self._read() as connection:
                found = connection.execute(
                    "SELECT document, sequence, (SELECT count(*) FROM pending) FROM pending"
                    " LIMIT ?",
                    (_AT_ONCE,),
                ).fetchall()
            if not found or not goes_on(int(str(found[0][2]))):
                return
            self._fill(store, {str(name): int(str(at)) for name, at, _ in found})

    def read(
        self, store: Store, documents: Sequence[str]
    ) -> Mapping[str, tuple[Sequence[int], "NDArray[np.float32]"]]:
        """Read those of some documents that wait for it; return what was embedded for that.

        Returns:
            By document the keys of its chunks, and a vector for each.
        """
        self.catch_up(store)
        with self._read() as connection:
            found = connection.execute(_WAITING, (json.dumps(documents),)).fetchall()
        return self._fill(store, {str(name): int(str(at)) for name, at in found})

    def _fill(
        self, store: Store, waiting: Mapping[str, int]
    ) -> Mapping[str, tuple[Sequence[int], "NDArray[np.float32]"]]:
        """Read documents, by the sequence at which they wait, and write what they speak of."""
        texts = _texts(waiting, store)
        read = list(self._read_names(texts))
        with self._read() as database, database as connection:
            for (document, _, _), (own, _) in zip(texts, read, strict=True):
                _write(connection, document.id, waiting[document.id], own)
        return {
            document.id: ([chunk.key for chunk in chunks], vectors)
            for (document, _, chunks), (_, vectors) in zip(texts, read, strict=True)
            if vectors is not None
        }

    def differing(self, store: Store, *, thorough: bool) -> Collection[str]:
        """Return the documents of which it has other shelves or mentions; see ``Index``."""
        self._require_sound()
        with self._read() as connection:
            shelves: dict[str, set[str]] = defaultdict(set)
            for document, shelf in connection.execute("SELECT document, shelf FROM membership"):
                shelves[str(document)].add(str(shelf))
            waiting = {str(name) for (name,) in connection.execute("SELECT document FROM pending")}
            named = {
                str(name) for (name,) in connection.execute("SELECT DISTINCT document FROM mention")
            }
        documents = {one.id: one for one in store.documents(_ALL)}
        wrong = {
            name
            for name in documents.keys() | shelves.keys() | named
            if name not in documents or shelves.get(name, set()) != set(documents[name].shelves)
        }
        if thorough:
            for name in documents.keys() - waiting:
                read = self._read_names(_texts([name], store))
                if [self._rows_of(name)] != [_rows(name, own) for own, _ in read]:
                    wrong.add(name)
        return wrong

    # --- what is asked --------------------------------------------------------------------------

    def entities(
        self,
        scope: Scope,
        words: str = "",
        kind: EntityKind | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> tuple[Sequence[Entity], int]:
        """Return some entities, those that most documents name first, and how many there are.

        Args:
            words: Only those in whose keys this stands, as ``plain_key`` has them.
        """
        view = self._view(scope)
        found = [
            (-one.documents, -one.mentions, key)
            for key, one in view.entities.items()
            if (kind is None or one.kind is kind)
            and (not words or any(words in plain_key(own) for own in view.keys(key)))
        ]
        some = sorted(found)[offset : offset + limit]
        return [self._entity(key, scope, view) for *_, key in some], len(found)

    def entity(self, key: str, scope: Scope) -> Entity | None:
        """Return the entity of a key, or the one that another way to write its name means."""
        view = self._view(scope)
        key = view.long_names.get(key, key)
        if key not in view.entities:
            plain = plain_key(key)
            key = min((one for one in view.entities if plain_key(one) == plain), default=key)
        return self._entity(key, scope, view) if key in view.entities else None

    def keys(self, entity: str, name: str, scope: Scope) -> tuple[Sequence[str], Sequence[str]]:
        """Return the keys under which an entity is written so, and all others of it."""
        every = self._view(scope).keys(entity)
        own = [key for key in every if name in (key, key.rpartition("|")[2])] or every[:1]
        return own, [key for key in every if key not in own]

    def sentences(self, key: str, scope: Scope, limit: int) -> Sequence[SentencePlace]:
        """Return sentences that name an entity, in the order of their documents."""
        return list(self._places([key], scope, limit, self._view(scope)).values())

    def related(self, keys: Iterable[str], scope: Scope) -> Sequence[EntityLink]:
        """Return whom some entities stand with in a sentence, the most significant first.

        Of each, the first thousand sentences count.
        """
        view = self._view(scope)
        links: list[EntityLink] = []
        for key in keys:
            places = self._places([key], scope, _MOST_SENTENCES, view)
            with self._read() as connection:
                rows = connection.execute(_OTHERS, (json.dumps(list(places)),)).fetchall()
            own: dict[str, set[int]] = defaultdict(set)
            for other, place in rows:
                own[view.long_names.get(str(other), str(other))].add(int(str(place)))
            links += [
                _link(key, other, own[other], places, view)
                for other in own
                if other != key and other in view.entities
            ]
        return sorted(links, key=lambda one: (-one.significance, -one.together, one.target))

    def connections(self, keys: Collection[str], scope: Scope) -> Sequence[EntityLink]:
        """Return what some entities are said to be to others, and whom else they stand with.

        What more sentences say comes first, then as in ``related``.
        """
        plain = {(one.source, one.target): one for one in self.related(keys, scope)}
        view = self._view(scope)
        with self._read() as connection:
            typed = typed_links(connection, keys, scope, view, plain)
        stated = {(one.source, one.target) for one in typed}
        return [*typed, *(one for pair, one in plain.items() if pair not in stated)]

    def documents(self, key: str, scope: Scope, limit: int) -> Sequence[tuple[str, int]]:
        """Return the documents that name an entity in most sentences, and in how many."""
        keys = json.dumps(self._view(scope).keys(key))
        with self._read() as connection:
            rows = connection.execute(_DOCUMENTS, (scope.key, keys, limit)).fetchall()
        return [(str(name), int(str(number))) for name, number in rows]

    def path(self, source: str, target: str, scope: Scope, most: int = 3) -> Sequence[EntityLink]:
        """Return the links of a shortest way between two entities; none where none is found.

        It is looked for from both ends, over the hundred most significant entities of a step.
        """
        came: dict[str, dict[str, EntityLink]] = {source: {}, target: {}}
        edges = {source: [source], target: [target]}
        for _ in range(most):
            begin = min(edges, key=lambda end: (len(edges[end]), end))
            other = target if begin == source else source
            links = self.related(edges[begin][:_MOST_WIDENED], scope)
            edges[begin] = []
            for link in links:
                if link.target != begin and link.target not in came[begin]:
                    came[begin][link.target] = link
                    edges[begin].append(link.target)
            met = [key for key in edges[begin] if key == other or key in came[other]]
            if met:
                first = _way(came[source], source, met[0])
                links = [*first, *map(_turned, reversed(_way(came[target], target, met[0])))]
                view = self._view(scope)
                with self._read() as connection:
                    return with_types(connection, links, scope, view)
        return ()

    def entities_in(self, document: str, start: int, end: int, scope: Scope) -> Sequence[str]:
        """Return what a part of a document names; see ``MentionSearch``."""
        with self._read() as connection:
            rows = connection.execute(_NAMED_IN, (scope.key, document, start, end)).fetchall()
        return [str(entity) for (entity,) in rows]

    def documents_naming(
        self, entities: Sequence[str], scope: Scope, most: int
    ) -> Mapping[str, Sequence[str]]:
        """Return the documents that name entities; see ``MentionSearch``."""
        found: dict[str, Sequence[str]] = {}
        with self._read() as connection:
            for entity in entities:
                rows = connection.execute(_NAMING, (scope.key, entity, most + 1)).fetchall()
                if len(rows) <= most:
                    found[entity] = sorted(str(name) for (name,) in rows)
        return found

    # --- how it is kept -------------------------------------------------------------------------

    def _view(self, scope: Scope) -> EntityView:
        """Return the entities of a scope; some are remembered until something changes."""
        decided = {one.name: one.entity for one in self._decisions()}
        with self._read() as connection:
            left = int(connection.execute("SELECT count(*) FROM pending").get)
            at = self._sequence(), left, decided
            known_at, known = self._views
            if known_at != at or len(known) >= _MOST_VIEWS:
                known = {}
                self._views = (at, known)
            if scope.key not in known:
                known[scope.key] = view_of(connection, scope, decided)
            return known[scope.key]

    def _entity(self, key: str, scope: Scope, view: EntityView) -> Entity:
        """Return an entity with its names."""
        merged = view.merged.get(key, {})
        with self._read() as connection:
            rows = connection.execute(_WRITTEN, (scope.key, json.dumps(view.keys(key)))).fetchall()
        names: Counter[str] = Counter()
        first: dict[str, str] = {}
        for own, name, number in rows:  # the most frequent first
            names[str(name)] += int(str(number))
            first.setdefault(str(own), str(name))
        ordered = sorted(names, key=lambda name: (-names[name], -len(name), name))
        # No other way to write it is a name to show while its own is written anywhere.
        shown = [name for name in ordered if entity_key(name) == key] or ordered
        counts = view.entities[key]
        return Entity(
            key,
            without_article(shown[0]),
            counts.kind,
            counts.confidence,
            counts.mentions,
            counts.documents,
            counts.sentences,
            tuple(ordered[:_MOST_NAMES]),
            tuple(
                dict.fromkeys(
                    MergedName(first.get(own, own), merged[own]) for own in sorted(merged)
                )
            ),
        )

    def _places(
        self, entities: Iterable[str], scope: Scope, limit: int, view: EntityView
    ) -> dict[int, SentencePlace]:
        """Return the sentences of entities by number, in the order of their documents."""
        keys = json.dumps([own for key in entities for own in view.keys(key)])
        with self._read() as connection:
            rows = connection.execute(_SENTENCES, (scope.key, keys, limit)).fetchall()
        return {
            int(str(place)): SentencePlace(str(name), int(str(start)), int(str(end)))
            for name, start, end, place in rows
        }

    def _rows_of(self, name: str) -> Counter[tuple[str, ...]]:
        with self._read() as connection:
            found = connection.execute("SELECT * FROM mention WHERE document = ?", (name,))
            rows = Counter(tuple(map(str, row[:-1])) for row in found)  # not its number
            stated = connection.execute("SELECT * FROM relation WHERE document = ?", (name,))
            return rows + Counter(tuple(map(str, row)) for row in stated)

    def _clear(self, connection: apsw.Connection) -> None:
        for table in _TABLES:
            connection.execute(f"DELETE FROM {table}")  # noqa: S608 - one of four names

    def _apply(self, changes: Sequence[Change], store: Store) -> Iterator[tuple[str, Rows]]:
        del store  # texts are read later
        for table in _TABLES:
            yield f"DELETE FROM {table} WHERE document = ?", [(one.document_id,) for one in changes]  # noqa: S608 - one of four names
        live = [change for change in changes if change.document]
        yield (
            "INSERT INTO membership VALUES (?, ?)",
            [
                (one.document_id, shelf)
                for one in live
                if one.document
                for shelf in one.document.shelves
            ],
        )
        yield (
            "INSERT INTO pending VALUES (?, ?)",
            [(one.document_id, one.sequence) for one in live],
        )


def _texts(names: Iterable[str], store: Store) -> Sequence[tuple[Document, Body, Sequence[Chunk]]]:
    """Return those of some documents that are still there, with their texts."""
    found = ((store.document(name, _ALL), store.body(name, _ALL)) for name in names)
    return [
        (document, body, store.chunks_of(document.id, _ALL))
        for document, body in found
        if document and body
    ]


def _write(connection: apsw.Connection, name: str, sequence: int, own: EntityNames) -> None:
    """Write what a document speaks of, unless it was changed or removed meanwhile."""
    connection.execute("DELETE FROM pending WHERE document = ? AND sequence = ?", (name, sequence))
    if not connection.changes():
        return
    first = int(connection.execute("SELECT coalesce(max(place), 0) FROM mention").get) + 1
    sentences = dict.fromkeys(one.sentence for one in own.mentions)
    numbers = {sentence: number for number, sentence in enumerate(sentences, first)}
    connection.executemany(
        "INSERT INTO mention VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (*values, numbers[one.sentence])
            for values, one in zip(_mention_values(name, own), own.mentions, strict=True)
        ],
    )
    connection.executemany(
        "INSERT INTO shared VALUES (?, ?, ?)", [(name, one.short, one.long) for one in own.shared]
    )
    connection.executemany(
        "INSERT INTO relation VALUES (?, ?, ?, ?, ?, ?, ?)", relation_rows(name, own)
    )


def _mention_values(name: str, own: EntityNames) -> list[tuple[str | int | float, ...]]:
    return [
        (
            name,
            one.entity,
            one.name,
            one.mention.kind.value,
            round(one.mention.confidence, 3),
            one.mention.start,
            *one.sentence,
        )
        for one in own.mentions
    ]


def _rows(name: str, own: EntityNames) -> Counter[tuple[str, ...]]:
    every = (*_mention_values(name, own), *relation_rows(name, own))
    return Counter(tuple(map(str, row)) for row in every)


def _link(
    source: str, target: str, together: Collection[int], places: Mapping[int, SentencePlace],
    view: EntityView,
) -> EntityLink:  # fmt: skip
    one, other = (view.entities[key].sentences for key in (source, target))
    significance = likelihood_ratio(len(together), one, other, view.sentences)
    evidence = min((places[place] for place in together), key=lambda at: (at.document_id, at.start))
    return EntityLink(source, target, len(together), round(significance, 3), evidence)


def _turned(link: EntityLink) -> EntityLink:
    return replace(link, source=link.target, target=link.source)


def likelihood_ratio(together: int, one: int, other: int, total: int) -> float:
    """Return G² of two that stand in ``together`` of ``total`` sentences.

    It is 0 where that is rarer than by chance.

    Source: Dunning, Computational Linguistics 1993.
    """
    if together * total <= one * other:
        return 0.0
    cells = (
        (together, one * other),
        (one - together, one * (total - other)),
        (other - together, (total - one) * other),
        (total - one - other + together, (total - one) * (total - other)),
    )
    return 2 * sum(
        seen * math.log(seen * total / expected) for seen, expected in cells if seen and expected
    )


def _way(came: Mapping[str, EntityLink], source: str, target: str) -> Sequence[EntityLink]:
    links: list[EntityLink] = []
    while target != source:
        links.append(came[target])
        target = came[target].source
    return links[::-1]
