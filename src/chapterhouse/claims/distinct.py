"""What makes two sentences two statements rather than a contradiction.

Another subject, group, day, event or counted thing; a part beside the whole; the figure of another
year; a number that is a name.
"""

import re
from typing import Final

from chapterhouse.claims.difference import Difference
from chapterhouse.claims.statement import Statement, Token, TokenKind
from chapterhouse.claims.wording import words_of

LEAST_SHARED: Final = 2  # content words
_MEASURED: Final = frozenset({"%", "pp"})


def other_subject(told: Difference) -> bool:
    """Whether both sides have a name, a qualification or a beginning of their own."""
    left, right = told.left, told.right
    named = any(t.name or t.capital for t in left) and any(t.name or t.capital for t in right)
    qualified = any(t.preposition for t in left) and any(t.preposition for t in right)
    return named or qualified or _begins_otherwise(told)


def _begins_otherwise(told: Difference) -> bool:
    """Whether both begin with a word that the other lacks: mostly they have other subjects."""
    alignment = told.alignment
    own = [t for t in alignment.claim.tokens if t.kind is TokenKind.WORD][:1]
    other = [t for t, _ in alignment.window.tokens if t.kind is TokenKind.WORD][:1]
    return any(t in told.left for t in own) and any(t in told.right for t in other)


def narrowed(told: Difference, differing: tuple[int, int]) -> bool:
    """Whether what only one side says, or an opposite, names the part that a fact is true of."""
    if told.opposed and all(token.preposition for token in told.opposed):
        return True
    facts = told.tokens(differing)
    for over, fact in zip((told.left, told.right), facts, strict=True):
        if any(t.name and t.clause == fact.clause for t in over) and len(over) > 1:
            return True
    return (_weekday(told, first=True) and any(t.preposition for t in told.right)) or (
        _weekday(told, first=False) and any(t.preposition for t in told.left)
    )


def _weekday(told: Difference, *, first: bool) -> bool:
    """Whether one side alone names a day of the week."""
    alignment = told.alignment
    if first:
        over = [t for t, p in zip(alignment.claim.tokens, alignment.places, strict=True) if p < 0]
    else:
        over = [t for p, (t, _) in enumerate(alignment.window.tokens) if p not in alignment.places]
    return any(token.date and token.date.weekday for token in over)


def is_measured(told: Difference) -> bool:
    """Whether both give a figure of something that has one every year."""
    claim = told.alignment.claim
    numbers = [t.number for t in claim.tokens if t.number and not t.number.ordinal]
    if any(number.unit in _MEASURED for number in numbers):
        return True
    measures = words_of(claim.language).measures  # not their stems: "attended"
    words = [token.text.casefold() for token in claim.tokens]
    return bool(numbers) and any(w in measures or w.rstrip("sn") in measures for w in words)


def other_event(told: Difference) -> bool:
    """Whether each tells of something that the other does not: "founded", "sold"."""
    language = told.alignment.claim.language
    return any(_is_event(t, language) for t in told.left) and any(
        _is_event(t, language) for t in told.right
    )


def _is_event(token: Token, language: str) -> bool:
    """Whether a word has the form of what happened; in other languages none is known."""
    form = words_of(language).events
    return not form or re.fullmatch(form, token.text) is not None


def other_thing(told: Difference, numbers: tuple[int, int]) -> bool:
    """Whether the word after the number is another on both sides: "3 ships", "4 lamps"."""
    own, other = told.tokens(numbers)
    after = [t for t in told.alignment.claim.tokens if t.start > own.start][:1]
    stated = [t for t, _ in told.alignment.window.tokens if t.start > other.start][:1]
    return any(t in told.left for t in after) and any(t in told.right for t in stated)


def is_label(told: Difference, numbers: tuple[int, int]) -> bool:
    """Whether the numbers tell things apart: "Prompt 1", "second stage"."""
    own, other = told.tokens(numbers)
    if own.number and own.number.ordinal:
        return len(told.shared) < LEAST_SHARED
    one, two = told.alignment.claim, told.alignment.window.statements[0]
    if _enumerates(one, own) or _enumerates(two, other):
        return True
    if _is_numbered(one, own) and _is_numbered(two, other):
        return True
    return follows_capital(one, own) and follows_capital(two, other)


def _enumerates(statement: Statement, token: Token) -> bool:
    """Whether a number opens an item of a list: "2. Choose a berth"."""
    text = statement.text
    alone = not text[: token.start].strip(" *_-#(")
    return alone and text[token.end :].startswith((". ", ") ", ".)"))


def _is_numbered(statement: Statement, token: Token) -> bool:
    """Whether the word before a number is one of what is numbered: "version 3"."""
    before = [t for t in statement.tokens if t.end < token.start][-1:]
    listed = words_of(statement.language).labels
    return any(
        t.text.casefold() in listed and not statement.text[t.end : token.start].strip(" .#")
        for t in before
    )


def follows_capital(statement: Statement, token: Token) -> bool:
    """Whether a number without a unit stands right behind a word with a capital: "Schedule 4"."""
    if statement.language == "de" or not token.number or token.number.unit:
        return False  # where all nouns have capitals, they tell nothing
    return any(t.capital and t.end + 1 == token.start for t in statement.tokens)
