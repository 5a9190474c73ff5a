"""What is known of a claim beside its evidence: a row of numbers for the model of ``judge``."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from chapterhouse.claims.align import Window, align, context_terms, polarity_differs, sentences_of
from chapterhouse.claims.dates import Date, dates
from chapterhouse.claims.numbers import DAYS, Number, numbers
from chapterhouse.claims.statement import Statement, Token, TokenKind, read
from chapterhouse.types import Evidence

_DIGITS: Final = re.compile(r"\d+(?:[.,'’ \u00a0\u202f]\d+)*")
_MARKS: Final = re.compile(r"[.,'’ \u00a0\u202f]")
_WORD: Final = re.compile(r"[^\W_]+")
_NEARLY: Final = 0.02  # share by which two durations in different units may differ
_STEM: Final = 5  # letters that "Canada" and "Canadian" share
FEATURES: Final = (
    "words found",
    "facts missing",
    "a fact is missing",
    "numbers found",
    "dates found",
    "denied otherwise",
    "denied on one side",
    "denied in the evidence",
    "quantity on one side",
    "other numbers",
)
_FACT: Final = 1.5  # weight of a number, date or name beside a word's
_LONGEST: Final = 3  # sentences of a window
_LONGER: Final = 0.015  # share that one sentence more must bring
_FAMILY: Final = 6  # letters that words of one family share
_QUANTITIES: Final = frozenset({"all", "some", "most", "few", "only", "least", "upto", "over"})
Places = tuple[tuple[int, ...], ...]  # for each token of a claim, where it stands


@dataclass(frozen=True, slots=True)
class Stated:
    """What some evidence states.

    Attributes:
        numbers: Values with their units, empty for those without.
        dates: Dates.
        text: All of it, titles and headings too, in lower case.
        words: Its words.
        terms: Terms of titles and headings.
    """

    numbers: tuple[tuple[float, str], ...]
    dates: tuple[Date, ...]
    text: str
    words: frozenset[str]
    terms: frozenset[str]


def stated(evidence: Sequence[Evidence]) -> Stated:
    """Return what stretches of evidence state between them."""
    each = [_stated(one) for one in evidence]
    return Stated(
        numbers=tuple(pair for one in each for pair in one.numbers),
        dates=tuple(date for one in each for date in one.dates),
        text="\n".join(one.text for one in each),
        words=frozenset[str]().union(*(one.words for one in each)),
        terms=frozenset[str]().union(*(one.terms for one in each)),
    )


@lru_cache(maxsize=256)
def _stated(evidence: Evidence) -> Stated:
    text = "\n".join((evidence.title, *evidence.section_path, evidence.date, evidence.text))
    text = text.replace("**", "").replace("_", " ")
    low = text.casefold()
    return Stated(
        numbers=tuple(dict.fromkeys(_numbers(text, evidence.language))),
        dates=dates(text, evidence.language),
        text=low,
        words=frozenset(_WORD.findall(low)),
        terms=context_terms(evidence.title, evidence.section_path, evidence.language),
    )


def _numbers(text: str, language: str) -> Iterator[tuple[float, str]]:
    """Yield numbers as they are read, and each run of digits in every way it can be read."""
    for number in numbers(text, language):
        yield float(number.value), number.unit
        if number.high is not None:
            yield float(number.high), number.unit
    for match in _DIGITS.finditer(text):
        groups = _MARKS.split(match.group())
        yield float("".join(groups)), ""
        yield from ((float(group), "") for group in groups)
        if len(groups) > 1:
            yield float(f"{''.join(groups[:-1])}.{groups[-1]}"), ""


def is_stated(token: Token, known: Stated) -> bool:
    """Whether evidence states what a number, date or name of a claim says."""
    if token.number is not None:
        return _has_number(token.number, known)
    if token.date is not None:
        return _has_date(token.date, known)
    return _has_name(token.text, known)


def _has_number(number: Number, known: Stated) -> bool:
    """Whether a number stands there, with the same unit or with none, or in another unit."""
    value, unit = float(number.value), number.unit
    if number.high is not None and not any(_same(float(number.high), v) for v, _ in known.numbers):
        return False
    units = {own for other, own in known.numbers if _same(value, other)}
    if units:
        named = units - {""}
        return not (unit and named) or unit in named
    if unit in DAYS and any(
        own in DAYS and _near(value * DAYS[unit], other * DAYS[own]) for other, own in known.numbers
    ):
        return True
    return unit == "%" and any(_same(value / 100, other) for other, _ in known.numbers)


def _same(one: float, other: float) -> bool:
    return abs(one - other) <= 1e-9 * max(1.0, abs(one))


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= _NEARLY * abs(one)


def _has_date(date: Date, known: Stated) -> bool:
    """Whether a date stands there, or all its parts do: "18-20 April 2011"."""
    if any(date.agrees(other) for other in known.dates):
        return True
    months = {other.month for other in known.dates}
    values = {value for value, _ in known.numbers}
    parts = [float(part) for part in (date.year, date.day) if part]
    return (
        bool(parts)
        and not (date.minute or date.weekday or date.period)
        and (not date.month or date.month in months)
        and values.issuperset(parts)
    )


def _has_name(name: str, known: Stated) -> bool:
    """Whether a name or code stands there, in this or a related form."""
    low = name.casefold()
    if low in known.text:
        return True
    stem = low[:_STEM]
    return len(low) >= _STEM and any(word.startswith(stem) for word in known.words)


@dataclass(frozen=True, slots=True)
class Reading:
    """A claim beside its evidence.

    Attributes:
        window: The sentences of the evidence where most of it stands.
        places: Where in it each token of the claim stands.
        stated: For each token whether the evidence states it: a number, date or name anywhere,
            a word in the window or in the headings above it.
        features: One number for each of ``FEATURES``.
    """

    claim: Statement
    window: Window
    places: Places
    stated: tuple[bool, ...]
    features: tuple[float, ...]

    @property
    def share(self) -> float:
        """Share of the claim's words that stand in the window or the headings, 0 to 1."""
        return self.features[0]


def is_fact(token: Token) -> bool:
    """Whether a token is a number, date or name."""
    return token.kind is not TokenKind.WORD or token.name


def is_small(token: Token) -> bool:
    """Whether a number is mostly a pronoun or an order of telling: "one", "first"."""
    number = token.number
    return number is not None and not number.unit and (number.ordinal or number.value == 1)


def compare_with_evidence(
    claim: Statement, evidence: Sequence[Evidence], known: Stated
) -> Reading | None:
    """Read a claim beside its evidence.

    Args:
        claim: The claim, read.
        evidence: Where it may stand.
        known: What all of it states.

    Returns:
        None where no word of the claim stands in it.
    """
    best: tuple[float, Window, Places, list[bool]] | None = None
    for window, places in (pair for one in evidence for pair in _windows(claim, one)):
        found = [
            bool(own) or token.key in known.terms
            for token, own in zip(claim.tokens, places, strict=True)
        ]
        rank = _share(claim, found) - _LONGER * len(window.sentences)
        if best is None or rank > best[0]:
            best = (rank, window, places, found)
    if best is None:
        return None
    _, window, places, found = best
    states = tuple(
        is_stated(token, known) if is_fact(token) else held
        for token, held in zip(claim.tokens, found, strict=True)
    )
    row = _features(claim, window, places, found, states)
    return Reading(claim, window, places, states, row)


def _windows(claim: Statement, evidence: Evidence) -> Iterator[tuple[Window, Places]]:
    """Yield neighbouring sentences with a word of the claim; rows and items stand alone."""
    sentences = sentences_of(evidence.text, evidence.language)
    statements = [read(sentence.text, evidence.language) for sentence in sentences]
    standing = [_standing(claim, statement) for statement in statements]
    for start in range(len(sentences)):
        for end in range(start + 1, min(start + _LONGEST, len(sentences)) + 1):
            if end - start > 1 and any(sentence.row for sentence in sentences[start:end]):
                break
            places = _joined(standing[start:end], statements[start:end])
            if any(places):
                chosen = tuple(statements[start:end])
                tokens = tuple((t, n) for n, s in enumerate(chosen) for t in s.tokens)
                yield Window(evidence, sentences[start:end], chosen, tokens), places


def _standing(claim: Statement, statement: Statement) -> list[tuple[int, ...]]:
    return [
        tuple(place for place, other in enumerate(statement.tokens) if _is_same(token, other))
        for token in claim.tokens
    ]


def _joined(standing: Sequence[list[tuple[int, ...]]], statements: Sequence[Statement]) -> Places:
    firsts = [sum(len(s.tokens) for s in statements[:n]) for n in range(len(statements))]
    return tuple(
        tuple(first + place for first, own in zip(firsts, each, strict=True) for place in own)
        for each in zip(*standing, strict=True)
    )


def _is_same(one: Token, other: Token) -> bool:
    if one.date and other.date:
        return one.date.agrees(other.date)
    if one.number and other.number:
        first, second = one.number, other.number
        same = (first.value, first.high) == (second.value, second.high)
        return same and (first.unit == second.unit or not (first.unit and second.unit))
    family = len(one.key) >= _FAMILY and one.key[:_FAMILY] == other.key[:_FAMILY]
    return one.kind is other.kind and (one.key == other.key or family)


def _share(claim: Statement, found: Sequence[bool]) -> float:
    weights = [_FACT if is_fact(token) else 1.0 for token in claim.tokens]
    return sum(w for w, held in zip(weights, found, strict=True) if held) / sum(weights)


def _features(
    claim: Statement,
    window: Window,
    places: Places,
    found: Sequence[bool],
    states: Sequence[bool],
) -> tuple[float, ...]:
    tokens = claim.tokens
    missing = sum(
        is_fact(token) and not state and not is_small(token)
        for token, state in zip(tokens, states, strict=True)
    )
    held = [token for token, own in zip(tokens, found, strict=True) if own]
    denied = any(statement.facts.negations for statement in window.statements)
    scopes = _scopes(tokens) ^ _scopes([token for token, _ in window.tokens])
    taken = {place for own in places for place in own}
    others = any(t.number and place not in taken for place, (t, _) in enumerate(window.tokens))
    return (
        _share(claim, found),
        float(missing),
        float(missing > 0),
        float(sum(token.kind is TokenKind.NUMBER for token in held)),
        float(sum(token.kind is TokenKind.DATE for token in held)),
        float(polarity_differs(align(claim, window)) is not None),
        float(denied != bool(claim.facts.negations)),
        float(denied),
        float(bool(scopes & _QUANTITIES)),
        float(others),
    )


def _scopes(tokens: Sequence[Token]) -> frozenset[str]:
    return frozenset(scope for token in tokens for scope in token.scopes)
