"""The user's own editor."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

from chapterhouse.errors import ChapterhouseError, UsageError


def open_editor(path: Path, *, may_ask: bool) -> None:
    """Let the user's editor open ``path`` and wait for it.

    Raises:
        UsageError: there is no terminal, or no editor.
        ChapterhouseError: the editor failed.
    """
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    if not may_ask or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            "An editor needs a terminal.",
            hint=f"Open {path} yourself, or use --set KEY=VALUE for the configuration.",
        )
    if not named:
        raise UsageError("EDITOR is not set.", hint=f"Set it, or open {path} yourself.")
    command = [*shlex.split(named), str(path)]
    try:
        code = subprocess.run(command, check=False).returncode  # noqa: S603 - the user's own editor
    except OSError as error:
        raise ChapterhouseError(
            f"The editor {named!r} does not start: {error.strerror}.", hint="Look at EDITOR."
        ) from None
    if code:
        raise ChapterhouseError(f"The editor {named!r} ended with {code}.", hint="Look at EDITOR.")
