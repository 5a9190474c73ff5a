"""The owner's key: a file in the home, so that who can read the home is known to its server."""

import re
import secrets
from pathlib import Path
from typing import Final

from chapterhouse.files import OTHERS, lock_folder, write_whole

NAME: Final = "owner.key"
_WAIT_SECONDS: Final = 10.0
_KEY: Final = re.compile(r"ch_owner_[A-Za-z0-9_-]{43}\n?", re.ASCII)


def read_owner_key(home: Path) -> str:
    """Return the owner's key; empty where no server has made one, or others could read it."""
    path = home / NAME
    try:
        text = "" if path.stat().st_mode & OTHERS else path.read_text("ascii", "replace")
    except OSError:
        return ""
    return text.strip() if _KEY.fullmatch(text) else ""


def make_owner_key(home: Path) -> str:
    """Return the owner's key, which is made where it is missing or others could read it.

    Raises:
        OSError: it cannot be written.
    """
    with lock_folder(home, wait_seconds=_WAIT_SECONDS):  # servers that start at once share it
        found = read_owner_key(home)
        if not found:
            found = f"ch_owner_{secrets.token_urlsafe(32)}"
            write_whole(home / NAME, f"{found}\n")
        return found
