"""Groups of letters, by which words resemble each other that are not the same."""

import unicodedata
from functools import lru_cache
from typing import Final

from chapterhouse.text.language import script_language

_GROUP: Final = 4  # letters; one in Chinese and Japanese
_EDGE: Final = ".,;:!?()[]"


@lru_cache(maxsize=4096)
def letter_groups(text: str) -> frozenset[str]:
    """Return the groups of four letters of a text's words, shorter words whole; Chinese letters."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    if script_language(folded):
        return frozenset(character for character in folded if character.isalnum())
    found: set[str] = set()
    for word in folded.split():
        plain = f" {word.strip(_EDGE)}"
        found.update(plain[at : at + _GROUP] for at in range(max(1, len(plain) - _GROUP + 1)))
    return frozenset(found)
