"""What is known of a claim beside its evidence: a row of numbers for the model of ``judge``."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from chapterhouse.claims.align import Window, align, sentences_of
from chapterhouse.claims.polarity import polarity_differs
from chapterhouse.claims.stated import Presence, Stated, presence
from chapterhouse.claims.statement import Statement, Token, TokenKind, read
from chapterhouse.types import Evidence

FEATURES: Final = (
    "words found",
    "facts missing",
    "a fact is missing",
    "numbers found",
    "dates found",
    "denied otherwise",
    "denied on one side",
    "denied in the evidence",
    "quantity on one side",
    "other numbers",
)
_FACT: Final = 1.5  # weight of a number, date or name beside a word's
_LONGEST: Final = 3  # sentences of a window
_LONGER: Final = 0.015  # share that one sentence more must bring
_AROUND: Final = 3  # tokens on each side of a fact that say what it is about
_FAMILY: Final = 6  # letters that words of one family share
_QUANTITIES: Final = frozenset({"all", "some", "most", "few", "only", "least", "upto", "over"})

Places = tuple[tuple[int, ...], ...]  # for each token of a claim, where it stands


@dataclass(frozen=True, slots=True)
class Reading:
    """A claim beside its evidence.

    Attributes:
        window: The sentences of the evidence where most of it stands.
        places: Where in it each token of the claim stands.
        presence: For each token whether the evidence states it: a number, date or name anywhere,
            a word in the window or in the headings above it.
        features: One number for each of ``FEATURES``.
    """

    claim: Statement
    window: Window
    places: Places
    presence: tuple[Presence, ...]
    features: tuple[float, ...]

    @property
    def share(self) -> float:
        """Share of the claim's words that stand in the window or the headings, 0 to 1."""
        return self.features[0]


def is_fact(token: Token) -> bool:
    """Whether a token is a number, date or name."""
    return token.kind is not TokenKind.WORD or token.name


def is_small(token: Token) -> bool:
    """Whether a number is mostly a pronoun or an order of telling: "one", "first"."""
    number = token.number
    return number is not None and not number.unit and (number.ordinal or number.value == 1)


def around(places: Places, number: int) -> list[int]:
    """Return where the neighbours of a claim's token stand."""
    near = range(max(0, number - _AROUND), min(len(places), number + _AROUND + 1))
    return [places[n][0] for n in near if n != number and places[n]]


def read_beside(claim: Statement, evidence: Sequence[Evidence], known: Stated) -> Reading | None:
    """Read a claim beside its evidence.

    Args:
        claim: The claim, read.
        evidence: Where it may stand.
        known: What all of it states.

    Returns:
        None where no word of the claim stands in it.
    """
    best: tuple[float, Window, Places, list[bool]] | None = None
    for window, places in (pair for one in evidence for pair in _windows(claim, one)):
        found = [
            bool(own) or token.key in known.terms
            for token, own in zip(claim.tokens, places, strict=True)
        ]
        rank = _share(claim, found) - _LONGER * len(window.sentences)
        if best is None or rank > best[0]:
            best = (rank, window, places, found)
    if best is None:
        return None
    _, window, places, found = best
    states = tuple(
        presence(token, known) if is_fact(token) else Presence.FOUND * int(held)
        for token, held in zip(claim.tokens, found, strict=True)
    )
    row = _features(claim, window, places, found, states)
    return Reading(claim, window, places, tuple(map(Presence, states)), row)


def _windows(claim: Statement, evidence: Evidence) -> Iterator[tuple[Window, Places]]:
    """Yield neighbouring sentences with a word of the claim; rows and items stand alone."""
    sentences = sentences_of(evidence.text, evidence.language)
    statements = [read(sentence.text, evidence.language) for sentence in sentences]
    standing = [_standing(claim, statement) for statement in statements]
    for start in range(len(sentences)):
        for end in range(start + 1, min(start + _LONGEST, len(sentences)) + 1):
            if end - start > 1 and any(sentence.row for sentence in sentences[start:end]):
                break
            places = _joined(standing[start:end], statements[start:end])
            if any(places):
                chosen = tuple(statements[start:end])
                tokens = tuple((t, n) for n, s in enumerate(chosen) for t in s.tokens)
                yield Window(evidence, sentences[start:end], chosen, tokens), places


def _standing(claim: Statement, statement: Statement) -> list[tuple[int, ...]]:
    return [
        tuple(place for place, other in enumerate(statement.tokens) if _is_same(token, other))
        for token in claim.tokens
    ]


def _joined(standing: Sequence[list[tuple[int, ...]]], statements: Sequence[Statement]) -> Places:
    firsts = [sum(len(s.tokens) for s in statements[:n]) for n in range(len(statements))]
    return tuple(
        tuple(first + place for first, own in zip(firsts, each, strict=True) for place in own)
        for each in zip(*standing, strict=True)
    )


def _is_same(one: Token, other: Token) -> bool:
    if one.date and other.date:
        return one.date.agrees(other.date)
    if one.number and other.number:
        first, second = one.number, other.number
        same = (first.value, first.high) == (second.value, second.high)
        return same and (first.unit == second.unit or not (first.unit and second.unit))
    family = len(one.key) >= _FAMILY and one.key[:_FAMILY] == other.key[:_FAMILY]
    return one.kind is other.kind and (one.key == other.key or family)


def _share(claim: Statement, found: Sequence[bool]) -> float:
    weights = [_FACT if is_fact(token) else 1.0 for token in claim.tokens]
    return sum(w for w, held in zip(weights, found, strict=True) if held) / sum(weights)


def _features(
    claim: Statement,
    window: Window,
    places: Places,
    found: Sequence[bool],
    states: Sequence[int],
) -> tuple[float, ...]:
    tokens = claim.tokens
    missing = sum(
        is_fact(token) and state != Presence.FOUND and not is_small(token)
        for token, state in zip(tokens, states, strict=True)
    )
    held = [token for token, own in zip(tokens, found, strict=True) if own]
    denied = any(statement.facts.negations for statement in window.statements)
    scopes = _scopes(tokens) ^ _scopes([token for token, _ in window.tokens])
    taken = {place for own in places for place in own}
    others = any(t.number and place not in taken for place, (t, _) in enumerate(window.tokens))
    return (
        _share(claim, found),
        float(missing),
        float(missing > 0),
        float(sum(token.kind is TokenKind.NUMBER for token in held)),
        float(sum(token.kind is TokenKind.DATE for token in held)),
        float(polarity_differs(align(claim, window)) is not None),
        float(denied != bool(claim.facts.negations)),
        float(denied),
        float(bool(scopes & _QUANTITIES)),
        float(others),
    )


def _scopes(tokens: Sequence[Token]) -> frozenset[str]:
    return frozenset(scope for token in tokens for scope in token.scopes)
