"""Which documents a read may see."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self, TypeVar

from chapterhouse.types.documents import Trust

Name = TypeVar("Name", bound=str)


@dataclass(frozen=True, slots=True)
class Scope:
    """Which documents a read may see: those on any of some shelves, or everything.

    A scope without shelves sees nothing. Everything has to be asked for by name, so that a list
    which turns out to be empty never opens the whole library.

    Attributes:
        shelves: Sorted and without duplicates; None for every document.
        trust: Only documents of sources that are trusted so; all when None. It is a filter and no
            permission: what counts files, not documents, does not go by it.
    """

    shelves: tuple[str, ...] | None
    trust: tuple[Trust, ...] | None = None

    def __post_init__(self) -> None:
        if self.shelves is not None:
            object.__setattr__(self, "shelves", tuple(sorted(set(self.shelves))))
        if self.trust is not None:
            object.__setattr__(self, "trust", tuple(sorted(set(self.trust))))

    @classmethod
    def everything(cls) -> Self:
        """Return the scope of every document of the workspace."""
        return cls(None)

    @classmethod
    def of(cls, shelves: Iterable[str]) -> Self:
        """Return the scope of the documents on any of ``shelves``.

        Raises:
            TypeError: ``shelves`` is one name, whose letters would be taken for shelves.
        """
        if isinstance(shelves, str):
            raise TypeError(f"A scope takes several shelves, not the text {shelves!r}.")
        return cls(tuple(shelves))

    def within(self, permitted: "Scope") -> "Scope":
        """Return what of this scope is inside another one."""
        return Scope(_common(self.shelves, permitted.shelves), _common(self.trust, permitted.trust))

    def trusting(self, levels: Iterable[Trust] | None) -> "Scope":
        """Return what of this scope comes from sources of some levels of trust; all when None."""
        return self.within(Scope(None, None if levels is None else tuple(levels)))

    @property
    def key(self) -> str:
        """The shelves as JSON, equal for equal ones; ``null`` is everything."""
        return json.dumps(self.shelves, ensure_ascii=False)

    def sees(self, shelves: Iterable[str]) -> bool:
        """Whether a document on these shelves is inside."""
        return self.shelves is None or not set(self.shelves).isdisjoint(shelves)

    def trusts(self, level: Trust) -> bool:
        """Whether a document of a source that is trusted so far is inside."""
        return self.trust is None or level in self.trust


def _common(
    own: tuple[Name, ...] | None, other: tuple[Name, ...] | None
) -> tuple[Name, ...] | None:
    """Return what both have; None has everything."""
    if own is None or other is None:
        return other if own is None else own
    return tuple(name for name in own if name in other)
