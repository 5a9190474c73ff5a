"""What kind of thing a question asks for, and whether a text offers one that is new.

"When" is answered by a date that the question does not already name. The cues of each language
are in ``text/languages``; where none fits, the kind is open and nothing is concluded.

Source: Li and Roth, Learning question classifiers, COLING 2002, for the kinds of values.
"""

import re
import unicodedata
from collections.abc import Sequence
from enum import StrEnum
from functools import cache
from typing import Final

from chapterhouse.text.analyse import analyse
from chapterhouse.text.language_data import language_data


class QuestionKind(StrEnum):
    """What a question asks for."""

    COUNT = "count"  # of documents, or over what they say
    DATE = "date"
    NUMBER = "number"
    PERSON = "person"
    PLACE = "place"
    WEIGHING = "weighing"
    COMPARISON = "comparison"
    REASON = "reason"
    STEPS = "steps"
    SUMMARY = "summary"
    ALL = "all"
    DECISION = "decision"
    OPEN = "open"


VALUES: Final = frozenset(
    {QuestionKind.DATE, QuestionKind.NUMBER, QuestionKind.PERSON, QuestionKind.PLACE}
)
_NUMBERING: Final = re.compile(r"(?m)^[ \t]*(?:[-*+•][ \t]+)?\(?(?:\d{1,3}|[a-z])[.)][ \t]")
_BEHIND, _NEAR = 60, 3  # characters and words behind a number in which what it counts is named
_WORD: Final = re.compile(r"\w+")
_UNSPACED: Final = frozenset({"zh", "ja"})
_DIGITS: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_DATES: Final = re.compile(
    r"(?<!\d)[12]\d{3}(?!\d)|(?<![\d:.])[012]?\d:[0-5]\d(?!\d)|\d+(?:st|nd|rd|th)\s+centur"
    r"|\w*jahrhundert|世纪|年代|\d\s*[年月日]|[一二三四五六七八九十][月日年]",
    re.IGNORECASE,
)
_TIMES: Final = re.compile(
    r"\b(?:at|by|until|till|um|gegen|bis|ab|à|vers)\s+(?:\d{1,2}|one|two|three|four|five|six|seven"
    r"|eight|nine|ten|eleven|twelve|noon|midnight|Mittag|Mitternacht|midi|minuit)\b"
    r"|\d\s*(?:a\.?m|p\.?m|o.clock|Uhr)\b",
    re.IGNORECASE,
)
_CHINESE_NUMBERS: Final = (
    r"[一二两三四五六七八九十百千万亿半]+(?=[个位种次条名家座岁人支场所层年天月日亿万分块倍成])"
)
# A capital behind a lower-case letter or a comma: names, not the first word of a sentence.
_NAMES: Final = re.compile(r"(?<=[\w,;:)]\s)[^\W\d_a-zà-öø-ÿа-я][\w'’.\-]*|\w+[·•]\w+")


def kind_of(question: str, languages: Sequence[str]) -> QuestionKind:
    """Return what a question asks for; its likeliest languages are tried first, then any."""
    text = unicodedata.normalize("NFKC", question).strip()
    for language in dict.fromkeys((*languages, *language_data())):
        for kind, cue in _cues(language):
            if cue.search(text):
                return kind
    return QuestionKind.OPEN


@cache
def _cues(language: str) -> tuple[tuple[QuestionKind, re.Pattern[str]], ...]:
    """Return the cues of a language in the order of the kinds: a date before a mere which."""
    data = language_data().get(language or "en")
    if data is None:
        return ()
    edge = "" if language in _UNSPACED else r"\b"
    return tuple(
        (kind, re.compile(f"{edge}(?:{'|'.join(cues)}){edge}", re.IGNORECASE))
        for kind in QuestionKind
        if (cues := data.questions.get(kind.value))
    )


def offers(kind: QuestionKind, text: str, question: str) -> bool:
    """Whether a text holds something of this kind that the question does not."""
    plain = unicodedata.normalize("NFKC", text)
    if kind is QuestionKind.NUMBER:
        return _new(_DIGITS, plain, question) or _new(_number_words(), plain, question)
    if kind is QuestionKind.DATE:
        patterns = (_DATES, _TIMES, _date_words())
        return any(_new(pattern, plain, question) for pattern in patterns)
    if kind in {QuestionKind.PERSON, QuestionKind.PLACE}:
        return _new(_NAMES, plain, question)
    return kind is QuestionKind.REASON and _reasons().search(plain) is not None


def without_numbering(text: str) -> str:
    """Return a text without the numbers of its items, which are no values."""
    return _NUMBERING.sub("", text)


def states_count(text: str, question: str) -> bool:
    """Whether a text states a number of what a question wants counted: "all 12 contracts"."""
    counted = {
        term
        for cues in (_cues(language) for language in language_data())
        for kind, cue in cues
        if kind is QuestionKind.COUNT and (match := cue.search(question))
        for term in _stems(match.group().split()[-1])
    }
    plain = unicodedata.normalize("NFKC", text)
    for pattern in (_DIGITS, _number_words()):
        for number in pattern.finditer(plain):
            behind = _WORD.findall(plain[number.end() : number.end() + _BEHIND])[:_NEAR]
            if any(not counted.isdisjoint(_stems(word)) for word in behind):
                return True
    return False


def _stems(word: str) -> frozenset[str]:
    return frozenset(term for language in ("en", "de", "fr") for term in analyse(word, language))


def _new(pattern: re.Pattern[str], text: str, question: str) -> bool:
    known = question.casefold()
    return any(match.group().casefold() not in known for match in pattern.finditer(text))


@cache
def _number_words() -> re.Pattern[str]:
    words = _words_of("number_words")
    return re.compile(rf"\b(?:{words})\b|{_CHINESE_NUMBERS}|百分之", re.IGNORECASE)


@cache
def _date_words() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{_words_of('date_words')})\b", re.IGNORECASE)


def _words_of(kind: str) -> str:
    every = (word for data in language_data().values() for word in getattr(data, kind))
    return "|".join(sorted(every))


@cache
def _reasons() -> re.Pattern[str]:
    cues = {name: data.reason_cues for name, data in language_data().items() if data.reason_cues}
    spaced = "|".join(cue for name, cue in cues.items() if name not in _UNSPACED)
    unspaced = (cue for name, cue in cues.items() if name in _UNSPACED)
    return re.compile("|".join([rf"\b(?:{spaced})\b", *unspaced]), re.IGNORECASE)
