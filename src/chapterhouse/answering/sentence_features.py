"""What is known of each sentence of the hits: one row of numbers, relative to the question."""

import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse.answering.answer_types import AnswerType, asked_for, offers
from chapterhouse.retrieval.question import Question
from chapterhouse.text.analyse import analyse
from chapterhouse.text.language import script_language
from chapterhouse.text.language_data import STOPWORDS
from chapterhouse.types import Hit

Matrix = NDArray[np.float64]
Marks = NDArray[np.bool_]

LEXICAL: Final = (
    "score",  # of its hit, over the best hit's
    "coverage",  # share of the question's word weight in it, its headings or its table header
    "best coverage",  # coverage over the best sentence's
    "hit best",  # coverage by its own words over that of the best sentence of its hit
    "telling coverage",  # coverage, words weighed by how few of these sentences have them
    "likeness",  # coverage, with the share of the letters of words that are not there as such
    "best likeness",  # likeness over the best sentence's
    "before",  # weight of words that only the sentence before adds
    "after",  # or the one after
    "so far",  # or any before it in its hit
    "hit coverage",  # share in the whole hit
    "pairs",  # share of the question's neighbouring words that are near each other in it
    "news",  # share of its words that the question does not have
    "number",  # the question wants one of these and it has one
    "date",
    "person",
    "place",
    "reason",
)
WITH_VECTORS: Final = (
    *LEXICAL,
    "cosine",  # with the question
    "best cosine",  # less the best sentence's
    "window cosine",  # mean of its and its neighbours'
)
_GROUP: Final = 4  # letters; one in Chinese and Japanese
_NEAR: Final = 3  # words
_CAPITAL_NOUNS: Final = frozenset({"de"})  # where a capital makes no name
_EDGE: Final = ".,;:!?()[]{}\"'“”„«»‘’"
_TYPES: Final = (
    AnswerType.NUMBER,
    AnswerType.DATE,
    AnswerType.PERSON,
    AnswerType.PLACE,
    AnswerType.REASON,
)


@dataclass(frozen=True, slots=True)
class Unit:
    """What may be quoted: where it stands, its index terms in order, its table's heading row."""

    hit: Hit
    start: int
    end: int
    text: str
    terms: tuple[str, ...]
    header: str = ""


@dataclass(frozen=True, slots=True)
class Matches:
    """Which words of the question stand where.

    Attributes:
        own: In the sentence, shape (sentences, words).
        place: In the title, headings and table header above it.
        hits: Index of each sentence's hit among those given.
        weights: Share of each word in the question's weight, sum 1.
    """

    own: Marks
    place: Marks
    hits: NDArray[np.intp]
    weights: Matrix


def match(question: Question, units: Sequence[Unit], weights: Mapping[str, float]) -> Matches:
    """Find the question's words in each sentence and above it."""
    asked = [frozenset(terms) for _, terms in question.words]
    own = np.asarray([_contained(asked, frozenset(unit.terms)) for unit in units], dtype=bool)
    ranks: dict[int, int] = {}
    hits = np.asarray([ranks.setdefault(unit.hit.rank, len(ranks)) for unit in units])
    place = np.zeros_like(own)
    known: dict[tuple[str, str], list[bool]] = {}
    for row, unit in enumerate(units):
        chunk, document = unit.hit.chunk, unit.hit.document
        around = " / ".join((document.title, *chunk.section_path, unit.header))
        key = around, document.language
        if key not in known:
            known[key] = _contained(asked, frozenset(analyse(*key)))
        place[row] = known[key]
    weight = np.asarray([weights[word] for word, _ in question.words])
    return Matches(own, place, hits, weight / (weight.sum() or 1.0))


def _contained(asked: Sequence[frozenset[str]], present: frozenset[str]) -> list[bool]:
    return [not present.isdisjoint(terms) for terms in asked]


def features(
    question: Question,
    units: Sequence[Unit],
    matches: Matches,
    cosines: Matrix | None,
) -> Matrix:
    """Return a row for each sentence: ``WITH_VECTORS``, or without cosines ``LEXICAL``."""
    own, hits, weights = matches.own, matches.hits, matches.weights
    there = own | matches.place
    coverage = there @ weights
    bare = own @ weights
    like = _likeness(question, units, there) @ weights
    score = np.asarray([unit.hit.score for unit in units])
    hit_best = np.zeros(hits.max() + 1)
    np.maximum.at(hit_best, hits, bare)
    hit_words = np.zeros((hits.max() + 1, own.shape[1]), dtype=bool)
    np.logical_or.at(hit_words, hits, there)
    # A sentence of a rival takes nothing from its neighbours: they speak of the other.
    alone = _rivals(question, units)[:, None]
    before, after = _shifted(own, hits, 1) & ~alone, _shifted(own, hits, -1) & ~alone
    telling = weights * np.log((len(units) + 1) / (there.sum(axis=0) + 0.5))
    columns = [
        score / (score.max() or 1.0),
        coverage,
        coverage / (coverage.max() or 1.0),
        bare / np.maximum(hit_best[hits], 1e-9),
        there @ telling / (telling.sum() or 1.0),
        like,
        like / (like.max() or 1.0),
        (before & ~own) @ weights,
        (after & ~own) @ weights,
        (_so_far(own, hits) & ~own & ~before & ~alone) @ weights,
        (hit_words @ weights)[hits],
        _pairs(question, units),
        _news(question, units),
        *_offered(question, units),
    ]
    if cosines is not None:
        columns += [cosines, cosines - cosines.max(), _window_mean(cosines, hits)]
    return np.column_stack(columns).astype(np.float64)


def _likeness(question: Question, units: Sequence[Unit], found: Marks) -> Matrix:
    """Return for each sentence and word 1 if it is found, else the share of its letters there."""
    asked = [letter_groups(word) for word, _ in question.words]
    result = found.astype(np.float64)
    for row, unit in enumerate(units):
        there = letter_groups(unit.text)
        for column in np.flatnonzero(~found[row]):
            groups = asked[column]
            result[row, column] = len(groups & there) / (len(groups) or 1)
    return result


@lru_cache(maxsize=4096)
def letter_groups(text: str) -> frozenset[str]:
    """Return the groups of four letters of a text's words, shorter words whole; Chinese letters."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    if script_language(folded):
        return frozenset(character for character in folded if character.isalnum())
    found: set[str] = set()
    for word in folded.split():
        plain = f" {word.strip('.,;:!?()[]')}"
        found.update(plain[at : at + _GROUP] for at in range(max(1, len(plain) - _GROUP + 1)))
    return frozenset(found)


def names_a_rival(question: str, text: str) -> bool:
    """Whether a text names another thing of a kind that the question names, and not that one."""
    asked: dict[str, set[str]] = {}
    for kind, name in _named(question):
        asked.setdefault(kind, set()).add(name)
    return bool(asked) and _is_rival(asked, text)


def _rivals(question: Question, units: Sequence[Unit]) -> Marks:
    """Return which sentences name another thing of the same kind instead of the one asked about.

    "MV Heron" is a rival of "MV Teal", and "berth B9" of "berth B7": the same word, and behind it
    another name.
    """
    asked: dict[str, set[str]] = {}
    nouns_are_names = question.languages[0] in _CAPITAL_NOUNS
    function_words = STOPWORDS.get(question.languages[0], frozenset())
    for kind, name in _named(question.text):
        if kind not in function_words and not (nouns_are_names and name.isalpha()):
            asked.setdefault(kind, set()).add(name)
    return np.asarray([bool(asked) and _is_rival(asked, unit.text) for unit in units], dtype=bool)


def _is_rival(asked: Mapping[str, set[str]], text: str) -> bool:
    named = [pair for pair in _named(text) if pair[0] in asked]
    if not named:
        return False
    words = frozenset(text.casefold().replace("-", " ").split())
    plain = frozenset(word.strip(_EDGE) for word in words)
    return any(name not in asked[kind] and plain.isdisjoint(asked[kind]) for kind, name in named)


def _named(text: str) -> list[tuple[str, str]]:
    """Return each word before a name, and the name: a word with a capital or a digit."""
    words = [word.strip(_EDGE) for word in text.split()]
    return [
        (kind.casefold(), name.casefold())
        for kind, name in pairwise(words)
        if kind[:1].isalpha() and (name[:1].isupper() or any(map(str.isdigit, name)))
    ]


def _pairs(question: Question, units: Sequence[Unit]) -> Matrix:
    """Return the share of the question's neighbouring words that are near each other."""
    numbers: dict[str, int] = {}
    for number, (_, terms) in enumerate(question.words):
        for term in terms:
            numbers.setdefault(term, number)
    asked = set(pairwise(range(len(question.words))))
    result = np.zeros(len(units))
    for row, unit in enumerate(units):
        found = [(at, numbers[term]) for at, term in enumerate(unit.terms) if term in numbers]
        near = {
            (one, other)
            for place, (at, one) in enumerate(found)
            for later, other in found[place + 1 : place + 1 + _NEAR]
            if later - at <= _NEAR
        }
        result[row] = len(asked & near) / max(len(asked), 1)
    return result


def _news(question: Question, units: Sequence[Unit]) -> Matrix:
    known = frozenset(term for _, terms in question.words for term in terms)
    return np.asarray([news(known, unit.terms) for unit in units])


def news(known: frozenset[str], terms: Collection[str]) -> float:
    """Return the share of terms that are not known."""
    different = frozenset(terms)
    return len(different - known) / max(len(different), 1)


def _offered(question: Question, units: Sequence[Unit]) -> list[list[bool]]:
    kind = asked_for(question.text)
    return [
        [offers(kind, unit.text, question.text) for unit in units]
        if kind is one
        else [False] * len(units)
        for one in _TYPES
    ]


def _shifted(own: Marks, hits: NDArray[np.intp], by: int) -> Marks:
    """Return each sentence's neighbour's row, empty where that belongs to another hit."""
    moved = np.roll(own, by, axis=0)
    foreign = np.roll(hits, by) != hits
    foreign[0 if by > 0 else -1] = True
    moved[foreign] = False
    return moved


def _so_far(own: Marks, hits: NDArray[np.intp]) -> Marks:
    result = np.zeros_like(own)
    for row in range(1, len(own)):
        if hits[row] == hits[row - 1]:
            result[row] = result[row - 1] | own[row - 1]
    return result


def _window_mean(values: Matrix, hits: NDArray[np.intp]) -> Matrix:
    sums, counts = values.copy(), np.ones(len(values))
    together = (hits[1:] == hits[:-1]).astype(np.float64)
    sums[1:] += values[:-1] * together
    sums[:-1] += values[1:] * together
    counts[1:] += together
    counts[:-1] += together
    return sums / counts
