"""What a model thinks aloud before it writes, kept apart from what it writes."""

import re
from enum import Enum, auto
from typing import Final

from chapterhouse.text.sanitise import sanitise

# How models mark it where the service leaves it in the text: DeepSeek and Qwen, and others.
_NAMES: Final = ("think", "thinking", "thought", "reasoning")
_OPENINGS: Final = tuple(f"<{name}>" for name in _NAMES)
_CLOSING: Final = re.compile(rf"</(?:{'|'.join(_NAMES)})>")


class _Phase(Enum):
    BEFORE = auto()  # nothing yet but white space, or the beginning of a mark
    THINKING = auto()
    WRITING = auto()


class Thoughts:
    """Takes a response piece by piece and gives back what is meant for the reader.

    Thoughts stand at the beginning of a response, between marks; later on the marks are text.

    Attributes:
        found: Whether there were any.
    """

    def __init__(self) -> None:
        self._phase = _Phase.BEFORE
        self._held = ""
        self._closing = ""
        self._written: list[str] = []
        self.found = False

    def feed(self, piece: str) -> str:
        """Take the next piece; return what the reader may see of it and of what was held back."""
        self._held += piece
        shown = ""
        while self._held:
            before = self._phase, self._held
            if self._phase is _Phase.BEFORE:
                self._begin()
            elif self._phase is _Phase.THINKING:
                self._think()
            else:
                # A carriage return waits for the line feed that may follow it.
                kept = len(self._held) - self._held.endswith("\r")
                shown, self._held = shown + self._held[:kept], self._held[kept:]
            if (self._phase, self._held) == before:
                break
        return self._keep(shown)

    def finish(self) -> str:
        """Return what was held back and is text after all."""
        held, self._held = self._held, ""
        return self._keep("" if self._phase is _Phase.THINKING else held)

    def text(self, *, thinks_first: bool = False) -> str:
        """Return everything that is meant for the reader.

        Args:
            thinks_first: Whether the model is known to think first, so that the end of thoughts
                whose beginning the service has swallowed is taken for one.
        """
        written = "".join(self._written)
        if thinks_first:
            written = _CLOSING.split(written)[-1]
        return written.strip()

    def _begin(self) -> None:
        text = self._held.lstrip()
        opening = next((mark for mark in _OPENINGS if text.startswith(mark)), None)
        if opening:
            self.found = True
            self._phase, self._closing = _Phase.THINKING, opening.replace("<", "</")
            self._held = text[len(opening) :]
        elif text and not any(mark.startswith(text) for mark in _OPENINGS):
            self._phase, self._held = _Phase.WRITING, text

    def _think(self) -> None:
        thought, found, rest = self._held.partition(self._closing)
        if found:
            self._phase, self._held = _Phase.BEFORE, rest
        else:  # keep only what may be the beginning of the mark
            self._held = thought[-len(self._closing) + 1 :]

    def _keep(self, shown: str) -> str:
        clean = sanitise(shown).text
        if clean:
            self._written.append(clean)
        return clean
