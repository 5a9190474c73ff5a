"""Files that are written whole or not at all."""

import os
from pathlib import Path

from chapterhouse.errors import UsageError


def require_writable(path: Path) -> None:
    """Refuse a place that cannot be written, before the work whose result should go there.

    Raises:
        UsageError: it is a folder, or its folder is not there or may not be written.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder.", hint="Name the file to write.")
    if not path.parent.is_dir():
        raise UsageError(
            f"The folder {path.parent} is not there, so {path.name} cannot be written.",
            hint="Make the folder first, or name another place.",
        )
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(f"{path} cannot be written.", hint="Look at the permissions.")


def read_text(path: Path) -> str:
    """Return the text of a file in UTF-8, with or without a byte order mark.

    Raises:
        UsageError: it cannot be read, or is no text; the message names the file.
    """
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path} is not text in UTF-8 (byte {error.start:,}).", hint="Save it as UTF-8."
        ) from None
    except IsADirectoryError:
        raise UsageError(f"{path} is a folder.", hint="Name a file.") from None
    except FileNotFoundError:
        raise UsageError(f"There is no file {path}.", hint="Is the name right?") from None
