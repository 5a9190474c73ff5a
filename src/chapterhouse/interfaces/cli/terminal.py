"""Text on a terminal: nothing that a document says may steer it."""

import os
import sys
from collections.abc import Collection, Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from chapterhouse.interfaces.cli.options import common
from chapterhouse.presenting.terminal import indented, one_line, shown, styled

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text


_NARROWEST: Final = 8  # cells of a column
_WIDTH: Final = 120  # cells of a table off a terminal

__all__ = ["can_redraw", "columns", "console", "indented", "one_line", "shown", "styled"]


def console(*, stderr: bool = False) -> "Console":
    """Return a console that takes no markup and, off a terminal, never breaks a line.

    Rich leaves out all styles where the output is no terminal; of ``NO_COLOR`` it would make bold
    and dim text without colours, which takes escape sequences too.
    """
    from rich.console import Console  # noqa: PLC0415 - heavy, and --help needs none of it

    made = Console(
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
    from rich.cells import cell_len  # noqa: PLC0415 - as above

    safe = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(cell_len(row[column]) for row in safe) for column in range(len(safe[0]))]
    wrapped = wrap or not header
    if header or target.is_terminal:
        total = target.width if target.is_terminal else _WIDTH
        widths = _fit(widths, total - 2 * (len(widths) - 1), whole)
    for number, row in enumerate(safe):
        style = "bold" if header and number == 0 else ""
        for line in _lines(target, row, widths, wrap=wrapped):
            _print_line(target, styled((line, style)))
        if number < len(below) and below[number]:
            indented(target, one_line(below[number]))


def shorten(text: str, width: int) -> str:
    """Return text in at most ``width`` cells, at least 1; “…” stands for what was in its middle."""
    from rich.cells import cell_len, set_cell_size  # noqa: PLC0415 - as above

    if cell_len(text) <= width:
        return text
    end = set_cell_size(text[::-1], (width - 1) // 2)[::-1].strip()
    return f"{set_cell_size(text, width - 1 - cell_len(end)).strip()}…{end}"


def _print_line(target: "Console", line: "Text") -> None:
    target.print(line, no_wrap=True, overflow="ignore", crop=False)


def _lines(
    target: "Console", row: Sequence[str], widths: Sequence[int], *, wrap: bool
) -> Iterator[str]:
    """Yield the lines of a row: one, or as many as its longest cell needs."""
    from rich.cells import cell_len  # noqa: PLC0415 - as above

    parts = [
        [line.plain.rstrip() for line in styled(cell).wrap(target, width)]
        if wrap and cell_len(cell) > width
        else [shorten(cell, width)]
        for cell, width in zip(row, widths, strict=True)
    ]
    for cells in zip_longest(*parts, fillvalue=""):
        filled = (
            cell + " " * (width - cell_len(cell)) for cell, width in zip(cells, widths, strict=True)
        )
        yield "  ".join(filled).rstrip()


def _fit(widths: Sequence[int], total: int, whole: Collection[int]) -> list[int]:
    """Return widths that fit into ``total``; whole columns keep theirs if the others can shrink."""
    taken = sum(widths[number] for number in whole)
    others = [number for number in range(len(widths)) if number not in whole]
    if total - taken < _NARROWEST * len(others):
        return _narrow(widths, total)
    fitted = list(widths)
    narrowed = _narrow([widths[number] for number in others], total - taken)
    for number, width in zip(others, narrowed, strict=True):
        fitted[number] = width
    return fitted


def _narrow(widths: Sequence[int], total: int) -> list[int]:
    """Return widths that fit together into ``total``: the widest give way, none below a minimum."""
    narrowed = list(widths)
    while sum(narrowed) > total and max(narrowed) > _NARROWEST:
        widest = max(narrowed)
        next_ = max((width for width in narrowed if width < widest), default=_NARROWEST)
        number = narrowed.count(widest)
        excess = -(-(sum(narrowed) - total) // number)  # of each, rounded up
        cut = max(widest - excess, next_, _NARROWEST)
        narrowed = [cut if width == widest else width for width in narrowed]
    return narrowed
