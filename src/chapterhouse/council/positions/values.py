"""The values that a sentence states, of the kind that a question asks for."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import islice
from typing import Final

from chapterhouse.answering.question_kind import QuestionKind, kind_of
from chapterhouse.claims.numbers import DAYS, Number
from chapterhouse.claims.statement import Statement, TokenKind, read
from chapterhouse.text.language_data import cue_pattern


class ValueKind(StrEnum):
    """What kind of value a question asks for."""

    DURATION = "duration"
    MONEY = "money"
    NUMBER = "number"
    DATE = "date"  # or what has to happen: "upon request"
    NAME = "name"  # of a person, place, organisation, law
    CONTACT = "contact"
    OPEN = "open"  # whatever the sentence says


# What stands in angle brackets are cues of every language: ``cue_pattern``.
_JOINS: Final = re.compile(r" (?:of(?: the)?|de|du|des|della|der|von|van|y) ")
# What contracts write with a capital and names nothing: matches always, perhaps nothing.
_BOILERPLATE: Final = re.compile(
    r"(?:(?:the|this|each|any|no|nothing|such|all|if|neither|either|agreement|contract|party"
    r"|parties|section|clause|article|annex|governing|applicable|law)\b[\s,]*)*",
    re.IGNORECASE,
)
_ADDRESS_PART: Final = re.compile(r"[=&%_]|[A-Z]{4,}\d{4,}")
_HEADING: Final = re.compile(r"[A-Z&]{2,}(?:[ ,]+[A-Z&]{2,}){2,}")  # words in capitals alone
_ASKED: Final = (
    (ValueKind.DURATION, r"\b(?:<asks_duration>|<how_many> <time_units>)\b"),
    (ValueKind.CONTACT, r"\b<asks_contact>\b"),
    (ValueKind.MONEY, r"\b<asks_money>\b"),
    (ValueKind.NAME, r"\b<asks_name>\b"),
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
_EVENT: Final = r"\b<event>"  # what has to happen first, where no date is stated
_HOW_MANY: Final = r"\b<how_many>\b"
_STOPS: Final = ".,;:"
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
    for kind, cues in _ASKED:
        if cue_pattern(cues).search(question):
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
        spans = (match.span() for match in _CONTACT.finditer(text))
        ends = ((start, start + len(text[start:end].rstrip(_STOPS))) for start, end in spans)
        return tuple(_value(text, start, end) for start, end in ends)
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
    for match in cue_pattern(_EVENT).finditer(text):
        yield _value(text, match.start(), match.end())


def _names(statement: Statement, question: str) -> Iterator[Value]:
    """Yield names, such as "Republic of South Africa"; none of the question's, and no heading."""
    asked = {token.key for token in read(question, statement.language).tokens}
    text, known = statement.text, question.casefold()
    spans: list[tuple[int, int]] = []
    for name in statement.facts.names:
        if spans and _JOINS.fullmatch(text, spans[-1][1], name.start):
            spans[-1] = (spans[-1][0], name.end)
        else:
            spans.append((name.start, name.end))
    for begin, end in spans:
        start = begin + len(_BOILERPLATE.match(text[begin:end])[0])  # type: ignore[index]
        if not text[start:end].strip() or _ADDRESS_PART.search(text[start:end]):
            continue
        own = {token.key for token in statement.tokens if start <= token.start < end}
        is_heading = _HEADING.fullmatch(text, begin, end) is not None
        if (
            not (own and own <= asked)
            and not is_heading
            and text[start:end].casefold() not in known
        ):
            yield _value(text, start, end)


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
    if not cue_pattern(_HOW_MANY).search(question):
        yield from found
        return
    asked = {token.key for token in read(question, statement.language).tokens}
    for value in found:
        if not asked.isdisjoint(islice(_nouns_behind(value, statement), _NOUNS)):
            yield value


def _nouns_behind(value: Value, statement: Statement) -> Iterator[str]:
    """Yield the terms right behind a number, up to the next one."""
    for token in statement.tokens:
        if token.start < value.end:
            continue
        if token.kind is not TokenKind.WORD or token.start >= value.end + _NOUN_BEHIND:
            return
        yield token.key


def _fits(number: Number, kind: ValueKind) -> bool:
    if kind is ValueKind.DURATION:
        return number.unit in DAYS
    if kind is ValueKind.MONEY:
        return number.unit in _CURRENCIES
    return True
