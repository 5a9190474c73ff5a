"""Some documents alone: what retrieval may look into, cut to those that were chosen.

How rare a word is, and how long chunks are, still comes from the whole scope: a passage has the
score that it has beside all others.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from chapterhouse.retrieval.candidates import Sources
from chapterhouse.types import Scope, Scored, TermRows, WeightedTerm
from chapterhouse.types.engines import LexicalSearch, MentionSearch, VectorSearch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def among(sources: Sources, documents: Collection[str]) -> Sources:
    """Return the same sources, of which only chunks of ``documents`` come out."""
    chosen = frozenset(documents)
    lexical = _LexicalAmong(sources.lexical, chosen, sources.documents_of)
    layer = sources.vectors

    def chunks_named(name: str, scope: Scope) -> Sequence[int]:
        return lexical.inside(sources.chunks_named(name, scope), scope)

    def titled(names: Sequence[str], scope: Scope) -> Mapping[str, Sequence[str]]:
        found = sources.titled(names, scope)
        return {name: [one for one in own if one in chosen] for name, own in found.items()}

    return replace(
        sources,
        lexical=lexical,
        vectors=layer and replace(layer, index=_VectorsAmong(layer.index, lexical)),
        chunks=lambda keys, scope: {
            key: chunk
            for key, chunk in sources.chunks(keys, scope).items()
            if chunk.document_id in chosen
        },
        documents=lambda ids, scope: sources.documents(
            [one for one in ids if one in chosen], scope
        ),
        chunks_named=chunks_named,
        titled=titled,
        mentions=sources.mentions and _MentionsAmong(sources.mentions, chosen),
    )


@dataclass(frozen=True, slots=True)
class _LexicalAmong:
    """The lexical index, from which only chunks of some documents come."""

    whole: LexicalSearch
    chosen: frozenset[str]
    documents_of: Callable[[Iterable[int], Scope], Mapping[int, str]]

    def search(
        self,
        terms: Sequence[WeightedTerm],
        scope: Scope,
        limit: int,
        documents: Sequence[str] = (),
    ) -> Sequence[Scored]:
        wanted = sorted(self.chosen.intersection(documents) if documents else self.chosen)
        found = self.whole.search(terms, scope, limit, wanted) if wanted else ()
        return found if documents else [hit for hit in found if hit.score > 0]

    def search_phrase(self, words: Sequence[str], scope: Scope, limit: int) -> Sequence[Scored]:
        found = self.whole.search_phrase(words, scope, max(self.whole.size(scope), 1))
        inside = set(self.inside([hit.key for hit in found], scope))
        return [hit for hit in found if hit.key in inside][:limit]

    def document_frequencies(self, terms: Sequence[str], scope: Scope) -> Sequence[int]:
        return self.whole.document_frequencies(terms, scope)

    def terms_of(self, keys: Sequence[int], scope: Scope) -> TermRows:
        return self.whole.terms_of(keys, scope)

    def size(self, scope: Scope) -> int:
        return self.whole.size(scope)

    def inside(self, keys: Sequence[int], scope: Scope) -> Sequence[int]:
        """Return those of some chunks that are of the documents."""
        of = self.documents_of(keys, scope)
        return [key for key in keys if of.get(key) in self.chosen]

    def keys(self, scope: Scope) -> Sequence[int]:
        """Return all chunks of the documents."""
        every = self.whole.search((), scope, max(self.whole.size(scope), 1), sorted(self.chosen))
        return [hit.key for hit in every]


@dataclass(frozen=True, slots=True)
class _MentionsAmong:
    """What documents speak of, of which only what some of them say is told."""

    whole: MentionSearch
    chosen: frozenset[str]

    def entities_in(self, document: str, start: int, end: int, scope: Scope) -> Sequence[str]:
        inside = document in self.chosen
        return self.whole.entities_in(document, start, end, scope) if inside else ()

    def documents_naming(
        self, entities: Sequence[str], scope: Scope, most: int
    ) -> Mapping[str, Sequence[str]]:
        found = self.whole.documents_naming(entities, scope, most)
        return {name: [one for one in own if one in self.chosen] for name, own in found.items()}


@dataclass(frozen=True, slots=True)
class _VectorsAmong:
    """The vectors, of which only those of some documents are compared."""

    whole: VectorSearch
    lexical: _LexicalAmong

    def search(
        self,
        vector: "NDArray[np.float32]",
        scope: Scope,
        limit: int,
        also: Sequence[int] = (),
    ) -> Sequence[Scored]:
        found = self.whole.search(vector, scope, 0, sorted(self.lexical.keys(scope)))
        wanted = {hit.key for hit in found[:limit]}.union(also)
        return [hit for hit in found if hit.key in wanted]
