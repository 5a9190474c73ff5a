"""A part of the library as those see it who may not see all of it."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeVar, cast

from chapterhouse.errors import RefusedError
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
