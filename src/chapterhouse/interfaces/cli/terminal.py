"""Text on a terminal: nothing that a document says may steer it."""

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from chapterhouse.interfaces.cli.options import QUIET
from chapterhouse.presenting.terminal import indented, one_line, shown, styled

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["can_redraw", "columns", "console", "indented", "one_line", "shown", "styled"]


def console(*, stderr: bool = False) -> "Console":
    """Return a console that takes no markup and, off a terminal, never breaks a line.

    Rich leaves out all styles where the output is no terminal; of ``NO_COLOR`` it would make bold
    and dim text without colours, which takes escape sequences too.
    """
    from rich.console import Console  # noqa: PLC0415 - see options

    made = Console(
        stderr=stderr,
        markup=False,
        highlight=False,
        emoji=False,
        color_system=None if _is_plain() else "auto",
    )
    made.soft_wrap = not made.is_terminal
    return made


def can_redraw() -> bool:
    """Whether standard error is a terminal on which lines may be drawn over and over."""
    return is_watched() and not _is_plain()


def is_watched() -> bool:
    """Whether somebody at a terminal wants to see what is being done."""
    return sys.stderr.isatty() and not QUIET.get()


def _is_plain() -> bool:
    """Whether the user wants no escape sequences (https://no-color.org)."""
    return bool(os.environ.get("NO_COLOR"))


def columns(target: "Console", rows: Sequence[Sequence[str]], *, header: bool = True) -> None:
    """Print rows in aligned columns; wide characters count as two cells."""
    from rich.cells import cell_len  # noqa: PLC0415 - see options

    safe = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(cell_len(row[column]) for row in safe) for column in range(len(safe[0]))]
    for number, row in enumerate(safe):
        cells = [
            cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)
        ]
        line = "  ".join(cells).rstrip()
        target.print(
            styled((line, "bold") if header and number == 0 else line),
            no_wrap=True,
            overflow="ignore",
            crop=False,
        )
