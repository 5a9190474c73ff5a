"""Where words of a claim stand in the evidence one after the other.

White space, case, width, quotation marks, markup and punctuation between words do not count;
every word, figure, sign and currency does.
"""

import math
import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from chapterhouse.text.analyse import analyse
from chapterhouse.text.counting import HAN, KANA, east_asian_letters
from chapterhouse.text.markdown import sentence_spans
from chapterhouse.types import Evidence, Quotation

_EAST: Final = KANA + HAN  # Korean divides its words
_PIECE = re.compile(
    rf"[{_EAST}]|[^\W_{_EAST}]+(?:[.,:/'’\-][^\W_{_EAST}]+)*|[%‰$€£¥°<>=±−]|(?<!\w)-(?=\d)"
)
_FAR: Final = 250  # characters between two pieces that do not belong together
_EAST_FACTOR: Final = 2  # characters that weigh as a word
_PAIRS: Final = {
    '"': '"', "“": "”", "„": "“”", "«": "»", "»": "«", "‹": "›", "「": "」", "『": "』", "《": "》",
    "‘": "’", "″": "″", "＂": "＂",
}  # fmt: skip
_LONGEST_QUOTATION: Final = 1_000
_LEAST: Final = 2  # words of what is looked for as a quotation


@dataclass(frozen=True, slots=True)
class Words:
    """A text as the words that count; ``joined``, into which ``starts`` points, has one space each.

    Spans are of the text.
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


def find_words(text: str, passages: Sequence[Evidence]) -> Quotation | None:
    """Return where words stand one after the other."""
    wanted = words_of(text)
    for own in passages if wanted.words else ():
        known = words_of(own.text)
        position = known.joined.find(wanted.joined)
        if position >= 0:
            first = bisect_right(known.starts, position) - 1
            start, end = known.spans[first][0], known.spans[first + len(wanted.words) - 1][1]
            quote = own.text[start:end]
            return Quotation(own.document_id, own.start + start, own.start + end, quote)
    return None


def weight(words: Sequence[str]) -> float:
    """Return how many words these are; characters of Chinese count for half."""
    east = sum(len(word) == 1 and east_asian_letters(word) for word in words)
    return len(words) - east + east / _EAST_FACTOR


def quotations(text: str) -> Iterator[str]:
    """Yield what stands in quotation marks; an apostrophe opens none."""
    position = 0
    while position < len(text):
        closing = _PAIRS.get(text[position])
        if closing is None or (text[position] == "‘" and position and text[position - 1].isalnum()):
            position += 1
            continue
        limit = min(len(text), position + _LONGEST_QUOTATION)
        found = (text.find(mark, position + 1, limit) for mark in closing)
        end = min((place for place in found if place >= 0), default=-1)
        if end < 0:
            position += 1
            continue
        yield text[position + 1 : end]
        position = end + 1


def find_quotation(text: str, passages: Sequence[Evidence]) -> Quotation | None:
    """Return where a text of two words or more stands word for word; None where it does not."""
    return find_words(text, passages) if weight(words_of(text).words) >= _LEAST else None


def is_quoted(quoted: str, evidence: Sequence[Evidence]) -> bool:
    """Whether a quotation stands there, or its parts between ellipses do, close together."""
    text = quoted.replace("[...]", "…").replace("...", "…")
    found = [find_words(part, evidence) for part in text.split("…") if part.strip()]
    known = [place for place in found if place]
    return len(found) == len(known) > 0 and all(
        one.document_id == two.document_id and -1 <= two.start - one.end <= _FAR
        for one, two in pairwise(known)
    )


_LONGER: Final = 0.2  # share of the sentence's weight that a second sentence must bring


class _Sentence(NamedTuple):
    start: int
    end: int
    terms: frozenset[str]


@lru_cache(maxsize=512)
def _sentences(text: str, language: str) -> tuple[_Sentence, ...]:
    found: list[_Sentence] = []
    for start, end in sentence_spans(text, 0, len(text)):
        written = text[start:end]
        begin = start + len(written) - len(written.lstrip())
        terms = frozenset(analyse(written, language))
        if terms:
            found.append(_Sentence(begin, begin + len(written.strip()), terms))
    return tuple(found)


def closest_sentences(sentence: str, passages: Sequence[Evidence]) -> Quotation | None:
    """Return the sentence of some passages that comes closest, or two neighbours.

    Returns:
        None where they share no word with it.
    """
    terms = frozenset[str]().union(
        *(analyse(sentence, language) for language in {one.language for one in passages})
    )
    read = [_sentences(one.text, one.language) for one in passages]
    counts = Counter(term for own in read for one in own for term in one.terms & terms)
    total = sum(map(len, read))
    weights = {term: math.log(1 + total / count) for term, count in counts.items()}
    if not weights:
        return None

    def worth(*chosen: _Sentence) -> float:
        shared = frozenset[str]().union(*(one.terms for one in chosen)) & terms
        return math.fsum(weights[term] for term in shared)

    place, best = max(
        ((place, number) for place, own in enumerate(read) for number in range(len(own))),
        key=lambda one: (worth(read[one[0]][one[1]]), -one[0], -one[1]),
    )
    own, passage = read[place], passages[place]
    first = last = own[best]
    neighbours = [own[n] for n in (best - 1, best + 1) if 0 <= n < len(own)]
    second = max(neighbours, key=lambda one: worth(first, one), default=first)
    if worth(first, second) >= worth(first) + _LONGER * math.fsum(weights.values()):
        first, last = sorted((first, second), key=lambda one: one.start)
    quote = passage.text[first.start : last.end]
    start = passage.start + first.start
    return Quotation(passage.document_id, start, start + len(quote), quote)
