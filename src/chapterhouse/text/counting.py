"""How many: numbers with their nouns, and how many tokens a text costs a model.

Without the model's own tokenizer this is an estimate: a weighted sum of counts by kind of
character, fitted against a real tokenizer by ``benchmarks/tokens.py``, which also measures its
error by kind of text (``benchmarks/results/tokens.md``).
"""

import math
import re
from collections.abc import Sequence
from typing import Final

from chapterhouse.loading import lazy_pattern
from chapterhouse.text.scripts import EAST_ASIAN, HAN, KANA, WIDE_MARKS
from chapterhouse.types import Range

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
