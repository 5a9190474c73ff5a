"""What a model thinks, kept apart from what it writes."""

import re
from typing import Final

from chapterhouse.text.sanitise import sanitise

# How models mark it where the service leaves it in the text: DeepSeek, Qwen, Gemini and others.
_NAMES: Final = ("think", "thinking", "thought", "reasoning")
_OPENINGS: Final = tuple(f"<{name}>" for name in _NAMES)
_CLOSING: Final = re.compile(rf"</(?:{'|'.join(_NAMES)})>")


class Thoughts:
    """Takes a response piece by piece and gives back what is meant for the reader.

    Thoughts stand at the beginning of a response, between marks; later on the marks are text.
    """

    def __init__(self) -> None:
        self._held = ""  # what may be a mark, or the beginning of one
        self._closing = ""  # the mark at the end of the thought that is being read
        self._writing = False
        self._written: list[str] = []

    def feed(self, piece: str) -> str:
        """Take the next piece; return what the reader may see of it and of what was held back."""
        self._held += piece
        while not self._writing:
            if self._closing:
                _, found, rest = self._held.partition(self._closing)
                self._held = rest if found else self._held[1 - len(self._closing) :]
                self._closing = "" if found else self._closing
            if self._closing:
                return ""
            text = self._held.lstrip()
            opening = next((mark for mark in _OPENINGS if text.startswith(mark)), "")
            if opening:
                self._held, self._closing = text[len(opening) :], opening.replace("<", "</")
            elif any(mark.startswith(text) for mark in _OPENINGS):
                return ""
            else:
                self._held, self._writing = text, True
        # A carriage return waits for the line feed that may follow it.
        ready = len(self._held) - self._held.endswith("\r")
        shown, self._held = self._held[:ready], self._held[ready:]
        return self._append(shown)

    def finish(self) -> str:
        """Return what was held back and is text after all."""
        held, self._held = self._held, ""
        return self._append("" if self._closing else held)

    def text(self, *, thinks_first: bool = False) -> str:
        """Return everything that is meant for the reader.

        Args:
            thinks_first: Whether the model is known to think first, so that the end of thoughts
                whose beginning the service has swallowed is taken for one.
        """
        written = "".join(self._written)
        return (_CLOSING.split(written)[-1] if thinks_first else written).strip()

    def _append(self, shown: str) -> str:
        clean = sanitise(shown).text
        self._written.append(clean)
        return clean
