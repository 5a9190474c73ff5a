"""Dataclasses whose functions are made when the first value of them is.

A frozen dataclass with slots takes Python 3.11 0.4 ms to declare, most of it to compile its
functions. A command loads more than two hundred and makes values of a few dozen.
"""

import dataclasses
from _thread import RLock
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    _OPTIONS = {"frozen": True, "slots": True}
    _waiting: dict[type, type] = {}  # declared classes, and a copy of how each is written
    _one_at_a_time = RLock()

    def dataclass(**options: bool) -> Callable[[type], type]:
        """Declare a dataclass as ``dataclasses.dataclass`` does, with the same options."""
        return _declared if options == _OPTIONS else dataclasses.dataclass(**options)

    def _declared(written: type) -> type:
        if any(map(dataclasses.is_dataclass, written.__bases__)):
            return dataclasses.dataclass(**_OPTIONS)(written)
        namespace = {
            name: value
            for name, value in written.__dict__.items()
            if name not in {"__dict__", "__weakref__"}
        }
        copied = type(written)(written.__name__, written.__bases__, namespace)
        declared = dataclasses.dataclass(slots=True, init=False, repr=False, eq=False)(written)
        declared.__dataclass_params__ = _EMPTY.__dataclass_params__
        for name, function in _LATE.items():
            if name not in namespace:
                setattr(declared, name, function)
        _waiting[declared] = copied
        return declared

    def _late(name: str) -> Callable[..., Any]:
        """Return what stands for a function until one of its class is called."""

        def make_and_call(self: Any, *given: Any, **named: Any) -> Any:
            for one in type(self).__mro__:
                _complete(one)
            return getattr(type(self), name)(self, *given, **named)

        return make_and_call

    def _complete(declared: type) -> None:
        with _one_at_a_time:
            if declared not in _waiting:  # another thread was here a moment ago
                return
            made = dataclasses.dataclass(**_OPTIONS)(_waiting[declared])
            for name in _LATE:
                setattr(declared, name, made.__dict__[name])
            del _waiting[declared]

    _EMPTY = dataclasses.dataclass(**_OPTIONS)(type("_Empty", (), {}))
    _LATE = {
        name: _late(name)
        for name in (
            "__init__",
            "__repr__",
            "__eq__",
            "__hash__",
            "__setattr__",
            "__delattr__",
            "__getstate__",
            "__setstate__",
        )
    }
