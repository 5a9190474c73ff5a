"""The console of a command, and what is printed on it."""

import os
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from chapterhouse.interfaces.cli.options import common
from chapterhouse.loading import lazy
from chapterhouse.presenting.columns import shortened
from chapterhouse.presenting.styled import cut, one_line, shown, styled
from chapterhouse.presenting.terminal import draw

if TYPE_CHECKING:
    from rich import console as rich_console
    from rich.console import Console
else:
    rich_console = lazy("rich.console")


__all__ = ["cut", "draw", "one_line", "shortened", "shown", "styled"]


def console(*, stderr: bool = False) -> "Console":
    """Return a console that takes no markup and, off a terminal, never breaks a line.

    Rich leaves out all styles where the output is no terminal; of ``NO_COLOR`` it would make bold
    and dim text without colours, which takes escape sequences too.
    """
    made = rich_console.Console(
        stderr=stderr,
        markup=False,
        highlight=False,
        emoji=False,
        color_system=None if _is_plain() else "auto",
    )
    made.soft_wrap = not made.is_terminal
    return made


def say(target: "Console", *parts: str | tuple[str, str]) -> None:
    """Print plain parts and ``(text, style)`` pairs as one line, safe to show."""
    target.print(styled(*parts))


def moment(seconds: int) -> str:
    """Return seconds since 1970 as a time for people; empty for 0."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC" if seconds else ""


def can_redraw() -> bool:
    """Whether standard error is a terminal on which lines may be drawn over and over."""
    return is_watched() and not _is_plain()


def is_watched() -> bool:
    """Whether somebody at a terminal wants to see what is being done."""
    return sys.stderr.isatty() and not common().quiet


def _is_plain() -> bool:
    """Whether the user wants no escape sequences (https://no-color.org)."""
    return bool(os.environ.get("NO_COLOR"))
