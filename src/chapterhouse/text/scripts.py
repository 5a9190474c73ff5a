"""Scripts that divide no words by spaces: their ranges, and what stands in for words there.

The ranges are parts of character classes of regular expressions.
"""

import unicodedata
from functools import lru_cache
from typing import Final

from chapterhouse.loading import lazy_pattern

KANA: Final = "\u3040-\u30ff"
HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # in the index: further ones are rare names
HANGUL: Final = "\uac00-\ud7af"
EAST_ASIAN: Final = KANA + HAN + HANGUL
WIDE_MARKS: Final = "\u3000-\u303f\uff00-\uffef"  # punctuation, full and half width forms
_HAN_BEYOND: Final = "\U00020000-\U0003ffff"

_EAST: Final = lazy_pattern(f"[{EAST_ASIAN}{_HAN_BEYOND}]")
_HAN: Final = lazy_pattern(f"[{HAN}{_HAN_BEYOND}]")
_KANA: Final = lazy_pattern(f"[{KANA}]")
_HANGUL: Final = lazy_pattern(f"[{HANGUL}\u1100-\u11ff]")
# Other scripts whose words are not divided by spaces.
_UNSPACED: Final = {
    "th": lazy_pattern("[\u0e00-\u0e7f]"),
    "lo": lazy_pattern("[\u0e80-\u0eff]"),
    "my": lazy_pattern("[\u1000-\u109f]"),
    "km": lazy_pattern("[\u1780-\u17ff]"),
}
_SHARE: Final = 0.2  # of the characters of a text that make it one of these
_GROUP: Final = 4  # letters; one in Chinese and Japanese
_EDGE: Final = ".,;:!?()[]"


def east_asian_letters(text: str) -> int:
    """Return how many letters of a text are Chinese, Japanese or Korean."""
    return 0 if text.isascii() else len(_EAST.findall(text))


def script_language(text: str) -> str:
    """Return the language of a text whose script divides no words by spaces, else nothing.

    These are zh, ja, ko (whose words are divided, but long), th, lo, my and km.
    """
    if text.isascii():
        return ""
    least = _SHARE * len(text)
    kana, hangul, han = (len(script.findall(text)) for script in (_KANA, _HANGUL, _HAN))
    if kana + hangul + han < least:
        return next((n for n, own in _UNSPACED.items() if len(own.findall(text)) >= least), "")
    if hangul > kana + han:
        return "ko"
    return "ja" if kana * 10 > han else "zh"


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
