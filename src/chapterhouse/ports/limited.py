"""A part of the library as those see it who may not see all of it."""

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from chapterhouse.errors import RefusedError
from chapterhouse.ports.definitions import Definitions
from chapterhouse.types import Scope

Port = TypeVar("Port")

# What says nothing of what is outside: how far a store or an index has come.
_HARMLESS: Final = frozenset({"sequence", "catch_up"})


def limit(port: Port, permitted: Scope) -> Port:
    """Return a port through which only what is inside a scope can be read.

    Every scope that it is given is cut to the permitted one before anything is read, so that what
    is outside moves no score, count or message. What takes no scope is refused: a method that is
    added later cannot read past it.
    """
    return cast("Port", _Limited(port, permitted))


def limit_definitions(definitions: Definitions, names: Collection[str]) -> Definitions:
    """Return definitions of which only those of some names are there; nothing can be written."""
    return _LimitedDefinitions(definitions, frozenset(names))


class _LimitedDefinitions:
    """Definitions of which only some are there."""

    def __init__(self, definitions: Definitions, names: frozenset[str]) -> None:
        self._definitions = definitions
        self._names = names

    def names(self) -> tuple[str, ...]:
        """Return the names of those that are there, sorted."""
        return tuple(name for name in self._definitions.names() if name in self._names)

    def folder(self, name: str) -> Path:
        """Return the folder of a definition."""
        return self._definitions.folder(name)

    def has(self, name: str, file: str) -> bool:
        """Whether a definition that is there has this file."""
        return name in self._names and self._definitions.has(name, file)

    def read(self, name: str, file: str, most: int) -> bytes:
        """Return the first bytes of a file of a definition that is there."""
        if name not in self._names:
            raise FileNotFoundError(name)
        return self._definitions.read(name, file, most)

    def write(self, name: str, file: str, text: str) -> None:  # noqa: ARG002 - of the port
        """Refuse to."""
        raise RefusedError(f"Who sees a part of the library cannot write '{name}'.")

    def make(self, name: str, folders: Sequence[str]) -> None:  # noqa: ARG002 - likewise
        """Refuse to."""
        raise RefusedError(f"Who sees a part of the library cannot make '{name}'.")

    def lock(self, name: str) -> AbstractContextManager[bool]:  # noqa: ARG002 - likewise
        """Lock nothing: nothing is written."""
        return nullcontext(enter_result=False)


class _Limited:
    """Passes calls on with their scopes cut."""

    def __init__(self, port: object, permitted: Scope) -> None:
        self._port = port
        self._permitted = permitted

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._port, name)
        return partial(self._call, name, method)

    def unknown_shelves(self, scope: Scope) -> tuple[str, ...]:
        """Return the shelves that do not exist or may not be seen: there is no telling which."""
        inside = scope.within(self._permitted)
        if scope.shelves is None:
            return ()
        hidden = set(scope.shelves) - set(inside.shelves or ())
        known: Any = self._port
        return tuple(sorted(hidden | set(known.unknown_shelves(inside))))

    def _call(self, name: str, method: Callable[..., Any], *values: Any, **named: Any) -> Any:
        if name not in _HARMLESS and not any(
            isinstance(value, Scope) for value in (*values, *named.values())
        ):
            raise RefusedError(f"Who sees a part of the library cannot call '{name}'.")
        return method(*map(self._cut, values), **{key: self._cut(v) for key, v in named.items()})

    def _cut(self, value: Any) -> Any:
        return value.within(self._permitted) if isinstance(value, Scope) else value
