"""Where sources disagree about one subject: other numbers, other dates, or a denial.

Precision comes first: sentences must share most of what they speak of, and a difference in what
they speak of ("for members", "in 2022", another name) is no disagreement.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import Final

from chapterhouse.answering.checks import polarity_differs
from chapterhouse.answering.matching import (
    Alignment,
    Sentence,
    Window,
    align,
    begins_with_pronoun,
    context_terms,
    sentences_of,
)
from chapterhouse.answering.statement import Statement, Token, TokenKind, read
from chapterhouse.answering.wording import antonyms
from chapterhouse.types import Conflict, ConflictKind, Evidence, Quotation, Side

_MOST: Final = 5
_LEAST_SHARED: Final = 2  # content words
_ALIKE: Final = 0.5  # share of all content words of both that both have
_SAME: Final = 0.6  # the same, where nothing but a date or a denial differs
_APART: Final = 400  # characters between two places of one document
_LONGEST: Final = 400  # characters of a sentence that is compared
_ABOUT: Final = 0.05  # two approximate numbers closer than this agree
_LOWER_BOUNDS: Final = frozenset({"least", "over"})
_UPPER_BOUNDS: Final = frozenset({"upto", "under"})


class Relation(StrEnum):
    """How two sentences stand to each other."""

    AGREE = "agree"
    NUMBER = "number"  # they contradict each other by a number
    DATE = "date"
    NEGATION = "negation"
    SILENT = "silent"  # neither says anything about what the other says


@dataclass(frozen=True, slots=True)
class Comparison:
    """A relation with what it rests on.

    Attributes:
        shared: Content words of the first sentence that the second has too, in order.
        values: What each of them states where they contradict each other.
        alike: Share of the content words of both that both have, 0 to 1.
    """

    relation: Relation
    shared: tuple[str, ...] = ()
    values: tuple[str, str] = ("", "")
    alike: float = 0.0


_SILENT: Final = Comparison(Relation.SILENT)
_CONTRADICTIONS: Final = frozenset({Relation.NUMBER, Relation.DATE, Relation.NEGATION})


def relation(one: str, other: str, language: str = "") -> Relation:
    """Say how two sentences stand to each other.

    Args:
        one: A sentence.
        other: Another one.
        language: ISO 639-1 code of both, or empty, which is read as English.
    """
    return compare(one, other, language).relation


def compare(one: str, other: str, language: str = "") -> Comparison:
    """Compare two sentences; arguments as for ``relation``."""
    first, second = read(one, language), read(other, language)
    sentence = Sentence(0, len(other), other, frozenset(), row=False)
    evidence = Evidence("", 0, len(other), other, language)
    tokens = tuple((token, 0) for token in second.tokens)
    return _compared(align(first, Window(0, evidence, (sentence,), (second,), tokens)), second)


def _compared(alignment: Alignment, second: Statement) -> Comparison:
    first = alignment.claim
    opposed = _opposed(alignment)
    left = [
        t
        for n, t in enumerate(first.tokens)
        if t.kind is TokenKind.WORD and alignment.places[n] < 0
    ]
    right = [
        t
        for place, t in enumerate(second.tokens)
        if t.kind is TokenKind.WORD and place not in alignment.places
    ]
    if opposed:
        left = [token for token in left if token is not opposed[0]]
        right = [token for token in right if token is not opposed[1]]
    shared = tuple(
        t.text
        for n, t in enumerate(first.tokens)
        if t.kind is TokenKind.WORD and alignment.places[n] >= 0
    )
    total = len(shared) + len(left) + len(right)
    alike = len(shared) / total if total else 0.0
    few = len(shared) < _LEAST_SHARED and not (shared and alike == 1.0)
    if few or alike < _ALIKE or _other_subject(left, right):
        return _SILENT
    return _judged(alignment, opposed, shared, alike)


def _judged(  # noqa: PLR0911 - one relation each
    alignment: Alignment,
    opposed: tuple[Token, Token] | None,
    shared: tuple[str, ...],
    alike: float,
) -> Comparison:
    dates = _pair_that_differs(alignment, TokenKind.DATE)
    numbers = _pair_that_differs(alignment, TokenKind.NUMBER)
    if numbers and not dates:
        return Comparison(Relation.NUMBER, shared, (numbers[0].text, numbers[1].text), alike)
    if numbers or alike < _SAME:
        return _SILENT
    if dates and any(token.initial or token.start < len(token.text) + 4 for token in dates):
        return _SILENT  # "In 2022, …" and "In 2023, …" speak of two years
    if dates:
        return Comparison(Relation.DATE, shared, (dates[0].text, dates[1].text), alike)
    if opposed:
        return Comparison(Relation.NEGATION, shared, (opposed[0].text, opposed[1].text), alike)
    differing = polarity_differs(alignment)
    if differing:
        own, stated = differing
        values = (
            "not" if own.negated > stated.negated else "",
            "not" if stated.negated > own.negated else "",
        )
        return Comparison(Relation.NEGATION, shared, values, alike)
    return Comparison(
        Relation.AGREE if _same_facts(alignment) else Relation.SILENT, shared, alike=alike
    )


def _other_subject(left: Sequence[Token], right: Sequence[Token]) -> bool:
    """Whether both sides have a name or a qualification of their own."""
    if not left or not right:
        return any(token.name for token in (*left, *right)) and len(left) + len(right) > 1
    named = any(token.name or token.capital for token in left) and any(
        token.name or token.capital for token in right
    )
    qualified = any(token.preposition for token in left) and any(
        token.preposition for token in right
    )
    return named or qualified


def _opposed(alignment: Alignment) -> tuple[Token, Token] | None:
    """Return a word of each side that are opposites, where the other side lacks it."""
    opposites = antonyms(alignment.claim.language)
    for number, token in enumerate(alignment.claim.tokens):
        if alignment.places[number] >= 0:
            continue
        for place, (other, _) in enumerate(alignment.window.tokens):
            if place not in alignment.places and other.key in opposites.get(token.key, ()):
                return token, other
    return None


def _pair_that_differs(alignment: Alignment, kind: TokenKind) -> tuple[Token, Token] | None:
    """Return the first number or date of each that says something else about the same thing."""
    own = [
        n
        for n, t in enumerate(alignment.claim.tokens)
        if t.kind is kind and alignment.places[n] < 0
    ]
    tokens = alignment.window.tokens
    theirs = [p for p, (t, _) in enumerate(tokens) if t.kind is kind and p not in alignment.places]
    for number in own:
        for place in theirs:
            one, other = alignment.claim.tokens[number], tokens[place][0]
            if _comparable(one, other) and _same_neighbour(alignment, number, place):
                return one, other
    return None


def _comparable(one: Token, other: Token) -> bool:
    if one.date and other.date:
        same = (
            bool(one.date.year),
            bool(one.date.month),
            bool(one.date.minute),
            bool(one.date.weekday),
        )
        also = (
            bool(other.date.year),
            bool(other.date.month),
            bool(other.date.minute),
            bool(other.date.weekday),
        )
        return same == also and not (one.date.agrees(other.date) or other.date.agrees(one.date))
    first, second = one.number, other.number
    if not first or not second or first.unit != second.unit or first.ordinal != second.ordinal:
        return False
    low, high = sorted((one, other), key=_value)
    # "At least 5" allows 7, but "at least 5" and "at least 7" are two limits.
    if (low.scopes & _LOWER_BOUNDS and not high.scopes & _LOWER_BOUNDS) or (
        high.scopes & _UPPER_BOUNDS and not low.scopes & _UPPER_BOUNDS
    ):
        return False
    return (
        _value(high) - _value(low) > _ABOUT * abs(_value(low))
        or first.value == first.value.to_integral()
    )


def _value(token: Token) -> float:
    return float(token.number.value) if token.number else 0.0


def _same_neighbour(alignment: Alignment, number: int, place: int) -> bool:
    """Whether a content word beside both is the same: "14 days' notice", "notice of 30 days"."""
    held = {
        alignment.places[n]
        for n in range(max(0, number - 2), min(len(alignment.places), number + 3))
    }
    return any(p in held for p in range(max(0, place - 2), place + 3) if p >= 0)


def _same_facts(alignment: Alignment) -> bool:
    return all(
        place >= 0 or token.kind is TokenKind.WORD
        for token, place in zip(alignment.claim.tokens, alignment.places, strict=True)
    )


# --- among what was retrieved -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Statement:
    """A sentence of the evidence that states something to disagree about."""

    evidence: Evidence
    sentence: Sentence
    keys: frozenset[str]
    names: frozenset[str]

    @property
    def start(self) -> int:
        return self.evidence.start + self.sentence.start


def find_conflicts(evidence: Sequence[Evidence], question: str = "") -> tuple[Conflict, ...]:
    """Find what the sources disagree about.

    Args:
        evidence: The stretches of an answer.
        question: What was asked; with it only disagreements about its words are told.

    Returns:
        At most five, those about the most shared words first, in each the newer source first
        where the documents state dates that tell.
    """
    found: list[tuple[float, _Statement, _Statement, Comparison]] = []
    for one, other in combinations(_statements(evidence), 2):
        if not _may_disagree(one, other):
            continue
        language = one.evidence.language
        told = compare(one.sentence.text, other.sentence.text, language)
        if told.relation in _CONTRADICTIONS and _is_asked(told, question, language):
            found.append((-len(told.shared) - told.alike, one, other, told))
    found.sort(
        key=lambda item: (item[0], item[1].evidence.document_id, item[1].start, item[2].start)
    )
    return tuple(_without_repetition(found))[:_MOST]


def _statements(evidence: Sequence[Evidence]) -> Iterator[_Statement]:
    seen: set[tuple[str, int]] = set()
    for stretch in evidence:
        for sentence in sentences_of(stretch.text, stretch.language):
            place = (stretch.document_id, stretch.start + sentence.start)
            if len(sentence.text) > _LONGEST or place in seen or sentence.text.startswith("#"):
                continue
            seen.add(place)
            tokens = read(sentence.text, stretch.language).tokens
            yield _Statement(
                evidence=stretch,
                sentence=sentence,
                keys=frozenset(t.key for t in tokens if t.kind is TokenKind.WORD),
                names=frozenset(t.key for t in tokens if t.name),
            )


def _may_disagree(  # noqa: PLR0911 - one reason each
    one: _Statement, other: _Statement
) -> bool:
    """Whether two sentences share enough, and the same subject, to be worth comparing."""
    first, second = one.evidence, other.evidence
    shared = one.keys & other.keys
    if first.language != second.language or not shared:
        return False
    if len(shared) < _LEAST_SHARED and one.keys != other.keys:
        return False
    if len(shared) < _ALIKE * min(len(one.keys), len(other.keys)):
        return False
    if first.document_id == second.document_id and abs(one.start - other.start) < _APART:
        return False
    if one.names & other.names:
        return True
    above = [context_terms(e.title, e.section_path, e.language) for e in (first, second)]
    if above[0] & above[1] or first.document_id == second.document_id:
        return True
    pointing = any(begins_with_pronoun_only(s) for s in (one, other))
    return not all(above) and not pointing


def begins_with_pronoun_only(statement: _Statement) -> bool:
    """Whether a sentence begins with a pronoun rather than with an article."""
    first = statement.sentence.text.split(maxsplit=1)[0].lower()
    articles = {
        "the",
        "der",
        "die",
        "das",
        "le",
        "la",
        "les",
        "el",
        "los",
        "las",
        "il",
        "lo",
        "gli",
    }
    return first not in articles and begins_with_pronoun(
        read(statement.sentence.text, statement.evidence.language)
    )


def _is_asked(told: Comparison, question: str, language: str) -> bool:
    if not question:
        return True
    asked = {token.key for token in read(question, language).tokens}
    return not asked or any(
        token.key in asked for word in told.shared for token in read(word, language).tokens
    )


def _without_repetition(
    found: Sequence[tuple[float, _Statement, _Statement, Comparison]],
) -> Iterator[Conflict]:
    told: set[tuple[str, frozenset[str]]] = set()
    for _, one, other, comparison in found:
        key = (" ".join(sorted(comparison.shared)).lower(), frozenset(comparison.values))
        if key not in told:
            told.add(key)
            yield _conflict(one, other, comparison)


def _conflict(one: _Statement, other: _Statement, told: Comparison) -> Conflict:
    sides = (_side(one, told.values[0]), _side(other, told.values[1]))
    newer = _is_newer(sides[0].date, sides[1].date)
    if newer is False:
        sides = (sides[1], sides[0])
    return Conflict(
        kind=ConflictKind(told.relation.value),
        subject=" ".join(told.shared),
        sides=sides,
        newer=None if newer is None else True,
    )


def _side(statement: _Statement, value: str) -> Side:
    evidence, sentence = statement.evidence, statement.sentence
    start, end = evidence.start + sentence.start, evidence.start + sentence.end
    span = Quotation(evidence.document_id, start, end, sentence.text)
    return Side(span, value, evidence.title, evidence.date)


def _is_newer(one: str, other: str) -> bool | None:
    """Whether the first date is later; None where the parts that both state are the same."""
    length = min(len(one), len(other))
    if not length or one[:length] == other[:length]:
        return None
    return one[:length] > other[:length]
