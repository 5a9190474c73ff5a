"""A model's text as it comes, without what has not been checked: its citations."""

from collections.abc import Callable
from typing import Final

from chapterhouse.text.sanitise import sanitise

_LONGEST: Final = 500  # characters withheld while a bracket is open
_BRACKETS: Final = {"[": "]", "【": "】", "〔": "〕", "［": "］"}
_ROUND: Final = str.maketrans(dict.fromkeys(_BRACKETS, "("))


def without_marks(on_text: Callable[[str], None]) -> Callable[[str], None]:
    """Return a receiver of pieces of text that passes them on without anything in brackets.

    A bracket that is not closed within 500 characters was none, and its text is passed on.
    """
    return _Filter(on_text)


class _Filter:
    """Withholds text from an opening bracket to the closing one, over the borders of pieces."""

    def __init__(self, on_text: Callable[[str], None]) -> None:
        self._on_text = on_text
        self._withheld = ""

    def __call__(self, piece: str) -> None:
        passed: list[str] = []
        for character in sanitise(piece).text:
            if self._withheld:
                self._withheld += character
                if character == _BRACKETS[self._withheld[0]]:
                    self._withheld = ""
                elif len(self._withheld) > _LONGEST:
                    passed.append(self._withheld.translate(_ROUND))
                    self._withheld = ""
            elif character in _BRACKETS:
                self._withheld = character
            else:
                passed.append(character)
        if passed:
            self._on_text("".join(passed))
