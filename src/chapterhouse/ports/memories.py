"""What was asked and answered, as it is remembered."""

from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from chapterhouse.types import (
    Memory,
    MemoryHit,
    Scope,
)

FAR_FUTURE: Final = 2**62


class Memories(Protocol):
    """What was asked and answered, and answers that hold until anything in the library changes.

    A memory belongs to a persona, or to the library itself.

    The scope of a read is whose memories it may see; where nobody is named it sees none.
    """

    def remember(self, memory: Memory) -> Memory:
        """Store a memory; return it with the id that it was given."""

    def memories(self, personas: Sequence[str], limit: int, now: int) -> Sequence[Memory]:
        """Return the latest memories of ``personas``, newest first."""

    def search(
        self, text: str, personas: Sequence[str], limit: int, now: int
    ) -> Sequence[MemoryHit]:
        """Return the memories of ``personas`` that fit ``text`` best, best first."""

    def personas(self) -> tuple[str, ...]:
        """Return whose memories there are; the library itself is the empty name."""

    def forget(self, ids: Iterable[str]) -> int:
        """Delete memories by id; return how many.

        Raises:
            UsageError: an id is none.
            NotFoundError: there is no such memory; nothing was deleted.
        """

    def forget_all(self, personas: Sequence[str], before: int = FAR_FUTURE) -> int:
        """Delete every memory of ``personas`` asked before a time; return how many."""

    def forget_of(self, document_ids: Iterable[str]) -> int:
        """Delete the memories that rest on documents, whose words they may repeat; count them."""

    def count(self, personas: Sequence[str], before: int = FAR_FUTURE) -> int:
        """Count the memories of ``personas`` asked before a time."""

    def cached_answer(self, key: str, scope: Scope) -> str | None:
        """Return the answer that was stored under a key for exactly this scope, or None."""

    def cache_answer(self, key: str, scope: Scope, sequence: int, answer: str) -> None:
        """Store an answer given at ``sequence`` of the library; those of any other are dropped."""
