"""Modules that are loaded when they are first used, and those of extras that may be missing.

A command loads what it needs and nothing else: a model's libraries alone take seconds.
"""

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

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


def is_installed(name: str) -> bool:
    """Whether a module can be imported; of a package inside another, the outer one is loaded."""
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # not even the package around it
        return False


def optional(name: str, what: str, *, extra: str) -> Any:
    """Import and return a module that an extra brings.

    Args:
        name: Of the module.
        what: What needs it, for the message: "A key in a keyring".
        extra: Which.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError(what, extra) from None
