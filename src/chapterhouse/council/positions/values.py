"""The values that a sentence states, of the kind that a question asks for."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

from chapterhouse.answering.question_kind import QuestionKind, kind_of
from chapterhouse.claims.numbers import DAYS, Number
from chapterhouse.claims.statement import Statement, TokenKind, read


class ValueKind(StrEnum):
    """What kind of value a question asks for."""

    DURATION = "duration"
    MONEY = "money"
    NUMBER = "number"
    DATE = "date"  # or what has to happen: "upon request"
    NAME = "name"  # of a person, place, organisation, law
    CONTACT = "contact"
    OPEN = "open"  # whatever the sentence says


_TIME_UNIT: Final = (
    "years?|months?|weeks?|days?|hours?|minutes?|jahre?n?|monate?n?|wochen?|tage?n?|stunden?"
    "|minuten?|ans?|années?|mois|semaines?|jours?|heures?"
)
_PATTERNS: Final = (
    (
        ValueKind.DURATION,
        (
            rf"how long|how (?:soon|quickly|fast)|how many (?:{_TIME_UNIT})"
            r"|how much (?:\w+ )?(?:warning|notice|time)|(?:what|which) (?:period|term|deadline)"
            rf"|wie (?:lange|schnell|bald)|wie ?viele? (?:{_TIME_UNIT}|zeit)|welche frist"
            rf"|combien de (?:temps|{_TIME_UNIT})|quel(?:le)? (?:délai|durée)|pendant combien"
        ),
    ),
    (
        ValueKind.CONTACT,
        (
            r"(?:what|which) (?:e-?mail |web )?(?:address|number|phone)|e-?mail|contact(?:er|s)?"
            r"|write to|whom do (?:i|we) (?:write|contact)|adresse|kontakt\w*|erreich\w*|joindre"
        ),
    ),
    (
        ValueKind.MONEY,
        (
            r"how much (?:money|does|do|is|are|will|would|must|may|can|could)"
            r"|what (?:sum|amount|price|fee)"
            r"|(?:which|what) (?:sum|amount|price|fee|budget)|costs?|up to what (?:sum|amount)"
            r"|wie ?viel (?:geld|euro|kostet|kosten)|wie teuer|was kostet|welche[rn]? betrag"
            r"|welche summe"
            r"|combien (?:co[uû]te|d['’]argent|d['’]euros)|quel(?:le)? (?:montant|somme|prix)"
        ),
    ),
    (
        ValueKind.NAME,
        (
            r"who|whom|whose|where|(?:which|what) (?:\w+ )?(?:court|law|country|city|town|place"
            r"|company|party|team|project|person|organi[sz]ation|body|channels?|room)s?"
            r"|which (?:country|state)['’]s law|wer|wem|wen|wo"
            r"|welche[rsnm]? (?:\w+ )?(?:partei|firma|stadt|land|gericht|ort|verein|person)"
            r"|qui|où|quel(?:le)?s? (?:organisme|tribunal|loi|pays|ville|personne|équipe"
            r"|administration)s?"
        ),
    ),
)
_CUES: Final = tuple(
    (kind, re.compile(rf"\b(?:{cues})\b", re.IGNORECASE)) for kind, cues in _PATTERNS
)
_KINDS: Final = {
    QuestionKind.DATE: ValueKind.DATE,
    QuestionKind.NUMBER: ValueKind.NUMBER,
    QuestionKind.COUNT: ValueKind.NUMBER,
    QuestionKind.PERSON: ValueKind.NAME,
    QuestionKind.PLACE: ValueKind.NAME,
}
_CURRENCIES: Final = frozenset({"usd", "eur", "gbp", "chf", "jpy", "cny"})
_CONTACT: Final = re.compile(
    r"[\w.+-]+(?:@|\[at\]|\(at\)| at )[\w-]+(?:(?:\.|\[dot\]| dot )[\w-]+)+|https?://[^\s)>\]]+"
    r"|\bwww\.[^\s)>\]]+|\+?\d[\d /()-]{6,}\d"
)
# What has to happen first, where no date is stated.
_EVENT: Final = re.compile(
    r"\b(?:(?:promptly |immediately )?(?:up)?on (?:the |a |written |its |such )*(?:\w+ ){0,2}?"
    r"(?:request|demand|notice|termination|expiration|expiry|completion|conclusion|receipt"
    r"|disclosure|cancellation|publication)\b(?: of [^,.;]{3,50})?"
    r"|(?:after|before|until|within|since|from|at) (?:the )?(?:end|date|day|time|moment|expiry"
    r"|expiration|termination|completion|conclusion|receipt|disclosure|execution|signature|signing"
    r"|effective date)\b(?: of [^,.;]{3,50})?"
    r"|every (?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
    r"|immediately|promptly|after (?:this|the|each) \w+"
    r"|(?:nach|bei|mit|seit|ab) (?:dem |der |den |einem |einer )?(?:ende|abschluss|beendigung"
    r"|kündigung|aufforderung|erhalt|veröffentlichung)\w*)",
    re.IGNORECASE,
)
_LONGEST: Final = 80  # characters of a value
_NOUN_BEHIND, _NOUNS = 40, 2  # characters and words behind a number in which what it counts stands


@dataclass(frozen=True, slots=True)
class Value:
    """A value of a sentence: where it stands in it, and its words."""

    start: int
    end: int
    text: str
    key: str


@lru_cache(maxsize=512)
def value_kind(question: str, languages: tuple[str, ...]) -> ValueKind:
    """Return what kind of value a part of a question asks for."""
    for kind, cue in _CUES:
        if cue.search(question):
            return kind
    return _KINDS.get(kind_of(question, languages), ValueKind.OPEN)


def values_in(text: str, language: str, kind: ValueKind, question: str) -> tuple[Value, ...]:
    """Return the values of a kind that a sentence states and the question does not.

    Args:
        text: The sentence.
        language: Its language, ISO 639-1, or empty.
        kind: What is asked for; nothing is found of ``OPEN``.
        question: What was asked.
    """
    if kind is ValueKind.OPEN:
        return ()
    if kind is ValueKind.CONTACT:
        return tuple(_value(text, match.start(), match.end()) for match in _CONTACT.finditer(text))
    statement = read(text, language)
    if kind is ValueKind.DATE:
        return tuple(_dates(statement, question)) or tuple(_events(text))
    if kind is ValueKind.NAME:
        return tuple(_names(statement, question))
    found = tuple(_numbers(statement, kind))
    return tuple(_counted(found, statement, question)) if kind is ValueKind.NUMBER else found


def _value(text: str, start: int, end: int, key: str = "") -> Value:
    shown = text[start:end].strip()[:_LONGEST]
    return Value(start, end, shown, key or " ".join(shown.casefold().split()))


def _dates(statement: Statement, question: str) -> Iterator[Value]:
    for token in statement.tokens:
        if token.kind is TokenKind.DATE and token.text.casefold() not in question.casefold():
            yield _value(statement.text, token.start, token.end, token.key)


def _events(text: str) -> Iterator[Value]:
    for match in _EVENT.finditer(text):
        yield _value(text, match.start(), match.end())


def _names(statement: Statement, question: str) -> Iterator[Value]:
    asked = question.casefold()
    for name in statement.facts.names:
        if name.text.casefold() not in asked:
            yield _value(statement.text, name.start, name.end)


def _numbers(statement: Statement, kind: ValueKind) -> Iterator[Value]:
    for token in statement.tokens:
        number = token.number
        if number is None or number.ordinal or not _fits(number, kind):
            continue
        size = float(number.value) * DAYS.get(number.unit, 1)
        unit = "time" if number.unit in DAYS else number.unit
        yield _value(statement.text, number.start, number.end, f"{size:g} {unit}".strip())


def _counted(found: Sequence[Value], statement: Statement, question: str) -> Iterator[Value]:
    """Yield the numbers of what is asked for: of "how many passengers" those of passengers."""
    asked = {token.key for token in read(question, statement.language).tokens}
    for value in found:
        near = [
            token.key
            for token in statement.tokens
            if token.kind is TokenKind.WORD and 0 <= token.start - value.end < _NOUN_BEHIND
        ][:_NOUNS]
        if not asked.isdisjoint(near):
            yield value


def _fits(number: Number, kind: ValueKind) -> bool:
    if kind is ValueKind.DURATION:
        return number.unit in DAYS
    if kind is ValueKind.MONEY:
        return number.unit in _CURRENCIES
    return True
