"""The graph: which documents speak of whom and what, in which sentences, derived from their texts.

A row for each mention. What an entity is, what it is called and whom it stands with is counted from
the rows of the documents inside a scope, so that what is outside moves nothing. A document that is
changed or removed takes its rows with it at once; what it says now is read later, by ``fill``, for
that takes as long as vectors do.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Final

import apsw

from chapterhouse.index.derived import DerivedTables, Rows
from chapterhouse.index.entity_view import EntityView, scoped, view_of
from chapterhouse.index.mentions import SCHEMA, TABLES, rows_of, stored_rows, write_names
from chapterhouse.index.relations import link_of, typed_links, with_types
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
_MOST_WIDENED: Final = 100  # entities at each end between which a path is looked for
_MOST_FOLLOWED: Final = 10_000  # their sentences
_WRITTEN: Final = scoped(
    "mention",
    """
SELECT entity, name, count(*) FROM mention
WHERE entity IN (SELECT value FROM json_each(?2)) AND <visible>
GROUP BY entity, name ORDER BY count(*) DESC, name
""",
)
_DOCUMENTS: Final = scoped(
    "mention",
    """
SELECT document, count(DISTINCT place) FROM mention
WHERE entity IN (SELECT value FROM json_each(?2)) AND <visible>
GROUP BY document ORDER BY count(DISTINCT place) DESC, document LIMIT ?3
""",
)
_SENTENCES: Final = scoped(
    "mention",
    """
SELECT DISTINCT document, sentence, sentence_end, place FROM mention
WHERE entity IN (SELECT value FROM json_each(?2)) AND <visible>
ORDER BY document, sentence LIMIT ?3
""",
)
_OTHERS: Final = """
SELECT DISTINCT entity, place FROM mention WHERE place IN (SELECT value FROM json_each(?1))
"""
_PLACES: Final = scoped(
    "mention",
    """
SELECT DISTINCT document, sentence, sentence_end, place FROM mention
WHERE place IN (SELECT value FROM json_each(?2)) AND <visible>
""",
)
_COMMON: Final = """
SELECT place FROM mention WHERE entity IN (SELECT value FROM json_each(?1))
INTERSECT SELECT place FROM mention WHERE entity IN (SELECT value FROM json_each(?2))
"""
_NAMED_IN: Final = scoped(
    "mention",
    """
SELECT entity FROM mention
WHERE document = ?2 AND start >= ?3 AND start < ?4 AND <visible>
GROUP BY entity ORDER BY min(start)
""",
)
_NAMING: Final = scoped(
    "mention",
    """
SELECT DISTINCT document FROM mention WHERE entity = ?2 AND <visible> LIMIT ?3
""",
)
_WAITING: Final = """
SELECT document, sequence FROM pending WHERE document IN (SELECT value FROM json_each(?1))
"""


class GraphIndex(DerivedTables):
    """The graph in one folder."""

    what = "The graph"
    file = "graph.db"
    version = 4
    schema = SCHEMA

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
                write_names(connection, document.id, waiting[document.id], own)
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
                with self._read() as connection:
                    rows = stored_rows(connection, name)
                if [rows] != [rows_of(name, own) for own, _ in read]:
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

        Terms that documents define come behind all names.

        Args:
            words: Only those in whose keys this stands, as ``plain_key`` has them.
        """
        view = self._view(scope)
        found = [
            (not one.is_named, -one.documents, -one.mentions, key)
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

    def find(self, name: str, scope: Scope, most: int) -> tuple[Entity | None, Sequence[Entity]]:
        """Return the entity that a name means; where it is none's, some whose names have it."""
        key = entity_key(name)
        if entity := self.entity(key, scope):
            return entity, ()
        words = plain_key(key)
        near, total = self.entities(scope, words, limit=most) if words else ((), 0)
        whole = total == 1 and set(key.split()) <= set(near[0].id.split())
        return (near[0] if whole else None), near

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

        Terms that documents define come behind all names. Of each, the first thousand sentences
        count.
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
                link_of(key, other, own[other], places, view)
                for other in own
                if other != key and other in view.entities
            ]
        return sorted(
            links,
            key=lambda one: (
                not view.entities[one.target].is_named,
                -one.significance,
                -one.together,
                one.target,
            ),
        )

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

    def path(self, source: str, target: str, scope: Scope) -> Sequence[EntityLink]:
        """Return the links of a shortest way of at most three steps; none where none is found.

        Between the neighbours of both ends, of which the most significant hundred count, less those
        that very many sentences name.
        """
        near, far = (
            {one.target: one for one in self.related([key], scope)} for key in (source, target)
        )
        if target in near:
            links = [near[target]]
        elif both := next((one for one in near if one in far), ""):
            links = [near[both], _turned(far[both])]
        elif middle := self._middle(near, far, scope):
            links = [near[middle.source], middle, _turned(far[middle.target])]
        else:
            return ()
        view = self._view(scope)
        with self._read() as connection:
            return with_types(connection, links, scope, view)

    def _middle(
        self, near: Collection[str], far: Collection[str], scope: Scope
    ) -> EntityLink | None:
        """Return a link of one of some entities to one of others, the first of both first."""
        view = self._view(scope)
        sides = [list(_followed(side, view)) for side in (near, far)]
        keys = (json.dumps([own for key in side for own in view.keys(key)]) for side in sides)
        with self._read() as connection:
            common = json.dumps([place for (place,) in connection.execute(_COMMON, tuple(keys))])
            places = _places(connection.execute(_PLACES, (scope.key, common)))
            rows = connection.execute(_OTHERS, (json.dumps(list(places)),)).fetchall()
        named: dict[int, set[str]] = defaultdict(set)
        for key, place in rows:
            named[int(str(place))].add(view.long_names.get(str(key), str(key)))
        together: dict[tuple[str, str], set[int]] = defaultdict(set)
        for place, names in named.items():
            for pair in product(names.intersection(sides[0]), names.intersection(sides[1])):
                together[pair].add(place)
        first, second = ({name: at for at, name in enumerate(side)} for side in sides)
        best = min(
            together, key=lambda pair: (first[pair[0]] + second[pair[1]], pair), default=None
        )
        return link_of(*best, together[best], places, view) if best else None

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
            return _places(connection.execute(_SENTENCES, (scope.key, keys, limit)))

    def _clear(self, connection: apsw.Connection) -> None:
        for table in TABLES:
            connection.execute(f"DELETE FROM {table}")  # noqa: S608 - one of four names

    def _apply(self, changes: Sequence[Change], store: Store) -> Iterator[tuple[str, Rows]]:
        del store  # texts are read later
        for table in TABLES:
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


def _turned(link: EntityLink) -> EntityLink:
    return replace(link, source=link.target, target=link.source)


def _places(rows: "Iterable[tuple[apsw.SQLiteValue, ...]]") -> dict[int, SentencePlace]:
    return {
        int(str(place)): SentencePlace(str(name), int(str(start)), int(str(end)))
        for name, start, end, place in rows
    }


def _followed(names: Iterable[str], view: EntityView) -> Iterator[str]:
    """Yield some names from which a path goes on, as long as their sentences are not too many."""
    left = _MOST_FOLLOWED
    for name in islice(names, _MOST_WIDENED):
        number = view.entities[name].sentences
        if number <= left:
            left -= number
            yield name
