"""The graph: who and what the documents speak of, with the sentences that say so."""

import shlex
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from chapterhouse import lazy
from chapterhouse.answering.runtime import Runtime
from chapterhouse.answering.search import sources_of
from chapterhouse.errors import NotFoundError, RefusedError, UsageError
from chapterhouse.retrieval.question import contains_exactly
from chapterhouse.text.analyse import analyse
from chapterhouse.text.counting import counted
from chapterhouse.types import Scope
from chapterhouse.types.graph import (
    Entity,
    EntityKind,
    EntityLink,
    EntityList,
    EntityPage,
    EntityPath,
    EntitySentence,
    NameDecision,
    NamingDocument,
    RelatedEntity,
    RelationType,
    SentencePlace,
)

if TYPE_CHECKING:
    from chapterhouse.store.names import NameDecisionStore
    from chapterhouse.text import entity_names
else:
    entity_names = lazy("chapterhouse.text.entity_names")

_EVERYTHING: Final = Scope.everything()
_LOOKED_THROUGH: Final = 1_000  # passages in which words are counted that are no name
_OFFERED: Final = 5  # names, where the one that is asked for is none


class Graph:
    """Tells whom and what documents speak of.

    A name that no document has is a NotFoundError. Documents that were added or changed are read
    for names first, for at most ``wait`` seconds; None: until all are read. How many are left is
    told with what is returned.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def fill(
        self, wait: float | None = None, on_progress: Callable[[int], None] | None = None
    ) -> int:
        """Read the documents that are not read for names yet; return how many are left.

        Args:
            on_progress: Is told how many are left, now and then.
        """
        whole = self._runtime.whole or self._runtime
        whole.catch_up()
        ends = None if wait is None else time.monotonic() + wait

        def goes_on(left: int) -> bool:
            if on_progress is not None:
                on_progress(left)
            return ends is None or time.monotonic() < ends

        whole.graph.fill(whole.store, goes_on)
        left = whole.graph.pending()
        # Who sees a part of the library does not learn how much others have changed.
        return left if self._runtime.whole is None else min(left, 1)

    def entities(
        self,
        text: str = "",
        *,
        kind: str = "",
        limit: int = 50,
        offset: int = 0,
        wait: float | None = None,
    ) -> EntityList:
        """Return entities, those that most documents name first.

        Args:
            text: Only those with a name that has it.
            kind: Only of this kind, a value of ``EntityKind``.
        """
        if kind and kind not in set(EntityKind):
            known = ", ".join(EntityKind)
            raise UsageError(f"There is no kind of entities '{kind}'.", hint=f"There are: {known}.")
        if limit < 1 or offset < 0:
            raise UsageError("At least one entity is listed, from the first on.")
        left = self.fill(wait)
        chosen = EntityKind(kind) if kind else None
        words = entity_names.plain_key(entity_names.entity_key(text))
        found, total = self._runtime.graph.entities(_EVERYTHING, words, chosen, limit, offset)
        return EntityList(tuple(found), total, left)

    def show(
        self,
        name: str,
        *,
        sentences: int = 20,
        related: int = 10,
        documents: int = 5,
        wait: float | None = None,
    ) -> EntityPage:
        """Return what documents say of an entity, which may be called by any of its names."""
        left = self.fill(wait)
        entity, graph = self._named(name), self._runtime.graph
        places = graph.sentences(entity.id, _EVERYTHING, sentences)
        links = graph.connections([entity.id], _EVERYTHING)[:related]
        counts = dict(graph.documents(entity.id, _EVERYTHING, documents))
        known = self._runtime.store.documents_among(set(counts), _EVERYTHING)
        most = tuple(
            NamingDocument(key, known[key].title, known[key].source, number)
            for key, number in counts.items()
            if key in known
        )
        others = tuple(map(self._related, links))
        return EntityPage(entity, self._read(places), others, most, left)

    def path(self, source: str, target: str, *, wait: float | None = None) -> EntityPath:
        """Return a shortest way of at most three steps from one entity to another."""
        left = self.fill(wait)
        ends = self._named(source), self._named(target)
        links = self._runtime.graph.path(ends[0].id, ends[1].id, _EVERYTHING)
        return EntityPath(*ends, tuple(map(self._related, links)), left)

    def links(
        self, entities: Sequence[Entity], *, wait: float | None = None
    ) -> tuple[tuple[Entity, RelatedEntity], ...]:
        """Return what some entities are to each other, each relation once.

        Of those of which no sentence says more, that they stand in one.
        """
        self.fill(wait)
        known = {one.id: one for one in entities}
        links = self._runtime.graph.connections(known, _EVERYTHING)
        return tuple(
            (known[link.source], self._related(link))
            for link in links
            if link.target in known
            and not link.inverse
            and (link.relation is not RelationType.RELATED_TO or link.source < link.target)
        )

    # --- what people decide about names ----------------------------------------------------------

    def decisions(self) -> tuple[NameDecision, ...]:
        """Return what people decided about names."""
        return self._decisions().all()

    def merge(
        self, name: str, other: str, by: str, *, wait: float | None = None
    ) -> tuple[NameDecision, ...]:
        """Decide that a name means the entity of another one; return the decisions about it."""
        self._decisions()
        self.fill(wait)
        target = self._named(other)
        if self._named(name).id == target.id:
            raise UsageError(f"'{name}' and '{other}' are one entity already.")
        # What was decided of the other one is overruled: it would lead back.
        return self._decide(dict.fromkeys(self._keys(name)[0], target.id), by, [target.id])

    def split(self, name: str, by: str, *, wait: float | None = None) -> tuple[NameDecision, ...]:
        """Decide that a name stands alone; of an entity's own name, that all its others do."""
        self._decisions()
        self.fill(wait)
        entity, (own, others) = self._named(name), self._keys(name)
        apart = others if entity.id in own else own
        if not apart:
            raise UsageError(
                f"'{entity.name}' has no other name that could be split from it.",
                hint=f"See: chapterhouse graph show {shlex.quote(entity.name)}",
            )
        return self._decide({key: key.rpartition("|")[2] for key in apart}, by, ())

    def undo(self, name: str, *, wait: float | None = None) -> tuple[NameDecision, ...]:
        """Take back what was decided of a name, else of all names of its entity; return that."""
        decisions = {one.name: one for one in self.decisions()}
        self.fill(wait)
        groups: list[Sequence[str]] = [[entity_names.entity_key(name)]]
        with suppress(NotFoundError):
            groups = [*self._keys(name), *groups]
        for keys in groups:
            if back := [decisions[key] for key in keys if key in decisions]:
                self._decisions().write((), [one.name for one in back])
                return tuple(back)
        raise NotFoundError(
            f"Nobody decided anything about '{name}'.", hint="See: chapterhouse graph undo"
        )

    def _decisions(self) -> "NameDecisionStore":
        if self._runtime.whole is not None:
            raise RefusedError("Who sees a part of the library cannot decide what names mean.")
        return self._runtime.store.name_decisions()

    def _decide(
        self, meanings: Mapping[str, str], by: str, dropped: Iterable[str]
    ) -> tuple[NameDecision, ...]:
        now = self._runtime.now()
        made = tuple(NameDecision(name, entity, now, by) for name, entity in meanings.items())
        self._decisions().write(made, dropped)
        return made

    def _keys(self, name: str) -> tuple[Sequence[str], Sequence[str]]:
        """Return the keys that are written so, and the others of the entity."""
        key = entity_names.entity_key(name)
        return self._runtime.graph.keys(self._named(name).id, key, _EVERYTHING)

    def _named(self, name: str) -> Entity:
        if not name.strip():
            raise UsageError(
                "The name of an entity is empty.", hint="See: chapterhouse graph entities"
            )
        found, near = self._runtime.graph.find(name, _EVERYTHING, _OFFERED)
        if found is None:
            raise self._not_found(name, near)
        return found

    def _not_found(self, name: str, near: Sequence[Entity]) -> NotFoundError:
        """Return an error that says whether the words stand in documents, and what may be meant."""
        phrase = name.replace(chr(34), " ").strip()
        # How many wait in all is nothing for who sees a part of the library.
        waiting = self._runtime.graph.pending() if self._runtime.whole is None else 0
        if waiting:
            number = counted(waiting, "document is", "documents are")
            return NotFoundError(
                f"{number} not read for names yet; the others do not name '{name}'.",
                hint="Read them: chapterhouse model embed",
            )
        found = self._documents_with(phrase)
        hints = [f"Is one of these meant? {', '.join(one.name for one in near)}"] if near else []
        if not found:
            return NotFoundError(
                f"No document names '{name}'.",
                hint="".join(hints) or "See: chapterhouse graph entities",
            )
        quoted = shlex.quote(f'"{phrase}"')
        hints.append(f"See them: chapterhouse search {quoted}")
        number = counted(found, "document has", "documents have")
        return NotFoundError(
            f"{number} '{name}', which was not recognised as a name.", hint="\n".join(hints)
        )

    def _documents_with(self, phrase: str) -> int:
        """Return how many documents have some words one behind the other."""
        sources = sources_of(self._runtime)
        keys = [
            hit.key
            for language in sources.census(_EVERYTHING).languages
            for hit in sources.lexical.search_phrase(
                analyse(phrase, language), _EVERYTHING, _LOOKED_THROUGH
            )
        ]
        chunks = sources.chunks(dict.fromkeys(keys), _EVERYTHING).values()
        return len(
            {one.document_id for one in chunks if contains_exactly(one.header + one.text, phrase)}
        )

    def _related(self, link: EntityLink) -> RelatedEntity:
        entity = self._runtime.graph.entity(link.target, _EVERYTHING)
        assert entity is not None, link.target
        (evidence,) = self._read([link.evidence])
        return RelatedEntity(
            entity, link.together, link.significance, evidence, link.relation, link.inverse
        )

    def _read(self, places: Sequence[SentencePlace]) -> tuple[EntitySentence, ...]:
        """Return sentences as they stand in their documents; those of none that is gone."""
        store = self._runtime.store
        documents = store.documents_among({one.document_id for one in places}, _EVERYTHING)
        bodies = {name: store.body(name, _EVERYTHING) for name in documents}
        return tuple(
            EntitySentence(
                place.document_id,
                document.title,
                document.source,
                place.start,
                place.end,
                body.text[place.start : place.end],
                next((one.number for one in body.pages if place.start < one.end), None),
            )
            for place in places
            if (document := documents.get(place.document_id))
            and (body := bodies[place.document_id])
        )
