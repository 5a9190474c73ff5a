"""What two sentences have in common, and what only one of them says."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from chapterhouse.claims.align import Alignment, Sentence, Window, align
from chapterhouse.claims.statement import Statement, Token, TokenKind
from chapterhouse.claims.wording import antonyms
from chapterhouse.types import Evidence

ALIKE: Final = 0.5  # share of all content words of both that both have
CONTAINED: Final = 3  # content words of a sentence that the other has whole, with more around
_SHORTENED: Final = 0.8  # the same, where one of them goes on and the other does not


@dataclass(frozen=True, slots=True)
class Difference:
    """What two aligned sentences have in common, and what only one of them has.

    Attributes:
        left: Words of the first that the second lacks, without clauses that only add something.
        right: The same of the second.
        opposed: A word of each that are opposites.
        alike: Share of the words of both that both have, clauses that only add something aside.
        overall: The same share, with them.
    """

    alignment: Alignment
    shared: tuple[str, ...]
    left: tuple[Token, ...]
    right: tuple[Token, ...]
    opposed: tuple[Token, Token] | None
    alike: float
    overall: float

    @property
    def sure(self) -> bool:
        """Whether they are alike enough to contradict each other."""
        return self.overall >= ALIKE or (self.alike >= _SHORTENED and len(self.shared) >= CONTAINED)

    def tokens(self, pair: tuple[int, int]) -> tuple[Token, Token]:
        """Return a token of each by its place there."""
        return self.alignment.claim.tokens[pair[0]], self.alignment.window.tokens[pair[1]][0]

    @property
    def contained(self) -> bool:
        """Whether one of them has all words of the other."""
        return not self.left or not self.right


def difference(one: Statement, other: Statement) -> Difference:
    """Align the first with the second, which is the longer, and return what is left over."""
    return _difference(aligned(one, other))


def aligned(claim: Statement, stated: Statement) -> Alignment:
    """Return where the words of one sentence stand in another, numbers and dates once each."""
    text, language = stated.text, stated.language
    sentence = Sentence(0, len(text), text, frozenset(), row=False)
    evidence = Evidence("", 0, len(text), text, language)
    tokens = tuple((token, 0) for token in stated.tokens)
    alignment = align(claim, Window(evidence, (sentence,), (stated,), tokens))
    return replace(alignment, places=_each_once(claim, alignment.places))


def _each_once(claim: Statement, places: Sequence[int]) -> tuple[int, ...]:
    """Let no two numbers or dates stand in one place: "50 men and 50 women", "50 and 95"."""
    seen: set[int] = set()
    kept: list[int] = []
    for token, place in zip(claim.tokens, places, strict=True):
        again = token.kind is not TokenKind.WORD and place in seen
        kept.append(-1 if again else place)
        seen.add(place)
    return tuple(kept)


def _difference(alignment: Alignment) -> Difference:
    opposed = _opposed(alignment)
    first = [
        (t, place >= 0) for t, place in zip(alignment.claim.tokens, alignment.places, strict=True)
    ]
    second = [(t, n in alignment.places) for n, (t, _) in enumerate(alignment.window.tokens)]
    left, more = _left_over(first, opposed and opposed[0])
    right, also = _left_over(second, opposed and opposed[1])
    extra = len(more) + len(also)
    if more and also:  # each has a clause of its own
        left, right, extra = (*left, *more), (*right, *also), 0
    shared = tuple(t.text for t, held in first if held and t.kind is TokenKind.WORD)
    held = sum(place >= 0 for place in alignment.places)
    total = held + len(left) + len(right)
    return Difference(
        alignment=alignment,
        shared=shared,
        left=left,
        right=right,
        opposed=opposed,
        alike=held / total if total else 0.0,
        overall=held / (total + extra) if total else 0.0,
    )


def _left_over(
    tokens: Sequence[tuple[Token, bool]], without: Token | None
) -> tuple[tuple[Token, ...], tuple[Token, ...]]:
    """Return the words that the other side lacks: those of shared clauses, those of the rest."""
    shared = {token.clause for token, held in tokens if held}
    over = [t for t, held in tokens if not held and t.kind is TokenKind.WORD and t is not without]
    inside = [t for t in over if t.clause in shared or (t.clause == 0 and t.preposition)]
    return tuple(inside), tuple(t for t in over if t not in inside)


def _opposed(alignment: Alignment) -> tuple[Token, Token] | None:
    """Return a word of each side that are opposites, where the other side lacks it."""
    opposites = antonyms(alignment.claim.language, further=True)
    for number, token in enumerate(alignment.claim.tokens):
        if alignment.places[number] >= 0:
            continue
        for place, (other, _) in enumerate(alignment.window.tokens):
            if place not in alignment.places and other.key in opposites.get(token.key, ()):
                return token, other
    return None
