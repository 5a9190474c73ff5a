"""Text on a terminal: nothing that a document says may steer it."""

import re
from typing import TYPE_CHECKING, Final

from chapterhouse.loading import lazy
from chapterhouse.text.sanitise import INVISIBLE_RANGES

if TYPE_CHECKING:
    from rich import padding
    from rich import text as rich_text
    from rich.console import Console
    from rich.text import Text
else:
    padding = lazy("rich.padding")
    rich_text = lazy("rich.text")

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
