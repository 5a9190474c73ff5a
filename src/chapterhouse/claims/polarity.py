"""Whether two aligned texts deny the same words."""

from collections.abc import Iterator
from typing import Final

from chapterhouse.claims.align import Alignment
from chapterhouse.claims.statement import Token

# Where words hardly move, every one of them must be denied alike, not only the first.
_ORDER_IS_FIXED: Final = frozenset({"zh", "ja"})


def polarity_differs(alignment: Alignment) -> tuple[Token, Token] | None:
    """Return a word of the claim and its place in the window that are not denied alike.

    Looked at are the first denied word of each clause that both sides have, and the words that
    differ by a prefix which denies.
    """
    tokens, places = alignment.claim.tokens, alignment.places
    held = {place: number for number, place in enumerate(places) if place >= 0}
    ours = _first_of_runs([(n, tokens[n]) for n in range(len(tokens)) if places[n] >= 0])
    stated = [(held[p], t) for p, (t, _) in enumerate(alignment.window.tokens) if p in held]
    flipped = [
        number for number, flip in enumerate(alignment.flips) if flip and places[number] >= 0
    ]
    order = [*ours, *_first_of_runs(stated), *flipped]
    if alignment.claim.language in _ORDER_IS_FIXED:
        order = [number for number, place in enumerate(places) if place >= 0]
    for number in dict.fromkeys(order):
        own, other = tokens[number], alignment.window.tokens[places[number]][0]
        if not _same_polarity(own, other, flipped=alignment.flips[number]):
            return own, other
    return None


def _same_polarity(own: Token, other: Token, *, flipped: bool) -> bool:
    """Whether both are denied alike; "impossible" denies once what "possible" does not."""
    if not flipped:
        return own.negated == other.negated
    return own.negated == other.negated + 1 or own.negated + 1 == other.negated


def _first_of_runs(tokens: list[tuple[int, Token]]) -> Iterator[int]:
    """Yield the first denied token of each clause."""
    seen: set[int] = set()
    for number, token in tokens:
        if token.negated and token.clause not in seen:
            seen.add(token.clause)
            yield number
