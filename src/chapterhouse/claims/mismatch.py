"""What in a sentence stands in none of the passages that it cites, compared exactly.

Looked at are quotations, numbers, amounts of money and dates: what can be compared without
understanding. A value is compared in every way in which it can be written, and what can be computed
from values that stand there, or stands in the question, is no mismatch. Whether a sentence is true
is not said; neither are names compared, since a right sentence often calls a thing by another name.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Final

from chapterhouse.claims.numbers import DAYS, METRES, PERCENT, UNITS, Number, numbers
from chapterhouse.claims.quotation import closest_sentences, is_quoted, quotations, weight, words_of
from chapterhouse.text.dates import Date, dates
from chapterhouse.types import Evidence, Mismatch, MismatchKind

_CURRENCIES: Final = frozenset({"usd", "eur", "gbp", "jpy", "chf", "cny"})
_LEAST_QUOTATION: Final = 3  # words; less is a name or a term
_DIGITS: Final = re.compile(r"\d+(?:[.,'’ \u00a0\u202f]\d+)*")
_MARKS: Final = re.compile(r"[.,'’ \u00a0\u202f]")
_FULL_WIDTH: Final = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}
# Words that say a value without a numeral, and the values that they may stand for.
_WORDS: Final[Mapping[str, tuple[tuple[float, str], ...]]] = {
    r"half|halves|halb\w*|hälfte|moitié|demie?s?|mitad|metà": (
        (0.5, ""), (50, "%"), (30, "min"), (6, "mo"),
    ),
    "thirds?|drittel|tiers": ((1 / 3, ""), (33, "%"), (2 / 3, ""), (67, "%")),
    "quarters?|viertel|quarts?": (
        (0.25, ""), (25, "%"), (0.75, ""), (75, "%"), (3, "mo"), (15, "min"), (45, "min"),
    ),
    r"twice|doubl\w+|zweimal|doppelt\w*|both|pairs?|couple|beide\w*": (
        (2, ""), (200, "%"), (100, "%"),
    ),
    r"tripl\w+|thrice": ((3, ""), (300, "%")),
    "dozens?|dutzend|douzaines?": ((12, ""),),
    "decades?|jahrzehnte?n?|décennies?": ((10, "y"),),
    r"centur\w+|jahrhundert\w*": ((100, "y"),),
    r"fortnight\w*": ((14, "d"),),
    "noon|midday|mittags?|midi": ((12, "h"),),
    "midnight|mitternacht|minuit": ((0, "h"), (24, "h")),
}  # fmt: skip
_WORD: Final = re.compile(rf"\b(?:{'|'.join(f'({words})' for words in _WORDS)})\b", re.IGNORECASE)
# "a year", "per month": one of a unit.
_ONE_OF: Final = re.compile(
    r"\b(?:an?|one|per|each|every|the|this|that|une?|par|chaque|eine?[mnrs]?|pro|jede[mnrs]?"
    r"|una|por|al)\s(?:full\s|whole\s|calendar\s|business\s|working\s|single\s)?"
    r"(seconds?|minutes?|hours?|days?|weeks?|months?|years?|minuten?|stunden?|tag|woche|monat|jahr"
    r"|heures?|jours?|semaines?|mois|ans?|année|hora|día|semana|mes|año)\b",
    re.IGNORECASE,
)
_ABOUT: Final = re.compile(
    r"(?:\b(?:about|around|approximately|approx\.?|nearly|almost|roughly|some|circa|ca\.?|over|under"
    r"|more than|less than|just over|just under|up to|at least|close to|rund|etwa|ungefähr|fast"
    r"|knapp|gut|über|mehr als|environ|près de|presque|plus de|autour de|casi|unos|cerca de|circa"
    r"|quasi)|[~≈])\s*$",
    re.IGNORECASE,
)
_NEARLY: Final = 0.02  # share by which a value in another unit may differ
_ROUGHLY: Final = 0.1  # share by which a value may differ that is said to be rough
_ROUNDED: Final = 0.05  # share by which a rounded value differs at most
_LABELLED: Final = re.compile(
    r"(?:\b(?:step|point|item|option|reason|answer|question|source|document|passage|excerpt|schritt"
    r"|punkt|quelle|étape|fonte|source)s?|#|№|\bno\.|\bnr\.)\s*$",
    re.IGNORECASE,
)
_THOUSANDS: Final = re.compile(r"(?<![\d.,])\d{1,3}(?: \d{3})+(?![\d])")
_CODE: Final = re.compile(r"(?<![\w.])\d+(?:\.\d+){2,}(?![\w])")
_DAY: Final = re.compile(r"(?<!\d)[0-3]?\d(?!\d)")
_APART: Final = 14  # characters
_MONTHS: Final = 12
_COUNTED: Final = 12  # at most this many things are counted rather than read
_LIST_MARK: Final = re.compile(r"^\s*(?:[-*+•–]\s+)?\(?\d{1,3}[.)]\s+")


@dataclass(frozen=True, slots=True)
class _Stated:
    """The values of some texts: numbers with units, in each way in which digits may be read.

    Dates are with the days that stand beside them: "18-20 April".
    """

    numbers: frozenset[tuple[float, str]]
    dates: tuple[tuple[Date, frozenset[int]], ...]
    codes: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Code:
    """A version or the like: figures with several points between them."""

    start: int
    end: int


_Value = Number | Date | _Code


def find_mismatches(
    sentence: str, passages: Sequence[Evidence], known: str = ""
) -> tuple[Mismatch, ...]:
    """Return what of a sentence none of its passages has, in the order of the sentence.

    Args:
        passages: What it cites; of nothing nothing is missing.
        known: What else may be said without a source, such as what was asked.
    """
    if not passages:
        return ()
    language = passages[0].language
    written = _LIST_MARK.sub("", sentence)
    text = _plain(written)
    stated = _join([*map(_of_passage, passages), _of_text(known, language)])
    missing = [one for one in _values(text, language) if not _is_in(one, text, stated)]
    return (
        *_wrong_quotations(written, passages, known),
        *(_mismatches(missing, written, passages, language) if missing else ()),
    )


# --- quotations ---------------------------------------------------------------------------------


def _wrong_quotations(text: str, passages: Sequence[Evidence], known: str) -> Iterator[Mismatch]:
    for quoted in quotations(text):
        words = words_of(quoted)
        headings = " ".join((known, *(line for one in passages for line in _headings(one))))
        if (
            weight(words.words) >= _LEAST_QUOTATION
            and not is_quoted(quoted, passages)
            and words.joined not in words_of(headings).joined
        ):
            yield Mismatch(MismatchKind.QUOTATION, quoted)


def _headings(passage: Evidence) -> tuple[str, ...]:
    return (passage.title, *passage.section_path, passage.header)


# --- values -------------------------------------------------------------------------------------


def _values(text: str, language: str) -> Iterator[_Value]:
    """Yield dates, versions, and the numbers that are part of neither."""
    taken = bytearray(len(text) + 1)
    codes = (_Code(*match.span()) for match in _CODE.finditer(text))
    values: tuple[_Value, ...] = (*dates(text, language), *codes, *numbers(text, language))
    for value in values:
        if not any(taken[value.start : value.end]):
            taken[value.start : value.end] = b"\1" * (value.end - value.start)
            yield value


def _mismatches(
    missing: Sequence[_Value], written: str, passages: Sequence[Evidence], language: str
) -> Iterator[Mismatch]:
    """Yield values that are missing, each with the only one of its kind that stands closest."""
    found = closest_sentences(written, passages)
    text, closest = _plain(written), _plain(found.quote.replace("**", "") if found else "")
    own = _of_text(text, language)
    near = [*numbers(text, language), *numbers(closest, language)]
    others = [one for one in _values(closest, language) if not _is_in(one, closest, own)]
    for value in missing:
        if isinstance(value, Number) and _is_computed(value, near):
            continue
        rivals = (closest[one.start : one.end] for one in others if _is_alike(value, one))
        distinct = list(dict.fromkeys(" ".join(rival.rstrip(".").split()) for rival in rivals))
        instead = distinct[0] if len(distinct) == 1 else ""
        if instead or not _is_count(value):
            own_text = written[value.start : value.end].rstrip(".")
            yield Mismatch(_kind(value), own_text, instead)


def _kind(value: _Value) -> MismatchKind:
    if isinstance(value, Date):
        return MismatchKind.DATE
    is_amount = isinstance(value, Number) and value.unit in _CURRENCIES
    return MismatchKind.AMOUNT if is_amount else MismatchKind.NUMBER


def _is_in(value: _Value, text: str, known: _Stated) -> bool:
    if isinstance(value, Date):
        return _has_date(value, known)
    if isinstance(value, Number):
        return not _counts(value, text) or _has_number(value, text, known)
    return text[value.start : value.end] in known.codes


def _is_count(value: _Value) -> bool:
    """Whether a number may have been counted: "two servers, A and B"."""
    return isinstance(value, Number) and not value.unit and value.value <= _COUNTED


def _is_alike(one: _Value, other: _Value) -> bool:
    """Whether two values say the same kind of thing."""
    if isinstance(one, Number) and isinstance(other, Number):
        figures, others = (len(str(abs(int(number.value)))) for number in (one, other))
        same = one.unit == other.unit and one.ordinal == other.ordinal
        return same and (bool(one.unit) or abs(figures - others) <= 1)
    if isinstance(one, Date) and isinstance(other, Date):
        parts = ("year", "month", "day", "weekday", "minute", "period")
        return all(bool(getattr(one, name)) == bool(getattr(other, name)) for name in parts)
    return isinstance(one, _Code) and isinstance(other, _Code)


def _counts(number: Number, text: str) -> bool:
    """Whether a number states a value: not "one", "first", "step 2", and not part of a name."""
    if not number.unit and (number.ordinal or number.value in (0, 1)):
        return False
    return not _LABELLED.search(text, max(0, number.start - 20), number.start)


def _has_number(number: Number, text: str, known: _Stated) -> bool:
    rough = _ABOUT.search(text[max(0, number.start - 16) : number.start]) is not None
    highs = [] if number.high is None else [number.high]
    written = text[number.start : number.end]
    for value in (number.value, *highs):
        own = {float(value)}
        if number.high is None:
            own |= set(_other_readings(float(value), written))
        if not any(_is_stated(one, number.unit, rough, known) for one in own):
            return False
    return True


def _other_readings(value: float, written: str) -> Iterator[float]:
    """Yield what else written digits may be; of "11.5 million" a table may have 11.5."""
    found = list(_readings(written))
    yield from found if value in found else (one for one in found if one != int(one))


def _is_stated(value: float, unit: str, rough: bool, known: _Stated) -> bool:  # noqa: FBT001
    if any(_same(value, other) for other, own in known.numbers if _comparable(unit, own)):
        return True
    for other, own in known.numbers:
        factor = _factor(own, unit)
        if factor and abs(other * factor - value) <= _NEARLY * abs(value):
            return True
        if _comparable(unit, own) and _is_rounded(value, other):
            return True
        if rough and _comparable(unit, own) and abs(other - value) <= _ROUGHLY * abs(other):
            return True
    return False


def _same(one: float, other: float) -> bool:
    return abs(one - other) <= 1e-9 * max(1.0, abs(one))


def _comparable(unit: str, other: str) -> bool:
    """Whether values may be the same; one without a unit is of any."""
    return unit == other or not unit or not other


_SCALE: Final = {
    **{unit: ("time", days) for unit, days in DAYS.items()},
    **{unit: ("length", metres) for unit, metres in METRES.items()},
    "mi": ("length", 1609.344), "ft": ("length", 0.3048), "in": ("length", 0.0254),
    "kg": ("mass", 1.0), "g": ("mass", 0.001), "mg": ("mass", 1e-6), "t": ("mass", 1000.0),
    "l": ("volume", 1.0), "ml": ("volume", 0.001),
    "kb": ("size", 1.0), "mb": ("size", 1e3), "gb": ("size", 1e6), "tb": ("size", 1e9),
    "hz": ("frequency", 1.0), "khz": ("frequency", 1e3), "mhz": ("frequency", 1e6),
    "ghz": ("frequency", 1e9), "w": ("power", 1.0), "kw": ("power", 1e3),
    "km/h": ("speed", 1.0), "mph": ("speed", 1.609344), "m/s": ("speed", 3.6),
    "%": ("share", 0.01), "": ("share", 1.0),
}  # fmt: skip


def _factor(unit: str, wanted: str) -> float:
    """Return by what a value in ``unit`` is multiplied to be in ``wanted``; 0 where it cannot."""
    if unit == wanted or unit not in _SCALE or wanted not in _SCALE:
        return 0.0
    (kind, own), (other, target) = _SCALE[unit], _SCALE[wanted]
    return own / target if kind == other else 0.0


def _is_rounded(value: float, exact: float) -> bool:
    """Whether a value is another one rounded to its own figures: 2.1 million of 2,087,334."""
    if not value or abs(value - exact) > _ROUNDED * abs(exact):
        return False
    figures = len(Decimal(repr(value)).normalize().as_tuple().digits)
    return _same(float(f"{exact:.{figures - 1}e}"), value)


def _is_computed(number: Number, near: Sequence[Number]) -> bool:
    """Whether a number is the sum, difference or share of two that stand near it."""
    value, others = float(number.value), [one for one in near if one.value != number.value]
    alike = sorted(float(one.value) for one in others if one.unit == number.unit)
    least = 1e-9 * max(1.0, abs(value))
    if any(_has_other(alike, one, at, least) for one in alike for at in (value - one, one + value)):
        return True
    if number.unit != PERCENT:
        return False
    counted = sorted(float(one.value) for one in others if not one.ordinal and one.value)
    return any(
        _has_other(counted, whole, whole * share, abs(_NEARLY * value / 100 * whole))
        for whole in counted
        for share in (value / 100, 1 - value / 100, 1 + value / 100)
    )


def _has_other(values: Sequence[float], one: float, wanted: float, tolerance: float) -> bool:
    """Whether sorted values, less ``one`` of them, hold a value that is nearly ``wanted``."""
    low, high = wanted - tolerance, wanted + tolerance
    return bisect_right(values, high) - bisect_left(values, low) > (low <= one <= high)


def _has_date(date: Date, known: _Stated) -> bool:
    """Whether a date stands there, as far as both state it."""
    if any(date.agrees(other) for other, _ in known.dates):
        return True
    values = {value for value, _ in known.numbers}
    if date.minute:
        return _same((date.minute - 1) % 60, 0) and (date.minute - 1) / 60 in values
    if date.weekday:
        return not any(other.weekday for other, _ in known.dates)
    if date.period:
        decade = date.period.removesuffix("s")[:3]
        return any(str(other.year).startswith(decade) for other, _ in known.dates)
    if date.year and not date.month:
        return float(date.year) in values
    return any(
        other.month == date.month
        and (not date.day or date.day == other.day or date.day in days)
        and (not date.year or date.year == other.year or float(date.year) in values - {other.year})
        for other, days in known.dates
    )


# --- what passages state ------------------------------------------------------------------------


@lru_cache(maxsize=512)
def _of_passage(passage: Evidence) -> _Stated:
    text = "\n".join((*_headings(passage), passage.date, passage.text))
    return _of_text(text, passage.language)


@lru_cache(maxsize=512)
def _of_text(text: str, language: str) -> _Stated:
    text = _plain(text.replace("**", "").replace("_", " "))
    return _Stated(
        frozenset(_numbers(text, language)),
        tuple(_dates(text, language)),
        frozenset(_CODE.findall(text)),
    )


def _plain(text: str) -> str:
    """Return a text with figures of usual width, and no space that parts thousands."""
    return _THOUSANDS.sub(
        lambda match: match.group().replace(" ", "\u202f"), text.translate(_FULL_WIDTH)
    )


def _join(stated: Iterable[_Stated]) -> _Stated:
    each = list(stated)
    return _Stated(
        frozenset[tuple[float, str]]().union(*(one.numbers for one in each)),
        tuple(date for one in each for date in one.dates),
        frozenset[str]().union(*(one.codes for one in each)),
    )


def _dates(text: str, language: str) -> Iterator[tuple[Date, frozenset[int]]]:
    for date in dates(text, language):
        before, behind = text[: date.start][-_APART:], text[date.end :][:_APART]
        days = (*_DAY.findall(before), *_DAY.findall(behind))
        yield date, frozenset(map(int, days))
        if 0 < date.day <= _MONTHS and text[date.start].isdigit():  # 3/4/2024
            yield Date(date.start, date.end, date.year, date.day, date.month), frozenset()


def _numbers(text: str, language: str) -> Iterator[tuple[float, str]]:
    """Yield values as they are read, each run of digits in every way, and words for values."""
    clocks = [(date.start, date.end) for date in dates(text, language) if date.minute]
    units = {place: "clock" for start, end in clocks for place in range(start, end)}
    for number in numbers(text, language):
        if number.start in units:
            continue
        yield float(number.value), number.unit
        if number.high is not None:
            yield float(number.high), number.unit
        units |= dict.fromkeys(range(number.start, number.end), number.unit)
    for match in _DIGITS.finditer(text):
        for value in (*_readings(match.group()), *_parts_of(match.group())):
            yield value, units.get(match.start(), "")
    values = tuple(_WORDS.values())
    for match in _WORD.finditer(text):
        yield from values[(match.lastindex or 1) - 1]
    for match in _ONE_OF.finditer(text):
        unit = UNITS.get(match[1].lower(), "")
        yield 1.0, unit


def _readings(written: str) -> Iterator[float]:
    """Yield every number that written digits may be: 1.234 is one thousand, or one and a bit."""
    for match in _DIGITS.finditer(written):
        groups = _MARKS.split(match.group())
        yield float("".join(groups))
        if len(groups) > 1:
            yield float(f"{''.join(groups[:-1])}.{groups[-1]}")


def _parts_of(digits: str) -> Iterator[float]:
    """Yield the numbers that marks part which part no thousands: 3 and 11 of 3.11."""
    groups = _MARKS.split(digits)
    if len(groups) > 1 and any(len(group) != 3 for group in groups[1:]):  # noqa: PLR2004 - thousands
        yield from map(float, groups)
