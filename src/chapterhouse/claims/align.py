"""Where the words of a claim stand in a few neighbouring sentences of the evidence."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from chapterhouse.claims.statement import Statement, Token, TokenKind, read, term
from chapterhouse.claims.wording import is_pronoun, opposite_by_prefix
from chapterhouse.text.analyse import analyse
from chapterhouse.text.sentences import sentence_spans
from chapterhouse.types import Evidence

_SENTENCES_LOOKED_AT: Final = 4
_LONGEST_WINDOW: Final = 3
_WINDOWS: Final = 7
# Costs of a step from one word of the claim to the next, in the evidence.
_SKIP, _LONGEST_SKIP, _BACK, _SENTENCE, _AGAIN = 0.08, 1.2, 1.0, 0.5, 1.5
_STEM: Final = 5  # letters that words of one family share
_CARRIED_CLAUSE: Final = 0.5


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
        place: Number of the stretch among those looked at.
        tokens: Tokens of all sentences, each with the number of its statement.
    """

    place: int
    evidence: Evidence
    sentences: tuple[Sentence, ...]
    statements: tuple[Statement, ...]
    tokens: tuple[tuple[Token, int], ...]

    def gap(self, position: int) -> str:
        """Return the lower-case text before a token, back to the one before it."""
        _, number = self.tokens[position]
        first = sum(len(statement.tokens) for statement in self.statements[:number])
        return self.statements[number].gaps[position - first]


def windows(
    claim_terms: frozenset[str], stretches: Sequence[Evidence], least: float = 0.0
) -> Iterator[Window]:
    """Yield the windows that share most with a claim, single sentences before longer ones.

    Args:
        claim_terms: Terms of the claim.
        stretches: Where to look.
        least: Share of the terms below which a window is left out.
    """
    ranked: list[tuple[float, int, int]] = []
    for place, evidence in enumerate(stretches):
        for position, sentence in enumerate(sentences_of(evidence.text, evidence.language)):
            shared = len(claim_terms & sentence.terms)
            if shared:
                ranked.append((-shared, place, position))
    ranked.sort()
    best = ranked[:_SENTENCES_LOOKED_AT]
    needed = least * len(claim_terms)
    spans = {(p, s, s + 1): None for shared, p, s in best if -shared >= needed}
    for _, place, position in best:
        sentences = sentences_of(stretches[place].text, stretches[place].language)
        own = claim_terms & sentences[position].terms
        for start, end in _around(position, sentences):
            more = claim_terms & frozenset[str]().union(*(s.terms for s in sentences[start:end]))
            if len(more) > len(own) and len(more) >= needed:
                spans.setdefault((place, start, end))
    for place, start, end in list(spans)[: _SENTENCES_LOOKED_AT + _WINDOWS]:
        yield _window(place, stretches[place], start, end)


def _around(position: int, sentences: Sequence[Sentence]) -> Iterator[tuple[int, int]]:
    for length in range(2, _LONGEST_WINDOW + 1):
        for start in range(position - length + 1, position + 1):
            inside = start >= 0 and start + length <= len(sentences)
            if inside and not any(s.row for s in sentences[start : start + length]):
                yield start, start + length


def _window(place: int, evidence: Evidence, start: int, end: int) -> Window:
    chosen = sentences_of(evidence.text, evidence.language)[start:end]
    statements = tuple(read(sentence.text, evidence.language) for sentence in chosen)
    tokens = tuple((t, number) for number, s in enumerate(statements) for t in s.tokens)
    return Window(place, evidence, chosen, statements, tokens)


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
        placed: Whether a token before the first with a place stands in the headings above.
    """

    claim: Statement
    window: Window
    places: tuple[int, ...]
    flips: tuple[bool, ...]
    placed: tuple[bool, ...]

    @property
    def carried(self) -> tuple[bool, ...]:
        """Whether each token of the claim stands in the window or above it."""
        return tuple(
            place >= 0 or placed for place, placed in zip(self.places, self.placed, strict=True)
        )


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
    first = next((number for number, place in enumerate(places) if place >= 0), 0)
    evidence = window.evidence
    above = context_terms(evidence.title, evidence.section_path, evidence.language)
    flips = tuple(
        place >= 0
        and token.kind is TokenKind.WORD
        and opposite_by_prefix(token.key, window.tokens[place][0].key)
        for token, place in zip(claim.tokens, places, strict=True)
    )
    return Alignment(
        claim=claim,
        window=window,
        places=tuple(places),
        flips=flips,
        placed=tuple(
            number < first and token.key in above for number, token in enumerate(claim.tokens)
        ),
    )


def without_strays(alignment: Alignment) -> Alignment:
    """Return an alignment without the places of clauses of which the window has little.

    A clause about something else shares a word with the evidence by chance.
    """
    held: dict[int, list[bool]] = {}
    for token, carried in zip(alignment.claim.tokens, alignment.carried, strict=True):
        held.setdefault(token.clause, []).append(carried)
    stray = {
        clause for clause, carried in held.items() if sum(carried) < _CARRIED_CLAUSE * len(carried)
    }
    places = tuple(
        -1 if token.clause in stray else place
        for token, place in zip(alignment.claim.tokens, alignment.places, strict=True)
    )
    return replace(alignment, places=places)


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


def begins_with_pronoun(statement: Statement) -> bool:
    """Whether a sentence begins with a word that points back."""
    first = statement.text.split(maxsplit=1)
    return bool(first) and is_pronoun(first[0].strip("\"'“„«(*_"))


def claim_terms(claim: str, language: str) -> frozenset[str]:
    """Return the index terms of a claim's content words, to find sentences with."""
    statement = read(claim, language)
    return frozenset(t for token in statement.tokens for t in analyse(token.text, language)) | {
        term(token.text, language) for token in statement.tokens
    }
