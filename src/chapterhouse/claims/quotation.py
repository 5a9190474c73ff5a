"""What of a sentence stands in the evidence to the letter, and what is stitched from pieces.

White space, case, width, quotation marks, markup and punctuation between words do not count;
every word, figure, sign and currency does.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from chapterhouse.types import Evidence

_EAST: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_PIECE = re.compile(
    rf"[{_EAST}]|[^\W_{_EAST}]+(?:[.,:/'’\-][^\W_{_EAST}]+)*|[%‰$€£¥°<>=±−]|(?<!\w)-(?=\d)"
)
_LEAST_PIECE: Final = 3  # words of a quotation that are no accident
_LEAST_RUN: Final = 5  # words in a row, outside quotation marks, that are copied
_FAR: Final = 250  # characters between two pieces that do not belong together
_STITCHED_SHARE: Final = 0.9
_ALTERED_SHARE: Final = 0.6
_EAST_FACTOR: Final = 2  # characters that weigh as a word


@dataclass(frozen=True, slots=True)
class Words:
    """A text as the words that count, each with its offsets; ``joined`` has one space before each.

    Attributes:
        starts: Offset of each word in ``joined``.
        spans: Offsets of each word in the text.
    """

    joined: str
    starts: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    words: tuple[str, ...]


@lru_cache(maxsize=1024)
def words_of(text: str) -> Words:
    """Return the words of ``text`` for comparison to the letter."""
    words: list[str] = []
    spans: list[tuple[int, int]] = []
    for match in _PIECE.finditer(text):
        word = unicodedata.normalize("NFKC", match.group()).casefold().replace("’", "'")
        words.append(word)
        spans.append(match.span())
    starts: list[int] = []
    position = 0
    for word in words:
        starts.append(position)
        position += len(word) + 1
    joined = "".join(f" {word}" for word in words) + " "
    return Words(joined, tuple(starts), tuple(spans), tuple(words))


@dataclass(frozen=True, slots=True)
class Place:
    """Where words stand: number of the stretch, and offsets in ``Evidence.text``."""

    stretch: int
    start: int
    end: int


def find_words(wanted: Words, stretches: Sequence[Evidence]) -> Iterator[Place]:
    """Yield the places at which the words stand one after the other."""
    if not wanted.words:
        return
    for number, evidence in enumerate(stretches):
        known = words_of(evidence.text)
        position = known.joined.find(wanted.joined)
        if position >= 0:
            first = bisect_right(known.starts, position) - 1
            last = first + len(wanted.words) - 1
            yield Place(number, known.spans[first][0], known.spans[last][1])


def weight(words: Sequence[str]) -> float:
    """Return how many words these are; characters of Chinese count for half."""
    east = sum(len(word) == 1 and word >= "\u3040" for word in words)
    return len(words) - east + east / _EAST_FACTOR


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of words of a sentence, and the place where it stands."""

    first: int
    last: int
    place: Place
    weight: float


def pieces(
    text: str, stretches: Sequence[Evidence], least: float = _LEAST_PIECE
) -> tuple[Piece, ...]:
    """Cut ``text`` into the longest runs that stand somewhere, from left to right.

    Args:
        text: The sentence or quotation.
        stretches: Where to look.
        least: Weight below which a run is left out, in words.
    """
    wanted = words_of(text)
    known = [words_of(evidence.text) for evidence in stretches]
    found: list[Piece] = []
    position = 0
    while position < len(wanted.words):
        length, number, at = _longest(wanted, position, known)
        size = weight(wanted.words[position : position + length])
        if length and size >= least:
            first = bisect_right(known[number].starts, at) - 1
            spans = known[number].spans
            place = Place(number, spans[first][0], spans[first + length - 1][1])
            found.append(Piece(position, position + length, place, size))
            position += length
        else:
            position += 1
    return tuple(found)


def _longest(wanted: Words, position: int, known: Sequence[Words]) -> tuple[int, int, int]:
    """Return length, stretch and offset of the longest run from ``position``."""
    best = (0, 0, 0)
    for number, words in enumerate(known):
        length, at = best[0], -1
        while position + length < len(wanted.words):
            needle = " " + " ".join(wanted.words[position : position + length + 1]) + " "
            offset = words.joined.find(needle, max(at, 0))
            if offset < 0:
                break
            length, at = length + 1, offset
        if at >= 0:
            best = (length, number, at)
    return best


def is_stitched(found: Sequence[Piece], total: float, stretches: Sequence[Evidence]) -> bool:
    """Whether long copied runs from places that stand apart make up a sentence."""
    long = [piece for piece in found if piece.weight >= _LEAST_RUN]
    covered = sum(piece.weight for piece in long)
    if len(long) < 2 or covered < _STITCHED_SHARE * total:  # noqa: PLR2004 - one run is a quotation
        return False
    return any(apart(one.place, two.place, stretches) for one, two in pairwise(long))


def apart(one: Place, two: Place, stretches: Sequence[Evidence]) -> bool:
    """Whether the second place does not follow the first closely in one document."""
    first, second = stretches[one.stretch], stretches[two.stretch]
    if first.document_id != second.document_id:
        return True
    distance = second.start + two.start - first.start - one.end
    return not -1 <= distance <= _FAR


def is_altered(found: Sequence[Piece], total: float) -> bool:
    """Whether most of a quotation stands in the evidence, but not in one piece."""
    return sum(piece.weight for piece in found) >= _ALTERED_SHARE * total
