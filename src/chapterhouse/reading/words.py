"""Words, counted alike wherever what a file shows is compared with what was read of it."""

import re
import unicodedata
from collections import Counter

from chapterhouse.text.sanitise import sanitise

_SINGLE = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"  # scripts without spaces: each character
WORD = re.compile(rf"[{_SINGLE}]|[^\W_{_SINGLE}]+")


def count(text: str) -> Counter[str]:
    """Count the words of a text."""
    return Counter(words(text))


def words(text: str) -> list[str]:
    """Return the words of a text: runs of letters and digits, case folded, compatibly composed.

    What cannot be seen parts no words, as it is not in the library's text.
    """
    return WORD.findall(unicodedata.normalize("NFKC", sanitise(text).text).casefold())
