"""What in a text can be checked word for word: numbers, dates, names, negations, quotations."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from chapterhouse.claims.dates import Date, dates
from chapterhouse.claims.numbers import Number, numbers
from chapterhouse.claims.wording import is_stop, word_set, words_or_english

_EAST_CUE = re.compile(
    r"(?:(?<![是否])不(?![仅但断久同管论只得少足过]|一定)|没有?|无(?![论数线]|疑)|未(?!来)|(?<![南北西东中是])非(?![常洲])|别(?=[再把让])|从不|并非)"
)
_STRENGTHEN: Final = frozenset({"fr", "es", "it", "pt", "ru"})
_WHOLE_CLAUSE: Final = frozenset({"de", "nl", "sv", "da", "no"})
_REACH: Final = 300  # characters at most; a clause is seldom longer
# "Neither A nor B": one denial.
_PAIRS = re.compile(r"(?:neither|weder)\b", re.IGNORECASE)
_ASIDE = re.compile(r"\([^()]{0,300}\)|（[^（）]{0,300}）")
_EAST_BREAK = re.compile("[，。；：！？,;:|\n]|但是?|而且?")
_CASELESS: Final = frozenset({"zh", "ja", "ko", "ar", "he", "hi", "th", "fa", "ka"})
_WORD = re.compile(r"[^\W_]+(?:[.'’_\-/&+]?[^\W_]+)*[+#]*")
_CODE = re.compile(
    r"(?=[^\d\s]*\d)(?=\d*[^\W\d_])[^\W_]+(?:[._\-/][^\W_]+)*"  # B-52, x86, RFC-2119
    r"|[^\W\d_]+_\w+|[^\W\d_]+[a-zà-ÿ][A-Z]\w*|[A-ZÀ-Þ]{2,}s?|[A-ZÀ-Þ]\.(?:[A-ZÀ-Þ]\.)+"
    r"|\d+(?:\.\d+){2,}"
)
# "詹姆斯·杜瓦": where such a name begins and ends cannot be told, only that it is there.
_EAST_NAME = re.compile(r"[\u4e00-\u9fff]{1,3}·[\u4e00-\u9fff]{1,3}")
_TITLES: Final = word_set("herr frau dr prof professor könig königin kaiser papst")
# Forms of full width, at the same length.
WIDTHS: Final = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {
    0x3000: 0x20, 0x00A0: 0x20, 0x202F: 0x20, 0x2009: 0x20,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Negation:
    """A cue and what it denies: ``text[scope_start:scope_end]``."""

    start: int
    end: int
    scope_start: int
    scope_end: int
    asides: tuple[tuple[int, int], ...] = ()  # what stands in parentheses there is not denied


@cache
def _patterns(language: str) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    own = words_or_english(language, "denials")
    cue = re.compile(rf"(?<!\w)(?:{own.denials})(?!\w)", re.IGNORECASE)
    harmless = re.compile(rf"(?<!\w)(?:{own.harmless_denials or '(?!)'})", re.IGNORECASE)
    words = own.clause_openers or "(?!)"
    breaks = re.compile(rf"[,;:—|\n]|\s[–-]\s|(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)
    return cue, harmless, breaks


def negations(text: str, language: str = "") -> tuple[Negation, ...]:
    """Return the negations of a sentence in order.

    Args:
        text: One sentence.
        language: ISO 639-1 code; one without cue words of its own is read as English.
    """
    if language in {"zh", "ja"}:
        return tuple(
            _scoped(text, m.start(), m.end(), _EAST_BREAK, language)
            for m in _EAST_CUE.finditer(text)
        )
    cue, harmless, breaks = _patterns(language)
    spared = bytearray(len(text) + 1)
    for match in harmless.finditer(text):
        spared[match.start() : match.end()] = b"\1" * (match.end() - match.start())
    found: list[Negation] = []
    for match in cue.finditer(text):
        if spared[match.start()]:
            continue
        if match.group().lower() in {"nor", "noch"} and _PAIRS.search(
            text, max(0, match.start() - _REACH), match.start()
        ):
            continue
        found.append(_scoped(text, match.start(), match.end(), breaks, language))
    return tuple(found)


def _scoped(text: str, start: int, end: int, breaks: re.Pattern[str], language: str) -> Negation:
    following = breaks.search(text, end, end + _REACH)
    stop = following.start() if following else min(len(text), end + _REACH)
    begin = end
    if language in _WHOLE_CLAUSE:
        first = max(0, start - _REACH)
        begin = max((match.end() for match in breaks.finditer(text, first, start)), default=first)
    asides = tuple(match.span() for match in _ASIDE.finditer(text, begin, stop))
    return Negation(start, end, begin, stop, asides)


def denials(text: str, found: tuple[Negation, ...], language: str = "") -> list[int]:
    """Count for each character how often it is denied; at most once where cues strengthen.

    Args:
        text: The sentence.
        found: Its negations.
        language: ISO 639-1 code of the sentence.
    """
    counts = [0] * (len(text) + 1)
    for cue in found:
        spared = [(cue.start, cue.end), *cue.asides]
        for position in range(cue.scope_start, cue.scope_end):
            counts[position] += not any(start <= position < end for start, end in spared)
    return [min(count, 1) for count in counts] if language in _STRENGTHEN else counts


@dataclass(frozen=True, slots=True)
class Name:
    """A proper name, an acronym or a code, as it is written."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Facts:
    """All that can be checked word for word; offsets are those of the text."""

    numbers: tuple[Number, ...]
    dates: tuple[Date, ...]
    names: tuple[Name, ...]
    negations: tuple[Negation, ...]


def facts_of(text: str, language: str = "") -> Facts:
    """Return the facts of one sentence.

    Args:
        text: The sentence.
        language: ISO 639-1 code, or empty, which is read as English.
    """
    text = text.translate(WIDTHS)
    found = dates(text, language)
    taken = covered(text, [(date.start, date.end) for date in found])
    counted = tuple(n for n in numbers(text, language) if not any(taken[n.start : n.end]))
    spans = [(date.start, date.end) for date in found]
    spans += [(number.start, number.end) for number in counted]
    return Facts(
        numbers=counted,
        dates=found,
        names=tuple(_names(text, language, covered(text, spans))),
        negations=negations(text, language),
    )


def covered(text: str, spans: Iterable[tuple[int, int]]) -> bytearray:
    """Return a byte for each character of ``text``, not zero within any of ``spans``."""
    taken = bytearray(len(text) + 1)
    for start, end in spans:
        taken[start:end] = b"\1" * (end - start)
    return taken


def _names(text: str, language: str, taken: bytearray) -> Iterator[Name]:
    """Yield runs of capitalised words that do not merely begin a sentence, and codes."""
    if language in {"zh", "ja"}:
        for match in _EAST_NAME.finditer(text):
            yield Name(match.start(), match.end(), match.group())
    run: list[re.Match[str]] = []
    for match in _WORD.finditer(text):
        if any(taken[match.start() : match.end()]):
            continue
        if run and not (_is_part(match, language) and _adjoins(text, run[-1], match)):
            yield from _as_name(text, run, language)
            run = []
        if _is_part(match, language):
            run.append(match)
    yield from _as_name(text, run, language)


def _is_part(match: re.Match[str], language: str) -> bool:
    word = match.group()
    if _CODE.fullmatch(word):
        return True
    return language not in _CASELESS and word[0].isupper()


def _adjoins(text: str, before: re.Match[str], match: re.Match[str]) -> bool:
    return text[before.end() : match.start()] in {" ", ". ", "-", "’s ", "'s ", " & "}


def _as_name(text: str, run: list[re.Match[str]], language: str) -> Iterator[Name]:
    while (
        run and starts_sentence(text, run[0].start()) and is_stop(run[0].group().lower(), language)
    ):
        run = run[1:]
    if not run:
        return
    start, end = run[0].start(), run[-1].end()
    single = len(run) == 1
    word = run[0].group()
    if single and not _CODE.fullmatch(word):
        if starts_sentence(text, start) or is_stop(word.lower(), language):
            return
        if language == "de" and not _after_title(text, start):
            return
    yield Name(start, end, text[start:end])


def starts_sentence(text: str, position: int) -> bool:
    """Whether only marks stand between ``position`` and the sentence's or line's beginning."""
    before = text[max(0, position - 12) : position].rstrip(" \t\"'“„«‘([*_#>-|•")
    return (not before and position <= 12) or before.endswith((".", "!", "?", ":", "\n", "…"))  # noqa: PLR2004 - looked back


def _after_title(text: str, start: int) -> bool:
    before = text[max(0, start - 12) : start].rstrip(" .").lower()
    return any(before.endswith(title) for title in _TITLES)
