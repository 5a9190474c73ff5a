"""Whether evidence states a number, date or name at all, in whatever form it writes it.

Lenient on purpose: what is called missing here stands nowhere in the evidence, so that a sentence
with it can be told to say something that its sources do not.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import Final

from chapterhouse.claims.align import context_terms
from chapterhouse.claims.dates import Date, dates
from chapterhouse.claims.numbers import Number, numbers
from chapterhouse.claims.statement import Token
from chapterhouse.types import Evidence

_DIGITS: Final = re.compile(r"\d+(?:[.,'’ \u00a0\u202f]\d+)*")
_MARKS: Final = re.compile(r"[.,'’ \u00a0\u202f]")
_WORD: Final = re.compile(r"[^\W_]+")
DAYS: Final = {"y": 365.0, "mo": 30.4, "wk": 7.0, "d": 1.0, "h": 1 / 24, "min": 1 / 1440}
_NEARLY: Final = 0.02  # share by which two durations in different units may differ
_STEM: Final = 5  # letters that "Canada" and "Canadian" share


class Presence(IntEnum):
    """Whether evidence states a fact."""

    MISSING = 0
    OTHER_UNIT = 1  # the number, with another unit
    FOUND = 2


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


def presence(token: Token, known: Stated) -> Presence:
    """Say whether evidence states what a number, date or name of a claim says."""
    if token.number is not None:
        return _of_number(token.number, known)
    if token.date is not None:
        return Presence.FOUND if _has_date(token.date, known) else Presence.MISSING
    return Presence.FOUND if _has_name(token.text, known) else Presence.MISSING


def _of_number(number: Number, known: Stated) -> Presence:
    value, unit = float(number.value), number.unit
    if number.high is not None and not any(_same(float(number.high), v) for v, _ in known.numbers):
        return Presence.MISSING
    units = {own for other, own in known.numbers if _same(value, other)}
    if units:
        named = units - {""}
        return Presence.FOUND if not (unit and named) or unit in named else Presence.OTHER_UNIT
    if unit in DAYS and any(
        own in DAYS and _near(value * DAYS[unit], other * DAYS[own]) for other, own in known.numbers
    ):
        return Presence.FOUND
    part = unit == "%" and any(_same(value / 100, other) for other, _ in known.numbers)
    return Presence.FOUND if part else Presence.MISSING


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
