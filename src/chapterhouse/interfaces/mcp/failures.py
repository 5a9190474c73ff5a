"""Errors as clients are told of them: a sentence and a hint, and no path of this machine."""

import logging
import re
from typing import Final

from pydantic import ValidationError

from chapterhouse.errors import ChapterhouseError
from chapterhouse.text.sanitise import sanitise_line

_log: Final = logging.getLogger("chapterhouse.mcp")
# An absolute path, not part of a word or a web address; its last name is what people know.
_PATH: Final = re.compile(r"(?<![\w:/.~-])[~]?/(?:[^\s/'\",;:()]+/)*([^\s/'\",;:()]*)")
_LONGEST: Final = 1_000


def without_paths(text: str) -> str:
    """Return a sentence of ours with every absolute path cut down to its last name."""
    return _PATH.sub(lambda match: match[1] or "a folder", text)


def told_lines(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return warnings as they may leave the machine."""
    return tuple(without_paths(line) for line in lines)


def explained(error: Exception) -> str:
    """Return what a client is told of an error, in a sentence or two.

    One that nobody foresaw goes to the log and is only named.
    """
    match error:
        case ChapterhouseError():
            told = f"{error.message} {error.hint}"
        case ValidationError():
            told = _wrong_arguments(error)
        case OSError():
            _log.warning("%s", sanitise_line(str(error)), exc_info=_log.isEnabledFor(logging.DEBUG))
            told = f"The system refused: {error.strerror or type(error).__name__}."
        case _:
            _log.error(
                "Unexpected %s: %s",
                type(error).__name__,
                sanitise_line(str(error)),
                exc_info=_log.isEnabledFor(logging.DEBUG),
            )
            told = f"Unexpected {type(error).__name__}. What it says stands in the server's log."
    return sanitise_line(without_paths(told))[:_LONGEST]


def _wrong_arguments(error: ValidationError) -> str:
    wrong = (
        f"{'.'.join(str(part) for part in entry['loc']) or 'arguments'}: {entry['msg']}"
        for entry in error.errors(include_url=False, include_input=False, include_context=False)
    )
    return f"The arguments do not fit. {'; '.join(wrong)}."
