"""Every error Chapterhouse raises on purpose, in one hierarchy.

Each carries a hint: what the user can do. Its class says the ``exit_code`` of the command line and
the ``status`` of HTTP; over MCP all are errors of a tool.
"""

import errno
import re
import shlex
import sys
from importlib import import_module
from typing import Any, ClassVar, Final

# What a system call meets that is full, busy or read-only.
_PASSING: Final = frozenset(
    getattr(errno, name)
    for name in ["EAGAIN", "EBUSY", "EDQUOT", "EMFILE", "ENFILE", "ENOMEM", "ENOSPC", "EROFS"]
)
_EXTRA: Final = re.compile(r"""extra\s*==\s*['"]([^'"]+)""")


class ChapterhouseError(Exception):
    """Something went wrong that Chapterhouse knows how to explain."""

    exit_code: ClassVar[int] = 1
    status: int = 503  # a full disk, another process that writes: try again

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(ChapterhouseError):
    """The request cannot be carried out as it was made."""

    exit_code = 2
    status = 400


class NotFoundError(ChapterhouseError):
    """Nothing in this library has that name."""

    exit_code = 3
    status = 404


class RejectedError(ChapterhouseError):
    """A file that will not be read. ``code`` is stable and machine-readable."""

    status = 422

    def __init__(self, code: str, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.code = code
        if code == "too-large":
            self.status = 413


class RefusedError(ChapterhouseError):
    """Doing this would be unsafe, so it was not done."""

    exit_code = 5
    status = 409


class NewerLibraryError(RefusedError):
    """The library was written by a newer Chapterhouse than this one."""


class ReadOnlyError(ChapterhouseError):
    """The library can only be read: it is somebody else's, or its disk takes nothing."""


class UnavailableError(ChapterhouseError):
    """The disk or the database is full, busy or read-only: later the same works."""

    is_interrupted = False  # whether the very same may work at once, as after a failover


class MissingExtraError(ChapterhouseError):
    """An optional engine is not installed."""

    status = 501

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(
            f"{what} needs the extra '{extra}', which is not installed.",
            hint=f"Install what it needs: {install_command(extra)}",
        )
        self.extra = extra


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


def install_command(extra: str) -> str:
    """Return what a shell has to run so that an extra works for this very Python.

    It names what the extra consists of, so that it holds wherever Chapterhouse came from.
    """
    from importlib.metadata import PackageNotFoundError, requires  # noqa: PLC0415 - slow to load

    try:
        stated = requires("chapterhouse") or []
    except PackageNotFoundError:  # run from its sources
        stated = []
    parts = [line.split(";") for line in stated]
    needed = [name.strip() for name, *when in parts if _EXTRA.findall("".join(when)) == [extra]]
    wanted = needed or [f".[{extra}]"]  # in a clone
    return shlex.join([sys.executable, "-m", "pip", "install", *wanted])


class BusyError(ChapterhouseError):
    """Too much is asked of it at once. ``seconds`` is when to try again."""

    def __init__(self, message: str, *, seconds: int = 1, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.seconds = seconds


def passes(error: BaseException) -> bool:
    """Whether what was stopped by an error works later: it lacked space, memory or a turn."""
    if isinstance(error, OSError):
        return error.errno in _PASSING
    if isinstance(error, UnavailableError | BusyError | MemoryError):
        return True
    return error.__cause__ is not None and passes(error.__cause__)


class EngineError(ChapterhouseError):
    """A model or a service could not be reached, or answered with something unusable."""

    status = 502


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

    status = 500
