"""Whose question it is, and what the reader is told first.

A question that the evidence answers is answered, whatever the profile says. One that it does not
answer is *insufficient* where it belongs to the persona's field, and *out of scope* where it does
not: its words are not those of the tags, terms and summary of the persona, and nothing on the
shelf comes near. Of a persona that says nothing of its field, the field is what its documents speak
of. Thresholds from ``benchmarks/routing.py``.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Final

from chapterhouse import lazy
from chapterhouse.text.analyse import analyse
from chapterhouse.text.language_data import cue_pattern, language_data
from chapterhouse.types import Persona, Question, Route

if TYPE_CHECKING:
    from chapterhouse.claims import numbers
else:
    numbers = lazy("chapterhouse.claims.numbers")


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
# What stands in angle brackets are cues of every language: ``cue_pattern``.
_ASKS_DURATION: Final = r"\b<asks_duration>\b"
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


def value_asked(question: Question) -> Callable[[str, str], bool] | None:
    """Return what tells of a text and its language whether it states a value that is asked for.

    None where a question asks for none, or for a person: most passages name somebody.
    """
    if asks_duration(question.text):
        return states_duration
    kind = kind_of(question.text, question.languages)
    if kind not in VALUES or kind is QuestionKind.PERSON:
        return None
    return lambda text, _: offers(kind, without_numbering(text), question.text)


def asks_duration(question: str) -> bool:
    """Whether a question asks for a length of time."""
    return cue_pattern(_ASKS_DURATION).search(question) is not None


def states_duration(text: str, language: str) -> bool:
    """Whether a text states a length of time: "two (2) years", "14 days"."""
    return any(number.unit in numbers.DAYS for number in numbers.numbers(text, language))


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


# They end in a colon, and lead in to the passages.
_NEEDS_MODEL: Final[Mapping[QuestionKind, str]] = {
    QuestionKind.COUNT: "Counting needs a model. These are passages it would count over:",
    QuestionKind.WEIGHING: "Weighing needs a model. These are the passages it would weigh:",
    QuestionKind.SUMMARY: "A summary needs a model. These are passages it would sum up:",
}
_BEGINNING: Final = "A summary needs a model. This is how {} begins:"
# Share of the question's word weight that stands in the profile, from which it is of the field.
FIELD_SHARE: Final = 0.25
# Confidence from which a question that is not answered is at least close to the field.
NEAR: Final = 0.3


def needs_model(kind: QuestionKind, shown: str, asked: str) -> bool:
    """Whether no quotation can answer a question: it is to be counted, weighed or summed up."""
    counted = kind is QuestionKind.COUNT and states_count(shown, asked)
    return kind in _NEEDS_MODEL and not counted


def notice(kind: QuestionKind, shown: str, asked: str, *, beginning: str = "") -> str:
    """Return what the reader is told first; empty where there is nothing to tell."""
    if not shown or not needs_model(kind, shown, asked):
        return ""
    return _BEGINNING.format(f"“{beginning}”") if beginning else _NEEDS_MODEL[kind]


def route(
    question: Question,
    persona: Persona | None,
    weights: Sequence[float],
    absent: float,
    confidence: float,
    *,
    found: bool,
) -> Route:
    """Return what becomes of a question; to the library, which is nobody, none is foreign.

    Args:
        weights: Of the question's content words in their order.
        absent: Share of them, 0 to 1, that is of words that no document has.
        confidence: 0 to 1.
    """
    if found:
        return Route.ANSWERED
    if persona is None or confidence >= NEAR:
        return Route.INSUFFICIENT
    profile = persona.expertise, *persona.tags, *persona.key_terms
    share = field_share(question, persona, weights) if any(profile) else 1 - absent
    return Route.INSUFFICIENT if share >= FIELD_SHARE else Route.OUT_OF_SCOPE


def field_share(question: Question, persona: Persona, weights: Sequence[float]) -> float:
    """Return the share of the question's word weight that stands in a persona's profile, 0 to 1."""
    profile = "\n".join(
        (
            persona.display_name,
            persona.expertise,
            *persona.tags,
            *persona.key_terms,
            *persona.aliases,
        )
    )
    terms = {term for name in question.languages for term in analyse(profile, name)}
    covered = sum(
        weight
        for weight, (_, own) in zip(weights, question.words, strict=True)
        if not terms.isdisjoint(own)
    )
    return covered / (sum(weights) or 1.0)


def deferral(persona: Persona, successor: str = "") -> str:
    """Return the sentence by which a persona passes a question on."""
    switching = f"; switching to {successor}" if successor else ""
    return f"This question is outside {persona.display_name}'s expertise{switching}."
