"""Dates in running text: days, months, years, weekdays and clock times, in one form."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from chapterhouse.text.wording import words_or_english

_YEAR: Final = r"(?:1\d{3}|20\d{2}|21\d{2})"
_ISO = re.compile(rf"(?<![\w-])({_YEAR})-(\d{{2}})(?:-(\d{{2}}))?(?![\w-])")
_NUMERIC = re.compile(rf"(?<![\w./])(\d{{1,2}})([./])(\d{{1,2}})\2({_YEAR})(?![\w/])")
_EAST = re.compile(r"(?:(?<!\d)(\d{4})\s?年)?(?:\s?(\d{1,2})\s?月(?:\s?(\d{1,2})\s?[日号])?)?")
_CLOCK = re.compile(
    r"(?<![\w:.])(\d{1,2})(?:[:.](\d{2}))?\s?(a\.?m\.?|p\.?m\.?|uhr)(?!\w)"
    r"|(?<![\w:.])(\d{1,2}):(\d{2})(?![\w:]|\.\d)",
    re.IGNORECASE,
)
_DECADE = re.compile(rf"(?<!\w)({_YEAR[:-1]}))s(?!\w)|(?<!\d)(\d{{2}})0(?:er)(?!\w)")
_CENTURY = re.compile(
    r"(?<!\w)(\d{1,2})(?:st|nd|rd|th|\.|e)?\s?(?:-\s?)?(?:century|centuries|jahrhunderts?|siècle|世纪)",
    re.IGNORECASE,
)
_YEARS = re.compile(
    rf"(?<![\w/$€£-])(?<!\d[.,])({_YEAR})(?:\s?[-–—/]\s?({_YEAR}|\d{{2}}))?(?![\w/]|[.,]\d|\s?%)"
)
# Left of a month that is also a word: "in May", "since March".
_BEFORE_MONTH = re.compile(
    r"(?:in|of|since|until|till|by|last|next|early|late|mid|from|to|during|and|this|each|every)"
    r"[ -]$",
    re.IGNORECASE,
)
_AMBIGUOUS: Final = frozenset({"may", "march", "mars", "mar", "sep", "jan", "jun", "dec", "nov"})
_LOOKED_AT: Final = 1_000  # characters
_AHEAD: Final = 40  # characters behind the word, in which the date must stand
# At the beginning of a line or sentence: "Dated 20 November 2025", "**Stand:** 3. Mai 2024".
_NAMED: Final = re.compile(
    r"(?:^|[.;,]\s)[^\w\n]{0,6}(?:dated|date|written|issued|published|datum|stand|erstellt am|date"
    r"|daté du|fecha|日期)(?!\w)[*_]{0,2}[:：]?[*_]{0,2}\s{0,3}(?:on\s|am\s|vom\s)?",
    re.IGNORECASE | re.MULTILINE,
)
# A line of its own: "Minutes of 9 May 2017.", "Gültig ab 1. Januar 2021", "Valid from 1 July 2016".
_LINE: Final = re.compile(
    r"^[*_]{0,2}(?:[^\W\d_]+\s){1,3}(?:of|on|from|vom|am|ab|du)\s(?=\S[^\n]{3,30}$)",
    re.IGNORECASE | re.MULTILINE,
)


_ANY: Final = "any"
_LANGUAGES: Final = ("en", "de", "fr", "es", "it")
_TERM: Final = re.compile(r"\d{4}-\d\d(?:-\d\d)?|--\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class Date:
    """A point in time as far as a text states it; 0 or empty where it does not.

    Attributes:
        weekday: 1 for Monday to 7 for Sunday.
        minute: Minutes since midnight plus one, so that 0 means none.
        period: A decade ("1990s") or century ("c19").
    """

    start: int
    end: int
    year: int = 0
    month: int = 0
    day: int = 0
    weekday: int = 0
    minute: int = 0
    period: str = ""

    def agrees(self, stated: "Date") -> bool:
        """Whether all that this date states is stated by ``stated`` too."""
        pairs = (
            (self.year, stated.year), (self.month, stated.month), (self.day, stated.day),
            (self.weekday, stated.weekday), (self.minute, stated.minute),
        )  # fmt: skip
        return self.period == stated.period and all(own in (0, other) for own, other in pairs)


def dates(text: str, language: str = "") -> tuple[Date, ...]:
    """Return the dates of a text in order, the longest reading of each; language is ISO 639-1."""
    found: list[Date] = []
    taken = bytearray(len(text) + 1)
    for date in _all(text, language):
        if date.end > date.start and not any(taken[date.start : date.end]):
            taken[date.start : date.end] = b"\1" * (date.end - date.start)
            found.append(date)
    return tuple(sorted(found, key=lambda date: date.start))


def _all(text: str, language: str) -> Iterator[Date]:
    """Yield readings, those of several parts before those of one."""
    yield from _in_figures(text, language)
    yield from _with_month(text, language)
    yield from filter(None, map(_clock, _CLOCK.finditer(text)))
    yield from _years(text)
    yield from _weekdays(text, language)


def _in_figures(text: str, language: str) -> Iterator[Date]:
    for match in _ISO.finditer(text):
        yield _checked(match, int(match[1]), int(match[2]), int(match[3] or 0))
    for match in _NUMERIC.finditer(text):
        yield _numeric(match, language)
    if language in {"zh", "ja", ""}:
        for match in _EAST.finditer(text):
            if match[1] or match[2]:
                yield _checked(match, int(match[1] or 0), int(match[2] or 0), int(match[3] or 0))


def _years(text: str) -> Iterator[Date]:
    for match in _DECADE.finditer(text):
        yield Date(match.start(), match.end(), period=f"{match[1] or match[2] + '0'}s")
    for match in _CENTURY.finditer(text):
        yield Date(match.start(), match.end(), period=f"c{match[1]}")
    for match in _YEARS.finditer(text):
        yield Date(match.start(1), match.end(1), year=int(match[1]))
        if match[2]:
            second = match[2] if len(match[2]) == 4 else match[1][:2] + match[2]  # noqa: PLR2004 - digits
            yield Date(match.start(2), match.end(2), year=int(second))


def _checked(match: re.Match[str], year: int, month: int, day: int) -> Date:
    valid = 0 <= month <= 12 and 0 <= day <= 31  # noqa: PLR2004 - the calendar
    end = match.end() if valid else match.start()
    return Date(match.start(), end, year, month, day)


def _numeric(match: re.Match[str], language: str) -> Date:
    first, second, year = int(match[1]), int(match[3]), int(match[4])
    american = match[2] == "/" and language in {"", "en"} and first <= 12  # noqa: PLR2004 - months
    day, month = (second, first) if american or second > 12 else (first, second)  # noqa: PLR2004 - months
    return _checked(match, year, month, day)


def _clock(match: re.Match[str]) -> Date | None:
    hour = int(match[1] or match[4])
    minute = int(match[2] or match[5] or 0)
    half = (match[3] or "").lower().replace(".", "")
    if half == "pm" and hour < 12:  # noqa: PLR2004 - noon
        hour += 12
    elif half == "am" and hour == 12:  # noqa: PLR2004 - noon
        hour = 0
    if hour > 24 or minute > 59:  # noqa: PLR2004 - the clock
        return None
    return Date(match.start(), match.end(), minute=hour * 60 + minute + 1)


@cache
def _months(language: str) -> tuple[dict[str, int], re.Pattern[str]]:
    every = _LANGUAGES if language == _ANY else (language,)
    months: dict[str, int] = {}
    for own in (words_or_english(one, "months") for one in every):
        for listed in (own.months, own.short_months):
            for number, word in enumerate(listed, 1):
                months.setdefault(word, number)
    months.pop("-", None)
    if "sep" in months:
        months["sept"] = 9
    words = "|".join(sorted(months, key=len, reverse=True))
    pattern = (
        rf"(?<![\w.])(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.|er|º)?(?: (?:de|of))? )?"
        rf"(?P<month>{words})(?!\w)\.?"
        rf"(?: (?P<after>\d{{1,2}})(?:st|nd|rd|th)?(?![\w:%]|[.,]\d))?"
        rf"(?:,?(?: (?:de|del|of))? (?P<year>{_YEAR})(?!\w))?"
    )
    return months, re.compile(pattern, re.IGNORECASE)


def _with_month(text: str, language: str) -> Iterator[Date]:
    if language in {"zh", "ja"}:
        return
    months, pattern = _months(language)
    for match in pattern.finditer(text):
        day = int(match["day"] or match["after"] or 0)
        if day > 31:  # noqa: PLR2004 - the calendar
            continue
        alone = not (day or match["year"])
        word = match["month"]
        if alone and not _is_month(text, match.start(), word, language):
            continue
        end = match.end()
        if alone and text[end - 1] == ".":  # the sentence's full stop
            end -= 1
        yield Date(match.start(), end, int(match["year"] or 0), months[word.lower()], day)


def _is_month(text: str, start: int, word: str, language: str) -> bool:
    """Whether a month's name that stands alone is one."""
    if language in {"", "en", "de"} and not word[0].isupper():
        return False
    if len(word) < 4 and word.lower() != "may":  # noqa: PLR2004 - abbreviations need company
        return False
    return (
        word.lower() not in _AMBIGUOUS
        or _BEFORE_MONTH.search(text[max(0, start - 8) : start]) is not None
    )


@cache
def _weekday_pattern(language: str) -> tuple[dict[str, int], re.Pattern[str]]:
    own = words_or_english(language, "weekdays")
    days = {word: number for number, word in enumerate(own.weekdays, 1)}
    return days, re.compile(rf"(?<!\w)({'|'.join(days)})s?(?!\w)", re.IGNORECASE)


def _weekdays(text: str, language: str) -> Iterator[Date]:
    if language in {"zh", "ja"}:
        for match in re.finditer("(?:星期|周)([一二三四五六日天])", text):
            yield Date(
                match.start(), match.end(), weekday="一二三四五六日天".index(match[1]) % 7 + 1
            )
        return
    days, pattern = _weekday_pattern(language)
    for match in pattern.finditer(text):
        yield Date(match.start(), match.end(), weekday=days[match[1].lower()])


def dated_spans(text: str, language: str = "") -> tuple[Date, ...]:
    """Return the days and months of a text that have index terms, in order, none within another."""
    found = (*_in_figures(text, language), *_with_month(text, _ANY))
    chosen: list[Date] = []
    for one in sorted(found, key=lambda date: (date.start, -date.end)):
        if one.end > one.start and terms_of(one) and (not chosen or one.start >= chosen[-1].end):
            chosen.append(one)
    return tuple(chosen)


def date_terms(text: str, language: str = "") -> list[str]:
    """Return index terms of the days and months of a text, however they are written.

    A day is ``2024-01-05`` and ``2024-01``, a month of a year ``2024-01``, a day without a year
    ``--01-05``; each once. Months are known by their names in all languages: of a short text the
    language is a guess.
    """
    if not any(map(str.isdigit, text)):
        return []
    found = (term for date in dated_spans(text, language) for term in terms_of(date))
    return list(dict.fromkeys(found))


def terms_of(date: Date) -> tuple[str, ...]:
    """Return the index terms of a date, the most precise first; none of a year or a month alone."""
    if date.year and date.month:
        month = f"{date.year:04d}-{date.month:02d}"
        return (f"{month}-{date.day:02d}", month) if date.day else (month,)
    return (f"--{date.month:02d}-{date.day:02d}",) if date.month and date.day else ()


def terms_are_of_date(terms: Sequence[str]) -> bool:
    """Whether index terms are those of a date."""
    return len(terms) == 1 and _TERM.fullmatch(terms[0]) is not None


def dateline(text: str, language: str = "") -> str:
    """Return the day of a document as ``YYYY-MM-DD``, where its text states one; or empty.

    That is the date behind a word such as "dated", or one on a line like "Minutes of 9 May 2017".
    """
    beginning = text[:_LOOKED_AT]
    for pattern in (_NAMED, _LINE):
        for match in pattern.finditer(beginning):
            ahead = text[match.end() : match.end() + _AHEAD]
            found = next(iter(dates(ahead, language)), None)
            if not found or found.start or not (found.year and found.month and found.day):
                continue
            rest = ahead[found.end :].partition("\n")[0]
            if pattern is _NAMED or not any(character.isalnum() for character in rest):
                return f"{found.year:04d}-{found.month:02d}-{found.day:02d}"
    return ""
