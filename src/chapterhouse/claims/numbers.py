"""Numbers in running text: figures, words, ranges, ordinals and their units, in one form.

``1,234.5``, ``1.234,5`` in German, ``1.2 million``, ``twelve``, ``12 %``, ``$3``, ``5-10 km``,
``３万`` and ``百分之十二`` become values that can be compared exactly.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from itertools import zip_longest
from typing import Final

from chapterhouse.text.wording import word_set, words_of, words_or_english

_UNITS: Final = tomllib.loads((files("chapterhouse.claims") / "units.toml").read_text("utf-8"))
_CURRENCIES: Final = {
    name: code for code, names in _UNITS["currencies"].items() for name in names.split()
}
UNITS: Final[Mapping[str, str]] = _CURRENCIES | {
    name.replace("-", " "): unit
    for unit, names in _UNITS["units"].items()
    for name in names.split()
}
_SCALES: Final = {
    name: 10 ** int(power) for power, names in _UNITS["scales"].items() for name in names.split()
}
DAYS: Final = {
    "ms": 1 / 86_400_000, "s": 1 / 86_400, "min": 1 / 1_440, "h": 1 / 24, "d": 1.0, "wk": 7.0,
    "mo": 30.4375, "y": 365.25,
}  # fmt: skip
METRES: Final = {"mm": 0.001, "cm": 0.01, "m": 1.0, "km": 1_000.0}
_SUFFIX_SCALES: Final = {"k": 1000, "m": 10**6, "bn": 10**9, "b": 10**9, "mn": 10**6}
# Attached or apart, these are too short to be a unit without digits right before them.
_SHORT_APART: Final = word_set("s h t v w l an ad mes")
PERCENT: Final = "%"
_DECIMAL_COMMA: Final = word_set("de fr es it pt nl da no nb nn sv fi ru pl cs tr id")
_FRACTIONS: Final = dict(
    zip("½¼¾⅓⅔⅛", ("0.5", "0.25", "0.75", "0.3333", "0.6667", "0.125"), strict=True)
)
_FIGURE_ALONE: Final = (
    r"(?:(?P<money>us\$|[$€£¥￥])[ ]?)?(?P<sign>[-−](?=\d))?"
    r"(?P<digits>(?<=[$€£])\d{1,3}(?: \d{3})+(?!\d)"
    r"|\d{1,3}(?:[.,'’\u00a0\u202f]\d{3})+(?:[.,]\d{1,9})?(?!\d)|\d{1,30}(?:[.,]\d{1,15})?)"
    r"(?P<fraction>[½¼¾⅓⅔⅛])?"
    r"(?P<tail>(?:st|nd|rd|th|er|ère|e|º|ª|°)(?!\w)|[ ]?[%％]|[A-Za-zÀ-ÿ]+\d?)?"
)
_FIGURE = re.compile(r"(?<![0-9A-Za-zÀ-ÿ_.,])(?<![0-9A-Za-z][-–])" + _FIGURE_ALONE, re.IGNORECASE)
_RANGE_END = re.compile(_FIGURE_ALONE, re.IGNORECASE)
_EAST_TAIL = re.compile(
    r"(?P<scale>百万|千(?![米克])|[万亿])?(?P<unit>公里|千米|公斤|千克|厘米|毫米|毫克|英里|英尺"
    r"|分钟|小时|个月|美元|欧元|英镑|日元|[米克吨升秒天周])?"
)
_RANGE = re.compile(r"\s?[-–—~]\s?(?=\d)|\s?(?:到|至)(?=\d)")
_NEXT_WORD = re.compile(
    r"[\s\u00a0\u202f-]{1,2}(?:(?:business|working|calendar|consecutive|full|whole|more)[ -])?"
    r"(km/h|m/s|[^\W\d_]{1,16}²?|°[CF])\.?(?![\w])"
)
_PERCENTAGE_POINTS = re.compile(r"[\s-]percentage[\s-]points?\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_LINK = re.compile(r"\s?(?:,|and|or|to|und|oder|bis|et|ou|à|y|o|a|e|/)\s")
_EAST_DIGITS: Final = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_EAST_NUMERAL = re.compile(
    r"(?P<percent>百分之)?(?P<ordinal>第)?(?P<numeral>[零〇一二三四五六七八九十百千万亿两]{1,12})"
    r"(?P<measure>[个年月日人名次种位座家条所项倍岁点号米天周届场支本度层张])?"
)
# "one of the", "no one", "one can": not a count.
_PRONOUN_AFTER: Final = word_set("of another can may might should must could would who day")
_PRONOUN_BEFORE: Final = word_set("no the this that any every each which some only")


@dataclass(frozen=True, slots=True)
class Number:
    """A number of a text.

    Attributes:
        value: The number; of a range its lower end.
        high: The upper end of a range, or None.
        unit: A canonical unit or currency, or empty.
        ordinal: Whether it is a rank ("third").
    """

    start: int
    end: int
    value: Decimal
    high: Decimal | None = None
    unit: str = ""
    ordinal: bool = False


def numbers(text: str, language: str = "") -> tuple[Number, ...]:
    """Return the numbers of ``text`` in order; identifiers such as ``B-52`` are none."""
    figures = list(_figures(text, language))
    taken = bytearray(len(text) + 1)
    for number in figures:
        taken[number.start : number.end] = b"\1" * (number.end - number.start)
    in_words = [n for n in _find_number_words(text, language) if not any(taken[n.start : n.end])]
    found = sorted((*figures, *in_words), key=lambda number: number.start)
    return tuple(_inherit(text, list(_merge_repeated(text, found))))


def _merge_repeated(text: str, found: list[Number]) -> Iterator[Number]:
    """Make one of a number that is said twice, as contracts do: "two (2) years"."""
    pairs = zip_longest(found, found[1:])
    for one, other in pairs:
        if other is None or not _repeats(text, one, other):
            yield one
            continue
        whole = _with_words(text, one.start, other.end + 1, one.value, other.unit or one.unit)
        yield whole if whole.value == one.value else one
        next(pairs, None)


def _repeats(text: str, one: Number, other: Number) -> bool:
    between, behind = text[one.end : other.start], text[other.end : other.end + 1]
    return one.value == other.value and between.strip() == "(" and behind == ")"


# --- figures ------------------------------------------------------------------------------------


def _figures(text: str, language: str) -> Iterator[Number]:
    position = 0
    while match := _FIGURE.search(text, position):
        position = max(match.end("digits"), position + 1)
        number = _figure(text, match, language)
        if number is None:
            position = max(position, match.end())
            continue
        dash = _RANGE.match(text, number.end) if not number.ordinal else None
        second = _RANGE_END.match(text, dash.end()) if dash else None
        high = _figure(text, second, language) if second else None
        if high is not None and not high.ordinal:
            number = Number(
                number.start, high.end, number.value, high.value, high.unit or number.unit
            )
        yield number
        position = max(position, number.end)


def _figure(  # noqa: PLR0911 - one form of writing a number each
    text: str, match: re.Match[str], language: str
) -> Number | None:
    """Return the number that begins here, or None where it is a piece of an identifier."""
    value = parse_figure(match["digits"], language)
    if value is None:
        return None
    if match["fraction"]:
        value += Decimal(_FRACTIONS[match["fraction"]])
    if match["sign"]:
        value = -value
    unit = _CURRENCIES.get((match["money"] or "").lower(), "")
    end = match.end("fraction") if match["fraction"] else match.end("digits")
    tail = (match["tail"] or "").strip().lower()
    if tail in {"st", "nd", "rd", "th", "er", "ère", "e", "º", "ª"} and not unit:
        return Number(match.start(), match.end(), value, ordinal=True)
    if tail in _SUFFIX_SCALES and unit:
        return Number(match.start(), match.end(), value * _SUFFIX_SCALES[tail], None, unit)
    if tail in UNITS:
        return Number(match.start(), match.end(), value, None, UNITS[tail])
    if (east := _EAST_TAIL.match(text, end)) and east.end() > end and east[0] != "%":
        value *= _SCALES.get(east["scale"] or "", 1)
        unit = UNITS.get(east["unit"] or "", unit)
        return Number(match.start(), east.end(), value, None, unit)
    if tail == "k":
        return Number(match.start(), match.end(), value * 1000, None, unit)
    if tail and tail != "°":
        return None
    return _with_words(text, match.start(), end, value, unit)


def _with_words(text: str, start: int, end: int, value: Decimal, unit: str) -> Number:
    """Take in the scale and the unit that follow apart: "3.2 million dollars"."""
    word = _NEXT_WORD.match(text, end)
    while word and (scale := _SCALES.get(word[1].lower())):
        value, end = value * scale, word.end(1)
        word = _NEXT_WORD.match(text, end)
    if points := _PERCENTAGE_POINTS.match(text, end):
        return Number(start, points.end(), value, None, "pp")
    if word and word[1].lower() == "per" and text[word.end() : word.end() + 5].lower() == " cent":
        return Number(start, word.end() + 5, value, None, PERCENT)
    name = word[1] if word else ""
    known = UNITS.get(name.lower())
    if word and known and name.lower() not in _SHORT_APART and name not in {"M", "in"}:
        return Number(start, word.end(1), value, None, unit or known)
    return Number(start, end, value, None, unit)


def parse_figure(digits: str, language: str) -> Decimal | None:
    """Return the value of written digits, or None for what is no number ("1.2.3")."""
    plain = re.sub("['’\u00a0\u202f ]", "", digits)
    last = max(plain.rfind("."), plain.rfind(","))
    if last < 0:
        return Decimal(plain)
    mark, other = plain[last], "," if plain[last] == "." else "."
    groups = plain.split(mark)
    if other in plain:
        return Decimal(plain.replace(other, "").replace(mark, "."))
    if len(groups) > 2:  # noqa: PLR2004 - one mark may be a decimal mark, several are not
        return Decimal("".join(groups)) if all(len(g) == 3 for g in groups[1:]) else None  # noqa: PLR2004 - thousands
    decimal = mark == ("," if language in _DECIMAL_COMMA else ".")
    thousands = len(groups[1]) == 3 and len(groups[0]) <= 3 and groups[0] != "0"  # noqa: PLR2004 - thousands
    if thousands and not decimal:
        return Decimal("".join(groups))
    return Decimal(".".join(groups))


def _inherit(text: str, found: list[Number]) -> Iterator[Number]:
    """Give the first of "14 and 30 days" its unit."""
    for place, number in enumerate(found):
        following = found[place + 1] if place + 1 < len(found) else None
        if (
            following is not None
            and not number.unit
            and following.unit not in {"", *_CURRENCIES.values()}
            and not number.ordinal
            and _LINK.fullmatch(text, number.end, following.start)
        ):
            yield Number(number.start, number.end, number.value, number.high, following.unit)
        else:
            yield number


# --- words --------------------------------------------------------------------------------------


@cache
def _number_words(language: str) -> dict[str, tuple[int, bool]]:
    """Return the words for numbers: value, and whether it is a rank."""
    own = words_or_english(language, "cardinals")
    words = {word: (value, False) for value, word in enumerate(own.cardinals)}
    tens = {word: 10 * (place + 2) for place, word in enumerate(own.tens)}
    words |= {word: (value, False) for word, value in tens.items()}
    if language == "de":
        units = ("ein", *own.cardinals[2:10])
        for word, value in tens.items():
            words |= {f"{u}und{word}": (value + n, False) for n, u in enumerate(units, 1)}
        words["dreissig"] = (30, False)
    ranks = [
        (stem + end, n) for n, stem in enumerate(own.ordinals, 1) for end in own.ordinal_endings
    ]
    words |= {word: (value, True) for word, value in ranks if word not in words}
    words |= {"première": (1, True), "premières": (1, True)} if language == "fr" else {}
    words.pop("-", None)
    return words


def _find_number_words(text: str, language: str) -> Iterator[Number]:
    if language in {"zh", "ja"}:
        yield from _east(text)
        return
    known = _number_words(language)
    words = list(_WORD.finditer(text))
    place = 0
    while place < len(words):
        if words[place].group().lower() not in known:
            place += 1
            continue
        number, place = _number_words_at(text, words, place, language)
        if number is not None:
            yield number


def _number_words_at(
    text: str, words: list[re.Match[str]], place: int, language: str
) -> tuple[Number | None, int]:
    known, first = _number_words(language), place
    total = current = 0
    rank = False
    while place < len(words):
        word = words[place].group().lower()
        gap = text[words[place - 1].end() : words[place].start()] if place > first else ""
        if gap not in {"", " ", "-", "\n"} or rank:
            break
        if word in known:
            value, rank = known[word]
            if place > first and not _continues(current, value):
                rank = False
                break
            current += value
        elif place > first and word in _SCALES:
            scale = _SCALES[word]
            current = max(current, 1) * scale
            if scale > 100:  # noqa: PLR2004 - thousands and above close a group
                total, current = total + current, 0
        elif not (word == "and" and place > first and _follows_hundred(words, place, known)):
            break
        place += 1
    place = max(place, first + 1)
    if _is_no_count(words, first, place, language):
        return None, place
    start, end = words[first].start(), words[place - 1].end()
    if rank:
        return Number(start, end, Decimal(total + current), ordinal=True), place
    return _with_words(text, start, end, Decimal(total + current), ""), place


def _continues(current: int, value: int) -> bool:
    """Whether a word goes on with a number: "twenty two", "hundred five", not "two three"."""
    hundreds, tens = current % 100, current % 10
    if hundreds == 0:
        return current == 0 or value < 100  # noqa: PLR2004 - below the hundreds
    if hundreds == 10:  # noqa: PLR2004 - dix-huit
        return value in {7, 8, 9}
    return tens == 0 and hundreds >= 20 and value < 10  # noqa: PLR2004 - twenty to ninety


def _follows_hundred(
    words: list[re.Match[str]], place: int, known: dict[str, tuple[int, bool]]
) -> bool:
    before = words[place - 1].group().lower()
    after = words[place + 1].group().lower() if place + 1 < len(words) else ""
    return before in {"hundred", "thousand", "million"} and after in known


def _is_no_count(words: list[re.Match[str]], first: int, place: int, language: str) -> bool:
    word = words[first].group().lower()
    if place - first > 1:
        return False
    before = words[first - 1].group().lower() if first else ""
    after = words[place].group().lower() if place < len(words) else ""
    if word == "one" and words_or_english(language, "cardinals") is words_of("en"):
        return after in _PRONOUN_AFTER or before in _PRONOUN_BEFORE or not after
    if word == "second" and language in {"", "en"}:
        return before in {"per", "a", "each", "every"} and after != "largest"
    return word in words_of(language).no_numbers


def _east(text: str) -> Iterator[Number]:
    for match in _EAST_NUMERAL.finditer(text):
        numeral = match["numeral"]
        plain = len(numeral) == 1 and not (match["percent"] or match["ordinal"])
        if plain and (not match["measure"] or numeral in "一十百千万亿"):
            continue
        if numeral in {"千万", "万一", "一一", "百万", "万千", "千百"}:
            continue
        value = _east_value(numeral)
        if value is None:
            continue
        unit = PERCENT if match["percent"] else ""
        rank = bool(match["ordinal"])
        yield Number(match.start(), match.end("numeral"), Decimal(value), None, unit, rank)


def _east_value(numeral: str) -> int | None:
    if all(character in _EAST_DIGITS for character in numeral):
        return int("".join(str(_EAST_DIGITS[character]) for character in numeral))
    total = section = digit = 0
    for character in numeral:
        if character in _EAST_DIGITS:
            digit = _EAST_DIGITS[character]
            continue
        scale = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "亿": 10**8}[character]
        if scale < 10**4:
            section += (digit or 1) * scale
        else:
            total, section = total + (section + digit or 1) * scale, 0
        digit = 0
    return total + section + digit
