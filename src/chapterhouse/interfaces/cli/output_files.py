"""Files of the user that a command is told to write."""

import hashlib
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from chapterhouse.errors import RefusedError, UsageError
from chapterhouse.interfaces.cli.options import require_path

# Markdown and HTML both take it for a comment. What was changed since belongs to who changed it.
_MARK: Final = re.compile(rb"<!-- written by Chapterhouse, SHA-256 ([0-9a-f]{64}) -->\n\Z")
_LARGEST: Final = 64 * 2**20  # bytes of a file that is looked at


def destination(name: str, what: str, example: str, is_ours: Callable[[bytes], bool]) -> Path:
    """Return the file that is to be written, once it is clear that it can be.

    Args:
        name: As the user typed it.
        what: What is to be written, for messages.
        example: An option with a name that would do.
        is_ours: Whether a file of this content is of our making and may be replaced.

    Raises:
        UsageError: it is no name of a file, or its folder is not there.
        RefusedError: it is a file of something else, which would be lost.
    """
    path = Path(require_path(name)).expanduser()
    if name == "-" or path.is_dir() or not path.parent.is_dir():
        raise UsageError(
            f"{what} cannot be written to '{name}'.",
            hint=f"Name a file in a folder that is there, like: {example}",
        )
    if not os.access(path.parent, os.W_OK):
        raise UsageError(f"The folder of '{name}' cannot be written to.", hint="Name another file.")
    if path.exists() and not (path.is_file() and is_ours(_beginning(path))):
        raise RefusedError(
            f"'{name}' is a file of something else, and would be lost.",
            hint="Name a new file, or one that such a command wrote and nobody has changed.",
        )
    return path


def _beginning(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(_LARGEST)
    except OSError:
        return b""  # what cannot be read is not ours


def marked(text: str) -> str:
    """Return Markdown or HTML with a comment at its end, by which ``is_marked`` knows it again."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{text}<!-- written by Chapterhouse, SHA-256 {digest} -->\n"


def is_marked(data: bytes) -> bool:
    """Whether a file is as a command wrote it: what people changed is theirs."""
    mark = _MARK.search(data)
    return mark is not None and (
        hashlib.sha256(data[: mark.start()]).hexdigest().encode() == mark.group(1)
    )
