"""Where words of a claim stand in the evidence one after the other.

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

from chapterhouse.claims.align import sentences_of
from chapterhouse.claims.statement import read
from chapterhouse.text.scripts import HAN, KANA, east_asian_letters
from chapterhouse.types import Evidence, Quotation

_EAST: Final = KANA + HAN  # Korean divides its words
_PIECE = re.compile(
    rf"[{_EAST}]|[^\W_{_EAST}]+(?:[.,:/'’\-][^\W_{_EAST}]+)*|[%‰$€£¥°<>=±−]|(?<!\w)-(?=\d)"
)
_FAR: Final = 250  # characters between two pieces that do not belong together
_EAST_FACTOR: Final = 2  # characters that weigh as a word
_QUOTED_CHARACTERS: Final = 20  # from which a part of a sentence counts as quoted
_QUOTED_EAST: Final = 8
_LEAST_QUOTATION: Final = 3  # words
_NEAR: Final = 30  # characters from a denial that was cut off; about five words
_PAIRS: Final = {
    '"': '"', "“": "”", "„": "“”", "«": "»", "»": "«", "‹": "›", "「": "」", "『": "』", "《": "》",
    "‘": "’", "″": "″", "＂": "＂",
}  # fmt: skip
_LONGEST_QUOTATION: Final = 1_000


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
    """Return the words of ``text`` for comparison word for word."""
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

    evidence: int
    start: int
    end: int


def find_words(wanted: Words, passages: Sequence[Evidence]) -> Iterator[Place]:
    """Yield the places at which the words stand one after the other."""
    if not wanted.words:
        return
    for number, evidence in enumerate(passages):
        known = words_of(evidence.text)
        position = known.joined.find(wanted.joined)
        if position >= 0:
            first = bisect_right(known.starts, position) - 1
            last = first + len(wanted.words) - 1
            yield Place(number, known.spans[first][0], known.spans[last][1])


def weight(words: Sequence[str]) -> float:
    """Return how many words these are; characters of Chinese count for half."""
    east = sum(len(word) == 1 and east_asian_letters(word) for word in words)
    return len(words) - east + east / _EAST_FACTOR


def apart(one: Place, two: Place, passages: Sequence[Evidence]) -> bool:
    """Whether the second place does not follow the first closely in one document."""
    first, second = passages[one.evidence], passages[two.evidence]
    if first.document_id != second.document_id:
        return True
    distance = second.start + two.start - first.start - one.end
    return not -1 <= distance <= _FAR


def quotations(text: str) -> Iterator[str]:
    """Yield what stands in quotation marks; an apostrophe opens none."""
    position = 0
    while position < len(text):
        closing = _PAIRS.get(text[position])
        if closing is None or (text[position] == "‘" and position and text[position - 1].isalnum()):
            position += 1
            continue
        limit = min(len(text), position + _LONGEST_QUOTATION)
        end = next((i for i in range(position + 1, limit) if text[i] in closing), -1)
        if end < 0:
            position += 1
            continue
        yield text[position + 1 : end]
        position = end + 1


def find_quoted(claim: str, evidence: Sequence[Evidence]) -> tuple[Quotation, ...]:
    """Return the sentences in which a claim stands word for word, none where it does not."""
    wanted = words_of(claim.strip(" \"'“”„«»"))
    size = sum(len(word) for word in wanted.words) + len(wanted.words) - 1
    east = any(len(word) == 1 and east_asian_letters(word) for word in wanted.words)
    long = size >= (_QUOTED_EAST if east else _QUOTED_CHARACTERS)
    for place in find_words(wanted, evidence):
        own = evidence[place.evidence]
        inside = [
            s
            for s in sentences_of(own.text, own.language)
            if s.start < place.end and place.start < s.end
        ]
        whole = len(inside) == 1 and words_of(inside[0].text).words == wanted.words
        cut = not whole and _is_out_of_context(claim, own, place, inside[0].start, inside[-1].end)
        if whole or (long and not cut):
            return tuple(quotation_of(own, s.start, s.end) for s in inside)
    return ()


def _is_out_of_context(claim: str, evidence: Evidence, place: Place, start: int, end: int) -> bool:
    """Whether what was cut off changes what was kept: a denial, a condition, a unit."""
    whole = read(evidence.text[start:end], evidence.language)
    own = read(claim, evidence.language)
    inside = [t for t in whole.tokens if place.start - start <= t.start < place.end - start]
    if len(inside) != len(own.tokens):
        return True
    for one, other in zip(own.tokens, inside, strict=True):
        if (one.key, one.negated, one.scopes) != (other.key, other.negated, other.scopes):
            return True
        if one.number and other.number and one.number.unit != other.number.unit:
            return True
    covered = range(place.start - start, place.end - start)
    denials = [cue.start for cue in whole.facts.negations if cue.start not in covered]
    clauses = {token.clause for token in inside}
    return any(
        token.clause in clauses and abs(token.start - denial) < _NEAR
        for token in whole.tokens
        for denial in denials
    )


def quotation_of(evidence: Evidence, start: int, end: int) -> Quotation:
    """Return a span of a stretch of evidence as a quotation of its document."""
    quote = evidence.text[start:end]
    return Quotation(evidence.document_id, evidence.start + start, evidence.start + end, quote)


def wrong_quotations(claim: str, evidence: Sequence[Evidence]) -> list[str]:
    """Return what a claim quotes and evidence does not say; short ones are names and terms."""
    return [
        text
        for text in quotations(claim)
        if weight(words_of(text).words) >= _LEAST_QUOTATION and not is_quoted(text, evidence)
    ]


def is_quoted(quoted: str, evidence: Sequence[Evidence]) -> bool:
    """Whether a quotation stands there, or its parts between ellipses do, close together."""
    text = quoted.replace("[...]", "…").replace("...", "…")
    parts = [part for part in text.split("…") if part.strip()]
    places = [next(find_words(words_of(part), evidence), None) for part in parts]
    known = [place for place in places if place]
    together = not any(apart(one, two, evidence) for one, two in pairwise(known))
    return bool(known) and len(known) == len(parts) and together
