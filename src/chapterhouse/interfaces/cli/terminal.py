"""Text on a terminal: nothing that a document says may steer it."""

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from chapterhouse.interfaces.cli.options import QUIET
from chapterhouse.presenting.terminal import indented, one_line, shown, styled

if TYPE_CHECKING:
    from rich.console import Console

_NARROWEST: Final = 8  # cells of a column

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
    """Print rows in aligned columns; wide characters count as two cells.

    On a terminal the widest columns are cut to its width, with “…” where something is left out.
    """
    from rich.cells import cell_len, set_cell_size  # noqa: PLC0415 - see options

    safe = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(cell_len(row[column]) for row in safe) for column in range(len(safe[0]))]
    if target.is_terminal:
        widths = _narrowed(widths, target.width - 2 * (len(widths) - 1))
        safe = [
            [
                cell if cell_len(cell) <= width else f"{set_cell_size(cell, width - 1)}…"
                for cell, width in zip(row, widths, strict=True)
            ]
            for row in safe
        ]
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


def _narrowed(widths: Sequence[int], room: int) -> list[int]:
    """Return widths that fit together into ``room``: the widest give way, none below a minimum."""
    narrowed = list(widths)
    while sum(narrowed) > room and max(narrowed) > _NARROWEST:
        widest = max(narrowed)
        next_ = max((width for width in narrowed if width < widest), default=_NARROWEST)
        number = narrowed.count(widest)
        excess = -(-(sum(narrowed) - room) // number)  # of each, rounded up
        cut = max(widest - excess, next_, _NARROWEST)
        narrowed = [cut if width == widest else width for width in narrowed]
    return narrowed
