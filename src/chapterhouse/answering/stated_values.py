"""In what two sentences give different values for what was asked.

A value is a number with what it counts, a date, a name, or whether something is so. The question's
kind says which of them can be asked for. A value that both sentences state, or that the question
itself states, differs in neither.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import log10
from typing import Final

from chapterhouse.answering.question_kind import QuestionKind
from chapterhouse.claims.align import polarity_differs
from chapterhouse.claims.difference import difference, follows_capital
from chapterhouse.claims.numbers import DAYS, METRES, UNITS, Number
from chapterhouse.claims.statement import Statement, Token, TokenKind
from chapterhouse.types import ConflictKind

_ANY: Final = frozenset(ConflictKind)
ASKED: Final = {
    QuestionKind.NUMBER: frozenset({ConflictKind.NUMBER}),
    QuestionKind.DATE: frozenset({ConflictKind.DATE}),
    QuestionKind.PERSON: frozenset({ConflictKind.NAME}),
    QuestionKind.PLACE: frozenset({ConflictKind.NAME}),
    QuestionKind.DECISION: frozenset({ConflictKind.NUMBER, ConflictKind.NEGATION}),
    QuestionKind.COMPARISON: frozenset({ConflictKind.NUMBER, ConflictKind.DATE}),
    QuestionKind.OPEN: _ANY,
}
"""What sources can disagree about by what is asked; reasons, steps and lists are not compared."""

_SCALES: Final = dict.fromkeys(DAYS, "time") | dict.fromkeys(METRES, "length")
_SIZES: Final = DAYS | METRES
_ROUNDED: Final = 0.025  # values that lie closer are one, told more or less exactly
_BEHIND: Final = 40  # characters behind a number in which its noun stands
_NOUNS: Final = 3
_MOST: Final = frozenset({"upto", "under"})
_LEAST: Final = frozenset({"least", "over"})
_NUMBERED: Final = re.compile(r"[\W_]*(?:\d+(?:\.\d+)*|[A-Za-z])[.)*\s]")  # "10.2 Any notice"
_AGE: Final = re.compile(r"[-\s](?:year|month)-old|-jährig")


@dataclass(frozen=True, slots=True)
class Differing:
    """A value of each of two sentences that the other contradicts.

    Attributes:
        values: Where each stands; None for a denial, which is in the whole sentence.
        same_unit: Whether both are numbers of one unit.
        apart: How many times larger one number is, as a decimal logarithm, at most 2.
        sure: Whether these are the only values that may be meant.
    """

    kind: ConflictKind
    values: tuple[Token | None, Token | None]
    same_unit: bool = False
    apart: float = 0.0
    sure: bool = True


def differing(
    one: Statement, other: Statement, question: Statement, kind: QuestionKind
) -> Iterator[Differing]:
    """Yield in what two sentences differ, each kind of value at most once.

    Args:
        one: A sentence.
        other: A sentence of another document.
        question: What was asked, read as a sentence.
        kind: What it asks for.
    """
    wanted = ASKED.get(kind, frozenset())
    tests = (
        (ConflictKind.NUMBER, _numbers_differ),
        (ConflictKind.DATE, _dates_differ),
        (ConflictKind.NAME, _names_differ),
        (ConflictKind.NEGATION, _one_denies),
    )
    for value, test in tests:
        if value in wanted and (found := test(one, other, question)):
            yield found


# --- numbers -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Counted:
    token: Token
    number: Number
    unit: str
    size: float
    of: frozenset[str]  # what it counts, the unit included

    def of_one_kind(self, other: "_Counted") -> bool:
        """Whether both may count the same."""
        one_unit = self.unit == other.unit or not (self.unit and other.unit)
        return one_unit and bool(self.of & other.of)

    def equals(self, other: "_Counted") -> bool:
        """Whether both state the same."""
        near = abs(self.size - other.size) <= _ROUNDED * abs(other.size)
        if not (self.unit and other.unit):  # "13 years of age" and "age 13"
            near = near or self.number.value == other.number.value
        return near and (self.of_one_kind(other) or not (self.of and other.of))

    def allows(self, other: "_Counted") -> bool:
        """Whether this is a limit, and the other no limit but within it: "at most 90" and "52"."""
        if other.token.scopes & (_MOST | _LEAST):
            return False
        high = self.token.scopes & _MOST and other.size <= self.size
        return bool(high or (self.token.scopes & _LEAST and other.size >= self.size))


def _numbers_differ(one: Statement, other: Statement, question: Statement) -> Differing | None:
    asked = {token.number.value for token in question.tokens if token.number}
    first, second = (
        [counted for counted in _counted(statement) if counted.number.value not in asked]
        for statement in (one, other)
    )
    left = [value for value in first if not any(value.equals(rival) for rival in second)]
    right = [value for value in second if not any(value.equals(rival) for rival in first)]
    pairs = [
        (mine, theirs)
        for mine, theirs in product(left, right)
        if mine.of_one_kind(theirs) and not (mine.allows(theirs) or theirs.allows(mine))
    ]
    if not pairs:
        return None
    mine, theirs = min(
        pairs, key=lambda pair: (pair[0].unit != pair[1].unit, -len(pair[0].of & pair[1].of))
    )
    return Differing(
        ConflictKind.NUMBER,
        (mine.token, theirs.token),
        same_unit=bool(mine.unit) and mine.unit == theirs.unit,
        apart=_apart(mine.size, theirs.size),
        sure=len({(a.size, b.size) for a, b in pairs}) == 1,
    )


def _apart(one: float, other: float) -> float:
    low, high = sorted((abs(one), abs(other)))
    return min(log10(high / low), 2.0) if low else 2.0


def _counted(statement: Statement) -> Iterator[_Counted]:
    begins = _NUMBERED.match(statement.text)
    for place, token in enumerate(statement.tokens):
        number = token.number
        if number is None or number.ordinal or (begins and token.start < begins.end()):
            continue
        spelled_one = number.value == 1 and not number.unit and token.text.isalpha()
        if spelled_one or _AGE.match(statement.text, token.end) or _is_age(statement.text, token):
            continue
        if _is_name(statement, token):
            continue
        unit = _SCALES.get(number.unit, number.unit)
        size = float(number.value) * _SIZES.get(number.unit, 1)
        yield _Counted(token, number, unit, size, _what(statement, place, unit))


def _is_age(text: str, token: Token) -> bool:
    return text[token.start : token.end + 4].endswith("-old")


def _is_name(statement: Statement, token: Token) -> bool:
    """Whether a number names something: "#756", "Schedule 4", or one in an address."""
    before = statement.text[: token.start]
    last = before.split()[-1] if before.split() else ""
    address = ("://" in last or "](" in last) and not before.endswith(" ")
    return before.endswith("#") or address or follows_capital(statement, token)


def _what(statement: Statement, place: int, unit: str) -> frozenset[str]:
    """Return what a number counts: its unit, the words behind it and the one right before it.

    Words behind the next number are its own: "under 15, or under 13 where the work is light".
    """
    token = statement.tokens[place]
    behind: list[Token] = []
    for following in statement.tokens[place + 1 :]:
        another = following.number and (behind or following.scopes)
        if another or following.start - token.end >= _BEHIND:
            break
        if following.kind is TokenKind.WORD:
            behind.append(following)
    found = {
        _SCALES.get(u, u) if (u := UNITS.get(t.text.lower())) else t.key for t in behind[:_NOUNS]
    }
    before = statement.tokens[place - 1] if place else None
    if before and before.kind is TokenKind.WORD and token.start - before.end <= len("  "):
        found.add(before.key)
    return frozenset(found | set(token.scopes) | ({unit} if unit else set()))


# --- dates, names, denials -----------------------------------------------------------------------


def _dates_differ(one: Statement, other: Statement, question: Statement) -> Differing | None:
    asked = [token.date for token in question.tokens if token.date]
    first, second = (
        [
            token
            for token in statement.tokens
            if token.date and not any(token.date.agrees(date) for date in asked)
        ]
        for statement in (one, other)
    )
    left, right = _unlike(first, second), _unlike(second, first)
    for mine, theirs in product(left, right):
        a, b = mine.date, theirs.date
        alike = a and b and (bool(a.month) == bool(b.month) or (a.year and b.year != a.year != 0))
        if alike:
            return Differing(ConflictKind.DATE, (mine, theirs), sure=len(left) == len(right) == 1)
    return None


def _unlike(own: Sequence[Token], rivals: Sequence[Token]) -> list[Token]:
    return [
        token
        for token in own
        if not any(token.date and rival.date and token.date.agrees(rival.date) for rival in rivals)
    ]


def _names_differ(one: Statement, other: Statement, question: Statement) -> Differing | None:
    asked = {token.key for token in question.tokens}
    keys = [{token.key for token in statement.tokens} for statement in (one, other)]
    first = _names(one, asked | keys[1])
    second = _names(other, asked | keys[0])
    if not (first and second):
        return None
    sure = len(first) == len(second) == 1
    return Differing(ConflictKind.NAME, (first[0], second[0]), sure=sure)


def _names(statement: Statement, known: set[str]) -> list[Token]:
    """Return the names none of whose words is known, each whole."""
    runs: list[list[Token]] = []
    for token in statement.tokens:
        if token.name and runs and token.start - runs[-1][-1].end == 1:
            runs[-1].append(token)
        elif token.name:
            runs.append([token])
    return [
        replace(run[0], end=run[-1].end, text=statement.text[run[0].start : run[-1].end])
        for run in runs
        if not any(token.key in known for token in run)
    ]


def _one_denies(one: Statement, other: Statement, question: Statement) -> Differing | None:
    del question
    pair = (one, other) if len(one.tokens) <= len(other.tokens) else (other, one)
    compared = difference(*pair)
    denied = compared.opposed or polarity_differs(compared.alignment)
    return Differing(ConflictKind.NEGATION, (None, None)) if denied else None
