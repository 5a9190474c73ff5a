"""A sentence as its content words and facts, each with what governs it."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Final

from chapterhouse.claims.dates import Date
from chapterhouse.claims.facts import WIDTHS, Facts, covered, denials, facts_of
from chapterhouse.claims.numbers import Number
from chapterhouse.claims.wording import (
    EAST_LIGHT,
    PREPOSITIONS,
    is_stop,
    scope_pattern,
    synonyms,
)
from chapterhouse.text.analyse import analyse
from chapterhouse.text.scripts import EAST_ASIAN

_TOKEN = re.compile(rf"[{EAST_ASIAN}]+|[^\W_{EAST_ASIAN}]+(?:[.'’_\-/&+][^\W_{EAST_ASIAN}]+)*")
_EAST_CONNECTIVE = re.compile(EAST_LIGHT)
_EAST_WORDS = re.compile(rf"{EAST_LIGHT}|(?:(?!{EAST_LIGHT}).)+")
_EAST_RUN = re.compile(rf"[{EAST_ASIAN}]")
_LETTERS = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)?")
_CLAUSE = re.compile(
    r"[,;:()，；：。（）|\n]|\s[–—-]\s|—"
    r"|(?<!\w)(?:and|but|while|whereas|although|because|which|who|und|aber|sondern|et|mais|y|pero)(?!\w)"
)
_ONLY_BEFORE_NUMBERS: Final = frozenset({"over", "under", "least", "upto"})
_COMPARED: Final = {"over": "more", "under": "less"}
_ARTICLE: Final = 6  # characters: "over the 5"
_REACH: Final = 24  # characters between a word of scope and what it governs


class TokenKind(StrEnum):
    """What a token of a statement is."""

    WORD = "word"
    NUMBER = "number"
    DATE = "date"


@dataclass(frozen=True, slots=True)
class Token:
    """A content word or a fact of a sentence.

    Attributes:
        key: Its stem, or the stem that stands for all words of its meaning; of a fact its value.
        name: Whether it belongs to a proper name.
        capital: Whether it is written with a capital.
        clause: Number of its clause.
        negated: How often it is denied.
        scopes: Classes of the words of scope that govern it.
        preposition: The preposition right before it, articles skipped, or empty.
    """

    start: int
    end: int
    text: str
    key: str
    kind: TokenKind
    name: bool = False
    capital: bool = False
    clause: int = 0
    negated: int = 0
    scopes: frozenset[str] = frozenset()
    preposition: str = ""
    number: Number | None = None
    date: Date | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence, read.

    Attributes:
        tokens: Its content words and facts in order.
    """

    text: str
    language: str
    tokens: tuple[Token, ...]
    facts: Facts


@lru_cache(maxsize=4096)
def read(text: str, language: str = "") -> Statement:
    """Read one sentence.

    Args:
        text: The sentence; offsets of tokens are its.
        language: ISO 639-1 code, or empty, which is read as English.
    """
    facts = facts_of(text, language)
    wide = text.translate(WIDTHS)
    scopes = _scopes(wide, language, facts)
    clauses = [match.start() for match in _CLAUSE.finditer(wide)]
    denied = denials(wide, facts.negations, language)
    named = covered(wide, [(name.start, name.end) for name in facts.names])
    tokens: list[Token] = []
    end = clause = 0
    for start, stop, key, kind, number, date in _pieces(wide, language, facts, scopes):
        while clause < len(clauses) and clauses[clause] < start:
            clause += 1
        gap = wide[end:start].lower() if start > end else ""
        surface = wide[start:stop]
        tokens.append(
            Token(
                start=start,
                end=stop,
                text=surface,
                key=key,
                kind=kind,
                name=all(named[start:stop]),
                capital=surface[:1].isupper(),
                clause=clause,
                negated=denied[start],
                scopes=_governing(scopes, end if tokens else 0, start, kind),
                preposition=_preposition(gap),
                number=number,
                date=date,
            )
        )
        end = max(end, stop)
    _deny_before(tokens, facts)
    return Statement(text, language, tuple(tokens), facts)


def _deny_before(tokens: list[Token], facts: Facts) -> None:
    """Let a cue with no content word in its scope deny the one before it: "prices are not up"."""
    for cue in facts.negations:
        if any(cue.scope_start <= token.start < cue.scope_end for token in tokens):
            continue
        before = [number for number, token in enumerate(tokens) if token.end <= cue.start]
        if before:
            token = tokens[before[-1]]
            tokens[before[-1]] = replace(token, negated=token.negated + 1)


_Piece = tuple[int, int, str, TokenKind, Number | None, Date | None]


def _pieces(
    text: str, language: str, facts: Facts, scopes: list[tuple[int, int, str, int]]
) -> Iterator[_Piece]:
    known: list[_Piece] = [
        *((n.start, n.end, n.key, TokenKind.NUMBER, n, None) for n in facts.numbers),
        *((d.start, d.end, d.key, TokenKind.DATE, None, d) for d in facts.dates),
    ]
    taken = covered(
        text,
        [
            *((piece[0], piece[1]) for piece in known),
            *((start, end) for start, end, _, _ in scopes),
            *((cue.start, cue.end) for cue in facts.negations),
        ],
    )
    words = (
        piece
        for match in _TOKEN.finditer(text)
        for piece in _words(match, language)
        if not any(taken[piece[0] : piece[1]])
    )
    yield from sorted((*known, *words), key=lambda piece: piece[:2])


def _words(match: re.Match[str], language: str) -> Iterator[_Piece]:
    word, start = match.group(), match.start()
    if _EAST_RUN.match(word):
        for part in _EAST_WORDS.finditer(word):
            if not _EAST_CONNECTIVE.fullmatch(part.group()):
                yield from _bigrams(part.group(), start + part.start(), language)
        return
    if is_stop(word.lower(), language):
        return
    for part in _LETTERS.finditer(word) if _hyphened(word) else [match]:
        piece = part.group().removesuffix("'s").removesuffix("’s")
        offset = start + part.start() if part is not match else start
        if is_stop(piece.lower(), language):
            continue
        yield offset, offset + len(piece), term(piece, language), TokenKind.WORD, None, None


def _hyphened(word: str) -> bool:
    return not any(character.isdigit() for character in word) and any(c in word for c in "-/&")


def _bigrams(run: str, start: int, language: str) -> Iterator[_Piece]:
    """Yield the pairs of neighbouring characters between those that carry no content."""
    position = 0
    while position < len(run):
        stop = position
        while stop < len(run) and not is_stop(run[stop], language):
            stop += 1
        if stop - position == 1:
            yield start + position, start + stop, run[position], TokenKind.WORD, None, None
        for place in range(position, stop - 1):
            pair = run[place : place + 2]
            yield start + place, start + place + 2, pair, TokenKind.WORD, None, None
        position = max(stop, position) + 1


@lru_cache(maxsize=50_000)
def term(word: str, language: str) -> str:
    """Return the term under which a word is compared."""
    found = analyse(word, language)
    stem = found[0] if found else word.casefold()
    if any(character.isdigit() for character in word):
        return word.casefold()
    return synonyms(language).get(stem, stem)


def _preposition(gap: str) -> str:
    words = _LETTERS.findall(gap)
    return next((word for word in reversed(words) if word in PREPOSITIONS), "")


def _scopes(text: str, language: str, facts: Facts) -> list[tuple[int, int, str, int]]:
    """Return the words of scope: start, end, class, and the offset up to which they govern."""
    pattern, classes = scope_pattern(language)
    found: list[tuple[int, int, str, int]] = []
    dated = covered(text, [(date.start, date.end) for date in facts.dates])
    for match in pattern.finditer(text):
        scope = classes[match.group().lower()]
        if dated[match.start()]:
            continue
        limit = _CLAUSE.search(text, match.end(), match.end() + _REACH)
        reach = min(match.end() + _REACH, limit.start() if limit else len(text))
        found.append((match.start(), match.end(), scope, reach))
    return found


def _governing(
    scopes: list[tuple[int, int, str, int]], before: int, start: int, kind: TokenKind
) -> frozenset[str]:
    """Return the classes of the words of scope between the token before and this one."""
    found = set()
    for begin, end, scope, reach in scopes[bisect_left(scopes, (before,)) :]:
        if end > start:
            break
        near = start <= reach
        if near and scope in _COMPARED and kind is TokenKind.WORD and end - begin > _ARTICLE:
            found.add(_COMPARED[scope])  # "lower than the model", where no number follows
        if near and scope in _ONLY_BEFORE_NUMBERS:
            near = kind is TokenKind.NUMBER and start <= end + _ARTICLE
        if near and scope == "since":  # elsewhere it means "because"
            near = kind is not TokenKind.WORD
        if near:
            found.add(scope)
    return frozenset(found)
