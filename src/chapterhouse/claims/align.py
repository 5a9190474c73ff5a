"""Where the words of a claim stand in a few neighbouring sentences of the evidence."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from chapterhouse.claims.statement import Statement, Token, TokenKind, read
from chapterhouse.claims.wording import opposite_by_prefix
from chapterhouse.text.analyse import analyse
from chapterhouse.text.sentences import sentence_spans
from chapterhouse.types import Evidence

# Costs of a step from one word of the claim to the next, in the evidence.
_SKIP, _LONGEST_SKIP, _BACK, _SENTENCE, _AGAIN = 0.08, 1.2, 1.0, 0.5, 1.5
_STEM: Final = 5  # letters that words of one family share
# Where words hardly move, every one of them must be denied alike, not only the first.
_ORDER_IS_FIXED: Final = frozenset({"zh", "ja"})


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a stretch of evidence, by its offsets in ``Evidence.text``."""

    start: int
    end: int
    text: str
    terms: frozenset[str]
    row: bool  # of a table or list: it does not go on into the next


@lru_cache(maxsize=512)
def sentences_of(text: str, language: str) -> tuple[Sentence, ...]:
    """Split a stretch of evidence; white space around a sentence is no part of it."""
    found: list[Sentence] = []
    for start, end in sentence_spans(text, 0, len(text)):
        shown = text[start:end]
        begin = start + len(shown) - len(shown.lstrip())
        stripped = shown.strip()
        if stripped:
            terms = frozenset(analyse(stripped, language))
            row = stripped[0] in "|-*+#•" or stripped[:2].rstrip(".)").isdigit()
            found.append(Sentence(begin, begin + len(stripped), stripped, terms, row))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Window:
    """Neighbouring sentences of one stretch.

    Attributes:
        tokens: Tokens of all sentences, each with the number of its statement.
    """

    evidence: Evidence
    sentences: tuple[Sentence, ...]
    statements: tuple[Statement, ...]
    tokens: tuple[tuple[Token, int], ...]


@lru_cache(maxsize=512)
def context_terms(title: str, section_path: tuple[str, ...], language: str) -> frozenset[str]:
    """Return the terms and facts of the headings above a stretch."""
    statements = [read(text, language) for text in (title.replace("_", " "), *section_path)]
    return frozenset(token.key for statement in statements for token in statement.tokens)


@dataclass(frozen=True, slots=True)
class Alignment:
    """Where each token of a claim stands in a window.

    Attributes:
        places: For each token of the claim a position in ``window.tokens``, or -1.
        flips: Whether a token stands there with a prefix that denies it, or the claim has one.
    """

    claim: Statement
    window: Window
    places: tuple[int, ...]
    flips: tuple[bool, ...]


def align(claim: Statement, window: Window) -> Alignment:
    """Find the places of a claim's tokens that keep most of its order."""
    words: dict[str, list[int]] = {}
    facts: list[int] = []
    for position, (token, _) in enumerate(window.tokens):
        if token.kind is TokenKind.WORD:
            words.setdefault(token.key, []).append(position)
        else:
            facts.append(position)
    candidates = [_candidates(token, words, facts, window) for token in claim.tokens]
    places = _cheapest(candidates, window)
    flips = tuple(
        place >= 0
        and token.kind is TokenKind.WORD
        and opposite_by_prefix(token.key, window.tokens[place][0].key)
        for token, place in zip(claim.tokens, places, strict=True)
    )
    return Alignment(claim, window, tuple(places), flips)


def _candidates(
    token: Token, words: dict[str, list[int]], facts: list[int], window: Window
) -> list[int]:
    if token.kind is not TokenKind.WORD:
        return [p for p in facts if same_fact(token, window.tokens[p][0])]
    exact = words.get(token.key)
    if exact:
        return exact
    own = token.key
    if len(own) < _STEM:
        return []
    stem = own[:_STEM]
    return [
        place
        for key, found in words.items()
        if (key.startswith(stem) or key.endswith(own) or own.endswith(key))
        and _related(token, key, window, found)
        for place in found
    ]


def _related(token: Token, key: str, window: Window, found: list[int]) -> bool:
    """Whether a word of the evidence is of one family with a word of the claim."""
    own = token.key
    if opposite_by_prefix(own, key):
        return True
    if token.name and window.tokens[found[0]][0].name:
        return False
    if any(character.isdigit() for character in own + key):
        return False
    shared = 0
    for one, other in zip(own, key, strict=False):
        if one != other:
            break
        shared += 1
    longest = max(len(own), len(key))
    return shared >= _STEM and shared >= 0.7 * longest and longest - shared <= 4  # noqa: PLR2004 - stem and ending


def same_fact(claimed: Token, stated: Token) -> bool:
    """Whether the evidence states the number or date of a claim."""
    if claimed.date and stated.date:
        return claimed.date.agrees(stated.date)
    one, other = claimed.number, stated.number
    if one and other:
        same = (one.value, one.high, one.ordinal) == (other.value, other.high, other.ordinal)
        return same and (one.unit == other.unit or (not one.unit and other.unit not in {"%", "pp"}))
    return claimed.key == stated.key


def _cheapest(candidates: Sequence[Sequence[int]], window: Window) -> list[int]:
    """Choose one candidate a token so that the steps between them cost least."""
    present = [(number, found) for number, found in enumerate(candidates) if found]
    costs: dict[int, tuple[float, tuple[int, ...]]] = {}
    for number, found in present:
        nearer: dict[int, tuple[float, tuple[int, ...]]] = {}
        for place in found:
            if not costs:
                nearer[place] = (0.0, (place,))
                continue
            cost, path = min(
                (cost + _step(before, place, window), path)
                for before, (cost, path) in costs.items()
            )
            nearer[place] = (cost, (*path, place))
        costs = nearer
        del number
    places = [-1] * len(candidates)
    if costs:
        _, path = min(costs.values())
        for (number, _), place in zip(present, path, strict=True):
            places[number] = place
    return places


def _step(before: int, after: int, window: Window) -> float:
    apart = 0.0 if window.tokens[before][1] == window.tokens[after][1] else _SENTENCE
    if after == before:
        return _AGAIN
    if after < before:
        return apart + _BACK + min((before - after) * _SKIP, _LONGEST_SKIP)
    fact = window.tokens[before][0].kind is not TokenKind.WORD
    fact = fact or window.tokens[after][0].kind is not TokenKind.WORD
    return apart + min((after - before - 1) * _SKIP * (2 if fact else 1), _LONGEST_SKIP)


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
