"""What of a home folder other users of the machine can look into, and closing it to them."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from chapterhouse.files import OTHERS
from chapterhouse.text.counting import counted
from chapterhouse.types import Check

_ENTER: Final = 0o011  # search permission of a folder, for the group or for everybody
_WRITE: Final = 0o022
_FIX: Final = "Close them to others: chapterhouse doctor --fix"
_SHOWN: Final = 3


def check_privacy(home: Path) -> Check:
    """Say what in ``home`` others can read or write; what lies in a closed folder they cannot.

    A home made beforehand whose folders and files are all closed shows nothing but their names,
    which are the same everywhere: that passes, with a hint.
    """
    reachable = [path for path in _inside(home, closed=False) if path.lstat().st_mode & OTHERS]
    if not reachable:
        return Check("privacy", passed=True, sentence="Only you can read the home folder.")
    if reachable == [home] and not home.lstat().st_mode & _WRITE:
        sentence = f"Other users can see what {home} holds, and read none of it."
        return Check("privacy", passed=True, sentence=sentence, hint=_FIX)
    shown = ", ".join(f"{path} ({path.lstat().st_mode & 0o777:04o})" for path in reachable[:_SHOWN])
    more = f" and {len(reachable) - _SHOWN} more" if len(reachable) > _SHOWN else ""
    return Check(
        "privacy",
        passed=False,
        sentence=f"Other users of this machine can look into: {shown}{more}.",
        hint=_FIX,
    )


def make_private(home: Path) -> Check:
    """Close everything in ``home`` to others; say how much that was, and what could not be."""
    closed, refused = 0, []
    for path in _inside(home, closed=True):
        mode = path.lstat().st_mode
        if not mode & OTHERS:
            continue
        try:
            path.chmod(mode & 0o777 & ~OTHERS)
        except OSError as error:
            refused.append(f"{path}: {error.strerror}")
        else:
            closed += 1
    text = counted(closed, "file or folder was", "files and folders were")
    sentence = f"{text} open to other users, and closed now."
    if refused:
        more = "; ".join(refused[:_SHOWN])
        sentence += f" {len(refused):,} could not be closed: {more}."
    hint = "They belong to somebody else, or their disk has no permissions." if refused else ""
    return Check("privacy", passed=not refused, sentence=sentence, hint=hint)


def _inside(home: Path, *, closed: bool) -> Iterator[Path]:
    """Yield a folder and what is in it, links left out; with ``closed`` also of closed folders."""
    yield home
    for name, folders, files in os.walk(home):
        folder = Path(name)
        if not closed and not folder.lstat().st_mode & _ENTER:
            folders.clear()
            continue
        yield from (path for n in (*folders, *files) if not (path := folder / n).is_symlink())
