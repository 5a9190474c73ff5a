"""Show a file that was read in the system's own viewer.

Only formats that viewers show: what a document holds is never run, so no script, no web page and
no launcher is opened; and only the very bytes that were read.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from chapterhouse.text.naming import system_path
from chapterhouse.types import Document

_TEXTS: Final = (".txt", ".md", ".rst", ".pdf", ".docx", ".odt", ".rtf", ".epub")
_OTHERS: Final = (".pptx", ".odp", ".xlsx", ".ods", ".png", ".jpg", ".jpeg", ".tif", ".tiff")
# Viewers that go to the page of ``file://…#page=N`` (RFC 8118, section 3).
_KNOW_PAGES: Final = ("firefox", "chromium", "google-chrome", "brave", "microsoft-edge", "okular")
_SECONDS: Final = 5.0  # until the system says which viewer it would take


def original_of(document: Document) -> Path | None:
    """Return the file that a document was read from, where it is still the same and can be shown.

    Raises:
        OSError: it is there and cannot be read.
    """
    path = Path(system_path(document.location))
    if (
        not path.is_absolute()
        or path.suffix.lower() not in (*_TEXTS, *_OTHERS)
        or not path.is_file()
    ):
        return None
    with path.open("rb") as stream:
        same = hashlib.file_digest(stream, "sha256").hexdigest() == document.sha256
    return path if same else None


def viewer_command(path: Path, page: int | None) -> tuple[str, ...]:
    """Return the command that shows a file, at a page where the viewer can; empty without one."""
    if sys.platform == "darwin":
        opener = shutil.which("open")
        return (opener, str(path)) if opener else ()
    opener = shutil.which("xdg-open")
    if not opener or not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return ()  # without a screen it would take a program of the terminal
    if page and path.suffix.lower() == ".pdf" and _knows_pages():
        return opener, f"{path.as_uri()}#page={page}"
    return opener, str(path)


def start(command: tuple[str, ...]) -> bool:
    """Start a viewer and leave it to itself; whether it could be started."""
    null = subprocess.DEVNULL
    try:
        subprocess.Popen(  # noqa: S603 - the system's opener with one file, no shell
            command, stdin=null, stdout=null, stderr=null, start_new_session=True
        )
    except OSError:
        return False
    return True


def _knows_pages() -> bool:
    asked = shutil.which("xdg-mime")
    if not asked:
        return False
    try:
        done = subprocess.run(  # noqa: S603 - a fixed question to the system
            (asked, "query", "default", "application/pdf"),
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return any(name in done.stdout.lower() for name in _KNOW_PAGES)
