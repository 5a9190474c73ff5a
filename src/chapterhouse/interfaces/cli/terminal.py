"""Text on a terminal: nothing that a document says may steer it."""

import os
import sys
from collections.abc import Collection, Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from chapterhouse.interfaces.cli.options import common
from chapterhouse.loading import lazy
from chapterhouse.presenting.terminal import indented, one_line, shown, styled

if TYPE_CHECKING:
    from rich import cells
    from rich import console as rich_console
    from rich.console import Console
    from rich.text import Text
else:
    cells = lazy("rich.cells")
    rich_console = lazy("rich.console")


_NARROWEST: Final = 8  # cells of a column
_WIDTH: Final = 120  # cells of a table off a terminal

__all__ = ["can_redraw", "columns", "console", "indented", "one_line", "shown", "styled"]


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


def can_redraw() -> bool:
    """Whether standard error is a terminal on which lines may be drawn over and over."""
    return is_watched() and not _is_plain()


def is_watched() -> bool:
    """Whether somebody at a terminal wants to see what is being done."""
    return sys.stderr.isatty() and not common().quiet


def _is_plain() -> bool:
    """Whether the user wants no escape sequences (https://no-color.org)."""
    return bool(os.environ.get("NO_COLOR"))


def columns(
    target: "Console",
    rows: Sequence[Sequence[str]],
    *,
    header: bool = True,
    whole: Collection[int] = (),
    below: Sequence[str] = (),
    wrap: bool = False,
) -> None:
    """Print rows in aligned columns; wide characters count as two cells.

    They fit the width of the terminal, elsewhere 120 cells: the widest cells are shortened in the
    middle. Without a header the last column of two is wrapped instead, on a terminal alone.

    Args:
        target: Where they are printed.
        rows: Rows of as many cells each.
        header: Whether the first row names the columns.
        whole: Numbers of columns that are not shortened, such as names to be copied.
        below: For each row what stands under it, indented; or empty.
        wrap: Whether long cells are wrapped rather than shortened.
    """
    safe = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(cells.cell_len(row[column]) for row in safe) for column in range(len(safe[0]))]
    wrapped = wrap or not header
    if header or target.is_terminal:
        room = target.width if target.is_terminal else _WIDTH
        widths = _fitted(widths, room - 2 * (len(widths) - 1), whole)
    for number, row in enumerate(safe):
        style = "bold" if header and number == 0 else ""
        for line in _lines(target, row, widths, wrap=wrapped):
            _print_line(target, styled((line, style)))
        if number < len(below) and below[number]:
            indented(target, one_line(below[number]))


def shortened(text: str, width: int) -> str:
    """Return text in at most ``width`` cells, at least 1; “…” stands for what was in its middle."""
    if cells.cell_len(text) <= width:
        return text
    end = cells.set_cell_size(text[::-1], (width - 1) // 2)[::-1].strip()
    return f"{cells.set_cell_size(text, width - 1 - cells.cell_len(end)).strip()}…{end}"


def _print_line(target: "Console", line: "Text") -> None:
    target.print(line, no_wrap=True, overflow="ignore", crop=False)


def _lines(
    target: "Console", row: Sequence[str], widths: Sequence[int], *, wrap: bool
) -> Iterator[str]:
    """Yield the lines of a row: one, or as many as its longest cell needs."""
    parts = [
        [line.plain.rstrip() for line in styled(cell).wrap(target, width)]
        if wrap and cells.cell_len(cell) > width
        else [shortened(cell, width)]
        for cell, width in zip(row, widths, strict=True)
    ]
    for line in zip_longest(*parts, fillvalue=""):
        filled = (
            cell + " " * (width - cells.cell_len(cell))
            for cell, width in zip(line, widths, strict=True)
        )
        yield "  ".join(filled).rstrip()


def _fitted(widths: Sequence[int], room: int, whole: Collection[int]) -> list[int]:
    """Return widths that fit into ``room``; those of whole columns stay if the others have room."""
    taken = sum(widths[number] for number in whole)
    others = [number for number in range(len(widths)) if number not in whole]
    if room - taken < _NARROWEST * len(others):
        return _narrowed(widths, room)
    fitted = list(widths)
    narrowed = _narrowed([widths[number] for number in others], room - taken)
    for number, width in zip(others, narrowed, strict=True):
        fitted[number] = width
    return fitted


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
