"""Modules that are loaded when they are first used, and those of extras that may be missing.

A command loads what it needs and nothing else: a model's libraries alone take seconds.
"""

import gc
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, cast

from chapterhouse.errors import MissingExtraError


class _Lazy(ModuleType):
    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


def lazy(name: str) -> ModuleType:
    """Return what stands for a module, which is loaded when a name in it is first read.

    Type checkers are shown the import itself::

        if TYPE_CHECKING:
            import httpx2
        else:
            httpx2 = lazy("httpx2")
    """
    return _Lazy(name)


@contextmanager
def without_collection() -> Iterator[None]:
    """Load modules in the block without looking for garbage among them, then or later.

    Loading makes tens of thousands of objects that stay; Python would look through all of them
    several times.
    """
    was_enabled, before = gc.isenabled(), len(sys.modules)
    gc.disable()
    try:
        yield
    finally:
        if len(sys.modules) > before:
            gc.freeze()
        if was_enabled:
            gc.enable()


class _LazyPattern:
    def __init__(self, source: str, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self._source, self._flags), name)
        self.__dict__[name] = found  # from now on it is found without coming here
        return found


def lazy_pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return what stands for a regular expression, which is compiled when it is first used.

    For one with wide ranges of letters, which take milliseconds to compile. Use its methods: the
    functions of ``re`` know nothing of it.
    """
    return cast("re.Pattern[str]", _LazyPattern(source, flags))


def is_installed(name: str) -> bool:
    """Whether a module can be imported; of a package inside another, the outer one is loaded."""
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # not even the package around it
        return False


def optional(name: str, what: str, *, extra: str) -> Any:
    """Import and return a module that an extra brings.

    Args:
        what: What needs it, for the message: "A key in a keyring".

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError(what, extra) from None
