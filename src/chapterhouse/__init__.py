"""Chapterhouse: a council that has read your documents.

>>> from chapterhouse import Library                                    # doctest: +SKIP
>>> with Library.open("~/Chapterhouse") as library:                     # doctest: +SKIP
...     library.add("~/Documents/policies")
...     print(library.ask("How long may a contractor's badge be valid?").text)
"""

from typing import TYPE_CHECKING

from chapterhouse.errors import ChapterhouseError
from chapterhouse.types import Answer, Citation, Document, Hit, SearchResult, Status

if TYPE_CHECKING:
    from chapterhouse.library import Library

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


def __getattr__(name: str) -> object:
    """Import ``Library`` when it is asked for: it brings the engines, which take time to load."""
    if name == "Library":
        from chapterhouse.library import Library  # noqa: PLC0415 - lazy on purpose

        return Library
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
