"""Chapterhouse: a council that has read your documents.

>>> from chapterhouse import Library                                    # doctest: +SKIP
>>> with Library.open("~/Chapterhouse") as library:                     # doctest: +SKIP
...     library.documents.add("~/Documents/policies")
...     print(library.answers.ask("How long may a contractor's badge be valid?").text)
"""

TYPE_CHECKING = False  # as in typing, which takes ten milliseconds to load
if TYPE_CHECKING:
    from chapterhouse.errors import ChapterhouseError
    from chapterhouse.library import Library
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
]

_MODULES = {"Library": "library", "ChapterhouseError": "errors"}  # of the other names: types


def __getattr__(name: str) -> object:
    """Import a name when it is asked for: the command line has to be quick to say something."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - lazy on purpose

    return getattr(import_module(f"{__name__}.{_MODULES.get(name, 'types')}"), name)
