"""A language model that says what it was told to: for tests, demonstrations and dry runs."""

import threading
from collections.abc import Callable, Sequence

from chapterhouse.errors import EngineError


class ScriptedModel:
    """Answers from a list, in turn, or from a function. Remembers what it was asked."""

    def __init__(self, script: Sequence[str] | Callable[[str, str], str]) -> None:
        """Take the script.

        Args:
            script: The answers in their order, or what makes one of instructions and prompt.
        """
        self._script = script
        self._lock = threading.Lock()
        self.asked: list[tuple[str, str]] = []

    @property
    def fingerprint(self) -> str:
        """Say that it is scripted."""
        return "scripted"

    def complete(self, instructions: str, prompt: str) -> str:
        """Return the next answer.

        Raises:
            EngineError: the script is at its end.
        """
        with self._lock:
            number = len(self.asked)
            self.asked.append((instructions, prompt))
        if callable(self._script):
            return self._script(instructions, prompt)
        if number >= len(self._script):
            raise EngineError(f"The script of the language model ends after {number} answers.")
        return self._script[number]
