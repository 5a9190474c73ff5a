"""What is derived from the store to be searched."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from chapterhouse.store.sqlite import Store


class Index(Protocol):
    """Something derived from the store that can be searched, caught up and thrown away."""

    def sequence(self) -> int:
        """Return the number of the last change it has applied."""

    def catch_up(self, store: "Store") -> int:
        """Apply what it has missed; return its sequence afterwards."""

    def rebuild(self, store: "Store") -> int:
        """Throw everything away and apply the whole store; return the sequence."""

    def differing(self, store: "Store", *, thorough: bool) -> Collection[str]:
        """Return the ids of documents of which it holds something else than a store has.

        Where the two differ in what belongs to no document, other words stand for it.

        Args:
            store: What it was made from; all its changes are applied.
            thorough: Also read every byte of it, and make again what each text gives.
        """
