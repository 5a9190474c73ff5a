"""An answer shown while a model writes it: each sentence is checked as soon as it is whole."""

import time
from collections.abc import Callable
from typing import Final

from chapterhouse.types import Draft

OnDraft = Callable[[Draft], None]
OnText = Callable[[str], None]
_PAUSE: Final = 9  # times as long as the last draft took, before the next: a tenth of the time


def drafts(on_draft: OnDraft | None, check: Callable[[str], Draft]) -> OnText | None:
    """Return a receiver of pieces of text that passes on drafts of all that came so far.

    None where nobody wants them.

    Args:
        on_draft: Is given the drafts. Not each piece makes one: a long text is checked again and
            again, and whoever writes it must not wait for that.
        check: Makes a draft of a text.
    """
    return _Drafts(on_draft, check) if on_draft else None


class _Drafts:
    """Gathers the pieces of one text."""

    def __init__(self, on_draft: OnDraft, check: Callable[[str], Draft]) -> None:
        self._on_draft = on_draft
        self._check = check
        self._text = ""
        self._next = 0.0

    def __call__(self, piece: str) -> None:
        self._text += piece
        began = time.monotonic()
        if began >= self._next:
            self._on_draft(self._check(self._text))
            ended = time.monotonic()
            self._next = ended + _PAUSE * (ended - began)
