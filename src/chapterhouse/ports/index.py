"""What is derived from the store to be searched."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from chapterhouse.ports.store import Store
from chapterhouse.types import (
    Alias,
    Scope,
    Scored,
    TermRows,
    WeightedTerm,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Index(Protocol):
    """Something derived from the store that can be searched, caught up and thrown away."""

    def sequence(self) -> int:
        """Return the number of the last change it has applied."""

    def catch_up(self, store: Store) -> int:
        """Apply what it has missed; return its sequence afterwards."""

    def rebuild(self, store: Store) -> int:
        """Throw everything away and apply the whole store; return the sequence."""

    def differing(self, store: Store, *, thorough: bool) -> Collection[str]:
        """Return the ids of documents of which it holds something else than a store has.

        Where the two differ in what belongs to no document, other words stand for it.

        Args:
            store: What it was made from; all its changes are applied.
            thorough: Also read every byte of it, and make again what each text gives.
        """


class LexicalSearch(Protocol):
    """The chunks that share terms with a question.

    Scores and counts come from the chunks inside the scope: what is on other shelves never moves
    them.
    """

    def search(
        self,
        terms: Sequence[WeightedTerm],
        scope: Scope,
        limit: int,
        documents: Sequence[str] = (),
    ) -> Sequence[Scored]:
        """Return at most ``limit`` chunks by BM25, best first; ties in order of key.

        With ``documents``, only chunks of these, also those in which none of the terms occurs.
        """

    def search_phrase(self, words: Sequence[str], scope: Scope, limit: int) -> Sequence[Scored]:
        """Return chunks in which the terms ``words`` stand one after the other."""

    def document_frequencies(self, terms: Sequence[str], scope: Scope) -> Sequence[int]:
        """Count the chunks in which each term occurs, all at one state of the index."""

    def terms_of(self, keys: Sequence[int], scope: Scope) -> TermRows:
        """Return the terms of chunks, one row for each of ``keys`` in their order.

        The row of a chunk outside the scope is empty.
        """

    def size(self, scope: Scope) -> int:
        """Count the chunks."""


class VectorSearch(Protocol):
    """The chunks nearest to a question's vector."""

    def search(
        self,
        vector: "NDArray[np.float32]",
        scope: Scope,
        limit: int,
        also: Sequence[int] = (),
    ) -> Sequence[Scored]:
        """Return the ``limit`` chunks of highest cosine, and the cosines of those in ``also``."""


class NameSearch(Protocol):
    """What the documents call the same thing, and how they are called themselves."""

    def find(self, names: Sequence[str], scope: Scope, limit: int = 20) -> Sequence[Alias]:
        """Return what else the documents call these."""

    def find_titled(
        self, names: Sequence[str], scope: Scope, most: int = 3
    ) -> Mapping[str, Sequence[str]]:
        """Return the ids of the documents that go by each of some names, sorted."""

    def near_words(self, word: str, scope: Scope) -> Mapping[str, float]:
        """Return the documents' words that ``word`` may be a misspelling of, with its cost."""

    def may_mention(self, word: str, scope: Scope) -> bool:
        """Whether a document may have a form of a word in its text, title, file name or folders."""


# Gives at most so many chunks for some terms, best first, each by its place among them all.
Rank = Callable[[Sequence[WeightedTerm], int], Sequence[Scored]]
