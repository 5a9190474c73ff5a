"""Scripts, above all those that divide no words by spaces; and how many.

Numbers with their nouns, words, and how many tokens a text costs a model. Without the model's own
tokenizer this is an estimate: a weighted sum of counts by kind of character, fitted against that of
Llama 2, with median errors of 3 to 11 % by kind of text (``benchmarks/tokens.py`` of 61fb8f7d).
"""

import math
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from chapterhouse import lazy_pattern
from chapterhouse.types import Range

# --- scripts ------------------------------------------------------------------------------------

# Their ranges are parts of character classes of regular expressions.
KANA: Final = "\u3040-\u30ff"
HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # in the index: further ones are rare names
HANGUL: Final = "\uac00-\ud7af"
EAST_ASIAN: Final = KANA + HAN + HANGUL
WIDE_MARKS: Final = "\u3000-\u303f\uff00-\uffef"  # punctuation, full and half width forms
_HAN_BEYOND: Final = "\U00020000-\U0003ffff"

_EAST_LETTER: Final = lazy_pattern(f"[{EAST_ASIAN}{_HAN_BEYOND}]")
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
    return 0 if text.isascii() else len(_EAST_LETTER.findall(text))


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


# --- counting -----------------------------------------------------------------------------------

KINDS: Final = (
    "word",
    "letter of a word beyond its fifth",
    "digit",
    "mark",
    "line end",
    "run of spaces",
    "East Asian character",
    "other character",
)
_WEIGHTS: Final = (1.002, 0.210, 1.359, 0.881, 0.674, 1.094, 1.497, 1.313)
_WORDS = re.compile(r"[A-Za-z]+")
_MARKS = re.compile(r"[!-/:-@\[-`{-~]")
_DIGITS = re.compile(r"[0-9]")
_SPACES = re.compile(r"[ \t]{2,}")
_EAST = lazy_pattern(f"[{EAST_ASIAN}{WIDE_MARKS}]")
_FOREIGN = re.compile(r"[^\x00-\x7f]")
_SHORT = 5
_SPACED = lazy_pattern(rf"[{KANA}{HAN}]{{1,2}}|[^\s{KANA}{HAN}]+")


def count_kinds(text: str) -> Sequence[int]:
    """Count what ``text`` consists of, in the order of ``KINDS``."""
    words = _WORDS.findall(text)
    foreign = 0 if text.isascii() else len(_FOREIGN.findall(text))
    east = len(_EAST.findall(text)) if foreign else 0
    return (
        len(words),
        sum(len(word) - _SHORT for word in words if len(word) > _SHORT),
        len(_DIGITS.findall(text)),
        len(_MARKS.findall(text)),
        text.count("\n"),
        len(_SPACES.findall(text)),
        east,
        foreign - east,
    )


def estimate_tokens(text: str) -> int:
    """Return about the number of tokens in ``text``, rounded up; 0 for an empty text."""
    return math.ceil(sum(w * n for w, n in zip(_WEIGHTS, count_kinds(text), strict=True)))


def word_spans(text: str, start: int = 0, end: int | None = None) -> list[Range]:
    """Return where the words of a text stand; two letters of Chinese or Japanese are one."""
    end = len(text) if end is None else end
    return [match.span() for match in _SPACED.finditer(text, start, end)]


def count_words(text: str) -> int:
    """Return how many words a text has."""
    return len(text.split()) if text.isascii() else len(word_spans(text))


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: ``1 file``, ``4,904 files``; a plural has an s by default."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
