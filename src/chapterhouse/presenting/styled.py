"""Text on a terminal, in lines and in columns: nothing that a document says may steer it."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from chapterhouse import lazy
from chapterhouse.presenting.blocks import Columns
from chapterhouse.text.sanitise import INVISIBLE_RANGES

if TYPE_CHECKING:
    from rich import cells, padding
    from rich import text as rich_text
    from rich.console import Console
    from rich.text import Text
else:
    padding = lazy("rich.padding")
    rich_text = lazy("rich.text")
    cells = lazy("rich.cells")


# Escape sequences begin with ESC or a C1 control; direction overrides reorder what is shown.
_HIDDEN: Final = re.compile(
    "["
    + "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in INVISIBLE_RANGES)
    + "\u2028\u2029]"
)


def shown(text: str) -> str:
    r"""Spell out every character that is invisible or steers a terminal, as ``\x1b``.

    Stored text holds none of them; file names, error messages and paths may.
    """
    return _HIDDEN.sub(lambda match: _spelt(match.group()), text)


def one_line(text: str) -> str:
    """Return ``text`` as ``shown``, on one line."""
    return shown(" ".join(text.split()))


def cut(text: str, most: int) -> str:
    """Return ``text`` as ``one_line``, of at most so many characters."""
    line = one_line(text)
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _spelt(character: str) -> str:
    number = ord(character)
    if number <= 0xFF:  # noqa: PLR2004 - what \x can spell
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"  # noqa: PLR2004 - \u


def styled(*parts: str | tuple[str, str]) -> "Text":
    """Join plain parts and ``(text, style)`` pairs; every part is made safe to show."""
    safe = [shown(part) if isinstance(part, str) else (shown(part[0]), part[1]) for part in parts]
    return rich_text.Text.assemble(*safe)


def indented(target: "Console", text: "Text | str", by: int = 4) -> None:
    """Print every line of ``text`` moved to the right; on a terminal long lines wrap there."""
    words = styled(text) if isinstance(text, str) else text
    if not by:
        target.print(words)
    elif target.is_terminal:
        target.print(padding.Padding(words, (0, 0, 0, by)))
    else:
        for line in words.split("\n"):
            target.print(styled(" " * by + line.plain if line.plain.strip() else ""))


_NARROWEST: Final = 8  # cells of a column
_WIDTH: Final = 120  # cells of a table off a terminal


def columns(target: "Console", block: Columns) -> None:
    """Print rows in aligned columns; wide characters count as two cells.

    They fit the width of the terminal, elsewhere 120 cells: the widest cells are shortened in the
    middle. Without a header the last column of two is wrapped instead, on a terminal alone.
    """
    safe = [[one_line(cell) for cell in row] for row in block.rows]
    widths = [max(cells.cell_len(row[column]) for row in safe) for column in range(len(safe[0]))]
    if block.header or target.is_terminal:
        width = target.width if target.is_terminal else _WIDTH
        widths = _fitted(widths, width - 2 * (len(widths) - 1), block.whole)
    for number, row in enumerate(safe):
        style = "bold" if block.header and number == 0 else ""
        for line in _lines(target, row, widths, wrap=block.wrap or not block.header):
            _print_line(target, styled((line, style)))
        if number < len(block.below) and block.below[number]:
            indented(target, one_line(block.below[number]))


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


def _fitted(widths: Sequence[int], available: int, whole: Collection[int]) -> list[int]:
    """Return widths that fit into ``available``; whole columns keep theirs if they can."""
    taken = sum(widths[number] for number in whole)
    others = [number for number in range(len(widths)) if number not in whole]
    if available - taken < _NARROWEST * len(others):
        return _narrowed(widths, available)
    fitted = list(widths)
    narrowed = _narrowed([widths[number] for number in others], available - taken)
    for number, width in zip(others, narrowed, strict=True):
        fitted[number] = width
    return fitted


def _narrowed(widths: Sequence[int], width: int) -> list[int]:
    """Return widths that fit together into ``width``: the widest give way, none below a minimum."""
    narrowed = list(widths)
    while sum(narrowed) > width and max(narrowed) > _NARROWEST:
        widest = max(narrowed)
        next_ = max((width for width in narrowed if width < widest), default=_NARROWEST)
        number = narrowed.count(widest)
        excess = -(-(sum(narrowed) - width) // number)  # of each, rounded up
        cut = max(widest - excess, next_, _NARROWEST)
        narrowed = [cut if width == widest else width for width in narrowed]
    return narrowed
