"""Search inside a scope that sees only what is trusted so far.

The indexes know shelves, not how far a source is trusted, which may change at any time. So they are
searched more deeply, and what is outside is left out, until there is as much as was wanted or
nothing more is found. What is found is what an unlimited search would give without the rest.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from chapterhouse.ports.index import LexicalSearch, VectorSearch
from chapterhouse.types import CorpusCounts, Scope, Scored, TermRows, WeightedTerm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_GROWTH: Final = 4


@dataclass(frozen=True, slots=True)
class Trusted:
    """What tells which chunks are inside a scope.

    Attributes:
        census: How much there is.
        documents_of: Ids of the documents of the chunks that are inside, by key.
    """

    census: Callable[[Scope], CorpusCounts]
    documents_of: Callable[[Iterable[int], Scope], Mapping[int, str]]

    def best(
        self,
        search: Callable[[int], Sequence[Scored]],
        scope: Scope,
        limit: int,
        also: Sequence[int] = (),
    ) -> Sequence[Scored]:
        """Return the first ``limit`` hits of ``search`` inside, and those in ``also``.

        Args:
            search: Gives so many hits, best first, whatever their trust; fewer: there are no more.
            scope: Which documents are wanted.
            limit: How many hits.
            also: Keys that ``search`` gives besides, wherever they stand.
        """
        whole = self.census(replace(scope, trust=None)).chunks
        inside, listed = self.census(scope).chunks, set(also)
        depth = limit * whole // max(inside, 1) + limit
        while inside:
            found = search(depth)
            seen = self.documents_of([hit.key for hit in found], scope)
            hits = [hit for hit in found if hit.key in seen]
            if len(found) < depth or sum(hit.key not in listed for hit in hits) >= limit:
                return [*hits[:limit], *(hit for hit in hits[limit:] if hit.key in listed)]
            depth *= _GROWTH
        return ()


@dataclass(frozen=True, slots=True)
class TrustedLexical:
    """The lexical index, of which only what is trusted so far is found."""

    index: LexicalSearch
    trusted: Trusted

    def search(
        self,
        terms: Sequence[WeightedTerm],
        scope: Scope,
        limit: int,
        documents: Sequence[str] = (),
    ) -> Sequence[Scored]:
        """Return at most ``limit`` chunks by BM25, best first; ties in order of key."""
        if scope.trust is None:
            return self.index.search(terms, scope, limit, documents)
        return self.trusted.best(
            lambda depth: self.index.search(terms, scope, depth, documents), scope, limit
        )

    def search_phrase(self, words: Sequence[str], scope: Scope, limit: int) -> Sequence[Scored]:
        """Return chunks in which the terms ``words`` stand one after the other."""
        if scope.trust is None:
            return self.index.search_phrase(words, scope, limit)
        return self.trusted.best(
            lambda depth: self.index.search_phrase(words, scope, depth), scope, limit
        )

    def document_frequencies(self, terms: Sequence[str], scope: Scope) -> Sequence[int]:
        """Count the chunks on the scope's shelves in which each term occurs."""
        return self.index.document_frequencies(terms, scope)

    def terms_of(self, keys: Sequence[int], scope: Scope) -> TermRows:
        """Return the terms of chunks, one row for each of ``keys`` in their order."""
        return self.index.terms_of(keys, scope)

    def size(self, scope: Scope) -> int:
        """Count the chunks on the scope's shelves."""
        return self.index.size(scope)


@dataclass(frozen=True, slots=True)
class TrustedVectors:
    """An index of vectors, of which only what is trusted so far is found."""

    index: VectorSearch
    trusted: Trusted

    def search(
        self,
        vector: "NDArray[np.float32]",
        scope: Scope,
        limit: int,
        also: Sequence[int] = (),
    ) -> Sequence[Scored]:
        """Return the ``limit`` chunks of highest cosine, and the cosines of those in ``also``."""
        if scope.trust is None:
            return self.index.search(vector, scope, limit, also)
        return self.trusted.best(
            lambda depth: self.index.search(vector, scope, depth, also), scope, limit, also
        )
