"""Which documents a read may see."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class Scope:
    """Which documents a read may see: those on any of some shelves, or everything.

    A scope without shelves sees nothing. Everything has to be asked for by name, so that a list
    which turns out to be empty never opens the whole library.

    Attributes:
        shelves: Sorted and without duplicates; None for every document.
    """

    shelves: tuple[str, ...] | None

    def __post_init__(self) -> None:
        if self.shelves is not None:
            object.__setattr__(self, "shelves", tuple(sorted(set(self.shelves))))

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
        if self.shelves is None or permitted.shelves is None:
            return permitted if self.shelves is None else self
        return Scope(tuple(name for name in self.shelves if name in permitted.shelves))

    @property
    def key(self) -> str:
        """The shelves as JSON, equal for equal ones; ``null`` is everything."""
        return json.dumps(self.shelves, ensure_ascii=False)

    def sees(self, shelves: Iterable[str]) -> bool:
        """Whether a document on these shelves is inside."""
        return self.shelves is None or not set(self.shelves).isdisjoint(shelves)
