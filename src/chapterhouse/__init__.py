"""Chapterhouse: a council that has read your documents.

>>> from chapterhouse import Library                                    # doctest: +SKIP
>>> with Library.open("~/Chapterhouse") as library:                     # doctest: +SKIP
...     library.documents.add("~/Documents/policies")
...     print(library.answers.ask("How long may a contractor's badge be valid?").text)
"""

from importlib import import_module
from types import ModuleType

TYPE_CHECKING = False  # as in typing, which takes ten milliseconds to load
if TYPE_CHECKING:
    import re
    from typing import Any

    from chapterhouse.errors import ChapterhouseError
    from chapterhouse.library import Library
    from chapterhouse.reading.attachments import extract_for_attachment, extract_text
    from chapterhouse.types import Answer, Citation, Document, Hit, SearchResult, Status

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "ChapterhouseError",
    "Citation",
    "Document",
    "Hit",
    "Library",
    "SearchResult",
    "Status",
    "__version__",
    "extract_for_attachment",
    "extract_text",
]

_MODULES = {  # of the other names: types
    "Library": "library",
    "ChapterhouseError": "errors",
    "extract_for_attachment": "reading.attachments",
    "extract_text": "reading.attachments",
}


def __getattr__(name: str) -> object:
    """Import a name when it is asked for: the command line has to be quick to say something."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES.get(name, 'types')}"), name)


class _LazyModule(ModuleType):
    def __getattr__(self, name: str) -> "Any":
        return getattr(import_module(self.__name__), name)


def lazy(name: str) -> ModuleType:
    """Return what stands for a module, which is loaded when a name in it is first read.

    A command loads what it needs and nothing else: a model's libraries alone take seconds. Type
    checkers are shown the import itself::

        if TYPE_CHECKING:
            import httpx2
        else:
            httpx2 = lazy("httpx2")
    """
    return _LazyModule(name)


class _LazyPattern:
    def __init__(self, source: str, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> "Any":
        found = getattr(import_module("re").compile(self._source, self._flags), name)
        self.__dict__[name] = found  # from now on it is found without coming here
        return found


def lazy_pattern(source: str, flags: int = 0) -> "re.Pattern[str]":
    """Return what stands for a regular expression, which is compiled when it is first used.

    For one with wide ranges of letters, which take milliseconds to compile. Use its methods: the
    functions of ``re`` know nothing of it.
    """
    pattern: Any = _LazyPattern(source, flags)
    return pattern  # type: ignore[no-any-return]
