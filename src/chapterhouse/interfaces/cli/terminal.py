"""Text on a terminal: nothing that a document says may steer it."""

import os
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from chapterhouse.text.sanitise import INVISIBLE_RANGES

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

# Escape sequences begin with ESC or a C1 control; direction overrides reorder what is shown.
_HIDDEN = re.compile(
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


def _spelt(character: str) -> str:
    number = ord(character)
    if number <= 0xFF:  # noqa: PLR2004 - what \x can spell
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"  # noqa: PLR2004 - \u


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
    return sys.stderr.isatty() and not _is_plain()


def _is_plain() -> bool:
    """Whether the user wants no escape sequences (https://no-color.org)."""
    return bool(os.environ.get("NO_COLOR"))


def styled(*parts: str | tuple[str, str]) -> "Text":
    """Join plain parts and ``(text, style)`` pairs; every part is made safe to show."""
    from rich.text import Text  # noqa: PLC0415 - see options

    safe = [shown(part) if isinstance(part, str) else (shown(part[0]), part[1]) for part in parts]
    return Text.assemble(*safe)


def indented(target: "Console", text: "Text | str", by: int = 4) -> None:
    """Print every line of ``text`` moved to the right; on a terminal long lines wrap there."""
    from rich.padding import Padding  # noqa: PLC0415 - see options

    words = styled(text) if isinstance(text, str) else text
    if target.is_terminal:
        target.print(Padding(words, (0, 0, 0, by)))
    else:
        for line in words.split("\n"):
            target.print(styled(" " * by + line.plain if line.plain.strip() else ""))


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
