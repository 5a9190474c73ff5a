"""What a claim says of a number or date where its evidence says another one."""

from collections.abc import Iterator, Sequence
from typing import Final

from chapterhouse.claims.features import Reading, around, is_fact, is_small
from chapterhouse.claims.stated import DAYS, Presence
from chapterhouse.claims.statement import Token
from chapterhouse.types import Problem, ProblemKind

# Chosen on the statements of the open folders (``benchmarks/natural/statements.py``).
_LEAST_SHARE: Final = 0.2  # of the claim's words in the passage
_FAR: Final = 12  # tokens beyond which two are as far apart as any


def disagreement(reading: Reading) -> Problem | None:
    """Return the first number or date that evidence lacks, with the one it has in its place.

    Names are not compared: a passage seldom repeats whose document it stands in.
    """
    if reading.share < _LEAST_SHARE:
        return None
    for number, token in enumerate(reading.claim.tokens):
        compared = bool(token.number or token.date) and not is_small(token)
        if compared and reading.presence[number] is not Presence.FOUND:
            rival = _rival(reading, number)
            if rival is not None:
                kind = ProblemKind.NUMBER if token.number else ProblemKind.DATE
                return Problem(kind, token.text, rival.text)
    return None


def missing(reading: Reading) -> Iterator[Problem]:
    """Yield the numbers, dates and names of a claim that its evidence does not state."""
    for token, presence in zip(reading.claim.tokens, reading.presence, strict=True):
        if is_fact(token) and presence is not Presence.FOUND and not is_small(token):
            kind = ProblemKind.DATE if token.date else ProblemKind.NAME
            yield Problem(ProblemKind.NUMBER if token.number else kind, token.text)


def _rival(reading: Reading, number: int) -> Token | None:
    """Return what stands in the passage for a fact of the claim: the only one, or the nearest."""
    own, tokens = reading.claim.tokens[number], [token for token, _ in reading.window.tokens]
    taken = {place for places in reading.places for place in places}
    rivals = [
        place
        for place, token in enumerate(tokens)
        if place not in taken and _is_comparable(own, token)
    ]
    anchors = around(reading.places, number)
    if not rivals or (len(rivals) > 1 and not anchors):
        return None
    return tokens[min((_distance(place, anchors), place) for place in rivals)[1]]


def _is_comparable(own: Token, other: Token) -> bool:
    if own.date is not None:
        return other.date is not None
    if own.number is None or other.number is None or own.number.ordinal != other.number.ordinal:
        return False
    units = {own.number.unit, other.number.unit}
    return len(units) == 1 or "" in units or units <= DAYS.keys()


def _distance(place: int, anchors: Sequence[int]) -> float:
    """Return how far a place is from others on average, in tokens."""
    if not anchors:
        return 0.0
    return sum(min(abs(place - anchor), _FAR) for anchor in anchors) / len(anchors)
