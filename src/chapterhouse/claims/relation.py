"""How two sentences stand to each other: they agree, contradict each other, or neither.

Both are aligned word by word. What is left over on either side decides: another number, date or
denial in otherwise the same statement contradicts; another name, group, event or thing that is
counted makes it another statement.

For councils it also says which sentences speak of one subject. Precision comes first: they must
share most of what they speak of, and a difference in that ("for members", "in 2022", another name)
is no disagreement.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from chapterhouse.claims.align import (
    Alignment,
    Sentence,
    context_terms,
    polarity_differs,
    sentences_of,
)
from chapterhouse.claims.dates import Date
from chapterhouse.claims.difference import (
    ALIKE,
    CONTAINED,
    LEAST_SHARED,
    Difference,
    difference,
    is_label,
    is_measured,
    is_narrowed,
    other_event,
    other_subject,
    other_thing,
    says_otherwise,
)
from chapterhouse.claims.statement import Statement, Token, TokenKind, read
from chapterhouse.text.language_data import points_back
from chapterhouse.types import Evidence

_SAME: Final = 0.6  # share of the words, where nothing but a date or a denial differs
_ABOUT: Final = 0.05  # two approximate numbers closer than this agree
_LOWER_BOUNDS: Final = frozenset({"least", "over"})
_UPPER_BOUNDS: Final = frozenset({"upto", "under"})
_APART: Final = 400  # characters between two places of one document
_NEAR: Final = 3  # content words that the text around two sentences of one subject shares
_LONGEST: Final = 400  # characters of a sentence that is compared


class Relation(StrEnum):
    """How two sentences stand to each other."""

    AGREE = "agree"
    NUMBER = "number"  # they contradict each other by a number
    DATE = "date"
    NEGATION = "negation"
    SILENT = "silent"  # neither says anything about what the other says


CONTRADICTIONS: Final = frozenset({Relation.NUMBER, Relation.DATE, Relation.NEGATION})


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


def relation(one: str, other: str, language: str = "") -> Relation:
    """Say how two sentences stand to each other.

    Args:
        one: A sentence.
        other: Another one.
        language: ISO 639-1 code of both, or empty, which is read as English.
    """
    return compare(one, other, language).relation


def compare(one: str, other: str, language: str = "") -> Comparison:
    """Compare two sentences; arguments as for ``relation``.

    The shorter is aligned with the longer, so that their order changes nothing but the order of
    what is told.
    """
    statements = (read(one, language), read(other, language))
    if _size(statements[0]) <= _size(statements[1]):
        return _relation(difference(*statements))
    difference_found = _relation(difference(statements[1], statements[0]))
    return replace(
        difference_found, values=(difference_found.values[1], difference_found.values[0])
    )


def _size(statement: Statement) -> tuple[int, str]:
    return len(statement.tokens), statement.text


def _relation(difference_found: Difference) -> Comparison:
    few = len(difference_found.shared) < LEAST_SHARED and not (
        difference_found.shared and difference_found.alike == 1.0
    )
    if few or difference_found.alike < ALIKE or other_subject(difference_found):
        return _SILENT
    dates = _pair_that_differs(difference_found, TokenKind.DATE)
    numbers = _pair_that_differs(difference_found, TokenKind.NUMBER)
    if numbers or dates:
        return _by_fact(difference_found, numbers, dates)
    if difference_found.alike < _SAME and not (
        difference_found.contained and len(difference_found.shared) >= CONTAINED
    ):
        return _SILENT
    denial = _by_denial(difference_found)
    if denial:
        return denial if difference_found.sure else _SILENT
    agree = _same_facts(difference_found) and not says_otherwise(difference_found)
    agree = agree and not _turned_round(difference_found.alignment)
    return Comparison(
        Relation.AGREE if agree else Relation.SILENT,
        difference_found.shared,
        alike=difference_found.alike,
    )


def _by_fact(
    difference_found: Difference, numbers: tuple[int, int] | None, dates: tuple[int, int] | None
) -> Comparison:
    differing = numbers or dates
    if (
        differing is None
        or (numbers and dates)
        or not difference_found.sure
        or is_narrowed(difference_found, differing)
    ):
        return _SILENT  # two figures of two years, or of a part and of the whole
    if dates and (
        difference_found.alike < _SAME
        or is_measured(difference_found)
        or other_event(difference_found)
    ):
        return _SILENT
    if numbers and (other_thing(difference_found, numbers) or is_label(difference_found, numbers)):
        return _SILENT
    own, other = difference_found.tokens(differing)
    kind = Relation.NUMBER if numbers else Relation.DATE
    return Comparison(kind, difference_found.shared, (own.text, other.text), difference_found.alike)


def _by_denial(difference_found: Difference) -> Comparison | None:
    if difference_found.opposed:
        values = (difference_found.opposed[0].text, difference_found.opposed[1].text)
        return Comparison(
            Relation.NEGATION, difference_found.shared, values, difference_found.alike
        )
    differing = polarity_differs(difference_found.alignment)
    if not differing:
        return None
    own, stated = differing
    values = (
        "not" if own.negated > stated.negated else "",
        "not" if stated.negated > own.negated else "",
    )
    return Comparison(Relation.NEGATION, difference_found.shared, values, difference_found.alike)


def _same_facts(difference_found: Difference) -> bool:
    """Whether no number or date of one has another in its place: at most one side has more."""
    return not all(
        any(not held and token.kind is not TokenKind.WORD for token, held in tokens)
        for tokens in (difference_found.first, difference_found.second)
    )


def _turned_round(alignment: Alignment) -> bool:
    """Whether two words stand the other way round about a third: "A warned B", "B warned A"."""
    places = [place for place in alignment.places if place >= 0]
    return any(
        min(places[number + 1 :], default=place) < place < max(places[:number], default=place)
        for number, place in enumerate(places)
    )


# --- numbers and dates --------------------------------------------------------------------------


def _pair_that_differs(difference_found: Difference, kind: TokenKind) -> tuple[int, int] | None:
    """Return the first number or date of each that says something else about the same thing."""
    own, theirs = (
        [n for n, (token, held) in enumerate(tokens) if token.kind is kind and not held]
        for tokens in (difference_found.first, difference_found.second)
    )
    alignment = difference_found.alignment
    own, theirs = _without_ranges(alignment, own, theirs)
    for number in own:
        for place in theirs:
            one, other = difference_found.tokens((number, place))
            only = kind is TokenKind.DATE and len(own) == len(theirs) == 1  # it may be moved
            if _comparable(one, other) and (only or _same_neighbour(alignment, number, place)):
                return number, place
    return None


def _without_ranges(
    alignment: Alignment, own: list[int], theirs: list[int]
) -> tuple[list[int], list[int]]:
    """Leave out the numbers that lie in a range of the other side: "15" in "from 12 to 18"."""
    claim, stated = alignment.claim, alignment.window.statements[0]
    left = [n for n in own if not _within(claim.tokens[n], stated, alone=not _range(claim, n))]
    right = [p for p in theirs if not _within(stated.tokens[p], claim, alone=not _range(stated, p))]
    return left, right


def _within(token: Token, statement: Statement, *, alone: bool) -> bool:
    """Whether a number that begins or ends no range lies in one of the other statement."""
    ranges = (_range(statement, number) for number in range(len(statement.tokens)))
    return bool(alone and token.number) and any(
        low <= _value(token) <= high for low, high in filter(None, ranges)
    )


def _range(statement: Statement, number: int) -> tuple[float, float] | None:
    """Return both ends of the range that a number begins or ends."""
    tokens = statement.tokens
    for low, high in ((number, number + 1), (number - 1, number)):
        if low >= 0 and high < len(tokens) and tokens[low].number and tokens[high].number:
            joined = statement.text[tokens[low].end : tokens[high].start].split()
            if [word.lower() for word in joined] in (["to"], ["bis"], ["and"], ["und"]):
                return _value(tokens[low]), _value(tokens[high])
    return None


def _comparable(one: Token, other: Token) -> bool:
    if one.date and other.date:
        agreeing = one.date.agrees(other.date) or other.date.agrees(one.date)
        return _parts(one.date) == _parts(other.date) and not agreeing
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


def _parts(date: Date) -> tuple[bool, ...]:
    return bool(date.year), bool(date.month), bool(date.minute), bool(date.weekday)


def _value(token: Token) -> float:
    return float(token.number.value) if token.number else 0.0


def _same_neighbour(alignment: Alignment, number: int, place: int) -> bool:
    """Whether a content word beside both is the same: "14 days' notice", "notice of 30 days"."""
    held = {
        alignment.places[n]
        for n in range(max(0, number - 2), min(len(alignment.places), number + 3))
    }
    return any(p in held for p in range(max(0, place - 2), place + 3) if p >= 0)


@dataclass(frozen=True, slots=True)
class Stated:
    """A sentence of the evidence that states something to disagree about.

    Attributes:
        keys: Its content words, as they are compared.
        names: Those that belong to proper names.
        near: Content words of the text around it, where that is known.
        reworded: Whether it is what someone says of the stretch, not what stands there.
    """

    evidence: Evidence
    sentence: Sentence
    keys: frozenset[str]
    names: frozenset[str]
    near: frozenset[str] = frozenset()
    reworded: bool = False

    @property
    def start(self) -> int:
        """Where it begins in its document."""
        return self.evidence.start + self.sentence.start


def stated_in(evidence: Sequence[Evidence]) -> Iterator[Stated]:
    """Yield the sentences of stretches that state something, each place once.

    Headings, questions and very long sentences are left out.
    """
    seen: set[tuple[str, int]] = set()
    for passage in evidence:
        for sentence in sentences_of(passage.text, passage.language):
            place = (passage.document_id, passage.start + sentence.start)
            states = not sentence.text.startswith("#") and not sentence.text.endswith(("?", "？"))
            if len(sentence.text) > _LONGEST or place in seen or not states:
                continue
            seen.add(place)
            tokens = read(sentence.text, passage.language).tokens
            yield Stated(
                evidence=passage,
                sentence=sentence,
                keys=frozenset(t.key for t in tokens if t.kind is TokenKind.WORD),
                names=frozenset(t.key for t in tokens if t.name),
            )


def of_one_language(one: Evidence, other: Evidence) -> bool:
    """Whether two stretches may be compared; that of a short document is often unknown."""
    return one.language == other.language or not (one.language and other.language)


def may_disagree(  # noqa: PLR0911 - one reason each
    one: Stated, other: Stated
) -> bool:
    """Whether two sentences share enough, and the same subject, to be worth comparing.

    They speak of one subject where they share a name, where what stands above both shares a word,
    where the text around both shares several, or where nothing tells and neither points back.
    """
    first, second = one.evidence, other.evidence
    shared = one.keys & other.keys
    if not of_one_language(first, second) or not shared:
        return False
    if len(shared) < LEAST_SHARED and one.keys != other.keys:
        return False
    if len(shared) < ALIKE * min(len(one.keys), len(other.keys)):
        return False
    if first.document_id == second.document_id and _are_neighbours(one, other):
        return False
    if one.names & other.names:
        return True
    above = [context_terms(e.title, e.section_path, e.language) for e in (first, second)]
    if above[0] & above[1] or first.document_id == second.document_id:
        return True
    if len((one.near & other.near) - shared) >= _NEAR:
        return True
    pointing = any(points_back(s.sentence.text, s.evidence.language) for s in (one, other))
    return not all(above) and not pointing


def _are_neighbours(one: Stated, other: Stated) -> bool:
    """Whether both stand close together in one document, whose author would see the conflict."""
    return not (one.reworded or other.reworded) and abs(one.start - other.start) < _APART


def is_newer(one: str, other: str) -> bool | None:
    """Whether the first date is later; None where the parts that both state are the same."""
    length = min(len(one), len(other))
    if not length or one[:length] == other[:length]:
        return None
    return one[:length] > other[:length]
