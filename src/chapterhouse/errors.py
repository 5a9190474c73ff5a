"""Every error Chapterhouse raises on purpose, in one hierarchy.

::

    ChapterhouseError
    ├── UsageError            what was asked cannot be done as asked
    ├── NotFoundError         nothing has that name
    ├── RejectedError         a file that will not be read; carries a code
    ├── RefusedError          doing it would be unsafe
    │   └── NewerLibraryError the database comes from a newer Chapterhouse
    ├── MissingExtraError     an optional engine is not installed
    ├── EngineError           a model or service did not do what it should
    │   └── PromptTooLongError  it was given more than it takes
    └── CorruptLibraryError   what is on disk contradicts itself

Each carries a hint: what the user can do, and the ``exit_code`` of the command line. Interfaces map
the class once, also to an HTTP status or an MCP error.
"""

from typing import ClassVar


class ChapterhouseError(Exception):
    """Something went wrong that Chapterhouse knows how to explain."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(ChapterhouseError):
    """The request cannot be carried out as it was made."""

    exit_code = 2


class NotFoundError(ChapterhouseError):
    """Nothing in this library has that name."""

    exit_code = 3


class RejectedError(ChapterhouseError):
    """A file that will not be read. ``code`` is stable and machine-readable."""

    def __init__(self, code: str, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.code = code


class RefusedError(ChapterhouseError):
    """Doing this would be unsafe, so it was not done."""

    exit_code = 5


class NewerLibraryError(RefusedError):
    """The library was written by a newer Chapterhouse than this one."""


class MissingExtraError(ChapterhouseError):
    """An optional engine is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(
            f"{what} needs the extra '{extra}', which is not installed.",
            hint=f"Install it with: pip install 'chapterhouse[{extra}]'",
        )
        self.extra = extra


class EngineError(ChapterhouseError):
    """A model or a service could not be reached, or answered with something unusable."""


class PromptTooLongError(EngineError):
    """A model was given more than it takes.

    Attributes:
        fits: The share of the prompt that would fit, 0 to 1; a half where nobody says.
    """

    def __init__(self, message: str, *, hint: str = "", fits: float = 0.5) -> None:
        super().__init__(message, hint=hint)
        self.fits = fits


class CorruptLibraryError(ChapterhouseError):
    """What is on disk contradicts itself."""
